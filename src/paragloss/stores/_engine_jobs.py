"""Run jobs on the embedded engine's files in a child process, whose program is `_engine_worker.py`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from paragloss.errors import StoreError

_WORKER = Path(__file__).with_name("_engine_worker.py")
_MAX_REASON_LENGTH = 300


def check_readable(shard_folder: Path) -> None:
    """Read all points of an engine's folder that no process has open.

    Raises StoreError if that ends the reading process with a signal, as damaged files may. Other errors are left to
    whoever opens the folder next.
    """
    worker = run_worker("read", shard_folder)
    if worker.returncode < 0:
        signal_name = signal.Signals(-worker.returncode).name
        raise StoreError(
            f"{shard_folder.parent} is damaged: reading it ends the process ({signal_name}); restore a copy, or index "
            "again"
        )


def build_graphs(shard_folder: Path) -> None:
    """Build the HNSW graphs in an engine's folder that no process has open; raise StoreError if that fails."""
    worker = run_worker("optimize", shard_folder)
    if worker.returncode != 0:
        raise StoreError(worker.stderr.decode(errors="replace").strip()[-_MAX_REASON_LENGTH:])


def run_worker(job: str, shard_folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run one job of the worker program, which ends when this process does, and wait for it."""
    command = [sys.executable, "-P", str(_WORKER), job, str(shard_folder), str(os.getpid())]
    return subprocess.run(command, check=False, capture_output=True)
