"""Why a document was found, as a person sees it: its score's parts, and the words that met, as they are written.

What words met, and how much that carried, is `search.evidence`' business.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paragloss.analysis import analyzer
from paragloss.gloss.snippets import REACH
from paragloss.search.evidence import Account
from paragloss.search.matches import Share
from paragloss.translation.inner import MARK, WITHIN, as_written, inside
from paragloss.types import Document, Query

#: Pairs of words shown of a part; what the others carried is one line.
PAIRS = 12


def why(query: Query, document: Document, account: Account, *, name: str) -> dict[str, Any]:
    """The parts of a score with the pairs of words that carried each; pairs sum to their part, parts to the score. A
    search that has no parts is one, with the `name` it goes by."""
    parts = account.parts or ((name, account),)
    ours = _written(query.text, query.lang, document.lang)
    theirs = _written(document.whole[:REACH], document.lang)
    theirs |= _holding(theirs, document.lang)
    return {
        "query": {"text": query.text, "lang": query.lang},
        "id": document.id,
        "score": account.score,
        "parts": [
            {
                "part": part,
                "score": told.score,
                "approximate": not told.exact,
                "pairs": _pairs(told.flat(), ours, theirs),
            }
            for part, told in parts
        ],
    }


def _pairs(shares: Iterable[Share], ours: dict[str, str], theirs: dict[str, str]) -> list[dict[str, Any]]:
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


def _written(text: str, *langs: str) -> dict[str, str]:
    """How terms are written in a text, by the analyzers of some languages."""
    found: dict[str, str] = {}
    for lang in langs:
        for span in analyzer(lang).spans(text):
            found.setdefault(span.term, text[span.start : span.end])
    return found


def _holding(written: dict[str, str], lang: str) -> dict[str, str]:
    """How words are written that hold others, or sound like a name, by what they hold."""
    found: dict[str, str] = {}
    for term, word in written.items():
        for held in inside([term], lang, [word] if as_written(lang) else ()):
            found.setdefault(held if held[0] == MARK else WITHIN + held, word)
    return found
