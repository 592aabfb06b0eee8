"""Puts documents into a store with their BM25 vectors, and keeps the term statistics true to them.

Statistics live in memory while a collection is open. Before the first write they are marked unfinished in the
store, `commit` puts them back whole; a collection found unfinished (its writer was killed) is recounted from
its documents' vectors, so statistics and documents can't drift apart.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from paragloss.analysis import analyzer, check_yield, tokenization
from paragloss.analysis.duplicates import compute_signature
from paragloss.bm25 import Bags, Layout
from paragloss.errors import StoreError
from paragloss.search.indexed_fields import INNER, SUBWORD_FIELDS, TITLE_SUBWORDS, language_of, text_of, translation
from paragloss.statistics import DRIFT, Statistics
from paragloss.translation.subword_terms import has_spoken_spellings, list_subword_terms
from paragloss.types import Analyzer, Document, Floats, Record, SparseVector, Store, TokenizedText

#: The sparse vector of every document that holds its terms.
NAME = "terms"
#: The blob that holds what is counted of them.
STATISTICS = "statistics"


class TermIndex:
    """The one writer of a collection. `statistics` is what `Lexical` needs to search it."""

    def __init__(
        self, store: Store, statistics: Statistics, *, clean: bool, analyze: Callable[[str], Analyzer] = analyzer
    ) -> None:
        self.statistics = statistics
        self._store = store
        self._clean = clean
        self._analyze = analyze
        self._writing = threading.RLock()
        self._changes = 0
        self._packed = -1, b""  # the statistics after so many changes
        self._version = store.blob_version(STATISTICS)
        self._looked = time.monotonic()
        self._publish()

    @classmethod
    def build(
        cls,
        store: Store,
        *,
        fields: Sequence[str] = ("title", "text"),
        k1: float = 1.2,
        b: float = 0.75,
        analyze: Callable[[str], Analyzer] = analyzer,
    ) -> TermIndex:
        """Start the index of an empty collection. `title` and `text` are a document's own, others its `fields`."""
        if store.read_blob(STATISTICS) is not None or store.count():
            raise StoreError("this collection has documents already: open its index, or build in a new collection")
        statistics = Statistics(Layout(fields, k1=k1, b=b))
        store.write_blob(STATISTICS, statistics.to_bytes())
        return cls(store, statistics, clean=True, analyze=analyze)

    @classmethod
    def open_or_build(cls, store: Store) -> TermIndex:
        """Open the index; of an empty collection whose creation was interrupted, build it."""
        started = store.read_blob(STATISTICS) is not None or store.count() > 0
        return cls.open(store) if started else cls.build(store)

    @classmethod
    def open(cls, store: Store, *, analyze: Callable[[str], Analyzer] = analyzer) -> TermIndex:
        data = store.read_blob(STATISTICS)
        if data is None:
            raise StoreError("this collection has no index of terms: build one when it is created")
        statistics, whole = Statistics.from_bytes(data)
        if not whole:
            recount(store, statistics)
        elif statistics.records is not None and statistics.records != (here := store.count()):
            raise StoreError(
                f"this collection is damaged: {here} of its {statistics.records} documents can be found; restore a "
                "copy, or `paragloss repair` keeps what is whole"
            )
        return cls(store, statistics, clean=whole, analyze=analyze)

    def add(
        self,
        documents: Sequence[Document],
        dense: Mapping[str, Sequence[Floats | None] | Floats] | None = None,
        *,
        ready: Counted | None = None,
        drift: float = DRIFT,
    ) -> None:
        """Insert or replace documents; on return they are durable. `dense` has one row per document for each model,
        `ready` is what `counted` gives, where that has been done before. Weights that are off by more than `drift` are
        made anew.

        A row that is None or all zeros (a language or words the model doesn't know) is not kept.
        """
        rows = {document.id: row for row, document in enumerate(documents)}  # the last of equal ids wins
        if ready is None or len(rows) < len(documents):
            ready = counted(self.statistics.layout, [documents[row] for row in rows.values()], self._analyze)
        documents = [documents[row] for row in rows.values()]
        vectors = [
            {
                name: vector
                for name, matrix in (dense or {}).items()
                if (vector := matrix[row]) is not None and vector.any()
            }
            for row in rows.values()
        ]
        langs = [document.lang for document in documents]
        if "text" in self.statistics.layout.fields:
            _alarm(documents, ready.bags, self.statistics.layout.field("text"))
        bags = ready.bags
        self._put(documents, vectors, ready, lambda statistics: statistics.weigh(langs, bags), drift)

    def _put(
        self,
        documents: Sequence[Document],
        dense: Sequence[Mapping[str, Floats]],
        ready: Counted,
        weigh: Callable[[Statistics], list[SparseVector]],
        drift: float,
    ) -> None:
        """Write documents, weighed by the statistics of the moment, and count them."""
        with self._change():
            self._forget([document.id for document in documents])
            weighed = weigh(self.statistics)
            parts = zip(documents, dense, weighed, ready.packed_tokens, ready.signatures, strict=True)
            self._store.add(
                [
                    Record(document, rows, {NAME: vector}, tokens, signature)
                    for document, rows, vector, tokens, signature in parts
                ]
            )
            self._count([document.lang for document in documents], weighed)
            self._note()
            self.refresh(tolerance=drift)

    def delete(self, ids: Sequence[str]) -> int:
        """Remove documents; how many there were."""
        with self._change():
            self._forget(list(dict.fromkeys(ids)))
            gone = self._store.delete(ids)
            self._note()
            return gone

    def refresh(self, *, tolerance: float = 0.0) -> None:
        """Rewrite the weights of languages whose average length has moved by more than `tolerance`.

        After refresh() scores are exactly BM25. `add` sees to it that they are never off by more than its `drift`.
        """
        with self._writing, self._store.write_session():
            for lang in sorted(self.statistics.stale(tolerance)):
                self._begin()
                self._refresh(lang)

    def commit(self) -> None:
        """Put the statistics into the store, so that opening it needs no recount. Closing does not lose anything
        without it."""
        with self._writing:
            if not self._clean:
                self._store.write_blob(STATISTICS, self.statistics.to_bytes(records=self._store.count()))
                self._clean = True
                self._version = self._store.blob_version(STATISTICS)

    def catch_up(self, *, every: float = 0.5) -> None:
        """Take in what another process has written since; looks at most once in `every` seconds."""
        if not self._clean or time.monotonic() - self._looked < every:
            return
        with self._writing:
            self._looked = time.monotonic()
            version = self._store.blob_version(STATISTICS)
            if version is not None and version != self._version:
                statistics, whole = Statistics.from_bytes(self._store.read_blob(STATISTICS) or b"")
                if whole:
                    self.statistics, self._version = statistics, version

    def _publish(self) -> None:
        """While this process writes, others read the statistics as they are now."""
        self._store.publish_blob(STATISTICS, lambda: str(self._changes), self._now)

    def _now(self) -> bytes:
        with self._writing:
            if self._packed[0] != self._changes:  # every reader asks for the same
                self._packed = self._changes, self.statistics.to_bytes()
            return self._packed[1]

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Documents written within are counted, whatever happens."""
        with self._writing, self._store.write_session():
            self._begin()
            try:
                yield
            except BaseException:
                self._fail()
                raise

    def _note(self) -> None:
        """Tell others what has been counted; who reads a folder asks the process that has it."""

    def _fail(self) -> None:
        """After a failed write: what the store holds is what counts."""
        self.statistics.clear()
        recount(self._store, self.statistics)

    def _begin(self) -> None:
        """Become the one writer, knowing all that was written before."""
        self._store.claim_writing()
        self._changes += 1
        if self._clean:
            if self._store.blob_version(STATISTICS) not in (None, self._version):
                self.statistics, whole = Statistics.from_bytes(self._store.read_blob(STATISTICS) or b"")
                if not whole:
                    recount(self._store, self.statistics)
            self._publish()
            self._store.write_blob(STATISTICS, self.statistics.unfinished())
            self._clean = False

    def _forget(self, ids: Sequence[str]) -> None:
        """Take the terms of documents that are about to be replaced or removed out of the statistics."""
        there = [record for record in self._store.get(ids, vectors=[NAME], text=False) if record is not None]
        self._count([record.document.lang for record in there], vectors_of(there), sign=-1)

    def _count(self, langs: Sequence[str], vectors: Sequence[SparseVector], *, sign: int = 1) -> None:
        self.statistics.count(langs, vectors, sign=sign)

    def _refresh(self, lang: str) -> None:
        for points, vectors in self._store.scroll_sparse(NAME, {"lang": [lang]}):
            new, old = self.statistics.reweigh(lang, vectors)
            self._store.update_sparse(NAME, [points[place] for place in new], list(new.values()))
            self.statistics.recast(lang, old)


class Counted(NamedTuple):
    """Documents ready to be weighed: their terms counted, and where their words stand."""

    bags: Bags
    packed_tokens: list[bytes]  # of each document, as `analysis.tokenization` packs them
    signatures: list[bytes]  # of each document (`analysis.duplicates`)


class Analysed(NamedTuple):
    """The terms of a document by field, and where the words of its text stand."""

    terms: dict[str, list[str]]
    packed_tokens: bytes
    signature: bytes


def counted(layout: Layout, documents: Sequence[Document], analyze: Callable[[str], Analyzer] = analyzer) -> Counted:
    """All of `TermIndex.add` that needs neither the store nor its statistics."""
    return counting(layout, documents, [analysed(layout, document, analyze) for document in documents])


def counting(layout: Layout, documents: Sequence[Document], found: Sequence[Analysed]) -> Counted:
    """The same of documents that have been analysed."""
    counted = [(document.lang, each.terms) for document, each in zip(documents, found, strict=True)]
    return Counted(layout.bags(counted), [each.packed_tokens for each in found], [each.signature for each in found])


def analysed(layout: Layout, document: Document, analyze: Callable[[str], Analyzer] = analyzer) -> Analysed:
    own, *others = tokenization.tokenize_by_language(document.text, document.lang, analyze)
    found = {
        field: own.token_terms() if field == "text" else analyze(language_of(field) or document.lang).terms(text)
        for field in layout.fields
        if field not in SUBWORD_FIELDS and (text := text_of(document, field))
    }
    if INNER in layout.fields:
        found[INNER] = _inner(document, found, own, analyze)
    if TITLE_SUBWORDS in layout.fields:
        found[TITLE_SUBWORDS] = _title_subwords(document, found.get("title", ()), analyze)
    if "text" not in found:
        return Analysed(found, b"", b"")
    for other in others:
        if translation(other.lang) not in layout.fields:
            found[translation(other.lang)] = other.token_terms()
    packed_tokens = tokenization.pack_texts(tokenization.truncate_texts([own, *others]))
    return Analysed(found, packed_tokens, compute_signature(found["text"]))


def _inner(
    document: Document, terms: Mapping[str, Sequence[str]], cut: TokenizedText, analyze: Callable[[str], Analyzer]
) -> list[str]:
    both = [*terms.get("title", ()), *terms.get("text", ())]
    if not has_spoken_spellings(document.lang):
        return list_subword_terms(both, document.lang)
    title, words = document.title, cut.spell_words()
    written = [title[span.start : span.end] for span in analyze(document.lang).spans(title)]
    return list_subword_terms(both, document.lang, [*written, *map(words.__getitem__, cut.word_indices.tolist())])


def _title_subwords(document: Document, terms: Sequence[str], analyze: Callable[[str], Analyzer]) -> list[str]:
    """List the parts of compounds and the sounds of names in a document's title."""
    if not has_spoken_spellings(document.lang):
        return list_subword_terms(terms, document.lang)
    written = [document.title[span.start : span.end] for span in analyze(document.lang).spans(document.title)]
    return list_subword_terms(terms, document.lang, written)


def _alarm(documents: Sequence[Document], bags: Bags, text: int) -> None:
    """Warn, with counts, of languages whose texts gave suspiciously few terms."""
    lengths = np.zeros(len(documents), np.int64)
    lengths[bags.row[bags.field == text]] = bags.length[bags.field == text]
    for lang in dict.fromkeys(document.lang for document in documents):
        here = [i for i, document in enumerate(documents) if document.lang == lang]
        check_yield([documents[i].text for i in here], lengths[here].tolist(), lang)


def recount(store: Store, statistics: Statistics) -> int:
    """Count every document of a store into empty statistics; how many there are."""
    seen = 0
    for records in store.scroll(vectors=[NAME], text=False):
        statistics.count([record.document.lang for record in records], vectors_of(records))
        seen += len(records)
    return seen


def vectors_of(records: Iterable[Record]) -> list[SparseVector]:
    nothing = SparseVector(np.zeros(0, np.uint32), np.zeros(0, np.float32))
    return [record.sparse.get(NAME, nothing) for record in records]
