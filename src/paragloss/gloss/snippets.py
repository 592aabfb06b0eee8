"""Choose the passage of a document that matches a query best, and mark the words that match."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise, takewhile
from typing import NamedTuple, TypeAlias

from paragloss.analysis import analyzer
from paragloss.analysis.sentences import split_sentences
from paragloss.analysis.tokenization import MAX_TOKENIZED_CHARACTERS
from paragloss.encoders.bag import BagEncoder
from paragloss.types import Floats, TokenizedText

#: The least weight of a word that is marked, relative to the heaviest word of the document. If every word were marked,
#: readers would not see the important ones.
MIN_RELATIVE_WEIGHT_OF_MARK = 0.25
#: Differences between weights of windows up to this one are rounding errors.
_TOLERANCE = 1e-12

#: The starts, the ends and the terms of tokens, as `TokenizedText.offsets` returns them.
Offsets: TypeAlias = tuple[Sequence[int], Sequence[int], Sequence[str]]


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

    :param tokenized: the tokens of a document that have a weight; without any the snippet is the document's beginning.
    :param weights: how much each term says about the match.
    :param width: about how many characters the passage has.
    :param partly: look for terms in the passage again, because `tokenized` has only part of them.
    """
    text, offsets = tokenized.text[:MAX_TOKENIZED_CHARACTERS], tokenized.offsets()
    first, last = find_best_window(offsets, weights, width)
    start, end = _widen(text, first, last, width, tokenized.lang)
    passage = " ".join(text[start:end].split())
    min_weight = MIN_RELATIVE_WEIGHT_OF_MARK * max(map(weights.__getitem__, {*offsets[2]}), default=1.0)
    if partly:
        spans = analyzer(tokenized.lang).spans(passage)
        marks = [(span.start, span.end) for span in spans if weights.get(span.term, 0.0) >= min_weight]
    else:
        matches = _select_matches(offsets, weights, min_weight, start, end)
        marks = _place_in_passage(text, matches, start)
    prefix = "… " if start > 0 else ""
    suffix = " …" if end < len(text.rstrip()) else ""
    moved_marks = tuple((mark_start + len(prefix), mark_end + len(prefix)) for mark_start, mark_end in marks)
    return Snippet(prefix + passage + suffix, moved_marks, first)


def _select_matches(
    offsets: Offsets, weights: Mapping[str, float], min_weight: float, start: int, end: int
) -> list[tuple[int, int]]:
    """Return the spans of the tokens within text[start:end] whose terms have at least a weight."""
    starts, stops, terms = offsets
    low, high = bisect_left(starts, start), bisect_left(starts, end)
    tokens = zip(starts[low:high], stops[low:high], terms[low:high], strict=True)
    return [(first, last) for first, last, term in tokens if last <= end and weights[term] >= min_weight]


def _place_in_passage(text: str, spans: Sequence[tuple[int, int]], start: int) -> list[tuple[int, int]]:
    """Convert spans of a text into spans of the passage that begins at `start`, whose white space is collapsed."""
    edges = [start, *(span_start for span_start, _ in spans)]
    positions = accumulate(_collapsed_length(text[a:b]) for a, b in pairwise(edges))
    return [
        (position, position + span_end - span_start)
        for position, (span_start, span_end) in zip(positions, spans, strict=True)
    ]


def _collapsed_length(text: str) -> int:
    """Return the length of a text once white space is removed at its beginning and is one space elsewhere."""
    return len(" ".join(f"{text}.".split())) - 1


def compute_contributions(encoder: BagEncoder, query: Floats, text: str, lang: str) -> dict[str, float]:
    """Compute how much each known term of a text adds to its similarity with a query.

    It is the term's share of the document times the dot product of its own vector with the query's. For a linear model
    the results sum to the score, up to one factor.

    :param query: the query's vector (dim,).
    """
    import scipy.sparse as sp

    vocabulary = encoder.tower(lang).vocabulary
    counts = vocabulary.counts([text[:MAX_TOKENIZED_CHARACTERS]])
    if counts.nnz == 0:
        return {}
    ids, weights = counts.indices, counts.data * vocabulary.idf[counts.indices]
    n_terms = len(ids)
    single_terms = sp.csr_matrix(
        ([1.0] * n_terms, (range(n_terms), ids)), shape=(n_terms, len(vocabulary)), dtype="float32"
    )
    similarities = encoder.encode_counts(single_terms, lang) @ query  # (n_terms,)
    shares = weights * similarities / weights.sum()
    return {vocabulary.terms[i]: float(share) for i, share in zip(ids, shares, strict=True)}


def find_best_window(offsets: Offsets, weights: Mapping[str, float], width: int) -> tuple[int, int]:
    """Find the window of at most `width` characters with the greatest sum of weights of different terms.

    A window ends with a token and begins with the first one that still fits.

    :return: the offsets of its beginning and end; (0, 0) if there are no tokens.
    """
    starts, _, terms = offsets
    best, best_weight = (0, 0), 0.0
    counts = dict.fromkeys(terms, 0)  # how often the window has each term
    window_weight, first = 0.0, 0  # `first` is the number of the window's first token
    for start, end, term in zip(*offsets, strict=True):
        counts[term] += 1
        min_start = end - width if end - start < width else start
        is_new = counts[term] == 1
        while starts[first] < min_start:  # remove tokens that no longer fit
            removed_term = terms[first]
            counts[removed_term] -= 1
            if not counts[removed_term]:
                window_weight -= weights[removed_term]
            first += 1
        if is_new:
            window_weight += weights[term]
            if window_weight > best_weight + _TOLERANCE:
                best, best_weight = (starts[first], end), window_weight
    return best


def _widen(text: str, start: int, end: int, width: int, lang: str) -> tuple[int, int]:
    """Extend text[start:end] to about `width` characters.

    It then begins with its sentence and ends with one if their edges are near, otherwise between words.

    :param width: how many characters the passage should have.
    :return: (start, end) of the passage.
    """
    low = max(0, start - max(0, width - (end - start)) // 2)
    edges = _find_sentence_starts(text, low, start, end, width, lang)
    earlier_edges = [edge for edge in edges if low <= edge <= start]
    if earlier_edges:
        low = earlier_edges[0]
    elif low > 0:
        space = text.find(" ", low, start)
        low = space if space >= 0 else low
    while low < start and text[low].isspace():
        low += 1
    high = min(len(text), max(end, low + width))
    later_edges = [edge for edge in edges if max(end, low + width // 2) <= edge <= low + width * 5 // 4]
    if later_edges:
        high = later_edges[-1]
    elif high < len(text):
        space = text.rfind(" ", end, high)
        high = space if space >= end else high
    return low, high


def _find_sentence_starts(text: str, low: int, start: int, end: int, width: int, lang: str) -> list[int]:
    """Return the offsets near a window at which sentences begin, in order."""
    region_start, region_end = max(0, low - width), min(len(text), end + 2 * width)
    max_edge = start + width * 5 // 4
    sentence_starts = (region_start + offset for offset, _ in split_sentences(text[region_start:region_end], lang))
    return list(takewhile(lambda edge: edge <= max_edge, sentence_starts))
