"""The time-aware click model (TACM): a reader who stays on a page for long was probably satisfied and stopped there.

Liu, Xie, Wang, Nie, Zhang and Ma, "Time-aware click model", TOIS 2016; docs/understand/papers/bilingual-knrm.md says
where ours differs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from paragloss.errors import InputError
from paragloss.lab.clicks.log_files import Click, Session
from paragloss.lab.clicks.rates import Scores
from paragloss.types import Integers

Doubles: TypeAlias = npt.NDArray[np.float64]
#: Number of additional trials that every estimated rate starts from.
PRIOR_TRIALS = 2.0
#: Where the three probabilities start.
INITIAL_PROBABILITY = 0.5


class ClickModel(NamedTuple):
    """The probabilities that TACM estimates."""

    attraction: Scores  # that a document is opened when it is seen
    satisfaction: Scores  # that the search ends satisfied after it was opened
    examination: Doubles  # that a rank is looked at: (rank of the last click, 0 for none; rank)

    def relevance(self) -> Scores:
        """Multiply attraction and satisfaction: a relevant document is opened when it is seen, and ends the search."""
        relevance: Scores = {}
        for query, attraction in self.attraction.items():
            satisfaction = self.satisfaction[query]
            relevance[query] = {
                doc_id: probability * satisfaction[doc_id] for doc_id, probability in attraction.items()
            }
        return relevance


def tacm(sessions: Iterable[Session], *, rounds: int = 30, patience: float = 30.0) -> ClickModel:
    """Fit the time-aware click model (TACM) by expectation maximisation.

    The reader goes from click to click and looks at the results between two clicks with a probability that depends on
    their ranks; a document that is seen is opened with the probability of its attraction. After a click of t seconds
    the search ends satisfied with probability s (1 - exp(-t / patience)); otherwise the reader looks on. A click
    without a time counts as an average one.

    :param sessions: what was shown for each query, and the clicks
    :param rounds: rounds of expectation maximisation
    :param patience: in seconds
    :raises InputError: if a session does not say what was shown, or there is none
    """
    log = _flatten_sessions(sessions, patience)
    n_pairs, n_ranks = len(log.numbers), log.n_ranks
    probabilities = _Probabilities(
        attraction=np.full(n_pairs, INITIAL_PROBABILITY),
        power=np.full(n_pairs, INITIAL_PROBABILITY),
        examination=np.full((n_ranks, n_ranks), INITIAL_PROBABILITY),
    )
    for _ in range(rounds):
        probabilities = _update_probabilities(log, probabilities)
    satisfied_endings = _estimate_satisfied_endings(log, probabilities)
    satisfied_visits = _estimate_satisfied_visits(log, satisfied_endings)
    satisfaction = _average_by_document(log.visits.documents, satisfied_visits, n_pairs)
    return ClickModel(log.scores(probabilities.attraction), log.scores(satisfaction), probabilities.examination)


class _ShownResult(NamedTuple):
    """A result that was shown, and that the reader may have looked at between two clicks or after the last one."""

    document: int  # number of the pair of query and document
    last_rank: int  # rank of the click before; 0 if there was none
    rank: int
    is_opened: bool
    ending: int = -1  # number of the session's ending if it would have been looked at after the last click


class _Visit(NamedTuple):
    """A document that was opened."""

    document: int  # number of the pair of query and document
    seconds: float  # nan if unknown
    ending: int  # number of the session's ending if this was the last click, else -1


class _ShownResults(NamedTuple):
    """The results shown in all sessions as arrays, (shown results,) each; see `_ShownResult`."""

    documents: Integers
    last_ranks: Integers
    ranks: Integers
    is_opened: npt.NDArray[np.bool_]
    endings: Integers

    @classmethod
    def gather(cls, results: Sequence[_ShownResult]) -> _ShownResults:
        """Make arrays of shown results."""
        documents, last_ranks, ranks, is_opened, endings = np.array(results, np.int64).T
        return cls(documents, last_ranks, ranks, is_opened.astype(bool), endings)


class _Visits(NamedTuple):
    """The visits of all sessions as arrays, (visits,) each; see `_Visit`."""

    documents: Integers
    endings: Integers
    sufficient_time: Doubles  # probability that the visit was long enough to satisfy

    @classmethod
    def gather(cls, visits: Sequence[_Visit], patience: float) -> _Visits:
        """Make arrays of visits.

        :param patience: in seconds, see `tacm`
        """
        documents, seconds, endings = np.array(visits, np.float64).reshape(-1, len(_Visit._fields)).T
        sufficient_time = _estimate_sufficient_time(seconds, patience)
        return cls(documents.astype(np.int64), endings.astype(np.int64), sufficient_time)


class _FlatLog(NamedTuple):
    """All sessions of a log as flat arrays. Every session with a click has one ending."""

    numbers: Mapping[tuple[str, str], int]  # (query, document id) -> number of the pair
    results: _ShownResults
    visits: _Visits
    n_endings: int

    @property
    def n_ranks(self) -> int:
        """The lowest rank of a result and one more, as ranks count from 1 and rank 0 stands for no click."""
        return int(self.results.ranks.max()) + 1

    def scores(self, values: Doubles) -> Scores:
        """Arrange a value for each pair of query and document as query -> document id -> value."""
        scores_by_query: Scores = {}
        for (query, doc_id), number in sorted(self.numbers.items()):
            scores_by_query.setdefault(query, {})[doc_id] = float(values[number])
        return scores_by_query


class _Probabilities(NamedTuple):
    """The probabilities during estimation."""

    attraction: Doubles  # (pairs of query and document,)
    power: Doubles  # (pairs,) that a document satisfies a reader who stays long enough
    examination: Doubles  # (ranks + 1, ranks + 1) as in ClickModel


def _flatten_sessions(sessions: Iterable[Session], patience: float) -> _FlatLog:
    """List all shown results and visits of all sessions.

    The ending of a session is what follows its last click: the reader was satisfied, or looked at the results below.
    The endings are numbered, and -1 stands for none.

    :param patience: in seconds, see `tacm`
    :raises InputError: if a session does not say what was shown, or there is none
    """
    numbers: dict[tuple[str, str], int] = {}
    shown_results: list[_ShownResult] = []
    visits: list[_Visit] = []
    n_endings = 0
    for session in sessions:
        if not session.results:
            raise InputError(f"a session for {session.query!r} does not say what was shown: use dctr, not TACM")
        documents = [numbers.setdefault((session.query, doc_id), len(numbers)) for doc_id in session.results]
        clicks = _order_clicks(session)
        ending = n_endings if clicks else -1
        shown_results += _list_shown_results(documents, [rank for rank, _ in clicks], ending)
        visits += _list_visits(documents, clicks, ending)
        if clicks:
            n_endings += 1
    if not shown_results:
        raise InputError("the log has no session with results: nothing to learn from")
    return _FlatLog(numbers, _ShownResults.gather(shown_results), _Visits.gather(visits, patience), n_endings)


def _list_visits(documents: Sequence[int], clicks: Sequence[tuple[int, Click]], ending: int) -> list[_Visit]:
    """List the documents that were opened in one session.

    :param documents: number of the document at each rank
    :param clicks: ranks from 1 and clicks, in their order
    :param ending: number of the session's ending, which the last visit gets; the others get -1
    """
    visits = []
    for position, (rank, click) in enumerate(clicks, 1):
        seconds = math.nan if click.dwell is None else click.dwell
        is_last = position == len(clicks)
        visits.append(_Visit(documents[rank - 1], seconds, ending if is_last else -1))
    return visits


def _list_shown_results(documents: Sequence[int], clicked_ranks: Sequence[int], ending: int) -> list[_ShownResult]:
    """List the results that the reader of one session may have looked at.

    On the way from one click to the next, up or down, these are the results between them that were not opened before;
    after the last click, those below the lowest click.

    :param documents: number of the document at each rank
    :param clicked_ranks: ranks from 1 in the order of the clicks
    :param ending: number of the session's ending, which the results below the last click get
    """
    shown_results: list[_ShownResult] = []
    opened: set[int] = set()
    last_rank = 0
    for next_rank in clicked_ranks:
        direction = 1 if next_rank > last_rank else -1  # downwards or up
        for rank in range(last_rank + direction, next_rank, direction):  # the ranks between the two clicks
            if rank not in opened:
                shown_results.append(_ShownResult(documents[rank - 1], last_rank, rank, is_opened=False))
        shown_results.append(_ShownResult(documents[next_rank - 1], last_rank, next_rank, is_opened=True))
        opened.add(next_rank)
        last_rank = next_rank
    lowest_click = max(opened, default=0)
    for rank in range(lowest_click + 1, len(documents) + 1):
        shown_results.append(_ShownResult(documents[rank - 1], last_rank, rank, is_opened=False, ending=ending))
    return shown_results


def _estimate_satisfied_endings(log: _FlatLog, probabilities: _Probabilities) -> Doubles:
    """Estimate how likely each session ended because its last click satisfied the reader: (endings,).

    The alternative is that the reader looked on and found no later result attractive.

    :param log: all sessions; those with a click have an ending
    :param probabilities: as they are estimated so far
    """
    satisfied = _predict_satisfying_endings(log, probabilities)
    looked_on = (1 - satisfied) * _predict_silent_endings(log, probabilities)
    return np.asarray(satisfied / (satisfied + looked_on))


def _predict_satisfying_endings(log: _FlatLog, probabilities: _Probabilities) -> Doubles:
    """Return the probability that the last visit of each session satisfies the reader: (endings,)."""
    visits = log.visits
    is_last = visits.endings >= 0
    satisfying = probabilities.power[visits.documents] * visits.sufficient_time  # (visits,)
    satisfied = np.zeros(log.n_endings)
    satisfied[visits.endings[is_last]] = satisfying[is_last]
    return satisfied


def _predict_silent_endings(log: _FlatLog, probabilities: _Probabilities) -> Doubles:
    """Return the probability that a reader who looks on after the last click opens none of the results: (endings,)."""
    results = log.results
    is_trailing = results.endings >= 0
    examination = probabilities.examination[results.last_ranks, results.ranks]  # (shown results,)
    not_opened = 1 - probabilities.attraction[results.documents] * examination
    log_silence = np.zeros(log.n_endings)
    np.add.at(log_silence, results.endings[is_trailing], np.log(not_opened[is_trailing]))
    return np.exp(log_silence)


def _estimate_satisfied_visits(log: _FlatLog, satisfied_endings: Doubles) -> Doubles:
    """Estimate how likely each visit satisfied the reader, (visits,); one that was followed by another did not."""
    is_last = log.visits.endings >= 0
    satisfied = np.zeros(len(is_last))
    satisfied[is_last] = satisfied_endings[log.visits.endings[is_last]]
    return satisfied


def _update_probabilities(log: _FlatLog, probabilities: _Probabilities) -> _Probabilities:
    """Do one round of expectation maximisation."""
    satisfied_endings = _estimate_satisfied_endings(log, probabilities)
    is_trailing = log.results.endings >= 0
    looked_on = np.ones(len(is_trailing))  # (shown results,) how likely the reader had not stopped before this result
    looked_on[is_trailing] = 1 - satisfied_endings[log.results.endings[is_trailing]]
    attraction, examination = _update_attraction_and_examination(log, probabilities, looked_on)
    return _Probabilities(attraction, _update_power(log, probabilities, satisfied_endings), examination)


def _update_attraction_and_examination(
    log: _FlatLog, probabilities: _Probabilities, looked_on: Doubles
) -> tuple[Doubles, Doubles]:
    """Return new probabilities of attraction, (pairs,), and of examination, (ranks + 1, ranks + 1).

    Attraction is averaged over all results of a pair of query and document, examination over all results of a rank and
    the rank of the last click.

    :param log: all sessions
    :param probabilities: the probabilities of the round before
    :param looked_on: (shown results,) how likely the reader had not stopped before the result
    """
    results, n_ranks = log.results, log.n_ranks
    attracted, examined = _estimate_attracted_and_examined(results, probabilities, looked_on)
    attraction = _average_by_document(results.documents, attracted, len(log.numbers))
    rank_pairs = results.last_ranks * n_ranks + results.ranks
    examination = _estimate_rates(rank_pairs, examined, looked_on, n_ranks * n_ranks)
    return attraction, examination.reshape(n_ranks, n_ranks)


def _estimate_attracted_and_examined(
    results: _ShownResults, probabilities: _Probabilities, looked_on: Doubles
) -> tuple[Doubles, Doubles]:
    """Estimate how likely each shown result attracted the reader, and how likely it was examined.

    A result that was opened was examined and attracted the reader. One that was not opened was examined and did not
    attract, or was not examined, which says nothing of its attraction; Bayes' rule gives the probability of either.

    :param results: all results that were shown
    :param probabilities: the probabilities of the round before
    :param looked_on: (shown results,) how likely the reader had not stopped before the result
    :return: the two probabilities, (shown results,) each
    """
    attraction = probabilities.attraction[results.documents]  # (shown results,) before looking at the click
    examination = probabilities.examination[results.last_ranks, results.ranks]  # (shown results,) likewise
    not_opened = 1 - attraction * examination
    attracted_unopened = looked_on * attraction * (1 - examination) / not_opened + (1 - looked_on) * attraction
    examined_unopened = looked_on * examination * (1 - attraction) / not_opened
    attracted = np.where(results.is_opened, 1.0, attracted_unopened)
    examined = np.where(results.is_opened, 1.0, examined_unopened)
    return attracted, examined


def _update_power(log: _FlatLog, probabilities: _Probabilities, satisfied_endings: Doubles) -> Doubles:
    """Return new probabilities that a document satisfies a reader who stays long enough: (pairs,).

    A satisfied reader met a document with the power to satisfy and stayed long enough; one who looked on did not.
    """
    power = probabilities.power[log.visits.documents]  # (visits,) how likely the document can satisfy
    sufficient_time = log.visits.sufficient_time  # (visits,) how likely the visit was long enough
    satisfied = _estimate_satisfied_visits(log, satisfied_endings)
    not_satisfying = np.maximum(1 - power * sufficient_time, 1e-12)
    powerful = satisfied + (1 - satisfied) * power * (1 - sufficient_time) / not_satisfying
    return _average_by_document(log.visits.documents, powerful, len(log.numbers))


def _average_by_document(documents: Integers, probabilities: Doubles, n_documents: int) -> Doubles:
    """Average probabilities by document: (n_documents,).

    A document of which little is known gets about the overall average rather than 1/2, so that a result that was
    hardly ever looked at does not beat one that was looked at and not opened.

    :param documents: the document that each probability belongs to
    """
    average = float(probabilities.mean()) if len(probabilities) else INITIAL_PROBABILITY
    return _estimate_rates(documents, probabilities, np.ones(len(probabilities)), n_documents, prior_rate=average)


def _estimate_rates(
    groups: Integers, hits: Doubles, trials: Doubles, n_groups: int, *, prior_rate: float = INITIAL_PROBABILITY
) -> Doubles:
    """Divide the hits of each group by its trials, (n_groups,), with PRIOR_TRIALS more trials of rate `prior_rate`."""
    prior_hits = prior_rate * PRIOR_TRIALS
    total_hits = np.bincount(groups, hits, n_groups) + prior_hits
    return np.asarray(total_hits / (np.bincount(groups, trials, n_groups) + PRIOR_TRIALS))


def _order_clicks(session: Session) -> list[tuple[int, Click]]:
    """List ranks and clicks in the order of the clicks; a document opened again counts when it was opened first."""
    rank_by_id = {doc_id: rank for rank, doc_id in enumerate(session.results, 1)}
    first_click: dict[str, Click] = {}
    for click in session.clicks:
        first_click.setdefault(click.document, click)
    return [(rank_by_id[doc_id], click) for doc_id, click in first_click.items() if doc_id in rank_by_id]


def _estimate_sufficient_time(seconds: Doubles, patience: float) -> Doubles:
    """Estimate how likely each visit was long enough to satisfy, (visits,); unknown times get the average."""
    satisfied = 1 - np.exp(-seconds / patience)
    # Without any times every visit counts as long enough.
    average = float(np.nanmean(satisfied)) if np.isfinite(satisfied).any() else 1.0
    return np.asarray(np.nan_to_num(satisfied, nan=average))
