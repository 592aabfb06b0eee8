"""Translate neighbouring words of a query as compounds: "line spacing" is Zeilenabstand in German."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.translation.combined import translate_many
from paragloss.translation.compounds import COMPOUND_LINKERS, join_words
from paragloss.types import Alternative, Query, Translation, Translator

#: Translations of a word that are tried as part of a compound, and the weight of a compound relative to its parts.
#: Chosen on titles of two manuals (docs/understand/log-translation.md).
_MAX_TRANSLATIONS_TRIED = 5
_COMPOUND_WEIGHT = 0.7
#: The source of a compound where a search explains a match.
ORIGIN = "compound"


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
        """Add a clause behind each pair of neighbours whose compounds occur; it replaces the translator's own one."""
        if to not in COMPOUND_LINKERS or source == to:
            return clauses
        phrases = {clause.source: clause for clause in clauses if " " in clause.source}
        words = [clause for clause in clauses if clause.source not in phrases]
        compound_after: dict[str, Translation] = {}  # second word -> clause of the compound
        replaced_phrases: set[str] = set()
        for first, second in pairwise(words):
            phrase = f"{first.source} {second.source}"
            terms = self._find_compounds(first, second, to)
            if phrase in phrases and phrase not in replaced_phrases:
                replaced_phrases.add(phrase)  # the translator did not check whether documents contain it
                for alternative in phrases[phrase].alternatives:
                    terms += [term for term in alternative.terms if term not in terms]
            if terms:
                compound_after[second.source] = _make_compound_clause(phrase, terms)
        extended = []
        for clause in clauses:
            if clause.source not in replaced_phrases:
                extended.append(clause)
            if clause.source in compound_after:
                extended.append(compound_after[clause.source])
        return extended

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
