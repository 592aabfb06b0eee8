"""Which language is a document in that doesn't say? Judged by its text, its title, and the documents around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from paragloss import languages
from paragloss.types import Document

#: A language that fewer than this share of the documents are in has to be much likelier than those of the others.
RARE = 0.05
#: How much likelier (as a logarithm) title and headings must be in another language than the text is in to count, and
#: in how many documents, and which share of those with such texts: where a manual is half translated it is the rule, a
#: foreign name for a title is an exception.
CLEAR, OFTEN, SHARE = 3.0, 3, 0.05
#: Where so many times as many pages have titles in the manual's language as have none, those are its pages too, not
#: translated yet: what they say is found in the language it is said in, whatever they are taken for.
MOST = 3
#: So much of a text, and of a title with its headings, tells its language.
_TEXT, _HEAD = 2000, 300


class There(NamedTuple):
    """How many documents a collection has already in each language, and how many that hold it beside their own."""

    langs: Mapping[str, int]
    beside: Mapping[str, int]


NOWHERE = There({}, {})


def with_languages(documents: Sequence[Document], lang: str | None, there: There = NOWHERE) -> list[Document]:
    """Documents that all say their language: `lang`, or the one they seem to be written in, where they didn't."""
    unsaid = [i for i, document in enumerate(documents) if not document.lang]
    some = [documents[i] for i in unsaid]
    found = dict(zip(unsaid, [lang] * len(some) if lang else _found(some, *there), strict=True))
    return [
        d._replace(lang=languages.normalise(code) if (code := d.lang or found.get(i)) else languages.UNKNOWN)
        for i, d in enumerate(documents)
    ]


def _found(documents: Sequence[Document], here: Mapping[str, int], beside: Mapping[str, int]) -> list[str | None]:
    """By their texts, with those around them; then by their titles, where these often are in another language."""
    texts = languages.identify(f"{document.title}\n{document.text[:_TEXT]}" for document in documents)
    counts = Counter(here) + Counter(beside) + Counter(lang for lang in texts if lang)
    usual = {lang for lang, number in counts.items() if number > 1 and number >= RARE * counts.total()}
    if not usual:
        return texts
    for i, lang in enumerate(texts):
        if lang is not None and lang not in usual:
            texts[i] = _likeliest(f"{_head(documents[i])}\n{documents[i].text[:_TEXT]}", {lang, *usual}, counts)
    if len(usual) < 2:
        return texts
    heads = [_clear(_head(document), usual, lang) for document, lang in zip(documents, texts, strict=True)]
    found = list(texts)
    for lang in usual:
        named = Counter(head for text, head in zip(texts, heads, strict=True) if text == lang and head)
        alike = texts.count(lang) + here.get(lang, 0)
        if named.total() + beside.get(lang, 0) < max(OFTEN, SHARE * alike) or not named:
            continue
        main, number = named.most_common(1)[0]
        rest = alike - named.total()
        untranslated = texts.count(main) + here.get(main, 0) + number >= MOST * rest
        for i, head in enumerate(heads):
            if texts[i] == lang:
                found[i] = head or (main if untranslated else lang)
    return found


def _head(document: Document) -> str:
    return f"{document.title}\n{document.fields.get('headings', '')}"[:_HEAD]


def _likeliest(text: str, among: set[str], counts: Mapping[str, int]) -> str | None:
    """The likeliest language of a text, weighed with how many documents are in each."""
    scores = languages.language_likelihoods(text, among)
    return max(scores, key=lambda lang: (scores[lang] + np.log(counts.get(lang, 0) + 0.5), lang), default=None)


def _clear(head: str, among: set[str], text: str | None) -> str | None:
    """The language of a title and its headings, where it is clear that they are not in the text's."""
    scores = languages.language_likelihoods(head, among | {text} if text else among)
    best = max(scores, key=lambda lang: (scores[lang], lang), default=None)
    return best if best and scores[best] - scores.get(text or "", -np.inf) > CLEAR else None
