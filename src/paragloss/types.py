"""The whole vocabulary of Paragloss: the records that travel and the protocols that handle them.

Knows nothing of files, models or engines. Every other module speaks in these words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar, overload, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float32]
    Integers: TypeAlias = npt.NDArray[np.int64]
else:
    Floats = Integers = Any  # numpy takes longer to load than all the rest of what prints a help text
_NOTHING: Mapping[str, Any] = MappingProxyType({})
#: Fewer words than this are looked up in a text one by one, more in one pass over its tokens.
_MAX_WORDS_SPELLED_SINGLY = 50


class Document(NamedTuple):
    """A text in one language. `fields` holds further searchable text, `meta` what one filters by."""

    id: str
    text: str
    lang: str
    title: str = ""
    fields: Mapping[str, str] = _NOTHING
    meta: Mapping[str, Any] = _NOTHING

    @property
    def whole(self) -> str:
        """What models read of it: its title, then its text."""
        return f"{self.title}\n{self.text}" if self.title else self.text


class Alternative(NamedTuple):
    """One way to say a query term in another language: a word or phrase as written, and its weight. `terms` are what
    the language's analyzer would make of the text, where the translator knows them; empty means cut the text."""

    text: str
    weight: float
    terms: tuple[str, ...] = ()


class Translation(NamedTuple):
    """What one query term may be in another language; best alternative first. Never empty. `weight` is how much the
    term counts among the others: less than 1 for one that the query did not say itself. Such a one is not `required`: a
    search that wants every clause may do without it. `origins` say which of several translators gave which
    alternatives."""

    source: str
    alternatives: tuple[Alternative, ...]
    weight: float = 1.0
    required: bool = True
    origins: tuple[Origin, ...] = ()


#: A translator's name, what it counts, and the alternatives it gave.
Origin: TypeAlias = tuple[str, float, tuple[Alternative, ...]]


class Query(NamedTuple):
    """What a person asks. A translated query also carries its `clauses`, one per source term;
    a searcher that can weigh alternatives uses them, any other reads `text`."""

    id: str
    text: str
    lang: str
    clauses: tuple[Translation, ...] = ()


class Hit(NamedTuple):
    """A document found, and how well it fits; comparable within one ranking only."""

    id: str
    score: float


class Judgment(NamedTuple):
    """What a person said of a document for a query: 0 is irrelevant, higher is better."""

    query: str
    document: str
    grade: int


Ranking: TypeAlias = list[Hit]


class Share(NamedTuple):
    """What in a query matched what in a document, through what, and what that gave to the score. Where no word in
    particular is meant, there is none."""

    query: str
    document: str
    source: str
    score: float


class Account(NamedTuple):
    """A document's score and its parts by name, or the shares of words in it; `exact` unless words were left out to see
    what they carry."""

    score: float
    shares: tuple[Share, ...] = ()
    exact: bool = True
    parts: tuple[tuple[str, Account], ...] = ()

    def scaled(self, score: float) -> Account:
        """The same proportions of another score."""
        factor = score / self.score if self.score else 0.0
        shares = tuple(share._replace(score=share.score * factor) for share in self.shares)
        parts = tuple((name, part.scaled(part.score * factor)) for name, part in self.parts)
        return self._replace(score=score, shares=shares, parts=parts)

    def flat(self) -> tuple[Share, ...]:
        """All shares, of the parts too."""
        return self.shares + tuple(share for _, part in self.parts for share in part.flat())


class QueryForms(NamedTuple):
    """How a query was put to the index: in which words of each language, with the translations of its terms, and as
    which vector of each encoder."""

    queries: tuple[Query, ...] = ()
    vectors: Mapping[str, Floats] = _NOTHING

    @classmethod
    def joined(cls, every: Iterable[QueryForms]) -> QueryForms:
        """All of them, each once; of two vectors of one encoder the first."""
        some = {id(forms): forms for forms in every}.values()
        if len(some) == 1:
            return next(iter(some))
        queries = {id(query): query for forms in some for query in forms.queries}
        vectors: dict[str, Floats] = {}
        for forms in some:
            vectors = {**forms.vectors, **vectors}
        return cls(tuple(queries.values()), vectors)


