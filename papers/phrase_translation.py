"""A small phrase-based translator learned from sentence pairs: what the XCNN paper's "MT" is.

Koehn, Och and Marcu, "Statistical phrase-based translation", NAACL 2003: words are aligned by IBM Model 1 in both
directions (preferring similar positions, as Dyer et al. 2013), the alignments are grown from where both agree, and all
phrases consistent with them are extracted; a trigram model of the target language and a beam search complete it. The
weights of the features are fixed, not tuned.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

Words: TypeAlias = tuple[str, ...]
#: Links between the positions of source and target words.
Alignment: TypeAlias = set[tuple[int, int]]
#: source word -> target word -> probability; the source word "" stands for no word.
WordTable: TypeAlias = dict[str, dict[str, float]]
#: (start, stop) of a source phrase -> its translations with log scores
Options: TypeAlias = dict[tuple[int, int], list[tuple[Words, float]]]
MAX_PHRASE_WORDS, TRANSLATIONS_PER_PHRASE, MAX_JUMP, BEAM_SIZE = 4, 5, 3, 15
#: Weights of the phrase probabilities, of the language model, of each word jumped over and of each word produced.
PHRASE_WEIGHT, LANGUAGE_WEIGHT, JUMP_WEIGHT, WORD_BONUS = 0.5, 0.6, -0.4, 0.5
#: How strongly alignments prefer similar positions, the probability of no source word, the score of an unknown word.
DIAGONAL_PREFERENCE, NULL_PROBABILITY, UNKNOWN_WORD_SCORE = 4.0, 0.05, -9.0
_SEPARATORS = re.compile(r"[\s.,;:!?¡¿\"“”„«»()\[\]…،؟।—–]+")


def split_words(text: str) -> Words:
    """Split a text into lower-case words."""
    return tuple(word for word in _SEPARATORS.split(text.lower()) if word)


class Hypothesis(NamedTuple):
    """A partial translation: the covered source positions as bits, where the last phrase ended, and its words."""

    covered: int
    end: int
    score: float
    words: Words

    @property
    def context(self) -> Words:
        """The last two words, which the language model conditions on."""
        return ("<s>", "<s>", *self.words)[-2:]


class PhraseTranslator(NamedTuple):
    """Phrases with their translations and log scores, best first; and the language model of the target."""

    phrases: dict[Words, list[tuple[Words, float]]]
    language_model: TrigramModel

    def translate(self, text: str) -> str:
        """Translate a text."""
        return " ".join(self.decode(split_words(text)))

    def decode(self, source: Words) -> Words:
        """Find the best translation by a beam search; a word that is in no phrase is copied."""
        options = self._find_options(source)
        future = estimate_future_scores(options, len(source))
        beams: list[dict[tuple[int, int, Words], Hypothesis]] = [{} for _ in range(len(source) + 1)]
        start = Hypothesis(0, 0, 0.0, ())
        beams[0][0, 0, start.context] = start

        def priority(hypothesis: Hypothesis) -> float:
            return -(hypothesis.score + _score_uncovered(hypothesis.covered, future, len(source)))

        for beam in beams[:-1]:
            for hypothesis in sorted(beam.values(), key=priority)[:BEAM_SIZE]:
                for extended in self._extend(hypothesis, options, len(source)):
                    key = (extended.covered, extended.end, extended.context)
                    rivals = beams[extended.covered.bit_count()]
                    if key not in rivals or extended.score > rivals[key].score:
                        rivals[key] = extended
        return max((hypothesis.score, hypothesis.words) for hypothesis in beams[-1].values())[1]

    def _extend(self, hypothesis: Hypothesis, options: Options, length: int) -> Iterator[Hypothesis]:
        """Extend a hypothesis by every phrase that covers none of its words and does not jump too far."""
        first_uncovered = next(i for i in range(length) if not hypothesis.covered >> i & 1)
        for (start, stop), translations in options.items():
            mask = (1 << stop) - (1 << start)
            if hypothesis.covered & mask or start - first_uncovered > MAX_JUMP:
                continue
            covered = hypothesis.covered | mask
            jump = JUMP_WEIGHT * abs(start - hypothesis.end)
            for phrase, phrase_score in translations:
                score = hypothesis.score + phrase_score + jump
                score += self.language_model.score_phrase(hypothesis.context, phrase)
                if covered == (1 << length) - 1:
                    context = (*hypothesis.context, *phrase)[-2:]
                    score += LANGUAGE_WEIGHT * self.language_model.log_probability(context, "</s>")
                yield Hypothesis(covered, stop, score, (*hypothesis.words, *phrase))

    def _find_options(self, source: Words) -> Options:
        options: Options = {(i, i + 1): [((word,), UNKNOWN_WORD_SCORE)] for i, word in enumerate(source)}
        for start in range(len(source)):
            for stop in range(start + 1, min(start + MAX_PHRASE_WORDS, len(source)) + 1):
                if source[start:stop] in self.phrases:
                    options[start, stop] = self.phrases[source[start:stop]]
        return options


def fit_phrases(pairs: Sequence[tuple[str, str]], *, iterations: int = 5) -> PhraseTranslator:
    """Learn a translator from pairs of sentences."""
    sentences = [(split_words(source), split_words(target)) for source, target in pairs]
    sentences = [(source, target) for source, target in sentences if source and target]
    forward = fit_word_table(sentences, iterations)
    backward = fit_word_table([(target, source) for source, target in sentences], iterations)
    counts: Counter[tuple[Words, Words]] = Counter()
    for source, target in sentences:
        forward_links = {(i, j) for j, i in enumerate(align_words(forward, source, target)) if i is not None}
        backward_links = {(i, j) for i, j in enumerate(align_words(backward, target, source)) if j is not None}
        alignment = grow_alignment(forward_links, backward_links)
        for start, stop, low, high in extract_phrases(len(source), len(target), alignment):
            counts[source[start:stop], target[low:high]] += 1
    return PhraseTranslator(score_phrases(counts), TrigramModel([target for _, target in sentences]))


def score_phrases(counts: Counter[tuple[Words, Words]]) -> dict[Words, list[tuple[Words, float]]]:
    """Score phrase pairs by both conditional probabilities, with half a count of discount, and keep the best."""
    source_totals, target_totals = Counter[Words](), Counter[Words]()
    for (source, target), count in counts.items():
        source_totals[source] += count
        target_totals[target] += count
    phrases: dict[Words, list[tuple[Words, float]]] = defaultdict(list)
    for (source, target), count in counts.items():
        likelihood = math.log((count - 0.5) / source_totals[source]) + math.log((count - 0.5) / target_totals[target])
        phrases[source].append((target, PHRASE_WEIGHT * likelihood))
    for source, translations in phrases.items():
        best = sorted(translations, key=lambda translation: (-translation[1], translation[0]))
        phrases[source] = best[:TRANSLATIONS_PER_PHRASE]
    return phrases


def fit_word_table(pairs: Sequence[tuple[Words, Words]], iterations: int) -> WordTable:
    """Estimate P(target word | source word) by expectation maximisation."""
    table: WordTable = {}
    for _ in range(iterations):
        counts: WordTable = defaultdict(lambda: defaultdict(float))
        for source, target in pairs:
            for j, word in enumerate(target):
                weights = _alignment_weights(table, source, word, (j + 0.5) / len(target))
                total = sum(weights)
                for i, weight in enumerate(weights):
                    counts[source[i] if i < len(source) else ""][word] += weight / total
        table = {}
        for source_word, target_counts in counts.items():
            total = sum(target_counts.values())
            table[source_word] = {target_word: count / total for target_word, count in target_counts.items()}
    return table


def _alignment_weights(table: WordTable, source: Words, word: str, position: float) -> list[float]:
    """Weigh each source word, and last no word, as the origin of a target word at a relative position."""
    distances = [abs((i + 0.5) / len(source) - position) for i in range(len(source))]
    priors = [math.exp(-DIAGONAL_PREFERENCE * distance) for distance in distances]
    scale = (1 - NULL_PROBABILITY) / sum(priors)
    probabilities = [table.get(origin, {}).get(word, 1e-9) if table else 1.0 for origin in (*source, "")]
    weights = [prior * scale * p for prior, p in zip(priors, probabilities, strict=False)]
    return [*weights, NULL_PROBABILITY * probabilities[-1]]


def align_words(table: WordTable, source: Words, target: Words) -> list[int | None]:
    """Align each target word with the position of its most likely source word, or with none."""
    alignment: list[int | None] = []
    for j, word in enumerate(target):
        weights = _alignment_weights(table, source, word, (j + 0.5) / len(target))
        best = max(range(len(weights)), key=weights.__getitem__)
        alignment.append(best if best < len(source) else None)
    return alignment


def grow_alignment(forward: Alignment, backward: Alignment) -> Alignment:
    """Combine two alignments: their intersection, grown by neighbouring links, then links of two unaligned words."""
    links, union = forward & backward, forward | backward

    def has_free_word(i: int, j: int) -> tuple[bool, bool]:
        return not any(i == source for source, _ in links), not any(j == target for _, target in links)

    growing = True
    while growing:
        growing = False
        for i, j in sorted(union - links):
            has_neighbour = any((i + x, j + y) in links for x in (-1, 0, 1) for y in (-1, 0, 1))
            if has_neighbour and any(has_free_word(i, j)):
                links.add((i, j))
                growing = True
    for i, j in sorted(union - links):
        if all(has_free_word(i, j)):
            links.add((i, j))
    return links


def extract_phrases(source_length: int, target_length: int, links: Alignment) -> Iterator[tuple[int, int, int, int]]:
    """Extract all pairs of phrases, as (start, stop) of both sides, with a link inside and no link that leaves them."""
    aligned_targets = {j for _, j in links}
    for start in range(source_length):
        for stop in range(start + 1, min(start + MAX_PHRASE_WORDS, source_length) + 1):
            linked_targets = [j for i, j in links if start <= i < stop]
            if not linked_targets or any(
                min(linked_targets) <= j <= max(linked_targets) and not start <= i < stop for i, j in links
            ):
                continue
            low = min(linked_targets)
            while low >= 0 and (low == min(linked_targets) or low not in aligned_targets):
                high = max(linked_targets)
                while high < target_length and (high == max(linked_targets) or high not in aligned_targets):
                    if high + 1 - low <= MAX_PHRASE_WORDS:
                        yield start, stop, low, high + 1
                    high += 1
                low -= 1


class TrigramModel:
    """A trigram language model, each order smoothed by the one below (Witten and Bell)."""

    def __init__(self, sentences: Sequence[Words]) -> None:
        self._counts: dict[Words, Counter[str]] = defaultdict(Counter)
        for sentence in sentences:
            padded = ("<s>", "<s>", *sentence, "</s>")
            for i in range(2, len(padded)):
                for order in range(3):
                    self._counts[padded[i - order : i]][padded[i]] += 1
        self._vocabulary_size = len(self._counts[()]) + 1
        self._logs: dict[tuple[Words, str], float] = {}

    def log_probability(self, context: Words, word: str) -> float:
        """Return the log probability of a word after at most two others."""
        if (context, word) not in self._logs:
            self._logs[context, word] = math.log(self._probability(context, word))
        return self._logs[context, word]

    def _probability(self, context: Words, word: str) -> float:
        lower_order = self._probability(context[1:], word) if context else 1 / self._vocabulary_size
        counts = self._counts.get(context)
        if not counts:
            return lower_order
        return (counts[word] + len(counts) * lower_order) / (counts.total() + len(counts))

    def score_phrase(self, context: Words, phrase: Words) -> float:
        """Return what a phrase after a context adds to the score of a translation."""
        words = (*context, *phrase)
        logs = [self.log_probability(words[i : i + 2], word) for i, word in enumerate(phrase)]
        return LANGUAGE_WEIGHT * sum(logs) + WORD_BONUS * len(phrase)


def estimate_future_scores(options: Options, length: int) -> list[list[float]]:
    """Compute the best score of any phrases for the words from i to j, without the language model."""
    best = [[-math.inf] * (length + 1) for _ in range(length + 1)]
    for width in range(1, length + 1):
        for i in range(length - width + 1):
            j = i + width
            phrase_score = max((score for _, score in options.get((i, j), ())), default=-math.inf)
            best[i][j] = max([phrase_score, *(best[i][k] + best[k][j] for k in range(i + 1, j))])
    return best


def _score_uncovered(covered: int, future: list[list[float]], length: int) -> float:
    """Sum the future scores of the runs of uncovered words."""
    total, i = 0.0, 0
    while i < length:
        j = i
        while j < length and not covered >> j & 1:
            j += 1
        total += future[i][j] if j > i else 0.0
        i = max(j, i + 1)
    return total
