"""How English spells names and loan words of other scripts, learned from pairs of them
(src/paragloss/gloss/spelling.py).

    PARAGLOSS_DATA=... python studies/spelling.py [--langs ru,ja]      into the package, half a minute a language

Pairs are words at the same place of entries of equal length in the open names and dictionaries, and words with a
capital in sentences and their translation, that sound alike (`gloss.names.alike`). Each letter becomes none to three
English ones: expectation-maximisation over all alignments, then the best alignment of each pair; pairs that no alignment
explains are left out. Counted are steps, pairs and triples of steps. `studies/gloss.py names` measures it on words of
dictionaries from which nothing is learned.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import sources

from paragloss.analysis.sound import sound
from paragloss.gloss import names
from paragloss.gloss.spelling import Steps, letters

LANGS = "ru,uk,bg,el,ar,he,fa,hi,bn,ta,ja,ko"
#: English letters that one becomes, at most, with what each number is worth before anything is known.
SIZES = (1.0, 3.0, 0.6, 0.1)
#: How alike two words must sound: entries of dictionaries, words of sentences. How likely a step must be on average.
ENTRIES, SENTENCES, LIKELY = 0.6, 0.75, -1.6
#: Pairs that letters are learned from; then all are counted. What a name counts beside another word.
FEW, NAME = 6_000, 2
#: Steps that a letter takes so seldom are left out.
RARE = 1e-4
_WORD, _LATIN = re.compile(r"[^\W\d_]+"), re.compile("[a-z]{3,}")
_FOREIGN = {"ja": re.compile("[ァ-ヶー]{2,}"), "ko": re.compile("[가-힣]{2,}")}
_LIKE = str.maketrans({"ß": "ss", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "ı": "i"})


def plain(name: str) -> str:
    """Small, without marks."""
    letters = unicodedata.normalize("NFD", name.casefold()).translate(_LIKE)
    return "".join(char for char in letters if not unicodedata.combining(char))


def pairs(lang: str) -> dict[tuple[str, str], int]:
    """A word's letters and its English, with what the pair counts."""
    found: dict[tuple[str, str], int] = {}
    seen = set()
    for other, english, least in (*entries(lang), *in_sentences(lang)):
        if (other, english) in seen:
            continue
        seen.add((other, english))
        said, small = letters(other, lang), plain(english)
        if _written(other, lang) and _LATIN.fullmatch(small) and 2 < len(said) and len(small) < 3 * len(said):
            if names.alike(names.latin(other.lower(), lang), small) >= least:
                weight = NAME if english[:1].isupper() else 1
                found[said, small] = max(weight, found.get((said, small), 0))
    return found


def entries(lang: str) -> Iterator[tuple[str, str, float]]:
    for pair in (*sources.names(lang), *sources.words(lang)):
        other, english = re.split(r"[\s・=-]+", pair.other.strip()), re.split(r"[\s-]+", pair.en.strip())
        if len(other) == len(english):
            yield from ((one, two, ENTRIES) for one, two in zip(other, english, strict=True))


def in_sentences(lang: str) -> Iterator[tuple[str, str, float]]:
    cased = lang in ("ru", "uk", "bg", "el")
    for pair in (*sources.texts(lang), *sources.tatoeba(lang)):
        if pair.part == "train" and pair.source not in ("cataclysm", "suttacentral"):
            english = {word for word in _WORD.findall(pair.en) if word[0].isupper() and len(word) > 3}
            for one in _FOREIGN.get(lang, _WORD).findall(pair.other) if english else ():
                if len(one) > 2 and (one[0].isupper() or not cased):
                    size = len(sound(one))
                    yield from ((one, two, SENTENCES) for two in english if abs(len(sound(two)) - size) <= 1)


def _written(word: str, lang: str) -> bool:
    if lang in _FOREIGN:
        return bool(_FOREIGN[lang].fullmatch(word))
    return all(unicodedata.category(char)[0] in "LM" and ord(char) > 0x24F or char in "'’" for char in word)


