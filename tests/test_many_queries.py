"""Many queries at once: several processes give the rankings that one gives, in the order of the queries."""

from __future__ import annotations

import os

import pytest

from paragloss import demo, processes
from paragloss.collection import bulk_search
from paragloss.errors import StoreError
from paragloss.types import Document, Query


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


@pytest.mark.parametrize(("min_seconds", "workers"), [(600.0, 2), (0.0, 1)], ids=["little work", "one worker"])
def test_no_other_process_is_started_for(demo_collection, queries, small, monkeypatch, min_seconds, workers):
    monkeypatch.setattr(bulk_search, "_MIN_SECONDS_FOR_WORKERS", min_seconds)  # 600, however busy the machine is
    monkeypatch.setattr(processes, "run_in_order", None)
    assert sum(map(len, demo_collection.rank_batches(queries, k=3, workers=workers))) == 70
    assert list(demo_collection.rank_batches([], k=3, workers=workers)) == []


def test_what_was_added_and_not_yet_written_down_is_found_by_all(demo_collection, queries, small):
    demo_collection.add([Document("new", "zyxwv lantern", "en")])
    queries_asked = [*queries, Query("last", "zyxwv", "en")]
    *_, last = demo_collection.rank_batches(queries_asked, k=3, to=["en"], workers=2)
    assert [hit.id for hit in last[-1]] == ["new"]


def test_a_process_that_dies_is_told_of(demo_collection, queries, small, monkeypatch):
    monkeypatch.setattr(bulk_search, "_start", _die)
    with pytest.raises(StoreError, match="--workers 1"):
        list(demo_collection.rank_batches(queries, k=3, workers=2))


def _die(*_):
    os._exit(1)
