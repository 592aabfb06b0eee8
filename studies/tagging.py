"""How often the tagger is right, on the test sets of Universal Dependencies.

    python studies/tagging.py en=en_ewt-ud-test.conllu de=de_gsd-ud-test.conllu nl=nl_alpino-ud-test.conllu

The files are those of the treebanks UD_English-EWT, UD_German-GSD and UD_Dutch-Alpino. Punctuation, symbols and what
is no word are left out; as written, then all in small letters, as queries often are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from paragloss.translation.tagging import tagger
from paragloss.types import Span

KINDS = {"NOUN": "noun", "PROPN": "noun", "VERB": "verb", "AUX": "verb", "ADJ": "adj", "ADV": "adv", "ADP": "prep"}


def sentences(path: str) -> Iterator[list[tuple[str, str]]]:
    """Words with their kinds, "" for any other."""
    for block in Path(path).read_text(encoding="utf-8").split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if line and not line.startswith("#")]
        words = [(row[1], row[3]) for row in rows if row[0].isdecimal() and row[3] not in ("PUNCT", "SYM", "X")]
        if words:
            yield [(word, KINDS.get(pos, "")) for word, pos in words]


def right(path: str, lang: str, *, small: bool) -> tuple[int, int]:
    """How many words are tagged right, and how many there are."""
    tag, hits, total = tagger(lang), 0, 0
    for sentence in sentences(path):
        text, spans = "", []
        for word, _ in sentence:
            start = len(text) + 1
            text = f"{text} {word.lower() if small else word}"
            spans.append(Span(start, len(text), word))
        hits += sum(found == kind for found, (_, kind) in zip(tag(text, spans), sentence, strict=True))
        total += len(sentence)
    return hits, total


if __name__ == "__main__":
    print("| language | words | as written | in small letters |\n|---|---|---|---|")
    for given in sys.argv[1:]:
        lang, _, path = given.partition("=")
        shares = [right(path, lang, small=small) for small in (False, True)]
        print(f"| {lang} | {shares[0][1]} | {' | '.join(f'{hits / total:.3f}' for hits, total in shares)} |")
