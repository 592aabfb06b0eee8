"""Why a document was found, as a person sees it: its score's parts, and the words that met, as they are written.

What words met, and how much that carried, is `search.evidence`' business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from paragloss.analysis import analyzer
from paragloss.translation.subword_terms import SOUND_PREFIX, SUBWORD_PREFIX, find_subword_matches
from paragloss.types import Account, Document, Query, Share, TokenizedText

#: Pairs of words shown of a part; what the others carried is one line.
PAIRS = 12


def why(query: Query, document: Document, cut: TokenizedText, account: Account, *, name: str) -> dict[str, Any]:
    """The parts of a score with the pairs of words that carried each; pairs sum to their part, parts to the score. A
    search that has no parts is one, with the `name` it goes by. `cut` is the document's text in its own language."""
    parts = [(part, told, list(told.flat())) for part, told in account.parts or ((name, account),)]
    ours = _written(query.text, query.lang, document.lang)
    theirs = _spelled(document, cut, {share.document for _, _, shares in parts for share in shares})
    return {
        "query": {"text": query.text, "lang": query.lang},
        "id": document.id,
        "score": account.score,
        "parts": [
            {
                "part": part,
                "score": told.score,
                "approximate": not told.exact,
                "pairs": _pairs(shares, ours, theirs),
            }
            for part, told, shares in parts
        ],
    }


def _pairs(shares: Iterable[Share], ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[dict[str, Any]]:
    """The strongest pairs of words, and the rest of them as a pair of none."""
    sums: dict[tuple[str, str, str], float] = {}
    for share in shares:
        key = ours.get(share.query, share.query), theirs.get(share.document, share.document), share.source
        sums[key] = sums.get(key, 0.0) + share.score
    best = sorted(sums.items(), key=lambda item: (not (item[0][0] or item[0][1]), -abs(item[1])))
    some = [
        {"query": query, "document": word, "source": source, "score": score}
        for (query, word, source), score in best[:PAIRS]
    ]
    if rest := [score for _, score in best[PAIRS:]]:
        some.append({"query": "", "document": "", "source": "", "score": sum(rest)})
    return some


@lru_cache(maxsize=100)
def _written(text: str, *langs: str) -> Mapping[str, str]:
    """How terms are written in a text, by the analyzers of some languages."""
    found: dict[str, str] = {}
    for lang in langs:
        for start, end, term in analyzer(lang).spans(text):
            found.setdefault(term, text[start:end])
    return found


def _spelled(document: Document, cut: TokenizedText, terms: set[str]) -> dict[str, str]:
    """How matched terms are written in a document: a word, one that holds it, or one that sounds like it."""
    lang, inside = (
        document.lang,
        {term.removeprefix(SUBWORD_PREFIX) for term in terms if term.startswith((SUBWORD_PREFIX, SOUND_PREFIX))},
    )
    each = analyzer(lang).tokenize(document.title), cut
    found: dict[str, str] = {}
    for some in each:
        here = some.find_words(terms - found.keys())
        for place, word in zip(here, some.spell_words(here), strict=True):
            if word:
                found.setdefault(some.terms[place], word)
    for some in each if inside else ():
        held = find_subword_matches(some, lang, inside)
        for (inner, _), word in zip(held, some.spell_words([place for _, place in held]), strict=True):
            found.setdefault(inner if inner[0] == SOUND_PREFIX else SUBWORD_PREFIX + inner, word)
    return found
