"""Answer queries: find out their language, rank documents, and prepare what is shown of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from paragloss import languages
from paragloss.analysis.duplicates import group_duplicates
from paragloss.analysis.tokenization import read_tokenized_texts
from paragloss.collection import coverage, explanation, query_language
from paragloss.collection.arguments import SearchOptions
from paragloss.collection.coverage import QueryCoverage
from paragloss.collection.deadline import Deadline
from paragloss.collection.display import Matcher, Result, make_result
from paragloss.collection.operator_filter import (
    MAX_CHECKED_DOCUMENTS,
    Occurrences,
    describe_check,
    filter_documents,
    narrow_options,
)
from paragloss.collection.query_language import FALLBACK, Guess
from paragloss.collection.search_plan import list_query_forms
from paragloss.collection.spelling import suggest_query
from paragloss.collection.state import State
from paragloss.errors import InputError
from paragloss.formats.numbers import get_document_day
from paragloss.ranking import rank_hits
from paragloss.search import pipeline as pipelines
from paragloss.search.default_search import DefaultSearcher
from paragloss.search.evidence import explain_mixture
from paragloss.search.fused import fuse_scores, merge_rankings
from paragloss.search.parts import Parts, SearchContext, make_default_searcher
from paragloss.search.query_operators import QueryOperators, parse_operators
from paragloss.search.scoring import MeasuredCandidates
from paragloss.types import (
    Document,
    Hit,
    Query,
    QueryForms,
    RankedList,
    Ranking,
    Record,
    Searcher,
    TokenizedText,
    Where,
)

#: Languages in which words of a query are compared with known ones, to correct its spelling.
MAX_SPELLING_LANGUAGES = 3
#: Documents that are ranked to explain one of them.
RANKS_TO_EXPLAIN = 100
#: A query of unknown words shows no result if no document is more likely than this to answer it. Words that do not
#: exist get up to .012, because the encoder finds something similar to everything.
MIN_PROBABILITY = 0.015


class QueryReading(NamedTuple):
    """A query and the languages it may be in, likeliest first."""

    query: Query
    guesses: Sequence[Guess]
    operators: QueryOperators = QueryOperators("")


class RankedQuery(NamedTuple):
    """The documents ranked for a query, and the searcher of its likeliest language."""

    ranking: RankedList
    searcher: Searcher
    #: Where each document has the phrases and words that the query's operators require, by document id.
    occurrences: Mapping[str, Occurrences] = MappingProxyType({})
    #: What the reader should know about the query's operators.
    notes: tuple[str, ...] = ()


#: The least score that others are divided by, so that no score is divided by 0.
_MIN_MAX_SCORE = 1e-9
#: How many documents more than are shown are ranked and compared, so that copies leave room for other documents.
EXTRA_FOR_COPIES = 10


class AnswerEvidence(NamedTuple):
    """What explains the results of an answer without searching again."""

    ranking: RankedList
    records: Mapping[str, tuple[Record, Sequence[TokenizedText]]]  # of the results, by document id
    pipeline: str | None


class Answer(NamedTuple):
    """The results of a search, and how the query was understood.

    :param query: the query with its language.
    :param results: the documents, best first.
    :param others: other languages that the query may be in; they were searched as well.
    :param understood: how many words the query has, and which of them are unknown.
    :param searched: the words that were searched for in each language, if nothing was found.
    :param suggestion: a corrected spelling of the query, or "".
    :param evidence: what explains the results.
    :param notes: remarks on how the query was read.

    >>> from paragloss import Collection, Document
    >>> with Collection.create("answers") as collection:
    ...     _ = collection.index([Document("rain", "La pluie tombe des nuages.", "fr", title="La pluie")])
    ...     answer = collection.search("rain from clouds", lang="en")
    >>> [result.id for result in answer.results]
    ['rain']
    """

    query: Query
    results: list[Result]
    others: tuple[str, ...] = ()
    understood: QueryCoverage = QueryCoverage(0, ())
    searched: Mapping[str, str] = MappingProxyType({})
    suggestion: str = ""
    evidence: AnswerEvidence | None = None
    notes: tuple[str, ...] = ()

    def why(self, id: str) -> dict[str, Any]:
        """Explain a result: which words matched, through what, and what that added to the score.

        :param id: the document id.
        :return: the parts of the score with their pairs of words.
        :raises InputError: if the document is not among the results.
        """
        if self.evidence is None or id not in self.evidence.records:
            raise InputError(f"no document {id!r} among the results: give the id of one that was found")
        record, tokenized_texts = self.evidence.records[id]
        return _explain_score(
            self.query, record.document, tokenized_texts[0], self.evidence.ranking, self.evidence.pipeline
        )

    def as_json(self) -> dict[str, Any]:
        """Return the answer as plain dictionaries and lists: the query with how it was understood, and the results."""
        query: dict[str, Any] = {
            "text": self.query.text,
            "lang": self.query.lang,
            "others": list(self.others),
            "words": self.understood.words,
            "unknown": list(self.understood.unknown),
        }
        if self.searched:
            query["searched"] = dict(self.searched)
        if self.suggestion:
            query["suggestion"] = self.suggestion
        if self.notes:
            query["notes"] = list(self.notes)
        return {
            "query": query,
            "results": [{**result._asdict(), "meta": dict(result.meta)} for result in self.results],
        }


def search(state: State, text: str, options: SearchOptions) -> Answer:
    """Search for a query, and prepare the best documents for display.

    If the query seems to be misspelled and finds nothing useful as it is, its corrected spelling is searched as well.

    :param text: the query as the reader typed it, operators included.
    :raises DeadlineError: if `options.deadline` passes first.
    """
    state.index.catch_up()
    reading = read_query(state, Query("", text, options.lang or ""), options.reader or FALLBACK)
    outcome = _rank_with_correction(state, reading, options)
    visible = _read_visible_documents(state, outcome.ranked.ranking, options)
    results = _make_results(state, outcome.ranked, outcome.marked_query, visible, options.deadline)
    return _make_answer(reading, outcome, visible, results, options)


class SearchOutcome(NamedTuple):
    """The documents ranked for a query as it is written, or as it is corrected."""

    ranked: RankedQuery
    coverage: QueryCoverage  # of the query as it is written
    corrected: Query | None
    marked_query: Query  # the query whose words are marked in the results
    targets: Sequence[str]  # the languages of the documents


def _rank_with_correction(state: State, reading: QueryReading, options: SearchOptions) -> SearchOutcome:
    """Rank documents for a query, and for its corrected spelling if it is not understood as it is written.

    The ranking is empty if it is too unlikely to answer the query.

    :param reading: the query with the languages that it may be in.
    """
    query = reading.query
    targets = resolve_targets(state, options.to)
    ranking_options = replace(options, k=max(options.k + EXTRA_FOR_COPIES, options.newest))
    ranked = rank_query(state, reading, ranking_options)
    query_coverage = coverage.measure_query_coverage(query, ranked.ranking.forms, state.index.statistics, targets)
    corrected = _suggest_correction(state, reading, options)
    has_certain_language = bool(options.lang) or query.lang in state.langs
    is_understood = bool(ranked.ranking) and query_coverage.has_known_word and has_certain_language
    marked_query = query
    if corrected is not None and not is_understood:
        marked_query = corrected
        ranked = _rank_correction(state, corrected, ranked, ranking_options)
    if not reading.operators.required:
        ranked = _clear_unlikely_ranking(ranked, query_coverage)
    return SearchOutcome(ranked, query_coverage, corrected, marked_query, targets)


def _suggest_correction(state: State, reading: QueryReading, options: SearchOptions) -> Query | None:
    """Return a query with its spelling corrected; None if it needs no correction, or is meant as it is typed."""
    if not options.variants or reading.operators.has_conditions:
        return None
    return correct_query(state, reading.query, certain=bool(options.lang), deadline=options.deadline)


def _make_answer(
    reading: QueryReading,
    outcome: SearchOutcome,
    visible: VisibleDocuments,
    results: list[Result],
    options: SearchOptions,
) -> Answer:
    """Make the answer to a query: the results, how the query was understood, and what explains the results.

    :param reading: the query with the languages that it may be in.
    :param outcome: the ranking, and what was understood of the query.
    :param visible: the documents that are shown.
    :param results: the same, prepared for display; without any, the answer says which words were searched for.
    :param options: how documents were searched for.
    """
    query, ranking = reading.query, outcome.ranked.ranking
    searched_words: Mapping[str, str] = {}  # by language
    if not results:
        searched_words = coverage.list_wordings(query, ranking.forms, outcome.targets)
    return Answer(
        query,
        results,
        others=tuple(guess.lang for guess in reading.guesses[1:]),
        understood=outcome.coverage,
        searched=searched_words,
        suggestion=outcome.corrected.text if outcome.corrected else "",
        evidence=AnswerEvidence(ranking, visible.records, options.pipeline),
        notes=outcome.ranked.notes,
    )


def _clear_unlikely_ranking(ranked: RankedQuery, coverage: QueryCoverage) -> RankedQuery:
    """Return a ranking as it is if it may answer the query, else one without documents but with the query's words."""
    if _is_answered(ranked, coverage):
        return ranked
    return ranked._replace(ranking=RankedList(forms=ranked.ranking.forms))


