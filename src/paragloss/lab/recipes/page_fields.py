"""Spanish pages by field, for chapter 5 of Liu's thesis: title, body, URL, and headings and strong words.

The thesis searched SogouT-16 B (178 million Chinese pages, 50 queries judged by NTCIR), which can't be had. Here: the
Spanish pages of MDN web docs; a page's title asks, in Spanish or in English; relevant are the pages that link with it
both ways, and the page itself is taken out of every ranking. The last two come from the pages' Markdown
(GitHub mdn/translated-content, the folder `translated-content` under PARAGLOSS_DATA).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from paragloss.evaluation import evaluate
from paragloss.lab import judgments
from paragloss.lab.recipes.sets import Columns, drawn, folder, in_all, read
from paragloss.search.lexical import Lexical
from paragloss.search.terms import NAME, TermIndex
from paragloss.search.translated import Translated
from paragloss.statistics import Statistics
from paragloss.stores import create_store
from paragloss.types import Concept, Document, Qrels, Query, Searcher, Store, Translator

DATA = ("mdn/en.jsonl.gz", "mdn/es.jsonl.gz", "mdn/mutual_links.tsv.gz")
COLUMNS = ("nDCG@10", "AP@1000", "R@1000")
PLAIN, MARKED = ("title", "text", "url"), ("heading", "strong")
_CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
_STRONG = re.compile(r"\*\*([^*\n]+)\*\*")


class Pages(NamedTuple):
    """An index of pages in both languages, and two queries for each judged page."""

    queries: dict[str, list[Query]]
    qrels: Qrels
    documents: dict[str, Document]
    fields: tuple[str, ...]
    store: Store
    statistics: Statistics

    def fetch(self, ids: Sequence[str]) -> list[Document]:
        return [self.documents[id] for id in ids]

    def lexical(self, fields: Sequence[str] = ()) -> Lexical:
        return Lexical(self.store, self.statistics, weights=dict.fromkeys(fields or self.fields, 1.0))

    def idf(self, lang: str, term: str) -> float:
        df = self.statistics.df("text", lang, [term])
        return float(self.statistics.idf("text", lang, df)[0]) if df[0] else 0.0

    def measured(self, searcher: Searcher, lang: str) -> Columns:
        """The three columns, query by query."""
        queries = self.queries[lang]
        found = searcher.search(queries, 1001, {"lang": ["es"]})
        run = {q.id: [hit for hit in hits if hit.id != q.id][:1000] for q, hits in zip(queries, found, strict=True)}
        return {name: list(scores.values()) for name, scores in evaluate(run, self.qrels, COLUMNS).items()}

    def translated(self, asked: Mapping[str, tuple[Searcher, Translator]]) -> dict[str, Columns]:
        """English queries, by each searcher behind its translator."""
        return {name: self.measured(Translated(inner, words, to="es"), "en") for name, (inner, words) in asked.items()}


@contextmanager
def opened(*, smoke: bool) -> Iterator[Pages]:
    """The pages, indexed for as long as they are asked."""
    concepts = in_all(read("mdn", ["en", "es"], lines=400 if smoke else None), ["en", "es"])
    links = judgments.read_links(folder() / "mdn" / "mutual_links.tsv.gz")
    here = {page.id for page in concepts}
    linked = [p for p in concepts if links.get(p.id, set()) & here and p.titles.get("es") and p.titles.get("en")]
    asking = drawn(linked, 20 if smoke else 300, 0)
    with TemporaryDirectory() as place:
        store = create_store(str(Path(place) / "mdn"), dense={}, sparse=[NAME])
        marked = MARKED if (folder() / "translated-content").is_dir() else ()
        index = TermIndex.build(store, fields=(*PLAIN, *marked))
        documents = [document for page in concepts for document in _documents(page, bool(marked))]
        for start in range(0, len(documents), 1000):
            index.add(documents[start : start + 1000])
        index.refresh()
        yield Pages(
            {lang: [Query(page.id, page.titles[lang], lang) for page in asking] for lang in ("en", "es")},
            {page.id: dict.fromkeys(links[page.id] & here, 1) for page in asking},
            {document.id: document for document in documents},
            (*PLAIN, *marked),
            store,
            index.statistics,
        )
        store.close()


def _documents(page: Concept, marked: bool) -> Iterator[Document]:
    """English pages are only expanded from, never found."""
    url = {"url": re.sub("[/_-]", " ", page.id)}
    source = folder() / "translated-content" / "files" / "es" / page.id / "index.md"
    told = marks(source.read_text(encoding="utf-8")) if marked and source.is_file() else {}
    yield Document(page.id, page.texts["es"], "es", page.titles.get("es", ""), {**url, **told})
    yield Document(f"en:{page.id}", page.texts["en"], "en", page.titles.get("en", ""), url)


def marks(markdown: str) -> dict[str, str]:
    """Headings and strong words of a page; a line of code that begins with # is neither."""
    text = _CODE.sub("", markdown)
    found = {"heading": " ".join(_HEADING.findall(text)), "strong": " ".join(_STRONG.findall(text))}
    return {name: words for name, words in found.items() if words}
