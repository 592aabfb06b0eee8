"""Collections over HTTP, with a search page, and for assistants. Heavy imports wait until something is served."""

from __future__ import annotations

from paragloss.server.run import run

__all__ = ["run"]
