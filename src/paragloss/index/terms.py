"""The index of terms: stores documents with their BM25 vectors, and counts their terms.

The statistics are in memory while a collection is open. Before the first write they are marked unfinished in the store,
and `commit` writes them. A collection whose statistics are unfinished (its writer was killed) is counted again from its
documents' vectors, so statistics and documents can't differ.

What is indexed are the fields of a document: its title and text, and of web pages, Markdown and Word files headings,
strong words and addresses. A field that a document lacks costs nothing. docs/understand/log-search.md has the
measurements behind the weights of fields.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np

from paragloss.analysis import analyzer, check_yield, tokenization
from paragloss.analysis.duplicates import compute_signature
from paragloss.analysis.passages import select_passages
from paragloss.bm25 import CountedTerms, Layout
from paragloss.errors import StoreError
from paragloss.statistics import DRIFT, Statistics
from paragloss.translation.subword_terms import has_spoken_spellings, list_subword_terms
from paragloss.types import Analyzer, Document, Floats, Record, SparseVector, Store, TokenizedText

#: The fields of a new collection, and their weights.
FIELDS: Mapping[str, float] = {"title": 1.0, "text": 1.0, "headings": 0.5, "strong": 0.1, "url": 0.1}
#: Subword terms of title and text: parts of compounds and sounds of names (`translation.subword_terms`). Only searches
#: with translated words read these fields; a pipeline can't name them.
INNER = "inner"
#: The subword terms of the title alone, so that a part of a compound in a title counts as a word of the title.
TITLE_SUBWORDS = "inner_title"
SUBWORD_FIELDS = (INNER, TITLE_SUBWORDS)
_ADDRESS_SEPARATORS = re.compile(r"[/_\-.+?&=#~]+")
#: The name of the sparse vector of every document that holds its terms.
TERMS_VECTOR = "terms"
#: The name of the blob with the statistics of the terms.
STATISTICS_BLOB = "statistics"


class CountedDocuments(NamedTuple):
    """Documents whose terms are counted but not yet weighted."""

    bags: CountedTerms
    packed_tokens: list[bytes]  # of each document, as `analysis.tokenization` packs them
    signatures: list[bytes]  # of each document (`analysis.duplicates`)


class AnalyzedDocument(NamedTuple):
    """The terms of a document by field, the offsets of its words, and its signature."""

    terms: dict[str, list[str]]
    packed_tokens: bytes
    signature: bytes


class TermIndex:
    """The only writer of a collection's terms; `statistics` is what searches need of them."""

    def __init__(
        self, store: Store, statistics: Statistics, *, clean: bool, analyze: Callable[[str], Analyzer] = analyzer
    ) -> None:
        """Take the statistics of a store; `build` and `open` read or create them.

        :param clean: whether the statistics in the store are these; False if they must be written at `commit`.
        :param analyze: returns the analyzer of a language.
        """
        self.statistics = statistics
        self._store = store
        self._analyze = analyze
        self._is_clean = clean
        self._version = store.blob_version(STATISTICS_BLOB)  # of the stored statistics
        self._last_check = time.monotonic()  # of that version
        self._write_lock = threading.RLock()
        self._n_changes = 0  # how many batches were begun
        self._n_finished_changes = 0
        #: The number of changes, and the statistics after them as bytes; nothing is packed yet.
        self._packed_statistics = (-1, b"")
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
        """Start the index of an empty collection, and write statistics without documents.

        :param fields: what is indexed: `title`, `text` and names of `Document.fields`.
        :param k1: how soon occurrences of a term saturate in BM25; larger is later.
        :param b: how much BM25 divides by the length of a field, 0 to 1.
        :param analyze: returns the analyzer of a language.
        """
        if store.read_blob(STATISTICS_BLOB) is not None or store.count():
            raise StoreError("this collection has documents already: open its index, or build in a new collection")
        statistics = Statistics(Layout(fields, k1=k1, b=b))
        store.write_blob(STATISTICS_BLOB, statistics.to_bytes())
        return cls(store, statistics, clean=True, analyze=analyze)

    @classmethod
    def open_or_build(cls, store: Store) -> TermIndex:
        """Open the index; build it for an empty collection whose creation was interrupted."""
        is_built = store.read_blob(STATISTICS_BLOB) is not None or store.count() > 0
        return cls.open(store) if is_built else cls.build(store)

    @classmethod
    def open(cls, store: Store, *, analyze: Callable[[str], Analyzer] = analyzer) -> TermIndex:
        """Open the index; count the terms again if its last writer was killed.

        :param analyze: returns the analyzer of a language.
        :raises StoreError: if there is no index, or it was written for another number of documents.
        """
        statistics, is_complete = read_statistics_blob(store)
        if is_complete:
            _check_document_count(store, statistics)
        else:
            recount(store, statistics)
        return cls(store, statistics, clean=is_complete, analyze=analyze)

    def add(
        self,
        documents: Sequence[Document],
        dense: Mapping[str, Sequence[Floats | None] | Floats] | None = None,
        *,
        counted: CountedDocuments | None = None,
        drift: float = DRIFT,
    ) -> None:
        """Insert or replace documents; they are durable when this returns.

        :param documents: of several with the same id, the last is stored.
        :param dense: for each model one vector per document. A vector that is None or all zeros (the model does not
            know the language or the words) is not stored.
        :param counted: the result of `count_documents`, if it was computed before.
        :param drift: weights that are off by more than this are computed again.
        """
        rows = {document.id: row for row, document in enumerate(documents)}  # the last of equal ids counts
        distinct_documents = [documents[row] for row in rows.values()]
        if counted is None or len(distinct_documents) < len(documents):
            counted = count_documents(self.statistics.layout, distinct_documents, self._analyze)
        vectors = [_select_vectors(dense or {}, row) for row in rows.values()]
        if "text" in self.statistics.layout.fields:
            _check_text_lengths(distinct_documents, counted.bags, self.statistics.layout.field("text"))
        self._write_documents(distinct_documents, vectors, counted, drift)

    def _write_documents(
        self,
        documents: Sequence[Document],
        vectors: Sequence[Mapping[str, Floats]],
        counted: CountedDocuments,
        drift: float,
    ) -> None:
        """Write documents, weighted by the statistics as they are, and count their terms.

        :param vectors: the dense vectors of each document, by name.
        :param counted: the counted terms of the documents.
        :param drift: weights that are off by more than this are computed again.
        """
        languages = [document.lang for document in documents]
        with self._writing_batch():
            self._uncount_documents([document.id for document in documents])
            term_vectors = self.statistics.weigh_documents(languages, counted.bags)
            records = []
            for row, document in enumerate(documents):
                sparse = {TERMS_VECTOR: term_vectors[row]}
                packed_tokens, signature = counted.packed_tokens[row], counted.signatures[row]
                records.append(Record(document, vectors[row], sparse, packed_tokens, signature))
            self._store.add(records)
            self._count_documents(languages, term_vectors)
            self._record_batch()
            self.refresh(tolerance=drift)

    def delete(self, ids: Sequence[str]) -> int:
        """Remove documents; return how many of them were stored."""
        with self._writing_batch():
            self._uncount_documents(list(dict.fromkeys(ids)))
            n_deleted = self._store.delete(ids)
            self._record_batch()
            return n_deleted

    def refresh(self, *, tolerance: float = 0.0) -> None:
        """Rewrite the weights of languages whose average length has moved by more than `tolerance`.

        After refresh() scores are exactly BM25. `add` sees to it that they are never off by more than its `drift`.
        """
        with self._write_lock, self._store.write_session():
            for lang in sorted(self.statistics.find_stale_languages(tolerance)):
                self._become_writer()
                self._rewrite_weights(lang)
                self._n_finished_changes += 1

    def commit(self) -> None:
        """Write the statistics, so that opening the store needs no recount. Closing without it loses nothing."""
        with self._write_lock:
            if not self._is_clean:
                data = self.statistics.to_bytes(records=self._store.count())
                self._store.write_blob(STATISTICS_BLOB, data)
                self._is_clean = True
                self._version = self._store.blob_version(STATISTICS_BLOB)

    def catch_up(self, *, interval: float = 0.5) -> None:
        """Read the statistics again if another process has written since. Does nothing in the process that writes.

        :param interval: seconds that must have passed since the last check.
        """
        if not self._is_clean or time.monotonic() - self._last_check < interval:
            return
        with self._write_lock:
            self._last_check = time.monotonic()
            version = self._store.blob_version(STATISTICS_BLOB)
            has_news = version is not None and version != self._version
            if not has_news:
                return
            statistics, is_complete = read_statistics_blob(self._store)
            if is_complete:
                self.statistics, self._version = statistics, version

    @property
    def document_version(self) -> tuple[object, ...]:
        """A value that changes whenever documents do: written by this process, or by another and caught up with."""
        return self._n_changes, self._n_finished_changes, self._version

    def _publish(self) -> None:
        """Let others read the current statistics while this process writes."""
        self._store.publish_blob(STATISTICS_BLOB, lambda: str(self._n_changes), self._pack_statistics)

    def _pack_statistics(self) -> bytes:
        with self._write_lock:
            if self._packed_statistics[0] != self._n_changes:  # every reader asks for the same bytes
                self._packed_statistics = self._n_changes, self.statistics.to_bytes()
            return self._packed_statistics[1]

    @contextmanager
    def _writing_batch(self) -> Iterator[None]:
        """Make this process the only writer for a block that writes documents and counts them.

        If the block raises, all stored documents are counted again, so that the statistics are right in any case.
        """
        with self._write_lock, self._store.write_session():
            self._become_writer()
            try:
                yield
            except BaseException:
                self._recover_from_failed_write()
                raise
            finally:
                self._n_finished_changes += 1

    def _record_batch(self) -> None:
        """Tell other processes what was counted; readers of a folder ask the process that owns it."""

    def _recover_from_failed_write(self) -> None:
        """Count again what the store holds after a failed write."""
        self.statistics.clear()
        recount(self._store, self.statistics)

    def _become_writer(self) -> None:
        """Become the only writer: read what others have written, and mark the stored statistics as unfinished."""
        self._store.claim_writing()
        self._n_changes += 1
        if not self._is_clean:
            return
        version = self._store.blob_version(STATISTICS_BLOB)
        if version is not None and version != self._version:
            self.statistics, is_complete = read_statistics_blob(self._store)
            if not is_complete:
                recount(self._store, self.statistics)
        self._publish()
        self._store.write_blob(STATISTICS_BLOB, self.statistics.to_unfinished_bytes())
        self._is_clean = False

    def _uncount_documents(self, ids: Sequence[str]) -> None:
        """Subtract the terms of documents that are about to be replaced or removed."""
        records = [record for record in self._store.get(ids, vectors=[TERMS_VECTOR], text=False) if record is not None]
        self._count_documents([record.document.lang for record in records], read_term_vectors(records), sign=-1)

    def _count_documents(self, langs: Sequence[str], vectors: Sequence[SparseVector], *, sign: int = 1) -> None:
        self.statistics.count(langs, vectors, sign=sign)

    def _rewrite_weights(self, lang: str) -> None:
        for point_ids, vectors in self._store.scroll_sparse(TERMS_VECTOR, {"lang": [lang]}):
            changed, old_bags = self.statistics.reweigh_documents(lang, vectors)
            self._store.update_sparse(TERMS_VECTOR, [point_ids[row] for row in changed], list(changed.values()))
            self.statistics.count_new_weights(lang, old_bags)


