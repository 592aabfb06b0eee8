"""What carried a likeness of vectors, or a reranker's judgment: which words of a query and of a document.

Linear bags of words account for every pair of words exactly, K-NRM for every query word and kernel. Of anything else
words are left out to see what they carried, which is approximate. Knows nothing of searchers around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paragloss.analysis import analyzer
from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.hubness import Queries
from paragloss.encoders.kernel_ranker import Knrm, standing
from paragloss.encoders.pretrained import Pretrained, passages
from paragloss.search.dense import Dense
from paragloss.search.matches import Share
from paragloss.search.reranked import Reranked
from paragloss.types import Document, Encoder, Floats, Query, Where

#: Pairs of words that a likeness of vectors names; the rest are one share.
PAIRS = 40
#: Words of a document that a query's words are compared with, where each has to be encoded.
_WORDS = 40


def near(dense: Dense, query: Query, document: Document, score: float) -> tuple[list[Share], bool]:
    """Shares of a dot product that sum to it, and whether they are exact."""
    encoder = dense.encoder
    model = encoder.model if isinstance(encoder, Queries) else encoder
    if isinstance(model, BagEncoder) and model.linear(query.lang) and model.linear(document.lang):
        shares = _pairs(model, query, document, dense.name)
        if isinstance(encoder, Queries) and encoder.csls:
            shares.append(Share("", "", f"{dense.name} hubness", score - sum(share.score for share in shares)))
        return shares, True
    reading = _reading(dense, model, query, document)
    return left_out(query, document, score, dense.name, reading, _likeness(model, query, document)), False


def reread(
    reranked: Reranked, query: Query, document: Document, score: float, *, k: int, where: Where | None
) -> tuple[list[Share], bool]:
    """What a reranker's score is made of; of a document below its reach, that it kept its place."""
    first = reranked.searcher.search([query], max(k, reranked.depth), where)[0][: reranked.depth]
    model, langs = reranked.reranker, getattr(reranked.reranker, "langs", None)
    known = langs is None or {query.lang, document.lang} <= set(langs)
    if not known or document.id not in {hit.id for hit in first}:
        return [Share("", "", "place in the search before", score)], True
    if isinstance(model, Knrm):
        shares = [Share(*pair) for pair in model.by_kernel(query, document)]
        seen = {d.id for d in reranked.documents([hit.id for hit in first]) if langs is None or d.lang in langs}
        before = [hit for hit in first if hit.id in seen]
        place = [hit.id for hit in before].index(document.id)
        trusted = float(standing([hit.score for hit in before])[place] @ model.trust)
        return [*shares, *([Share("", "", "search before", trusted)] if trusted else [])], True

    def reading(texts: Sequence[str]) -> Floats:
        return np.array([model.score(query._replace(text=text), [document])[0] for text in texts], np.float32)

    return left_out(query, document, score, type(model).__name__.lower(), reading, None), False


def left_out(
    query: Query,
    document: Document,
    score: float,
    name: str,
    reading: Callable[[Sequence[str]], Floats],
    likeness: Callable[[Sequence[str], Sequence[str]], Floats] | None,
) -> list[Share]:
    """A score shared out among the query's words by what is lost without each; beside each the word of the document
    that is most like it. `reading` scores other wordings of the query, `likeness` compares words of both."""
    spans = analyzer(query.lang).spans(query.text)
    words = list(dict.fromkeys(query.text[span.start : span.end] for span in spans))
    if len(words) < 2:
        lost = np.ones(len(words))
    else:
        without = [" ".join(query.text.replace(word, " ").split()) for word in words]
        scores = reading([query.text, *without])
        lost = np.maximum(scores[0] - scores[1:], 0.0)
    if not lost.sum():
        return [Share("", "", name, score)]
    there = _words(document)
    nearest = [""] * len(words)
    if likeness is not None and there:
        nearest = [there[i] for i in np.argmax(likeness(words, there), axis=1)]
    given = score * lost / lost.sum()
    met = zip(words, nearest, given.tolist(), strict=True)
    return [Share(ours, theirs, name, part) for ours, theirs, part in met if part]


def _pairs(model: BagEncoder, query: Query, document: Document, name: str) -> list[Share]:
    """The dot product of two sums is the sum of the dot products of their terms."""
    asked, ours = model.terms(query.text, query.lang)
    there, theirs = model.terms(document.whole, document.lang)
    products = ours.astype(np.float64) @ theirs.T.astype(np.float64)  # (query terms, document terms)
    best = np.argsort(-np.abs(products), axis=None)[:PAIRS]
    rows, columns = np.unravel_index(best, products.shape)
    shares = [
        Share(asked[row], there[column], name, float(products[row, column]))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
    rest = float(products.sum()) - sum(share.score for share in shares)
    return [*shares, Share("", "", name, rest)] if products.size > PAIRS else shares


def _reading(dense: Dense, model: Encoder, query: Query, document: Document) -> Callable[[Sequence[str]], Floats]:
    """The likeness of a document to other wordings of a query, by the vectors it is kept with."""
    (record,) = dense.store.get([document.id], vectors=[dense.name])
    kept = record.dense.get(dense.name) if record is not None else None
    rows = np.zeros((1, model.dim), np.float32) if kept is None else np.atleast_2d(np.asarray(kept, np.float32))

    def reading(texts: Sequence[str]) -> Floats:
        asked = dense.vectors([query._replace(text=text) for text in texts])
        return np.asarray((asked @ rows.T).max(axis=1), np.float32)

    return reading


def _likeness(model: Any, query: Query, document: Document) -> Callable[[Sequence[str], Sequence[str]], Floats]:
    encoder = model.passages if isinstance(model, Pretrained) else model

    def likeness(ours: Sequence[str], theirs: Sequence[str]) -> Floats:
        return np.asarray(model.encode(list(ours), query.lang) @ encoder.encode(list(theirs), document.lang).T)

    return likeness


def _words(document: Document) -> list[str]:
    """Some different words of a document, those of its title first."""
    text = passages.read(document)[0]
    found = dict.fromkeys(text[span.start : span.end] for span in analyzer(document.lang).spans(text))
    return list(found)[:_WORDS]
