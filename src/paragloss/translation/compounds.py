"""Split compounds into known words, and translate neighbouring words of a query as compounds.

Zugverspätung is Zug and Verspätung; "line spacing" is Zeilenabstand in German.

Splitting also serves words of scripts without spaces that the tokenizer did not split far enough, and unknown inflected
forms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.translation.combined import translate_many
from paragloss.types import Alternative, Query, Translation, Translator

#: Letters that may link the parts of a compound, the most frequent first.
COMPOUND_LINKERS = {
    "de": ("", "s", "n", "en", "es", "er", "e"),
    "nl": ("", "s", "en", "e", "n"),
    "sv": ("", "s", "e", "o", "u"),
    "da": ("", "s", "e", "er"),
    "no": ("", "s", "e", "er"),
    "fi": ("", "n", "en", "s"),
    "hu": ("",),
}
#: Longer words (genes, encoded data) are not split.
MAX_WORD_LENGTH = 100
#: In languages that do not separate words, the least characters of a word inside another.
MIN_UNSPACED_PART = {"zh": 2, "ja": 2, "ko": 2, "th": 3}
_MAX_UNSPACED_PART = 8
_MIN_PART = 3
#: The share of a word that a known word at its beginning must have, so that the rest can be an ending.
_MIN_BEGINNING_SHARE = 0.5
#: Translations of a word that are tried as part of a compound, and the weight of a compound relative to its parts.
#: Chosen on titles of two manuals (docs/understand/log-translation.md).
_MAX_TRANSLATIONS_TRIED = 5
_COMPOUND_WEIGHT = 0.7
#: The source of a compound where a search explains a match.
ORIGIN = "compound"


def split_compound(term: str, lang: str, is_known: Callable[[str], bool]) -> list[str]:
    """Split a term into two known words, or three if no two make it; return [] if it cannot be split.

    Of several ways the one with the longest last part is taken: it carries the meaning, and short words occur inside
    long ones by chance. Linking letters between the words are left out: "arbeitszeit" gives ["arbeit", "zeit"].

    :param lang: a language of COMPOUND_LINKERS
    :param is_known: tells whether the vocabulary has a term
    """
    if len(term) > MAX_WORD_LENGTH:
        return []
    possible_starts = range(_MIN_PART, len(term) - _MIN_PART + 1)
    last_starts = [start for start in possible_starts if is_known(term[start:])]  # where a known last part begins
    if not last_starts:
        return []
    two_parts = _split_in_two(term, 0, last_starts, lang, is_known)
    return two_parts or _split_in_three(term, last_starts, lang, is_known)


def find_known_parts(term: str, lang: str, is_known: Callable[[str], bool]) -> list[str]:
    """Return the known words that an unknown one contains: its parts, or the longest word that it begins with."""
    if len(term) > MAX_WORD_LENGTH:
        return []
    parts: list[str] = []
    if lang in COMPOUND_LINKERS:
        parts = split_compound(term, lang, is_known)
    elif lang in MIN_UNSPACED_PART:
        parts = _segment(term, MIN_UNSPACED_PART[lang], is_known)
    return parts or _find_beginning(term, MIN_UNSPACED_PART.get(lang, _MIN_PART + 1), is_known)


def join_words(firsts: Sequence[str], seconds: Sequence[str], lang: str, *, max_linkers: int = 3) -> list[str]:
    """Return all compounds of one of the first and one of the second words with the most frequent linkers."""
    linkers = COMPOUND_LINKERS[lang][:max_linkers]
    return list(dict.fromkeys(first + linker + second for first in firsts for second in seconds for linker in linkers))


def _find_beginning(term: str, min_letters: int, is_known: Callable[[str], bool]) -> list[str]:
    """Return the longest known word that a term begins with, as a list, if it is long enough."""
    shortest = max(min_letters, int(_MIN_BEGINNING_SHARE * len(term)) + 1)
    for end in range(len(term) - 1, shortest - 1, -1):
        if is_known(term[:end]):
            return [term[:end]]
    return []


def _segment(term: str, min_letters: int, is_known: Callable[[str], bool]) -> list[str]:
    """Split a term into the fewest known words that skip the fewest characters; [] if more than half are skipped.

    The best way to split each beginning of the term is found from those of shorter beginnings.

    :param min_letters: the least number of characters of a word.
    :param is_known: tells whether the vocabulary has a word.
    """
    best = [_Segmentation(0, 0, [])]  # the best way to split term[:0], term[:1], term[:2] and so on
    for end in range(1, len(term) + 1):
        shorter = best[end - 1]
        candidates = [shorter._replace(skipped=shorter.skipped + 1)]
        for start in range(max(0, end - _MAX_UNSPACED_PART), end - min_letters + 1):
            if is_known(term[start:end]):
                candidates.append(best[start].append_word(term[start:end]))
        best.append(min(candidates, key=lambda candidate: (candidate.skipped, candidate.n_words)))
    is_mostly_known = 2 * best[-1].skipped <= len(term)
    return best[-1].words if is_mostly_known else []


class _Segmentation(NamedTuple):
    """Known words in the beginning of a term, and how many of its characters are in none."""

    skipped: int
    n_words: int
    words: list[str]

    def append_word(self, word: str) -> _Segmentation:
        """Return the same with another word behind it."""
        return _Segmentation(self.skipped, self.n_words + 1, [*self.words, word])


def _split_in_three(term: str, last_starts: Sequence[int], lang: str, is_known: Callable[[str], bool]) -> list[str]:
    """Split a term into three known words, of which the first is the shortest possible; [] if that is not possible.

    :param last_starts: where in the term a known word begins that reaches to its end, ascending; not empty
    :param lang: the language, whose linking letters may stand between the words
    :param is_known: tells whether the vocabulary has a word
    """
    for first_end in range(_MIN_PART, last_starts[-1] - _MIN_PART + 1):
        first = _strip_linker(term[:first_end], lang, is_known)
        if first:
            other_parts = _split_in_two(term, first_end, last_starts, lang, is_known)
            if other_parts:
                return [first, *other_parts]
    return []


def _split_in_two(
    term: str, start: int, last_starts: Sequence[int], lang: str, is_known: Callable[[str], bool]
) -> list[str]:
    """Split the part of a term from `start` on into two known words; [] if that is not possible.

    :param last_starts: where in the term a known word begins that reaches to its end, ascending
    :param lang: the language, whose linking letters may stand between the words
    :param is_known: tells whether the vocabulary has a word
    """
    for last_start in last_starts:
        if last_start - start < _MIN_PART:
            continue
        first = _strip_linker(term[start:last_start], lang, is_known)
        if first:
            return [first, term[last_start:]]
    return []


def _strip_linker(word: str, lang: str, is_known: Callable[[str], bool]) -> str:
    """Return the known word that a first part is without its linker; "" if there is none."""
    for linker in COMPOUND_LINKERS[lang]:
        if word.endswith(linker):
            base = word[: len(word) - len(linker)]
            if len(base) >= _MIN_PART and is_known(base):
                return base
    return ""


class CompoundTranslator:
    """Wraps a Translator and adds the compounds that translations of neighbouring words make, in either order.

    `count_documents` takes a language and terms and returns in how many documents each occurs; compounds that occur in
    none are not added.
    """

    def __init__(self, translator: Translator, count_documents: Callable[[str, Sequence[str]], npt.ArrayLike]) -> None:
        self._translator, self._count_documents = translator, count_documents

    def knows(self, source: str, target: str) -> bool:
        """Say whether the wrapped translator knows the two languages."""
        return self._translator.knows(source, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Translate a query and add clauses for compounds."""
        return self._add_compounds(self._translator.translate(query, to), query.lang, to)

    def translate_many(self, query: Query, targets: Sequence[str]) -> Mapping[str, list[Translation]]:
        """Translate a query into several languages and add clauses for compounds."""
        clauses_by_lang = translate_many(self._translator, query, targets)
        return {lang: self._add_compounds(clauses, query.lang, lang) for lang, clauses in clauses_by_lang.items()}

    def _add_compounds(self, clauses: list[Translation], source: str, to: str) -> list[Translation]:
        """Add a clause behind each pair of neighbours whose compounds occur; it replaces the translator's own one.

        :param clauses: the translations of the words and phrases of a query, in order.
        :param source: the language of the query.
        :param to: the language of the translations; if it writes no compounds, nothing is added.
        """
        if to not in COMPOUND_LINKERS or source == to:
            return clauses
        phrases = {clause.source: clause for clause in clauses if " " in clause.source}
        words = [clause for clause in clauses if clause.source not in phrases]
        replaced_phrases = {f"{first.source} {second.source}" for first, second in pairwise(words)}
        compounds = self._make_compounds(words, phrases, to)
        extended = []
        for clause in clauses:
            is_replaced = clause.source in phrases and clause.source in replaced_phrases
            if not is_replaced:
                extended.append(clause)
            if clause.source in compounds:
                extended.append(compounds[clause.source])
        return extended

    def _make_compounds(
        self, words: Sequence[Translation], phrases: Mapping[str, Translation], to: str
    ) -> dict[str, Translation]:
        """Return the clauses of the compounds that neighbouring words make, by the source of the second word.

        A pair that makes no compound of the documents, and none of the translator's own, has no clause.

        :param words: the clauses of the words of a query, in order
        :param phrases: the clauses of the translator's own compounds, by their sources; documents need not have these
        :param to: the language of the compounds
        """
        compounds: dict[str, Translation] = {}
        remaining_phrases = dict(phrases)  # a phrase that occurs twice in a query is used once
        for first, second in pairwise(words):
            phrase = f"{first.source} {second.source}"
            terms = self._find_compounds(first, second, to)
            own_clause = remaining_phrases.pop(phrase, None)
            if own_clause is not None:
                terms = list(dict.fromkeys([*terms, *_list_terms(own_clause)]))
            if terms:
                compounds[second.source] = _make_compound_clause(phrase, terms)
        return compounds

    def _find_compounds(self, first: Translation, second: Translation, to: str) -> list[str]:
        """Return the compounds of two clauses that occur in documents, as terms."""
        first_words, second_words = _list_words(first), _list_words(second)
        max_linkers = len(COMPOUND_LINKERS[to])
        compounds = join_words(first_words, second_words, to, max_linkers=max_linkers)
        compounds += join_words(second_words, first_words, to, max_linkers=max_linkers)
        terms = list(dict.fromkeys(analyzer(to).terms(" ".join(compounds))))
        counts = np.asarray(self._count_documents(to, terms))
        return [term for term, count in zip(terms, counts, strict=True) if count]


def _make_compound_clause(phrase: str, terms: Sequence[str]) -> Translation:
    """Make the clause of a phrase whose compounds are `terms`, of equal weight."""
    alternatives = tuple(Alternative(term, 1 / len(terms), (term,)) for term in terms)
    return Translation(phrase, alternatives, _COMPOUND_WEIGHT, origins=((ORIGIN, 1.0, alternatives),))


def _list_words(clause: Translation) -> list[str]:
    """Return the best alternatives of a clause that are single words, in lower case."""
    words = [alternative.text.lower() for alternative in clause.alternatives if alternative.text.isalpha()]
    return list(dict.fromkeys(words))[:_MAX_TRANSLATIONS_TRIED]


def _list_terms(clause: Translation) -> list[str]:
    """Return the terms of all alternatives of a clause."""
    terms: list[str] = []
    for alternative in clause.alternatives:
        terms += alternative.terms
    return terms
