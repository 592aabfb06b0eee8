"""Is the encoding of a text guessed right? Sentences of FLORES in encodings that are still met, one and five at a time,
against charset-normalizer (which comes with requests) on the same bytes.

    PARAGLOSS_DATA=... python benchmarks/text_encodings.py
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import charset_normalizer

from paragloss.errors import InputError
from paragloss.formats.encodings import detect_encoding

ENCODINGS = {
    "cp1251": "ru uk bg sr be",
    "koi8-r": "ru",
    "cp866": "ru",
    "cp1253": "el",
    "cp1255": "he",
    "cp1256": "ar fa",
    "cp874": "th",
    "cp932": "ja",
    "euc_jp": "ja",
    "gb18030": "zh",
    "cp949": "ko",
    "cp1252": "fr de es it pt nl da sv nb fi",
    "cp1250": "pl cs hu ro sk sl hr",
    "cp1254": "tr",
    "cp1257": "lt lv et",
    "utf-16-le": "en ru",
    "utf-8": "ru zh vi fr",
}


def right(data: bytes, guess: str, truth: str) -> bool:
    try:
        return data.decode(guess) == data.decode(truth)
    except (UnicodeDecodeError, LookupError):
        return False


def ours(data: bytes) -> str:
    try:
        return detect_encoding(data)
    except InputError:
        return ""


def main() -> None:
    path = Path(os.environ.get("PARAGLOSS_DATA", Path.home() / ".cache" / "paragloss")) / "flores" / "dev.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line)["texts"] for line in lines]
    for size in (1, 5):
        for encoding, langs in ENCODINGS.items():
            mine = theirs = count = 0
            for lang in langs.split():
                for start in range(0, 60 * size, size):
                    data = "\n".join(row[lang] for row in rows[start : start + size]).encode(encoding, "ignore")
                    if data.isascii() and not encoding.startswith("utf"):
                        continue
                    best = charset_normalizer.from_bytes(data).best()
                    count += 1
                    mine += right(data, ours(data), encoding)
                    theirs += best is not None and right(data, best.encoding, encoding)
            shares = f"{mine / count:.3f}  {theirs / count:.3f}"
            print(f"{size} sentences  {encoding:10} {count:4}  {shares}", flush=True)


if __name__ == "__main__":
    main()
