"""Read foreign files in child processes with limits of memory and time.

A file that exceeds the limits, or crashes its reader, is an InputError like any other. The next one gets a new process.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from paragloss.errors import EmptyFileError, InputError
from paragloss.formats.pst import MailboxPart
from paragloss.formats.sandbox_child import (
    MAX_MEMORY_BYTES,
    Answer,
    Failure,
    Request,
    encode_json_line,
    receive_json_line,
)
from paragloss.formats.scans import ScanProgress, complete_scanned_pages
from paragloss.formats.text import PathLike
from paragloss.types import Document

#: Seconds of processor time for a file, and one more for every megabyte.
SECONDS_PER_FILE = 8
#: Seconds of processor time for one page of a scan.
SECONDS_PER_PAGE = 60
#: The most seconds of processor time for some hundred messages of a mailbox, however large it is.
SECONDS_PER_MAILBOX_PART = 120
#: By the clock a file may take so many times its processor time, because the machine may be busy.
WALL_CLOCK_FACTOR = 5


class SandboxedReader:
    """A child process that reads files, started when it is first needed. Threads take turns."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner_pid = 0

    def read(self, kind: str, path: PathLike, id: str, on_scanned_page: ScanProgress = lambda *_: None) -> Document:
        """Read a file as one document, including its scanned pages, in a child process.

        :param kind: the suffix that names the format
        :param path: the file
        :param id: the id of the document
        :param on_scanned_page: called after each page of a scan
        :raises InputError: if the file can't be read, exceeds the limits or crashes the child process
        """
        with _errors_with_path(path) as absolute:
            seconds = _count_seconds(path)
            document = self._request_document(Request(action="read", path=absolute, kind=kind, seconds=seconds, id=id))
            read_page = partial(self._read_page, absolute, kind)
            return complete_scanned_pages(document, path, read_page, on_scanned_page)

    def unpack(self, kind: str, path: PathLike, folder: PathLike) -> None:
        """Write the members of an archive, or the attachments of a mail, into an empty folder (`unpacking`)."""
        with _errors_with_path(path) as absolute:
            seconds, target = _count_seconds(path), os.path.abspath(folder)
            self._request(Request(action="unpack", path=absolute, kind=kind, seconds=seconds, folder=target))

    def unpack_mailbox_part(self, path: PathLike, folder: PathLike, first_message: int) -> MailboxPart:
        """Write some messages of an Outlook mailbox into an empty folder, in a child process.

        :param first_message: the number of the first of them, 0 or what the part before returned
        """
        with _errors_with_path(path) as absolute:
            request = Request(
                action="unpack_mailbox_part",
                path=absolute,
                kind=".pst",
                seconds=min(_count_seconds(path), SECONDS_PER_MAILBOX_PART),
                folder=os.path.abspath(folder),
                first_message=first_message,
            )
            answer = self._request(request)
        return MailboxPart(answer["next_message"], answer["problems"])

    def close(self) -> None:
        """End the child process; the next file starts another."""
        process, self._process = self._process, None
        if process is not None and self._owner_pid == os.getpid():
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):  # bytes that were not sent to a process that has ended
                        pipe.close()

    def _read_page(self, absolute: str, kind: str, number: int) -> Document:
        """Read a page of a scan, counted from 0, in the file of an absolute path."""
        request = Request(action="read_page", path=absolute, kind=kind, seconds=SECONDS_PER_PAGE, page=number)
        return self._request_document(request)

    def _request_document(self, request: Request) -> Document:
        return Document(*self._request(request)["document"])

    def _request(self, request: Request) -> Answer:
        """Send a request and return the answer; raises the error that the child reports."""
        with self._lock:
            answer = self._exchange(request)
        if "error" in answer:
            kind = EmptyFileError if answer.get("empty") else InputError
            raise kind(answer["error"], location=answer["location"])
        return answer

    def _exchange(self, request: Request) -> Answer | Failure:
        """Send a request to the child process, started where there is none, and return its answer.

        A process that ends by itself before it answers, because it has grown, is started again once.

        :return: the answer, or the failure that the process reports or that ended it
        """
        max_starts = 2  # a process that has grown ends once; a new one that ends at once is broken
        for _ in range(max_starts):
            process = self._get_process()
            answer = _exchange_with(process, request)
            if answer is not None:
                return answer
            exit_code = process.wait()
            self.close()
            if exit_code:
                reason = _explain_exit(exit_code, request)
                return Failure(error=f"{reason}, so it is left out", location=request["path"])
        return Failure(error="the process that reads files can't be started; try again", location=request["path"])

    def _get_process(self) -> subprocess.Popen[bytes]:
        """Return the running child process, or start one that ends with this process.

        A child that has ended, or that belongs to the process from which this one was forked, is replaced.
        """
        process = self._process
        if process is not None and self._owner_pid == os.getpid() and process.poll() is None:
            return process
        self.close()
        self._owner_pid = os.getpid()
        self._process = _start_child()
        atexit.register(self.close)
        return self._process


