"""Suggest another spelling for words of a query that neither the collection nor the default model knows.

A collection stores its terms as hashes, so there is no word list to compare with. Instead, variants of an unknown word
are generated and looked up. Each variant costs what its spelling error is worth: a letter of a neighbouring key, a
missing accent and two swapped letters are the most likely errors and cost least.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from paragloss.analysis import analyzer
from paragloss.collection.deadline import Deadline
from paragloss.languages import scripts_of
from paragloss.statistics import Statistics
from paragloss.translation.default import DefaultModel
from paragloss.types import Query, Span

#: What spelling errors cost: a missing or wrong accent; a letter doubled or not; two letters swapped; a letter of a
#: neighbouring key; a missing letter; one too many; any other letter.
ACCENT_COST, DOUBLING_COST, SWAP_COST, NEIGHBOUR_KEY_COST = 0.3, 0.6, 0.7, 0.8
MISSING_LETTER_COST, EXTRA_LETTER_COST, OTHER_LETTER_COST = 0.8, 1.1, 1.2
#: What is added for an error in the first letter, and for a form of a word that is not the one the model spells.
FIRST_LETTER_COST, OTHER_FORM_COST = 0.5, 0.2
#: The most that the errors of one word may cost, and what an e-fold of documents that have the word is worth.
MAX_COST, FREQUENCY_BONUS = 1.8, 0.15
#: Shorter words have too many neighbours.
MIN_LETTERS = 4
#: Words of this length may have two errors, one of which costs no more than a swap.
MIN_LETTERS_FOR_TWO_ERRORS = 7
#: Longer words and queries with more unknown words get no suggestion: the number of variants grows with the square of
#: the length of a word, and a request must not cost more than a search.
MAX_LETTERS = 40
MAX_UNKNOWN_WORDS = 8
#: Letters of an n-gram, and the number of bits of its hash.
NGRAM_SIZE, _HASH_BITS = 4, 22
_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
#: Words of a language that are sampled for its letters, and the number of letters that are used.
_SAMPLED_WORDS, _MAX_ALPHABET = 400, 100
#: Letters with accents are left out if a smaller share of the letters than this has one: they are of borrowed words.
_MIN_ACCENTED_SHARE = 0.01
#: The letters on the keys of a keyboard, row by row.
_LATIN_KEYBOARD = "qwertyuiop asdfghjkl zxcvbnm"
_KEYBOARDS = (
    _LATIN_KEYBOARD,
    "йцукенгшщзхъ фывапролджэ ячсмитьбю",
    "ςερτυθιοπ ασδφγηξκλ ζχψωβνμ",
    "קראטוןםפ שדגכעיחלך זסבהנמצת",
    "ضصثقفغعهخحجد شسيبلاتنمكط ئءؤرىةوزظ",
)


class Correction(NamedTuple):
    """A correctly spelled word or text in place of another, and what the spelling errors cost."""

    text: str
    cost: float


def suggest_query(
    query: Query,
    langs: Sequence[str],
    statistics: Statistics,
    model: DefaultModel | None,
    deadline: Deadline | None = None,
) -> Query | None:
    """Correct the spelling of a query in one of several languages: that in which the errors cost least.

    :param langs: the languages whose words the query is compared with.
    :param statistics: have the words of the documents.
    :param model: knows further words.
    :return: the corrected query in that language; None if all words are known in one of the languages, or if no
        language has a correction for every word.
    :raises DeadlineError: if the deadline passes first.
    """
    corrections: dict[str, Correction] = {}  # by language
    for lang in langs:
        unknown_spans = _find_unknown_words(query.text, lang, statistics, model)
        if not unknown_spans:
            return None
        if len(unknown_spans) <= MAX_UNKNOWN_WORDS:
            correction = _correct_words(query.text, unknown_spans, lang, statistics, model, deadline)
            if correction is not None:
                corrections[lang] = correction
    if not corrections:
        return None
    best_lang = min(corrections, key=lambda lang: corrections[lang].cost)
    return Query(query.id, corrections[best_lang].text, best_lang)


def _find_unknown_words(text: str, lang: str, statistics: Statistics, model: DefaultModel | None) -> list[Span]:
    """Return where a text has words that neither the documents nor the model have in a language."""
    spans = analyzer(lang).spans(text)
    words = [text[span.start : span.end] for span in spans]
    document_counts = _count_documents(words, lang, statistics, model) if words else []
    return [span for span, n_documents in zip(spans, document_counts, strict=True) if n_documents is None]


def _correct_words(
    text: str,
    spans: Sequence[Span],
    lang: str,
    statistics: Statistics,
    model: DefaultModel | None,
    deadline: Deadline | None,
) -> Correction | None:
    """Correct the words of a text at some spans; None if one of them can't be corrected.

    :param spans: where the text has unknown words, in order.
    :param lang: the language of the text.
    :param statistics: have the words of the documents.
    :param model: knows further words.
    :return: the corrected text, with the sum of what the errors cost.
    :raises DeadlineError: if the deadline passes first.
    """
    corrected_text, total_cost = text, 0.0
    for span in reversed(spans):  # from the end, so that the offsets of earlier words stay right
        if deadline is not None:
            deadline.check()
        correction = _correct_word(text[span.start : span.end], lang, statistics, model)
        if correction is None:
            return None
        corrected_text = corrected_text[: span.start] + correction.text + corrected_text[span.end :]
        total_cost += correction.cost
    return Correction(corrected_text, total_cost)


def _correct_word(word: str, lang: str, statistics: Statistics, model: DefaultModel | None) -> Correction | None:
    """Correct one word of a query; None for one that may be a name or a code."""
    if not _is_correctable(word, lang):
        return None
    # A capitalized word is a noun if documents have it; if only the model knows it, it may be a name.
    used_model = None if word[0].isupper() else model
    return find_correction(word.lower(), lang, statistics, used_model)


def _is_correctable(word: str, lang: str) -> bool:
    """Tell whether a word may be a misspelling: names and codes are not. German capitalizes more than names."""
    has_word_form = MIN_LETTERS <= len(word) <= MAX_LETTERS and all(map(_is_letter, word))
    return has_word_form and (lang == "de" or not word[0].isupper())


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] in "LM"


def find_correction(word: str, lang: str, statistics: Statistics, model: DefaultModel | None) -> Correction | None:
    """Return the known word that an unknown word is most likely meant to be, at one spelling error or, if long, two.

    :param word: the unknown word, in small letters.
    :param lang: the language of the word.
    :param statistics: have the words of the documents.
    :param model: knows further words.
    :return: None if no known word is near enough, or if the word has letters that the language does not use.
    """
    alphabet = _find_alphabet(lang, model)
    known_letters = {*alphabet, *_strip_accents(alphabet)}
    if not known_letters.issuperset(word):
        return None
    variants = _generate_variants(word, alphabet)
    correction = _choose_correction(variants, lang, statistics, model)
    if correction is not None or len(word) < MIN_LETTERS_FOR_TWO_ERRORS:
        return correction
    if model is None or lang not in model.langs:
        return None
    double_variants = _generate_double_variants(variants, alphabet, lang, model)
    return _choose_correction(double_variants, lang, statistics, model)


def _generate_double_variants(
    variants: dict[str, float], alphabet: str, lang: str, model: DefaultModel
) -> dict[str, float]:
    """Return the words of a model at two errors from a word, with the sum of the costs of both errors.

    They are words at one more error from those variants whose first error is likely. Words that only documents have
    are left out: there are so many variants that some have the hash of another word.

    :param variants: what is at one error from the word, with the costs.
    :param alphabet: the letters of the language.
    """
    ngrams = _load_ngrams(lang, model)
    likely_variants = [variant for variant, cost in variants.items() if cost <= SWAP_COST]
    costs: dict[str, float] = {}
    for variant, unseen_positions in zip(likely_variants, ngrams.list_unseen(likely_variants), strict=True):
        error_positions = _find_error_positions(variant, unseen_positions)
        for double_variant, cost in _generate_variants(variant, alphabet, error_positions).items():
            double_cost = variants[variant] + cost
            costs[double_variant] = min(costs.get(double_variant, MAX_COST), double_cost)
    possible_variants = ngrams.select_seen(list(costs))  # a quick test, before words are analyzed
    is_known = model.has_terms(_read_terms(possible_variants, lang), lang)  # an entry for each possible variant
    known_variants = compress(possible_variants, is_known)
    return {variant: costs[variant] for variant in known_variants}


class _NgramTable:
    """The n-grams of all words of a language, the blanks around words included, as a table of hashes."""

    def __init__(self, words: str) -> None:
        self._is_seen = np.zeros(1 << _HASH_BITS, bool)
        self._is_seen[_hash_ngrams(words)] = True

    def list_unseen(self, words: Sequence[str]) -> list[list[int]]:
        """Return for each word the positions of the n-grams that the language does not have.

        Positions are counted from the blank before the first letter.
        """
        positions_by_word: list[list[int]] = [[] for _ in words]
        word_numbers, positions = self._find_unseen_ngrams(words)
        for number, position in zip(word_numbers.tolist(), positions.tolist(), strict=True):
            positions_by_word[number].append(position)
        return positions_by_word

    def select_seen(self, words: Sequence[str]) -> list[str]:
        """Return the words all of whose n-grams the language has."""
        word_numbers, _ = self._find_unseen_ngrams(words)
        has_only_seen = np.ones(len(words), bool)
        has_only_seen[word_numbers] = False
        return list(compress(words, has_only_seen))

    def _find_unseen_ngrams(self, words: Sequence[str]) -> tuple[Any, Any]:
        """Find the n-grams of words that no word of the language has: an error in spelling is likely there.

        An n-gram is NGRAM_SIZE letters in a row; the blanks before and after a word count as letters. Of "cats" and
        "dxgs", where the language has no " dxg" and no "dxgs", the result is [1, 1] and [0, 1].

        All words are looked up as one text, which is much faster than word by word.

        :param words: the words, without blanks.
        :return: two arrays of shape (n_unseen,): of each unseen n-gram the index of its word in `words`, and its
            position in the word, where 0 is the blank before the first letter.
        """
        text = f" {' '.join(words)} "
        is_unseen = ~self._is_seen[_hash_ngrams(text)]  # (n_offsets,): of the n-gram at each offset of the text
        unseen_offsets = np.flatnonzero(is_unseen)  # (n_unseen_in_text,)
        word_indices, positions = _locate_in_words(unseen_offsets, words)
        padded_lengths = np.array([len(word) + 2 for word in words], dtype=np.int64)  # with a blank on either side
        is_within_word = positions + NGRAM_SIZE <= padded_lengths[word_indices]  # others reach into the next word
        return word_indices[is_within_word], positions[is_within_word]


def _locate_in_words(offsets: Any, words: Sequence[str]) -> tuple[Any, Any]:
    """Find where offsets of a text lie in its words, each of which has a blank before it.

    In " to be" offset 1 is the "t": word 0, position 1; offset 3 is the blank before "be": word 1, position 0.

    :param offsets: shape (n_offsets,); none is after the last letter of the text.
    :return: two arrays of shape (n_offsets,): the index of the word in `words`, and the position in the word, where 0
        is the blank before it.
    """
    lengths = np.array([len(word) + 1 for word in words], dtype=np.int64)  # (n_words,), with the blank before
    end_offsets = np.cumsum(lengths)  # where the next word begins with its blank
    word_indices = np.searchsorted(end_offsets, offsets, side="right")  # how many words end at an offset or before it
    start_offsets = end_offsets - lengths
    return word_indices, offsets - start_offsets[word_indices]


def _hash_ngrams(text: str) -> Any:
    """Return the hash of the n-gram at every position of a text."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    hashes = np.zeros(max(len(codes) - NGRAM_SIZE + 1, 0), np.uint64)
    for offset in range(NGRAM_SIZE):
        hashes = hashes * _HASH_FACTOR + codes[offset : offset + len(hashes)]
    return hashes * _HASH_FACTOR >> np.uint64(64 - _HASH_BITS)