def count_documents(
    layout: Layout, documents: Sequence[Document], analyze: Callable[[str], Analyzer] = analyzer
) -> CountedDocuments:
    """Analyze documents and count their terms, which needs neither the store nor its statistics."""
    return count_analyzed(layout, documents, [analyze_document(layout, document, analyze) for document in documents])


def count_analyzed(
    layout: Layout, documents: Sequence[Document], analyses: Sequence[AnalyzedDocument]
) -> CountedDocuments:
    """Count the terms of documents that were analyzed before.

    :param layout: the fields that are indexed.
    :param documents: the documents, whose languages are needed.
    :param analyses: for each document its terms by field, the offsets of its words, and its signature.
    :return: the counts, with the offsets and signatures as they are.
    """
    terms_with_langs = [(document.lang, analysis.terms) for document, analysis in zip(documents, analyses, strict=True)]
    return CountedDocuments(
        bags=layout.count_terms(terms_with_langs),
        packed_tokens=[analysis.packed_tokens for analysis in analyses],
        signatures=[analysis.signature for analysis in analyses],
    )


def analyze_document(
    layout: Layout, document: Document, analyze: Callable[[str], Analyzer] = analyzer
) -> AnalyzedDocument:
    """Split the indexed fields of a document into terms.

    Parts of the text that are in another language, such as French, have terms of that language, under `text@fr`.

    :param layout: the fields that are indexed.
    :param analyze: returns the analyzer of a language.
    :return: the terms by field; if the text is indexed, also the packed offsets of its words, and its signature.
    """
    main_tokens, *foreign_tokens = tokenization.tokenize_by_language(document.text, document.lang, analyze)
    terms = _list_field_terms(layout.fields, document, main_tokens, analyze)
    if INNER in layout.fields:
        terms[INNER] = _list_subwords(document, terms, main_tokens, analyze)
    if TITLE_SUBWORDS in layout.fields:
        terms[TITLE_SUBWORDS] = _list_title_subwords(document, terms.get("title", ()), analyze)
    has_text = "text" in terms
    if not has_text:
        return AnalyzedDocument(terms, packed_tokens=b"", signature=b"")
    terms |= _list_foreign_terms(layout.fields, foreign_tokens)
    stored_tokens = tokenization.truncate_texts([main_tokens, *foreign_tokens])
    packed_tokens = tokenization.pack_texts(stored_tokens, select_passages(document.text))
    return AnalyzedDocument(terms, packed_tokens, compute_signature(terms["text"]))


