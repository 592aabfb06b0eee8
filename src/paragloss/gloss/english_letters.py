"""Spell foreign names and loan words as English does.

Each letter becomes none to three English ones, depending on the two letters before it and what became of them. The
model is an interpolated trigram model of such steps, learned from pairs of names and loan words
(studies/english_letters.py). The files in the folder `english_letters` are CC BY-SA 4.0 (NOTICE).
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np

from paragloss.analysis.romanisation import to_katakana

FOLDER = Path(__file__).parent / "english_letters"
#: The number of spellings that the beam search carries from letter to letter, and that are returned in the end.
_BEAM_WIDTH = 20
_MAX_SPELLINGS = 16
#: The number of steps of one letter that are tried, and that remain, given the steps before.
_MAX_STEPS_TRIED = 14
_MAX_STEPS_KEPT = 8
#: The log-probability by which a spelling may fall behind the best one on the way.
_MAX_LOG_GAP = 6.0
#: The least probability of a spelling that is returned, relative to the best.
_MIN_RELATIVE_SHARE = 0.002
_UNSEEN_PROBABILITY = 1e-6
_MAX_WORD_LENGTH = 40

#: A step's context -> (how often the context was seen, how many different steps followed it).
_ContextCounts: TypeAlias = Mapping[int, tuple[int, int]]


def split_letters(word: str, lang: str) -> str:
    """Return the letters of a word that are spelled one by one: Hangul decomposed, hiragana as katakana."""
    lower = unicodedata.normalize("NFC", word).lower()
    return unicodedata.normalize("NFD", lower) if lang == "ko" else to_katakana(lower)


@lru_cache(maxsize=20_000)
def spell_in_english(word: str, lang: str) -> tuple[tuple[str, float], ...]:
    """Return English spellings of a word, likeliest first, with shares that sum to one.

    There are none for a word with letters that its language does not write names with.
    """
    model = _load_model(lang)
    if model is None or len(word) > _MAX_WORD_LENGTH:
        return ()
    return model.spell(split_letters(word, lang))


class SpellingModel:
    """Counts of steps (a letter and the English letters it becomes) after one and two other steps.

    Step 0 marks the beginning and the end of a word. A context of two steps is numbered first * n_steps + second.
    """

    def __init__(self, steps: list[tuple[str, str]], *counts_by_order: Mapping[int, int]) -> None:
        """Take the counts of a trained model.

        :param steps: each step by its number: a letter and the English letters it becomes.
        :param counts_by_order: how often each sequence of one, two and three steps was seen, by its number.
        """
        self._english = [english for _, english in steps]
        self._n_steps = len(steps)
        self._counts_by_order = counts_by_order
        self._contexts_by_order = [self._count_contexts(counts) for counts in counts_by_order]
        self._steps_of_letter = self._group_by_letter(steps)
        self._bigrams = lru_cache(maxsize=10_000)(self._compute_bigrams)
        self._trigrams = lru_cache(maxsize=50_000)(self._compute_trigrams)

    def _group_by_letter(self, steps: Sequence[tuple[str, str]]) -> dict[str, list[int]]:
        """Return the commonest steps of each letter, by their numbers, commonest first."""
        unigram_counts = self._counts_by_order[0]
        steps_of_letter: dict[str, list[int]] = {}
        for step in sorted(range(self._n_steps), key=lambda step: -unigram_counts[step]):
            letter, _ = steps[step]
            steps_of_letter.setdefault(letter, []).append(step)
        return {letter: numbers[:_MAX_STEPS_TRIED] for letter, numbers in steps_of_letter.items()}

    def _count_contexts(self, counts: Mapping[int, int]) -> _ContextCounts:
        """Return for each context how often it was seen, and how many different steps followed it."""
        totals: dict[int, int] = {}
        n_different: dict[int, int] = {}
        for sequence, count in counts.items():
            context = sequence // self._n_steps
            totals[context] = totals.get(context, 0) + count
            n_different[context] = n_different.get(context, 0) + 1
        return {context: (total, n_different[context]) for context, total in totals.items()}

    def _compute_bigrams(self, previous: int, letter: str) -> list[tuple[int, float]]:
        """Return the commonest steps of a letter with their probabilities after one step."""
        probabilities = []
        for step in self._steps_of_letter.get(letter, ()):
            unigram = self._interpolate(1, 0, step, _UNSEEN_PROBABILITY)
            probabilities.append((step, self._interpolate(2, previous, step, unigram)))
        return probabilities

    def _compute_trigrams(self, context: int, letter: str) -> list[tuple[int, str, float]]:
        """Return (step, English letters, log-probability) of the likeliest steps after two steps."""
        bigrams = self._bigrams(context % self._n_steps, letter)
        probabilities = [(self._interpolate(3, context, step, bigram), step) for step, bigram in bigrams]
        likeliest = sorted(probabilities, reverse=True)[:_MAX_STEPS_KEPT]
        return [(step, self._english[step], math.log(probability)) for probability, step in likeliest]

    def _interpolate(self, order: int, context: int, step: int, lower_order: float) -> float:
        """Estimate a probability by Witten and Bell's interpolation with that of the lower order."""
        total, different = self._contexts_by_order[order - 1].get(context, (0, 0))
        if not total:
            return lower_order
        count = self._counts_by_order[order - 1].get(context * self._n_steps + step, 0)
        return (count + different * lower_order) / (total + different)

    def spell(self, letters: str) -> tuple[tuple[str, float], ...]:
        """Return the likeliest English spellings of some letters with their shares, which sum to 1."""
        probabilities: dict[str, float] = {}
        for (context, text), log_probability in self._search(letters).items():
            ((_, _, end_log_probability),) = self._trigrams(context, "")  # the step that ends a word
            probabilities[text] = probabilities.get(text, 0.0) + math.exp(log_probability + end_log_probability)
        best = sorted(probabilities.items(), key=lambda item: (-item[1], item[0]))[:_MAX_SPELLINGS]
        likely = [(text, share) for text, share in best if text and share >= _MIN_RELATIVE_SHARE * best[0][1]]
        total = sum(share for _, share in likely)
        return tuple((text, share / total) for text, share in likely)

    def _search(self, letters: str) -> dict[tuple[int, str], float]:
        """Find likely English spellings of some letters by beam search, letter by letter.

        What follows a spelling depends on its last two steps only, so the beam keeps apart what differs in these or in
        the text.

        :return: the log-probability of each spelling, by its last two steps (as one number) and its text.
        """
        beam = {(0, ""): 0.0}
        for letter in letters:
            beam = _select_likeliest(self._extend_spellings(beam, letter))
        return beam

    def _extend_spellings(self, beam: Mapping[tuple[int, str], float], letter: str) -> dict[tuple[int, str], float]:
        """Extend each spelling by all likely steps of a letter; of equal results the likelier one is kept.

        :param beam: the log-probability of each spelling, by its last two steps and its text.
        """
        extended: dict[tuple[int, str], float] = {}
        for (context, text), log_probability in beam.items():
            last_step = context % self._n_steps  # a context is the number of two steps: first * n_steps + second
            for step, english, step_log_probability in self._trigrams(context, letter):
                key = (last_step * self._n_steps + step, text + english)
                extended[key] = max(extended.get(key, -math.inf), log_probability + step_log_probability)
        return extended