@dataclass(frozen=True, eq=False)
class RankedList(Sequence[Hit]):
    """The best documents for a query, best first, and what is needed to explain them.

    It is equal to any sequence of the same hits.
    """

    hits: tuple[Hit, ...] = ()
    #: How the query was put to the index.
    forms: QueryForms = QueryForms()  # noqa: RUF009 - it is immutable
    #: Splits the score of a document into parts; None for a searcher that can't be looked into.
    explainer: Explainer | None = None
    #: What such a searcher is called.
    name: str = "search"
    #: Whether scores are probabilities that are explained by their log-odds.
    has_probabilities: bool = False
    #: Documents that were scored as well but are below the number that was asked for.
    lower_hits: tuple[Hit, ...] = ()

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...

    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.hits == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def score_of(self, doc_id: str) -> float:
        """Return the score of a document; 0 where it was not found."""
        return next((hit.score for hit in (*self.hits, *self.lower_hits) if hit.id == doc_id), 0.0)

    def explain(self, document: Document) -> Account:
        """Split the score of a document into its parts; an empty account where it was not found."""
        score = self.score_of(document.id)
        if not score:
            return Account(0.0)
        if self.explainer is None:
            return Account(score, (Share("", "", self.name, score),), exact=False)
        return self.explainer(document, score)


#: Splits the score of a document into its parts, given the document and its score.
Explainer: TypeAlias = Callable[[Document, float], Account]
T = TypeVar("T")
Run: TypeAlias = dict[str, Ranking]
Qrels: TypeAlias = dict[str, dict[str, int]]


class Range(NamedTuple):
    """Numbers and dates (as `formats.numbers` counts them) from `low` to `high`; None is no limit. The ends belong to
    it unless they are said to be open."""

    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False


#: Which documents may be found: field -> allowed values. `lang` and `meta.NAME` are fields.
Where: TypeAlias = Mapping[str, Sequence[str | int | float | bool | Range]]


class Concept(NamedTuple):
    """Documents about one thing in any number of languages: `texts[lang]`, and `titles[lang]` where
    a document has a title. What models learn the bridge between languages from."""

    id: str
    texts: Mapping[str, str]
    titles: Mapping[str, str] = _NOTHING


Aligned: TypeAlias = Sequence[Concept]


class Judged(NamedTuple):
    """Queries, documents and what was said of some pairs: what rankers learn from and are measured on.
    A pair that is not in `qrels` is not judged; a sampler may take it as irrelevant."""

    queries: Sequence[Query]
    documents: Mapping[str, Document]
    qrels: Qrels


class Span(NamedTuple):
    """Where a term stands in the text it was cut from: text[start:end]."""

    start: int
    end: int
    term: str


