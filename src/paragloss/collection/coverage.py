"""Measure how many words are known: of a query to translators and documents, of documents to the default model.

Answers warn of unknown words of a query, and indexing warns of documents that seem to be in another language than they
say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from paragloss import languages
from paragloss.analysis import analyzer
from paragloss.bm25 import term_hashes as map_hashes
from paragloss.groups import list_starts
from paragloss.statistics import Statistics
from paragloss.translation.default import DefaultModel
from paragloss.translation.subword_terms import SOUND_PREFIX
from paragloss.types import Document, Query, QueryForms

#: Texts sampled of each language, characters read of each, and the fewest words that allow a judgment.
SAMPLE_SIZE, SAMPLED_CHARACTERS, MIN_SAMPLED_WORDS = 20, 2000, 50
#: Above this share of unknown words, a warning is given if the texts look like another language. Package descriptions
#: have .06 to .33 in their own language; news labelled as a neighbouring language .07 to .82.
DOUBTFUL_SHARE = 0.25
#: Above this share, a warning is given in any case.
FOREIGN_SHARE = 0.5


class QueryCoverage(NamedTuple):
    """How many words a query has, and which of them no translator knows and no document has as they are written."""

    words: int
    unknown: tuple[str, ...]

    @property
    def has_known_word(self) -> bool:
        """Whether some word is known."""
        return len(self.unknown) < self.words

    def __str__(self) -> str:
        if not self.unknown:
            return ""
        return f"{len(self.unknown)} of {self.words} words not understood: {', '.join(self.unknown)}"


def measure_query_coverage(
    query: Query, forms: QueryForms, statistics: Statistics, targets: Sequence[str]
) -> QueryCoverage:
    """Count the words of a query, and find those that no translator knows and no document has.

    :param forms: the query as it was sent to the index; without translations in it, all words count as known.
    :param statistics: have the terms of the documents.
    :param targets: the languages that were searched.
    """
    spans = analyzer(query.lang).spans(query.text)
    words = list(dict.fromkeys(query.text[span.start : span.end] for span in spans))
    translated_forms = [form for form in forms.queries if form.clauses and form.lang != query.lang]
    if not translated_forms:
        return QueryCoverage(len(words), ())
    translated_words = _list_translated_words(translated_forms)
    untranslated_words = [word for word in words if word not in translated_words]
    indexed_words = _find_indexed_words(untranslated_words, statistics, targets)
    unknown_words = tuple(word for word in untranslated_words if word not in indexed_words)
    return QueryCoverage(len(words), unknown_words)


def list_wordings(query: Query, forms: QueryForms, targets: Sequence[str]) -> dict[str, str]:
    """Return the likeliest wording of a query in each language; as it was written where there is no translation."""
    wordings = {
        form.lang: " ".join(clause.alternatives[0].text for clause in form.clauses)
        for form in forms.queries
        if form.lang != query.lang
    }
    return {lang: wordings.get(lang) or query.text for lang in targets}


def _list_translated_words(forms: Sequence[Query]) -> set[str]:
    """Return the words that have a translation in some language, other than the word itself or a spelling by sound."""
    translated_words: set[str] = set()
    for form in forms:
        for clause in form.clauses:
            if any(_is_translation(alternative.text, clause.source) for alternative in clause.alternatives):
                translated_words.add(clause.source)
                translated_words.update(clause.source.split())
    return translated_words


def _is_translation(text: str, source: str) -> bool:
    return text != source and not text.startswith(SOUND_PREFIX)


def _find_indexed_words(words: Sequence[str], statistics: Statistics, targets: Sequence[str]) -> set[str]:
    """Return the words that some document has as they are written, and those without letters, such as numbers.

    :param words: the words of a query.
    :param targets: the languages of the documents.
    """
    words_with_letters = [word for word in words if any(char.isalpha() for char in word)]
    indexed_words = set(words).difference(words_with_letters)
    hashed_words: list[tuple[str, list[int]]] = []  # (word, hashes of its terms) for each language
    for lang in targets:
        hashed_words += _hash_terms(words_with_letters, lang)
    if not hashed_words:
        return indexed_words
    is_indexed = _have_indexed_terms([hashes for _, hashes in hashed_words], statistics)  # all languages at once
    for (word, _), has_document in zip(hashed_words, is_indexed, strict=True):
        if has_document:
            indexed_words.add(word)
    return indexed_words


def _hash_terms(words: Sequence[str], lang: str) -> Iterator[tuple[str, list[int]]]:
    """Yield each word with the hashes of its terms in a language; words without terms are left out."""
    split_terms, hash_by_term = analyzer(lang).terms, map_hashes(lang)
    for word in words:
        hashes = [hash_by_term[term] for term in split_terms(word)]
        if hashes:
            yield word, hashes


def _have_indexed_terms(hashes_of_words: Sequence[Sequence[int]], statistics: Statistics) -> list[bool]:
    """Return for each word whether some field of the index has all its terms.

    :param hashes_of_words: the hashes of the terms of each word, at least one.
    """
    fields = np.arange(len(statistics.layout.fields))[:, None]  # (n_fields, 1)
    all_hashes = [term_hash for hashes in hashes_of_words for term_hash in hashes]
    term_ids = statistics.layout.ids(fields, all_hashes)  # (n_fields, n_terms)
    document_counts = statistics.df_of(term_ids.ravel()).reshape(term_ids.shape)  # (n_fields, n_terms)
    has_term = document_counts > 0
    first_terms = list_starts([len(hashes) for hashes in hashes_of_words])  # (n_words,): positions in all_hashes
    has_all_terms = np.logical_and.reduceat(has_term, first_terms, axis=1)  # (n_fields, n_words)
    is_indexed = np.logical_or.reduce(has_all_terms, axis=0)  # (n_words,)
    return list(is_indexed.tolist())


def measure_unknown_share(texts: Iterable[str], lang: str, model: DefaultModel) -> float | None:
    """Return the share of the words of texts that a model does not know; numbers are no words.

    :param texts: texts in a language, of which the first SAMPLED_CHARACTERS are read.
    :return: None if the model does not have the language, or if there are fewer than MIN_SAMPLED_WORDS words.
    """
    if lang not in model.langs:
        return None
    counts: Counter[str] = Counter()
    for text in texts:
        terms = analyzer(lang).terms(text[:SAMPLED_CHARACTERS])
        counts.update(term for term in terms if not term.isdigit())
    if counts.total() < MIN_SAMPLED_WORDS:
        return None
    unknown_count = sum(count for term, count in counts.items() if not model.has_term(term, lang))
    return unknown_count / counts.total()


def describe_foreign_texts(documents: Sequence[Document], model: DefaultModel) -> dict[str, str]:
    """Return a warning for each language that documents state and seem not to be written in, by language.

    The language is doubted if the model does not know many of the words of a sample. There is a warning if the sample
    looks like another language then, or if hardly any word is known.
    """
    warnings = {}
    for lang in dict.fromkeys(document.lang for document in documents):
        texts = [document.text for document in documents if document.lang == lang and document.text]
        texts = texts[:SAMPLE_SIZE]
        unknown_share = measure_unknown_share(texts, lang, model)
        if unknown_share is None or unknown_share <= DOUBTFUL_SHARE:
            continue
        likely_lang = _identify_majority([text[:SAMPLED_CHARACTERS] for text in texts])
        looks_foreign = likely_lang not in (None, lang)
        hint = f"; they look like {likely_lang!r}" if looks_foreign else ""
        if looks_foreign or unknown_share > FOREIGN_SHARE:
            warnings[lang] = f"{unknown_share:.0%} of the words of documents in {lang!r} are unknown{hint}"
    return warnings


def _identify_majority(texts: Sequence[str]) -> str | None:
    """Return the language that more than half of the texts seem to be in."""
    langs = [lang for lang in languages.identify(texts) if lang]
    lang = max(set(langs), key=langs.count, default=None)
    return lang if lang and langs.count(lang) > len(texts) / 2 else None