def _select_likeliest(spellings: Mapping[tuple[int, str], float]) -> dict[tuple[int, str], float]:
    """Return the spellings whose log-probability is near the best, at most _BEAM_WIDTH of them, likeliest first."""
    threshold = max(spellings.values(), default=0.0) - _MAX_LOG_GAP
    near_best = [(key, log_probability) for key, log_probability in spellings.items() if log_probability >= threshold]
    near_best.sort(key=lambda item: -item[1])
    return dict(near_best[:_BEAM_WIDTH])


@cache
def _load_model(lang: str) -> SpellingModel | None:
    """Read the spelling model of a language; None if there is none."""
    path = FOLDER / f"{lang}.npz"
    if not path.is_file():
        return None
    steps: list[tuple[str, str]] = []  # a letter and the English letters it becomes
    counts_by_order: list[dict[int, int]] = []  # how often each sequence of one, two and three steps was seen
    with np.load(path, allow_pickle=False) as data:
        for line in bytes(data["texts"]).decode().split("\n"):
            letter, _, english = line.partition("\t")
            steps.append((letter, english))
        for order in (1, 2, 3):
            differences, counts = data[f"keys{order}"], data[f"counts{order}"]  # between ascending sequence numbers
            sequences = np.cumsum(differences)
            counts_by_order.append(dict(zip(sequences.tolist(), counts.tolist(), strict=True)))
    return SpellingModel(steps, *counts_by_order)
