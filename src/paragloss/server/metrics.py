"""Counts and durations in Prometheus' text format: requests, searches, documents written. No dependencies."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)
        self._written: Counter[tuple[str, str]] = Counter()
        self._refused: Counter[str] = Counter()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[method, route, status] += 1
            self._buckets[route][bisect_left(_BOUNDS, seconds)] += 1
            self._seconds[route] += seconds

    def written(self, collection: str, kind: str, count: int) -> None:
        with self._lock:
            self._written[collection, kind] += count

    def refused(self, reason: str) -> None:
        with self._lock:
            self._refused[reason] += 1

    def text(self, documents: Mapping[str, int], waiting: int) -> str:
        """Everything, as a scraper reads it."""
        with self._lock:
            lines = _family("paragloss_requests_total", "counter", "Requests answered.")
            for (method, route, status), count in sorted(self._requests.items()):
                lines.append(_line("paragloss_requests_total", count, method=method, route=route, status=status))
            lines += _family("paragloss_request_seconds", "histogram", "How long requests took.")
            for route, buckets in sorted(self._buckets.items()):
                total = 0
                for bound, count in zip([*map(str, _BOUNDS), "+Inf"], buckets, strict=True):
                    total += count
                    lines.append(_line("paragloss_request_seconds_bucket", total, route=route, le=bound))
                lines.append(_line("paragloss_request_seconds_sum", round(self._seconds[route], 6), route=route))
                lines.append(_line("paragloss_request_seconds_count", total, route=route))
            lines += _family("paragloss_documents_written_total", "counter", "Documents added, deleted or refused.")
            for (collection, kind), count in sorted(self._written.items()):
                lines.append(_line("paragloss_documents_written_total", count, collection=collection, kind=kind))
            lines += _family("paragloss_refused_total", "counter", "Requests refused before they were looked at.")
            lines += [_line("paragloss_refused_total", n, reason=reason) for reason, n in sorted(self._refused.items())]
        lines += _family("paragloss_documents", "gauge", "Documents in a collection.")
        lines += [_line("paragloss_documents", count, collection=name) for name, count in documents.items()]
        lines += _family("paragloss_searches_waiting", "gauge", "Searches running or waiting for their turn.")
        lines.append(_line("paragloss_searches_waiting", waiting))
        return "\n".join(lines) + "\n"


def _family(name: str, kind: str, about: str) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]


def _line(name: str, value: float, **labels: object) -> str:
    if not labels:
        return f"{name} {value}"
    inside = ",".join(f'{key}="{_escaped(str(text))}"' for key, text in labels.items())
    return f"{name}{{{inside}}} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
