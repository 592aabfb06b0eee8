"""What clicks say without a model of readers: click-through rates, single and first clicks.

DCTR: Chuklin, Markov and de Rijke, "Click Models for Web Search", 2015, sec. 3.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from paragloss.lab.clicks.log_files import Session

#: query as asked -> document -> how relevant it seems
Scores: TypeAlias = dict[str, dict[str, float]]
#: Every rate starts at one success in two trials (a Beta(1, 1) prior), so that one click is not certainty.
PRIOR = (1.0, 2.0)


def dctr(sessions: Iterable[Session]) -> Scores:
    """How often a document was opened where it was shown: (clicks + 1) / (shown + 2).

    A session that does not say what was shown is taken to have shown whatever such sessions of its query opened.
    """
    shown: dict[str, dict[str, int]] = {}
    clicked: dict[str, dict[str, int]] = {}
    blind: dict[str, int] = {}
    opened: dict[str, set[str]] = {}
    for session in sessions:
        _count(shown.setdefault(session.query, {}), set(session.shown))
        documents = {click.document for click in session.clicks}
        _count(clicked.setdefault(session.query, {}), documents)
        if not session.shown:
            blind[session.query] = blind.get(session.query, 0) + 1
            opened.setdefault(session.query, set()).update(documents)
    for query, documents in opened.items():
        for document in documents:
            shown[query][document] = shown[query].get(document, 0) + blind[query]
    hits, trials = PRIOR
    return {
        query: {d: (clicked[query].get(d, 0) + hits) / (n + trials) for d, n in sorted(counts.items())}
        for query, counts in shown.items()
    }


def raw(sessions: Iterable[Session]) -> Scores:
    """In how many of a query's sessions a document was the only one opened; sessions with more clicks say nothing."""
    return _counted((s.query, s.clicks[0].document) for s in sessions if len({c.document for c in s.clicks}) == 1)


def first_clicks(sessions: Iterable[Session]) -> Scores:
    """In how many of a query's sessions a document was opened first."""
    return _counted((session.query, session.clicks[0].document) for session in sessions if session.clicks)


def _count(counts: dict[str, int], names: Iterable[str]) -> None:
    for name in names:
        counts[name] = counts.get(name, 0) + 1


def _counted(choices: Iterable[tuple[str, str]]) -> Scores:
    counts: Scores = {}
    for query, document in choices:
        found = counts.setdefault(query, {})
        found[document] = found.get(document, 0.0) + 1.0
    return counts
