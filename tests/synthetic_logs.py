"""Click logs with the truth behind them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from papers.simulated_readers import simulate
from paragloss.lab.clicks import Scores
from paragloss.lab.clicks.log_files import Session


class SyntheticLog(NamedTuple):
    """A log and the truth behind it."""

    sessions: list[Session]
    attraction: Scores
    satisfaction: Scores

    @property
    def relevance(self) -> Scores:
        return {q: {d: a * self.satisfaction[q][d] for d, a in ds.items()} for q, ds in self.attraction.items()}


def synthetic_log(*, queries: int = 20, documents: int = 8, sessions: int = 200, seed: int = 0) -> SyntheticLog:
    """A log of made-up queries whose ranking has nothing to do with relevance, so that places mislead."""
    rng = np.random.default_rng(seed)
    names = {f"query {q}": [f"q{q}d{d}" for d in range(documents)] for q in range(queries)}
    attraction = {q: {d: float(rng.beta(1, 1.5)) for d in ds} for q, ds in names.items()}
    satisfaction = {q: {d: float(rng.beta(1, 1)) for d in ds} for q, ds in names.items()}
    log = simulate(names, attraction, satisfaction, sessions=sessions, swaps=3, seed=seed + 1)
    return SyntheticLog(log, attraction, satisfaction)


def write_sessions(path: Path, sessions: Iterable[Session]) -> None:
    """Write a click log in our own format."""
    lines = []
    for session in sessions:
        clicks = [{"doc": click.document, "dwell": click.dwell} for click in session.clicks]
        row = {"query": session.query, "lang": session.lang, "shown": session.results, "clicks": clicks}
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
