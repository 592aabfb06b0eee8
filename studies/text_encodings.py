"""How often the encoding of a few sentences is guessed right: by `formats.encodings`, by charset-normalizer and by
resiliparse.

    PARAGLOSS_DATA=... python studies/text_encodings.py

Tatoeba's sentences, written in the encoding their language had before UTF-8; right is what decodes to the same text.
"""

from __future__ import annotations

import random

from charset_normalizer import from_bytes
from resiliparse.parse.encoding import bytes_to_str
from resiliparse.parse.encoding import detect_encoding as detect_web_encoding

from paragloss.formats.encodings import detect_encoding
from paragloss.formats.text import read_lines
from paragloss.lab.recipes.sets import folder

ENCODINGS = {
    "cp1251": "ru uk", "cp1253": "el", "cp1255": "he", "cp1256": "ar", "cp874": "th", "cp932": "ja", "gb18030": "zh",
    "cp949": "ko", "cp1250": "pl cs hu ro", "cp1254": "tr", "cp1252": "de fr sv es",
}  # fmt: skip
TEXTS, ROWS = 25, 20_000


def samples(lang: str, encoding: str, sentences: int, rng: random.Random) -> list[tuple[str, bytes]]:
    rows = [
        line.rstrip("\n").split("\t")[1]
        for number, line in read_lines(folder() / "tatoeba" / f"en-{lang}.tsv.gz")
        if number <= ROWS
    ]
    found: list[tuple[str, bytes]] = []
    for _ in range(400):
        text = "\n".join(rng.sample(rows, sentences))
        data = text.encode(encoding, "ignore")
        if len(found) < TEXTS and not data.isascii() and data.decode(encoding) == text:
            found.append((text, data))
    return found


def main() -> None:
    for sentences in (1, 5, 30):
        rng = random.Random(0)
        drawn = [
            sample
            for encoding, langs in ENCODINGS.items()
            for lang in langs.split()
            for sample in samples(lang, encoding, sentences, rng)
        ]
        ours = sum(data.decode(detect_encoding(data), "replace") == text for text, data in drawn)
        theirs = sum(str(from_bytes(data).best()) == text for text, data in drawn)
        web = sum(bytes_to_str(data, detect_web_encoding(data)) == text for text, data in drawn)
        told = f"ours {ours}, charset-normalizer {theirs}, resiliparse {web} of {len(drawn)}"
        print(f"{sentences} sentences: {told}", flush=True)


if __name__ == "__main__":
    main()