def _is_answered(ranked: RankedQuery, coverage: QueryCoverage) -> bool:
    """Tell whether the ranking may answer the query; if all its words are unknown, its first hit must be likely."""
    if not ranked.ranking:
        return False
    has_probabilities = isinstance(ranked.searcher, DefaultSearcher)
    return coverage.has_known_word or not has_probabilities or ranked.ranking[0].score >= MIN_PROBABILITY


def _rank_correction(state: State, corrected: Query, ranked: RankedQuery, options: SearchOptions) -> RankedQuery:
    """Rank documents for a corrected query, and merge them with those ranked for the query as it was written."""
    reading = QueryReading(corrected, [Guess(corrected.lang, 1.0)])
    other = rank_queries(state, [reading], options)[0]
    return RankedQuery(merge_rankings([other.ranking, ranked.ranking], options.k), other.searcher)


class VisibleDocuments(NamedTuple):
    """The documents that are shown, by id, with their tokens; and of each the ids of its copies, which are not."""

    records: Mapping[str, tuple[Record, Sequence[TokenizedText]]]
    copies: Mapping[str, tuple[str, ...]]


def _read_visible_documents(state: State, ranking: RankedList, options: SearchOptions) -> VisibleDocuments:
    """Read the documents that a search shows: the `options.k` best, or the newest of the best if `options.newest`.

    Of documents with nearly the same text only the first is shown; the ids of the others are listed as its copies.

    :param state: the open collection.
    :param ranking: the documents that were found, best first.
    :param options: how many documents are shown (`k`), and in which order.
    :return: the records and tokens of the shown documents, and the ids of their copies, both by document id.
    """
    candidates = _read_candidates(state, ranking, options)
    copies_by_id = _list_copies(candidates)  # of all candidates that copy no earlier one, in order
    shown_ids = list(copies_by_id)[: options.k]
    records_by_id = {}
    for record in state.records(shown_ids):
        records_by_id[record.document.id] = (record, read_tokenized_texts(record))
    shown_copies_by_id = {doc_id: copies_by_id[doc_id] for doc_id in shown_ids}
    return VisibleDocuments(records_by_id, shown_copies_by_id)


