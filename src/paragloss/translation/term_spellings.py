"""How terms are written: a stem is not a word one can read, nor always one that is stemmed to itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from paragloss.analysis import analyzer


def list_spellings(texts: Iterable[str], lang: str) -> dict[str, str]:
    """For each term of the texts the most frequent spelling that, on its own, is cut into that very term."""
    written: Counter[tuple[str, str]] = Counter()
    spans = analyzer(lang).spans
    for text in texts:
        written.update((span.term, text[span.start : span.end]) for span in spans(text))
    return choose_spellings(written, lang)


def choose_spellings(written: Counter[tuple[str, str]], lang: str) -> dict[str, str]:
    """Where context decides how text is cut (Chinese, Japanese) no spelling may do; the most frequent stands then."""
    cut = analyzer(lang).terms
    good: dict[str, str] = {}
    other: dict[str, str] = {}
    for (term, surface), _ in written.most_common():
        if term not in good:
            other.setdefault(term, surface)
            if cut(surface) == [term]:
                good[term] = surface
    return {**other, **good}
