"""Fill the recorded tables into the pages of the site while mkdocs builds it (`hooks:` in mkdocs.yml)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # mkdocs runs hooks outside the repository's packages

from papers.reporting import fill_tables, read_results


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the markers in a page by the tables they stand for."""
    return fill_tables(markdown, read_results())
