"""Measure how often the words of an English sentence find its translation in a language without a table of its own.

    PARAGLOSS_DATA=... python studies/related_languages.py [--langs af,gl,...] [--queries 200]

Documents are the 997 sentences of FLORES dev in the language. A document's score is the sum over the words of the query
of the idf of the best alternative that it contains, times its weight. Printed is the mean reciprocal rank of the
translation: `unchanged` with the English words as they are (names and numbers match), `relative` with the words of the
relatives as they are, `respelled` with the rules of `translation/related_languages.py`.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import sources

from paragloss.analysis import analyzer
from paragloss.translation import default
from paragloss.translation.related_languages import list_relatives
from paragloss.types import Alternative, Query, Translation

LANGS = "af,gl,be,bs,sr,az,mr"


class SentenceIndex:
    """Sentences of one language with the document frequencies of their terms."""

    def __init__(self, texts: Iterable[str], analyze: Callable[[str], Sequence[str]]) -> None:
        self._analyze = analyze
        self._documents = [set(self._analyze(text)) for text in texts]
        frequencies = Counter(term for document in self._documents for term in document)
        self._idf = {term: math.log(len(self._documents) / count) for term, count in frequencies.items()}

    def rank_of(self, index: int, clauses: Sequence[Translation]) -> int:
        """Return the rank of a document; documents with equal scores share the middle of their ranks."""
        scores = [0.0] * len(self._documents)
        for clause in clauses:
            weighted_terms = [
                (self._idf.get(term, 0.0) * weight, term)
                for text, weight, _ in clause.alternatives
                for term in self._analyze(text)[:1]
            ]
            for number, document in enumerate(self._documents):
                scores[number] += max((score for score, term in weighted_terms if term in document), default=0.0)
        better = sum(score > scores[index] for score in scores)
        equal = sum(score == scores[index] for score in scores) - 1
        return 1 + better + equal // 2


def translate(query: Query, lang: str, method: str) -> list[Translation]:
    """Translate a query in one of the three ways that are compared."""
    words = [query.text[span.start : span.end] for span in analyzer(query.lang).spans(query.text)]
    if method == "unchanged":
        return [Translation(word, (Alternative(word, 1.0),)) for word in words]
    model = default.open()
    if method == "respelled":
        return model.translate(query, lang)
    return [clause for relative in list_relatives(lang, model.langs) for clause in model.translate(query, relative)]


def main() -> None:
    """Print a line for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--langs", default=LANGS)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    rows = sources.rows("flores")
    print(f"{'':4}{'unchanged':>10}{'relative':>10}{'respelled':>10}")
    for lang in options.langs.split(","):
        index = SentenceIndex([row["texts"][lang] for row in rows], analyzer(lang).terms)
        cells = []
        for method in ("unchanged", "relative", "respelled"):
            ranks = [
                index.rank_of(number, translate(Query("", rows[number]["texts"]["en"], "en"), lang, method))
                for number in range(options.queries)
            ]
            cells.append(sum(1 / rank for rank in ranks) / len(ranks))
        print(f"{lang:4}" + "".join(f"{cell:10.3f}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
