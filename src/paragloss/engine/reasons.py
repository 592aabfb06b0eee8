"""Why a document was found: which words of the query met which of its own, through what.

The parts are exact (they sum to the score); pairs of words share a part out by weight and rarity, which is said to be
approximate.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from paragloss.analysis import analyzer
from paragloss.errors import LanguageError
from paragloss.gloss.snippets import REACH, contributions
from paragloss.search.parts import Parts
from paragloss.search.wording import MIX
from paragloss.serving.bag import BagEncoder
from paragloss.types import Document, Query

#: Pairs of words kept of a part.
_PAIRS = 12


def why(query: Query, document: Document, scores: Mapping[str, float], parts: Parts) -> list[dict[str, Any]]:
    """For each part of the search what it gave the document, and the pairs of words that speak for it."""
    text = f"{document.title}\n{document.text}"[:REACH]
    written: dict[str, str] = {}
    for span in analyzer(document.lang).spans(text):
        written.setdefault(span.term, text[span.start : span.end])
    told = []
    for name, score in scores.items():
        if name in parts.encoders:
            pairs = _encoded(query, document, parts.encoders[name], written)
        else:
            pairs = _worded(query, document, parts, name, written)
        told.append({"part": name, "score": score, "approximate": True, "pairs": _shared(pairs, name, score)})
    return told


def _worded(
    query: Query, document: Document, parts: Parts, name: str, written: Mapping[str, str]
) -> dict[tuple[str, str], float]:
    """Query words and their translations that the document has, by weight and rarity."""
    cut = analyzer(document.lang).terms
    pairs: dict[tuple[str, str], float] = {}
    asked: list[tuple[str, str, float]] = []
    mixed = list(parts.translators) if name.startswith(f"{MIX}(") else []
    through = [name] if name in parts.translators else mixed
    if through and query.lang != document.lang:
        for one in through:
            with suppress(LanguageError):
                for clause in parts.translators[one].translate(query, document.lang):
                    asked += [(clause.source, term, a.weight) for a in clause.alternatives for term in cut(a.text)]
    else:
        asked = [
            (query.text[span.start : span.end], span.term, 1.0) for span in analyzer(document.lang).spans(query.text)
        ]
    for source, term, weight in asked:
        if term in written:
            weight *= parts.idf(document.lang, term)
            pairs[source, written[term]] = pairs.get((source, written[term]), 0.0) + weight
    return pairs


def _encoded(query: Query, document: Document, model: Any, written: Mapping[str, str]) -> dict[tuple[str, str], float]:
    """The document's words that lie near the query, each with the query word it is nearest to."""
    if not isinstance(model, BagEncoder) or not {query.lang, document.lang} <= set(model.langs):
        return {}
    vector = model.encode([query.text], query.lang)[0]
    shares = contributions(model, vector, f"{document.title}\n{document.text}", document.lang)
    best = sorted(((share, term) for term, share in shares.items() if share > 0), reverse=True)[:_PAIRS]
    asked = [query.text[span.start : span.end] for span in analyzer(query.lang).spans(query.text)]
    if not best or not asked:
        return {}
    likeness = model.encode([term for _, term in best], document.lang) @ model.encode(asked, query.lang).T
    nearest = np.argmax(likeness, axis=1)
    return {(asked[i], written.get(term, term)): share for i, (share, term) in zip(nearest, best, strict=True)}


def _shared(pairs: Mapping[tuple[str, str], float], name: str, score: float) -> list[dict[str, Any]]:
    """A part's score shared out among its pairs."""
    best = sorted(pairs.items(), key=lambda item: -item[1])[:_PAIRS]
    total = sum(weight for _, weight in best)
    return [
        {"query": query, "document": document, "source": name, "score": score * weight / total if total else 0.0}
        for (query, document), weight in best
    ]
