"""Measures, spelled as people write them, computed by ir_measures.

The names of Liu et al. ("Cross-Lingual Document Retrieval with Smooth Learning") are understood too: `mr` counts
documents of grade 2 (most relevant), `r` those of grade 1 or more; P_mr@k is a hit rate, as in the authors' code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from paragloss.errors import InputError
from paragloss.types import Qrels, Run

DEFAULT = ("nDCG@10", "AP", "RR", "P@1", "R@100")
#: measure -> query id -> value
Scores: TypeAlias = dict[str, dict[str, float]]

_SPELLINGS = [
    (re.compile(r"P_mr@(\d+)"), r"Success(rel=2)@\1"),
    (re.compile(r"P_r@(\d+)"), r"P(rel=1)@\1"),
    (re.compile(r"M?RR_mr"), "RR(rel=2)"),
    (re.compile(r"M?RR_r"), "RR(rel=1)"),
    (re.compile(r"MRR(@\d+)?"), r"RR\1"),
    (re.compile(r"MAP(@\d+)?"), r"AP\1"),
    (re.compile(r"NDCG(@\d+)?"), r"nDCG\1"),
]


def evaluate(run: Run, qrels: Qrels, measures: Sequence[str] = DEFAULT) -> Scores:
    """Each measure for each judged query. A query that found nothing scores zero; one without judgments is left out.

    The order of the ranking is what is measured: equal scores keep the order they were served in.
    """
    import ir_measures

    parsed = {name: _parse(name) for name in measures}
    if not any(grade > 0 for grades in qrels.values() for grade in grades.values()):
        raise InputError("the judgments name no relevant document: there is nothing to measure against")
    judged = {query: grades for query, grades in qrels.items() if any(grade > 0 for grade in grades.values())}
    if not judged.keys() & run.keys():
        raise InputError(f"no query of the run is judged: the run has {_some(run)}, the judgments have {_some(judged)}")
    served = {
        query: {hit.id: float(len(ranking) - place) for place, hit in enumerate(ranking)}
        for query, ranking in run.items()
        if query in judged and ranking
    }
    scores: Scores = {name: dict.fromkeys(judged, 0.0) for name in measures}
    names = {measure: name for name, measure in parsed.items()}
    for metric in ir_measures.iter_calc(list(names), judged, served):
        scores[names[metric.measure]][metric.query_id] = float(metric.value)
    return scores


def mean(scores: Scores) -> dict[str, float]:
    """The average over queries of each measure."""
    return {name: sum(values.values()) / len(values) for name, values in scores.items()}


def _parse(name: str) -> Any:
    import ir_measures

    for pattern, spelling in _SPELLINGS:
        if match := pattern.fullmatch(name):
            name = match.expand(spelling)
            break
    try:
        return ir_measures.parse_measure(name)
    except (ValueError, NameError, SyntaxError, KeyError):
        raise InputError(
            f"unknown measure {name!r}: try nDCG@10, AP, RR, P@5, R@100, Success@10, P_mr@1, P_r@5 or MRR_mr"
        ) from None


def _some(queries: dict[str, Any]) -> str:
    first = sorted(queries)[:3]
    return ", ".join(first) + (", ..." if len(queries) > 3 else "")
