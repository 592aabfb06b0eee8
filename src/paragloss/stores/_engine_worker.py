"""The program of a child process that reads or optimizes a folder of the embedded engine; `_engine_jobs` starts it.

Two things must not happen in the process that has a collection open. Reading damaged memory-mapped files can end the
process with a signal. Building graphs holds Python's interpreter lock for minutes. This file imports nothing of
Paragloss, so that it starts quickly.

usage: python _engine_worker.py {read,optimize} SHARD_FOLDER PARENT_PID
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress

import qdrant_edge

#: Exit status of a worker whose engine can't open the folder.
CANNOT_OPEN = 3
_PR_SET_PDEATHSIG = 1
_SIGKILL = 9
_POINTS_PER_REQUEST = 200


def main(job: str, shard_folder: str, parent_pid: str) -> None:
    """Open the engine's folder, do one job and close it; exit with CANNOT_OPEN and the reason if it can't be opened."""
    _end_with_parent(int(parent_pid))
    try:
        shard = qdrant_edge.EdgeShard.load(shard_folder)
    except BaseException as error:  # a panic of the engine is no Exception
        sys.stderr.write(f"\n{' '.join(str(error).split())}\n")
        sys.exit(CANNOT_OPEN)
    if job == "optimize":
        shard.optimize()
        shard.flush()
        shard.close()
    else:
        with suppress(BaseException):  # also a panic
            _read_all_points(shard)
            shard.close()


def _end_with_parent(parent_pid: int) -> None:
    """Have the system kill this process when its parent ends; exit if it has ended already. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL)
        if os.getppid() != parent_pid:
            sys.exit("the process that started this one has ended")


def _read_all_points(shard: qdrant_edge.EdgeShard) -> None:
    """Read every point with its payload and vectors, so that damaged files are noticed."""
    offset = None
    while True:
        request = qdrant_edge.ScrollRequest(
            offset=offset, limit=_POINTS_PER_REQUEST, with_payload=True, with_vector=True
        )
        _, offset = shard.scroll(request)
        if offset is None:
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
