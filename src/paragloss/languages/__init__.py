"""Language codes, their names and scripts, and which language a text is in."""

from paragloss.languages.codes import UNKNOWN, known_codes, language_name, normalise
from paragloss.languages.identification import identify, identify_one, language_likelihoods
from paragloss.languages.scripts import script_of, scripts_of

__all__ = [
    "UNKNOWN",
    "identify",
    "identify_one",
    "known_codes",
    "language_likelihoods",
    "language_name",
    "normalise",
    "script_of",
    "scripts_of",
]
