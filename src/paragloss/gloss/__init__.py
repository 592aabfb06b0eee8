"""What do these foreign words mean, which passage speaks for a document, and why did it match?"""

from paragloss.gloss.meanings import Gloss, Meaning, Reader, Word, gloss, glosses
from paragloss.gloss.snippets import Snippet, contributions, snippet

__all__ = ["Gloss", "Meaning", "Reader", "Snippet", "Word", "contributions", "gloss", "glosses", "snippet"]
