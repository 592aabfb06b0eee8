"""Which of a word's alternatives are used: every one, the best, the best few, or one at random."""

from __future__ import annotations

import hashlib

from paragloss.types import Alternative, Query, Translation, Translator

CHOICES = ("every", "best", "random")


class SelectiveTranslator:
    """Wraps a Translator: of each term's alternatives "every" one, the "best", or one at "random" (always the same
    for the same query and `seed`) is used, after all but the `top` best were dropped; 0 drops none."""

    def __init__(self, translator: Translator, choose: str = "every", *, top: int = 0, seed: int = 0) -> None:
        self._translator, self._choose, self._top, self._seed = translator, choose, top, seed

    def knows(self, source: str, target: str) -> bool:
        return self._translator.knows(source, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        return [self._chosen(clause, query) for clause in self._translator.translate(query, to)]

    def _chosen(self, clause: Translation, query: Query) -> Translation:
        some = clause.alternatives[: self._top or None]
        few = choose_alternatives(some, self._choose, seed=self._seed, within=query.text, of=clause.source)
        return clause._replace(alternatives=few)


def choose_alternatives(
    some: tuple[Alternative, ...], choose: str, *, seed: int, within: str, of: str
) -> tuple[Alternative, ...]:
    """Of alternatives, best first, those wanted for the word `of` in the query `within`."""
    if choose == "every":
        return some
    one = some[0 if choose == "best" else _draw(seed, within, of, len(some))]
    return (one._replace(weight=1.0),)


def _draw(seed: int, query: str, word: str, count: int) -> int:
    """The same for the same seed, query and word, on every machine and in any order."""
    digest = hashlib.blake2b(f"{seed}\t{query}\t{word}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % count
