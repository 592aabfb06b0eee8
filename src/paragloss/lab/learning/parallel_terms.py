"""Aligned texts cut into terms, as arrays that `ibm_model1` learns from, and how each term is written. Neighbours that
meet far more often than chance has it are one term (normalised pointwise mutual information: Bouma, GSCL 2009)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from paragloss.analysis import analyzer
from paragloss.lab.learning.ibm_model1 import Bags
from paragloss.translation.term_spellings import choose_spellings
from paragloss.translation.word_table import TermSpellings
from paragloss.types import Aligned, Integers

#: Longer than this a text is a document: its order says little, its distinct words are what counts.
SENTENCE = 64
#: A pair of neighbours is met so often before it can be a phrase, a word alone so often before phrases may take it.
LEAST = 10


class Texts(NamedTuple):
    """All texts of one language; `unit` says which (concept, part) each one is."""

    unit: Integers
    bags: Bags
    words: TermSpellings


class Cut(NamedTuple):
    """Texts as term ids, text after text, and what the ids stand for."""

    start: Integers  # (texts + 1,)
    term: Integers
    words: TermSpellings


def read(aligned: Aligned, lang: str, *, max_terms: int, phrases: bool) -> Texts:
    """Cut all texts of a language. A title is a text of its own: short, and the best of all pairs.

    With `phrases`, neighbours that belong together become one term, `first second`.
    """
    parts = [
        (2 * number + part, text)
        for number, concept in enumerate(aligned)
        for part, text in enumerate((concept.texts.get(lang), concept.titles.get(lang)))
        if text
    ]
    start, flat, words = cut((text for _, text in parts), lang)
    if phrases:
        width = len(words.terms)
        found = collocations(start, flat, width)
        start, flat = merge(start, flat, width, found)
        for side in words:
            side += [f"{side[pair // width]} {side[pair % width]}" for pair in found.tolist()]
    units = np.array([unit for unit, _ in parts], np.int64)
    return Texts(units, bags(start, flat, len(words.terms), max_terms), words)


def cut(texts: Iterable[str], lang: str) -> Cut:
    """Every text as the ids of its terms, numbered as they are met, and how each term is most often written."""
    spans_of = analyzer(lang).spans
    index: dict[str, int] = {}
    written: Counter[tuple[str, str]] = Counter()
    sizes: list[int] = []
    terms: list[int] = []
    for text in texts:
        spans = spans_of(text)
        terms += [index.setdefault(span.term, len(index)) for span in spans]
        written.update([(span.term, text[span.start : span.end]) for span in spans])
        sizes.append(len(spans))
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    spelled = choose_spellings(written, lang)
    return Cut(start, np.asarray(terms, np.int64), TermSpellings(list(index), [spelled[term] for term in index]))


def bags(start: Integers, term: Integers, width: int, max_terms: int) -> Bags:
    """Sentences as they are; of a document the `max_terms` distinct terms of highest tf-idf, each at its mean place,
    weighing 1 + ln(count)."""
    size = np.diff(start)
    text = np.repeat(np.arange(len(size)), size)
    place = (np.arange(len(term)) - start[text] + 0.5) / size[text]
    long = size > SENTENCE
    # A sentence keeps its words apart by giving each its own key; a document's equal words share one.
    within = np.where(long[text], term, width + np.arange(len(term)) - start[text])
    key = text * np.int64(width + SENTENCE) + within
    _, first, owner, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    mean = np.bincount(owner, place) / count
    df = np.bincount(term[first], minlength=width)
    weight = 1 + np.log(count)
    text, term = text[first], term[first]
    score = np.where(long[text], weight * np.log((len(size) + 1) / df[term]), np.inf)
    order = np.lexsort((-score, text))
    counts = np.bincount(text, minlength=len(size))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = np.sort(order[rank < max_terms])
    kept = kept[np.lexsort((mean[kept], text[kept]))]
    start = np.concatenate([[0], np.cumsum(np.bincount(text[kept], minlength=len(size)))]).astype(np.int64)
    columns = (term[kept].astype(np.int32), weight[kept].astype(np.float32), mean[kept].astype(np.float32))
    return Bags(start, *columns, width)


def with_words(texts: Texts, more: TermSpellings | None) -> Texts:
    """The same texts in a language that has more words than they hold."""
    if more is None:
        return texts
    known = set(texts.words.terms)
    new = [i for i, term in enumerate(more.terms) if term not in known]
    words = TermSpellings(*([*ours, *(theirs[i] for i in new)] for ours, theirs in zip(texts.words, more, strict=True)))
    return Texts(texts.unit, texts.bags._replace(width=len(words.terms)), words)


def places(words: TermSpellings, of: TermSpellings) -> Integers:
    """Where the terms of one list stand in another that has them all."""
    number = {term: i for i, term in enumerate(words.terms)}
    return np.array([number[term] for term in of.terms], np.int64)


def shared(left: Texts, right: Texts) -> tuple[Bags, Bags]:
    """The texts that exist in both languages, in the same order."""
    _, a, b = np.intersect1d(left.unit, right.unit, return_indices=True)
    return _only(left.bags, a), _only(right.bags, b)


def _only(all_of: Bags, texts: Integers) -> Bags:
    size = np.diff(all_of.start)[texts]
    start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    entries = np.arange(start[-1]) + np.repeat(all_of.start[texts] - start[:-1], size)
    return Bags(start, all_of.term[entries], all_of.weight[entries], all_of.place[entries], all_of.width)


class Merged(NamedTuple):
    """Texts in which phrases are terms; the phrase `i` is the term `width + i`."""

    start: Integers
    term: Integers


def collocations(start: Integers, term: Integers, width: int, *, least: int = LEAST, npmi: float = 0.5) -> Integers:
    """Pairs of neighbours as first * width + second, sorted: those met `least` times or more, and going together at
    least so far: 0 is chance, 1 is never apart."""
    key, count = np.unique(_neighbours(start, term, width), return_counts=True)
    key, count = key[(count >= least) & (key >= 0)], count[(count >= least) & (key >= 0)]
    seen = np.bincount(term, minlength=width)
    together = count / max(len(term), 1)
    apart = seen[key // width] * seen[key % width] / max(len(term), 1) ** 2
    return key[np.log(together / apart) >= npmi * -np.log(together)]


def merge(start: Integers, term: Integers, width: int, phrases: Integers, *, least: int = LEAST) -> Merged:
    """Put phrases in place of their words, from the left: of three words that chain, the first two.

    A word that is met alone fewer than `least` times stays beside the phrase, or nothing would be known of it.
    """
    if not len(phrases):
        return Merged(start, term)
    key = _neighbours(start, term, width)
    number = np.minimum(np.searchsorted(phrases, key), len(phrases) - 1)
    is_phrase = phrases[number] == key
    # In a run of overlapping phrases every other one begins at a word that is still free.
    here = np.arange(len(term))
    run = here - np.maximum.accumulate(np.where(is_phrase, 0, here + 1))
    begins = is_phrase & (run % 2 == 0)
    inside = begins | np.concatenate([[False], begins[:-1]])
    alone = np.bincount(term[~inside], minlength=width)
    places = np.flatnonzero(begins)
    kept = np.insert(~inside | (alone[term] < least), places, True)
    before = np.concatenate([[0], np.cumsum(kept)])
    return Merged(before[start + np.searchsorted(places, start)], np.insert(term, places, width + number[places])[kept])


def _neighbours(start: Integers, term: Integers, width: int) -> Integers:
    """For each term the pair it makes with the next; -1 at the end of a text."""
    key = np.full(len(term), -1, np.int64)
    key[:-1] = term[:-1].astype(np.int64) * width + term[1:]
    ends = start[1:][start[1:] > start[:-1]] - 1
    key[ends] = -1
    return key
