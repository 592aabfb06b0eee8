"""A document to read, piece by piece: its paragraphs with the words that speak for a query, where the best passage is,
and its headings. A book is never handed out whole. Offsets count characters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from paragloss.analysis import analyzer
from paragloss.analysis.tokenization import read_tokenized_texts
from paragloss.collection import retrieval
from paragloss.collection.arguments import SearchOptions
from paragloss.collection.deadline import Deadline
from paragloss.collection.display import Matcher
from paragloss.collection.state import State
from paragloss.formats.markdown import BULLET
from paragloss.gloss.snippets import MARKED, best_window
from paragloss.types import Document, Record, TokenizedText

#: Characters of a piece, of what stands before the best passage in the first one, and of a paragraph: what has no
#: breaks is cut between words. Headings that are listed.
PIECE, BEFORE, LONGEST, HEADINGS = 12_000, 1_500, 2_000, 500
_BLANK, _LINE = re.compile(rf"\n[^\S\n]*\n\s*|\f\s*|\n(?={BULLET})"), re.compile(r"\n\s*|\f\s*")


def piece(
    state: State,
    document: Document,
    text: str,
    *,
    lang: str | None,
    start: int | None,
    before: int | None,
    deadline: Deadline | None = None,
) -> dict[str, Any]:
    """Paragraphs from `start` on, or up to `before`, else about the best passage for a query; `text` may be empty."""
    options = SearchOptions(lang=lang, to=[document.lang], k=1, deadline=deadline)
    matcher = retrieval.matcher(state, text, document.id, options) if text.strip() else None
    headings, paged = _headings(document), "\f" in document.text
    record = next(iter(state.records([document.id])), Record(document))
    cut, *_ = read_tokenized_texts(record)
    weights = matcher.weights(document, cut) if matcher else {}
    best = _best(matcher, record, cut, weights) if matcher and start is None and before is None else None
    low, high = _stretch(document.text, (best or [0])[0] - BEFORE if start is None else start, before)
    marks = _marks(weights, document, low, high) if matcher else []
    rows = [
        {
            "start": a,
            "text": document.text[a:b],
            "heading": document.text[a:b].strip() in headings,
            "page": document.text.count("\f", 0, a) + 1 if paged else None,
            "marks": [(max(x, a) - a, min(y, b) - a) for x, y in marks if x < b and a < y],
        }
        for a, b in _paragraphs(document.text, low, high)
    ]
    outline = [{"title": title, "start": place} for title, place in headings.items()]
    return {
        "start": low,
        "end": high,
        "length": len(document.text),
        "best": best,
        "outline": outline,
        "paragraphs": rows,
    }


def _best(matcher: Matcher, record: Record, cut: TokenizedText, weights: Mapping[str, float]) -> list[int] | None:
    """The passage that speaks for the query; None where nothing does."""
    if passage := matcher.passage(record):
        return list(passage)
    start, end = best_window(cut.select_weighted(weights).offsets(), weights, 240)
    return [start, end] if end else None


def _marks(weights: Mapping[str, float], document: Document, low: int, high: int) -> list[tuple[int, int]]:
    spans = [
        span._replace(start=span.start + low, end=span.end + low)
        for span in analyzer(document.lang).spans(document.text[low:high])
    ]
    least = MARKED * max((weights.get(span.term, 0.0) for span in spans), default=0.0)
    return [(s.start, s.end) for s in spans if weights.get(s.term, 0.0) >= least > 0]


def _stretch(text: str, start: int, before: int | None) -> tuple[int, int]:
    """A piece that begins and ends between paragraphs, or between words of a long one."""
    if before is not None:
        high = min(before, len(text))
        return (_edge(text, high - PIECE), high) if high > PIECE else (0, high)
    low = 0 if start <= 0 else min(start, len(text)) if text[start - 1 : start].isspace() else _edge(text, start)
    return low, _edge(text, low + PIECE) if low + PIECE < len(text) else len(text)


def _edge(text: str, near: int) -> int:
    """The end of the paragraph that is nearest behind a place, or of the word where that is far."""
    found = _breaks(text).search(text, near, near + LONGEST) or re.compile(r"\s+").search(text, near, near + LONGEST)
    return found.end() if found else min(near, len(text))


def _breaks(text: str) -> re.Pattern[str]:
    """Blank lines part paragraphs where there are some; else lines do."""
    return _BLANK if "\n\n" in text else _LINE


def _paragraphs(text: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    at = low
    ends = [(found.start(), found.end()) for found in _breaks(text).finditer(text, low, high)]
    for end, following in [*ends, (high, high)]:
        while end - at > LONGEST:
            cut = text.rfind(" ", at + LONGEST // 2, at + LONGEST) + 1 or at + LONGEST
            yield at, cut
            at = cut
        if text[at:end].strip():
            yield at, end
        at = following


def _headings(document: Document) -> Mapping[str, int]:
    """Headings that a file's reader has told of, with their places in the text, in its order."""
    found: dict[str, int] = {}
    at = 0
    for title in document.fields.get("headings", "").split("\n")[:HEADINGS]:
        place = document.text.find(title, at) if title.strip() else -1
        if place >= 0:
            found.setdefault(title.strip(), place)
            at = place + len(title)
    return found
