"""Show the meanings of foreign words in the reader's language, and the passages of documents that match a query."""

from paragloss.gloss.glossed_text import Gloss, Meaning, Word
from paragloss.gloss.sentence_glosses import LexiconTranslator, gloss, glosses
from paragloss.gloss.snippets import Snippet, compute_contributions, make_snippet

__all__ = [
    "Gloss",
    "LexiconTranslator",
    "Meaning",
    "Snippet",
    "Word",
    "compute_contributions",
    "gloss",
    "glosses",
    "make_snippet",
]
