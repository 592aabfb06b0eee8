"""Spanish pages by field, for chapter 5 of Liu's thesis: title, body, URL, and headings and strong words.

The thesis searched SogouT-16 B (178 million Chinese pages, 50 queries judged by NTCIR), which is not public. Here: the
Spanish pages of MDN web docs; a page's title in Spanish or English is a query, pages that link to the page and back are
relevant, and the page itself is removed from every ranking. Headings and strong words come from the pages' Markdown
(GitHub mdn/translated-content, the folder `translated-content` under PARAGLOSS_DATA).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from papers.corpora import Columns, data_folder, open_term_index, read_collection, sample_by_hash, select_multilingual
from paragloss.evaluation import evaluate
from paragloss.lab import judgments
from paragloss.search.lexical import Lexical
from paragloss.search.translated import Translated
from paragloss.statistics import Statistics
from paragloss.types import Concept, Document, Qrels, Query, Searcher, Store, Translator

DATA = ("mdn/en.jsonl.gz", "mdn/es.jsonl.gz", "mdn/mutual_links.tsv.gz")
COLUMNS = ("nDCG@10", "AP@1000", "R@1000")
DEPTH = 1000
PLAIN_FIELDS, MARKDOWN_FIELDS = ("title", "text", "url"), ("heading", "strong")
_CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
_STRONG = re.compile(r"\*\*([^*\n]+)\*\*")


class FieldedPages(NamedTuple):
    """An index of pages in both languages, and a query in each language for every judged page."""

    queries: dict[str, list[Query]]
    qrels: Qrels
    documents: dict[str, Document]
    fields: tuple[str, ...]
    store: Store
    statistics: Statistics

    def fetch(self, ids: Sequence[str]) -> list[Document]:
        return [self.documents[doc_id] for doc_id in ids]

    def search_fields(self, fields: Sequence[str] = ()) -> Lexical:
        """Make a BM25 searcher of some fields, or of all."""
        return Lexical(self.store, self.statistics, weights=dict.fromkeys(fields or self.fields, 1.0))

    def idf(self, lang: str, term: str) -> float:
        df = self.statistics.df("text", lang, [term])
        return float(self.statistics.idf("text", lang, df)[0]) if df[0] else 0.0

    def measure_searcher(self, searcher: Searcher, lang: str) -> Columns:
        """Measure the queries of one language, query by query."""
        queries = self.queries[lang]
        rankings = searcher.search(queries, DEPTH + 1, {"lang": ["es"]})
        run = {
            query.id: [hit for hit in hits if hit.id != query.id][:DEPTH]
            for query, hits in zip(queries, rankings, strict=True)
        }
        return {name: list(scores.values()) for name, scores in evaluate(run, self.qrels, COLUMNS).items()}

    def measure_translated(self, systems: Mapping[str, tuple[Searcher, Translator]]) -> dict[str, Columns]:
        """Measure English queries, translated for each searcher by its translator."""
        return {
            name: self.measure_searcher(Translated(searcher, translator, to="es"), "en")
            for name, (searcher, translator) in systems.items()
        }


@contextmanager
def open_pages(*, smoke: bool) -> Iterator[FieldedPages]:
    """Index the pages for the duration of a block."""
    lines = 400 if smoke else None
    concepts = select_multilingual(read_collection("mdn", ["en", "es"], lines=lines), ["en", "es"])
    links = judgments.read_links(data_folder() / "mdn" / "mutual_links.tsv.gz")
    page_ids = {page.id for page in concepts}
    linked = [p for p in concepts if links.get(p.id, set()) & page_ids and p.titles.get("es") and p.titles.get("en")]
    query_pages = sample_by_hash(linked, 20 if smoke else 300, 0)
    markdown_fields = MARKDOWN_FIELDS if (data_folder() / "translated-content").is_dir() else ()
    fields = (*PLAIN_FIELDS, *markdown_fields)
    documents = [document for page in concepts for document in _make_documents(page, bool(markdown_fields))]
    with open_term_index(documents, fields) as (store, statistics):
        yield FieldedPages(
            {lang: [Query(page.id, page.titles[lang], lang) for page in query_pages] for lang in ("en", "es")},
            {page.id: dict.fromkeys(links[page.id] & page_ids, 1) for page in query_pages},
            {document.id: document for document in documents},
            fields,
            store,
            statistics,
        )


def _make_documents(page: Concept, with_markdown: bool) -> Iterator[Document]:
    """Make a page's Spanish document and its English one, which is only used to expand queries."""
    url = {"url": re.sub("[/_-]", " ", page.id)}
    source = data_folder() / "translated-content" / "files" / "es" / page.id / "index.md"
    has_source = with_markdown and source.is_file()
    marked = extract_marked_words(source.read_text(encoding="utf-8")) if has_source else {}
    yield Document(page.id, page.texts["es"], "es", page.titles.get("es", ""), {**url, **marked})
    yield Document(f"en:{page.id}", page.texts["en"], "en", page.titles.get("en", ""), url)


def extract_marked_words(markdown: str) -> dict[str, str]:
    """Extract headings and strong words of a page, outside blocks of code."""
    text = _CODE.sub("", markdown)
    fields = {"heading": " ".join(_HEADING.findall(text)), "strong": " ".join(_STRONG.findall(text))}
    return {name: words for name, words in fields.items() if words}
