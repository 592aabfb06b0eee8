"""What clicks say without a model of readers: click-through rates, single and first clicks, how often queries are asked
(the head, torso and tail of Xiong et al., SIGIR 2017, section 5, and of Liu's thesis, chapter 6).

DCTR: Chuklin, Markov and de Rijke, "Click Models for Web Search", 2015, sec. 3.2.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TypeAlias

from paragloss.errors import InputError
from paragloss.lab.clicks.log_files import Session

#: query as asked -> document -> how relevant it seems
Scores: TypeAlias = dict[str, dict[str, float]]
#: Every rate starts at one success in two trials (a Beta(1, 1) prior), so that one click is not certainty.
PRIOR = (1.0, 2.0)


def dctr(sessions: Iterable[Session]) -> Scores:
    """Compute how often a document was opened where it was shown: (clicks + 1) / (shown + 2).

    A session that does not say what was shown is taken to have shown whatever such sessions of its query opened.
    """
    times_shown, times_clicked = defaultdict[str, Counter[str]](Counter), defaultdict[str, Counter[str]](Counter)
    unlisted_sessions, opened_documents = Counter[str](), defaultdict[str, set[str]](set)
    for session in sessions:
        times_shown[session.query].update(set(session.results))
        documents = {click.document for click in session.clicks}
        times_clicked[session.query].update(documents)
        if not session.results:
            unlisted_sessions[session.query] += 1
            opened_documents[session.query] |= documents
    for query, documents in opened_documents.items():
        times_shown[query].update(dict.fromkeys(documents, unlisted_sessions[query]))
    hits, trials = PRIOR
    return {
        query: {d: (times_clicked[query][d] + hits) / (n + trials) for d, n in sorted(counts.items())}
        for query, counts in times_shown.items()
    }


def raw(sessions: Iterable[Session]) -> Scores:
    """Count the sessions of a query in which a document was the only one opened; other sessions are ignored."""
    return _counted((s.query, s.clicks[0].document) for s in sessions if len({c.document for c in s.clicks}) == 1)


def first_clicks(sessions: Iterable[Session]) -> Scores:
    """Count the sessions of a query in which a document was opened first."""
    return _counted((session.query, session.clicks[0].document) for session in sessions if session.clicks)


def select_by_frequency(sessions: Iterable[Session], *, minimum: int = 1, below: int | None = None) -> list[Session]:
    """Select the sessions whose query is asked at least `minimum` times in the log, and fewer than `below` times."""
    all_sessions = list(sessions)
    times = Counter(session.query for session in all_sessions)
    selected = [s for s in all_sessions if times[s.query] >= minimum and (below is None or times[s.query] < below)]
    if all_sessions and not selected:
        expected = f"{minimum} times or more" + ("" if below is None else f" and fewer than {below}")
        raise InputError(f"no query is asked {expected}; the commonest is asked {max(times.values())} times")
    return selected


def _counted(choices: Iterable[tuple[str, str]]) -> Scores:
    counts: Scores = {}
    for query, document in choices:
        query_counts = counts.setdefault(query, {})
        query_counts[document] = query_counts.get(document, 0.0) + 1.0
    return counts
