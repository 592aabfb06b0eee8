"""Choose the translations that occur together in the collection that will be searched.

em(a, b) is Ballesteros and Croft's (SIGIR 1998), eq. 2.1 of Liu's thesis: how much more often than by chance two terms
share a window of text. Needs no parallel text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.types import Alternative, Query, Translation, Translator

if TYPE_CHECKING:
    import scipy.sparse as sp

Reals = npt.NDArray[np.float64]


class Cooccurrence:
    """Which windows of a collection each term is in, and how often it occurs."""

    def __init__(
        self,
        lang: str,
        terms: Sequence[str],
        occurrences: npt.ArrayLike,
        windows: sp.csr_matrix,
        *,
        chance_windows: float,
    ) -> None:
        """Keep counts of a collection, which `build` makes of its texts.

        :param lang: the language of the texts
        :param terms: the different terms
        :param occurrences: (terms,) how often each term occurs
        :param windows: (terms, windows) with 1 where a window has the term
        :param chance_windows: in how many windows terms may meet by chance, N of eq. 2.1
        """
        self.lang = lang
        self.terms = list(terms)
        self.occurrences = np.asarray(occurrences, np.int64)
        self.windows = windows
        self.chance_windows = chance_windows
        self._number_by_term = {term: i for i, term in enumerate(self.terms)}
        self._tokenize = analyzer(lang).terms

    @classmethod
    def build(cls, texts: Iterable[str], lang: str, *, window: int = 20, by_length: bool = False) -> Cooccurrence:
        """Count the terms of texts, and find which terms are in which window.

        Each text is cut into windows of `window` terms, the last of which may be shorter.

        :param window: the number of terms in a window
        :param by_length: how chance is estimated. The more windows there are, the fewer two terms share by chance.
            False counts the windows; True takes the length of all texts over that of a window, as Liu's thesis does,
            which is less where texts are shorter than a window
        """
        import scipy.sparse as sp

        terms, term_ids, window_ids, n_windows = _number_occurrences(texts, lang, window)
        ones = np.ones(len(term_ids), np.float32)
        windows = sp.csr_matrix((ones, (term_ids, window_ids)), shape=(len(terms), n_windows))
        windows.sum_duplicates()
        windows.data[:] = 1  # a term that is in a window twice counts once
        occurrences = np.bincount(term_ids, minlength=len(terms))
        chance_windows = len(term_ids) / window if by_length else n_windows
        return cls(lang, terms, occurrences, windows, chance_windows=chance_windows)

    def em(self, first: Sequence[str], second: Sequence[str]) -> Reals:
        """Compute how much more often than by chance words or phrases share a window of text (eq. 2.1 of Liu's thesis).

        :param first: words or phrases
        :param second: others, each of which is paired with each of the first
        :return: (first, second) the windows that both are in, less those to be expected by chance, relative to how
            often the two occur; 0 for pairs that share no more windows than by chance
        """
        first_counts, first_windows = self._find_texts(first)
        second_counts, second_windows = self._find_texts(second)
        shared_windows = np.asarray((first_windows @ second_windows.T).todense(), np.float64)
        by_chance = np.outer(first_counts, second_counts) / max(self.chance_windows, 1)
        total = np.maximum(first_counts[:, None] + second_counts[None, :], 1)
        association: Reals = np.maximum((shared_windows - by_chance) / total, 0)
        return association

    def _find_texts(self, texts: Sequence[str]) -> tuple[Reals, sp.csr_matrix]:
        """Return how often each text occurs, and a matrix (texts, windows) with 1 for each window that it is in."""
        import scipy.sparse as sp

        counts: list[float] = []
        rows = [sp.csr_matrix((0, self.windows.shape[1]), dtype=np.float32)]
        for text in texts:
            count, windows = self._find_text(text)
            counts.append(count)
            rows.append(windows)
        return np.array(counts, np.float64), sp.vstack(rows, format="csr")

    def _find_text(self, text: str) -> tuple[float, sp.csr_matrix]:
        """Return how often a word or phrase occurs, and a matrix (1, windows) with 1 for each window that it is in.

        A phrase occurs where all of its words share a window; a text with an unknown word never occurs.
        """
        import scipy.sparse as sp

        term_numbers = [self._number_by_term.get(term, -1) for term in self._tokenize(text)]
        if not term_numbers or -1 in term_numbers:
            return 0.0, sp.csr_matrix((1, self.windows.shape[1]), dtype=np.float32)
        first, *other_terms = term_numbers
        windows = self.windows[first]
        if not other_terms:
            return float(self.occurrences[first]), windows
        for number in other_terms:
            windows = windows.multiply(self.windows[number])
        return float(windows.sum()), windows


class _Occurrences(NamedTuple):
    """All occurrences of terms in a collection, text by text."""

    terms: list[str]  # the distinct terms
    term_ids: npt.NDArray[np.int64]  # (occurrences,) index of the term
    window_ids: npt.NDArray[np.int64]  # (occurrences,) number of the window
    n_windows: int


def _number_occurrences(texts: Iterable[str], lang: str, window: int) -> _Occurrences:
    """Tokenize texts, and number their distinct terms and their windows.

    :param window: the number of terms in a window; no window reaches over the end of a text
    """
    tokenize = analyzer(lang).terms
    number_by_term: dict[str, int] = {}
    term_ids: list[int] = []
    window_ids = [np.zeros(0, np.int64)]  # text by text
    n_windows = 0
    for text in texts:
        terms = tokenize(text)
        for term in terms:
            term_ids.append(number_by_term.setdefault(term, len(number_by_term)))
        window_ids.append(n_windows + np.arange(len(terms)) // window)
        n_windows += math.ceil(len(terms) / window)
    return _Occurrences(list(number_by_term), np.array(term_ids, np.int64), np.concatenate(window_ids), n_windows)


class DisambiguatingTranslator:
    """Wraps a Translator and keeps of each term's alternatives the one that goes best with those of its neighbours.

    The sum of em over neighbours is maximised over the whole query at once. A term whose alternatives never occur with
    those of its neighbours keeps them all.
    """

    def __init__(self, translator: Translator, count_cooccurrences: Callable[[str], Cooccurrence]) -> None:
        """Wrap a translator.

        :param count_cooccurrences: returns the counts of the texts in a language
        """
        self._translator = translator
        self._count_cooccurrences = count_cooccurrences

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        return self._translator.knows(source, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Translate a query, and keep of each term the alternative that occurs most with those of its neighbours.

        A term keeps all alternatives if the chosen one never occurs with those chosen for its neighbours.
        """
        clauses = self._translator.translate(query, to)
        if len(clauses) < 2:
            return clauses
        texts = [[alternative.text for alternative in clause.alternatives] for clause in clauses]
        cooccurrence = self._count_cooccurrences(to)
        links = [cooccurrence.em(first, second) for first, second in pairwise(texts)]
        path = best_path(links)
        disambiguated = []
        for clause, chosen, strength in zip(clauses, path, _sum_links(links, path), strict=True):
            if strength > 0:
                chosen_text = clause.alternatives[chosen].text
                disambiguated.append(clause._replace(alternatives=(Alternative(chosen_text, 1.0),)))
            else:
                disambiguated.append(clause)
        return disambiguated


def best_path(links: Sequence[Reals]) -> list[int]:
    """Choose one alternative per term so that the sum of the links between neighbours is highest (Viterbi's algorithm).

    :param links: for each two neighbouring terms a matrix (alternatives of the first, alternatives of the second)
    :return: the number of the alternative of each term; of equal ones the first
    """
    best_sums = np.zeros(links[0].shape[0])  # of paths that end in each alternative of the current term
    best_predecessors = []
    for link in links:
        sums = best_sums[:, None] + link
        best_predecessors.append(sums.argmax(axis=0))
        best_sums = sums.max(axis=0)
    path = [int(best_sums.argmax())]
    for predecessors in reversed(best_predecessors):
        path.append(int(predecessors[path[-1]]))
    return path[::-1]


def _sum_links(links: Sequence[Reals], path: Sequence[int]) -> list[float]:
    """Return for each term the sum of the links of its chosen alternative to those of the terms before and after it.

    :param links: as in `best_path`, whose result `path` is
    """
    strengths = [float(link[first, second]) for link, (first, second) in zip(links, pairwise(path), strict=True)]
    return [before + after for before, after in pairwise([0.0, *strengths, 0.0])]
