"""What foreign words mean, and why a document was found: from whatever translates or encodes in a collection.

A first, plain form of both. Meanings come word by word without their context; of an explanation the parts are exact
(they sum to the score), the pairs of words share a part out by weight and rarity, which is said to be approximate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

import numpy as np

from paragloss.analysis import analyzer
from paragloss.errors import LanguageError
from paragloss.gloss import REACH, contributions
from paragloss.search.parts import Parts
from paragloss.serving.bag import BagEncoder
from paragloss.types import Document, Query, Span, Translator

#: Words translated at once, meanings kept of a word, pairs of words kept of a part.
_STRETCH, _MEANINGS, _PAIRS = 40, 5, 12


def gloss(text: str, lang: str, to: str, sources: Mapping[str, Translator]) -> dict[str, Any]:
    """Every word with its meanings from the sources that know it, and the best of them in the order of the text."""
    spans = analyzer(lang, stem=False, stop=False).spans(text)
    content = {span.start for span in analyzer(lang).spans(text)}
    found: dict[int, list[dict[str, Any]]] = {}
    ends: dict[int, int] = {}
    for name, source in sources.items():
        for first in range(0, len(spans), _STRETCH):
            stretch = spans[first : first + _STRETCH]
            for start, end, meanings in _meanings(text, stretch, lang, to, name, source):
                found.setdefault(start, []).extend(meanings)
                ends[start] = max(end, ends.get(start, 0))
    words = [_word(text, span, content, found, ends) for span in _outer(spans, ends)]
    told = (word for word in words if word["kind"] != "stop")
    best = (word["meanings"][0]["text"] if word["meanings"] else word["text"] for word in told)
    rendering = " ".join(text for text, _ in groupby(best))  # neighbours that mean the same stand once
    return {"lang": lang, "to": to, "words": words, "rendering": rendering}


def _meanings(
    text: str, spans: Sequence[Span], lang: str, to: str, name: str, source: Translator
) -> Iterator[tuple[int, int, list[dict[str, Any]]]]:
    """Where a source knows something of a stretch of text, and what."""
    begin, at = spans[0].start, 0
    said = text[begin : spans[-1].end]
    with suppress(LanguageError):
        for clause in source.translate(Query("", said, lang), to):
            start = said.find(clause.source, at)
            if start < 0:
                continue
            at = start + len(clause.source)
            known = [a for a in clause.alternatives if a.text.casefold() != clause.source.casefold()][:_MEANINGS]
            if known:
                meanings = [{"text": a.text, "weight": round(a.weight, 4), "source": name} for a in known]
                yield begin + start, begin + at, meanings


def _outer(spans: Sequence[Span], ends: Mapping[int, int]) -> Iterator[Span]:
    """The words, those inside a phrase left out."""
    at = 0
    for span in spans:
        if span.start >= at:
            at = max(span.end, ends.get(span.start, 0))
            yield Span(span.start, at, span.term)


def _word(
    text: str, span: Span, content: set[int], found: Mapping[int, list[dict[str, Any]]], ends: Mapping[int, int]
) -> dict[str, Any]:
    written = text[span.start : span.end]
    known = span.start in content or span.start in ends
    merged: dict[str, dict[str, Any]] = {}
    for meaning in found.get(span.start, []) if known else []:
        merged.setdefault(meaning["text"].casefold(), meaning)
    meanings = list(merged.values())[:_MEANINGS]
    kind = "word" if meanings else "stop" if not known else "name" if written[:1].isupper() else "other"
    sure = meanings[0]["weight"] if meanings else 0.0
    return {
        "start": span.start,
        "end": span.end,
        "text": written,
        "kind": kind,
        "meanings": meanings,
        "confidence": round(min(1.0, sure), 4),
    }


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
    if name in parts.translators and query.lang != document.lang:
        with suppress(LanguageError):
            for clause in parts.translators[name].translate(query, document.lang):
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
