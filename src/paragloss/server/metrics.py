"""Counts and durations for Prometheus: requests, searches, documents written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

#: Methods that are counted by name; a client may send any word as its method.
_METHODS = frozenset(("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"))


class Metrics:
    """The metrics of one server. Safe to use from any thread."""

    def __init__(self) -> None:
        """Register the metrics, all of them at 0."""
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        gauge = partial(Gauge, registry=self._registry)
        histogram = partial(Histogram, registry=self._registry)
        self._requests = counter("paragloss_requests", "Requests answered.", ["method", "route", "status"])
        self._seconds = histogram("paragloss_request_seconds", "How long requests took.", ["route"])
        written = "Documents added, deleted or refused."
        self._written = counter("paragloss_documents_written", written, ["collection", "kind"])
        self._refused = counter("paragloss_refused", "Requests refused before they were looked at.", ["reason"])
        self._documents = gauge("paragloss_documents", "Documents in a collection.", ["collection"])
        self._waiting = gauge("paragloss_searches_waiting", "Searches running or waiting for their turn.")

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request and its duration."""
        self._requests.labels(method if method in _METHODS else "other", route, status).inc()
        self._seconds.labels(route).observe(seconds)

    def count_written(self, collection: str, kind: str, count: int) -> None:
        """Count documents that were added, deleted or refused, as `kind` says."""
        self._written.labels(collection, kind).inc(count)

    def count_refused(self, reason: str) -> None:
        """Count a request that was refused before it was looked at."""
        self._refused.labels(reason).inc()

    def format_metrics(self, documents: Mapping[str, int], waiting: int) -> bytes:
        """Return all metrics in Prometheus' text format, with the documents of each collection as they are now."""
        for name, count in documents.items():
            self._documents.labels(name).set(count)
        self._waiting.set(waiting)
        return generate_latest(self._registry)
