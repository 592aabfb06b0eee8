"""Paragloss: search documents in languages you don't read, and see why each one matched."""

from __future__ import annotations

from paragloss.types import Concept, Document, Hit, Judgment, Query

__all__ = ["Concept", "Document", "Hit", "Judgment", "Query", "__version__"]
__version__ = "0.1.0"
