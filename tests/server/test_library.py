"""The open collections: what is read ahead while nobody searches."""

from __future__ import annotations

import time

import pytest

from paragloss import demo
from paragloss.collection import Collection
from paragloss.server.library import Library


@pytest.fixture
def library(tmp_path):
    with Collection.create(str(tmp_path / "shelf")) as engine:
        engine.index(demo.documents())
    opened = Library.open([str(tmp_path / "shelf")])
    yield opened
    opened.close()


def read(library, monkeypatch):
    """How many documents each step of reading ahead had read."""
    steps = []
    before = Collection.read_ahead

    def told(engine):
        for number in before(engine):
            steps.append(number)
            yield number

    monkeypatch.setattr(Collection, "read_ahead", told)
    library.start_maintenance()
    return steps


def test_everything_is_read_ahead(library, monkeypatch):
    steps, count = read(library, monkeypatch), library[None].count()
    until = time.monotonic() + 30
    while (not steps or steps[-1] < count) and time.monotonic() < until:
        time.sleep(0.01)
    assert steps[-1] == count


def test_whoever_searches_goes_first_and_a_library_that_closes_is_left_alone(library, monkeypatch):
    monkeypatch.setattr("paragloss.server.library.PAUSE_WHILE_SEARCHING", 60.0)
    monkeypatch.setattr(Library, "waiting", 1)  # somebody waits for an answer
    steps = read(library, monkeypatch)
    until = time.monotonic() + 30
    while not steps and time.monotonic() < until:
        time.sleep(0.01)
    started = time.monotonic()
    library.close()
    assert time.monotonic() - started < 30
    assert len(steps) == 1


@pytest.mark.parametrize("limit", ["_MANY", "_LARGE"])
def test_what_was_added_gets_its_graph_beside_searches(library, monkeypatch, limit):
    monkeypatch.setattr("paragloss.server.library.MAINTENANCE_INTERVAL", 0.05)
    monkeypatch.setattr(f"paragloss.collection.writer.{limit}", 10)
    store, until = library[None].state.store, time.monotonic() + 60
    library.start_maintenance()
    while store.read_blob("graph") is None and time.monotonic() < until:
        assert library[None].search("lantern", lang="en", to=["en"])
    assert int(store.read_blob("graph")) == library[None].count()