class TokenizedText(NamedTuple):
    """The tokens of a text in one language: its distinct words, and which of them stands at which offset.

    Stop words and tokens without letters or digits are left out.
    """

    lang: str
    text: str
    terms: list[str]  # (words,) the term of each distinct word, in the order the words first occur
    lengths: Integers  # (words,) the length of each distinct word in characters
    word_indices: Integers  # (tokens,) the number of the distinct word that stands there
    starts: Integers  # (tokens,) its offset in the text, ascending

    def find_words(self, terms: Container[str]) -> list[int]:
        """Return the numbers of the distinct words that have one of these terms."""
        return [number for number, term in enumerate(self.terms) if term in terms]

    def select_weighted(self, weights: Mapping[str, float]) -> TokenizedText:
        """Keep the tokens whose terms have a positive weight."""
        is_weighted = self.lengths < 0  # False for every word
        is_weighted[self.find_words({term for term, weight in weights.items() if weight > 0})] = True
        positions = is_weighted.take(self.word_indices).nonzero()[0]
        return self._replace(word_indices=self.word_indices[positions], starts=self.starts[positions])

    def sum_weights(self, weights: Mapping[str, float]) -> float:
        """Add up the weights of the different terms of the tokens; every term must have a weight."""
        return sum(weights[term] for term in set(self.token_terms()))

    def offsets(self) -> tuple[list[int], list[int], list[str]]:
        """Return the start, the end and the term of every token, as three lists in order."""
        return self.starts.tolist(), (self.starts + self.lengths[self.word_indices]).tolist(), self.token_terms()

    def slice_text(self, start: int, end: int) -> TokenizedText:
        """Return the tokens that lie within text[start:end], with offsets in that slice."""
        low, high = self.starts.searchsorted([start, end]).tolist()
        if high > low and self.starts[high - 1] + self.lengths[self.word_indices[high - 1]] > end:
            high -= 1
        return self._replace(
            text=self.text[start:end], word_indices=self.word_indices[low:high], starts=self.starts[low:high] - start
        )

    def token_terms(self) -> list[str]:
        """Return the term of every token, in order."""
        return [*map(self.terms.__getitem__, self.word_indices.tolist())]

    def spell_words(self, numbers: Sequence[int] | None = None) -> list[str]:
        """Return distinct words, all or those with these numbers, as they are first written in the text.

        A word that no token stands for is spelled "".
        """
        if numbers is not None and len(numbers) < _MAX_WORDS_SPELLED_SINGLY:
            return [self._spell_word(number) for number in numbers]
        first_starts = self.lengths * 0
        lengths = self.lengths * 0
        first_starts[self.word_indices[::-1]] = self.starts[::-1]  # the assignment that comes last stays
        lengths[self.word_indices] = self.lengths[self.word_indices]
        ends = (first_starts + lengths).tolist()
        spellings = [self.text[start:end] for start, end in zip(first_starts.tolist(), ends, strict=True)]
        return spellings if numbers is None else [spellings[number] for number in numbers]

    def _spell_word(self, number: int) -> str:
        is_here = self.word_indices == number
        if not is_here.any():
            return ""
        start = int(self.starts[is_here.argmax()])
        return self.text[start : start + int(self.lengths[number])]


class SparseVector(NamedTuple):
    """Term ids (uint32, ascending, unique) and their weights (float32)."""

    indices: npt.NDArray[np.uint32]
    values: Floats


class SparseRows(NamedTuple):
    """Many sparse vectors one after the other: how many entries each has, and the entries, as in `SparseVector`."""

    sizes: npt.NDArray[np.int64]
    indices: npt.NDArray[np.uint32]
    values: Floats


class CandidateRows(NamedTuple):
    """Documents that several queries have found, each once, with what was read of them.

    :param ids: document ids, shape (n_documents,).
    :param langs: the documents' languages, shape (n_documents,).
    :param rows: one sparse vector of each document.
    :param row_numbers: for each query the indices of its documents in `ids`.
    """

    ids: list[str]
    langs: list[str]
    rows: SparseRows
    row_numbers: list[npt.NDArray[np.int64]]


class Record(NamedTuple):
    """A document as a store keeps it: with one dense vector per model, one sparse vector per field.

    A model that reads long documents passage by passage has a matrix instead, a row per passage. `packed_tokens`
    are its tokens (`analysis.tokenization`); without them the text is tokenized again. `signature` tells whether
    another document is a copy of it (`analysis.duplicates.estimate_similarity`)."""

    document: Document
    dense: Mapping[str, Floats] = _NOTHING
    sparse: Mapping[str, SparseVector] = _NOTHING
    packed_tokens: bytes = b""
    signature: bytes = b""


