"""Fill the recorded tables into the pages of the site while mkdocs builds it (`hooks:` in mkdocs.yml)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # mkdocs runs hooks outside the repository's packages

from mkdocs.structure.files import File

from papers.overview import render_results_page
from papers.reporting import fill_tables, read_results


def on_files(files: Any, *, config: Any) -> Any:
    """Add the page of all results, which is not kept in the repository."""
    page = render_results_page(read_results())
    files.append(File.generated(config, "understand/results.md", content=page))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the markers in a page by the tables they stand for."""
    return fill_tables(markdown, read_results())
