"""Measures, spelled as people write them: nDCG@10, AP, RR, P(rel=2)@5. Each is a few lines over a list of grades.

They agree with trec_eval: linear gain, a grade of 1 or more is relevant unless `rel` says otherwise, a cut-off that is
not reached counts as filled with irrelevant documents. `tests/evaluation/test_measures.py` holds them against
ir_measures where that is installed.

The names of Liu et al. ("Cross-Lingual Document Retrieval with Smooth Learning") are understood too: `mr` counts
documents of grade 2 (most relevant), `r` those of grade 1 or more; P_mr@k is a hit rate, as in the authors' code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from paragloss.errors import InputError
from paragloss.types import Qrels, Run

DEFAULT = ("nDCG@10", "AP", "RR", "P@1", "R@100")
#: measure -> query id -> value
Scores: TypeAlias = dict[str, dict[str, float]]

_NAME = re.compile(r"(?P<measure>[A-Za-z]+)(\((?P<options>[^)]*)\))?(@(?P<cut>[1-9]\d*))?")
_SPELLINGS = [
    (re.compile(r"P_mr@(\d+)"), r"Success(rel=2)@\1"),
    (re.compile(r"P_r@(\d+)"), r"P(rel=1)@\1"),
    (re.compile(r"M?RR_mr"), "RR(rel=2)"),
    (re.compile(r"M?RR_r"), "RR(rel=1)"),
    (re.compile(r"MRR((?:\(.*\))?(?:@\d+)?)"), r"RR\1"),
    (re.compile(r"MAP((?:\(.*\))?(?:@\d+)?)"), r"AP\1"),
    (re.compile(r"NDCG((?:\(.*\))?(?:@\d+)?)"), r"nDCG\1"),
    (re.compile(r"Recall((?:\(.*\))?@\d+)"), r"R\1"),
]


class Found(NamedTuple):
    """One query: the grades of what was found, in order and cut (None: not judged), and all grades there are."""

    grades: Sequence[int | None]
    judged: Sequence[int]
    cut: int
    rel: int

    @property
    def hits(self) -> list[bool]:
        return [grade is not None and grade >= self.rel for grade in self.grades]

    @property
    def relevant(self) -> int:
        return sum(grade >= self.rel for grade in self.judged)


def precision(found: Found) -> float:
    return sum(found.hits) / found.cut


def recall(found: Found) -> float:
    return sum(found.hits) / found.relevant if found.relevant else 0.0


def success(found: Found) -> float:
    return float(any(found.hits))


def reciprocal_rank(found: Found) -> float:
    """1 / the place of the first relevant document."""
    return next((1 / place for place, hit in enumerate(found.hits, start=1) if hit), 0.0)


def average_precision(found: Found) -> float:
    """The precision at each relevant document, averaged over all relevant ones, found or not."""
    total, seen = 0.0, 0
    for place, hit in enumerate(found.hits, start=1):
        if hit:
            seen += 1
            total += seen / place
    return total / found.relevant if found.relevant else 0.0


def ndcg(found: Found) -> float:
    """Discounted gain over that of the best order; the gain is the grade (Jarvelin and Kekalainen, TOIS 2002)."""
    return _ndcg(found, lambda grade: grade)


def exponential_ndcg(found: Found) -> float:
    """The same with gain 2^grade - 1 (Burges et al., ICML 2005)."""
    return _ndcg(found, lambda grade: 2**grade - 1)


def judged_share(found: Found) -> float:
    """How much of what was found somebody has judged."""
    return sum(grade is not None for grade in found.grades) / found.cut


def _ndcg(found: Found, gain: Callable[[int], float]) -> float:
    best = sorted((grade for grade in found.judged if grade > 0), reverse=True)[: found.cut]
    ideal = _discounted([gain(grade) for grade in best])
    return _discounted([gain(max(grade or 0, 0)) for grade in found.grades]) / ideal


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))


#: name -> the function, and whether it needs a cut-off.
_MEASURES: Mapping[str, tuple[Callable[[Found], float], bool]] = {
    "nDCG": (ndcg, False),
    "AP": (average_precision, False),
    "RR": (reciprocal_rank, False),
    "P": (precision, True),
    "R": (recall, True),
    "Success": (success, True),
    "Judged": (judged_share, True),
}


class _Measure(NamedTuple):
    function: Callable[[Found], float]
    cut: int | None
    rel: int

    def __call__(self, ranking: Sequence[str], grades: Mapping[str, int]) -> float:
        seen = [grades.get(id) for id in ranking[: self.cut]]
        return self.function(Found(seen, list(grades.values()), self.cut or max(len(seen), len(grades)), self.rel))


def evaluate(run: Run, qrels: Qrels, measures: Sequence[str] = DEFAULT) -> Scores:
    """Each measure for each judged query. A query that found nothing scores zero; one without judgments is left out.

    The order of the ranking is what is measured: equal scores keep the order they were served in.
    """
    parsed = {name: _parse(name) for name in measures}
    if not any(grade > 0 for grades in qrels.values() for grade in grades.values()):
        raise InputError("the judgments name no relevant document: there is nothing to measure against")
    judged = {query: grades for query, grades in qrels.items() if any(grade > 0 for grade in grades.values())}
    if not judged.keys() & run.keys():
        raise InputError(f"no query of the run is judged: the run has {_some(run)}, the judgments have {_some(judged)}")
    served = {query: [hit.id for hit in run.get(query, [])] for query in judged}
    return {name: {q: measure(served[q], grades) for q, grades in judged.items()} for name, measure in parsed.items()}


def mean(scores: Scores) -> dict[str, float]:
    """The average over queries of each measure."""
    return {name: sum(values.values()) / len(values) for name, values in scores.items()}


def _parse(name: str) -> _Measure:
    spelled = next((m.expand(to) for pattern, to in _SPELLINGS if (m := pattern.fullmatch(name))), name)
    match = _NAME.fullmatch(spelled)
    if match is None or match["measure"] not in _MEASURES:
        raise InputError(
            f"unknown measure {name!r}: try nDCG@10, AP, RR, P@5, R@100, Success@10, P_mr@1, P_r@5 or MRR_mr"
        )
    function, needs_cut = _MEASURES[match["measure"]]
    cut = int(match["cut"]) if match["cut"] else None
    if needs_cut and cut is None:
        raise InputError(f"{name!r} needs a cut-off, such as {name}@10")
    rel = 1
    for option in filter(None, (match["options"] or "").replace(" ", "").split(",")):
        if digits := re.fullmatch(r"rel=(\d+)", option):
            rel = int(digits[1])
        elif function is ndcg and option in ("dcg='exp-log2'", 'dcg="exp-log2"', "dcg='log2'", 'dcg="log2"'):
            function = exponential_ndcg if "exp" in option else ndcg
        else:
            raise InputError(f"unknown option {option!r} in {name!r}: rel=2, and dcg='exp-log2' for nDCG, are known")
    return _Measure(function, cut, rel)


def _some(queries: Mapping[str, Any]) -> str:
    first = sorted(queries)[:3]
    return ", ".join(first) + (", ..." if len(queries) > 3 else "")