class Analyzer(Protocol):
    """Turns text of one language into terms."""

    @property
    def lang(self) -> str: ...

    def terms(self, text: str) -> list[str]: ...

    def tokens(self, text: str) -> list[tuple[int, int, str]]:
        """Return (start, end, token) of everything that may be a word; the same for all analyzers of a language."""
        ...

    def token_terms(self, tokens: Collection[str]) -> list[str]:
        """Return the term of each token of a text, or "" where it has none."""
        ...

    def spans(self, text: str) -> list[Span]:
        """Return the terms with their offsets, for highlighting."""
        ...

    def tokenize(self, text: str) -> TokenizedText:
        """Return the terms of a long text with their offsets, in arrays that can be searched more than once."""
        ...


@runtime_checkable
class Encoder(Protocol):
    """Turns texts into vectors that can be compared across the languages it knows."""

    @property
    def dim(self) -> int: ...

    @property
    def langs(self) -> tuple[str, ...]: ...

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        """One float32 row per text. Empty or wholly unknown text gives a row of zeros."""
        ...


@runtime_checkable
class Translator(Protocol):
    """Says what each term of a query may be in another language."""

    def knows(self, source: str, target: str) -> bool:
        """Whether it translates from one language into another."""
        ...

    def translate(self, query: Query, to: str) -> list[Translation]: ...


@runtime_checkable
class ManyTranslator(Protocol):
    """A Translator that looks words up once for several languages."""

    def translate_many(self, query: Query, targets: Sequence[str]) -> dict[str, list[Translation]]: ...


@runtime_checkable
class Trusted(Protocol):
    """A Translator that says what it counts beside others."""

    @property
    def trust(self) -> float: ...


@runtime_checkable
class Chooser(Protocol):
    """Says which of the translations of a query's words are meant, with weights, or names the `one` alone."""

    def choose(
        self, query: Query, clauses: Sequence[Translation], to: str, *, one: bool = False
    ) -> list[Translation]: ...


@runtime_checkable
class TermList(Protocol):
    """Knows terms of some languages."""

    @property
    def langs(self) -> tuple[str, ...]: ...

    def has_term(self, term: str, lang: str) -> bool:
        """Whether an analysed term of a language is known."""
        ...


@runtime_checkable
class Described(Protocol):
    """Says how it was made."""

    @property
    def meta(self) -> Mapping[str, Any]: ...


@runtime_checkable
class Multilingual(Protocol):
    """Knows some languages and no others."""

    @property
    def langs(self) -> tuple[str, ...]: ...


@runtime_checkable
class Reranker(Protocol):
    """Scores documents for a query by looking at both; higher is better."""

    def score(self, query: Query, documents: Sequence[Document]) -> Floats: ...


@runtime_checkable
class Rescorer(Protocol):
    """A Reranker that has learned how far to trust the search before it."""

    def rescore(self, query: Query, documents: Sequence[Document], scores: Floats) -> Floats:
        """Like `score`, given what the search before said of each document; any scale, higher is better."""
        ...


@runtime_checkable
class Searcher(Protocol):
    """Finds documents. One ranking per query, at most `k` long, best first, ties by id, each with its evidence."""

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]: ...

    def best(self, lang: str) -> float:
        """The best score a document of a language can have: nothing where none can be found, infinity where nobody
        knows."""
        ...


