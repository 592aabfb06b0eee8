"""Run jobs on the embedded engine's files in a child process, whose program is `_engine_worker.py`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from paragloss.errors import StoreError
from paragloss.stores._engine_worker import CANNOT_OPEN

_WORKER = Path(__file__).with_name("_engine_worker.py")
_MAX_REASON_LENGTH = 300


def check_readable(shard_folder: Path) -> None:
    """Open an engine's folder that no process has open, and read all its points, in a child process.

    Damaged files may end that process with a signal, or print a panic of the engine, neither of which reaches this one.

    :raises StoreError: the engine can't open the folder, or reading it ends the process. A point whose reading fails in
        any other way is left to whoever reads it next.
    """
    worker = _run_worker("read", shard_folder)
    if worker.returncode < 0:
        signal_name = signal.Signals(-worker.returncode).name
        raise StoreError(
            f"{shard_folder.parent} is damaged: reading it ends the process ({signal_name}); restore a copy, or index "
            "again"
        )
    if worker.returncode == CANNOT_OPEN:
        reason = _get_last_line(worker.stderr)
        raise StoreError(f"{shard_folder} can't be opened ({reason}): `paragloss check` tells what is whole")


def build_graphs(shard_folder: Path) -> None:
    """Build the HNSW graphs in an engine's folder that no process has open; raise StoreError if that fails."""
    worker = _run_worker("optimize", shard_folder)
    if worker.returncode != 0:
        raise StoreError(_get_last_line(worker.stderr))


def _run_worker(job: str, shard_folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run one job of the worker program, which ends when this process does, and wait for it."""
    command = [sys.executable, "-P", str(_WORKER), job, str(shard_folder), str(os.getpid())]
    return subprocess.run(command, check=False, capture_output=True)


def _get_last_line(output: bytes) -> str:
    """Return the last line that a worker printed, which says why it failed; "" if it printed nothing."""
    lines = output.decode(errors="replace").strip().splitlines()
    return lines[-1][:_MAX_REASON_LENGTH] if lines else ""
