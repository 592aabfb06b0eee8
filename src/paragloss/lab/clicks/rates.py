"""Estimate relevance by counting clicks: click-through rates, single clicks, first clicks; select queries by frequency.

The frequencies are the head, torso and tail of Xiong et al., SIGIR 2017, section 5, and of Liu's thesis, chapter 6.

DCTR: Chuklin, Markov and de Rijke, "Click Models for Web Search", 2015, sec. 3.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

from paragloss.errors import InputError
from paragloss.lab.clicks.log_files import Session

#: text of the query -> document id -> estimated relevance
Scores: TypeAlias = dict[str, dict[str, float]]
#: Clicks and views that every rate starts from (a Beta(1, 1) prior), so that a single click does not give a rate of 1.
PRIOR_CLICKS, PRIOR_VIEWS = 1.0, 2.0


def dctr(sessions: Iterable[Session]) -> Scores:
    """Compute the click-through rate of each document and query: (clicks + 1) / (times shown + 2).

    A session without a list of results counts as if it had shown all documents that such sessions of its query opened.
    """
    counts_by_query: dict[str, _QueryCounts] = {}
    for session in sessions:
        counts_by_query.setdefault(session.query, _QueryCounts()).add(session)
    return {query: counts.compute_rates() for query, counts in counts_by_query.items()}


class _QueryCounts:
    """Counts of the documents that the sessions of one query showed and opened."""

    def __init__(self) -> None:
        self._times_shown: Counter[str] = Counter()
        self._times_clicked: Counter[str] = Counter()
        self._unlisted_sessions = 0  # those without a list of results
        self._unlisted_documents: set[str] = set()  # that such sessions opened

    def add(self, session: Session) -> None:
        """Count a session."""
        clicked = {click.document for click in session.clicks}
        self._times_clicked.update(clicked)
        self._times_shown.update(set(session.results))
        if not session.results:
            self._unlisted_sessions += 1
            self._unlisted_documents |= clicked

    def compute_rates(self) -> dict[str, float]:
        """Return the click-through rate of each document that was shown or opened, by id."""
        times_shown = self._times_shown.copy()
        for doc_id in self._unlisted_documents:
            times_shown[doc_id] += self._unlisted_sessions
        rates = {}
        for doc_id, views in sorted(times_shown.items()):
            rates[doc_id] = (self._times_clicked[doc_id] + PRIOR_CLICKS) / (views + PRIOR_VIEWS)
        return rates


def raw(sessions: Iterable[Session]) -> Scores:
    """Count the sessions of a query in which a document was the only one opened; other sessions are ignored."""
    counts: Scores = {}
    for session in sessions:
        clicked = {click.document for click in session.clicks}
        if len(clicked) == 1:
            count_by_document = counts.setdefault(session.query, {})
            doc_id = clicked.pop()
            count_by_document[doc_id] = count_by_document.get(doc_id, 0.0) + 1.0
    return counts


def select_by_frequency(sessions: Iterable[Session], *, minimum: int = 1, below: int | None = None) -> list[Session]:
    """Select the sessions whose query is asked at least `minimum` times in the log, and fewer than `below` times.

    :param sessions: all sessions of the log
    :param minimum: how often a query is asked at least
    :param below: how often it is asked less than; None for no bound
    :raises InputError: if there are sessions, but none is selected
    """
    all_sessions = list(sessions)
    frequency_by_query = Counter(session.query for session in all_sessions)
    max_frequency = max(frequency_by_query.values(), default=0)
    bound = max_frequency + 1 if below is None else below
    selected = [session for session in all_sessions if minimum <= frequency_by_query[session.query] < bound]
    if all_sessions and not selected:
        expected = f"{minimum} times or more"
        if below is not None:
            expected += f" and fewer than {below}"
        raise InputError(f"no query is asked {expected}; the commonest is asked {max_frequency} times")
    return selected
