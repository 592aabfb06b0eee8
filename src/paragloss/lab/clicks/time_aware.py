"""A time-aware click model: who reads a page for long was probably satisfied, and looked no further.

Liu, Xie, Wang, Nie, Zhang and Ma, "Time-aware click model", TOIS 2016; docs/understand/papers/bilingual-knrm.md says
what ours does otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from paragloss.errors import InputError
from paragloss.lab.clicks.log_files import Click, Session
from paragloss.lab.clicks.rates import Scores
from paragloss.types import Integers

Doubles: TypeAlias = npt.NDArray[np.float64]
#: A rate starts from so many trials made up.
STRENGTH = 2.0


class ClickModel(NamedTuple):
    """What TACM found: how often each document is opened when seen, how often it then ends the search satisfied, and
    how likely a place is looked at."""

    attraction: Scores
    satisfaction: Scores
    examination: Doubles  # (last click's place from 0 = none, place): chance to be looked at

    def relevance(self) -> Scores:
        """Multiply attraction and satisfaction: a relevant document is opened when it is seen, and ends the search."""
        return {q: {d: a * self.satisfaction[q][d] for d, a in ds.items()} for q, ds in self.attraction.items()}


def tacm(sessions: Iterable[Session], *, rounds: int = 30, patience: float = 30.0) -> ClickModel:
    """Fit the time-aware click model by expectation maximisation.

    A reader goes from click to click and looks at what lies between with a chance that depends on the places; what
    is seen is opened as often as it attracts. After a click of t seconds the search ends satisfied with chance
    s (1 - exp(-t / patience)); otherwise the reader looks on. A click without a time counts as an average one.
    """
    steps = _Steps(sessions, patience)
    attraction, power = np.full(len(steps.names), 0.5), np.full(len(steps.names), 0.5)
    examination = np.full((steps.max_rank + 1, steps.max_rank + 1), 0.5)
    for _ in range(rounds):
        attraction, power, examination = _round(steps, attraction, power, examination)
    pleased = _pleased(steps, _ended(steps, attraction, power, examination))
    satisfaction = _average(steps.visited, pleased, len(steps.names))
    return ClickModel(steps.scores(attraction), steps.scores(satisfaction), examination)


class _Steps:
    """Sessions as flat arrays. A look is a result that may have been seen: behind the last click, or on the way."""

    def __init__(self, sessions: Iterable[Session], patience: float) -> None:
        self.names: dict[tuple[str, str], int] = {}
        looks: list[tuple[int, int, int, bool, int]] = []  # document, from, place, opened, ending or -1
        visits: list[tuple[int, float, int]] = []  # document opened, seconds or nan, ending or -1
        endings = 0
        for session in sessions:
            if not session.results:
                raise InputError(f"a session for {session.query!r} does not say what was shown: use dctr, not TACM")
            ids = [self.names.setdefault((session.query, d), len(self.names)) for d in session.results]
            clicks = _in_order(session)
            opened: set[int] = set()
            for last_rank, next_rank in pairwise([0, *(rank for rank, _ in clicks)]):
                between = (
                    range(last_rank + 1, next_rank) if next_rank > last_rank else range(last_rank - 1, next_rank, -1)
                )
                looks += [(ids[i - 1], last_rank, i, False, -1) for i in between if i not in opened]
                looks.append((ids[next_rank - 1], last_rank, next_rank, True, -1))
                opened.add(next_rank)
            last = clicks[-1][0] if clicks else 0
            ending = endings if clicks else -1
            endings += bool(clicks)
            looks += [(ids[i - 1], last, i, False, ending) for i in range(max(opened, default=0) + 1, len(ids) + 1)]
            for number, (rank, click) in enumerate(clicks, 1):
                seconds = math.nan if click.dwell is None else click.dwell
                visits.append((ids[rank - 1], seconds, ending if number == len(clicks) else -1))
        if not looks:
            raise InputError("the log has no session with results: nothing to learn from")
        table = np.array(looks, np.int64)
        self.document, self.start, self.rank = table[:, 0], table[:, 1], table[:, 2]
        self.opened, self.ending = table[:, 3].astype(bool), table[:, 4]
        self.endings = endings
        self.visited = np.array([v[0] for v in visits], np.int64)
        self.visit_ending = np.array([v[2] for v in visits], np.int64)
        self.sufficient_time = _estimate_sufficient_time(np.array([v[1] for v in visits], np.float64), patience)
        self.max_rank = int(self.rank.max())

    def scores(self, values: Doubles) -> Scores:
        scores_by_query: Scores = {}
        for (query, document), i in sorted(self.names.items()):
            scores_by_query.setdefault(query, {})[document] = float(values[i])
        return scores_by_query


def _ended(steps: _Steps, attraction: Doubles, power: Doubles, examination: Doubles) -> Doubles:
    """Estimate how likely each session ended because its last click satisfied; later results were then not seen."""
    last, trailing = steps.visit_ending >= 0, steps.ending >= 0
    chance = np.zeros(steps.endings)
    chance[steps.visit_ending[last]] = (power[steps.visited] * steps.sufficient_time)[last]
    passed = 1 - attraction[steps.document] * examination[steps.start, steps.rank]
    silence = np.zeros(steps.endings)
    np.add.at(silence, steps.ending[trailing], np.log(passed[trailing]))
    return np.asarray(chance / (chance + (1 - chance) * np.exp(silence)))


def _pleased(steps: _Steps, ended: Doubles) -> Doubles:
    """Estimate how likely each visit satisfied; one that was followed by another did not."""
    pleased = np.zeros(len(steps.visited))
    last = steps.visit_ending >= 0
    pleased[last] = ended[steps.visit_ending[last]]
    return pleased


def _round(steps: _Steps, attraction: Doubles, power: Doubles, examination: Doubles) -> tuple[Doubles, ...]:
    """Do one round of expectation and maximisation."""
    ended = _ended(steps, attraction, power, examination)
    on = np.ones(len(steps.document))  # how likely the reader still looked on when this result came
    trailing = steps.ending >= 0
    on[trailing] = 1 - ended[steps.ending[trailing]]
    a, e = attraction[steps.document], examination[steps.start, steps.rank]
    # CandidateRows at and not opened, so not attractive; or not looked at, which says nothing of attraction.
    liked = np.where(steps.opened, 1.0, on * a * (1 - e) / (1 - a * e) + (1 - on) * a)
    examined_chance = np.where(steps.opened, 1.0, on * e * (1 - a) / (1 - a * e))
    width = steps.max_rank + 1
    examined = _rate(steps.start * width + steps.rank, examined_chance, on, width * width).reshape(width, width)
    # Satisfaction takes the power to satisfy and enough time; a search that goes on lacked one of the two.
    s, f, pleased = power[steps.visited], steps.sufficient_time, _pleased(steps, ended)
    able = pleased + (1 - pleased) * s * (1 - f) / np.maximum(1 - s * f, 1e-12)
    return _average(steps.document, liked, len(attraction)), _average(steps.visited, able, len(power)), examined


def _average(owners: Integers, chances: Doubles, size: int) -> Doubles:
    """Per document. One of which little is known is taken for an ordinary one, not for one of 1/2: a result that was
    hardly ever looked at must not beat one that was looked at and passed over."""
    ordinary = float(chances.mean()) if len(chances) else 0.5
    return _rate(owners, chances, np.ones(len(chances)), size, towards=ordinary)


def _rate(owners: Integers, hits: Doubles, trials: Doubles, size: int, *, towards: float = 0.5) -> Doubles:
    """Compute hits per trial, with two more trials of rate `towards`."""
    prior = towards * STRENGTH
    return np.asarray((np.bincount(owners, hits, size) + prior) / (np.bincount(owners, trials, size) + STRENGTH))


def _in_order(session: Session) -> list[tuple[int, Click]]:
    """List ranks and clicks in the order of the clicks; a document opened again counts when it was opened first."""
    rank_by_id = {document: rank for rank, document in enumerate(session.results, 1)}
    first_click: dict[str, Click] = {}
    for click in session.clicks:
        first_click.setdefault(click.document, click)
    return [(rank_by_id[d], click) for d, click in first_click.items() if d in rank_by_id]


def _estimate_sufficient_time(seconds: Doubles, patience: float) -> Doubles:
    satisfied_chance = 1 - np.exp(-seconds / patience)
    # With no times at all the model is left with its satisfaction alone.
    average = float(np.nanmean(satisfied_chance)) if np.isfinite(satisfied_chance).any() else 1.0
    return np.asarray(np.nan_to_num(satisfied_chance, nan=average))
