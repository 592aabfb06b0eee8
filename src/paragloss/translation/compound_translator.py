"""Compounds of a query's neighbouring words: "line spacing" is Zeilenabstand where words are written together. Which
compounds there are is not known here: whoever holds the documents says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.translation.combined import translate_many
from paragloss.translation.compounds import COMPOUND_LINKERS, join_words
from paragloss.types import Alternative, Query, Translation, Translator

#: Translations of a word that are tried as a part of a compound, and what a compound counts beside its parts. Chosen on
#: titles of two manuals (docs/understand/log-translation.md).
_TRIED, _WEIGHT = 5, 0.7
#: Who a compound is from, where a search says why it found a document.
ORIGIN = "compound"


class CompoundTranslator:
    """Wraps a Translator: beside two neighbours' clauses stands one with the compounds that their translations make, in
    either order, of which `held`, given a language and terms, says that documents hold them."""

    def __init__(self, translator: Translator, held: Callable[[str, Sequence[str]], npt.ArrayLike]) -> None:
        self._translator, self._held = translator, held

    def knows(self, source: str, target: str) -> bool:
        return self._translator.knows(source, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        return self._beside(self._translator.translate(query, to), query.lang, to)

    def translate_many(self, query: Query, targets: Sequence[str]) -> Mapping[str, list[Translation]]:
        found = translate_many(self._translator, query, targets)
        return {lang: self._beside(clauses, query.lang, lang) for lang, clauses in found.items()}

    def _beside(self, clauses: list[Translation], source: str, to: str) -> list[Translation]:
        if to not in COMPOUND_LINKERS or source == to:
            return clauses
        known = {clause.source: clause for clause in clauses if " " in clause.source}
        words = [clause for clause in clauses if clause.source not in known]
        after: dict[str, Translation] = {}
        for first, second in pairwise(words):
            phrase = f"{first.source} {second.source}"
            held = self._compounds(first, second, to)
            if phrase in known:  # whoever gave it knew its words as well, and not whether documents hold it
                held += [term for one in known.pop(phrase).alternatives for term in one.terms if term not in held]
            if held:
                made = tuple(Alternative(term, 1 / len(held), (term,)) for term in held)
                after[second.source] = Translation(phrase, made, _WEIGHT, origins=((ORIGIN, 1.0, made),))
        kept = [clause for clause in clauses if " " not in clause.source or clause.source in known]
        return [one for clause in kept for one in (clause, after.get(clause.source)) if one is not None]

    def _compounds(self, first: Translation, second: Translation, to: str) -> list[str]:
        one, other = (list(dict.fromkeys(_words(clause)))[:_TRIED] for clause in (first, second))
        most = len(COMPOUND_LINKERS[to])
        made = join_words(one, other, to, max_linkers=most) + join_words(other, one, to, max_linkers=most)
        terms = list(dict.fromkeys(analyzer(to).terms(" ".join(made))))
        return [term for term, number in zip(terms, np.asarray(self._held(to, terms)), strict=True) if number]


def _words(clause: Translation) -> list[str]:
    return [alternative.text.lower() for alternative in clause.alternatives if alternative.text.isalpha()]