def _read_candidates(state: State, ranking: RankedList, options: SearchOptions) -> list[Record]:
    """Return the documents among which the shown ones are, in the order in which they are shown, without their texts.

    There are some more than are shown (EXTRA_FOR_COPIES), because copies of a document are not shown beside it.

    :param ranking: the documents that were found, best first.
    :param options: how many documents are shown (`k`); with `newest` they are ordered by their day, latest first.
    """
    candidates = _read_without_texts(state, ranking)
    if options.newest:
        candidates.sort(key=_get_record_day, reverse=True)
    return candidates[: options.k + EXTRA_FOR_COPIES]


def _get_record_day(record: Record) -> float:
    """Return the day of a document as its metadata tells it; 0 if they don't."""
    return get_document_day(record.document.meta) or 0.0


def _list_copies(records: Sequence[Record]) -> dict[str, tuple[str, ...]]:
    """Return the ids of documents that copy no earlier one, in order, each with the ids of the documents that copy it.

    Where the second of three documents copies the first, this is {"first": ("second",), "third": ()}.

    :param records: the documents, best first. They are compared by the signatures of their texts.
    """
    copies_by_id = {}
    for positions in group_duplicates([record.signature for record in records]):
        first_id, *copy_ids = [records[position].document.id for position in positions]
        copies_by_id[first_id] = tuple(copy_ids)
    return copies_by_id


