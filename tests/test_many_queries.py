"""Many queries at once: several processes give the rankings that one gives, in the order of the queries."""

from __future__ import annotations

import pytest

from paragloss import demo, processes
from paragloss.collection import bulk_search
from paragloss.errors import StoreError
from paragloss.types import Query


@pytest.fixture
def small(monkeypatch):
    """Batches so small, and work so dear, that other processes are called for a few queries."""
    monkeypatch.setattr(bulk_search, "BATCH_SIZE", 20)
    monkeypatch.setattr(bulk_search, "_MIN_SECONDS_FOR_WORKERS", 0.0)


@pytest.fixture(scope="module")
def queries():
    return demo.queries()[0][:70]


def test_two_processes_give_what_one_gives(demo_collection, queries, small):
    options = {"k": 7, "to": ["de", "hi", "en"], "where": None, "pipeline": None}
    by_one_process = demo_collection.rank(queries, **options)
    assert sum(map(bool, by_one_process)) > 64
    batches = list(demo_collection.rank_batches(queries, workers=2, **options))
    assert [len(batch) for batch in batches] == [20] * 3 + [10]
    assert [ranking for batch in batches for ranking in batch] == by_one_process


def test_little_work_is_done_alone(demo_collection, queries, monkeypatch):
    monkeypatch.setattr(bulk_search, "_MIN_SECONDS_FOR_WORKERS", 600.0)  # however busy the machine is
    monkeypatch.setattr(processes, "run_in_order", None)
    assert sum(map(len, demo_collection.rank_batches(queries, k=3, workers=2))) == 70
    assert list(demo_collection.rank_batches([], k=3, workers=2)) == []


def test_one_worker_needs_no_other(demo_collection, queries, small, monkeypatch):
    monkeypatch.setattr(processes, "run_in_order", None)
    assert sum(map(len, demo_collection.rank_batches(queries, k=3, workers=1))) == 70


def test_what_was_added_and_not_yet_written_down_is_found_by_all(demo_collection, queries, small):
    demo_collection.index([next(iter(demo.documents()))._replace(id="new", text="zyxwv lantern", lang="en")])
    queries_asked = [*queries, Query("last", "zyxwv", "en")]
    *_, last = demo_collection.rank_batches(queries_asked, k=3, to=["en"], workers=2)
    assert [hit.id for hit in last[-1]] == ["new"]


def test_a_process_that_dies_is_told_of(demo_collection, queries, small, monkeypatch):
    monkeypatch.setattr(bulk_search, "_start", _die)
    with pytest.raises(StoreError, match="--workers 1"):
        list(demo_collection.rank_batches(queries, k=3, workers=2))


def _die(*_):
    import os

    os._exit(1)
