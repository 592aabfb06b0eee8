"""How fast is text cut into terms? MB of UTF-8 per second on one core, beside two peers in the same run.

    PARAGLOSS_DATA=... python benchmarks/analysis.py [LANG ...]

Reads MDN pages, Debian package descriptions and LibreOffice help. Peers: a bare `\\w+` over lower-cased text (no
normalisation, no stop words, no stemming: the floor), and bm25s.tokenize with its stop words and a Snowball stemmer.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import bm25s
import Stemmer

from paragloss.analysis import analyzer

DATA = Path(os.environ.get("PARAGLOSS_DATA", "~/.cache/paragloss")).expanduser()
LANGS = ("en", "fr", "it", "es", "de", "pt", "nl", "da", "fi", "ru", "uk", "pl", "cs", "hu", "tr", "el", "id", "vi")
LANGS += ("ko", "zh", "ja")
SNOWBALL = {"en": "english", "fr": "french", "it": "italian", "es": "spanish", "de": "german", "pt": "portuguese"}
MEGABYTES = 3


def texts_of(lang: str) -> list[str]:
    texts: list[str] = []
    size = 0
    for folder in ("mdn", "lohelp", "ddtp"):
        path = DATA / folder / f"{lang}.jsonl.gz"
        if not path.exists():
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                texts.append(json.loads(line)["text"])
                size += len(texts[-1].encode())
                if size > MEGABYTES * 1e6:
                    return texts
    return texts


def rate(cut: Callable[[Sequence[str]], object], texts: Sequence[str], size: int) -> float:
    """Best of three, in MB per second of processor time, which other work on the machine disturbs less."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        cut(texts)
        best = min(best, time.process_time() - start)
    return size / 1e6 / best


def first_rate(lang: str, texts: Sequence[str], size: int) -> float:
    """With an empty memo, as at the start of indexing."""
    from paragloss.analysis import _make

    _make.cache_clear()
    terms = analyzer(lang).terms
    terms("warm")
    start = time.process_time()
    for text in texts:
        terms(text)
    return size / 1e6 / (time.process_time() - start)


def peer(lang: str) -> Callable[[Sequence[str]], object]:
    stemmer = Stemmer.Stemmer(SNOWBALL[lang])
    return lambda texts: bm25s.tokenize(
        list(texts), stopwords="en" if lang == "en" else [], stemmer=stemmer, show_progress=False
    )


def main(langs: Sequence[str]) -> None:
    bare = re.compile(r"\w+")
    print(f"{'lang':4} {'MB':>5} {'first':>7} {'warm':>7} {'plain':>7} {'spans':>7} {'bare':>7} {'bm25s':>7}   (MB/s)")
    for lang in langs:
        texts = texts_of(lang)
        size = sum(len(text.encode()) for text in texts)
        if not texts:
            continue
        first = first_rate(lang, texts, size)
        ours = analyzer(lang)
        plain = analyzer(lang, stem=False, stop=False)
        row = [
            first,
            rate(lambda ts, a=ours: [len(a.terms(t)) for t in ts], texts, size),
            rate(lambda ts, a=plain: [len(a.terms(t)) for t in ts], texts, size),
            rate(lambda ts, a=ours: [len(a.spans(t)) for t in ts], texts, size),
            rate(lambda ts: [len(bare.findall(t.lower())) for t in ts], texts, size),
            rate(peer(lang), texts, size) if lang in SNOWBALL else float("nan"),
        ]
        print(f"{lang:4} {size / 1e6:5.1f} " + " ".join(f"{value:7.1f}" for value in row), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or LANGS)