@lru_cache(maxsize=8)
def _load_ngrams(lang: str, model: DefaultModel) -> _NgramTable:
    return _NgramTable(model.joined_vocabulary(lang))


def _find_error_positions(word: str, unseen_positions: Sequence[int]) -> range:
    """Return where one more error could explain all n-grams that the language does not have."""
    if not unseen_positions:
        return range(len(word) + 1)
    first, last = unseen_positions[0], unseen_positions[-1]
    return range(max(last - 2, 0), min(first + NGRAM_SIZE - 2, len(word)) + 1)


def _choose_correction(
    variants: dict[str, float], lang: str, statistics: Statistics, model: DefaultModel | None
) -> Correction | None:
    """Return the known word among the variants of a misspelled word that is most likely meant; None if none is known.

    The cost of a word is that of its errors and of an unusual form, less a bonus that grows with its frequency.

    :param variants: words at one error or two, each with the cost of the errors.
    :param statistics: have the words of the documents.
    :param model: knows further words, and translations, which count as occurrences of the word.
    :return: the cheapest word with the cost of its errors alone.
    """
    words = [word for word, error_cost in variants.items() if error_cost <= MAX_COST]
    document_counts = _count_documents(words, lang, statistics, model)
    costs: dict[str, float] = {}
    for word, document_count in zip(words, document_counts, strict=True):
        if document_count is None:  # the word is unknown
            continue
        [term] = analyzer(lang).terms(word)  # a known word is one term
        translation_count = 0
        if model is not None:
            translation_count = _count_translated_documents(term, lang, statistics, model)
        frequency_bonus = FREQUENCY_BONUS * float(np.log1p(document_count + translation_count))
        costs[word] = variants[word] + _price_form(word, term, lang, model) - frequency_bonus
    if not costs:
        return None
    cheapest = min(costs, key=lambda word: (costs[word], word))
    return Correction(cheapest, variants[cheapest])


