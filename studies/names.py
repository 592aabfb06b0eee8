"""Names by sound: which consonants become which from English into each language and back, learned from names of places,
and how many held-out names are recognised by it.

    PARAGLOSS_DATA=... python studies/names.py learn            into the package, half a minute
    PARAGLOSS_DATA=... python studies/names.py measure          a fifth of the English names held out

A name is two words that stand at the same place of names of equal length (GeoNames, CLDR). An English consonant becomes
none, one or two of the other language's: expectation by the best alignment, four rounds; pairs that no alignment
explains (translations, other names) are left out. `measure` says what share of names is found by equal consonants and
by what they may become, of all pairs and of those that are the same name, and how many of 10,000 other names are
found with them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import sources
from sets import folder

from paragloss.analysis.sound import phonetic_key
from paragloss.translation import default, sounds

SYMBOLS = "BCDFGHJKLMNPQRSTVWXZ"
#: Consonants that are near each other: where learning starts.
SIMILAR_CONSONANTS = ("PBFV", "TD", "SZXCJ", "KGHQ", "LR", "MNQ", "VW")
#: What an output of no, one or two consonants is worth that nothing is known of.
UNSEEN = (math.log(0.02), math.log(0.003), math.log(0.0003))
#: The least logarithm of likelihood a consonant with which two words are the same name: to learn from, to measure by.
LEARNED, SAME = -2.2, -1.6
PRIOR, MIN_SHARE = 5.0, 0.005
#: A Chinese character that names were written with so often is one that writes names.
FREQUENT = 10


def start() -> dict[str, dict[str, float]]:
    channel = {symbol: {symbol: 0.7, "": 0.05} for symbol in SYMBOLS}
    for group in SIMILAR_CONSONANTS:
        for symbol in group:
            channel[symbol] |= {other: 0.03 for other in group if other != symbol}
    channel["Q"] |= {"NG": 0.5, "N": 0.2, "NK": 0.1}
    return channel


def aligned(
    source_symbols: str, target_symbols: str, logs: Mapping[str, Mapping[str, float]]
) -> tuple[float, list[tuple[str, str]]]:
    """The likeliest way one name's consonants became another's: the logarithm of its likelihood, and its steps."""
    rows, columns = len(source_symbols), len(target_symbols)
    best = [[-math.inf] * (columns + 1) for _ in range(rows + 1)]
    steps_taken = [[0] * (columns + 1) for _ in range(rows + 1)]
    best[0][0] = 0.0
    for i, symbol in enumerate(source_symbols):
        for j in range(columns + 1):
            for size in range(min(2, columns - j) + 1):
                value = best[i][j] + logs[symbol].get(target_symbols[j : j + size], UNSEEN[size])
                if value > best[i + 1][j + size]:
                    best[i + 1][j + size], steps_taken[i + 1][j + size] = value, size
    if best[rows][columns] == -math.inf:
        return -math.inf, []
    steps, j = [], columns
    for i in range(rows, 0, -1):
        size = steps_taken[i][j]
        steps.append((source_symbols[i - 1], target_symbols[j - size : j]))
        j -= size
    return best[rows][columns], steps


def learned(pairs: Iterable[tuple[str, str]], *, rounds: int = 4) -> dict[str, dict[str, float]]:
    prior, channel = start(), start()
    long_pairs = [(a, b) for a, b in pairs if len(a) >= 2 and b]
    for _ in range(rounds):
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        logs = logarithms(channel)
        for source_symbols, target_symbols in long_pairs:
            value, steps = aligned(source_symbols, target_symbols, logs)
            if value / len(source_symbols) > LEARNED:
                for symbol, out in steps:
                    counts[symbol][out] += 1
        channel = {symbol: shares(counts[symbol], prior[symbol]) for symbol in SYMBOLS}
    return channel


def shares(counts: Counter[str], prior: Mapping[str, float]) -> dict[str, float]:
    total = counts.total() + PRIOR
    shares_found = {out: (counts[out] + PRIOR * prior.get(out, 0.0)) / total for out in {*counts, *prior}}
    return {out: round(share, 4) for out, share in sorted(shares_found.items()) if share >= MIN_SHARE}


def logarithms(channel: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {
        symbol: {out: math.log(share) for out, share in shares_of_symbol.items()}
        for symbol, shares_of_symbol in channel.items()
    }


def names(lang: str) -> list[tuple[str, str]]:
    """English words and the other language's, as written; of Japanese those in katakana, whose sound is seen."""
    names_found = {}
    for name in ("geonames", "cldr"):
        for row in sources._json(folder() / "open" / "names" / f"{name}.jsonl.xz"):
            if {"en", lang} <= row["texts"].keys():
                en, other = (re.split(r"[\s\-=・·]+", row["texts"][code][0]) for code in ("en", lang))
                if len(en) == len(other):
                    names_found |= {(a, b): None for a, b in zip(en, other, strict=True) if a[:1].isupper() and b}
    return [pair for pair in names_found if lang != "ja" or re.fullmatch("[ァ-ヺー]+", pair[1])]


