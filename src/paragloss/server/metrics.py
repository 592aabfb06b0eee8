"""Counts and durations for Prometheus: requests, searches, documents written."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

_METHODS = frozenset(("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"))


class Metrics:
    """Safe to use from any thread."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = here = CollectorRegistry()
        about = ["method", "route", "status"]
        self._requests = Counter("paragloss_requests", "Requests answered.", about, registry=here)
        self._seconds = Histogram("paragloss_request_seconds", "How long requests took.", ["route"], registry=here)
        self._written = Counter(
            "paragloss_documents_written", "Documents added, deleted or refused.", ["collection", "kind"], registry=here
        )
        self._refused = Counter(
            "paragloss_refused", "Requests refused before they were looked at.", ["reason"], registry=here
        )
        self._documents = Gauge("paragloss_documents", "Documents in a collection.", ["collection"], registry=here)
        self._waiting = Gauge(
            "paragloss_searches_waiting", "Searches running or waiting for their turn.", registry=here
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method if method in _METHODS else "other", route, status).inc()
        self._seconds.labels(route).observe(seconds)

    def written(self, collection: str, kind: str, count: int) -> None:
        self._written.labels(collection, kind).inc(count)

    def refused(self, reason: str) -> None:
        self._refused.labels(reason).inc()

    def text(self, documents: Mapping[str, int], waiting: int) -> bytes:
        """Everything, as a scraper reads it."""
        for name, count in documents.items():
            self._documents.labels(name).set(count)
        self._waiting.set(waiting)
        return generate_latest(self._registry)