def _list_foreign_terms(fields: Sequence[str], foreign_tokens: Iterable[TokenizedText]) -> dict[str, list[str]]:
    """Return the terms of those parts of a text that are not in its main language, by field.

    The name of the field says the language: `text@fr` for French parts. In some collections a field of this name is
    indexed, with translations of whole documents. Parts in its language are left out, or they would count as such.

    :param fields: the fields that are indexed.
    :param foreign_tokens: the tokens of these parts, one item for each language.
    """
    terms_by_field = {}
    for tokens in foreign_tokens:
        field = translation_field(tokens.lang)
        if field not in fields:
            terms_by_field[field] = tokens.token_terms()
    return terms_by_field


def _list_field_terms(
    fields: Sequence[str], document: Document, text_tokens: TokenizedText, analyze: Callable[[str], Analyzer]
) -> dict[str, list[str]]:
    """Return the terms of those indexed fields that a document has, by field; fields of subwords are left out.

    :param fields: the fields that are indexed.
    :param text_tokens: the tokens of the document's text, so that it is not tokenized again.
    :param analyze: returns the analyzer of a language.
    """
    terms: dict[str, list[str]] = {}
    for field in fields:
        text = read_field(document, field)
        if not text or field in SUBWORD_FIELDS:
            continue
        if field == "text":
            terms[field] = text_tokens.token_terms()
        else:
            terms[field] = analyze(language_of(field) or document.lang).terms(text)
    return terms


