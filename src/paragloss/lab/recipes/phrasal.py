"""Phrase-based translation learned from sentence pairs, as small as it goes: what the XCNN paper's "MT" is.

Koehn, Och and Marcu, "Statistical phrase-based translation", NAACL 2003: words aligned by IBM Model 1 both ways (with a
preference for like places, as Dyer et al. 2013), alignments grown from where both agree, all phrases that no link
leaves, a trigram model of the target language and a beam search. Weights of the parts are fixed, not tuned.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

Words: TypeAlias = tuple[str, ...]
Links: TypeAlias = set[tuple[int, int]]
#: Words of a phrase, translations kept of one, words that may be jumped over, hypotheses kept of a length.
LONGEST, ALTERNATIVES, JUMP, BEAM = 4, 5, 3, 15
#: How much a phrase's probabilities, the language model, a jumped word and a word said count.
PHRASE, LANGUAGE, JUMPED, SAID = 0.5, 0.6, -0.4, 0.5
DIAGONAL, NOBODY, UNHEARD = 4.0, 0.05, -9.0
_APART = re.compile(r"[\s.,;:!?¡¿\"“”„«»()\[\]…،؟।—–]+")


def words(text: str) -> Words:
    return tuple(word for word in _APART.split(text.lower()) if word)


class Phrasal(NamedTuple):
    """Phrases with their translations and log scores, best first; and the language model."""

    phrases: dict[Words, list[tuple[Words, float]]]
    language: Language

    def translate(self, text: str) -> str:
        return " ".join(self.decode(words(text)))

    def decode(self, source: Words) -> Words:
        """The best translation a beam of hypotheses finds; a word no phrase has stays as it is."""
        options = self._options(source)
        ahead = _ahead(options, len(source))
        stacks: list[dict[tuple[int, int, Words], tuple[float, Words]]] = [{} for _ in range(len(source) + 1)]
        stacks[0][0, 0, ("<s>", "<s>")] = (0.0, ())
        for count, stack in enumerate(stacks[:-1]):
            kept = sorted(stack.items(), key=lambda item: -(item[1][0] + _rest(item[0][0], ahead, len(source))))
            for (covered, end, context), (score, told) in kept[:BEAM]:
                first = next(i for i in range(len(source)) if not covered >> i & 1)
                for (start, stop), phrases in options.items():
                    mask = (1 << stop) - (1 << start)
                    if covered & mask or start - first > JUMP:
                        continue
                    for phrase, own in phrases:
                        fresh = score + own + JUMPED * abs(start - end) + self.language.adds(context, phrase)
                        if covered | mask == (1 << len(source)) - 1:
                            fresh += LANGUAGE * self.language.log((*context, *phrase)[-2:], "</s>")
                        key = (covered | mask, stop, (*context, *phrase)[-2:])
                        if fresh > stacks[count + stop - start].get(key, (-math.inf, ()))[0]:
                            stacks[count + stop - start][key] = fresh, (*told, *phrase)
        return max(stacks[-1].values())[1]

    def _options(self, source: Words) -> dict[tuple[int, int], list[tuple[Words, float]]]:
        found = {
            (start, stop): self.phrases[source[start:stop]]
            for start in range(len(source))
            for stop in range(start + 1, min(start + LONGEST, len(source)) + 1)
            if source[start:stop] in self.phrases
        }
        return {**{(i, i + 1): [((word,), UNHEARD)] for i, word in enumerate(source)}, **found}


def fit(pairs: Sequence[tuple[str, str]], *, iterations: int = 5) -> Phrasal:
    """Learn from pairs of sentences."""
    both = [(a, b) for a, b in ((words(one), words(other)) for one, other in pairs) if a and b]
    there, back = (learned(some, iterations) for some in (both, [(b, a) for a, b in both]))
    counts: Counter[tuple[Words, Words]] = Counter()
    for a, b in both:
        forth = {(i, j) for j, i in enumerate(linked(there, a, b)) if i is not None}
        other = {(i, j) for i, j in enumerate(linked(back, b, a)) if j is not None}
        counts.update((a[i:k], b[j:n]) for i, k, j, n in extracted(len(a), len(b), grown(forth, other)))
    sources, targets = Counter[Words](), Counter[Words]()
    for (source, target), count in counts.items():
        sources[source] += count
        targets[target] += count
    phrases: dict[Words, list[tuple[Words, float]]] = defaultdict(list)
    for (source, target), count in counts.items():
        likely = math.log((count - 0.5) / sources[source]) + math.log((count - 0.5) / targets[target])
        phrases[source].append((target, PHRASE * likely))
    for source, found in phrases.items():
        phrases[source] = sorted(found, key=lambda one: (-one[1], one[0]))[:ALTERNATIVES]
    return Phrasal(phrases, Language([b for _, b in both]))


Table: TypeAlias = dict[str, dict[str, float]]


def learned(pairs: Sequence[tuple[Words, Words]], iterations: int) -> Table:
    """P(target word | source word) by expectation maximisation; None of the source is the word ""."""
    table: Table = {}
    for _ in range(iterations):
        counts: Table = defaultdict(lambda: defaultdict(float))
        for source, target in pairs:
            for j, word in enumerate(target):
                shares = _shares(table, source, word, (j + 0.5) / len(target))
                total = sum(shares)
                for i, share in enumerate(shares):
                    counts[source[i] if i < len(source) else ""][word] += share / total
        totals = {word: sum(found.values()) for word, found in counts.items()}
        table = {word: {of: n / totals[word] for of, n in found.items()} for word, found in counts.items()}
    return table


def _shares(table: Table, source: Words, word: str, place: float) -> list[float]:
    """How likely each source word, and last none of them, is to have said a word at a place of its sentence."""
    near = [math.exp(-DIAGONAL * abs((i + 0.5) / len(source) - place)) for i in range(len(source))]
    scale = (1 - NOBODY) / sum(near)
    spoken = [table.get(one, {}).get(word, 1e-9) if table else 1.0 for one in (*source, "")]
    return [*(n * scale * p for n, p in zip(near, spoken, strict=False)), NOBODY * spoken[-1]]


def linked(table: Table, source: Words, target: Words) -> list[int | None]:
    """For each target word the place of the source word that most likely said it."""
    found: list[int | None] = []
    for j, word in enumerate(target):
        shares = _shares(table, source, word, (j + 0.5) / len(target))
        best = max(range(len(shares)), key=shares.__getitem__)
        found.append(best if best < len(source) else None)
    return found


def grown(there: Links, back: Links) -> Links:
    """Where both agree, then neighbours either has of a word not linked yet, then what links two that are not."""
    links, either = there & back, there | back
    growing = True
    while growing:
        growing = False
        for i, j in sorted(either - links):
            beside = any((i + x, j + y) in links for x in (-1, 0, 1) for y in (-1, 0, 1))
            if beside and (not any(i == a for a, _ in links) or not any(j == b for _, b in links)):
                links.add((i, j))
                growing = True
    for i, j in sorted(either - links):
        if not any(i == a for a, _ in links) and not any(j == b for _, b in links):
            links.add((i, j))
    return links


def extracted(source: int, target: int, links: Links) -> Iterator[tuple[int, int, int, int]]:
    """Every pair of phrases, as (start, stop) of both sides, that has a link and that no link leaves."""
    spoken = {j for _, j in links}
    for start in range(source):
        for stop in range(start + 1, min(start + LONGEST, source) + 1):
            inside = [j for i, j in links if start <= i < stop]
            if not inside or any(min(inside) <= j <= max(inside) and not start <= i < stop for i, j in links):
                continue
            low = min(inside)
            while low >= 0 and (low == min(inside) or low not in spoken):
                high = max(inside)
                while high < target and (high == max(inside) or high not in spoken):
                    if high + 1 - low <= LONGEST:
                        yield start, stop, low, high + 1
                    high += 1
                low -= 1


class Language:
    """A trigram model, each order smoothed by the one below (Witten and Bell)."""

    def __init__(self, texts: Sequence[Words]) -> None:
        self._counts: dict[Words, Counter[str]] = defaultdict(Counter)
        for text in texts:
            padded = ("<s>", "<s>", *text, "</s>")
            for i in range(2, len(padded)):
                for order in range(3):
                    self._counts[padded[i - order : i]][padded[i]] += 1
        self._known = len(self._counts[()]) + 1
        self._logs: dict[tuple[Words, str], float] = {}

    def log(self, context: Words, word: str) -> float:
        if (context, word) not in self._logs:
            self._logs[context, word] = math.log(self._likely(context, word))
        return self._logs[context, word]

    def _likely(self, context: Words, word: str) -> float:
        below = self._likely(context[1:], word) if context else 1 / self._known
        found = self._counts.get(context)
        if not found:
            return below
        return (found[word] + len(found) * below) / (found.total() + len(found))

    def adds(self, context: Words, phrase: Words) -> float:
        """What saying a phrase after a context adds to a score."""
        words = (*context, *phrase)
        told = sum(self.log(words[i : i + 2], word) for i, word in enumerate(phrase))
        return LANGUAGE * told + SAID * len(phrase)


def _ahead(options: dict[tuple[int, int], list[tuple[Words, float]]], length: int) -> list[list[float]]:
    """The best score any phrases give the words from i to j, the language model left out."""
    best = [[-math.inf] * (length + 1) for _ in range(length + 1)]
    for width in range(1, length + 1):
        for i in range(length - width + 1):
            j = i + width
            own = max((score for _, score in options.get((i, j), ())), default=-math.inf)
            best[i][j] = max([own, *(best[i][k] + best[k][j] for k in range(i + 1, j))])
    return best


def _rest(covered: int, ahead: list[list[float]], length: int) -> float:
    """What is still to be said, run by run."""
    total, i = 0.0, 0
    while i < length:
        j = i
        while j < length and not covered >> j & 1:
            j += 1
        total += ahead[i][j] if j > i else 0.0
        i = max(j, i + 1)
    return total
