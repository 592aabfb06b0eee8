"""`paragloss serve` as people run it, for tests."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from free_ports import find_free_ports


def wait_for(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"it did not happen in {seconds:g} seconds"
        time.sleep(0.05)


class ServerProcess:
    """A server in a process of its own, on a free port."""

    def __init__(self, *arguments: str) -> None:
        (self.port,) = find_free_ports(1)
        self.address = f"http://localhost:{self.port}"
        source = str(Path(__file__).parents[2] / "src")
        # Files, not pipes: nobody reads them meanwhile, and a server whose pipe is full stands still.
        self._out, self._err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", "paragloss", "serve", *arguments, "--port", str(self.port)],
            env={**os.environ, "PYTHONPATH": source},
            stdout=self._out,
            stderr=self._err,
        )

    def __enter__(self) -> ServerProcess:
        return self.wait()

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop()

    def wait(self) -> ServerProcess:
        for _ in range(3600):
            assert self.process.poll() is None, self.read_output()
            try:
                with urllib.request.urlopen(f"{self.address}/api/health", timeout=1):
                    return self
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the server did not start in three minutes")

    def read_output(self) -> tuple[str, str]:
        """What it has written so far."""
        for file in (self._out, self._err):
            file.seek(0)
        return self._out.read(), self._err.read()

    def stop(self) -> tuple[str, str]:
        self.process.terminate()
        self.process.wait(timeout=30)
        return self.read_output()