def learned(some: Sequence[tuple[str, str]], rounds: int = 6) -> dict[tuple[str, str], float]:
    """How often a letter becomes which English ones."""
    shares: Mapping[tuple[str, str], float] = {}
    for _ in range(rounds):
        counts: dict[tuple[str, str], float] = defaultdict(float)
        for word, english in some:
            _expect(word, english, shares, counts)
        totals: dict[str, float] = defaultdict(float)
        for (letter, _), count in counts.items():
            totals[letter] += count
        shares = {step: count / totals[step[0]] for step, count in counts.items() if count > RARE * totals[step[0]]}
    return dict(shares)


def _expect(word: str, english: str, shares: Mapping[tuple[str, str], float], counts: dict[tuple[str, str], float]) -> None:
    rows, columns = len(word), len(english)
    steps = [
        [
            [
                (j + size, share)
                for size in range(min(len(SIZES) - 1, columns - j) + 1)
                if (share := shares.get((letter, english[j : j + size]), 0.0) if shares else SIZES[size])
            ]
            for j in range(columns + 1)
        ]
        for letter in word
    ]
    there = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    back = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    there[0][0] = back[rows][columns] = 1.0
    for i in range(rows):
        for j, mass in enumerate(there[i]):
            for end, share in steps[i][j] if mass else ():
                there[i + 1][end] += mass * share
    whole = there[rows][columns]
    for i in reversed(range(rows) if whole else ()):
        for j in range(columns + 1):
            for end, share in steps[i][j]:
                mass = share * back[i + 1][end]
                back[i][j] += mass
                if mass and there[i][j]:
                    counts[word[i], english[j:end]] += there[i][j] * mass / whole


def aligned(word: str, english: str, shares: Mapping[tuple[str, str], float]) -> list[tuple[str, str]]:
    """The likeliest steps from a word to its English; none if they are unlikely."""
    best: list[dict[int, tuple[float, int]]] = [{0: (0.0, 0)}, *({} for _ in word)]
    for i, letter in enumerate(word):
        for j, (score, _) in best[i].items():
            for end in range(j, min(len(english), j + len(SIZES) - 1) + 1):
                share = shares.get((letter, english[j:end]))
                if share and score + math.log(share) > best[i + 1].get(end, (-math.inf, 0))[0]:
                    best[i + 1][end] = score + math.log(share), j
    found, end = [], len(english)
    if best[-1].get(end, (-math.inf, 0))[0] < LIKELY * len(word):
        return []
    for i in reversed(range(len(word))):
        start = best[i + 1][end][1]
        found.append((word[i], english[start:end]))
        end = start
    return found[::-1]


def learn(lang: str) -> None:
    weights = pairs(lang)
    some = sorted(weights)
    shares = learned(random.Random(0).sample(some, min(FEW, len(some))))
    ways = [(steps, weights[pair]) for pair in some if (steps := aligned(*pair, shares))]
    texts = [("", ""), *sorted({step for steps, _ in ways for step in steps})]
    number, size = {step: place for place, step in enumerate(texts)}, len(texts)
    counted = [Counter[int](), Counter[int](), Counter[int]()]
    for steps, weight in ways:
        numbers = [0, 0, *(number[step] for step in steps), 0]
        for a, b, c in zip(numbers, numbers[1:], numbers[2:], strict=False):
            for counts, key in zip(counted, (c, b * size + c, (a * size + b) * size + c), strict=True):
                counts[key] += weight
    Steps(texts, *counted).save(lang, texts)
    print(f"{lang}: {len(some)} pairs, {len(ways)} kept, {[len(counts) for counts in counted]} steps", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--langs", default=LANGS)
    for lang in parser.parse_args().langs.split(","):
        learn(lang)


if __name__ == "__main__":
    main()
