"""Random histories of a collection in a folder, held against a plain dictionary; benchmarks/histories.py runs many."""

from history import History
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test


def test_no_history_loses_a_document_or_counts_wrong():
    history_settings = settings(
        max_examples=20,
        stateful_step_count=12,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(History, settings=history_settings)
