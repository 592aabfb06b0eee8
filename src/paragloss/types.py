"""The records that are passed between modules, and the protocols of the parts that handle them.

This module imports no other module of the package.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar, overload, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float32]
    Integers: TypeAlias = npt.NDArray[np.int64]
else:
    Floats = Integers = Any  # importing numpy would take most of the time of `paragloss --help`
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Document(NamedTuple):
    """A text in one language.

    :param id: identifies the document in its collection.
    :param text: the text that is searched and shown.
    :param lang: the language code of the text, such as "en" or "zh".
    :param title: a title, searched as well.
    :param fields: further texts that are searched, by name.
    :param meta: values to filter by, such as {"year": 1999}; searches name them `meta.year`.

    >>> Document("bees", "Bienen sammeln Nektar.", "de", title="Bienen").title
    'Bienen'
    """

    id: str
    text: str
    lang: str
    title: str = ""
    fields: Mapping[str, str] = _NOTHING
    meta: Mapping[str, Any] = _NOTHING

    @property
    def full_text(self) -> str:
        """The title, if there is one, and the text: what models read of a document."""
        return f"{self.title}\n{self.text}" if self.title else self.text

    @property
    def whole(self) -> str:
        """The same as `full_text`; deprecated."""
        warnings.warn("Document.whole is called full_text; it will be removed in 0.3", DeprecationWarning, stacklevel=2)
        return self.full_text


class Alternative(NamedTuple):
    """A translation of a query term: a word or phrase as it is written, and its weight.

    `terms` are the analyzed terms of the text if the translator knows them; if empty, the text has to be analyzed.
    """

    text: str
    weight: float
    terms: tuple[str, ...] = ()


class Translation(NamedTuple):
    """The alternatives for one term of a query in another language, at least one, best first.

    `weight` is the weight of the term among those of the query, less than 1 for a term that was added to it. Added
    terms are not `required`: a search that demands every clause may do without them. `origins` tell which translators
    gave which alternatives.
    """

    source: str
    alternatives: tuple[Alternative, ...]
    weight: float = 1.0
    required: bool = True
    origins: tuple[Origin, ...] = ()


#: A translator's name, its weight, and the alternatives that it gave.
Origin: TypeAlias = tuple[str, float, tuple[Alternative, ...]]


class Query(NamedTuple):
    """A query as a person typed it, or its translation.

    :param id: identifies the query among others; "" for a single one.
    :param text: the words of the query.
    :param lang: the language code of the text.
    :param clauses: the alternatives for each term of a translated query. Searchers that can weigh alternatives use
        them, others use `text`.

    >>> Query("q1", "how do bees make honey", "en").lang
    'en'
    """

    id: str
    text: str
    lang: str
    clauses: tuple[Translation, ...] = ()


class Hit(NamedTuple):
    """A document of a ranking.

    :param id: the document id.
    :param score: how well the document fits the query; comparable within one ranking only.

    >>> Hit("bees", 0.97).score
    0.97
    """

    id: str
    score: float


class Judgment(NamedTuple):
    """How relevant a document is to a query, as a person has judged it.

    :param query: the query id.
    :param document: the document id.
    :param grade: 0 for irrelevant, higher is better.

    >>> Judgment("q1", "bees", 2).grade
    2
    """

    query: str
    document: str
    grade: int


Ranking: TypeAlias = list[Hit]


class Contribution(NamedTuple):
    """What a pair of matching words adds to the score of a document.

    `source` names what related the two words, such as a translator. `query` or `document` is "" if no word in
    particular matched.
    """

    query: str
    document: str
    source: str
    score: float


class ScoreExplanation(NamedTuple):
    """The score of a document, divided into the contributions of matching words and into named parts.

    It is not `exact` if contributions were measured by leaving words out.
    """

    score: float
    contributions: tuple[Contribution, ...] = ()
    exact: bool = True
    parts: tuple[tuple[str, ScoreExplanation], ...] = ()

    def scale_to(self, score: float) -> ScoreExplanation:
        """Return an explanation of another score, divided in the same proportions."""
        factor = score / self.score if self.score else 0.0
        contributions = tuple(
            contribution._replace(score=contribution.score * factor) for contribution in self.contributions
        )
        parts = tuple((name, part.scale_to(part.score * factor)) for name, part in self.parts)
        return self._replace(score=score, contributions=contributions, parts=parts)

    def list_contributions(self) -> tuple[Contribution, ...]:
        """Return all contributions, including those of the parts."""
        nested = (contribution for _, part in self.parts for contribution in part.list_contributions())
        return (*self.contributions, *nested)


class QueryForms(NamedTuple):
    """What was searched for: the query in each language, with the translations of its terms, and its vectors.

    `vectors` has the query vector of each encoder, by the encoder's name.
    """

    queries: tuple[Query, ...] = ()
    vectors: Mapping[str, Floats] = _NOTHING

    @classmethod
    def merge(cls, forms: Iterable[QueryForms]) -> QueryForms:
        """Merge the forms of several searches; of two vectors of the same encoder the first is kept."""
        distinct_forms = {id(form): form for form in forms}.values()
        if len(distinct_forms) == 1:
            return next(iter(distinct_forms))
        queries = {id(query): query for form in distinct_forms for query in form.queries}
        vectors: dict[str, Floats] = {}
        for form in distinct_forms:
            vectors = {**form.vectors, **vectors}
        return cls(tuple(queries.values()), vectors)


@dataclass(frozen=True, eq=False)
class RankedList(Sequence[Hit]):
    """The best documents for a query, best first, and what is needed to explain them.

    It is equal to any sequence of the same hits.
    """

    hits: tuple[Hit, ...] = ()
    #: What was searched for.
    forms: QueryForms = QueryForms()  # noqa: RUF009 - it is immutable
    #: Splits the score of a document into parts; None if the searcher can't explain its scores.
    explainer: Explainer | None = None
    #: The name of the searcher in explanations if it has no explainer.
    name: str = "search"
    #: Whether scores are probabilities, which are explained by their log-odds.
    has_probabilities: bool = False
    #: Documents that were scored as well but rank below the requested number.
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
        """Return the score of a document, 0 if it was not found."""
        return next((hit.score for hit in (*self.hits, *self.lower_hits) if hit.id == doc_id), 0.0)

    def explain(self, document: Document) -> ScoreExplanation:
        """Split the score of a document into its parts; the explanation is empty if it was not found."""
        score = self.score_of(document.id)
        if not score:
            return ScoreExplanation(0.0)
        if self.explainer is None:
            return ScoreExplanation(score, (Contribution("", "", self.name, score),), exact=False)
        return self.explainer(document, score)


#: Splits the score of a document into its parts, given the document and its score.
Explainer: TypeAlias = Callable[[Document, float], ScoreExplanation]
T = TypeVar("T")
Run: TypeAlias = dict[str, Ranking]
Qrels: TypeAlias = dict[str, dict[str, int]]


class Range(NamedTuple):
    """A range of numbers, or of dates as `formats.numbers` represents them; None is no limit.

    The limits belong to the range unless `low_open` or `high_open` is set.
    """

    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False


#: A filter of documents: field -> allowed values. Fields are `lang` and `meta.NAME`.
Where: TypeAlias = Mapping[str, Sequence[str | int | float | bool | Range]]


class Concept(NamedTuple):
    """Texts about one thing in several languages, from which models learn how the languages correspond.

    :param id: identifies the concept.
    :param texts: a text for each language code.
    :param titles: titles of these texts, by language code.

    >>> sorted(Concept("bee", {"en": "Bees make honey.", "de": "Bienen machen Honig."}).texts)
    ['de', 'en']
    """

    id: str
    texts: Mapping[str, str]
    titles: Mapping[str, str] = _NOTHING


Aligned: TypeAlias = Sequence[Concept]


class JudgedCollection(NamedTuple):
    """Queries, documents and relevance judgments of some pairs, to train rankers and to measure them.

    A pair that is not in `qrels` is not judged; samplers may assume that it is irrelevant.
    """

    queries: Sequence[Query]
    documents: Mapping[str, Document]
    qrels: Qrels


class Span(NamedTuple):
    """A term and its position in the text: text[start:end]."""

    start: int
    end: int
    term: str


class TokenOffsets(NamedTuple):
    """Where each token of a text begins and ends, and its term, in three lists of one length."""

    starts: list[int]
    ends: list[int]
    terms: list[str]


class TokenizedText(NamedTuple):
    """The tokens of a text in one language: its distinct words, and the offset and the word of each token.

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

    def offsets(self) -> TokenOffsets:
        """Return the start, the end and the term of every token, in order."""
        ends = self.starts + self.lengths[self.word_indices]
        return TokenOffsets(self.starts.tolist(), ends.tolist(), self.token_terms())

    def slice_text(self, start: int, end: int) -> TokenizedText:
        """Return the tokens that lie within text[start:end] and their words, with offsets in that slice.

        :param start: offset of the slice's first character in the text
        :param end: offset behind its last one
        """
        import numpy as np

        first, after_last = self.starts.searchsorted([start, end]).tolist()
        if after_last > first:
            last_word = self.word_indices[after_last - 1]
            if self.starts[after_last - 1] + self.lengths[last_word] > end:
                after_last -= 1  # this token begins within the slice and ends behind it
        # The distinct words in the slice, and for each token in it the number of its word among them.
        words_in_slice, word_indices = np.unique(self.word_indices[first:after_last], return_inverse=True)
        return self._replace(
            text=self.text[start:end],
            terms=[self.terms[number] for number in words_in_slice.tolist()],
            lengths=self.lengths[words_in_slice],
            word_indices=word_indices,
            starts=self.starts[first:after_last] - start,
        )

    def token_terms(self) -> list[str]:
        """Return the term of every token, in order."""
        return [*map(self.terms.__getitem__, self.word_indices.tolist())]

    def spell_words(self, numbers: Sequence[int] | None = None) -> list[str]:
        """Return distinct words as they are first written in the text; a word that no token stands for is "".

        :param numbers: the numbers of the words; None for all.
        """
        import numpy as np

        starts = np.zeros_like(self.lengths)  # (words,) of the first token of each word
        ends = np.zeros_like(self.lengths)  # (words,) both stay 0 for a word without a token
        # Tokens are assigned from the last one to the first one, so that the start of a word's first token remains.
        starts[self.word_indices[::-1]] = self.starts[::-1]
        ends[self.word_indices] = (starts + self.lengths)[self.word_indices]
        if numbers is None:
            numbers = range(len(self.lengths))
        return [self.text[starts[number] : ends[number]] for number in numbers]


