"""Click logs made of readers whose habits are known: to try click models on, and where no real log can be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paragloss.lab.clicks.log_files import Click, Session


def simulate(
    rankings: Mapping[str, Sequence[str]],
    attraction: Mapping[str, Mapping[str, float]],
    satisfaction: Mapping[str, Mapping[str, float]],
    *,
    sessions: int | Mapping[str, int] = 100,
    lang: str = "",
    depth: float = 0.8,
    swaps: int = 1,
    seed: int = 0,
) -> list[Session]:
    """Simulate readers of the given rankings, `sessions` for each query (or as many as are given for it).

    Each reader is shown a query's ranking with `swaps` random neighbours exchanged, goes down it, and gives up at each
    place with chance 1 - `depth`. What attracts is opened: for about a minute if it satisfies, which ends the search,
    otherwise for about ten seconds.
    """
    rng = np.random.default_rng(seed)
    log = []
    for query, ranking in rankings.items():
        for _ in range(sessions if isinstance(sessions, int) else sessions[query]):
            ranking_shown = list(ranking)
            for at in rng.integers(0, max(len(ranking_shown) - 1, 1), swaps if len(ranking_shown) > 1 else 0):
                ranking_shown[at], ranking_shown[at + 1] = ranking_shown[at + 1], ranking_shown[at]
            clicks = []
            for rank, document in enumerate(ranking_shown, 1):
                if rng.random() < attraction[query].get(document, 0.0):
                    pleased = rng.random() < satisfaction[query].get(document, 0.0)
                    clicks.append(Click(document, rank, round(float(rng.gamma(4.0, 15.0 if pleased else 2.5)), 1)))
                    if pleased:
                        break
                if rng.random() > depth:
                    break
            log.append(Session(query, tuple(ranking_shown), tuple(clicks), lang))
    return log
