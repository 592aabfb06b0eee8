"""Random histories of a collection in a folder, held against a plain dictionary; benchmarks/histories.py runs many."""

import pytest
from history import History
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from paragloss.collection import file_records, writer
from paragloss.stores import _limits, _vector_repair, embedded


@pytest.fixture
def batches(monkeypatch):
    """Histories set how much is done at once; afterwards it is as it was."""
    for module, name in (
        (writer, "BATCH_SIZE"),
        (writer, "SMALL_BATCH_SIZE"),
        (_limits, "WRITE_BATCH"),
        (_limits, "READ_BATCH"),
        (_limits, "FLUSH_INTERVAL"),
        (_vector_repair, "check_readable"),
        (embedded, "check_readable"),
        (file_records, "SAVE_INTERVAL"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name))


def test_no_history_loses_a_document_or_counts_wrong(batches):
    history_settings = settings(
        max_examples=20,
        stateful_step_count=12,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(History, settings=history_settings)
