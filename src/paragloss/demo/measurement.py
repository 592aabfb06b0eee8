"""Compare the default model on the demonstration with unchanged query words and with a pretrained encoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paragloss.collection import Collection
from paragloss.demo import encoded
from paragloss.demo.texts import documents, queries
from paragloss.evaluation import Scores, evaluate, mean
from paragloss.types import Qrels, Query, Ranking

#: By the first document on the concept itself, and by the grades of the first ten.
MEASURES = ("RR(rel=2)", "nDCG@10")
SEARCHERS = ("words as they stand (BM25)", "default model", "pretrained encoder (e5)")
_DEPTH = 100


def measure_by_language(collection: Collection) -> Iterator[str]:
    """Measure three searchers on the queries of each language and the documents of all others.

    :param collection: the demonstration's documents, indexed.
    :return: the lines of a table, which has a line for each language of queries, and one for all.
    """
    all_queries, judgments = queries()
    encoder_rankings = encoded.rank(documents(), all_queries, k=_DEPTH)
    encoder_ranking_by_id = dict(zip([query.id for query in all_queries], encoder_rankings, strict=True))
    yield from _format_header(len(all_queries))
    total_scores: list[Scores] = [{measure: {} for measure in MEASURES} for _ in SEARCHERS]
    for lang in collection.langs:
        lang_queries = [query for query in all_queries if query.lang == lang]
        rankings_by_searcher = _rank_with_lexical_searchers(collection, lang_queries, lang)
        rankings_by_searcher.append([encoder_ranking_by_id[query.id] for query in lang_queries])
        qrels = {query.id: judgments[query.id] for query in lang_queries}
        lang_scores = [_measure_rankings(rankings, qrels) for rankings in rankings_by_searcher]
        yield _format_line(lang, lang_scores)
        total_scores = list(map(_join_scores, total_scores, lang_scores))
    yield _format_line("all", total_scores)


def _join_scores(first: Scores, second: Scores) -> Scores:
    """Return the scores of two sets of queries together."""
    return {measure: first[measure] | second[measure] for measure in MEASURES}


def _format_header(n_queries: int) -> Iterator[str]:
    """Yield what the table shows, and its header: the names of the searchers above those of the measures."""
    yield f"{n_queries} queries, each searched in the other languages; the model has not seen these documents."
    yield "MRR: the first document on the same concept. nDCG@10: those on a closely related concept count half.\n"
    yield f"{'':6}" + "".join(f"{name:28}" for name in SEARCHERS).rstrip()
    yield f"{'':6}" + (f"{'MRR':7}{'nDCG@10':21}" * len(SEARCHERS)).rstrip()


def _measure_rankings(rankings: Sequence[Ranking], qrels: Qrels) -> Scores:
    """Measure the rankings of the queries, in the order of the judgments."""
    run = dict(zip(qrels, rankings, strict=True))
    return evaluate(run, qrels, MEASURES)


def _rank_with_lexical_searchers(
    collection: Collection, lang_queries: Sequence[Query], lang: str
) -> list[list[Ranking]]:
    """Rank the documents in other languages by the first two of SEARCHERS: a list of rankings for each."""
    other_langs = [code for code in collection.langs if code != lang]
    return [
        collection.rank(lang_queries, k=_DEPTH, to=other_langs, pipeline="bm25"),
        collection.rank(lang_queries, k=_DEPTH, to=other_langs),
    ]


def _format_line(name: str, scores_by_searcher: Sequence[Scores]) -> str:
    values = [[mean(scores)[measure] for measure in MEASURES] for scores in scores_by_searcher]
    return f"{name:6}" + "".join(f"{rr:<7.3f}{ndcg:<21.3f}" for rr, ndcg in values).rstrip()
