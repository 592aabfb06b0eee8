"""Choose among translations by what occurs together in the collection that will be searched.

em(a, b) is Ballesteros and Croft's (SIGIR 1998), eq. 2.1 of Liu's thesis: how much more often two terms share a
window of text than chance would have it. Needs no parallel text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

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
        number: float | None = None,
    ) -> None:
        self.lang = lang
        self.terms = list(terms)
        self.occurrences = np.asarray(occurrences, np.int64)
        self.windows = windows  # (terms, windows), 1 where a window has the term
        #: How many windows chance has: N of eq. 2.1.
        self.number = float(windows.shape[1]) if number is None else number
        self._index = {term: i for i, term in enumerate(self.terms)}
        self._cut = analyzer(lang).terms

    @classmethod
    def build(cls, texts: Iterable[str], lang: str, *, window: int = 20, by_length: bool = False) -> Cooccurrence:
        """Count a collection in windows of so many terms, side by side; a text ends its last window.

        N of eq. 2.1 is the number of these windows, or with `by_length` what the thesis has: the length of the
        collection over that of a window, which is less where texts are shorter than a window.
        """
        import scipy.sparse as sp

        cut = analyzer(lang).terms
        index: dict[str, int] = {}
        ids: list[int] = []
        owners: list[npt.NDArray[np.int64]] = []
        windows = 0
        for text in texts:
            terms = cut(text)
            ids += [index.setdefault(term, len(index)) for term in terms]
            owners.append(windows + np.arange(len(terms)) // window)
            windows += -(-len(terms) // window)
        owner = np.concatenate(owners) if owners else np.zeros(0, np.int64)
        matrix = sp.csr_matrix((np.ones(len(ids), np.float32), (ids, owner)), shape=(len(index), windows))
        matrix.sum_duplicates()
        occurrences = np.bincount(np.asarray(ids, np.int64), minlength=len(index))
        matrix.data[:] = 1
        return cls(lang, list(index), occurrences, matrix, number=len(ids) / window if by_length else None)

    def em(self, first: Sequence[str], second: Sequence[str]) -> Reals:
        """Eq. 2.1 for every pair of words or phrases; a phrase occurs where all of its words share a window."""
        n_a, rows_a = self._rows(first)
        n_b, rows_b = self._rows(second)
        n_ab = np.asarray((rows_a @ rows_b.T).todense(), np.float64)
        chance = np.outer(n_a, n_b) / max(self.number, 1)
        total = np.maximum(n_a[:, None] + n_b[None, :], 1)
        association: Reals = np.maximum((n_ab - chance) / total, 0)
        return association

    def _rows(self, texts: Sequence[str]) -> tuple[Reals, sp.csr_matrix]:
        """Return how often each text occurs, and a matrix (texts, windows) with 1 for each window that it is in."""
        import scipy.sparse as sp

        ids_by_text = [[self._index.get(term, -1) for term in self._cut(text)] for text in texts]
        phrases = [
            ids if ids and min(ids) >= 0 else [] for ids in ids_by_text
        ]  # a text with unknown terms never occurs
        if not any(phrases):
            return np.zeros(len(texts)), sp.csr_matrix((len(texts), self.windows.shape[1]), dtype=np.float32)
        first_terms = [ids[0] if ids else 0 for ids in phrases]
        rows = sp.diags([float(bool(ids)) for ids in phrases]) @ self.windows[first_terms]
        for position, ids in enumerate(phrases):
            for term_id in ids[1:]:
                common = rows[position].multiply(self.windows[term_id])
                rows = sp.vstack([rows[:position], common, rows[position + 1 :]], format="csr")
        window_counts = np.asarray(rows.sum(axis=1)).ravel()
        counts = [
            self.occurrences[ids[0]] if len(ids) == 1 else window_counts[position]
            for position, ids in enumerate(phrases)
        ]
        return np.array(counts, np.float64), rows


class DisambiguatingTranslator:
    """Wraps a Translator: of each term's alternatives keeps the one that goes best with those of its neighbours.

    The sum of em over neighbours is maximised over the whole query at once. A term that goes with none of its
    neighbours keeps every alternative: there is nothing to choose by. `together` is what was counted, or a function
    that says it of a language.
    """

    def __init__(self, translator: Translator, together: Cooccurrence | Callable[[str], Cooccurrence]) -> None:
        self._translator = translator
        self._together = together

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        return self._translator.knows(source, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Return the alternatives for each term of a query in another language."""
        clauses = self._translator.translate(query, to)
        if len(clauses) < 2:
            return clauses
        texts = [[alternative.text for alternative in clause.alternatives] for clause in clauses]
        together = self._together(to) if callable(self._together) else self._together
        links = [together.em(first, second) for first, second in pairwise(texts)]
        chosen = best_path(links)
        result = []
        for i, clause in enumerate(clauses):
            before = links[i - 1][chosen[i - 1], chosen[i]] if i else 0.0
            after = links[i][chosen[i], chosen[i + 1]] if i < len(links) else 0.0
            best = (Alternative(texts[i][chosen[i]], 1.0),)
            result.append(clause._replace(alternatives=best) if before + after > 0 else clause)
        return result


def best_path(links: Sequence[Reals]) -> list[int]:
    """One alternative per term so that the links along the way add up to the most; the earlier of equals."""
    reached = np.zeros(links[0].shape[0])
    back = []
    for link in links:
        through = reached[:, None] + link
        back.append(through.argmax(axis=0))
        reached = through.max(axis=0)
    path = [int(reached.argmax())]
    for step in reversed(back):
        path.append(int(step[path[-1]]))
    return path[::-1]
