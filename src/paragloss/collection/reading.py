"""Prepare a document for reading, an excerpt at a time: paragraphs with the words that match a query, where the best
passage is, and headings. Offsets count characters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paragloss.analysis import analyzer
from paragloss.analysis.tokenization import read_tokenized_texts
from paragloss.collection import retrieval
from paragloss.collection.arguments import SearchOptions
from paragloss.collection.deadline import Deadline
from paragloss.collection.display import Matcher
from paragloss.collection.state import State
from paragloss.formats.markdown import BULLET
from paragloss.formats.subtitles import find_time_code
from paragloss.gloss.snippets import MIN_RELATIVE_WEIGHT_OF_MARK, find_best_window
from paragloss.types import Document, Record, TokenizedText

#: Characters of an excerpt, and of those that stand before the best passage in it.
EXCERPT_SIZE, CONTEXT_SIZE = 12_000, 1_500
#: Characters of a paragraph: text without breaks is split between words. Headings that are listed.
MAX_PARAGRAPH, MAX_HEADINGS = 2_000, 500
#: Characters of the passage that is looked for in a text without vectors.
_WINDOW = 240
_BLANK_LINE = re.compile(rf"\n[^\S\n]*\n\s*|\f\s*|\n(?={BULLET})")
_LINE_END = re.compile(r"\n\s*|\f\s*")
_SPACE = re.compile(r"\s+")


def read_excerpt(
    state: State,
    document: Document,
    text: str,
    *,
    lang: str | None,
    start: int | None,
    before: int | None,
    deadline: Deadline | None = None,
) -> dict[str, Any]:
    """Return paragraphs of a document from `start` on, or up to `before`, else around the best passage for a query.

    :param text: the query, whose matches are marked; it may be empty.
    :param lang: the language of the query; None finds it out.
    """
    options = SearchOptions(lang=lang, to=[document.lang], k=1, deadline=deadline)
    matcher = retrieval.make_matcher(state, text, document.id, options) if text.strip() else None
    record = next(iter(state.records([document.id])), Record(document))
    tokenized, *_ = read_tokenized_texts(record)
    weights = matcher.weights(document, tokenized) if matcher else {}
    is_positioned = start is not None or before is not None
    best = _find_best_passage(matcher, record, tokenized, weights) if matcher and not is_positioned else None
    if start is None:
        best_start = best[0] if best else 0
        start = best_start - CONTEXT_SIZE
    low, high = _choose_span(document.text, start, before)
    marks = _find_marks(weights, document, low, high) if matcher else []
    headings, has_pages = _find_headings(document), "\f" in document.text
    return {
        "start": low,
        "end": high,
        "length": len(document.text),
        "best": best,
        "outline": [{"title": title, "start": offset} for title, offset in headings.items()],
        "paragraphs": [
            _describe_paragraph(document, span, marks, headings, has_pages=has_pages)
            for span in _split_paragraphs(document.text, low, high)
        ],
    }


def _describe_paragraph(
    document: Document,
    span: tuple[int, int],
    marks: Sequence[tuple[int, int]],
    headings: Mapping[str, int],
    *,
    has_pages: bool,
) -> dict[str, Any]:
    """Describe a paragraph; its marks are relative to its start.

    :param span: its (start, end) in the text.
    :param marks: spans of matching words, in the text.
    :param headings: the headings of the document.
    :param has_pages: whether the text has page breaks.
    """
    start, end = span
    text = document.text[start:end]
    return {
        "start": start,
        "text": text,
        "heading": text.strip() in headings,
        "page": document.text.count("\f", 0, start) + 1 if has_pages else None,
        "time": find_time_code(document.text, document.meta, start),
        "marks": [
            (max(mark_start, start) - start, min(mark_end, end) - start)
            for mark_start, mark_end in marks
            if mark_start < end and start < mark_end
        ],
    }


def _find_best_passage(
    matcher: Matcher, record: Record, tokenized: TokenizedText, weights: Mapping[str, float]
) -> list[int] | None:
    """Return the span of the passage that matches the query best; None if nothing does."""
    passage = matcher.passage(record)
    if passage:
        return list(passage)
    start, end = find_best_window(tokenized.select_weighted(weights).offsets(), weights, _WINDOW)
    return [start, end] if end else None


def _find_marks(weights: Mapping[str, float], document: Document, low: int, high: int) -> list[tuple[int, int]]:
    """Return the spans of words that match, without those that weigh little beside the heaviest."""
    spans = [
        span._replace(start=span.start + low, end=span.end + low)
        for span in analyzer(document.lang).spans(document.text[low:high])
    ]
    min_weight = MIN_RELATIVE_WEIGHT_OF_MARK * max((weights.get(span.term, 0.0) for span in spans), default=0.0)
    return [(span.start, span.end) for span in spans if weights.get(span.term, 0.0) >= min_weight > 0]


def _choose_span(text: str, start: int, before: int | None) -> tuple[int, int]:
    """Return a span of a text that begins and ends between paragraphs, or between words of a long one."""
    if before is not None:
        high = min(before, len(text))
        return (_find_break(text, high - EXCERPT_SIZE), high) if high > EXCERPT_SIZE else (0, high)
    if start <= 0:
        low = 0
    elif text[start - 1 : start].isspace():
        low = min(start, len(text))
    else:
        low = _find_break(text, start)
    return low, _find_break(text, low + EXCERPT_SIZE) if low + EXCERPT_SIZE < len(text) else len(text)


def _find_break(text: str, start: int) -> int:
    """Return the first offset between paragraphs after `start`, or between words if a paragraph is long."""
    for pattern in (_choose_paragraph_break(text), _SPACE):
        match = pattern.search(text, start, start + MAX_PARAGRAPH)
        if match:
            return match.end()
    return min(start, len(text))


def _choose_paragraph_break(text: str) -> re.Pattern[str]:
    """Return what separates the paragraphs of a text: blank lines if it has any, else ends of lines."""
    return _BLANK_LINE if "\n\n" in text else _LINE_END


def _split_paragraphs(text: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) spans of the paragraphs in text[low:high]; long ones are split between words."""
    start = low
    breaks = [match.span() for match in _choose_paragraph_break(text).finditer(text, low, high)]
    for end, next_start in [*breaks, (high, high)]:
        while end - start > MAX_PARAGRAPH:
            max_end = start + MAX_PARAGRAPH
            space = text.rfind(" ", start + MAX_PARAGRAPH // 2, max_end)
            middle = space + 1 if space >= 0 else max_end
            yield start, middle
            start = middle
        if text[start:end].strip():
            yield start, end
        start = next_start


def _find_headings(document: Document) -> Mapping[str, int]:
    """Return the headings that the reader of a file has found, with their offsets, in the order of the text."""
    headings: dict[str, int] = {}
    search_start = 0
    for title in document.fields.get("headings", "").split("\n")[:MAX_HEADINGS]:
        offset = document.text.find(title, search_start) if title.strip() else -1
        if offset >= 0:
            headings.setdefault(title.strip(), offset)
            search_start = offset + len(title)
    return headings
