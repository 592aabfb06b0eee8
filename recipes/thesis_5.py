"""Tables 5.1 to 5.3 of Liu's thesis in shape: BM25 by field, by dictionary with expansion, by embeddings.

The thesis searched SogouT-16 B (178 million Chinese pages, 50 English queries judged by NTCIR), which we don't have.
Here: the Spanish pages of MDN web docs; a page's title asks, in Spanish or in English; relevant are the pages that
link with it both ways, and the page itself is taken out of every ranking. Dictionary: MUSE en-es. Embeddings: Cr5,
learned from LibreOffice's help, another corpus, as the thesis' were. Run: python recipes/thesis_5.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bilingual_log import table_of
from sets import folder, split

from paragloss import judgments
from paragloss.errors import InputError
from paragloss.evaluation import evaluate, mean
from paragloss.formats.dictionaries import read_pairs
from paragloss.formats.jsonl import read_aligned
from paragloss.models import cr5
from paragloss.search.expanded import Expanded
from paragloss.search.lexical import Lexical
from paragloss.search.structured import Nested
from paragloss.search.terms import NAME, TermIndex
from paragloss.search.translated import Translated
from paragloss.stores import create_store
from paragloss.translation.dictionary import Dictionary
from paragloss.translation.embedding import Embedding
from paragloss.translation.expansion import Chained, Feedback
from paragloss.translation.wordnet import WordNet
from paragloss.types import Document, Qrels, Query, Searcher, Translator

QUERIES = 300
MEASURES = ("nDCG@10", "AP@1000", "R@1000")
HEADER = ("NDCG@10", "MAP@1000", "R@1000")
FIELDS = ("title", "text", "url")


class Collection:
    """Spanish and English pages, two queries for each judged page."""

    def __init__(self, place: str) -> None:
        path = folder() / "mdn"
        pages = [
            c for c in read_aligned([path / "en.jsonl.gz", path / "es.jsonl.gz"]) if {"en", "es"} <= c.texts.keys()
        ]
        links = judgments.read_links(path / "mutual_links.tsv.gz")
        here = {page.id for page in pages}
        asking = [page for page in pages if links.get(page.id, set()) & here and page.titles.get("es")]
        asking = asking[:: max(1, len(asking) // QUERIES)][:QUERIES]
        self.queries = {lang: [Query(page.id, page.titles[lang], lang) for page in asking] for lang in ("en", "es")}
        self.qrels: Qrels = {page.id: dict.fromkeys(links[page.id] & here, 1) for page in asking}
        store = create_store(str(Path(place) / "mdn"), dense={}, sparse=[NAME])
        index = TermIndex.build(store, fields=FIELDS)
        self.documents = {}
        for page in pages:
            url = page.id.replace("/", " ").replace("_", " ").replace("-", " ")
            for lang in ("en", "es"):
                name = page.id if lang == "es" else f"en:{page.id}"
                self.documents[name] = Document(name, page.texts[lang], lang, page.titles.get(lang, ""), {"url": url})
        documents = list(self.documents.values())
        for start in range(0, len(documents), 1000):
            index.add(documents[start : start + 1000])
        index.refresh()
        self.store, self.statistics = store, index.statistics

    def fetch(self, ids: Sequence[str]) -> list[Document]:
        return [self.documents[id] for id in ids]

    def lexical(self, fields: Sequence[str] = FIELDS) -> Lexical:
        return Lexical(self.store, self.statistics, weights=dict.fromkeys(fields, 1.0))

    def idf(self, lang: str, term: str) -> float:
        df = self.statistics.df("text", lang, [term])
        return float(self.statistics.idf("text", lang, df)[0]) if df[0] else 0.0

    def measure(self, searcher: Searcher, lang: str) -> list[float]:
        queries = self.queries[lang]
        found = searcher.search(queries, 1001, {"lang": ["es"]})
        run = {q.id: [hit for hit in hits if hit.id != q.id][:1000] for q, hits in zip(queries, found, strict=True)}
        averages = mean(evaluate(run, self.qrels, MEASURES))
        return [averages[name] for name in MEASURES]


def fields(pages: Collection) -> dict[str, list[float]]:
    names = {"All fields": FIELDS, "Body": ("text",), "Title": ("title",), "URL": ("url",)}
    return {name: pages.measure(pages.lexical(some), "es") for name, some in names.items()}


def dictionary(pages: Collection) -> dict[str, list[float]]:
    words = Dictionary.build(read_pairs(folder() / "muse" / "en-es.tsv.gz"), "en", "es")
    before = Chained(_expander(pages), words)
    index = (pages.store, pages.statistics)
    flat = pages.lexical()
    after = Expanded(flat, pages.fetch, pages.idf)
    searchers = {
        "Nested (a OR b) AND (c OR d), title": (Nested(*index, weights={"title": 1.0}), words),
        "Nested, all fields": (Nested(*index), words),
        "Weighted, title": (pages.lexical(["title"]), words),
        "Weighted, all fields": (flat, words),
        "  and pre-translation expansion": (flat, before),
        "  and post-translation expansion": (after, words),
        "  and both": (after, before),
    }
    return _translated(pages, searchers)


def embedding(pages: Collection) -> dict[str, list[float]]:
    both = [c for c in split("lohelp", ["en", "es"]).train if {"en", "es"} <= c.texts.keys()]
    space = cr5.fit(both, dim=200, stem=False, min_df=2)
    flat = pages.lexical()
    return _translated(pages, {f"Top {n}": (flat, Embedding(space, top=n)) for n in (1, 3, 5)})


def _expander(pages: Collection) -> Translator:
    """WordNet, as in the thesis, where it is installed; otherwise words of the first English pages found."""
    try:
        return WordNet()
    except InputError:
        return Feedback(pages.lexical(), pages.fetch, lambda term: pages.idf("en", term))


def _translated(pages: Collection, searchers: Mapping[str, tuple[Searcher, Translator]]) -> dict[str, list[float]]:
    return {name: pages.measure(Translated(inner, words, to="es"), "en") for name, (inner, words) in searchers.items()}


THESIS_FIELDS = {
    "All fields": [0.3358, 0.1340, 0.45],
    "Body": [0.2223, 0.0769, 0.33],
    "Title": [0.5851, 0.4364, 0.85],
    "URL": [0.0163, 0.0012, 0.01],
}
THESIS_DICTIONARY = {
    "Monolingual, title": [0.5851, 0.4364, 0.24],
    "Nested, no expansion": [0.1115, 0.2124, 0.26],
    "  and pre-translation expansion": [0.0433, 0.0886, 0.11],
    "  and post-translation expansion": [0.0519, 0.0693, 0.08],
    "  and both": [0.0264, 0.0308, 0.03],
}
THESIS_EMBEDDING = {
    "Top 1": [0.0371, 0.0683, 0.08],
    "Top 3": [0.0459, 0.0756, 0.09],
    "Top 5": [0.0463, 0.0635, 0.08],
}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        pages = Collection(place)
        print(f"{len(pages.documents) // 2} Spanish pages, {len(pages.qrels)} queries")
        by_field = fields(pages)
        print(table_of("Table 5.1: monolingual, by field", HEADER, by_field, THESIS_FIELDS))
        print(f"queries are expanded before translation by {type(_expander(pages)).__name__}")
        print(table_of("Table 5.2: by dictionary", HEADER, dictionary(pages), THESIS_DICTIONARY))
        print(table_of("Table 5.3: by embeddings", HEADER, embedding(pages), THESIS_EMBEDDING))
        pages.store.close()