def _make_results(
    state: State, ranked: RankedQuery, query: Query, visible: VisibleDocuments, deadline: Deadline | None
) -> list[Result]:
    """Prepare the visible documents for display: title, snippet with marks, fit and copies.

    :param ranked: the ranking that the documents are from.
    :param query: the query, or its corrected spelling, whose matches are marked.
    :raises DeadlineError: if the deadline passes first.
    """
    matcher = Matcher(query, ranked.ranking.forms, state.models)
    scores = {hit.id: hit.score for hit in ranked.ranking}
    results = []
    for doc_id, (record, tokenized_texts) in visible.records.items():
        if deadline:
            deadline.step()
        score = scores[doc_id]
        fit = score / _find_max_score(ranked, record.document.lang)
        result = make_result(matcher, record, tokenized_texts, score, fit)
        results.append(result._replace(copies=visible.copies[doc_id]))
    return results


def _find_max_score(ranked: RankedQuery, lang: str) -> float:
    """Return the highest score of a document of a language; where that is unknown, the score of the best hit."""
    max_score = ranked.searcher.max_score(lang)
    return max_score if 0 < max_score < math.inf else max(ranked.ranking[0].score, _MIN_MAX_SCORE)


def explain_document_score(state: State, query: Query, id: str, options: SearchOptions) -> dict[str, Any]:
    """Search again, and explain the score of a document; one below the best hundred has no parts.

    :param id: the document id.
    :return: the parts of the score with their pairs of matching words (`explanation.describe_explanation`).
    :raises InputError: if the collection has no such document.
    """
    state.index.catch_up()
    reading = read_query(state, query, options.reader or FALLBACK)
    records = state.records([id])
    if not records:
        raise InputError(f"no document {id!r} in this collection: give the id of one that was found")
    ranked = rank_query(state, reading, replace(options, k=max(options.k, RANKS_TO_EXPLAIN)))
    tokenized = read_tokenized_texts(records[0])[0]
    return _explain_score(reading.query, records[0].document, tokenized, ranked.ranking, options.pipeline)


def _explain_score(
    query: Query, document: Document, tokenized: TokenizedText, ranking: RankedList, pipeline: str | None
) -> dict[str, Any]:
    """Explain the score that a document got in a ranking.

    :param tokenized: the document's text as tokens.
    :param ranking: the result of the search.
    :param pipeline: the pipeline that made the ranking; None for the default search.
    """
    explained = ranking.explain(document)
    return explanation.describe_explanation(query, document, tokenized, explained, name=pipeline or "bm25")


def make_matcher(state: State, text: str, options: SearchOptions) -> Matcher:
    """Return a matcher, which finds the words of documents that match a query.

    :param text: the query.
    :param options: the language of the query, and how to search.
    """
    reading = read_query(state, Query("", text, options.lang or ""))
    ranked = rank_queries(state, [reading], options)[0]
    return Matcher(reading.query, ranked.ranking.forms, state.models)


