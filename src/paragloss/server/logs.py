"""Logs as one JSON object a line. What people search for is not written down unless that is asked for."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

LOGGER = logging.getLogger("paragloss.server")


class JsonLines(logging.Formatter):
    """Time, level, message and whatever was said in `extra={"about": {...}}`."""

    def format(self, record: logging.LogRecord) -> str:
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


def note(event: str, **about: Any) -> None:
    LOGGER.info(event, extra={"about": about})


def to_stderr() -> None:
    """Send our lines, and what the HTTP server warns of, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for logger, level in ((LOGGER, logging.INFO), (logging.getLogger("uvicorn"), logging.WARNING)):
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
