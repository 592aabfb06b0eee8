"""Which language is this? Of a query, judged by the collection it is asked of; of documents that don't say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from paragloss import languages
from paragloss.analysis import analyzer
from paragloss.errors import InputError, LanguageError
from paragloss.statistics import Statistics
from paragloss.types import Document, Query

#: A query of at most so many words is told by the collection's documents first; and how much likelier, in the mean
#: logarithm of its words' frequencies, one language has to be to stand alone.
_SHORT, _MARGIN = 12, 1.0


def understood(query: Query, statistics: Statistics, known: Iterable[str]) -> Query:
    """The query with its language, found among the collection's and those `known` when it was not said."""
    if not query.text.strip():
        raise InputError("the query is empty: say what you are looking for")
    if query.lang:
        return query._replace(lang=languages.normalise(query.lang))
    among = _likely(query.text, statistics) or {*statistics.langs, *known} or None
    lang = languages.identify_one(query.text, among=among)
    if lang is None:
        raise LanguageError(f"can't tell the language of {query.text!r}: say it with --lang")
    return query._replace(lang=lang)


def _likely(text: str, statistics: Statistics) -> list[str]:
    """The languages a short text may well be in, by how common its words are in the collection's documents of
    each: a few words are too little for an identifier, but the documents know their own language. Stop words
    count as common to all documents."""
    scores = {}
    for lang in statistics.langs:
        words = len(analyzer(lang, stem=False, stop=False).terms(text))
        if words > _SHORT:
            return []
        terms = analyzer(lang).terms(text)
        df = statistics.df("text", lang, terms)
        rates = np.log((df + 0.5) / (statistics.documents("text", lang) + 1))
        scores[lang] = float(rates.sum()) / max(words, 1)
    return [lang for lang, score in scores.items() if score > max(scores.values()) - _MARGIN]


def with_languages(documents: Sequence[Document], lang: str | None) -> list[Document]:
    """Documents that all say their language: `lang`, or the one they seem to be written in, where they didn't."""
    unsaid = [i for i, d in enumerate(documents) if not d.lang]
    found = dict(
        zip(
            unsaid,
            [lang] * len(unsaid)
            if lang
            else languages.identify(f"{documents[i].title}\n{documents[i].text[:2000]}" for i in unsaid),
            strict=True,
        )
    )
    # "und" is ISO 639's word for a language that can't be told.
    return [
        d._replace(lang=languages.normalise(said) if (said := d.lang or found.get(i)) else "und")
        for i, d in enumerate(documents)
    ]
