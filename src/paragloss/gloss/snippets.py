"""Choose the passage of a document that matches a query best, and mark the words that match."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Mapping, Sequence, Set
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from paragloss.analysis import analyzer
from paragloss.analysis.sentences import split_sentences
from paragloss.analysis.tokenization import MAX_TOKENIZED_CHARACTERS
from paragloss.encoders.bag import BagEncoder
from paragloss.types import Floats, Integers, TokenizedText, TokenOffsets

#: The least weight of a word that is marked, relative to the heaviest word of the document. If every word were marked,
#: readers would not see the important ones.
MIN_RELATIVE_WEIGHT_OF_MARK = 0.25
#: Differences between weights of windows up to this one are rounding errors.
_TOLERANCE = 1e-12
#: The shares of its width to which a passage may be filled so that it ends with a sentence.
_MIN_FILL, _MAX_FILL = 0.5, 1.25


class Snippet(NamedTuple):
    """A passage of a document.

    `marks` are the spans of `text` that match the query, `first` is where in the document the best passage begins.
    """

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    first: int = 0


def make_snippet(
    tokenized: TokenizedText, weights: Mapping[str, float], *, width: int = 240, partly: bool = False
) -> Snippet:
    """Cut out the passage that holds the greatest weight of different terms, and mark these in it.

    White space in the passage is collapsed, and "…" stands where text is left out before or behind it.

    :param tokenized: the tokens of a document that have a weight; without any the snippet is the document's beginning.
    :param weights: how much each term says about the match.
    :param width: about how many characters the passage has.
    :param partly: look for terms in the passage again, because `tokenized` has only part of them.
    """
    text = tokenized.text[:MAX_TOKENIZED_CHARACTERS]
    offsets = tokenized.offsets()
    window = find_best_window(offsets, weights, width)
    start, end = _widen_window(text, window, width, tokenized.lang)
    passage = " ".join(text[start:end].split())
    marked_terms = _select_marked_terms(weights, set(offsets.terms))
    if partly:
        marks = _find_terms(passage, marked_terms, tokenized.lang)
    else:
        spans_in_text = _list_spans(offsets, marked_terms, start, end)
        marks = _place_in_passage(text, spans_in_text, start)
    before = "… " if start > 0 else ""
    after = " …" if end < len(text.rstrip()) else ""
    window_start, _ = window
    return Snippet(before + passage + after, _shift_spans(marks, len(before)), window_start)


def _select_marked_terms(weights: Mapping[str, float], document_terms: Set[str]) -> set[str]:
    """Select the terms that are heavy enough to be marked, compared with the heaviest term of the document."""
    heaviest_weight = max([weights[term] for term in document_terms], default=1.0)
    return {term for term, weight in weights.items() if weight >= MIN_RELATIVE_WEIGHT_OF_MARK * heaviest_weight}


def _find_terms(text: str, terms: Container[str], lang: str) -> list[tuple[int, int]]:
    """Return the spans of the words of a text that have one of some terms."""
    return [(span.start, span.end) for span in analyzer(lang).spans(text) if span.term in terms]


def _list_spans(offsets: TokenOffsets, terms: Container[str], start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of the tokens within text[start:end] that have one of some terms."""
    tokens = slice(bisect_left(offsets.starts, start), bisect_left(offsets.starts, end))
    spans = zip(offsets.starts[tokens], offsets.ends[tokens], offsets.terms[tokens], strict=True)
    return [(token_start, token_end) for token_start, token_end, term in spans if token_end <= end and term in terms]


def _place_in_passage(text: str, spans: Sequence[tuple[int, int]], start: int) -> list[tuple[int, int]]:
    """Convert spans of a text into spans of the passage that begins at `start`, whose white space is collapsed."""
    placed = []
    previous_start, position = start, 0  # the same offset in the text and in the passage
    for span_start, span_end in spans:
        position += _collapsed_length(text[previous_start:span_start])
        placed.append((position, position + span_end - span_start))
        previous_start = span_start
    return placed


def _collapsed_length(text: str) -> int:
    """Return the length of a text once white space is removed at its beginning and is one space elsewhere."""
    return len(" ".join(f"{text}.".split())) - 1


def _shift_spans(spans: Sequence[tuple[int, int]], offset: int) -> tuple[tuple[int, int], ...]:
    """Move spans by a number of characters."""
    return tuple((start + offset, end + offset) for start, end in spans)


def compute_contributions(encoder: BagEncoder, query: Floats, text: str, lang: str) -> dict[str, float]:
    """Compute how much each known term of a text adds to its similarity with a query.

    It is the term's share of the document times the dot product of its own vector with the query's. For a linear model
    the results sum to the score, up to one factor.

    :param encoder: the model that encodes texts and queries.
    :param query: (dim,) the vector of the query.
    :param lang: the language of the text.
    :return: term -> its contribution; {} for a text without known terms.
    """
    vocabulary = encoder.tower(lang).vocabulary
    counts = vocabulary.counts([text[:MAX_TOKENIZED_CHARACTERS]])  # (1, vocabulary)
    if counts.nnz == 0:
        return {}
    term_ids = counts.indices  # (n_terms,) of the different terms of the text
    weights = counts.data * vocabulary.idf[term_ids]
    similarities = _compute_term_similarities(encoder, term_ids, query, lang)  # (n_terms,)
    contributions = weights * similarities / weights.sum()
    terms = [vocabulary.terms[term_id] for term_id in term_ids]
    return dict(zip(terms, contributions.tolist(), strict=True))


