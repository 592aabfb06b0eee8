"""The open collections: what is read ahead while nobody searches."""

from __future__ import annotations

import time

import pytest
from collection_copies import copy_collection
from serving_process import wait_for

from paragloss.collection.upkeep import Maintenance
from paragloss.server.library import Library


@pytest.fixture
def library(plain_demo, tmp_path):
    served_library = Library.open([copy_collection(plain_demo, tmp_path / "shelf")])
    yield served_library
    served_library.close()


def record_reading_ahead(library, monkeypatch):
    """How many documents each step of reading ahead had read."""
    steps = []
    read_ahead = Maintenance.read_ahead

    def record_steps(maintenance):
        for number in read_ahead(maintenance):
            steps.append(number)
            yield number

    monkeypatch.setattr(Maintenance, "read_ahead", record_steps)
    library.start_maintenance()
    return steps


def test_all_documents_are_read_ahead(library, monkeypatch):
    steps, count = record_reading_ahead(library, monkeypatch), library[None].count()
    wait_for(lambda: steps and steps[-1] == count)


def test_reading_ahead_pauses_during_searches_and_ends_with_the_library(library, monkeypatch):
    monkeypatch.setattr("paragloss.server.library.PAUSE_WHILE_SEARCHING", 60.0)
    monkeypatch.setattr(Library, "waiting", 1)  # somebody waits for an answer
    steps = record_reading_ahead(library, monkeypatch)
    wait_for(lambda: steps)
    started = time.monotonic()
    library.close()
    assert time.monotonic() - started < 30
    assert len(steps) == 1


@pytest.mark.parametrize("limit", ["MIN_DOCS_FOR_GRAPH", "MIN_TOKENS_FOR_GRAPH"])
def test_a_graph_is_built_while_searches_are_answered(library, monkeypatch, limit):
    monkeypatch.setattr("paragloss.server.library.MAINTENANCE_INTERVAL", 0.05)
    monkeypatch.setattr(f"paragloss.collection.writer.{limit}", 10)
    store = library[None].state.store
    library.start_maintenance()
    wait_for(lambda: library[None].search("lantern", lang="en", to=["en"]) and store.read_blob("graph") is not None)
    assert int(store.read_blob("graph")) == library[None].count()
