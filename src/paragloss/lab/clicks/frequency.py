"""How often queries are asked: the head, the torso and the tail of a log (Xiong et al., SIGIR 2017, section 5; Liu's
thesis, chapter 6), and logs without what was asked too rarely to say anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from paragloss.errors import InputError
from paragloss.lab.clicks.log_files import Session


def asked(sessions: Iterable[Session], *, least: int = 1, below: int | None = None) -> list[Session]:
    """The sessions whose query is asked at least `least` times in the log, and fewer than `below` times."""
    every = list(sessions)
    times = Counter(session.query for session in every)
    kept = [s for s in every if times[s.query] >= least and (below is None or times[s.query] < below)]
    if every and not kept:
        most = max(times.values())
        raise InputError(f"no query is asked {least} times or more{_and(below)}; the commonest is asked {most} times")
    return kept


def _and(below: int | None) -> str:
    return "" if below is None else f" and fewer than {below}"
