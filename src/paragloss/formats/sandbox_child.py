"""The process that reads foreign files, with limits of memory and time. Only `sandbox` starts it.

It receives requests on standard input and answers on standard output, each a line of JSON, and ends with its input.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, Literal, NotRequired, TypeAlias, TypedDict

from paragloss.errors import EmptyFileError, InputError, MissingExtraError
from paragloss.formats.foreign import READERS
from paragloss.formats.pst import unpack_mailbox_part
from paragloss.formats.scans import read_page
from paragloss.formats.unpacking import MemberWriter, unpack
from paragloss.types import Document

#: Bytes of address space; a reader that needs more is stopped.
MAX_MEMORY_BYTES = 2**30
#: The same for recognising a page of a scan: the networks of RapidOCR take 1.3 GB of address space.
MAX_SCAN_MEMORY_BYTES = 3 * 2**30


class Request(TypedDict):
    """What this process is asked to do with a file; an action ignores the fields that it does not need."""

    action: Literal["read", "read_page", "unpack", "unpack_mailbox_part"]
    path: str  # of the file, absolute
    kind: str  # the suffix that names the format of the file
    seconds: int  # of processor time that the work may take
    id: NotRequired[str]  # read: that the document gets
    page: NotRequired[int]  # read_page: number of the page in a scan
    folder: NotRequired[str]  # unpack, unpack_mailbox_part: where the members of the file are written
    first_message: NotRequired[int]  # unpack_mailbox_part: number of the message to begin with


class Failure(TypedDict):
    """The answer to a request that could not be done."""

    error: str  # the reason, in one line
    location: str  # the file, perhaps with the place in it
    empty: NotRequired[bool]  # whether the file is empty


#: The answer to a request that was done, with fields of its own for each action; it has no `error`.
Answer: TypeAlias = dict[str, Any]


def main() -> None:
    """Answer requests until the input ends, or this process has grown too large for another one."""
    requests = sys.stdin.buffer
    answers = _redirect_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process decides what stops
    while (request := receive_json_line(requests)) is not None:
        max_memory = MAX_SCAN_MEMORY_BYTES if request["action"] == "read_page" else MAX_MEMORY_BYTES
        if _has_grown(max_memory):
            return  # after pages of a scan; the parent repeats its request to a new process
        _limit_memory(max_memory)
        _limit_processor_time(request["seconds"])
        answers.write(encode_json_line(_answer_request(request)))
        answers.flush()
        if _has_grown(max_memory):
            return  # after a large file; the parent sends its next request to a new process


def _has_grown(max_memory: int) -> bool:
    """Tell whether this process has ever used more than half of its memory: what libraries cache adds up."""
    return _read_peak_memory() > max_memory // 2


def _redirect_output() -> IO[bytes]:
    """Return standard output, and lead to nowhere what libraries print, which must not stand between our answers."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return answers


def encode_json_line(message: Any) -> bytes:
    """Return a message as one line of JSON."""
    return json.dumps(message).encode() + b"\n"


def receive_json_line(stream: IO[bytes]) -> Any:
    """Read the next message; None if the other side has ended, perhaps in the middle of it."""
    line = stream.readline()
    return json.loads(line) if line.endswith(b"\n") else None


def _answer_request(request: Request) -> Answer | Failure:
    """Do what a request asks for with a file, and return the answer.

    Any error becomes the answer, with `error` as the reason: this process has to go on with the next file.
    """
    path, kind = request["path"], request["kind"]
    try:
        return _ACTIONS[request["action"]](request)
    except InputError as error:
        return {"error": error.reason, "location": error.location, "empty": isinstance(error, EmptyFileError)}
    except MissingExtraError as error:
        return {"error": str(error), "location": path}
    except MemoryError:
        max_megabytes = MAX_MEMORY_BYTES // 2**20
        reason = f"takes more than {max_megabytes:,} MB to read, so it is left out; split the document"
        return {"error": reason, "location": path}
    except Exception as error:  # readers are code of others, and files come from anywhere
        return {"error": f"can't be read as {kind} ({_shorten_message(error)}); save it anew", "location": path}


def _shorten_message(error: Exception) -> str:
    """Return the first line of an error's message, or the error's name if it has none."""
    message = str(error) or type(error).__name__
    return message.splitlines()[0][:200]


def _answer_read(request: Request) -> Answer:
    document = READERS[request["kind"]](request["path"], id=request["id"])
    return {"document": _encode_document(document)}


def _answer_read_page(request: Request) -> Answer:
    return {"document": _encode_document(read_page(request["kind"], request["path"], request["page"]))}


def _answer_unpack(request: Request) -> Answer:
    unpack(request["kind"], request["path"], request["folder"])
    return {"unpacked": True}


def _answer_unpack_mailbox_part(request: Request) -> Answer:
    writer = MemberWriter(request["path"], request["folder"])
    return unpack_mailbox_part(request["path"], writer, request["first_message"])._asdict()


_ACTIONS: dict[str, Callable[[Request], Answer]] = {
    "read": _answer_read,
    "read_page": _answer_read_page,
    "unpack": _answer_unpack,
    "unpack_mailbox_part": _answer_unpack_mailbox_part,
}


def _encode_document(document: Document) -> list[Any]:
    """Return the fields of a document for JSON, with texts that are valid Unicode."""
    fields = {name: _clean_text(text) for name, text in document.fields.items()}
    meta = {name: _clean_text(value) if isinstance(value, str) else value for name, value in document.meta.items()}
    return [document.id, _clean_text(document.text), document.lang, _clean_text(document.title), fields, meta]


def _clean_text(text: str) -> str:
    """Remove zero characters and halves of surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _limit_memory(max_bytes: int) -> None:
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limits; the clock remains
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (max_bytes, MAX_SCAN_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_processor_time(seconds: int) -> None:
    """Let the kernel end this process once it has worked for so many more seconds; waiting does not count."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        usage = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(usage.ru_utime + usage.ru_stime) + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _read_peak_memory() -> int:
    """Return the most memory that this process has used, in bytes; on Linux getrusage would count the parent's."""
    with suppress(OSError, StopIteration), open("/proc/self/status", encoding="ascii", errors="replace") as status:
        return int(next(line for line in status if line.startswith("VmHWM:")).split()[1]) << 10
    with suppress(ImportError):
        import resource

        peak: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak << 10
    return 0


if __name__ == "__main__":
    main()
