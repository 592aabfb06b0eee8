"""Explain to a person why a document was found: the parts of its score, and the pairs of words that matched."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from paragloss.analysis import analyzer
from paragloss.translation.subword_terms import SOUND_PREFIX, SUBWORD_PREFIX, find_subword_matches
from paragloss.types import Contribution, Document, Query, ScoreExplanation, TokenizedText

#: Pairs of words that are listed for a part; the others are added up in one line.
MAX_PAIRS = 12
#: Pairs of words that are named in the sentence.
MAX_PAIRS_IN_SENTENCE = 3
#: What a sentence says of each part of the default search, where it speaks for the document.
REASONS: Mapping[str, str] = {
    "words": "matching words",
    "title meaning": "a title with a similar meaning",
    "passage meaning": "a passage with a similar meaning",
}


def describe_explanation(
    query: Query, document: Document, tokenized: TokenizedText, explanation: ScoreExplanation, *, name: str
) -> dict[str, Any]:
    """Describe why a document was found: the parts of its score with the pairs of words that matched.

    Pairs sum to their part, and parts to the score. The score of the default search is explained by its log-odds.

    :param tokenized: the document's text as tokens.
    :param explanation: what each term of the query and of the document adds to the score.
    :param name: what the only part is called if the explanation is not divided into parts.
    :return: a description that can be written as JSON.
    """
    parts = explanation.parts or ((name, explanation),)
    query_spelling = _spell_query(query.text, query.lang, document.lang)
    matched_terms = {share.document for _, part in parts for share in part.list_contributions()}
    document_spelling = _spell_document(document, tokenized, matched_terms)
    part_descriptions = []
    for part_name, part in parts:
        pairs = _list_pairs(part.list_contributions(), query_spelling, document_spelling)
        description = {"part": part_name, "score": part.score, "approximate": not part.exact, "pairs": pairs}
        part_descriptions.append(description)
    sentence = ""
    if explanation.parts:
        sentence = write_sentence(explanation.score, part_descriptions)
    return {
        "query": {"text": query.text, "lang": query.lang},
        "id": document.id,
        "score": explanation.score,
        "sentence": sentence,
        "parts": part_descriptions,
    }


def write_sentence(log_odds: float, parts: Sequence[Mapping[str, Any]]) -> str:
    """Say in one sentence how likely a document answers the query, and why, with the strongest reason first.

    :param log_odds: the score of the default search: the logarithm of the odds that the document answers the query.
    :param parts: descriptions of the parts of the score.
    :return: "87% likely, because of matching words (honey – miel)." and the like; "" for other searches.
    """
    default_parts = [part for part in parts if part["part"] in REASONS]
    if not default_parts:
        return ""
    by_strength = sorted(default_parts, key=lambda part: -part["score"])
    reasons = [_describe_part(part) for part in by_strength if part["score"] > 0]
    probability = 1 / (1 + math.exp(-log_odds))
    return f"{probability:.0%} likely, because of {', '.join(reasons) or 'nothing in particular'}."


def _describe_part(part: Mapping[str, Any]) -> str:
    """Name a part with the pairs of words that contribute most to it: "matching words (honey – miel; ash – cendre)"."""
    pairs = [pair for pair in part["pairs"] if pair["query"] and pair["document"]]
    written_pairs = dict.fromkeys(f"{pair['query']} – {pair['document']}" for pair in pairs)  # each once
    best_pairs = list(written_pairs)[:MAX_PAIRS_IN_SENTENCE]
    reason = REASONS[part["part"]]
    return f"{reason} ({'; '.join(best_pairs)})" if best_pairs else reason


class WordPair(NamedTuple):
    """A word of the query and one of the document, as they are written, and by what means they match."""

    query: str
    document: str
    source: str


def _list_pairs(
    shares: Iterable[Contribution], query_spelling: Mapping[str, str], document_spelling: Mapping[str, str]
) -> list[dict[str, Any]]:
    """List the pairs of words that contribute most to a score, strongest first; pairs without words are the last.

    :param shares: contributions of pairs of terms.
    :param query_spelling: how terms are written in the query.
    :param document_spelling: how terms are written in the document.
    :return: at most MAX_PAIRS pairs with their scores, and an entry without words for the sum of the others.
    """
    scores = _sum_by_pair(shares, query_spelling, document_spelling)

    def rank_pair(pair: WordPair) -> tuple[bool, float]:
        has_words = bool(pair.query or pair.document)
        return not has_words, -abs(scores[pair])

    ranked_pairs = sorted(scores, key=rank_pair)
    entries = [{**pair._asdict(), "score": scores[pair]} for pair in ranked_pairs[:MAX_PAIRS]]
    if len(ranked_pairs) > MAX_PAIRS:
        other_sum = sum(scores[pair] for pair in ranked_pairs[MAX_PAIRS:])
        entries.append({**WordPair("", "", "")._asdict(), "score": other_sum})
    return entries


def _sum_by_pair(
    shares: Iterable[Contribution], query_spelling: Mapping[str, str], document_spelling: Mapping[str, str]
) -> dict[WordPair, float]:
    """Add up the contributions of terms that are written as the same pair of words."""
    scores: dict[WordPair, float] = {}
    for share in shares:
        query_word = query_spelling.get(share.query, share.query)
        document_word = document_spelling.get(share.document, share.document)
        pair = WordPair(query_word, document_word, share.source)
        scores[pair] = scores.get(pair, 0.0) + share.score
    return scores


def _spell_query(text: str, *languages: str) -> Mapping[str, str]:
    """Return how the terms of a query are written in it, as analyzed in some languages."""
    spelling: dict[str, str] = {}
    for lang in languages:
        for start, end, term in analyzer(lang).spans(text):
            spelling.setdefault(term, text[start:end])
    return spelling


def _spell_document(document: Document, tokenized: TokenizedText, terms: set[str]) -> dict[str, str]:
    """Return how matched terms are written in a document: as a word, inside one, or as one that sounds like it.

    :param tokenized: the text of the document as tokens.
    :param terms: the matched terms; those inside words and those by sound have a prefix that says so.
    :return: for each term that is found its first spelling, in the title or in the text.
    """
    title = analyzer(document.lang).tokenize(document.title)
    spelling: dict[str, str] = {}
    for part in (title, tokenized):
        spelled_terms = _spell_words(part, terms) + _spell_subwords(part, document.lang, terms)
        for term, word in spelled_terms:
            spelling.setdefault(term, word)
    return spelling


def _spell_words(tokenized: TokenizedText, terms: set[str]) -> list[tuple[str, str]]:
    """Return the words of a text that have one of some terms, each as (term, word)."""
    numbers = tokenized.find_words(terms)
    words = tokenized.spell_words(numbers)
    return [(tokenized.terms[number], word) for number, word in zip(numbers, words, strict=True) if word]


def _spell_subwords(tokenized: TokenizedText, lang: str, terms: set[str]) -> list[tuple[str, str]]:
    """Return the words of a text that contain some terms or sound like them, each as (term with its prefix, word).

    :param terms: terms of which those with the prefix of terms inside words, or of terms by sound, are looked for.
    """
    prefixed_terms = [term for term in terms if term.startswith((SUBWORD_PREFIX, SOUND_PREFIX))]
    # The prefix of a sound belongs to the subword; that of a term inside words does not.
    subwords = {term.removeprefix(SUBWORD_PREFIX) for term in prefixed_terms}
    if not subwords:
        return []
    matches = find_subword_matches(tokenized, lang, subwords)
    words = tokenized.spell_words([number for _, number in matches])
    spellings = []
    for (subword, _), word in zip(matches, words, strict=True):
        term = subword if subword.startswith(SOUND_PREFIX) else SUBWORD_PREFIX + subword
        spellings.append((term, word))
    return spellings
