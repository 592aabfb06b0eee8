"""Liu's Table 5.1: search within one language, by field of the page.

Headings and strong words need the pages' Markdown (`papers.page_fields`); without it their rows are left out.
"""

from __future__ import annotations

from papers import page_fields
from papers.corpora import Rows
from papers.page_fields import open_pages

SEEDS = (0,)  # nothing is learned
DATA, COLUMNS, PARTS = page_fields.DATA, page_fields.COLUMNS, ("es",)
FIELDS = {"Body": "text", "Title": "title", "Heading": "heading", "Strong": "strong", "URL": "url"}


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    with open_pages(smoke=smoke) as pages:
        rows = {"All fields": pages.measure_searcher(pages.search_fields(), "es")}
        for name, field in FIELDS.items():
            if field in pages.fields:
                rows[name] = pages.measure_searcher(pages.search_fields([field]), "es")
        return rows
