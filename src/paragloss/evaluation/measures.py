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


class JudgedRanking(NamedTuple):
    """One query's ranking as grades, and the grades of all its judged documents."""

    grades: Sequence[int | None]  # of the ranked documents up to the cut-off; None if not judged
    judged_grades: Sequence[int]
    cutoff: int
    min_relevant_grade: int

    @property
    def is_relevant(self) -> list[bool]:
        """Say for each ranked document whether it is relevant."""
        return [grade is not None and grade >= self.min_relevant_grade for grade in self.grades]

    @property
    def relevant_total(self) -> int:
        """Count the relevant documents there are, ranked or not."""
        return sum(grade >= self.min_relevant_grade for grade in self.judged_grades)


def precision(ranking: JudgedRanking) -> float:
    """Compute the share of relevant documents up to the cut-off."""
    return sum(ranking.is_relevant) / ranking.cutoff


def recall(ranking: JudgedRanking) -> float:
    """Compute the share of all relevant documents that are ranked up to the cut-off."""
    return sum(ranking.is_relevant) / ranking.relevant_total if ranking.relevant_total else 0.0


def success(ranking: JudgedRanking) -> float:
    """Return 1 if a relevant document is ranked up to the cut-off, otherwise 0."""
    return float(any(ranking.is_relevant))


def reciprocal_rank(ranking: JudgedRanking) -> float:
    """Return 1 / the rank of the first relevant document, or 0."""
    for rank, is_relevant in enumerate(ranking.is_relevant, start=1):
        if is_relevant:
            return 1 / rank
    return 0.0


def average_precision(ranking: JudgedRanking) -> float:
    """Average the precision at each relevant document over all relevant documents, ranked or not."""
    total, relevant_so_far = 0.0, 0
    for rank, is_relevant in enumerate(ranking.is_relevant, start=1):
        if is_relevant:
            relevant_so_far += 1
            total += relevant_so_far / rank
    return total / ranking.relevant_total if ranking.relevant_total else 0.0


def ndcg(ranking: JudgedRanking) -> float:
    """Divide the discounted gain by that of the ideal order; the gain is the grade (Jarvelin and Kekalainen, 2002)."""
    return _ndcg(ranking, lambda grade: grade)


def exponential_ndcg(ranking: JudgedRanking) -> float:
    """Compute nDCG with gain 2^grade - 1 (Burges et al., ICML 2005)."""
    return _ndcg(ranking, lambda grade: 2**grade - 1)


def judged_share(ranking: JudgedRanking) -> float:
    """Compute the share of judged documents up to the cut-off."""
    return sum(grade is not None for grade in ranking.grades) / ranking.cutoff


def _ndcg(ranking: JudgedRanking, gain: Callable[[int], float]) -> float:
    ideal_grades = sorted((grade for grade in ranking.judged_grades if grade > 0), reverse=True)[: ranking.cutoff]
    ideal = _discount([gain(grade) for grade in ideal_grades])
    return _discount([gain(max(grade or 0, 0)) for grade in ranking.grades]) / ideal


