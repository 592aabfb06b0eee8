"""What a person sees of a document that was found: its title, and the passage that speaks for it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from paragloss.analysis import analyzer
from paragloss.analysis.cuts import REACH, kept
from paragloss.encoders.bag import BagEncoder
from paragloss.errors import LanguageError
from paragloss.gloss import contributions, snippet
from paragloss.translation.inner import holding, with_sounds
from paragloss.types import Cut, Document, Floats, Query, Record, Translator


class Result(NamedTuple):
    """One document found, as a person sees it; `marks` are the places in `snippet` that matched, `fit` is how likely
    it is what was asked for (`calibration`); of what was not fused, the share of the best score possible."""

    id: str
    lang: str
    title: str
    score: float
    snippet: str
    marks: tuple[tuple[int, int], ...]
    meta: Mapping[str, Any]
    fit: float


class Said:
    """What a query says in each language of the documents that were found for it: worked out once for all of them."""

    def __init__(self, query: Query, models: Mapping[str, object]) -> None:
        self.query = query
        self._models = models
        self._words: dict[str, dict[str, float]] = {}
        self._vectors: dict[str, Floats] = {}

    def words(self, lang: str) -> dict[str, float]:
        """The terms of a language that speak for the query, with how much: its own words and their translations."""
        if lang not in self._words:
            cut = analyzer(lang).terms
            weights = dict.fromkeys(cut(self.query.text), 1.0)
            translators = [m for m in self._models.values() if isinstance(m, Translator)]
            for model in translators if lang != self.query.lang else []:
                with suppress(LanguageError):
                    for clause in with_sounds(model.translate(self.query, lang), self.query.lang, lang):
                        for alternative in clause.alternatives:
                            for term in alternative.terms or cut(alternative.text):
                                weights[term] = max(weights.get(term, 0.0), alternative.weight)
            self._words[lang] = weights
        return self._words[lang]

    def vectors(self, lang: str) -> dict[str, tuple[BagEncoder, Floats]]:
        """The query as encoders that know both languages see it."""
        found = {}
        for name, model in self._models.items():
            if (
                isinstance(model, BagEncoder)
                and {self.query.lang, lang} <= set(model.langs)
                and lang != self.query.lang
            ):
                if name not in self._vectors:
                    self._vectors[name] = model.encode([self.query.text], self.query.lang)[0]
                found[name] = model, self._vectors[name]
        return found


def result(said: Said, record: Record, score: float, fit: float, *, passage: tuple[int, int] | None = None) -> Result:
    """A document as it is shown for a query; `passage` is where it was found to speak of it."""
    fit, document = min(1.0, max(0.0, fit)), record.document
    cut, *others = kept(record)
    own = cut.lang
    weights = matching(said, document, cut)
    for other in others:  # found by words of another language that it holds
        if other.weight(words := said.words(other.lang)) > cut.weight(weights):
            cut, weights = other, dict(words)
    if passage and passage[1] > REACH:
        cut = analyzer(cut.lang).cut(document.text[slice(*passage)])
    elif passage:
        cut = cut.part(*passage)
    shown = snippet(cut if cut.text else analyzer(cut.lang).cut(document.title), weights, partly=cut.lang != own)
    meta, start = document.meta, passage[0] if passage else 0
    if "pages" in meta:  # a form feed stands before every page but the first
        meta = {**meta, "page": 1 + document.text.count("\f", 0, start + shown.first + 1)}
    return Result(document.id, document.lang, document.title, score, shown.text, shown.marks, meta, fit)


def matching(said: Said, document: Document, words_of: Cut) -> dict[str, float]:
    """The terms of a document that speak for the query, with how much: the query's own words, their translations, words
    that hold those or sound like its names, and the words a model finds close to it."""
    cut, words = analyzer(document.lang), said.words(document.lang)
    weights = dict(words)
    if document.lang != said.query.lang:
        for inner, term, _ in holding(words_of, document.lang, words):
            if term not in words:
                weights[term] = max(weights.get(term, 0.0), words[inner])
    for model, vector in said.vectors(document.lang).values():
        shares = contributions(model, vector, document.text, document.lang)
        best = max(shares.values(), default=0.0)
        for term, share in shares.items():
            if share > 0.3 * best:
                for word in cut.terms(term) if not model.towers[document.lang].vocabulary.stem else [term]:
                    weights[word] = max(weights.get(word, 0.0), share / best)
    return weights
