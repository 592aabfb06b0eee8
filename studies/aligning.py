"""Which word of a sentence is which of its translation: IBM Model 1 with a prior for the same relative place (Dyer,
Chahuneau and Smith, 2013), in both directions over stems; what both directions say is counted for words as written.
Knows nothing of what becomes of the counts (studies/lexicon.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from paragloss.analysis import analyzer

#: Longer sentences are left out; more pairs of one language teach little and take long.
LONGEST, MOST_CELLS = 50, 6_000_000
ROUNDS, DIAGONAL, NULL, LISTED = 3, 4.0, 0.05, 2.0
#: A link is kept if both directions together are so sure of it, a word of one direction if that is.
LINKED, EXPLAINED = 0.1, 0.3


class Sentence(NamedTuple):
    """Words as written and their stems."""

    words: list[str]
    stems: list[str]


class Cutter:
    """Sentences of one language, cut once."""

    def __init__(self, lang: str) -> None:
        self._spans, self._sentences_by_text = analyzer(lang, stop=False).spans, dict[str, Sentence]()

    def __call__(self, text: str) -> Sentence:
        if text not in self._sentences_by_text:
            spans = self._spans(text)
            words = [text[span.start : span.end].replace("’", "'") for span in spans]
            self._sentences_by_text[text] = Sentence(words, [span.term for span in spans])
        return self._sentences_by_text[text]


class Counts(NamedTuple):
    """How often words as written stood where, and were linked: lower-case other words and phrases with English ones."""

    links: Counter[tuple[str, str]]
    other: Counter[str]
    english: Counter[str]
    stems: Counter[tuple[str, str]]
    other_stems: Counter[str]
    before: Counter[tuple[str, str]]  # small English words that an ending stands for: Finnish talossa, in (the) house


def align(pairs: Sequence[tuple[Sentence, Sentence]], listed: Iterable[tuple[str, str]]) -> list[tuple]:
    """For every pair (English, other) its links (English place, other place), and for the words of each side the place
    on the other that explains it best, or -1. `listed`: stems that dictionaries pair."""
    en_ids, other_ids = dict[str, int](), dict[str, int]()
    sides = []
    for side, ids in ((0, en_ids), (1, other_ids)):
        sides.append([np.array([ids.setdefault(s, len(ids)) for s in pair[side].stems], np.int64) for pair in pairs])
    sizes = [np.array([len(sentence) for sentence in side], np.int64) for side in sides]
    starts = [np.concatenate([[0], np.cumsum(size)]) for size in sizes]
    entries = [np.concatenate(side) for side in sides]
    # Cells: English word after English word, each against all words of the other sentence.
    text = np.repeat(np.arange(len(pairs)), sizes[0])
    width = sizes[1][text]
    e = np.repeat(np.arange(len(entries[0]), dtype=np.int32), width)
    begin = np.cumsum(width) - width
    f = (np.arange(len(e)) - np.repeat(begin - starts[1][text], width)).astype(np.int32)
    key = entries[0][e] * len(other_ids) + entries[1][f]
    known_pairs, pair = np.unique(key, return_inverse=True)
    pair = pair.astype(np.int32)
    positions = [
        (np.arange(len(x)) - np.repeat(s[:-1], z)) / np.repeat(np.maximum(z, 1), z)
        for x, s, z in zip(entries, starts, sizes, strict=True)
    ]
    prior = np.exp(-DIAGONAL * np.abs(positions[0][e] - positions[1][f])).astype(np.float32)
    bonus = np.zeros(len(known_pairs))
    wanted_pairs = {en_ids[a] * len(other_ids) + other_ids[b] for a, b in listed if a in en_ids and b in other_ids}
    pair_rows = np.searchsorted(known_pairs, np.array(sorted(wanted_pairs), np.int64))
    pair_rows = pair_rows[pair_rows < len(known_pairs)]
    bonus[pair_rows[np.isin(known_pairs[pair_rows], list(wanted_pairs))]] = LISTED
    pair_columns = [known_pairs // len(other_ids), known_pairs % len(other_ids)]
    posteriors = []
    for rows, own in ((f, 0), (e, 1)):  # each word of a row's side is explained by one of the other's
        scale = np.bincount(rows, prior, minlength=len(entries[1 - own]))
        share = prior / scale[rows].astype(np.float32)
        probability = np.ones(len(known_pairs)) / 1000 + bonus
        for number in range(ROUNDS + 1):
            if number:
                mass = np.bincount(pair_columns[own], probability)[pair_columns[own]]
                probability = probability / mass
            joint = probability[pair].astype(np.float32) * share
            total = np.bincount(rows, joint, minlength=len(scale)) + NULL * 1e-3
            joint /= total[rows].astype(np.float32)
            if number < ROUNDS:
                probability = np.bincount(pair, joint, minlength=len(known_pairs)) + bonus * (1 if number < 2 else 0.5)
        posteriors.append(joint)
    best_e = _best(posteriors[0], f, e, len(entries[1]))  # of every other word the English one
    best_f = _best(posteriors[1], e, f, len(entries[0]))
    joint_posteriors = posteriors[0] * posteriors[1]
    linked = np.flatnonzero((best_e[f] == e) & (best_f[e] == f) & (joint_posteriors > LINKED))
    owner = text[e[linked]]
    cuts = np.searchsorted(owner, np.arange(len(pairs) + 1))
    pair_rows = []
    for number in range(len(pairs)):
        links_of_part = linked[cuts[number] : cuts[number + 1]]
        a, b = starts[0][number], starts[1][number]
        left = best_f[a : starts[0][number + 1]]
        right = best_e[b : starts[1][number + 1]]
        pair_rows.append(
            (
                list(zip((e[links_of_part] - a).tolist(), (f[links_of_part] - b).tolist(), strict=True)),
                np.where(left >= 0, left - b, -1).tolist(),
                np.where(right >= 0, right - a, -1).tolist(),
            )
        )
    return pair_rows


def _best(posterior: np.ndarray, rows: np.ndarray, columns: np.ndarray, count: int) -> np.ndarray:
    """Which of the others explains each row best, if it does so well enough; -1 if none."""
    top = np.zeros(count, np.float32)
    np.maximum.at(top, rows, posterior)
    best_columns = np.full(count, -1, np.int64)
    is_top = (posterior == top[rows]) & (posterior > EXPLAINED)
    best_columns[rows[is_top]] = columns[is_top]
    return best_columns


def count(
    pairs: Sequence[tuple[Sentence, Sentence]], aligned: Sequence[tuple], small: frozenset[str], space: str
) -> Counts:
    """`small` English words join nothing; `space` stands between the words of a phrase."""
    counts = Counts(*(Counter() for _ in Counts._fields))
    for (english, other), (links, best_f, best_e) in zip(pairs, aligned, strict=True):
        lower = [word.lower() for word in other.words]
        counts.other.update(lower)
        counts.english.update(english.words)
        counts.other_stems.update(other.stems)
        counts.other.update(space.join(two) for two in pairwise(lower))
        linked_words = {e for e, _ in links}
        for e, f in links:
            counts.stems[other.stems[f], english.stems[e]] += 1
            first, last = e, e + 1
            if english.words[e].lower() not in small:
                while (
                    first
                    and first - 1 not in linked_words
                    and best_f[first - 1] == f
                    and english.words[first - 1].lower() not in small
                ):
                    first -= 1
                while (
                    last < len(best_f)
                    and last not in linked_words
                    and best_f[last] == f
                    and english.words[last].lower() not in small
                ):
                    last += 1
            phrase = " ".join(english.words[first:last])
            if first == 0 and not phrase.isupper():
                phrase = f"\0{phrase}"  # a sentence's first word: its capital says nothing
            counts.links[lower[f], phrase] += 1
            for position in (first - 1, first - 2):
                if position >= 0 and position not in linked_words and best_f[position] == f:
                    counts.before[lower[f], english.words[position].lower()] += 1
            if f and other.words[f][:1].isupper():  # Arm and arm
                counts.links[other.words[f], phrase] += 1
                counts.other[other.words[f]] += 1
            if phrase.lower() not in small:
                for a, b in ((f, f + 1), (f - 1, f)):
                    if a >= 0 and b < len(lower) and best_e[a] == best_e[b] == e:
                        counts.links[f"{lower[a]}{space}{lower[b]}", phrase] += 1
    return counts
