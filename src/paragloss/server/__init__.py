"""A collection over HTTP, with its page: a thin layer over `engine`. Nothing heavy is imported before it is served."""

from __future__ import annotations

from paragloss.server.run import run

__all__ = ["run"]
