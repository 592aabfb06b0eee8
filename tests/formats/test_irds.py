import sys
from typing import NamedTuple

import pytest

from paragloss.errors import InputError, MissingExtraError
from paragloss.formats.documents import read_documents
from paragloss.formats.irds import read_irds_documents, read_irds_qrels, read_irds_queries
from paragloss.types import Document, Query

ir_datasets = pytest.importorskip("ir_datasets")


class Page(NamedTuple):
    doc_id: str
    title: str
    body: str
    url: str
    year: int

    def default_text(self):
        return f"{self.title} {self.body}"


class Odd(NamedTuple):
    doc_id: str
    headline: str
    abstract: str
    claims: str
    lang: str


class Topic(NamedTuple):
    query_id: str
    title: str
    description: str


def register(name, docs, lang, queries=(), qrels=()):
    """A collection made of ir_datasets' own classes, kept in memory."""
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries

    def make_part(base, kind, records):
        methods = {f"{kind}_iter": lambda _: iter(records), f"{kind}_lang": lambda _: lang}
        return type(kind, (base,), methods)()

    parts = [(BaseDocs, "docs", docs), (BaseQueries, "queries", queries), (BaseQrels, "qrels", qrels)]
    if name not in ir_datasets.registry:
        dataset = Dataset(*[make_part(*part) for part in parts if part[2]])
        ir_datasets.registry.register(name, dataset)


@pytest.fixture(autouse=True)
def collections():
    from ir_datasets.formats import GenericDoc, GenericQuery, TrecQrel

    pages = [Page("1", "Rain", "Water falls.", "http://x.org", 1999), Page("2", "", "Sun.", "", 2000)]
    qrels = [TrecQrel("q1", "1", 2, "0"), TrecQrel("q1", "2", 0, "0")]
    register("paragloss-pages", pages, "en", [Topic("q1", "rain", "what falls")], qrels)
    register("paragloss-plain", [GenericDoc("a", "plain text")], None, [GenericQuery("7", "seven")])
    register("paragloss-odd", [Odd("z", "Head", "An abstract.", "A claim.", "de")], "en")


def test_documents_of_different_shapes():
    assert list(read_irds_documents("irds:paragloss-pages")) == [
        Document("1", "Water falls.", "en", "Rain", {}, {"url": "http://x.org"}),
        Document("2", "Sun.", "en"),
    ]
    assert list(read_irds_documents("paragloss-plain")) == [Document("a", "plain text", "")]
    assert list(read_documents("irds:paragloss-odd")) == [Document("z", "An abstract.\nA claim.", "de", "Head")]


def test_queries_and_grades():
    assert list(read_irds_queries("irds:paragloss-pages")) == [Query("q1", "rain", "en")]
    assert list(read_irds_queries("irds:paragloss-plain")) == [Query("7", "seven", "")]
    assert read_irds_qrels("irds:paragloss-pages") == {"q1": {"1": 2, "2": 0}}


def test_collections_that_are_not_there(monkeypatch):
    with pytest.raises(InputError, match=r"has no collection 'no/such'; https://ir-datasets.com lists them"):
        read_irds_documents("irds:no/such")
    with pytest.raises(InputError, match="the collection has no qrels, only docs, queries"):
        read_irds_qrels("irds:paragloss-plain")
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'paragloss\[datasets\]'"):
        read_irds_documents("irds:paragloss-pages")