def sounding(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(phonetic_key(a), phonetic_key(b)) for a, b in pairs]


def is_held(pair: tuple[str, str]) -> bool:
    return hashlib.blake2b(pair[0].encode(), digest_size=1).digest()[0] % 5 == 0


def writing(pairs: Sequence[tuple[str, str]], channel: Mapping[str, Mapping[str, float]]) -> str:
    """The characters that names are written with."""
    counts, logs = Counter[str](), logarithms(channel)
    for (_, written), (source_symbols, target_symbols) in zip(pairs, sounding(pairs), strict=True):
        if (
            len(source_symbols) >= sounds.MIN_CONSONANTS
            and aligned(source_symbols, target_symbols, logs)[0] / len(source_symbols) > SAME
        ):
            counts.update(written)
    return "".join(sorted(char for char, count in counts.items() if count >= FREQUENT and char > "\u3400"))


def learn(langs: Sequence[str]) -> None:
    channels: dict[str, dict] = {"there": {}, "back": {}, "letters": {}}
    for lang in langs:
        pairs = names(lang)
        sound_pairs = sounding(pairs)
        channels["there"][lang] = learned(sound_pairs)
        channels["back"][lang] = learned((b, a) for a, b in sound_pairs)
        if lang == "zh":
            simplified = [(a, _simplified(b)) for a, b in pairs]
            channels["letters"][lang] = writing(simplified, channels["there"][lang])
        print(f"{lang}: {len(pairs)} names", flush=True)
    path = Path(default.__file__).parent / "data" / "sounds.json"
    path.write_text(json.dumps(channels, ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8")


def _simplified(text: str) -> str:
    from opencc import OpenCC

    return str(OpenCC("t2s").convert(text))


def measure(langs: Sequence[str]) -> None:
    print("lang  names  all: equal  heard   same name: equal  heard   others of 10,000: equal  heard")
    for lang in langs:
        pairs = names(lang)
        channel = {
            symbol: dict(sorted(outs.items(), key=lambda item: -item[1])[: sounds.MAX_VARIANTS_PER_CONSONANT])
            for symbol, outs in learned(sounding([pair for pair in pairs if not is_held(pair)])).items()
        }
        logs, key_counts = logarithms(channel), Counter(phonetic_key(b) for _, b in pairs)
        rows = []
        for source_symbols, target_symbols in sounding([pair for pair in pairs if is_held(pair)]):
            if len(source_symbols) < sounds.MIN_CONSONANTS:
                continue
            variants = [symbols for symbols, _ in sounds.list_consonant_variants(source_symbols, channel)]
            same = aligned(source_symbols, target_symbols, logs)[0] / len(source_symbols) > SAME
            wrong = sum(key_counts[symbols] for symbols in variants) - (target_symbols in variants)
            rows.append(
                (
                    source_symbols == target_symbols,
                    target_symbols in variants,
                    same,
                    key_counts[source_symbols] - (source_symbols == target_symbols),
                    wrong,
                )
            )
        similar_rows = [row for row in rows if row[2]]
        values = [
            sum(row[i] for row in row_set) / max(len(row_set), 1) for row_set in (rows, similar_rows) for i in (0, 1)
        ]
        values += [1e4 * sum(row[i] for row in rows) / max(len(rows), 1) / max(len(pairs), 1) for i in (3, 4)]
        print(f"{lang:4}  {len(rows):5}  " + "  ".join(f"{value:.2f}" for value in values), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=["learn", "measure"])
    parser.add_argument("--langs", default=",".join(sources.LANGS))
    options = parser.parse_args()
    {"learn": learn, "measure": measure}[options.step](options.langs.split(","))


if __name__ == "__main__":
    main()