SHARED_READER = SandboxedReader()


class ParallelReaders:
    """Threads that each read files in a child process of their own.

    A file that crashes its process does not disturb the files that the others read.
    """

    def __init__(self, number: int, on_scanned_page: ScanProgress) -> None:
        """Prepare a number of threads; `on_scanned_page` is called after each page of a scan."""
        self._on_scanned_page = on_scanned_page
        self._readers = [SandboxedReader() for _ in range(number)]
        self._idle_readers = SimpleQueue[SandboxedReader]()
        for reader in self._readers:
            self._idle_readers.put(reader)
        self._threads = ThreadPoolExecutor(number)

    def submit(self, kind: str, path: PathLike, id: str) -> Future[Document]:
        """Start to read a file, `kind` being the suffix that names its format; return its future document."""
        return self._threads.submit(self._read, kind, path, id)

    def close(self) -> None:
        """End the processes and the threads; files that are not read yet are left out."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._close_readers()
        try:
            self._threads.shutdown()
        finally:
            self._close_readers()  # once more: a thread may have been starting a process at the first time

    def _read(self, kind: str, path: PathLike, id: str) -> Document:
        reader = self._idle_readers.get()  # there are as many readers as threads
        try:
            return reader.read(kind, path, id, self._on_scanned_page)
        finally:
            self._idle_readers.put(reader)

    def _close_readers(self) -> None:
        for reader in self._readers:
            reader.close()


def _start_child() -> subprocess.Popen[bytes]:
    """Start a process that reads files: requests go to its standard input, answers come from its output."""
    package_folder = str(Path(__file__).parents[2])
    import_path = os.pathsep.join(filter(None, [package_folder, os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        # -P: what lies in the current folder must not be taken for a module.
        [sys.executable, "-P", "-m", "paragloss.formats.sandbox_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": import_path},
    )


@contextmanager
def _errors_with_path(path: PathLike) -> Iterator[str]:
    """Yield the absolute path, which the child process needs, and name the path as it was given in errors."""
    absolute = os.path.abspath(path)
    try:
        yield absolute
    except InputError as error:
        raise type(error)(error.reason, location=error.location.replace(absolute, str(path), 1)) from None


def _count_seconds(path: PathLike) -> int:
    """Return the processor time that a file may take to read."""
    try:
        return SECONDS_PER_FILE + (os.stat(path).st_size >> 20)
    except OSError as error:
        reason = f"can't be opened ({error.strerror}); check the path and its permissions"
        raise InputError(reason, location=path) from error


def _exchange_with(process: subprocess.Popen[bytes], request: Request) -> Answer | Failure | None:
    """Send a request to a child process and wait for its answer, as long as its limit of time allows.

    :param process: the process, with its standard input and output
    :param request: the request; the limit by the clock is a multiple of its seconds of processor time
    :return: the answer; None if the process ends without one, or is killed because it takes too long
    """
    assert process.stdin is not None
    assert process.stdout is not None
    deadline = threading.Timer(WALL_CLOCK_FACTOR * request["seconds"], process.kill)
    deadline.start()
    try:
        process.stdin.write(encode_json_line(request))
        process.stdin.flush()
        answer = receive_json_line(process.stdout)
    except OSError:
        return None
    finally:
        deadline.cancel()
    if answer is None:
        return None
    return dict(answer)


def _explain_exit(exit_code: int, request: Request) -> str:
    if -exit_code in (getattr(signal, "SIGXCPU", 0), getattr(signal, "SIGKILL", 9)):
        return f"takes more than {request['seconds']} s to read"
    megabytes = MAX_MEMORY_BYTES >> 20
    return f"breaks its reader (with up to {megabytes:,} MB of memory; it ended with {exit_code})"