def _discount(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


#: Name -> the function, and whether it needs a cut-off.
_MEASURES: Mapping[str, tuple[Callable[[JudgedRanking], float], bool]] = {
    "nDCG": (ndcg, False),
    "AP": (average_precision, False),
    "RR": (reciprocal_rank, False),
    "P": (precision, True),
    "R": (recall, True),
    "Success": (success, True),
    "Judged": (judged_share, True),
}


class _Measure(NamedTuple):
    """A parsed measure such as nDCG@10 or P(rel=2)@5."""

    function: Callable[[JudgedRanking], float]
    cutoff: int | None
    min_relevant_grade: int

    def score(self, doc_ids: Sequence[str], grades: Mapping[str, int]) -> float:
        """Score one query's ranking."""
        ranked = [grades.get(doc_id) for doc_id in doc_ids[: self.cutoff]]
        depth = self.cutoff or max(len(ranked), len(grades))
        return self.function(JudgedRanking(ranked, list(grades.values()), depth, self.min_relevant_grade))


def evaluate(run: Run, qrels: Qrels, measures: Sequence[str] = DEFAULT) -> Scores:
    """Compute measures for each judged query.

    The order of the ranking is measured: equal scores keep the order they were served in. A query without results
    scores zero; a query without a relevant document is left out.

    :param run: query id -> ranking
    :param qrels: query id -> document id -> grade
    :param measures: names such as nDCG@10, AP, RR, P(rel=2)@5 or P_mr@1
    :return: measure -> query id -> score
    :raises InputError: if a measure is unknown, or no query of the run has a relevant document

    >>> from paragloss import Hit
    >>> evaluate({"q": [Hit("a", 2.0), Hit("b", 1.0)]}, {"q": {"b": 1}}, ["RR"])
    {'RR': {'q': 0.5}}
    """
    parsed_measures = {name: _parse_measure(name) for name in measures}
    judged = {query_id: grades for query_id, grades in qrels.items() if any(grade > 0 for grade in grades.values())}
    _check_judged(run, judged)
    scores: Scores = {name: {} for name in parsed_measures}
    for query_id, grades in judged.items():
        ranked_ids = [hit.id for hit in run.get(query_id, [])]
        for name, measure in parsed_measures.items():
            scores[name][query_id] = measure.score(ranked_ids, grades)
    return scores


def _check_judged(run: Run, judged: Qrels) -> None:
    """Raise InputError if a run has no query for which a relevant document is known.

    :param judged: the judgments of the queries with a relevant document.
    """
    if not judged:
        raise InputError("the judgments name no relevant document: there is nothing to measure against")
    if not judged.keys() & run.keys():
        examples = f"the run has {_list_examples(run)}, the judgments have {_list_examples(judged)}"
        raise InputError(f"no query of the run is judged: {examples}")


def mean(scores: Scores) -> dict[str, float]:
    """Average each measure over its queries.

    :param scores: measure -> query id -> score, as `evaluate` returns them
    :return: measure -> mean

    >>> mean({"RR": {"q1": 1.0, "q2": 0.5}})
    {'RR': 0.75}
    """
    return {name: sum(values.values()) / len(values) for name, values in scores.items()}


def _parse_measure(name: str) -> _Measure:
    """Parse the name of a measure, such as nDCG@10 or P(rel=2)@5.

    :raises InputError: if the measure or an option is unknown, or a cut-off is missing that the measure needs
    """
    match = _NAME.fullmatch(_expand_spelling(name))
    if match is None or match["measure"] not in _MEASURES:
        examples = "nDCG@10, AP, RR, P@5, R@100, Success@10, P_mr@1, P_r@5 or MRR_mr"
        raise InputError(f"unknown measure {name!r}: try {examples}")
    function, needs_cutoff = _MEASURES[match["measure"]]
    cutoff = int(match["cut"]) if match["cut"] else None
    if needs_cutoff and cutoff is None:
        raise InputError(f"{name!r} needs a cut-off, such as {name}@10")
    measure = _Measure(function, cutoff, min_relevant_grade=1)
    options = (match["options"] or "").replace(" ", "")
    for option in filter(None, options.split(",")):
        measure = _apply_option(measure, option, name)
    return measure


def _apply_option(measure: _Measure, option: str, name: str) -> _Measure:
    """Return a measure with an option, such as `rel=2` or `dcg='exp-log2'`.

    :param name: the name of the measure, for the error.
    :raises InputError: if the measure has no such option.
    """
    grade_match = re.fullmatch(r"rel=(\d+)", option)
    if grade_match:
        return measure._replace(min_relevant_grade=int(grade_match[1]))
    gain_match = re.fullmatch(r"""dcg=(['"])([\w-]+)\1""", option)
    function_by_gain = {"log2": ndcg, "exp-log2": exponential_ndcg}
    if gain_match and measure.function is ndcg and gain_match[2] in function_by_gain:
        return measure._replace(function=function_by_gain[gain_match[2]])
    raise InputError(f"unknown option {option!r} in {name!r}: rel=2, and dcg='exp-log2' for nDCG, are known")


def _expand_spelling(name: str) -> str:
    """Replace another spelling of a measure, such as MRR, by ours."""
    for pattern, replacement in _SPELLINGS:
        match = pattern.fullmatch(name)
        if match:
            return match.expand(replacement)
    return name


def _list_examples(queries: Mapping[str, Any]) -> str:
    first = sorted(queries)[:3]
    return ", ".join(first) + (", ..." if len(queries) > 3 else "")
