"""The process that reads foreign files, with limits of memory and time. Only `apart` starts it.

It is asked on standard input and answers on standard output, both in JSON behind its length; it ends with its input.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
from contextlib import suppress
from typing import IO, Any

from paragloss.errors import InputError
from paragloss.formats.foreign import READERS
from paragloss.formats.scans import read_page

LENGTH = struct.Struct(">Q")
#: Bytes of address space; a reader that wants more is stopped.
MEMORY = 2**30
#: After a file that took so much the process ends and a fresh one reads the next: what libraries keep adds up.
_LARGE = MEMORY // 2


def main() -> None:
    """Answer until the input ends."""
    asked = sys.stdin.buffer
    # What a library prints must not stand between our answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started us decides what stops
    _bound_memory()
    while (question := receive_message(asked)) is not None:
        _bound_time(question["seconds"])
        answers.write(_answer(question))
        answers.flush()
        if _grown() > _LARGE:
            return


def frame_message(value: Any) -> bytes:
    data = json.dumps(value).encode()
    return LENGTH.pack(len(data)) + data


def receive_message(stream: IO[bytes]) -> Any:
    """What the other side has sent; None where it has gone."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(head)
    data = stream.read(size)
    return json.loads(data) if len(data) == size else None


def _answer(question: dict[str, Any]) -> bytes:
    path = question["path"]
    try:
        if "page" in question:
            found = read_page(question["kind"], path, question["page"])
        else:
            found = READERS[question["kind"]](path, id=question["id"])
        texts = {name: _clean(text) for name, text in found.fields.items()}
        meta = {name: _clean(value) if isinstance(value, str) else value for name, value in found.meta.items()}
        return frame_message({"document": [found.id, _clean(found.text), found.lang, _clean(found.title), texts, meta]})
    except InputError as error:
        return frame_message({"error": error.reason, "place": error.place})
    except MemoryError:
        needs = f"takes more than {MEMORY >> 20:,} MB to read, so it is left out; split the document"
        return frame_message({"error": needs, "place": path})
    except Exception as error:  # readers are others' code, and files are anybody's
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        return frame_message({"error": f"can't be read as {question['kind']} ({reason}); save it anew", "place": path})


def _clean(text: str) -> str:
    """Without zeros and halves of surrogate pairs, which are no text."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _bound_memory() -> None:
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limits; the clock remains
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _bound_time(seconds: int) -> None:
    """The kernel ends a process that has worked for longer; waiting does not count."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        most = int(used.ru_utime + used.ru_stime) + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _grown() -> int:
    """The most memory this process has held. Linux starts the count that getrusage gives with that of the parent."""
    with suppress(OSError, StopIteration), open("/proc/self/status", encoding="ascii", errors="replace") as status:
        return int(next(line for line in status if line.startswith("VmHWM:")).split()[1]) << 10
    with suppress(ImportError):
        import resource

        most: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most << 10
    return 0


if __name__ == "__main__":
    main()