def _check_document_count(store: Store, statistics: Statistics) -> None:
    """Raise StoreError if a store has another number of documents than its statistics were written for."""
    n_stored = store.count() if statistics.records is not None else None
    if n_stored != statistics.records:
        raise StoreError(
            f"this collection is damaged: {n_stored} of its {statistics.records} documents can be found; "
            "restore a copy, or `paragloss repair` keeps what is whole"
        )


def read_statistics_blob(store: Store) -> tuple[Statistics, bool]:
    """Read the statistics of a store from their blob.

    :return: the statistics, and whether they are complete; if not they are empty and must be recounted.
    :raises StoreError: there are none, or they are damaged.
    """
    data = store.read_blob(STATISTICS_BLOB)
    if data is None:
        raise StoreError("this collection has no index of terms: build one when it is created")
    return Statistics.from_bytes(data)


def recount(store: Store, statistics: Statistics) -> int:
    """Count every document of a store into empty statistics; return how many there are."""
    n_documents = 0
    for records in store.scroll(vectors=[TERMS_VECTOR], text=False):
        statistics.count([record.document.lang for record in records], read_term_vectors(records))
        n_documents += len(records)
    return n_documents


def read_term_vectors(records: Iterable[Record]) -> list[SparseVector]:
    """Return the term vectors of records; an empty one for a record that has none."""
    empty = SparseVector(np.zeros(0, np.uint32), np.zeros(0, np.float32))
    return [record.sparse.get(TERMS_VECTOR, empty) for record in records]


