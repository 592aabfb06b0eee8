"""Maps between word spaces on documents: the baselines of Cr5's Tables 3 and 4 where documents find documents.

English pages find the same pages in another language among up to 1,000 held-out ones, by cosine and by CSLS. Word
vectors (PPMI, 300 dimensions) and seed pairs come from the same training pages, up to 1,200; each seed samples others.
"""

from __future__ import annotations

from papers.corpora import Columns, Rows, sample_by_hash, select_multilingual, split_collection
from papers.nearest_neighbours import precision_columns, rank_of_targets
from paragloss.encoders.bag import BagEncoder
from paragloss.lab.learning import monolingual
from paragloss.lab.learning.counting import count, text_of
from paragloss.lab.methods import alignment, cr5
from paragloss.types import Concept

PARTS = ("lohelp en-it", "mdn en-fr", "ddtp en-da", "ddtp en-ru")
DATA = ("ddtp/da.jsonl.gz", "mdn/fr.jsonl.gz", "lohelp/it.jsonl.gz")
COLUMNS = ("P@1", "RR", "P@1, CSLS", "RR, CSLS")
METHODS = {
    "Procrustes, refined": "procrustes",
    "orthogonal": "orthogonal",
    "SVD": "svd",
    "least squares": "least-squares",
    "CCA of words": "cca",
}


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    name, _, lang = part.rpartition(" en-")
    split = split_collection(name, ["en", lang], lines=400 if smoke else None)
    pages, held_out = (select_multilingual(concepts, ["en", lang]) for concepts in split)
    size = min(120 if smoke else 1200, len(pages) * 9 // 10)  # never all pages, so that seeds differ
    train, test = sample_by_hash(pages, size, seed), sample_by_hash(held_out, 30 if smoke else 1000, 0)
    models = fit_models(train, lang, 50 if smoke else 300, seed)
    return {row: measure_documents(model, test, lang) for row, model in models.items()}


def fit_models(train: list[Concept], lang: str, dim: int, seed: int) -> dict[str, BagEncoder]:
    """Fit the maps to the same word vectors, and Cr5 to the same pages."""
    counts, _ = count(train, stem=False, lengths=(1, 10**9))
    vectors = {
        code: monolingual.train_word_vectors((text_of(c, code) for c in train), counts[code].vocabulary, dim=dim)
        for code in ("en", lang)
    }
    maps = {row: alignment.fit(train, method=method, vectors=vectors, seed=seed) for row, method in METHODS.items()}
    return {**maps, "Cr5": cr5.fit(train, dim=dim, seed=seed)}


def measure_documents(model: BagEncoder, test: list[Concept], lang: str) -> Columns:
    """Let English pages find their translations, by cosine and by CSLS."""
    queries, documents = (model.encode([text_of(c, code) for c in test], code) for code in ("en", lang))
    cosine, csls = (
        precision_columns(rank_of_targets(queries, documents, range(len(test)), rule=rule))
        for rule in ("cosine", "CSLS")
    )
    return {"P@1": cosine["P@1"], "RR": cosine["RR"], "P@1, CSLS": csls["P@1"], "RR, CSLS": csls["RR"]}