class SparseVector(NamedTuple):
    """Term ids (uint32, ascending, unique) and their weights (float32)."""

    indices: npt.NDArray[np.uint32]
    values: Floats


class SparseRows(NamedTuple):
    """Several sparse vectors, concatenated: the number of entries of each, and all entries as in `SparseVector`."""

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
    """A document with the vectors that a store keeps with it.

    `dense` has a vector of each model, or a matrix with a row per passage for models that read passages; `sparse` has
    the vector of its terms. `packed_tokens` are its tokens (`analysis.tokenization`); without them the text is
    tokenized again. `signature` identifies copies of the document (`analysis.duplicates.group_duplicates`).
    """

    document: Document
    dense: Mapping[str, Floats] = _NOTHING
    sparse: Mapping[str, SparseVector] = _NOTHING
    packed_tokens: bytes = b""
    signature: bytes = b""


class Analyzer(Protocol):
    """Divides texts of one language into terms."""

    @property
    def lang(self) -> str:
        """The language code."""
        ...

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in order."""
        ...

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
    def dim(self) -> int:
        """The number of columns of the vectors."""
        ...

    @property
    def langs(self) -> tuple[str, ...]:
        """The language codes of the texts it can encode."""
        ...

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        """Return a float32 row per text; the row of a text without known words is zero."""
        ...


@runtime_checkable
class Translator(Protocol):
    """Translates the terms of a query into another language, each with weighted alternatives."""

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it can translate from one language into another."""
        ...

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Return the alternatives of each term of a query in another language."""
        ...


@runtime_checkable
class ManyTranslator(Protocol):
    """A Translator that looks up words once for several languages."""

    def translate_many(self, query: Query, targets: Sequence[str]) -> dict[str, list[Translation]]:
        """Return what `translate` returns for each target language."""
        ...


@runtime_checkable
class TrustedTranslator(Protocol):
    """A Translator with a weight of its own when it is combined with others."""

    @property
    def trust(self) -> float:
        """The weight relative to the default model."""
        ...


@runtime_checkable
class TranslationChooser(Protocol):
    """Weighs the alternatives of each word of a query by the other words."""

    def choose(
        self, query: Query, clauses: Sequence[Translation], to: str, *, best_only: bool = False
    ) -> list[Translation]:
        """Return the clauses of a query with new weights, or each with its best alternative only."""
        ...


@runtime_checkable
class TermList(Protocol):
    """Has a list of the terms of some languages."""

    @property
    def langs(self) -> tuple[str, ...]:
        """The language codes."""
        ...

    def has_term(self, term: str, lang: str) -> bool:
        """Tell whether an analyzed term of a language is in the list."""
        ...


@runtime_checkable
class DescribedModel(Protocol):
    """A model with a description of how it was made."""

    @property
    def meta(self) -> Mapping[str, Any]:
        """Names and values to show to people."""
        ...


@runtime_checkable
class Multilingual(Protocol):
    """A model with a list of the languages it supports."""

    @property
    def langs(self) -> tuple[str, ...]:
        """The language codes."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """Scores documents for a query by reading both."""

    def score(self, query: Query, documents: Sequence[Document]) -> Floats:
        """Return a score for each document; higher is better."""
        ...


@runtime_checkable
class Rescorer(Protocol):
    """A Reranker that has learned how to combine its scores with those of the search before it."""

    def rescore(self, query: Query, documents: Sequence[Document], scores: Floats) -> Floats:
        """Return a score for each document, given those of the search before, which may have any scale."""
        ...


@runtime_checkable
class Searcher(Protocol):
    """Ranks documents for queries."""

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[RankedList]:
        """Return the best k documents for each query, best first, documents with equal scores by id."""
        ...

    def max_score(self, lang: str) -> float:
        """Return the highest score that a document of a language can have.

        It is 0 if none can be found, and infinite if the limit is unknown.
        """
        ...


class Store(Protocol):
    """Stores documents with their vectors, and finds them by dot product.

    Whatever `add`, `delete` and `write_blob` have written when they return survives a kill of the process. Methods that
    have a body are right for a store that only one process opens.
    """

    #: Whether a journal lets others read the term statistics while they are written, see `index.journal`.
    has_journal: ClassVar[bool] = False

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
        :param text: whether to read texts; without them ids, languages, titles, metadata and signatures are read, which
            is much faster.
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
        batch_size: int = 1000,
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
        return [call() for call in calls]

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
        return None

    def publish_blob(self, name: str, get_version: Callable[[], str], get_data: Callable[[], bytes]) -> None:
        """Let other processes read what `get_data` returns in place of a blob while this process writes."""
        return

    def claim_writing(self) -> tuple[int, bool]:
        """Become the only writer, or raise InUseError.

        :return: a number that changes whenever another process may have written, and whether the stored statistics
            are those of the documents.
        """
        return 0, True

    def write_session(self) -> AbstractContextManager[None]:
        """Return a context within which no other process can write; at its end a claim is released."""
        return nullcontext()

    def mark_statistics_stale(self) -> None:
        """Note that the last write may have failed: the stored statistics must be counted again."""
        return

    def mark_statistics_current(self) -> None:
        """Note that the stored statistics are those of the documents."""
        return

    def has_unfinished_writes(self) -> bool:
        """Tell whether another process is writing, or was killed while it did.

        In both cases the next one that writes counts all documents.
        """
        return False

    def optimize(self) -> None:
        """Build the indexes that make searching fast; safe to call at any time."""
        ...

    def close(self) -> None:
        """Release all files and locks."""
        ...
