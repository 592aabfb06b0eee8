"""Spellings of terms: a stem is not a word that people read, and is not always stemmed to itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from paragloss.analysis import analyzer


def list_spellings(texts: Iterable[str], lang: str) -> dict[str, str]:
    """Return for each term of the texts the most frequent spelling that, on its own, is analysed as that term."""
    counts: Counter[tuple[str, str]] = Counter()
    spans = analyzer(lang).spans
    for text in texts:
        counts.update((span.term, text[span.start : span.end]) for span in spans(text))
    return choose_spellings(counts, lang)


def choose_spellings(counts: Counter[tuple[str, str]], lang: str) -> dict[str, str]:
    """Choose a spelling of each term from counts of (term, spelling).

    Where the context decides how text is tokenized (Chinese, Japanese), perhaps no spelling is analysed as the term;
    the most frequent one is taken then.
    """
    analyze = analyzer(lang).terms
    exact: dict[str, str] = {}
    most_frequent: dict[str, str] = {}
    for (term, spelling), _ in counts.most_common():
        if term in exact:
            continue
        most_frequent.setdefault(term, spelling)
        if analyze(spelling) == [term]:
            exact[term] = spelling
    return {**most_frequent, **exact}
