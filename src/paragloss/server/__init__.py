"""Collections over HTTP, with a search page, and for assistants. Heavy imports wait until something is served."""

from __future__ import annotations

from paragloss.server.run import serve

__all__ = ["serve"]