def _price_form(word: str, term: str, lang: str, model: DefaultModel | None) -> float:
    """Return what it costs that a word is not the term itself, nor its usual spelling in the model."""
    spelling = model.spelling(term, lang).lower() if model and lang in model.langs else term
    return 0.0 if word in (term, spelling) else OTHER_FORM_COST


def _count_documents(
    words: Sequence[str], lang: str, statistics: Statistics, model: DefaultModel | None
) -> list[int | None]:
    """Return for each word how many documents of a language have it; None for an unknown word.

    A word that is no term, or several, counts as unknown.

    :param statistics: have the words of the documents.
    :param model: knows further words, of which there may be no document.
    """
    terms = _read_terms(words, lang)
    term_counts = statistics.df("text", lang, terms).tolist()  # documents that have each term
    is_in_model = [False] * len(terms)
    if model is not None and lang in model.langs:
        is_in_model = model.has_terms(terms, lang)
    document_counts: list[int | None] = []
    for term, n_documents, model_has_term in zip(terms, term_counts, is_in_model, strict=True):
        is_known = bool(term) and (n_documents > 0 or model_has_term)
        document_counts.append(n_documents if is_known else None)
    return document_counts


def _read_terms(words: Sequence[str], lang: str) -> list[str]:
    """Return the term of each word; "" for a word that has none or several.

    All words are analyzed in one text, a line for each, because analyzing many short texts takes longer.
    """
    terms_by_word = _split_terms_by_line(words, lang)
    for i, word in enumerate(words):
        if not terms_by_word[i]:  # a stop word is a term if a text has no other words
            terms_by_word[i] = analyzer(lang).terms(word)
    return [terms[0] if len(terms) == 1 else "" for terms in terms_by_word]


