"""Apply a query's operators: narrow the filter of a search, and keep the documents that have its phrases and words.

The terms of the index rule out most candidates; of the others the texts are read, with the offsets of their tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np

from paragloss import languages
from paragloss.analysis import analyzer
from paragloss.analysis.tokenization import MAX_TOKENIZED_CHARACTERS, read_tokenized_texts
from paragloss.bm25 import Ids
from paragloss.collection.arguments import SearchOptions
from paragloss.collection.search_plan import list_query_forms
from paragloss.collection.state import State
from paragloss.index.terms import TERMS_VECTOR
from paragloss.search.phrases import PhraseForms, build_phrase_forms, find_phrase, list_content_terms
from paragloss.search.query_operators import QueryOperators, Value, intersect_filters
from paragloss.statistics import Statistics
from paragloss.types import Document, Query, Range, Record, Searcher, SparseRows, TokenizedText, Translation, Where

#: Documents that are ranked and checked for phrases and words.
MAX_CHECKED_DOCUMENTS = 500
#: Documents whose texts are read at once.
_BATCH = 20
#: Characters of a document in which phrases are looked for, and what two parts of it that are tokenized share.
MAX_SEARCHED_CHARACTERS = 2_000_000
_OVERLAP = 500

#: The languages a query may be in, each with the searcher for it.
Readings: TypeAlias = Sequence[tuple[str, Searcher]]
#: One way to word a phrase: for each of its words, the ids of the index terms that it may be.
Wording: TypeAlias = Sequence[frozenset[int]]


class Occurrences(NamedTuple):
    """Where a document has the phrases and words of a query."""

    #: (start, end) offsets in its text, in order.
    spans: tuple[tuple[int, int], ...]
    #: How often they stand in its title and in its other fields.
    field_count: int


def narrow_options(state: State, options: SearchOptions, operators: QueryOperators) -> SearchOptions:
    """Return the options of a search narrowed by its operators `lang:`, `file:`, `after:` and `before:`.

    Conditions that the options set already stay. A language that they exclude is not searched.
    """
    where = _make_operator_filter(state, operators)
    if where:
        options = replace(options, where=intersect_filters(options.where or {}, where))
    if operators.languages:
        allowed_langs: Sequence[str] = state.langs
        if options.to is not None:
            allowed_langs = [languages.normalise(lang) for lang in options.to]
        searched_langs = [lang for lang in operators.languages if lang in allowed_langs]
        options = replace(options, to=searched_langs)
    return options


def _make_operator_filter(state: State, operators: QueryOperators) -> Where:
    """Return the conditions that `file:`, `after:` and `before:` set for the metadata of documents, by their key."""
    where: dict[str, Sequence[Value]] = {}
    if operators.days != Range():
        where["meta.dated"] = [operators.days]
    if operators.extensions:
        where["meta.kind"] = [*operators.extensions]
    elif operators.file_patterns:
        where["meta.path"] = [*_list_matching_paths(state, operators.file_patterns)]
    return where


def filter_documents(
    state: State, operators: QueryOperators, readings: Readings, doc_ids: Sequence[str], options: SearchOptions
) -> dict[str, Occurrences]:
    """Return the first `options.k` documents that have every required term of a query and no excluded one.

    :param operators: the operators of the query, with these terms.
    :param readings: the languages that the query may be in.
    :param doc_ids: the candidates, best first.
    :return: document id -> where it has the required terms.
    :raises DeadlineError: if the deadline passes first.
    """
    required = _translate_terms(operators.required, readings, state.index.statistics, is_excluded=False)
    excluded = _translate_terms(operators.excluded, readings, state.index.statistics, is_excluded=True)
    possible_ids = _select_possible_ids(state, required, doc_ids)
    occurrences_by_id: dict[str, Occurrences] = {}
    for record in _read_in_batches(state, possible_ids):
        if len(occurrences_by_id) >= options.k:
            break
        if options.deadline:
            options.deadline.check()
        occurrences = _check_document(record, required, excluded)
        if occurrences is not None:
            occurrences_by_id[record.document.id] = occurrences
    return occurrences_by_id


def _translate_terms(
    texts: Sequence[str], readings: Readings, statistics: Statistics, *, is_excluded: bool
) -> list[CheckedTerm]:
    """Translate the required or excluded terms of a query; those of stop words only are left out."""
    terms = [CheckedTerm(text, readings, statistics, is_excluded=is_excluded) for text in texts]
    return [term for term in terms if term.has_words]


def _read_in_batches(state: State, doc_ids: Sequence[str]) -> Iterator[Record]:
    """Yield the records of documents, read some at a time."""
    for start in range(0, len(doc_ids), _BATCH):
        yield from state.records(doc_ids[start : start + _BATCH])


def _check_document(
    record: Record, required: Sequence[CheckedTerm], excluded: Sequence[CheckedTerm]
) -> Occurrences | None:
    """Return where a document has the required terms; None if it lacks one of them or has an excluded term.

    :param required: the terms that the document must have.
    :param excluded: the terms that it must not have.
    """
    all_occurrences = []
    for term in required:
        occurrences = _find_term(record, term)
        if occurrences is None:
            return None
        all_occurrences.append(occurrences)
    if any(_find_term(record, term) for term in excluded):
        return None
    return _join_occurrences(all_occurrences)


def describe_check(
    operators: QueryOperators, candidate_ids: Sequence[str], occurrences: Mapping[str, Occurrences], *, limit: int
) -> list[str]:
    """Return notes for the reader: that nothing has what is required, and how many documents were checked."""
    notes = []
    if operators.required and not occurrences:
        terms = " and ".join(f"“{term}”" for term in operators.required)
        notes.append(f"No document that was checked has {terms} or a translation; without the signs it may be found.")
    if len(candidate_ids) >= limit:
        notes.append(f"The best {limit} documents were checked for the phrases and signed words.")
    return notes


class CheckedTerm:
    """A phrase or word of a query that documents of any language are checked for."""

    def __init__(self, text: str, readings: Readings, statistics: Statistics, *, is_excluded: bool = False) -> None:
        """Translate a term.

        :param text: the phrase or word as it is in the query.
        :param readings: the languages that the query may be in, each with a searcher that translates from it.
        :param statistics: have the ids of index terms.
        :param is_excluded: look for the likeliest translation of a single word only, and not inside words.
        """
        word_counts = [len(list_content_terms(text, lang)) for lang, _ in readings]
        self.has_words = any(word_counts)
        self.is_excluded = is_excluded
        self._only_best = is_excluded and max(word_counts) == 1
        self._statistics = statistics
        # The term in each language that the query may be in, with its translations by language.
        self._phrases: list[tuple[Query, Mapping[str, Sequence[Translation]]]] = []
        for source_lang, searcher in readings:
            phrase = Query("", text, source_lang)
            translations = {form.lang: form.clauses for form in list_query_forms(searcher, phrase).queries}
            self._phrases.append((phrase, translations))
        self._forms: dict[str, list[PhraseForms]] = {}  # by language, as far as computed
        self._wordings: dict[str, list[Wording]] = {}  # by language, as far as computed

    def forms(self, lang: str) -> list[PhraseForms]:
        """Return how the term may be written in a language: as in the query, or translated.

        There is an entry for each language that the query may be in, but for those in which the term has only stop
        words. Entries are computed when a language is first asked for.
        """
        if lang not in self._forms:
            forms = []
            for phrase, translations in self._phrases:
                form = build_phrase_forms(phrase, lang, translations.get(lang, ()), only_best=self._only_best)
                if form.written or form.translations:
                    forms.append(form)
            self._forms[lang] = forms
        return self._forms[lang]

    def list_wordings(self, lang: str) -> list[Wording]:
        """Return the wordings of the term in a language; [] if it has only stop words there."""
        if lang not in self._wordings:
            self._wordings[lang] = [
                [self._find_term_ids(terms, lang) for terms in words] for words in _list_wordings(self.forms(lang))
            ]
        return self._wordings[lang]

    def _find_term_ids(self, terms: frozenset[str], lang: str) -> frozenset[int]:
        """Return the ids that some terms of a language have in the fields of the index."""
        ids_by_field = [self._statistics.ids(field, lang, [*terms]) for field in self._statistics.layout.fields]
        return frozenset(np.concatenate(ids_by_field).tolist())

    def may_occur(self, document_term_ids: frozenset[int], lang: str) -> bool:
        """Tell whether a document, given by its term ids, has some form of every word of the term."""
        wordings = self.list_wordings(lang)
        if not wordings:
            return True
        return any(all(not document_term_ids.isdisjoint(term_ids) for term_ids in wording) for wording in wordings)


def _list_wordings(forms: Sequence[PhraseForms]) -> list[list[frozenset[str]]]:
    """Return the wordings of a term: lists of words, each given by the index terms that it may be."""
    wordings = []
    for form in forms:
        if form.written:
            wordings.append([frozenset({term}) for term in form.written])
        if form.translations:
            wordings.append([frozenset(chain.from_iterable(phrases)) for phrases in form.translations])
    return wordings


def _list_matching_paths(state: State, patterns: Sequence[str]) -> Iterator[str]:
    """Yield the paths of documents that match one of some patterns, such as `*.pdf`, from any folder on."""
    globs = [f"*/{pattern.lower()}" for pattern in patterns]
    for path in state.cache.get("paths", lambda: _list_paths(state)):
        if any(fnmatchcase("/" + path.lower().replace("\\", "/"), glob) for glob in globs):
            yield path


def _list_paths(state: State) -> list[str]:
    paths = (record.document.meta.get("path") for records in state.store.scroll(text=False) for record in records)
    return list(dict.fromkeys(path for path in paths if isinstance(path, str)))


def _select_possible_ids(state: State, required: Sequence[CheckedTerm], doc_ids: Sequence[str]) -> list[str]:
    """Return the documents that may have every required term, judged by the ids of their terms in the index.

    A document may have a term in its own language, or in one that some documents are partly written in.

    :param doc_ids: the candidates; those that remain keep their order.
    """
    doc_langs, rows = state.store.read_sparse(TERMS_VECTOR, doc_ids)
    secondary_langs = list(state.index.statistics.secondary_languages)
    needed_term_ids = _list_term_ids(required, {*doc_langs, *secondary_langs})
    term_ids_by_document = _select_term_ids(rows, needed_term_ids)
    possible_ids = []
    for doc_id, doc_lang, term_ids in zip(doc_ids, doc_langs, term_ids_by_document, strict=True):
        if _may_have_terms(term_ids, required, [doc_lang, *secondary_langs]):
            possible_ids.append(doc_id)
    return possible_ids


def _may_have_terms(document_term_ids: frozenset[int], terms: Sequence[CheckedTerm], langs: Sequence[str]) -> bool:
    """Tell whether a document may have each of some terms in at least one of several languages."""
    return all(any(term.may_occur(document_term_ids, lang) for lang in langs) for term in terms)


def _list_term_ids(terms: Sequence[CheckedTerm], langs: Collection[str]) -> Ids:
    """Return the ids of all index terms that the wordings of some terms have in some languages."""
    ids: set[int] = set()
    for term in terms:
        for lang in langs:
            for wording in term.list_wordings(lang):
                ids.update(*wording)
    return np.array(list(ids), np.uint32)


def _select_term_ids(rows: SparseRows, needed_ids: Ids) -> Iterator[frozenset[int]]:
    """Yield, for each document, those of its term ids that are needed.

    Documents have hundreds of terms and queries a few, so all rows are compared at once.

    :param rows: the term ids of the documents, one row each.
    :param needed_ids: some term ids.
    """
    is_needed = np.isin(rows.indices, needed_ids)  # an entry for each term of each document
    needed_terms = rows.indices[is_needed]
    n_needed_before = np.concatenate([[0], np.cumsum(is_needed)])  # before each entry, and in all
    row_ends = n_needed_before[np.cumsum(rows.sizes)]  # (n_documents,): where its row ends among the needed terms
    start = 0
    for end in row_ends.tolist():
        yield frozenset(needed_terms[start:end].tolist())
        start = end


def _find_term(record: Record, term: CheckedTerm) -> Occurrences | None:
    """Return where a document has a term or a translation of it; None if it does not have it.

    A term that has only stop words in the document's language counts as present, without occurrences.
    """
    if not term.forms(record.document.lang):
        return Occurrences((), 0)
    text_spans = {span for tokens in _iterate_tokens(record) for span in _find_spans(tokens, term)}
    field_count = sum(len(_find_spans(tokens, term)) for tokens in _tokenize_fields(record.document))
    return Occurrences(tuple(sorted(text_spans)), field_count) if text_spans or field_count else None


def _tokenize_fields(document: Document) -> Iterator[TokenizedText]:
    """Yield the tokens of the title of a document and of its other fields but the text."""
    for text in (document.title, *document.fields.values()):
        if text:
            yield analyzer(document.lang).tokenize(text[:MAX_TOKENIZED_CHARACTERS])


def _find_spans(tokens: TokenizedText, term: CheckedTerm) -> list[tuple[int, int]]:
    """Return the (start, end) offsets at which a text has a term in any of its forms."""
    forms = term.forms(tokens.lang)
    return [span for form in forms for span in find_phrase(tokens, form, inside_words=not term.is_excluded)]


def _iterate_tokens(record: Record) -> Iterator[TokenizedText]:
    """Yield the stored tokens of a text, and those of the parts behind them, which are not stored."""
    text = record.document.text[:MAX_SEARCHED_CHARACTERS]
    yield from read_tokenized_texts(record)
    for start in range(MAX_TOKENIZED_CHARACTERS - _OVERLAP, len(text) - _OVERLAP, MAX_TOKENIZED_CHARACTERS):
        tokens = analyzer(record.document.lang).tokenize(text[start : start + MAX_TOKENIZED_CHARACTERS + _OVERLAP])
        yield tokens._replace(text=text, starts=tokens.starts + start)


def _join_occurrences(occurrences: Sequence[Occurrences]) -> Occurrences:
    """Join the occurrences of several terms in one document."""
    spans = sorted({span for term_occurrences in occurrences for span in term_occurrences.spans})
    return Occurrences(tuple(spans), sum(term_occurrences.field_count for term_occurrences in occurrences))