def correct_query(state: State, query: Query, *, certain: bool, deadline: Deadline | None = None) -> Query | None:
    """Return the query with its spelling corrected; None if all its words are known or nothing better is.

    :param certain: whether the language of the query was stated. If so, its words are compared with known words of
        this language only, otherwise with those of a few likely languages.
    :raises DeadlineError: if the deadline passes first.
    """
    compared_langs = [query.lang] if certain else _list_likely_languages(state, query.lang)
    return suggest_query(query, compared_langs, state.index.statistics, state.default, deadline)


def _list_likely_languages(state: State, guessed_lang: str) -> list[str]:
    """Return the languages that a misspelled query may be in, likeliest first, at most MAX_SPELLING_LANGUAGES.

    :param guessed_lang: the language that the query seems to be in; left out if no document is in it.
    """
    langs = [FALLBACK, *state.langs]
    if guessed_lang in state.langs:
        langs = [guessed_lang, *langs]
    unique_langs = list(dict.fromkeys(langs))
    return unique_langs[:MAX_SPELLING_LANGUAGES]


def rank_plain_queries(state: State, queries: Sequence[Query], options: SearchOptions) -> list[Ranking]:
    """Rank documents for several queries, as `search` does, without preparing results.

    Queries of a file are texts: quotation marks and signs in them are no operators.
    """
    state.index.catch_up()
    queries_with_language = [query if query.lang else query._replace(lang=options.lang or "") for query in queries]
    readings = [identify_query(state, query) for query in queries_with_language]
    return [list(ranked.ranking) for ranked in rank_queries(state, readings, options)]


def collect_candidates(state: State, text: str, options: SearchOptions) -> MeasuredCandidates:
    """Return the candidates of the default search for a query, with the features that they are scored by.

    The query is taken to be in its likeliest language. See `search.scoring` for what the features are.

    :param options: how to search; `options.k` is how many documents a search would return.
    """
    state.index.catch_up()
    query = read_query(state, Query("", text, options.lang or "")).query
    targets = resolve_targets(state, options.to)
    parts = _list_pipeline_parts(state, options)
    searcher = make_default_searcher(SearchContext(parts, query.lang, targets))
    collected = searcher.collect(query, options.k, _make_filter(state, options))
    return collected.candidates


def rank_documents(state: State, text: str, options: SearchOptions) -> tuple[Query, list[Document]]:
    """Return the query with its language, and the best documents without their texts."""
    state.index.catch_up()
    reading = read_query(state, Query("", text, options.lang or ""))
    records = _read_without_texts(state, rank_query(state, reading, options).ranking)
    return reading.query, [record.document for record in records]


def _read_without_texts(state: State, ranking: Sequence[Any]) -> list[Record]:
    """Return the records of ranked documents without their texts, which are read faster."""
    records = state.store.get([hit.id for hit in ranking], text=False)
    return [record for record in records if record is not None]


def guess_query_languages(state: State, text: str) -> list[Guess]:
    """Return the languages a query may be in, likeliest first, with their probabilities."""
    return query_language.guess_languages(text, state.index.statistics, _list_word_models(state))


def _list_word_models(state: State) -> dict[str, object]:
    """Return the models of a collection by name, the default model included; some of them know words."""
    return {**state.translators(), **state.models}


def read_query(state: State, query: Query, reader: str = FALLBACK) -> QueryReading:
    """Parse the operators of a query and identify the language of its words; in doubt return several guesses.

    :param reader: the reader's language, in which a query of names alone is read.
    :raises InputError: if the query is empty or too long.
    """
    operators = parse_operators(query_language.normalise_query(query).text)
    reading = identify_query(state, query._replace(text=operators.text), reader)
    return reading._replace(operators=operators)


