"""What carried a likeness of vectors, or a reranker's judgment: which words of a query and of a document.

Linear bags of words account for every pair of words exactly, K-NRM for every query word and kernel. Of anything else
words are left out to see what they carried, which is approximate. Knows nothing of searchers around it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np

from paragloss.analysis import analyzer
from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.hubness import Queries
from paragloss.encoders.kernel_ranker import Knrm, standing
from paragloss.encoders.pretrained import Pretrained, passages
from paragloss.types import Contribution, Document, Encoder, Floats, Hit, Query, Reranker, ScoreExplanation

#: Pairs of words that a likeness of vectors names; the rest are one share.
PAIRS = 40
#: Words of a document that a query's words are compared with, where each has to be encoded.
_WORDS = 40


def near(
    encoder: Encoder, name: str, query: Query, document: Document, score: float, kept: Callable[[], Floats | None]
) -> ScoreExplanation:
    """The account of a dot product; `kept` reads the vectors that the document is kept with."""
    model = encoder.model if isinstance(encoder, Queries) else encoder
    if isinstance(model, BagEncoder) and model.linear(query.lang) and model.linear(document.lang):
        shares = _pairs(model, query, document, name)
        if isinstance(encoder, Queries) and encoder.csls:
            shares.append(Contribution("", "", f"{name} hubness", score - sum(share.score for share in shares)))
        return ScoreExplanation(score, tuple(shares))

    def reading(texts: Sequence[str]) -> Floats:
        there = kept()
        rows = np.zeros((1, model.dim), np.float32) if there is None else np.atleast_2d(np.asarray(there, np.float32))
        return np.asarray((encoder.encode(texts, query.lang) @ rows.T).max(axis=1), np.float32)

    shares = left_out(query, document, score, name, reading, _likeness(model, query, document))
    return ScoreExplanation(score, tuple(shares), exact=False)


def reread(
    model: Reranker, query: Query, document: Document, score: float, first: Sequence[Hit], known: Container[str]
) -> ScoreExplanation:
    """What a reranker's score is made of, given the hits it looked at and those of them whose language it knows; of
    any other document, that it kept its place."""
    if document.id not in known:
        return ScoreExplanation(score, (Contribution("", "", "place in the search before", score),))
    if isinstance(model, Knrm):
        shares = [Contribution(*pair) for pair in model.by_kernel(query, document)]
        before = [hit for hit in first if hit.id in known]
        place = [hit.id for hit in before].index(document.id)
        trusted = float(standing([hit.score for hit in before])[place] @ model.trust)
        return ScoreExplanation(
            score, (*shares, *([Contribution("", "", "search before", trusted)] if trusted else []))
        )

    def reading(texts: Sequence[str]) -> Floats:
        return np.array([model.score(query._replace(text=text), [document])[0] for text in texts], np.float32)

    shares = left_out(query, document, score, type(model).__name__.lower(), reading, None)
    return ScoreExplanation(score, tuple(shares), exact=False)


def left_out(
    query: Query,
    document: Document,
    score: float,
    name: str,
    reading: Callable[[Sequence[str]], Floats],
    likeness: Callable[[Sequence[str], Sequence[str]], Floats] | None,
) -> list[Contribution]:
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
        return [Contribution("", "", name, score)]
    there = _words(document)
    nearest = [""] * len(words)
    if likeness is not None and there:
        nearest = [there[i] for i in np.argmax(likeness(words, there), axis=1)]
    given = score * lost / lost.sum()
    pairs = zip(words, nearest, given.tolist(), strict=True)
    return [Contribution(ours, theirs, name, part) for ours, theirs, part in pairs if part]


def _pairs(model: BagEncoder, query: Query, document: Document, name: str) -> list[Contribution]:
    """The dot product of two sums is the sum of the dot products of their terms."""
    asked, ours = model.terms(query.text, query.lang)
    there, theirs = model.terms(document.full_text, document.lang)
    products = ours.astype(np.float64) @ theirs.T.astype(np.float64)  # (query terms, document terms)
    best = np.argsort(-np.abs(products), axis=None)[:PAIRS]
    rows, columns = np.unravel_index(best, products.shape)
    shares = [
        Contribution(asked[row], there[column], name, float(products[row, column]))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
    rest = float(products.sum()) - sum(share.score for share in shares)
    return [*shares, Contribution("", "", name, rest)] if products.size > PAIRS else shares


def _likeness(model: Any, query: Query, document: Document) -> Callable[[Sequence[str], Sequence[str]], Floats]:
    encoder = model.passages if isinstance(model, Pretrained) else model

    def likeness(ours: Sequence[str], theirs: Sequence[str]) -> Floats:
        return np.asarray(model.encode(list(ours), query.lang) @ encoder.encode(list(theirs), document.lang).T)

    return likeness


def _words(document: Document) -> list[str]:
    """Some different words of a document, those of its title first."""
    text = passages.read_passages(document)[0]
    found = dict.fromkeys(text[span.start : span.end] for span in analyzer(document.lang).spans(text))
    return list(found)[:_WORDS]
