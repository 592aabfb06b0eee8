"""Select among the alternatives of a word: every one, the best, the best few, or one at random."""

from __future__ import annotations

import hashlib

from paragloss.types import Alternative, Query, Translation, Translator

CHOICES = ("every", "best", "random")


class SelectiveTranslator:
    """Wraps a Translator and selects among the alternatives of each word.

    All but the `top` best are dropped (0 drops none), then "every" one, the "best", or one at "random" is used. The
    random one is always the same for the same query and `seed`.
    """

    def __init__(self, translator: Translator, choose: str = "every", *, top: int = 0, seed: int = 0) -> None:
        """Wrap a translator; `choose` is one of CHOICES."""
        self._translator, self._choose, self._top, self._seed = translator, choose, top, seed

    def knows(self, source: str, target: str) -> bool:
        """Say whether the wrapped translator knows the two languages."""
        return self._translator.knows(source, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Translate a query and select among the alternatives of each word."""
        return [self._select(clause, query) for clause in self._translator.translate(query, to)]

    def _select(self, clause: Translation, query: Query) -> Translation:
        best = clause.alternatives[: self._top or None]
        selected = choose_alternatives(best, self._choose, seed=self._seed, query=query.text, word=clause.source)
        return clause._replace(alternatives=selected)


def choose_alternatives(
    alternatives: tuple[Alternative, ...], choose: str, *, seed: int, query: str, word: str
) -> tuple[Alternative, ...]:
    """Select among the alternatives of a word of a query.

    :param alternatives: the best first; not empty
    :param choose: "every" returns all of them, "best" the first one, "random" one that is always the same for the same
        query, word and seed
    :return: all alternatives, or the selected one with the weight 1
    """
    if choose == "every":
        return alternatives
    index = 0 if choose == "best" else _draw_index(seed, query, word, len(alternatives))
    return (alternatives[index]._replace(weight=1.0),)


def _draw_index(seed: int, query: str, word: str, count: int) -> int:
    """Draw a number below `count`: the same for the same seed, query and word on every machine."""
    digest = hashlib.blake2b(f"{seed}\t{query}\t{word}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % count
