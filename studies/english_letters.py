"""How English spells names and loan words of other scripts, learned from pairs of them
(src/paragloss/gloss/english_letters.py).

    PARAGLOSS_DATA=... python studies/english_letters.py [--langs ru,ja]      into the package, half a minute a language

Pairs are words at the same place of entries of equal length in the open names and dictionaries, and words with a
capital in sentences and their translation, that sound alike (`alike`). Each letter becomes none to three English ones:
expectation-maximisation over all alignments, then the best alignment of each pair; pairs that no alignment explains
are left out. Counted are steps, pairs and triples of steps. `studies/gloss.py names` measures it on words of
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
from functools import cache

import numpy as np
import sources

from paragloss.analysis.romanisation import transcribe
from paragloss.analysis.sound import phonetic_key
from paragloss.gloss.english_letters import FOLDER, split_letters

LANGS = "ru,uk,bg,el,ar,he,fa,hi,bn,ta,th,ja,ko"
#: English letters that one becomes, at most, with what each number is worth before anything is known.
SIZES = (1.0, 3.0, 0.6, 0.1)
#: How alike two words must sound: entries of dictionaries, words of sentences. How likely a step must be on average.
ENTRIES, SENTENCES, LIKELY = 0.5, 0.75, -2.0
#: Pairs that letters are learned from; then all are counted.
MIN_PAIRS = 6_000
#: Steps that a letter takes so seldom are left out.
RARE = 1e-4
#: Whose names a language writes nearly so too, and the letters it exchanges.
RELATIVES = {"uk": ("ru", str.maketrans("иыэё", "іиее")), "bg": ("ru", str.maketrans("ыэё", "иее"))}
_VOWELS = frozenset("aeiou")
#: What a vowel costs beside a consonant, where one name has it and the other has not: scripts leave vowels out, put
#: them in, and write them by their own ear.
_VOWEL, _KIN = 0.35, 0.4
#: Consonants that languages exchange.
_KINDS = {letter: kind for kind, letters in enumerate(("bpfv", "td", "kgh", "szc", "lr", "mn")) for letter in letters}
#: English spelling by its sound: the first group that fits.
_SPELLED = re.compile("tsch|sch|tch|dsh|dzh|ch|sh|zh|ts|tz|ph|th|dh|kh|gh|ck|qu|c(?=[eiy])|[cqxwjy]|ee|oo|ou|eu|e$")
_SOUNDS = {
    **dict.fromkeys(("tsch", "sch", "tch", "dsh", "dzh", "ch", "sh", "zh", "j", "ts", "tz"), "c"),
    "ph": "f",
    "th": "t",
    "dh": "d",
    "kh": "h",
    "gh": "g",
    "ck": "k",
    "qu": "kv",
    "q": "k",
    "x": "ks",
    "w": "v",
    "y": "i",
    "ee": "i",
    "oo": "u",
    "ou": "u",
    "eu": "u",
    "e": "",
}
_DOUBLED = re.compile(r"(.)\1")
_WORD, _LATIN = re.compile(r"[^\W\d_]+"), re.compile("[a-z]{3,}")
_FOREIGN = {"ja": re.compile("[ァ-ヶー]{2,}"), "ko": re.compile("[가-힣]{2,}")}
_PLAIN_LETTERS = str.maketrans({"ß": "ss", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "ı": "i"})


def plain(name: str) -> str:
    """Small, without marks."""
    letters = unicodedata.normalize("NFD", name.casefold()).translate(_PLAIN_LETTERS)
    return "".join(char for char in letters if not unicodedata.combining(char))


def pairs(lang: str) -> set[tuple[str, str]]:
    """Words by their letters, and their English."""
    pairs_found = set()
    names_seen = set()
    relative, exchanged = RELATIVES.get(lang, ("", {}))
    borrowed = (
        (other.lower().translate(exchanged), english, min_similarity)
        for other, english, min_similarity in entries(relative)
    )
    for other, english, min_similarity in (*entries(lang), *in_sentences(lang), *borrowed):
        if (other, english) in names_seen:
            continue
        names_seen.add((other, english))
        letters, small = split_letters(other, lang), plain(english)
        fits = _written(other, lang) and _LATIN.fullmatch(small) and len(letters) > 2 and len(small) < 3 * len(letters)
        if fits and measure_name_similarity(transcribe(other.lower(), lang), small) >= min_similarity:
            pairs_found.add((letters, small))
    return pairs_found


def entries(lang: str) -> Iterator[tuple[str, str, float]]:
    for pair in (*sources.names(lang), *sources.words(lang)):
        other, english = re.split(r"[\s・=-]+", pair.other.strip()), re.split(r"[\s-]+", pair.en.strip())
        if len(other) == len(english):
            yield from ((foreign, english_name, ENTRIES) for foreign, english_name in zip(other, english, strict=True))


def in_sentences(lang: str) -> Iterator[tuple[str, str, float]]:
    cased = lang in ("ru", "uk", "bg", "el")
    for pair in (*sources.texts(lang), *sources.tatoeba(lang)):
        if pair.part == "train" and pair.source not in ("cataclysm", "suttacentral"):
            english = {word for word in _WORD.findall(pair.en) if word[0].isupper() and len(word) > 3}
            for name in _FOREIGN.get(lang, _WORD).findall(pair.other) if english else ():
                if len(name) > 2 and (name[0].isupper() or not cased):
                    size = len(phonetic_key(name))
                    yield from ((name, two, SENTENCES) for two in english if abs(len(phonetic_key(two)) - size) <= 1)


def _written(word: str, lang: str) -> bool:
    if lang in _FOREIGN:
        return bool(_FOREIGN[lang].fullmatch(word))
    return all((unicodedata.category(char)[0] in "LM" and ord(char) > 0x24F) or char in "'’" for char in word)


@cache
def _sounding(word: str) -> str:
    """A word in Latin letters by its sounds, as English spells them."""
    plain = "".join(char for char in unicodedata.normalize("NFD", word.lower()) if char.isascii() and char.isalpha())
    return _DOUBLED.sub(r"\1", _SPELLED.sub(lambda match: _SOUNDS.get(match[0], "s" if match[0] == "c" else ""), plain))


def measure_name_similarity(name: str, other: str) -> float:
    """From 0 to 1 how alike two names sound, by the letters that must be exchanged, put in or left out."""
    first, second = _sounding(name), _sounding(other)
    costs = [[_VOWEL if char in _VOWELS else 1.0 for char in word] for word in (first, second)]
    before = [0.0]
    for cost in costs[1]:
        before.append(before[-1] + cost)
    for a, cost_a in zip(first, costs[0], strict=True):
        row = [before[0] + cost_a]
        for j, (b, cost_b) in enumerate(zip(second, costs[1], strict=True)):
            row.append(min(before[j + 1] + cost_a, row[-1] + cost_b, before[j] + _exchanged(a, b)))
        before = row
    return 1 - before[-1] / max(*map(sum, costs), 1.0)


def _exchanged(a: str, b: str) -> float:
    if a == b:
        return 0.0
    if a in _VOWELS and b in _VOWELS:
        return _VOWEL
    return _KIN if a in _KINDS and _KINDS[a] == _KINDS.get(b) else 1.0


def learned(name_pairs: Sequence[tuple[str, str]], rounds: int = 6) -> dict[tuple[str, str], float]:
    """How often a letter becomes which English ones."""
    shares: Mapping[tuple[str, str], float] = {}
    for _ in range(rounds):
        counts: dict[tuple[str, str], float] = defaultdict(float)
        for word, english in name_pairs:
            _expect(word, english, shares, counts)
        totals: dict[str, float] = defaultdict(float)
        for (letter, _), count in counts.items():
            totals[letter] += count
        shares = {step: count / totals[step[0]] for step, count in counts.items() if count > RARE * totals[step[0]]}
    return dict(shares)


def _expect(
    word: str, english: str, shares: Mapping[tuple[str, str], float], counts: dict[tuple[str, str], float]
) -> None:
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
    forward = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    back = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    forward[0][0] = back[rows][columns] = 1.0
    for i in range(rows):
        for j, mass in enumerate(forward[i]):
            for end, share in steps[i][j] if mass else ():
                forward[i + 1][end] += mass * share
    total = forward[rows][columns]
    for i in reversed(range(rows) if total else ()):
        for j in range(columns + 1):
            for end, share in steps[i][j]:
                mass = share * back[i + 1][end]
                back[i][j] += mass
                if mass and forward[i][j]:
                    counts[word[i], english[j:end]] += forward[i][j] * mass / total


def aligned(word: str, english: str, shares: Mapping[tuple[str, str], float]) -> list[tuple[str, str]]:
    """The likeliest steps from a word to its English; none if they are unlikely."""
    best: list[dict[int, tuple[float, int]]] = [{0: (0.0, 0)}, *({} for _ in word)]
    for i, letter in enumerate(word):
        for j, (score, _) in best[i].items():
            for end in range(j, min(len(english), j + len(SIZES) - 1) + 1):
                share = shares.get((letter, english[j:end]))
                if share and score + math.log(share) > best[i + 1].get(end, (-math.inf, 0))[0]:
                    best[i + 1][end] = score + math.log(share), j
    steps, end = [], len(english)
    if best[-1].get(end, (-math.inf, 0))[0] < LIKELY * len(word):
        return []
    for i in reversed(range(len(word))):
        start = best[i + 1][end][1]
        steps.append((word[i], english[start:end]))
        end = start
    return steps[::-1]


def learn(lang: str) -> None:
    name_pairs = sorted(pairs(lang))
    shares = learned(random.Random(0).sample(name_pairs, min(MIN_PAIRS, len(name_pairs))))
    alignments = [steps for pair in name_pairs if (steps := aligned(*pair, shares))]
    texts = [("", ""), *sorted({step for steps in alignments for step in steps})]
    number, size = {step: number_of_step for number_of_step, step in enumerate(texts)}, len(texts)
    counted = [Counter[int](), Counter[int](), Counter[int]()]
    for steps in alignments:
        numbers = [0, 0, *(number[step] for step in steps), 0]
        for a, b, c in zip(numbers, numbers[1:], numbers[2:], strict=False):
            for counts, key in zip(counted, (c, b * size + c, (a * size + b) * size + c), strict=True):
                counts[key] += 1
    arrays = {"texts": np.frombuffer("\n".join(map("\t".join, texts)).encode(), np.uint8)}
    for length, counts in enumerate(counted, start=1):
        keys = sorted(counts)
        arrays[f"keys{length}"] = np.diff(np.array([0, *keys], np.uint32))
        arrays[f"counts{length}"] = np.array([min(counts[key], 65_535) for key in keys], np.uint16)
    np.savez_compressed(FOLDER / f"{lang}.npz", **arrays)
    print(
        f"{lang}: {len(name_pairs)} pairs, {len(alignments)} kept, {[len(counts) for counts in counted]} steps",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--langs", default=LANGS)
    for lang in parser.parse_args().langs.split(","):
        learn(lang)


if __name__ == "__main__":
    main()
