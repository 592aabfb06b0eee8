"""Language codes, their names and scripts, and the identification of a text's language."""

from paragloss.languages.codes import UNKNOWN, known_codes, language_name, normalise
from paragloss.languages.document_language import identify_document
from paragloss.languages.identification import identify, identify_one, identify_short, language_likelihoods
from paragloss.languages.scripts import script_of, scripts_of

__all__ = [
    "UNKNOWN",
    "identify",
    "identify_document",
    "identify_one",
    "identify_short",
    "known_codes",
    "language_likelihoods",
    "language_name",
    "normalise",
    "script_of",
    "scripts_of",
]
