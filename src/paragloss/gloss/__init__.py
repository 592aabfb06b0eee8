"""What do these foreign words mean, which passage speaks for a document, and why did it match?"""

from paragloss.gloss.glossed_text import Gloss, Meaning, Word
from paragloss.gloss.sentence_glosses import LexiconTranslator, gloss, glosses
from paragloss.gloss.snippets import Snippet, contributions, snippet

__all__ = ["Gloss", "LexiconTranslator", "Meaning", "Snippet", "Word", "contributions", "gloss", "glosses", "snippet"]
