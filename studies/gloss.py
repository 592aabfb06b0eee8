"""How often a gloss says what a foreign word means: alone, by dictionary entries; in sentences, by their translation.

    PARAGLOSS_DATA=... python studies/gloss.py [--langs de,fr,...] [--words 500] [--sentences 300]

Alone: words of the MUSE dictionaries, from which nothing of the model was learned; right is a meaning that they list.
In sentences: short descriptions of Debian packages, from which nothing was learned either; a content word, but no name,
is right if its first meaning stands in the English description. A translator may choose other words, so that share
has a ceiling well below 1; `any` is the share of words of which some meaning shown stands there, what a perfect choice
among them would reach, and `alone` the share where each word is glossed by itself: what context adds is the difference.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterator

from sets import folder

from paragloss.analysis import analyzer
from paragloss.gloss import gloss
from paragloss.translation import default

LANGS = "da,de,es,fr,it,nl,pl,pt,ru,uk,cs,sk,ja,ko,zh"


def entries(lang: str) -> dict[str, set[str]]:
    """Words of a language with the stems of what they may be in English; those that are written alike say nothing."""
    found: dict[str, set[str]] = defaultdict(set)
    cut = analyzer("en").terms
    with gzip.open(folder() / "muse" / f"{lang}-en.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            word, meaning = line.rstrip("\n").split("\t")[:2]
            if word != meaning:
                found[word].update(cut(meaning))
    return {word: meanings for word, meanings in found.items() if meanings}


def sentences(lang: str) -> Iterator[tuple[str, str]]:
    """Short descriptions in a language and in English."""
    with gzip.open(folder() / "ddtp" / "en.jsonl.gz", "rt", encoding="utf-8") as lines:
        english = {row["concept"]: row["title"] for row in map(json.loads, lines)}
    with gzip.open(folder() / "ddtp" / f"{lang}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["concept"] in english and row["title"] and row["title"] != english[row["concept"]]:
                yield row["title"], english[row["concept"]]


def alone(lang: str, count: int) -> tuple[float, float, float]:
    """Of words: the share that has a meaning; of those, the share whose first is right, and whose any is."""
    known = entries(lang)
    some = random.Random(0).sample(sorted(known), min(count, len(known)))
    shown = [(word, _meanings(word, lang)) for word in some]
    told = [(word, stems) for word, stems in shown if stems]
    first = sum(bool(stems[0] & known[word]) for word, stems in told)
    any_ = sum(any(stem & known[word] for stem in stems) for word, stems in told)
    return len(told) / len(some), first / max(len(told), 1), any_ / max(len(told), 1)


def in_sentences(lang: str, count: int) -> tuple[float, float, float, int]:
    """Of content words in sentences that have a meaning: whether the first is right, the first of the word glossed by
    itself, any of them; and how many words there were."""
    cut, first, by_itself, any_, total = analyzer("en").terms, 0, 0, 0, 0
    pairs = list(sentences(lang))
    for text, english in random.Random(0).sample(pairs, min(count, len(pairs))):
        there = set(cut(english))
        for word in gloss(text, lang, "en", SOURCES).words:
            stems = [set(cut(meaning.text)) for meaning in word.meanings]
            if not stems or word.text.casefold() in english.casefold():
                continue  # a name, or a word that needs no gloss
            single = _meanings(word.text, lang)
            total += 1
            first += bool(stems[0] & there)
            by_itself += bool(single and single[0] & there)
            any_ += any(bool(stem & there) for stem in stems)
    return first / max(total, 1), by_itself / max(total, 1), any_ / max(total, 1), total


def _meanings(word: str, lang: str) -> list[set[str]]:
    cut = analyzer("en").terms
    return [set(cut(m.text)) for found in gloss(word, lang, "en", SOURCES).words[:1] for m in found.meanings]


SOURCES = {"default": default.open()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--langs", default=LANGS)
    options.add_argument("--words", type=int, default=500)
    options.add_argument("--sentences", type=int, default=300)
    given = options.parse_args()
    print("| language | words with a meaning | first right | any right | in sentences: first | alone | any | words |")
    print("|---|---|---|---|---|---|---|---|")
    for lang in given.langs.split(","):
        said = alone(lang, given.words) if (folder() / "muse" / f"{lang}-en.tsv.gz").exists() else None
        one = " | ".join(f"{share:.2f}" for share in said) if said else "| |"
        *shares, total = in_sentences(lang, given.sentences)
        print(f"| {lang} | {one} | {' | '.join(f'{share:.2f}' for share in shares)} | {total} |", flush=True)


if __name__ == "__main__":
    main()
