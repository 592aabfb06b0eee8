"""Liu's Tables 5.1 to 5.3: Spanish pages found by field, by dictionary, and by a space of both languages.

The thesis searched SogouT-16 B (178 million Chinese pages, 50 queries judged by NTCIR), which is not public. Here: the
Spanish pages of MDN web docs; a page's title in Spanish or English is a query, pages that link to the page and back are
relevant, and the page itself is removed from every ranking. Headings and strong words come from the pages' Markdown
(GitHub mdn/translated-content, the folder `translated-content` under PARAGLOSS_DATA).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from papers.corpora import (
    Columns,
    Rows,
    data_folder,
    open_term_index,
    read_collection,
    sample_by_hash,
    select_multilingual,
    split_collection,
)
from papers.translators import has_apertium, read_muse, read_training_dictionary, translate_by_apertium
from papers.wordnet import WordNet
from paragloss.encoders.bag import BagEncoder
from paragloss.errors import InputError
from paragloss.evaluation import evaluate
from paragloss.formats.dictionaries import Entry
from paragloss.lab import judgments
from paragloss.lab.matchings.nested import Nested
from paragloss.lab.methods import alignment, cr5
from paragloss.search.expanded import Expanded
from paragloss.search.lexical import Lexical
from paragloss.search.translated import Translated
from paragloss.statistics import Statistics
from paragloss.translation.dictionary import Dictionary
from paragloss.translation.embedding import EmbeddingTranslator
from paragloss.translation.expansion import ChainedTranslator, FeedbackExpander
from paragloss.types import Concept, Document, Qrels, Query, Searcher, Store, Translator

MEASURES = ("nDCG@10", "AP@1000", "R@1000")
DEPTH = 1000
PLAIN_FIELDS, MARKDOWN_FIELDS = ("title", "text", "url"), ("heading", "strong")
#: Row of Table 5.1 -> field.
FIELDS = {"Body": "text", "Title": "title", "Heading": "heading", "Strong": "strong", "URL": "url"}
#: In Table 5.3 each word becomes so many words.
NEAREST = (1, 3, 5)
_CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
_STRONG = re.compile(r"\*\*([^*\n]+)\*\*")


def measure_table_5_1(part: str, seed: int, *, smoke: bool) -> Rows:
    with open_pages(smoke=smoke) as pages:
        rows = {"All fields": pages.measure_searcher(pages.search_fields(), "es")}
        for name, field in FIELDS.items():
            if field in pages.fields:
                rows[name] = pages.measure_searcher(pages.search_fields([field]), "es")
        return rows


def measure_table_5_2(part: str, seed: int, *, smoke: bool) -> Rows:
    entries = read_muse("es")
    with open_pages(smoke=smoke) as pages:
        systems = make_dictionary_systems(pages, entries)
        if has_apertium("es") and not smoke:
            apertium = translate_by_apertium({("en", "es"): [query.text for query in pages.queries["en"]]})
            systems["Machine translation (Apertium), all fields"] = (pages.search_fields(), apertium)
        return pages.measure_translated(systems)


def measure_table_5_3(part: str, seed: int, *, smoke: bool) -> Rows:
    spaces = fit_spaces(seed, smoke)
    with open_pages(smoke=smoke) as pages:
        systems: dict[str, tuple[Searcher, Translator]] = {}
        for name, space in spaces.items():
            for top in NEAREST:
                translator = EmbeddingTranslator(space, top=top)
                systems[f"Title, top {top}, {name}"] = (pages.search_fields(["title"]), translator)
                systems[f"Top {top}, {name}"] = (pages.search_fields(), translator)
        return pages.measure_translated(systems)


def make_dictionary_systems(pages: FieldedPages, entries: Sequence[Entry]) -> dict[str, tuple[Searcher, Translator]]:
    """Make a searcher and a translator for each row of Table 5.2."""
    dictionary = Dictionary.build(entries, "en", "es")
    expanding = ChainedTranslator(make_expander(pages), dictionary)
    index = (pages.store, pages.statistics)
    forms: dict[str, Searcher] = {
        "Nested, title": Nested(*index, weights={"title": 1.0}),
        "Nested, all fields": Nested(*index),
        "Weighted, title": pages.search_fields(["title"]),
        "Weighted, all fields": pages.search_fields(),
    }
    systems: dict[str, tuple[Searcher, Translator]] = {}
    for name, searcher in forms.items():
        feedback = Expanded(searcher, pages.fetch, pages.idf)
        systems[name] = (searcher, dictionary)
        systems[f"{name}, pre-translation expansion"] = (searcher, expanding)
        systems[f"{name}, post-translation expansion"] = (feedback, dictionary)
        systems[f"{name}, both expansions"] = (feedback, expanding)
    random_words = Dictionary.build(choose_random_translations(entries), "en", "es")
    systems["Weighted, all fields, random translation"] = (forms["Weighted, all fields"], random_words)
    return systems


def make_expander(pages: FieldedPages) -> Translator:
    """Expand English queries by WordNet if it is installed, otherwise by words of the first English pages."""
    try:
        return WordNet()
    except InputError:
        return FeedbackExpander(pages.search_fields(), pages.fetch, lambda term: pages.idf("en", term))


def choose_random_translations(entries: Sequence[Entry]) -> list[Entry]:
    """Keep one translation of each word, chosen at random."""
    by_source: dict[str, list[Entry]] = {}
    for entry in entries:
        by_source.setdefault(entry.source, []).append(entry)
    return [random.Random(word).choice(translations) for word, translations in by_source.items()]


def fit_spaces(seed: int, smoke: bool) -> dict[str, BagEncoder]:
    """Fit both spaces of Table 5.3 to nine tenths of the help pages, sampled by the seed."""
    pages = split_collection("lohelp", ["en", "es"], lines=200 if smoke else None).train
    bilingual = select_multilingual(pages, ["en", "es"])
    train = sample_by_hash(bilingual, len(bilingual) * 9 // 10, seed)
    dim = 30 if smoke else 200
    return {
        "aligned": alignment.fit(train, dim=dim, seed=seed, dictionary=read_training_dictionary("es")),
        "Cr5": cr5.fit(train, dim=dim, seed=seed, stem=False, min_df=2),
    }


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
        return {name: list(scores.values()) for name, scores in evaluate(run, self.qrels, MEASURES).items()}

    def measure_translated(self, systems: Mapping[str, tuple[Searcher, Translator]]) -> Rows:
        """Measure English queries, translated for each searcher by its translator, below Spanish ones by title."""
        rows = {"Monolingual, title": self.measure_searcher(self.search_fields(["title"]), "es")}
        for name, (searcher, translator) in systems.items():
            rows[name] = self.measure_searcher(Translated(searcher, translator, to="es"), "en")
        return rows


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