def _split_terms_by_line(lines: Sequence[str], lang: str) -> list[list[str]]:
    """Analyze lines as one text, and return the terms of each line; none of them may contain a line break."""
    tokenized = analyzer(lang).tokenize("\n".join(lines))
    next_line_starts = np.cumsum([len(line) + 1 for line in lines])  # (n_lines,)
    line_numbers = np.searchsorted(next_line_starts, tokenized.starts, side="right")  # (n_tokens,)
    terms_by_line: list[list[str]] = [[] for _ in lines]
    for line_number, term in zip(line_numbers.tolist(), tokenized.token_terms(), strict=True):
        terms_by_line[line_number].append(term)
    return terms_by_line


def _count_translated_documents(term: str, lang: str, statistics: Statistics, model: DefaultModel) -> int:
    """Return how many documents in another language have the most frequent likely translation of a term.

    The two likeliest translations into each language of the documents are looked up.

    :return: 0 if the model does not translate the term, or no document has a translation.
    """
    highest_count = 0
    for other_lang in statistics.langs:
        if other_lang == lang or not {lang, other_lang} <= set(model.langs):
            continue
        translated_terms: list[str] = []
        for translation in model.alternatives(term, lang, other_lang)[:2]:
            translated_terms += translation.terms
        document_counts = statistics.df("text", other_lang, translated_terms)  # (n_terms,)
        highest_count = max(highest_count, int(document_counts.max(initial=0)))
    return highest_count


def _generate_variants(word: str, alphabet: str, positions: range | None = None) -> dict[str, float]:
    """Return the words at one error from a word with their costs; errors are at some of its positions only."""
    variants: dict[str, float] = {}
    error_positions = range(len(word) + 1) if positions is None else positions
    for variant, cost in _iterate_variants(word, alphabet, error_positions):
        if variant != word:
            variants[variant] = min(variants.get(variant, MAX_COST), cost)
    return variants


