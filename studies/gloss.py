"""How often a gloss says what a foreign word means: alone, by dictionary entries; in sentences, by their translation.

    PARAGLOSS_DATA=... python studies/gloss.py news [--langs de,fr,...] [--sentences 60] [--lexicon FOLDER|none]
        [--default FOLDER]
    PARAGLOSS_DATA=... python studies/gloss.py words [--words 400]
    PARAGLOSS_DATA=... python studies/gloss.py packages [--sentences 150]
    PARAGLOSS_DATA=... python studies/gloss.py names [--words 1500]

news: sentences of FLORES dev and of the held-out parts of NTREX and TICO-19, as many of each. A content word (no stop
word, no number, none that stands in the English sentence as it is) is right if a word of its first meaning begins with
the same five letters as one of the professional English sentence: a lower bound, a translator may choose other words.
`any` is the same for any meaning shown, `sure` for words that are not said to be guesses; chrF and the F1 of words are
the rendering's against that sentence. The lexicon has seen none of these sentences; the default model that is shipped,
which guesses where the lexicon is silent, has: `--default` takes the one that has not (`default_model.py`, "held").
words: those of the MUSE dictionaries, from which nothing was learned; right is a meaning that they list. `or name` is
the share with a meaning or an English name that is given, `or written` with a meaning or written just as they list it.
packages: short descriptions of Debian packages, from which nothing was learned either; right by stems.
names: words of the MUSE dictionaries in other scripts that have no meaning here but by their sound, nearly all of them
names: `exact` is the share whose Latin writing is one that they list, `likeness` how many of its letters are right,
`wrong` the share of words for which an English name or word is given that is far from it (likeness below .7).
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import sources
from sets import folder

from paragloss.analysis import analyzer
from paragloss.analysis.romanisation import transcribe
from paragloss.gloss import gloss
from paragloss.gloss.senses import SOUND
from paragloss.translation import default

NEWS = "de,fr,es,it,pt,nl,da,sv,fi,pl,cs,ru,uk,bg,el,hu,ro,tr,ar,he,fa,hi,bn,ta,th,vi,id,zh,ja,ko"
NAMES = "ru,ja,ar,uk,ko,he,el,hi,bg,fa,bn,ta"
LANGS = "da,de,es,fr,it,nl,pl,pt,ru,uk,cs,sk,ja,ko,zh"
#: So many first letters make two English words the same.
LETTERS = 5


def entries(lang: str) -> dict[str, set[str]]:
    """Words of a language with the stems of what they may be in English; those that are written alike say nothing."""
    meanings_by_word: dict[str, set[str]] = defaultdict(set)
    cut = analyzer("en").terms
    with gzip.open(folder() / "muse" / f"{lang}-en.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            word, meaning = line.rstrip("\n").split("\t")[:2]
            if word != meaning:
                meanings_by_word[word].update(cut(meaning))
    return {word: meanings for word, meanings in meanings_by_word.items() if meanings}


def spellings(lang: str) -> dict[str, set[str]]:
    """Words of a language with their English as it is written, small and without marks."""
    listed: dict[str, set[str]] = defaultdict(set)
    with gzip.open(folder() / "muse" / f"{lang}-en.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            word, name = line.rstrip("\n").split("\t")[:2]
            listed[word].add(_plain(name))
    return listed


def descriptions(lang: str) -> Iterator[tuple[str, str]]:
    """Short descriptions in a language and in English."""
    with gzip.open(folder() / "ddtp" / "en.jsonl.gz", "rt", encoding="utf-8") as lines:
        english = {row["concept"]: row["title"] for row in map(json.loads, lines)}
    with gzip.open(folder() / "ddtp" / f"{lang}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["concept"] in english and row["title"] and row["title"] != english[row["concept"]]:
                yield row["title"], english[row["concept"]]


def news(lang: str, count: int) -> list[tuple[str, str]]:
    """Held-out sentences of a language with their English, a third of each set that has it."""
    articles = []
    for name in ("flores", "ntrex", "tico19"):
        rows = sources.rows(name)
        code = sources.written(lang) if name == "flores" else lang
        sentences_kept = [
            (row["texts"][code], row["texts"]["en"])
            for number, row in enumerate(rows)
            if code in row["texts"] and (name == "flores" or sources.run_part(name, number) == "test")
        ]
        articles += random.Random(0).sample(sentences_kept, min(count // 3, len(sentences_kept)))
    return articles


def content(text: str, lang: str, english: str, glossed: Any) -> Iterator[Any]:
    """What is said of each content word."""
    folded_english = english.casefold()
    for span in analyzer(lang).spans(text):
        written = text[span.start : span.end]
        if any(char.isalpha() for char in written) and written.casefold() not in folded_english:
            yield next((w for w in glossed.words if w.start <= span.start < w.end and w.meanings), None)


def in_news(lang: str, count: int) -> tuple[dict[str, float], int]:
    counts, shares, pairs = Counter[str](), defaultdict(list), news(lang, count)
    for text, english in pairs:
        start = time.process_time()
        glossed = gloss(text, lang, "en", SOURCES)
        shares["ms"].append(1000 * (time.process_time() - start))
        beginnings = {word[:LETTERS] for word in re.findall(r"\w+", english.casefold())}
        for word in content(text, lang, english, glossed):
            counts["words"] += 1
            if word is None:
                continue
            right = [_stands(meaning.text, beginnings) for meaning in word.meanings]
            sure = getattr(word, "sure", True)
            counts += Counter(known=1, first=int(right[0]), any=int(any(right)), sure=int(sure))
            counts["sure first"] += right[0] and sure
        shares["chrF"].append(chrf(glossed.rendering, english))
        shares["F1"].append(f1(glossed.rendering, english))
    rows = {key: counts[key] / counts["words"] for key in ("known", "first", "any", "sure")}
    rows["right if sure"] = counts["sure first"] / max(counts["sure"], 1)
    return rows | {key: sum(values) / len(values) for key, values in shares.items()}, counts["words"]


def _stands(meaning: str, beginnings: set[str]) -> bool:
    words = re.findall(r"\w+", meaning.casefold())
    long_words = [word for word in words if len(word) > 2] or words
    return any(word[:LETTERS] in beginnings for word in long_words)


def chrf(hypothesis: str, right: str, *, max_order: int = 6, beta: float = 2.0) -> float:
    """Of character n-grams (Popović, 2015), spaces left out."""
    values = []
    for size in range(1, max_order + 1):
        hypothesis_grams, reference_grams = (
            Counter(t[i : i + size] for i in range(len(t) - size + 1)) for t in map(_letters, (hypothesis, right))
        )
        if hypothesis_grams and reference_grams:
            overlap = (hypothesis_grams & reference_grams).total()
            precision, recall = overlap / hypothesis_grams.total(), overlap / reference_grams.total()
            total = beta**2 * precision + recall
            values.append((1 + beta**2) * precision * recall / total if total else 0.0)
    return sum(values) / max(len(values), 1)


def _letters(text: str) -> str:
    return "".join(text.split())


def f1(hypothesis: str, right: str) -> float:
    hypothesis_words, reference_words = (Counter(re.findall(r"\w+", text.casefold())) for text in (hypothesis, right))
    return 2 * (hypothesis_words & reference_words).total() / max(hypothesis_words.total() + reference_words.total(), 1)


def measure_words(lang: str, count: int) -> dict[str, float]:
    """Of words: the share that has a meaning, whose first is right, whose any is; that has one or is a name that is
    given, and that has one or is written as the dictionary lists it."""
    entries_by_word, listed = entries(lang), spellings(lang)
    sample = random.Random(0).sample(sorted(entries_by_word), min(count, len(entries_by_word)))
    glossed = [(word, gloss(word, lang, "en", SOURCES).words[:1]) for word in sample]
    right = [[bool(stems & entries_by_word[word]) for stems in _meanings(words)] for word, words in glossed]
    is_name = [any(word.kind == "name" for word in words) for _, words in glossed]
    written = [_plain(words[0].romanised) if words and words[0].end == len(word) else "" for word, words in glossed]
    figures = {
        "known": [bool(meanings) for meanings in right],
        "first": [meanings[:1] == [True] for meanings in right],
        "any": map(any, right),
        "or name": [bool(meanings or named) for meanings, named in zip(right, is_name, strict=True)],
        "or written": [
            bool(meanings) or name in listed[word] for meanings, name, word in zip(right, written, sample, strict=True)
        ],
    }
    return {name: sum(values) / len(sample) for name, values in figures.items()}


def in_packages(lang: str, count: int) -> tuple[dict[str, float], int]:
    """Of content words of descriptions that have a meaning: whether the first is right by its stem, any of them."""
    cut, counts = analyzer("en").terms, Counter[str]()
    pairs = list(descriptions(lang))
    for text, english in random.Random(0).sample(pairs, min(count, len(pairs))):
        english_terms = set(cut(english))
        for word in filter(None, content(text, lang, english, gloss(text, lang, "en", SOURCES))):
            right = [bool(set(cut(meaning.text)) & english_terms) for meaning in word.meanings]
            counts += Counter(words=1, first=int(right[0]), any=int(any(right)))
    return {name: counts[name] / max(counts["words"], 1) for name in ("first", "any")}, counts["words"]


def written_out(lang: str, count: int) -> tuple[dict[str, float], int]:
    """Of words in another script that have no meaning: how their Latin writing compares with what is listed."""
    listed = {word: spellings_of_word for word, spellings_of_word in spellings(lang).items() if not word.isascii()}
    counts = Counter[str]()
    for word in random.Random(5).sample(sorted(listed), min(count, len(listed))):
        words = gloss(word, lang, "en", SOURCES).words
        if len(words) != 1 or any(meaning.source != SOUND for meaning in words[0].meanings):
            continue
        written_form = _plain(words[0].romanised or "".join(meaning.text for meaning in words[0].meanings) or word)
        similarity = max(SequenceMatcher(None, written_form, name, autojunk=False).ratio() for name in listed[word])
        is_changed = written_form != _plain(transcribe(word, lang))
        counts += Counter(words=1, exact=int(written_form in listed[word]), wrong=int(is_changed and similarity < 0.7))
        counts["likeness"] += similarity
    return {name: counts[name] / max(counts["words"], 1) for name in ("exact", "likeness", "wrong")}, counts["words"]


def _plain(name: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", name.casefold()) if not unicodedata.combining(char))


def _meanings(words: Sequence[Any]) -> list[set[str]]:
    cut = analyzer("en").terms
    return [set(cut(m.text)) for word in words for m in word.meanings]


def table(rows: Mapping[str, Mapping[str, float]], counts: Mapping[str, int]) -> None:
    names = list(next(iter(rows.values())))
    print(f"| language | {' | '.join(names)} | words |\n|{'---|' * (len(names) + 2)}")
    for lang, row in rows.items():
        print(f"| {lang} | {' | '.join(f'{row[name]:.2f}' for name in names)} | {counts.get(lang, '')} |")
    means = [sum(row[name] for row in rows.values()) / len(rows) for name in names]
    print(f"| mean | {' | '.join(f'{mean:.3f}' for mean in means)} | |")


SOURCES: dict[str, Any] = {"default": default.open()}


def main(arguments: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("what", choices=["news", "words", "packages", "names"])
    options.add_argument("--langs", default="")
    options.add_argument("--words", type=int, default=0)
    options.add_argument("--sentences", type=int, default=60)
    options.add_argument("--lexicon", default="")
    options.add_argument("--default", default="")
    options_given = options.parse_args(arguments)
    if options_given.default:
        SOURCES["default"] = default.load(options_given.default)
        default.open = lambda: SOURCES["default"]  # the words that names may be, too
    if options_given.lexicon != "none":
        from paragloss.gloss import lexicon

        SOURCES["lexicon"] = (
            lexicon.Lexicon.load(Path(options_given.lexicon)) if options_given.lexicon else lexicon.open()
        )
    counts, rows = {}, {}
    for lang in (options_given.langs or {"news": NEWS, "names": NAMES}.get(options_given.what, LANGS)).split(","):
        if options_given.what == "words":
            rows[lang] = measure_words(lang, options_given.words or 400)
        elif options_given.what == "names":
            rows[lang], counts[lang] = written_out(lang, options_given.words or 1500)
        else:
            rows[lang], counts[lang] = {"news": in_news, "packages": in_packages}[options_given.what](
                lang, options_given.sentences
            )
    table(rows, counts)


if __name__ == "__main__":
    main()
