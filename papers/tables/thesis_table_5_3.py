"""Liu's Table 5.3: English queries find Spanish pages by the nearest words in a space of both languages.

As in the thesis the vectors come from another corpus (LibreOffice's help): each language's own, aligned by Procrustes
with MUSE's pairs, as there; and Cr5's, learned from the same pages together. Every query word becomes its best 1, 3 or
5 words, the rest of the query as context (eq. 5.2). Titles are searched as in the thesis, and all fields.
"""

from __future__ import annotations

from papers import page_fields
from papers.corpora import Rows, sample_by_hash, select_multilingual, split_collection
from papers.page_fields import open_pages
from papers.translators import read_training_dictionary
from paragloss.encoders.bag import BagEncoder
from paragloss.lab.methods import alignment, cr5
from paragloss.translation.embedding import EmbeddingTranslator
from paragloss.types import Searcher, Translator

COLUMNS, PARTS = page_fields.COLUMNS, ("en-es",)
DATA = (*page_fields.DATA, "lohelp/en.jsonl.gz", "lohelp/es.jsonl.gz", "muse/en-es.tsv.gz")
NEAREST = (1, 3, 5)


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    spaces = fit_spaces(seed, smoke)
    with open_pages(smoke=smoke) as pages:
        systems: dict[str, tuple[Searcher, Translator]] = {}
        for name, space in spaces.items():
            for top in NEAREST:
                translator = EmbeddingTranslator(space, top=top)
                systems[f"Title, top {top}, {name}"] = (pages.search_fields(["title"]), translator)
                systems[f"Top {top}, {name}"] = (pages.search_fields(), translator)
        monolingual = pages.measure_searcher(pages.search_fields(["title"]), "es")
        return {"Monolingual, title": monolingual, **pages.measure_translated(systems)}


def fit_spaces(seed: int, smoke: bool) -> dict[str, BagEncoder]:
    """Fit both spaces to nine tenths of the help pages, sampled by the seed."""
    pages = split_collection("lohelp", ["en", "es"], lines=200 if smoke else None).train
    bilingual = select_multilingual(pages, ["en", "es"])
    train = sample_by_hash(bilingual, len(bilingual) * 9 // 10, seed)
    dim = 30 if smoke else 200
    return {
        "aligned": alignment.fit(train, dim=dim, seed=seed, dictionary=read_training_dictionary("es")),
        "Cr5": cr5.fit(train, dim=dim, seed=seed, stem=False, min_df=2),
    }
