"""What a person sees of a document that was found: its title, and the passage that speaks for it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from paragloss.analysis import analyzer
from paragloss.errors import LanguageError
from paragloss.gloss import contributions, snippet
from paragloss.serving.bag import BagEncoder
from paragloss.types import Document, Query, Translator


class Result(NamedTuple):
    """One document found, as a person sees it; `marks` are the places in `snippet` that matched, `fit` is the share
    of the best score a document of its language could have had: 0 says nothing fits, 1 says everything does."""

    id: str
    lang: str
    title: str
    score: float
    snippet: str
    marks: tuple[tuple[int, int], ...]
    meta: Mapping[str, Any]
    fit: float


def result(
    query: Query,
    document: Document,
    score: float,
    models: Mapping[str, Any],
    fit: float,
    *,
    passage: tuple[int, int] | None = None,
) -> Result:
    """A document as it is shown for a query; `passage` is where it was found to speak of it."""
    fit = min(1.0, max(0.0, fit))
    start, end = passage or (0, len(document.text))
    text = document.text[start:end] or document.title
    shown = snippet(text, analyzer(document.lang), matching(query, document, models))
    return Result(document.id, document.lang, document.title, score, shown.text, shown.marks, document.meta, fit)


def matching(query: Query, document: Document, models: Mapping[str, Any]) -> dict[str, float]:
    """The terms of a document that speak for the query, with how much: the query's own words, their
    translations, and the words a model finds close to it."""
    cut = analyzer(document.lang).terms
    weights = dict.fromkeys(cut(query.text), 1.0)
    if document.lang == query.lang:
        return weights
    for model in models.values():
        if isinstance(model, Translator):
            with suppress(LanguageError):
                for clause in model.translate(query, document.lang):
                    for alternative in clause.alternatives:
                        for term in cut(alternative.text):
                            weights[term] = max(weights.get(term, 0.0), alternative.weight)
        elif isinstance(model, BagEncoder) and {query.lang, document.lang} <= set(model.langs):
            vector = model.encode([query.text], query.lang)[0]
            shares = contributions(model, vector, document.text, document.lang)
            best = max(shares.values(), default=0.0)
            for term, share in shares.items():
                if share > 0.3 * best:
                    for word in cut(term) if not model.towers[document.lang].vocabulary.stem else [term]:
                        weights[word] = max(weights.get(word, 0.0), share / best)
    return weights
