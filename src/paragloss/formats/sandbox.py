"""Reads foreign files in child processes with limits of memory and time, each started when it is first needed.

A file that exceeds them, or breaks its reader, is an InputError like any other; the next file gets a fresh process.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from paragloss.errors import InputError
from paragloss.formats.sandbox_child import MEMORY, frame_message, receive_message
from paragloss.formats.scans import ScanProgress, complete_scanned_pages
from paragloss.formats.text import PathLike
from paragloss.types import Document

#: How long reading may take: so many seconds of work, one more for every megabyte, and on a busy machine so many
#: times that by the clock.
SECONDS, PATIENCE = 8, 5
#: The same for one page of a scan.
PAGE_SECONDS = 60


class SandboxedReader:
    """The child process and the pipes to it. Threads take turns."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def read(self, kind: str, path: PathLike, id: str, scanning: ScanProgress = lambda *_: None) -> Document:
        """One document of a file of some kind."""
        try:
            seconds = SECONDS + (os.stat(path).st_size >> 20)
        except OSError as error:
            raise InputError(
                f"can't be opened ({error.strerror}); check the path and its permissions", place=path
            ) from error
        there = os.path.abspath(path)  # the process may have been started in another folder
        try:
            found = self._document({"kind": kind, "path": there, "id": id, "seconds": seconds})
            asked = {"kind": kind, "path": there, "seconds": PAGE_SECONDS}
            return complete_scanned_pages(
                found, path, lambda number: self._document({**asked, "page": number}), scanning
            )
        except InputError as error:
            raise InputError(error.reason, place=error.place.replace(there, str(path), 1)) from None

    def _document(self, question: dict[str, Any]) -> Document:
        with self._turn:
            answer = self._ask(question)
        if "error" in answer:
            raise InputError(answer["error"], place=answer["place"])
        return Document(*answer["document"])

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):  # what was not sent to a process that is gone
                        pipe.close()

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        for _ in range(2):  # a process that has ended on its own, having grown, is started again
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            watch = threading.Timer(PATIENCE * question["seconds"], process.kill)
            watch.start()
            try:
                process.stdin.write(frame_message(question))
                process.stdin.flush()
                answer = receive_message(process.stdout)
            except OSError:
                answer = None
            finally:
                watch.cancel()
            if answer is not None:
                return dict(answer)
            code = process.wait()
            self.close()
            if code:
                return {"error": f"{_reason(code, question)}, so it is left out", "place": question["path"]}
        return {"error": "the process that reads files can't be started; try again", "place": question["path"]}

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid() or self._process.poll() is not None:
            self.close()
            here = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
            self._owner = os.getpid()
            # -P: what lies in the current folder must not be taken for a module.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "paragloss.formats.sandbox_child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(here)},
            )
            atexit.register(self.close)
        return self._process


def _reason(code: int, question: dict[str, Any]) -> str:
    if -code in (getattr(signal, "SIGXCPU", 0), getattr(signal, "SIGKILL", 9)):
        return f"takes more than {question['seconds']} s to read"
    return f"breaks its reader (with up to {MEMORY >> 20:,} MB of memory; it ended with {code})"


READER = SandboxedReader()


@contextmanager
def open_parallel_readers(
    number: int, scanning: ScanProgress
) -> Iterator[Callable[[str, PathLike, str], Future[Document]]]:
    """So many readers of files, a process each: asking gives what will be the document. One that dies dies alone."""
    readers, mine = list[SandboxedReader](), threading.local()

    def begin() -> None:
        mine.reader = SandboxedReader()
        readers.append(mine.reader)

    def read(kind: str, path: PathLike, id: str) -> Document:
        found: Document = mine.reader.read(kind, path, id, scanning)
        return found

    def close() -> None:
        for reader in readers:
            reader.close()

    with ExitStack() as ending:  # from the last to the first
        ending.callback(close)  # once more: a thread may just have been starting one
        threads = ending.enter_context(ThreadPoolExecutor(number, initializer=begin))
        ending.callback(close)
        ending.callback(threads.shutdown, wait=False, cancel_futures=True)
        yield lambda kind, path, id: threads.submit(read, kind, path, id)
