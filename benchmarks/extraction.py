"""What is kept of pages whose content is known: manuals made by DocBook and Sphinx, which mark their own text.

    python benchmarks/manuals.py --fetch FOLDER; python benchmarks/extraction.py FOLDER [--every 16]

Of each page: the share of its content's words that are kept, the share of all its other words (menus, headers) that
are kept, and milliseconds of the processor. trafilatura is measured beside, where it is installed.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from paragloss.formats.html import parse_html

KINDS = ("chapter", "section", "sect1", "preface", "appendix", "index")
CONTENT = ", ".join(["div[role=main]", *(f"{tag}.{kind}" for kind in KINDS for tag in ("section", "div"))])


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def known(source: str) -> tuple[Counter[str], Counter[str]] | None:
    """The words of a page's content, and all others it shows."""
    tree = LexborHTMLParser(source)
    main = tree.css_first(CONTENT)
    if main is None or tree.body is None:
        return None
    content = words(main.text(separator=" "))
    return content, words(tree.body.text(separator=" ")) - content


def measure(name: str, extract: Callable[[str], str | None], pages: list[str]) -> None:
    kept, others, spent, count = 0.0, 0.0, 0.0, 0
    for source in pages:
        if (here := known(source)) is None:
            continue
        content, boilerplate = here
        began = time.process_time()
        found = words(extract(source) or "")
        spent += time.process_time() - began
        kept += (found & content).total() / max(1, content.total())
        others += ((found - content) & boilerplate).total() / max(1, boilerplate.total())
        count += 1
    print(f"| {name} | {count} | {kept / count:.3f} | {others / count:.3f} | {1000 * spent / count:.1f} |", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--every", type=int, default=16)
    given = options.parse_args()
    files = sorted(given.folder.rglob("*.html"))[:: given.every]
    pages = [file.read_text("utf-8", "replace") for file in files]
    print("| | pages | content kept | other words kept | ms a page |\n|---|---|---|---|---|")
    measure("here", lambda source: parse_html(source, id="page").text, pages)
    try:
        import trafilatura
    except ImportError:
        return
    for fast in (False, True):
        told = {"include_comments": False, "include_tables": True, "favor_recall": True, "fast": fast}
        measure(f"trafilatura{', fast' * fast}", lambda source, told=told: trafilatura.extract(source, **told), pages)


if __name__ == "__main__":
    main()
