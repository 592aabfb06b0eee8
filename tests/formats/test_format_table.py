"""The page on formats lists what the readers read."""

from pathlib import Path

from paragloss.formats.documents import SUPPORTED_SUFFIXES
from paragloss.formats.format_table import FORMATS, render_format_table

PAGE = Path(__file__).parents[2] / "docs" / "look-up" / "formats.md"


def test_every_suffix_that_is_read_is_in_the_table_once():
    described = [suffix for row in FORMATS for suffix in row.suffixes]
    assert sorted(described) == sorted(SUPPORTED_SUFFIXES)


def test_the_page_holds_the_table_of_the_readers():
    """If this fails, replace the table of the page by the output of
    python -c "from paragloss.formats.format_table import render_format_table; print(render_format_table())"
    """
    assert render_format_table() in PAGE.read_text("utf-8")