def _compute_term_similarities(encoder: BagEncoder, term_ids: Integers, query: Floats, lang: str) -> Floats:
    """Return the dot product of the vector of each term, encoded as a text of its own, with a query: (n_terms,)."""
    import scipy.sparse as sp

    n_terms, n_vocabulary = len(term_ids), len(encoder.tower(lang).vocabulary)
    one_term_per_row = (np.ones(n_terms, np.float32), (np.arange(n_terms), term_ids))
    counts = sp.csr_matrix(one_term_per_row, shape=(n_terms, n_vocabulary))
    return encoder.encode_counts(counts, lang) @ query


def find_best_window(offsets: TokenOffsets, weights: Mapping[str, float], width: int) -> tuple[int, int]:
    """Find the window of at most `width` characters with the greatest sum of weights of different terms.

    A window ends with a token and begins with the first one that still fits.

    :param offsets: the tokens of a text.
    :param weights: the weight of each term.
    :return: the offsets of its beginning and end; (0, 0) if there are no tokens.
    """
    starts, terms = offsets.starts, offsets.terms
    best_window, best_weight = (0, 0), 0.0
    counts = dict.fromkeys(terms, 0)  # how often the window has each term
    window_weight = 0.0
    first = 0  # the number of the window's first token
    for start, end, term in zip(*offsets, strict=True):
        counts[term] += 1
        is_new = counts[term] == 1
        min_start = min(start, end - width)  # a token that is longer than the window stands alone
        while starts[first] < min_start:  # the token no longer fits
            removed_term = terms[first]
            counts[removed_term] -= 1
            if not counts[removed_term]:
                window_weight -= weights[removed_term]
            first += 1
        if is_new:
            window_weight += weights[term]
            if window_weight > best_weight + _TOLERANCE:
                best_window, best_weight = (starts[first], end), window_weight
    return best_window


def _widen_window(text: str, window: tuple[int, int], width: int, lang: str) -> tuple[int, int]:
    """Extend a window of a text to a passage of about `width` characters.

    The passage begins with a sentence and ends with one if such edges are near, otherwise between words.

    :param window: (start, end) of the part of the text that the passage must have.
    :param width: about how many characters the passage has.
    :param lang: the language of the text, in which sentences are found.
    :return: (start, end) of the passage.
    """
    window_start, window_end = window
    n_missing = max(0, width - (window_end - window_start))  # characters around the window
    first_start = max(0, window_start - n_missing // 2)
    region = (max(0, first_start - width), min(len(text), window_end + 2 * width))
    max_end = window_start + int(_MAX_FILL * width)
    sentence_starts = _find_sentence_starts(text, region, max_end, lang)
    start = _move_start(text, first_start, window_start, sentence_starts)
    return start, _find_end(text, start, window_end, width, sentence_starts)


def _find_sentence_starts(text: str, region: tuple[int, int], max_offset: int, lang: str) -> list[int]:
    """Return the offsets, up to `max_offset`, at which sentences begin in a region of a text, in order."""
    start, end = region
    sentence_starts = (start + offset for offset, _ in split_sentences(text[start:end], lang))
    return list(takewhile(lambda offset: offset <= max_offset, sentence_starts))


def _move_start(text: str, start: int, window_start: int, sentence_starts: Sequence[int]) -> int:
    """Move the start of a passage, up to the window, to the next sentence if there is one, else to the next word."""
    next_sentences = [offset for offset in sentence_starts if start <= offset <= window_start]
    if next_sentences:
        start = next_sentences[0]
    elif start > 0:
        space = text.find(" ", start, window_start)
        start = space if space >= 0 else start
    while start < window_start and text[start].isspace():
        start += 1
    return start


def _find_end(text: str, start: int, window_end: int, width: int, sentence_starts: Sequence[int]) -> int:
    """Return where a passage ends: before a sentence if its length suits there, else after a word.

    :param start: where the passage begins.
    :param window_end: where it ends at the earliest.
    :param width: about how many characters it has.
    :param sentence_starts: where sentences begin, in order.
    """
    min_end = max(window_end, start + int(_MIN_FILL * width))
    max_end = start + int(_MAX_FILL * width)
    next_sentences = [offset for offset in sentence_starts if min_end <= offset <= max_end]
    if next_sentences:
        return next_sentences[-1]
    end = min(len(text), max(window_end, start + width))
    if end == len(text):
        return end
    space = text.rfind(" ", window_end, end)
    return space if space >= 0 else end
