"""Prepare a document for reading, an excerpt at a time.

An excerpt has paragraphs with the words that match a query, the place of the best passage, and headings. Offsets count
characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

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
    :param start: the offset at which the excerpt begins.
    :param before: the offset at which it ends; `start` has no effect then.
    :return: the span of the excerpt and its paragraphs with their marks, the span of the best passage, and the
        headings of the document.
    """
    match = QueryMatch({}, None)
    if text.strip():
        options = SearchOptions(lang=lang, to=[document.lang], k=1, deadline=deadline)
        match = _match_query(state, document, text, options)
    is_around_passage = start is None and before is None
    best_passage = match.best_passage if is_around_passage else None
    low, high = _choose_span(document.text, start, before, best_passage)
    headings = _find_headings(document)
    return {
        "start": low,
        "end": high,
        "length": len(document.text),
        "best": list(best_passage) if best_passage else None,
        "outline": [{"title": title, "start": offset} for title, offset in headings.items()],
        "paragraphs": _describe_paragraphs(document, low, high, match.weights, headings),
    }


class QueryMatch(NamedTuple):
    """The terms of a document that match a query, with weights, and the span of the passage that matches it best."""

    weights: Mapping[str, float]
    best_passage: tuple[int, int] | None


def _match_query(state: State, document: Document, text: str, options: SearchOptions) -> QueryMatch:
    """Find what matches a query in a document.

    :param document: the document; one that the collection does not have is matched by its words only.
    :param text: the query.
    :param options: its language, and the deadline.
    """
    matcher = retrieval.make_matcher(state, text, options)
    stored_records = state.records([document.id])
    record = stored_records[0] if stored_records else Record(document)
    tokenized = read_tokenized_texts(record)[0]
    weights = matcher.weigh_terms(document, tokenized)
    return QueryMatch(weights, _find_best_passage(matcher, record, tokenized, weights))


def _describe_paragraphs(
    document: Document, low: int, high: int, weights: Mapping[str, float], headings: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Describe the paragraphs of a span of a document, with the words that have a weight marked."""
    marks = _find_marks(weights, document, low, high)
    spans = _split_paragraphs(document.text, low, high)
    return [_describe_paragraph(document, span, marks, headings) for span in spans]


def _describe_paragraph(
    document: Document, span: tuple[int, int], marks: Sequence[tuple[int, int]], headings: Mapping[str, int]
) -> dict[str, Any]:
    """Describe a paragraph: its text, its place in the document, and the words to mark in it.

    :param span: its (start, end) in the text.
    :param marks: spans of matching words, in the text; those of the result are relative to the paragraph.
    :param headings: the headings of the document.
    """
    start, end = span
    text = document.text[start:end]
    page = None
    if "\f" in document.text:  # a form feed stands before every page but the first
        page = 1 + document.text.count("\f", 0, start)
    return {
        "start": start,
        "text": text,
        "heading": text.strip() in headings,
        "page": page,
        "time": find_time_code(document.text, document.meta, start),
        "marks": _clip_marks(marks, start, end),
    }


def _clip_marks(marks: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return the parts of marks that lie in a span, relative to its start."""
    clipped_marks = []
    for mark_start, mark_end in marks:
        if mark_start < end and start < mark_end:
            clipped_marks.append((max(mark_start, start) - start, min(mark_end, end) - start))
    return clipped_marks


def _find_best_passage(
    matcher: Matcher, record: Record, tokenized: TokenizedText, weights: Mapping[str, float]
) -> tuple[int, int] | None:
    """Return the span of the passage that matches the query best; None if nothing does."""
    passage = matcher.find_passage(record)
    if passage:
        return passage
    start, end = find_best_window(tokenized.select_weighted(weights).offsets(), weights, _WINDOW)
    return (start, end) if end else None


def _find_marks(weights: Mapping[str, float], document: Document, low: int, high: int) -> list[tuple[int, int]]:
    """Return the (start, end) of the words in text[low:high] that match, without those that weigh little.

    :param weights: the weights of matching terms; a word is left out if it weighs much less than the heaviest one.
    """
    spans = analyzer(document.lang).spans(document.text[low:high])
    matching_spans = [span for span in spans if weights.get(span.term, 0.0) > 0]
    if not matching_spans:
        return []
    min_weight = MIN_RELATIVE_WEIGHT_OF_MARK * max(weights[span.term] for span in matching_spans)
    return [(span.start + low, span.end + low) for span in matching_spans if weights[span.term] >= min_weight]


def _choose_span(text: str, start: int | None, before: int | None, passage: tuple[int, int] | None) -> tuple[int, int]:
    """Return the span of an excerpt that ends at `before`, else begins at `start`, else shows a passage."""
    if before is not None:
        return _choose_span_before(text, before)
    if start is not None:
        return _choose_span_from(text, start)
    return _choose_span_around(text, passage)


def _choose_span_before(text: str, end: int) -> tuple[int, int]:
    """Return the span of an excerpt that ends at an offset and begins between paragraphs, or between words."""
    high = min(end, len(text))
    low = _find_break(text, high - EXCERPT_SIZE) if high > EXCERPT_SIZE else 0
    return low, high


def _choose_span_around(text: str, passage: tuple[int, int] | None) -> tuple[int, int]:
    """Return the span of an excerpt that begins a little before a passage; at the beginning of the text without one."""
    if passage is None:
        return _choose_span_from(text, 0)
    return _choose_span_from(text, passage[0] - CONTEXT_SIZE)


def _choose_span_from(text: str, start: int) -> tuple[int, int]:
    """Return the span of an excerpt that begins and ends between paragraphs, or between words of a long one.

    It has about EXCERPT_SIZE characters.

    :param start: the span begins here or a little later; at the beginning of the text if this is negative.
    """
    if start <= 0:
        span_start = 0
    elif text[start - 1 : start].isspace():
        span_start = min(start, len(text))
    else:
        span_start = _find_break(text, start)
    earliest_end = span_start + EXCERPT_SIZE
    span_end = _find_break(text, earliest_end) if earliest_end < len(text) else len(text)
    return span_start, span_end


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
    """Yield the (start, end) spans of the paragraphs in text[low:high]; long ones are split between words.

    :param low: the offset at which the first paragraph begins.
    :param high: the offset at which the last one ends.
    """
    start = low
    breaks = [match.span() for match in _choose_paragraph_break(text).finditer(text, low, high)]
    for end, next_start in [*breaks, (high, high)]:
        while end - start > MAX_PARAGRAPH:
            middle = _find_split(text, start)
            yield start, middle
            start = middle
        if text[start:end].strip():
            yield start, end
        start = next_start


def _find_split(text: str, start: int) -> int:
    """Return where a long paragraph is split: behind the last blank of the second half of the longest allowed one."""
    end = start + MAX_PARAGRAPH
    blank = text.rfind(" ", start + MAX_PARAGRAPH // 2, end)
    return blank + 1 if blank >= 0 else end


def _find_headings(document: Document) -> Mapping[str, int]:
    """Return the headings of a document, which the reader of its file has found, with their offsets in the text.

    They come in the order of the text; one that is not found behind the heading before it is left out.
    """
    headings: dict[str, int] = {}
    search_start = 0
    for title in document.fields.get("headings", "").split("\n")[:MAX_HEADINGS]:
        offset = document.text.find(title, search_start) if title.strip() else -1
        if offset >= 0:
            headings.setdefault(title.strip(), offset)
            search_start = offset + len(title)
    return headings
