"""Liu's Table 5.1: search within one language, by field of the page.

Headings and strong words need the pages' Markdown (`lab.recipes.page_fields`); without it their rows are left out.
"""

from __future__ import annotations

from paragloss.lab.recipes import page_fields
from paragloss.lab.recipes.page_fields import opened
from paragloss.lab.recipes.runner import Measured

MINUTES, SEEDS = 1, (0,)  # nothing is learned
DATA, COLUMNS, PARTS = page_fields.DATA, page_fields.COLUMNS, ("es",)
NAMES = {"Body": "text", "Title": "title", "Heading": "heading", "Strong": "strong", "URL": "url"}


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    with opened(smoke=smoke) as pages:
        fields = {"All fields": pages.fields, **{name: (field,) for name, field in NAMES.items()}}
        return {
            name: pages.measured(pages.lexical(some), "es")
            for name, some in fields.items()
            if set(some) <= set(pages.fields)
        }
