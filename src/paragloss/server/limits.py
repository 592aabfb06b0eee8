"""How much one request, one client and all clients together may ask for. Knows nothing of HTTP."""

from __future__ import annotations

from typing import NamedTuple

MIB = 2**20


class Limits(NamedTuple):
    """Limits of a server. What exceeds one is refused early, with the limit in the message."""

    # Sizes of requests, in bytes
    body: int = 8 * MIB  # an ordinary request
    upload: int = 64 * MIB  # one file
    bulk: int = 4096 * MIB  # one stream of documents, which is never held in memory as a whole
    line: int = 4 * MIB  # one document of such a stream
    # Parameters of requests
    query: int = 1000  # characters of a query
    terms: int = 200  # words of a query
    k: int = 200  # documents of an answer
    gloss: int = 20_000  # characters that are glossed or translated
    pipeline_steps: int = 8  # searchers named in a pipeline
    feedback_steps: int = 2  # of them, those that search what is before them twice
    # Seconds
    seconds: float = 10.0  # one search, or one other piece of reading work, its waiting included
    reading: float = 120.0  # one uploaded file
    patience: float = 20.0  # the arrival of a body; longer where it comes faster than this:
    slowest: float = 1024.0  # bytes per second
    # Concurrent work
    threads: int = 4  # threads that search; more would only wait for the interpreter
    per_client: int = 1  # pieces of work of one client at a time, without worker processes
    waiting_per_client: int = 64  # pieces of work of one client that run or wait
    waiting: int = 256  # pieces of work of all clients that run or wait


DEFAULT = Limits()