def _select_vectors(dense: Mapping[str, Sequence[Floats | None] | Floats], row: int) -> dict[str, Floats]:
    """Return the vectors of one document by model, without those that are None or all zeros."""
    vectors = {name: matrix[row] for name, matrix in dense.items()}
    return {name: vector for name, vector in vectors.items() if vector is not None and vector.any()}


def _list_subwords(
    document: Document, terms: Mapping[str, Sequence[str]], tokens: TokenizedText, analyze: Callable[[str], Analyzer]
) -> list[str]:
    """List the parts of compounds and the sounds of names in a document's title and text."""
    title_and_text = [*terms.get("title", ()), *terms.get("text", ())]
    if not has_spoken_spellings(document.lang):
        return list_subword_terms(title_and_text, document.lang)
    words = tokens.spell_words()
    text_spellings = [words[index] for index in tokens.word_indices.tolist()]
    spellings = [*_spell_title(document, analyze), *text_spellings]
    return list_subword_terms(title_and_text, document.lang, spellings)


def _list_title_subwords(document: Document, terms: Sequence[str], analyze: Callable[[str], Analyzer]) -> list[str]:
    """List the parts of compounds and the sounds of names in a document's title."""
    if not has_spoken_spellings(document.lang):
        return list_subword_terms(terms, document.lang)
    return list_subword_terms(terms, document.lang, _spell_title(document, analyze))


def _spell_title(document: Document, analyze: Callable[[str], Analyzer]) -> list[str]:
    """Return the words of a title as they are written."""
    return [document.title[span.start : span.end] for span in analyze(document.lang).spans(document.title)]


def _check_text_lengths(documents: Sequence[Document], bags: CountedTerms, text_field: int) -> None:
    """Warn, with counts, of languages whose texts gave suspiciously few terms.

    :param bags: the counted terms of the documents.
    :param text_field: the number of the field with the texts.
    """
    is_text = bags.field == text_field  # (n_parts,)
    n_terms = np.zeros(len(documents), np.int64)  # (n_documents,) the terms of each text
    n_terms[bags.row[is_text]] = bags.length[is_text]
    rows_by_lang: dict[str, list[int]] = {}
    for row, document in enumerate(documents):
        rows_by_lang.setdefault(document.lang, []).append(row)
    for lang, rows in rows_by_lang.items():
        check_yield([documents[row].text for row in rows], n_terms[rows].tolist(), lang)


def choose_field_weights(statistics: Statistics, requested: Mapping[str, float | None] | None) -> dict[str, float]:
    """Return the weights of the fields that are searched, by field.

    The fields of the documents' own language have default weights, which a request may change: {"title": 2.0} doubles
    the weight of titles. A request with a weight of None searches nothing but the fields it names: {"title": None}
    searches titles alone, with weight 1.

    :param requested: weights of some fields, or None; a field with weight 0 is not searched.
    """
    if requested is None:
        requested = {}
    weights: dict[str, float] = {}
    is_exclusive = None in requested.values()
    if not is_exclusive:
        weights = {field: FIELDS.get(field, 1.0) for field in list_own_fields(statistics)}
    for field, weight in requested.items():
        weights[field] = 1.0 if weight is None else weight
    return {field: weight for field, weight in weights.items() if weight}


def list_own_fields(statistics: Statistics) -> list[str]:
    """List the fields that a pipeline may name: those in the documents' own language."""
    return [field for field in statistics.layout.fields if not language_of(field) and field not in SUBWORD_FIELDS]


def translation_field(lang: str) -> str:
    """Return the name of the field that holds a document's translation into a language."""
    return f"text@{lang}"


def language_of(field: str) -> str:
    """Return the language of a translation field; "" for a field in its document's own language."""
    return field.partition("@")[2]


def read_field(document: Document, field: str) -> str:
    """Return the text of a field; of an address the words in it."""
    if field == "text":
        return document.text
    if field == "title":
        return document.title
    text = document.fields.get(field, "")
    return _split_address(text) if field == "url" else text


def _split_address(address: str) -> str:
    """Return the words in the path of an address, separated by spaces."""
    try:
        path = urlsplit(address).path
    except ValueError:
        path = address
    return _ADDRESS_SEPARATORS.sub(" ", unquote(path)).strip()