def identify_query(state: State, query: Query, reader: str = FALLBACK) -> QueryReading:
    """Identify the language of a query that does not state one; in doubt return several guesses, likeliest first.

    :param reader: the reader's language, in which a query of names alone is read.
    :raises InputError: if the query is empty or too long.
    """
    query = query_language.normalise_query(query)
    if query.lang:
        guesses = [Guess(query.lang, share=1.0)]
    else:
        all_guesses = guess_query_languages(state, query.text)
        guesses = query_language.select_readings(all_guesses, query.text, _list_word_models(state), reader)
        query = query._replace(lang=guesses[0].lang)
    query_language.check_term_count(query)
    return QueryReading(query, guesses)


def build_searcher(
    state: State, pipeline: str | None, source: str, targets: Sequence[str], deadline: Deadline | None = None
) -> Searcher:
    """Build the searcher that a pipeline describes for this collection; the default search without one."""
    return _make_searcher(pipeline, SearchContext(state.parts(deadline), source, targets))


def _make_searcher(pipeline: str | None, search: SearchContext) -> Searcher:
    return make_default_searcher(search) if pipeline is None else pipelines.build(pipeline, search)


def _list_pipeline_parts(state: State, options: SearchOptions) -> Parts:
    """Return what the collection is searched with."""
    return state.parts(options.deadline)._replace(variants=options.variants)


def resolve_targets(state: State, to: Sequence[str] | None) -> list[str]:
    """Return the languages that are searched: those given, else all of the collection's."""
    if isinstance(to, str):
        raise InputError(f"`to` takes a list of languages, got {to!r}: write to=[{to!r}]")
    return [languages.normalise(lang) for lang in to] if to is not None else list(state.langs)


def rank_query(state: State, reading: QueryReading, options: SearchOptions) -> RankedQuery:
    """Rank documents for a query, and keep those that meet the conditions of its operators, such as `lang:de`."""
    operators = reading.operators
    if not operators.has_conditions:
        return rank_queries(state, [reading], options)[0]._replace(notes=operators.notes)
    narrowed = narrow_options(state, options, operators)
    if not (operators.required or operators.excluded):
        return rank_queries(state, [reading], narrowed)[0]._replace(notes=operators.notes)
    return _rank_and_check(state, reading, narrowed)


def _rank_and_check(state: State, reading: QueryReading, options: SearchOptions) -> RankedQuery:
    """Rank documents for a query, and keep those that have its required phrases and words and none it excludes.

    :param reading: the query with the languages that it may be in, and with its operators.
    :return: the documents that were kept, where each has what is required, and notes for the reader.
    """
    operators = reading.operators
    n_checked = max(options.k, MAX_CHECKED_DOCUMENTS)
    [ranked] = rank_queries(state, [reading], replace(options, k=n_checked))
    candidate_ids = [hit.id for hit in ranked.ranking]
    searcher_by_lang = _build_searchers(state, [reading], options)  # they translate the required terms
    occurrences = filter_documents(state, operators, list(searcher_by_lang.items()), candidate_ids, options)
    hits = tuple(hit for hit in ranked.ranking if hit.id in occurrences)
    notes = describe_check(operators, candidate_ids, occurrences, limit=n_checked)
    ranking = replace(ranked.ranking, hits=hits, lower_hits=())
    return RankedQuery(ranking, ranked.searcher, occurrences, (*operators.notes, *notes))


def rank_queries(state: State, readings: Sequence[QueryReading], options: SearchOptions) -> list[RankedQuery]:
    """Rank documents for several queries, each of which may be in one of several languages.

    A query is searched in each of its languages, and a document gets its expected score over them.

    :param readings: the queries with the languages they may be in.
    """
    searchers = _build_searchers(state, readings, options)
    # For each query, the ranking in each language that it may be in, with the probability of that language.
    weighted_rankings: list[list[tuple[float, RankedList]]] = [[] for _ in readings]
    for lang, searcher in searchers.items():
        for position, share, ranking in _rank_in_language(state, searcher, lang, readings, options):
            weighted_rankings[position].append((share, ranking))
    ranked_queries = []
    for reading, weighted in zip(readings, weighted_rankings, strict=True):
        likeliest_lang = reading.guesses[0].lang
        ranked_queries.append(RankedQuery(mix_readings(weighted, options.k), searchers[likeliest_lang]))
    return ranked_queries


