"""Explain the scores of encoders and rerankers: which words of a query and of a document contribute how much.

The contributions of linear bag-of-words models and of K-NRM are exact. Other models are scored again without each word
of the query, which is approximate.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer, passages
from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.hubness import QueryEncoder
from paragloss.encoders.kernel_ranker import Knrm, describe_first_scores
from paragloss.encoders.pretrained import Pretrained
from paragloss.types import Contribution, Document, Encoder, Floats, Hit, Query, Reranker, ScoreExplanation

#: Pairs of words that are listed for a dot product; the others are added up.
MAX_PAIRS = 40
#: Words of a document that a query's words are compared with if each has to be encoded.
_MAX_DOCUMENT_WORDS = 40

#: Scores several texts as queries for one document.
ScoreTexts: TypeAlias = Callable[[Sequence[str]], Floats]
#: Compares words of the query with words of the document (query words, document words).
CompareWords: TypeAlias = Callable[[Sequence[str], Sequence[str]], Floats]


def explain_encoder_score(
    encoder: Encoder,
    name: str,
    query: Query,
    document: Document,
    score: float,
    read_vectors: Callable[[], Floats | None],
) -> ScoreExplanation:
    """Explain the dot product of a query's vector with the best vector of a document.

    The explanation is exact for a linear bag of words: pairs of words, and what is left is the document's hubness. For
    other encoders it is approximate: the query is encoded again without each of its words.

    :param name: the encoder's name in the explanation.
    :param score: the dot product.
    :param read_vectors: reads the stored vectors of the document; None if it has none.
    """
    model = encoder.model if isinstance(encoder, QueryEncoder) else encoder
    if isinstance(model, BagEncoder) and model.is_linear(query.lang) and model.is_linear(document.lang):
        contributions = _multiply_terms(model, query, document, name)
        if isinstance(encoder, QueryEncoder) and encoder.csls:
            hubness = score - sum(contribution.score for contribution in contributions)
            contributions.append(Contribution("", "", f"{name} hubness", hubness))
        return ScoreExplanation(score, tuple(contributions))
    score_texts = partial(_score_by_vectors, encoder, query.lang, read_vectors)
    compare_words = partial(_compare_words, model, query.lang, document.lang)
    contributions = leave_out_words(query, document, score, name, score_texts, compare_words)
    return ScoreExplanation(score, tuple(contributions), exact=False)


def _score_by_vectors(
    encoder: Encoder, lang: str, read_vectors: Callable[[], Floats | None], texts: Sequence[str]
) -> Floats:
    """Score texts as queries by the best dot product with a document's stored vectors: (texts,)."""
    vectors = read_vectors()
    rows = np.zeros((1, encoder.dim)) if vectors is None else np.atleast_2d(vectors)
    products = encoder.encode(texts, lang) @ rows.T.astype(np.float32)  # (texts, stored vectors)
    return np.asarray(products.max(axis=1), np.float32)


def explain_reranker_score(
    model: Reranker,
    query: Query,
    document: Document,
    score: float,
    first_hits: Sequence[Hit],
    scored_ids: Container[str],
) -> ScoreExplanation:
    """Explain the score that a reranker has given to a document.

    K-NRM's score is split exactly. Other rerankers score the document again without each word of the query. A document
    that the reranker did not score keeps its place, which is its whole explanation.

    :param first_hits: the hits of the search before the reranking, which K-NRM's score depends on.
    :param scored_ids: the ids of the documents whose language the reranker supports.
    """
    if document.id not in scored_ids:
        return ScoreExplanation(score, (Contribution("", "", "place in the search before", score),))
    if isinstance(model, Knrm):
        return ScoreExplanation(score, _explain_knrm(model, query, document, first_hits, scored_ids))
    score_texts = partial(_score_by_reranker, model, query, document)
    contributions = leave_out_words(query, document, score, type(model).__name__.lower(), score_texts, None)
    return ScoreExplanation(score, tuple(contributions), exact=False)


def _score_by_reranker(model: Reranker, query: Query, document: Document, texts: Sequence[str]) -> Floats:
    """Score texts as queries for a document: (texts,)."""
    queries = [query._replace(text=text) for text in texts]
    return np.array([model.score(text_query, [document])[0] for text_query in queries], np.float32)


def _explain_knrm(
    model: Knrm, query: Query, document: Document, first_hits: Sequence[Hit], scored_ids: Container[str]
) -> tuple[Contribution, ...]:
    """Return the contributions of words and kernels, and that of the score of the search before.

    :param document: one of the hits that are scored
    :param first_hits: the hits of the search before
    :param scored_ids: the documents whose language the reranker supports
    """
    contributions = [Contribution(*summand) for summand in model.split_score(query, document)]
    scored_hits = [hit for hit in first_hits if hit.id in scored_ids]
    position = [hit.id for hit in scored_hits].index(document.id)
    described_scores = describe_first_scores([hit.score for hit in scored_hits])  # (documents, 3)
    first_score = float(described_scores[position] @ model.first_search_weights)
    if first_score:
        contributions.append(Contribution("", "", "search before", first_score))
    return tuple(contributions)