def _iterate_variants(word: str, alphabet: str, positions: range) -> Iterator[tuple[str, float]]:
    """Yield every word at one error from a word with its cost; some come several times.

    An error is a missing letter, one too many, another letter, or two swapped letters. The word itself comes first, for
    nothing, with its accents composed.

    :param alphabet: the letters of the language.
    :param positions: the offsets in the word at which errors may be.
    """
    yield unicodedata.normalize("NFC", word), 0.0
    for position in positions:
        head, tail = word[:position], word[position:]
        first_cost = FIRST_LETTER_COST if position == 0 else 0.0
        yield from _insert_letters(head, tail, alphabet, first_cost)
        if tail:
            yield _remove_letter(head, tail, first_cost)
            for letter in alphabet:
                yield head + letter + tail[1:], _price_replacement(tail[0], letter, first_cost)
        if len(tail) > 1:
            swapped_letters = tail[1] + tail[0]
            yield head + swapped_letters + tail[2:], SWAP_COST + first_cost


def _insert_letters(head: str, tail: str, alphabet: str, first_cost: float) -> Iterator[tuple[str, float]]:
    """Yield a word, given in two parts, with each letter of an alphabet between the parts, and what that costs."""
    neighbours = {*head[-1:], *tail[:1]}
    for letter in alphabet:
        yield head + letter + tail, DOUBLING_COST if letter in neighbours else MISSING_LETTER_COST + first_cost


def _remove_letter(head: str, tail: str, first_cost: float) -> tuple[str, float]:
    """Return a word, given in two parts, without the first letter of the second part, and what that costs."""
    is_doubled = tail[0] in (*head[-1:], *tail[1:2])
    return head + tail[1:], DOUBLING_COST if is_doubled else EXTRA_LETTER_COST + first_cost


def _price_replacement(letter: str, replacement: str, first_cost: float) -> float:
    """Return what it costs to replace a letter by another.

    :param first_cost: is added if the letters differ in more than their accents.
    """
    plain_letter = _strip_accents(letter)
    if _strip_accents(replacement) == plain_letter:
        return ACCENT_COST
    if replacement in _list_neighbour_keys(plain_letter):
        return NEIGHBOUR_KEY_COST + first_cost
    return OTHER_LETTER_COST + first_cost


@lru_cache(maxsize=10_000)
def _strip_accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


@lru_cache(maxsize=1000)
def _list_neighbour_keys(letter: str) -> str:
    """Return the letters on the keys around that of a letter, "qwszx" for "a"; "" for a letter of no keyboard."""
    if not letter:
        return ""
    for keyboard in _KEYBOARDS:
        rows = keyboard.split()
        for row_number, row in enumerate(rows):
            if letter in row:
                return _join_keys_around(rows, row_number, row.index(letter)).replace(letter, "")
    return ""


def _join_keys_around(rows: Sequence[str], row_number: int, column: int) -> str:
    """Return the letters of a key and of those at most one row and one column from it.

    :param rows: the letters of a keyboard, row by row.
    """
    near_rows = rows[max(row_number - 1, 0) : row_number + 2]
    near_keys = [row[max(column - 1, 0) : column + 2] for row in near_rows]
    return "".join(near_keys)


@lru_cache(maxsize=100)
def _find_alphabet(lang: str, model: DefaultModel | None) -> str:
    """Return the letters of a language: those of its words in the model, most frequent first, or of its keyboard.

    Letters with accents are left out if they are rare, because these are of borrowed words.
    """
    if model is None or lang not in model.langs:
        return _list_keyboard_letters(lang)
    sample = "".join(model.sample_spellings(lang, _SAMPLED_WORDS)).lower()
    counts = Counter(letter for letter in sample if _is_letter(letter))
    letters = [letter for letter, _ in counts.most_common()]
    accented_count = sum(counts[letter] for letter in letters if _has_accent(letter))
    if accented_count < _MIN_ACCENTED_SHARE * counts.total():
        letters = [letter for letter in letters if not _has_accent(letter)]
    return "".join(letters[:_MAX_ALPHABET])


def _has_accent(letter: str) -> bool:
    """Tell whether a letter has an accent; a mark by itself, such as a vowel sign, has none."""
    return _strip_accents(letter) not in ("", letter)


def _list_keyboard_letters(lang: str) -> str:
    """Return the letters on the keyboards for a language: the Latin one, or all if it has another script as well."""
    keyboards = [_LATIN_KEYBOARD] if scripts_of(lang) == ("Latn",) else _KEYBOARDS
    umlauts = "äöüß" if lang == "de" else ""
    return "".join(keyboards).replace(" ", "") + umlauts
