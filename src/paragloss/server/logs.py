"""Logs as one JSON object per line. What people search for is not written down unless that is asked for."""

from __future__ import annotations

import json
import logging
import sys
import time
from datetime import UTC, datetime
from typing import Any

LOGGER = logging.getLogger("paragloss.server")
#: Seconds in which a library's warning is written once, however often it is repeated.
REPEAT_SECONDS = 60.0


class JsonLines(logging.Formatter):
    """Write time, level, message and the fields of `extra={"about": {...}}`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line of JSON."""
        row: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "about", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            row["error"] = repr(record.exc_info[1])
            row["trace"] = self.formatException(record.exc_info)
        return json.dumps(row, ensure_ascii=False)


class RepeatFilter(logging.Filter):
    """Drop a warning that was written a short time ago.

    asyncio warns of every connection that it can't accept: a few hundred clients wrote 11 MB so.
    """

    def __init__(self) -> None:
        super().__init__()
        self._last_written: dict[object, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a record is to be written."""
        current_time = time.monotonic()
        if current_time - self._last_written.get(record.msg, -REPEAT_SECONDS) < REPEAT_SECONDS:
            return False
        if len(self._last_written) > 100:
            self._last_written.clear()
        self._last_written[record.msg] = current_time
        return True


def log_event(event: str, **about: Any) -> None:
    """Write an event of the server with what is known about it."""
    LOGGER.info(event, extra={"about": about})


def log_to_stderr() -> None:
    """Send our events, and warnings of uvicorn and asyncio, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, level in (("paragloss.server", logging.INFO), ("uvicorn", logging.WARNING), ("asyncio", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
    logging.getLogger("asyncio").addFilter(RepeatFilter())