class Store(Protocol):
    """Stores documents with their vectors, and finds them by dot product.

    Whatever `add`, `delete` and `write_blob` have written when they return survives a kill of the process.
    """

    @property
    def has_journal(self) -> bool:
        """Whether a journal lets others read the term statistics while they are written, see `search.journal`."""
        ...

    def add(self, records: Sequence[Record]) -> None:
        """Insert records, or replace those with the same document id."""
        ...

    def delete(self, ids: Sequence[str]) -> int:
        """Remove documents; return how many of them were stored."""
        ...

    def update_dense(self, name: str, ids: Sequence[str], vectors: Sequence[Floats] | Floats) -> None:
        """Replace one dense vector of stored documents."""
        ...

    def scroll_sparse(self, name: str, where: Where | None = None) -> Iterator[tuple[list[Any], SparseRows]]:
        """Yield point ids and one sparse vector of all documents, a batch at a time."""
        ...

    def update_sparse(self, name: str, point_ids: Sequence[Any], vectors: Sequence[SparseVector]) -> None:
        """Replace one sparse vector of documents, which are given by the point ids of `scroll_sparse`."""
        ...

    def get(
        self, ids: Sequence[str], *, vectors: bool | Sequence[str] = False, text: bool = True
    ) -> list[Record | None]:
        """Return the records of documents, None for one that is not stored.

        :param vectors: whether to read vectors, or the names of those to read.
        :param text: whether to read texts; without them ids, languages, titles and metadata are read, much faster.
        """
        ...

    def read_sparse(self, name: str, ids: Sequence[str]) -> tuple[list[str], SparseRows]:
        """Return the languages and one sparse vector of documents.

        A document that is not stored has the language "" and an empty vector.
        """
        ...

    def count(self, where: Where | None = None, *, without_vector: str | None = None) -> int:
        """Count documents; with `without_vector` only those that have no vector of that name."""
        ...

    def scroll(
        self,
        where: Where | None = None,
        *,
        batch: int = 1000,
        vectors: bool | Sequence[str] = False,
        without_vector: str | None = None,
        text: bool = True,
    ) -> Iterator[list[Record]]:
        """Yield all records, a batch at a time; the arguments are those of `get` and `count`."""
        ...

    def search_dense(
        self,
        name: str,
        vectors: Floats,
        k: int,
        where: Where | None = None,
        *,
        exact: bool = False,
        candidate_ids: Sequence[str] | None = None,
    ) -> list[Ranking]:
        """Find the documents with the largest dot product, k for each query vector.

        :param vectors: query vectors, shape (n_queries, dim).
        :param exact: whether to compare with every document instead of walking a graph.
        :param candidate_ids: search only these documents.
        """
        ...

    def search_sparse(
        self, name: str, vectors: Sequence[SparseVector], k: int, where: Where | None = None
    ) -> list[Ranking]:
        """Find the documents with the largest dot product, k for each sparse query vector."""
        ...

    def search_and_read(
        self,
        name: str,
        vectors: Sequence[SparseVector],
        k: int,
        where: Where | None = None,
        term_ids: npt.NDArray[np.uint32] | None = None,
    ) -> CandidateRows:
        """Do what `search_sparse` and `read_sparse` do, with one request.

        :param term_ids: read the entries with these ids, and a few others; None reads all entries.
        """
        ...

    def run_concurrently(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """Return the results of several calls, in order; they run in threads if the store is on a server."""
        ...

    def read_blob(self, name: str) -> bytes | None:
        """Return named bytes; None if there are none."""
        ...

    def write_blob(self, name: str, data: bytes) -> None:
        """Replace named bytes."""
        ...

    def blob_versions(self) -> Mapping[str, str]:
        """Return the names of all blobs, each with a version that changes when the blob does."""
        ...

    def blob_version(self, name: str) -> str | None:
        """Return a version that changes whenever a blob does; None if no other process can change it."""
        ...

    def publish_blob(self, name: str, get_version: Callable[[], str], get_data: Callable[[], bytes]) -> None:
        """Let other processes read what `get_data` returns in place of a blob while this process writes."""
        ...

    def claim_writing(self) -> tuple[int, bool]:
        """Become the only writer, or raise InUseError.

        :return: a number that changes whenever another process may have written, and whether the stored statistics
            are those of the documents.
        """
        ...

    def write_session(self) -> AbstractContextManager[None]:
        """Return a context within which no other process can write; at its end a claim is released."""
        ...

    def mark_statistics_stale(self) -> None:
        """Note that the last write may have failed: the stored statistics must be counted again."""
        ...

    def mark_statistics_current(self) -> None:
        """Note that the stored statistics are those of the documents."""
        ...

    def optimize(self) -> None:
        """Build the indexes that make searching fast; safe to call at any time."""
        ...

    def close(self) -> None: ...
