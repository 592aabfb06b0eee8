"""Why did this document match, and where: the words that carry the match, and the passage they are thickest in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise, takewhile
from typing import NamedTuple

from paragloss.analysis import analyzer
from paragloss.analysis.sentences import split_sentences
from paragloss.analysis.tokenization import MAX_TOKENIZED_CHARACTERS
from paragloss.encoders.bag import BagEncoder
from paragloss.types import Floats, TokenizedText

#: The least weight of a word that is marked, beside the strongest of the document: where all is marked, nothing is.
MARKED = 0.25


class Snippet(NamedTuple):
    """A passage of a document; `marks` are the places in `text` that matched, `first` is where
    in the document the matching begins."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    first: int = 0


def snippet(cut: TokenizedText, weights: Mapping[str, float], *, width: int = 240, partly: bool = False) -> Snippet:
    """The passage of about `width` characters that holds the greatest weight of different terms, given the words of a
    text that weigh something.

    Without any it is the beginning of the text. A text that is cut `partly` may have more of them there.
    """
    text, places = cut.text[:MAX_TOKENIZED_CHARACTERS], cut.offsets()
    first, last = best_window(places, weights, width)
    start, end = _widen(text, first, last, width, cut.lang)
    passage = " ".join(text[start:end].split())
    least = MARKED * max(map(weights.__getitem__, {*places[2]}), default=1.0)
    before, after = "… " if start > 0 else "", " …" if end < len(text.rstrip()) else ""
    if partly:
        spans = analyzer(cut.lang).spans(passage)
        marks = [(span.start, span.end) for span in spans if weights.get(span.term, 0.0) >= least]
    else:
        some = slice(*(bisect_left(places[0], edge) for edge in (start, end)))
        shown = zip(*(each[some] for each in places), strict=True)
        marked = [(a, b) for a, b, term in shown if b <= end and weights[term] >= least]
        steps = map(_folded, (text[a:b] for a, b in pairwise([start, *(a for a, _ in marked)])))
        marks = [(at, at + b - a) for at, (a, b) in zip(accumulate(steps), marked, strict=True)]
    moved = tuple((a + len(before), b + len(before)) for a, b in marks)
    return Snippet(before + passage + after, moved, first)


def _folded(text: str) -> int:
    """How long a text is once its white space is folded: to none at its beginning, elsewhere to one space."""
    return len(" ".join(f"{text}.".split())) - 1


def contributions(encoder: BagEncoder, query: Floats, text: str, lang: str) -> dict[str, float]:
    """How much each known term of a text speaks for the query vector: its share of the document times the
    likeness of its own vector to the query's. For a linear model these add up to the score, up to one factor."""
    import scipy.sparse as sp

    vocabulary = encoder.tower(lang).vocabulary
    counts = vocabulary.counts([text[:MAX_TOKENIZED_CHARACTERS]])
    if counts.nnz == 0:
        return {}
    ids, weights = counts.indices, counts.data * vocabulary.idf[counts.indices]
    alone = sp.csr_matrix(
        ([1.0] * len(ids), (range(len(ids)), ids)), shape=(len(ids), len(vocabulary)), dtype="float32"
    )
    likeness = encoder.encode_counts(alone, lang) @ query
    shares = weights * likeness / weights.sum()
    return {vocabulary.terms[i]: float(share) for i, share in zip(ids, shares, strict=True)}


def best_window(
    places: tuple[Sequence[int], Sequence[int], Sequence[str]], weights: Mapping[str, float], width: int
) -> tuple[int, int]:
    """The stretch of at most `width` characters with the greatest sum of weights of different terms."""
    starts, _, terms = places
    best, best_mass = (0, 0), 0.0
    inside = dict.fromkeys(terms, 0)
    mass, left = 0.0, 0
    for start, end, term in zip(*places, strict=True):
        seen = inside[term]
        inside[term] = seen + 1
        low = end - width if end - start < width else start
        while starts[left] < low:
            gone = terms[left]
            inside[gone] -= 1
            if not inside[gone]:
                mass -= weights[gone]
            left += 1
        if not seen:
            mass += weights[term]
            if mass > best_mass + 1e-12:
                best, best_mass = (starts[left], end), mass
    return best


def _widen(text: str, start: int, end: int, width: int, lang: str) -> tuple[int, int]:
    """Grow a stretch to about `width`: from the sentence it begins in, if that is near, to the end of a sentence, if
    one is; otherwise between words."""
    spare = max(0, width - (end - start))
    low = max(0, start - spare // 2)
    before, after = max(0, low - width), min(len(text), end + 2 * width)
    begins = (before + place for place, _ in split_sentences(text[before:after], lang))
    edges = [*takewhile((start + width * 5 // 4).__ge__, begins)]
    begun = [edge for edge in edges if low <= edge <= start]
    if begun:
        low = begun[0]
    elif low > 0 and (space := text.find(" ", low, start)) >= 0:
        low = space
    while low < start and text[low].isspace():
        low += 1
    high = min(len(text), max(end, low + width))
    ended = [edge for edge in edges if max(end, low + width // 2) <= edge <= low + width * 5 // 4]
    if ended:
        high = ended[-1]
    elif high < len(text) and (space := text.rfind(" ", end, high)) >= end:
        high = space
    return low, high