def leave_out_words(
    query: Query,
    document: Document,
    score: float,
    name: str,
    score_texts: ScoreTexts,
    compare_words: CompareWords | None,
) -> list[Contribution]:
    """Explain a score: say how much of it each word of the query contributes, found by leaving the words out.

    The document is scored again for the query without each of its words, and the score is divided in proportion to how
    much lower each of these scores is. A score of 6 that falls by 2 without "big" and by 1 without "house" gives "big"
    4 and "house" 2.

    :param score: the document's score for the query.
    :param name: what gave the score, as the explanation shows it, such as the name of the model.
    :param score_texts: scores the document for several texts in place of the query's; returns one score for each.
    :param compare_words: returns how similar words of the query are to words of the document, (query words, document
        words); each word of the query is shown with the most similar one. None shows no words of the document.
    :return: a contribution for each word without which the score is lower. If there is none, the whole score is one
        contribution without words.
    """
    spans = analyzer(query.lang).spans(query.text)
    words = list(dict.fromkeys(query.text[span.start : span.end] for span in spans))
    losses = _measure_losses(query.text, words, score_texts)
    total_loss = losses.sum()
    if not total_loss:
        return [Contribution("", "", name, score)]
    word_scores = (score * losses / total_loss).tolist()
    most_similar_words = _match_words(words, document, compare_words)
    contributions = []
    for word, document_word, word_score in zip(words, most_similar_words, word_scores, strict=True):
        if word_score:
            contributions.append(Contribution(word, document_word, name, word_score))
    return contributions


def _match_words(words: Sequence[str], document: Document, compare_words: CompareWords | None) -> list[str]:
    """Return for each word of a query the most similar word of a document; "" if words cannot be compared."""
    document_words = _list_words(document)
    if compare_words is None or not document_words:
        return [""] * len(words)
    most_similar = np.argmax(compare_words(words, document_words), axis=1)
    return [document_words[i] for i in most_similar]


def _measure_losses(text: str, words: Sequence[str], score_texts: ScoreTexts) -> npt.NDArray[np.float64]:
    """Return how much lower the score of a text is without each of its words, at least 0; 1 for a single word."""
    if len(words) < 2:
        return np.ones(len(words))
    shortened_texts = [" ".join(text.replace(word, " ").split()) for word in words]
    full_score, *shortened_scores = score_texts([text, *shortened_texts])
    return np.asarray(np.maximum(full_score - np.array(shortened_scores), 0.0))


def _multiply_terms(model: BagEncoder, query: Query, document: Document, name: str) -> list[Contribution]:
    """Divide the dot product of a query and a document, which are sums of term vectors, among pairs of their terms.

    :param model: a linear encoder, whose `terms` splits the vector of a text into the vectors of its terms.
    :param name: the source of the contributions.
    :return: the strongest MAX_PAIRS pairs, strongest first; the others are added up in one contribution without words.
    """
    query_terms, query_vectors = model.terms(query.text, query.lang)
    document_terms, document_vectors = model.terms(document.full_text, document.lang)
    # (query terms, document terms)
    products = query_vectors.astype(np.float64) @ document_vectors.T.astype(np.float64)
    strongest_cells = np.argsort(-np.abs(products), axis=None)[:MAX_PAIRS]  # in the flat matrix
    contributions = []
    for cell in strongest_cells.tolist():
        i, j = divmod(cell, len(document_terms))
        contributions.append(Contribution(query_terms[i], document_terms[j], name, float(products[i, j])))
    if products.size > MAX_PAIRS:
        remainder = float(products.sum()) - sum(contribution.score for contribution in contributions)
        contributions.append(Contribution("", "", name, remainder))
    return contributions


def _compare_words(
    model: Any, query_lang: str, document_lang: str, query_words: Sequence[str], document_words: Sequence[str]
) -> Floats:
    """Compare words by the dot products of their vectors: (query words, document words)."""
    document_encoder = model.passages if isinstance(model, Pretrained) else model
    query_rows = model.encode(list(query_words), query_lang)
    document_rows = document_encoder.encode(list(document_words), document_lang)
    return np.asarray(query_rows @ document_rows.T)


def _list_words(document: Document) -> list[str]:
    """Return different words of a document, those of its title first."""
    text = passages.read_passages(document)[0]
    words = dict.fromkeys(text[span.start : span.end] for span in analyzer(document.lang).spans(text))
    return list(words)[:_MAX_DOCUMENT_WORDS]
