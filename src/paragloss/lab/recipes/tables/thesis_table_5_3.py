"""Liu's Table 5.3: English queries find Spanish pages by the nearest words in a space of both languages.

As in the thesis the vectors come from another corpus (LibreOffice's help): each language's own, aligned by Procrustes
with MUSE's pairs, as there; and Cr5's, learned from the same pages together. Every query word becomes its best 1, 3
or 5 words, the rest of the query as context (eq. 5.2).
"""

from __future__ import annotations

from paragloss.encoders.bag import BagEncoder
from paragloss.formats.dictionaries import read_pairs
from paragloss.lab.methods import alignment, cr5
from paragloss.lab.recipes import page_fields
from paragloss.lab.recipes.page_fields import opened
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.sets import drawn, folder, in_all, split
from paragloss.translation.embedding import EmbeddingTranslator
from paragloss.types import Searcher, Translator

MINUTES = 5
COLUMNS, PARTS = page_fields.COLUMNS, ("en-es",)
DATA = (*page_fields.DATA, "lohelp/en.jsonl.gz", "lohelp/es.jsonl.gz", "muse/en-es.tsv.gz")
TAUGHT = 10_000  # word pairs that teach the map
TOPS = (1, 3, 5)


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    """`seed` draws nine tenths of the help pages."""
    both = in_all(split("lohelp", ["en", "es"], lines=200 if smoke else None).train, ["en", "es"])
    learned = drawn(both, len(both) * 9 // 10, seed)
    pairs = [(entry.source, entry.target) for entry in read_pairs(folder() / "muse" / "en-es.tsv.gz")][:TAUGHT]
    known = {("en", "es"): pairs, ("es", "en"): [(b, a) for a, b in pairs]}
    dim = 30 if smoke else 200
    spaces: dict[str, BagEncoder] = {
        "aligned": alignment.fit(learned, dim=dim, seed=seed, dictionary=known),
        "Cr5": cr5.fit(learned, dim=dim, seed=seed, stem=False, min_df=2),
    }
    with opened(smoke=smoke) as pages:
        flat = pages.lexical()
        asked: dict[str, tuple[Searcher, Translator]] = {
            f"Top {top}, {name}": (flat, EmbeddingTranslator(space, top=top))
            for name, space in spaces.items()
            for top in TOPS
        }
        return {"Monolingual, title": pages.measured(pages.lexical(["title"]), "es"), **pages.translated(asked)}
