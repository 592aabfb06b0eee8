"""Language codes, their names and scripts, and which language a text is in."""

from paragloss.languages.codes import UNKNOWN, known, name, normalise
from paragloss.languages.identification import identify, identify_one, likelihoods
from paragloss.languages.scripts import script_of, scripts

__all__ = ["UNKNOWN", "identify", "identify_one", "known", "likelihoods", "name", "normalise", "script_of", "scripts"]
