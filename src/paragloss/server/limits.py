"""How much one request may ask for. Knows nothing of HTTP."""

from __future__ import annotations

from typing import NamedTuple

MIB = 2**20


class Limits(NamedTuple):
    """What is refused is refused early, with the limit in the message."""

    body: int = 8 * MIB  # bytes of an ordinary request
    upload: int = 64 * MIB  # bytes of one file
    bulk: int = 4096 * MIB  # bytes of one stream of documents, which is never held whole
    line: int = 4 * MIB  # bytes of one document in such a stream
    query: int = 1000  # characters
    terms: int = 200  # of a query
    patience: float = 20.0  # seconds for a body to come; longer where it comes at least so fast:
    slowest: float = 1024.0  # bytes a second
    k: int = 200
    gloss: int = 20_000  # characters
    seconds: float = 10.0  # one search
    reading: float = 120.0  # one uploaded file
    threads: int = 4  # searches at once; the engine takes turns, so more of them would only wait
    waiting: int = 256  # searches that may wait for their turn


DEFAULT = Limits()