def _rank_in_language(
    state: State, searcher: Searcher, lang: str, readings: Sequence[QueryReading], options: SearchOptions
) -> Iterator[tuple[int, float, RankedList]]:
    """Search for all queries together that may be in a language.

    :param searcher: a searcher for this language.
    :param readings: the queries with the languages they may be in.
    :return: for each query that may be in the language its position, the probability that it is, and its ranking.
    """
    shares = _list_shares(readings, lang)
    queries = [readings[position].query._replace(lang=lang) for position, _ in shares]
    rankings = _search_queries(state, searcher, queries, options)
    for (position, share), ranking in zip(shares, rankings, strict=True):
        yield position, share, ranking


def _build_searchers(state: State, readings: Sequence[QueryReading], options: SearchOptions) -> dict[str, Searcher]:
    """Build a searcher for each language that some query may be in."""
    targets, parts = resolve_targets(state, options.to), _list_pipeline_parts(state, options)
    searchers: dict[str, Searcher] = {}
    for reading in readings:
        for guess in reading.guesses:
            if guess.lang not in searchers:
                searchers[guess.lang] = _make_searcher(options.pipeline, SearchContext(parts, guess.lang, targets))
    return searchers


def _search_queries(
    state: State, searcher: Searcher, queries: Sequence[Query], options: SearchOptions
) -> Sequence[RankedList]:
    """Search for queries in one language.

    If no document meets the conditions of the search, nothing is searched: rankings have no documents, only the words
    that would have been searched for (`forms`), which an answer shows.

    :param searcher: a searcher for this language.
    """
    if options.where and not _has_matching_document(state, options.where):
        return [RankedList(forms=list_query_forms(searcher, query)) for query in queries]
    return searcher.search(queries, options.k, _make_filter(state, options))


def _has_matching_document(state: State, where: Where) -> bool:
    """Tell whether some document meets conditions."""
    first_page = next(state.store.scroll(where, batch_size=1, text=False), None)
    return first_page is not None


def _make_filter(state: State, options: SearchOptions) -> Where | None:
    """Return the conditions of a search, with the languages that are searched if the user has chosen some."""
    if options.to is None:
        return options.where
    return {**(options.where or {}), "lang": resolve_targets(state, options.to)}


def _list_shares(readings: Sequence[QueryReading], lang: str) -> list[tuple[int, float]]:
    """Return the position of each query that may be in a language, with the probability that it is."""
    shares = []
    for number, reading in enumerate(readings):
        for guess in reading.guesses:
            if guess.lang == lang:
                shares.append((number, guess.share))
    return shares


def mix_readings(weighted_rankings: Sequence[tuple[float, RankedList]], k: int) -> RankedList:
    """Merge the rankings of one query, read in several languages, into one of expected scores.

    The expected score of a document is the sum of its scores, each times the probability of the reading.

    :param weighted_rankings: the probability of each reading, and its ranking; probabilities need not sum to 1.
    :param k: the number of hits; documents below them are kept in `lower_hits`.
    """
    if len(weighted_rankings) == 1:
        _, only_ranking = weighted_rankings[0]
        return only_ranking
    total = sum(probability for probability, _ in weighted_rankings)
    readings = [(probability / total, ranking) for probability, ranking in weighted_rankings]
    hits_by_reading = [[*ranking.hits, *ranking.lower_hits] for _, ranking in readings]
    expected_scores = fuse_scores(hits_by_reading, [probability for probability, _ in readings])
    hits = [Hit(doc_id, score) for doc_id, score in expected_scores.items()]
    merged_hits = tuple(rank_hits(hits, len(hits)))
    return RankedList(
        merged_hits[:k],
        forms=QueryForms.merge(ranking.forms for _, ranking in readings),
        explainer=partial(explain_mixture, readings),
        has_probabilities=any(ranking.has_probabilities for _, ranking in readings),
        lower_hits=merged_hits[k:],
    )
