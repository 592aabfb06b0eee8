"""Translated queries as structures: the alternatives of one source term make one clause. Three meanings of it:

- `Synonymous`: they count as one term, tf summed, df of their union (Pirkola, SIGIR 1998);
- `Probabilistic`: tf and df are sums weighted by translation probability (Darwish and Oard, SIGIR 2003, "PSQ");
- `Nested`: (a1 OR a2) AND (b1 OR b2): a document must match every clause; the score is the plain sum.

`lexical.Lexical` is the fourth: every alternative for itself, with its weight. None of them knows how a query
was translated. A query without clauses has one for each of its terms: the first two are then plain BM25.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from paragloss.analysis import analyzer
from paragloss.bm25 import Doubles, sparse
from paragloss.ranking import rank
from paragloss.statistics import Statistics
from paragloss.types import Analyzer, Hit, Query, Ranking, SparseVector, Store, Where

#: Candidates looked at closely for each query, or as many as are wanted. On held-out titles of two collections 100
#: gave the same reciprocal ranks as 1,000 at a fifth of the time.
CANDIDATES = 200


class Choice(NamedTuple):
    """One alternative of a clause: its words, all of which are meant, its weight, and that of its clause."""

    words: tuple[str, ...]
    weight: float
    clause: float = 1.0


class _Structured:
    def __init__(
        self,
        store: Store,
        statistics: Statistics,
        *,
        weights: Mapping[str, float] | None = None,
        candidates: int = CANDIDATES,
        proportional: bool = False,
        name: str = "terms",
        analyze: Callable[[str], Analyzer] = analyzer,
    ) -> None:
        layout = statistics.layout
        weights = dict.fromkeys(layout.fields, 1.0) if weights is None else dict(weights)
        self._weights = weights
        self._store = store
        self._statistics = statistics
        self._factors = np.zeros(len(layout.fields))
        for field, weight in weights.items():
            self._factors[layout.field(field)] = weight
        self._number = candidates
        self._proportional = proportional
        self._name = name
        self._analyze = analyze

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Ranking]:
        return [self._one(query, k, where) for query in queries]

    def _one(self, query: Query, k: int, where: Where | None) -> Ranking:
        raise NotImplementedError

    def clauses(self, query: Query) -> list[list[Choice]]:
        """Each source term's alternatives, cut into words; what is only stop words is left out."""
        terms = self._analyze(query.lang).terms
        if not query.clauses:
            return [[Choice((word,), 1.0)] for word in terms(query.text)]
        cut = [
            [Choice(a.terms or tuple(terms(a.text)), a.weight, clause.weight) for a in clause.alternatives]
            for clause in query.clauses
        ]
        kept = [[choice for choice in choices if choice.words] for choices in cut]
        return [choices for choices in kept if choices]

    def _candidates(self, vector: SparseVector, number: int, where: Where | None) -> Ranking:
        return self._store.search_sparse(self._name, [vector], number, where)[0] if len(vector.indices) else []

    def _vectors(self, ids: Sequence[str]) -> list[SparseVector]:
        nothing = SparseVector(np.zeros(0, np.uint32), np.zeros(0, np.float32))
        records = self._store.get(ids, vectors=[self._name])
        return [nothing if record is None else record.sparse.get(self._name, nothing) for record in records]


class _OneTerm(_Structured):
    """A clause is one term. Its tf is a weighted sum over alternatives, which a dot product can't saturate: a dot
    product that saturates each alternative by itself picks `candidates` documents, which are then scored exactly
    from their stored vectors. A document outside the candidates is missed; with one alternative to a clause both
    scores are the same and none is. `proportional` is as in `Lexical`."""

    def _shares(self, choices: Sequence[Choice]) -> dict[str, float]:
        raise NotImplementedError

    def _df(self, field: str, lang: str, shares: Mapping[str, float]) -> float:
        raise NotImplementedError

    def _one(self, query: Query, k: int, where: Where | None) -> Ranking:
        statistics, fields = self._statistics, self._statistics.layout.fields
        cut = self.clauses(query)
        clauses, importance = [self._shares(choices) for choices in cut], [choices[0].clause for choices in cut]
        gain = np.zeros((len(fields), len(clauses)))  # field weight times the clause's idf
        most = 0.0
        share: dict[int, Doubles] = {}  # term id -> how much of it counts for each clause
        of: dict[int, int] = {}  # term id -> field
        for f, field in enumerate(fields):
            for c, shares in enumerate(clauses):
                df = self._df(field, query.lang, shares)
                idf = self._factors[f] * importance[c] * float(statistics.idf(field, query.lang, df))
                most += idf * statistics.coverage(field, query.lang)  # of a clause without any document, too
                gain[f, c] = idf if df > 0 else 0.0
                ids = statistics.ids(field, query.lang, list(shares)).tolist()
                for id, value in zip(ids, shares.values(), strict=True):
                    share.setdefault(id, np.zeros(len(clauses)))[c] += value
                    of[id] = f
        linear = sparse({id: float(values @ gain[of[id]]) for id, values in share.items()})
        found = [hit.id for hit in self._candidates(linear, max(self._number, k), where)]
        if not found:
            return []
        scores = self._scores(query.lang, self._vectors(found), share, gain)
        if self._proportional:
            scores /= most
        return rank((Hit(id, score) for id, score in zip(found, scores.tolist(), strict=True) if score > 0), k)

    def _scores(
        self, lang: str, vectors: Sequence[SparseVector], share: Mapping[int, Doubles], gain: Doubles
    ) -> Doubles:
        statistics, layout = self._statistics, self._statistics.layout
        bags = layout.unpack(vectors)
        averages = np.array([statistics.average(field, lang) for field in layout.fields])
        norms = layout.norms(bags._replace(average=averages[bags.field]))  # (parts,)
        wanted = np.array(sorted(share), np.uint32)
        shares = np.array([share[id] for id in wanted.tolist()])  # (wanted, clauses)
        place = np.minimum(np.searchsorted(wanted, bags.ids), len(wanted) - 1)
        here = np.flatnonzero(wanted[place] == bags.ids)
        part = np.repeat(np.arange(len(bags.row)), bags.size)[here]
        tf = np.zeros((len(bags.row), gain.shape[1]))  # (parts, clauses)
        np.add.at(tf, part, bags.counts[here, None] * shares[place[here]])
        parts = (gain[bags.field] * tf / (tf + norms[:, None])).sum(axis=1)
        return np.asarray(np.bincount(bags.row, parts, bags.rows), np.float64)


class Synonymous(_OneTerm):
    """The alternatives of a clause count as one term, whatever their weights.

    The df of a union is estimated as if alternatives stood in documents independently of each other; it lies
    between the largest df and the sum, as the true one does.
    """

    def _shares(self, choices: Sequence[Choice]) -> dict[str, float]:
        return {word: 1.0 for choice in choices for word in choice.words}

    def _df(self, field: str, lang: str, shares: Mapping[str, float]) -> float:
        number = self._statistics.documents(field, lang)
        df = self._statistics.df(field, lang, list(shares))
        return float(number * (1 - np.prod(1 - df / number))) if number else 0.0


class Probabilistic(_OneTerm):
    """The weights of a clause's alternatives, made to sum to one, are the probabilities of its translations."""

    def _shares(self, choices: Sequence[Choice]) -> dict[str, float]:
        total = sum(choice.weight for choice in choices)
        shares: dict[str, float] = {}
        for choice in choices:
            for word in choice.words:
                shares[word] = shares.get(word, 0.0) + choice.weight / total / len(choice.words)
        return shares

    def _df(self, field: str, lang: str, shares: Mapping[str, float]) -> float:
        return float(self._statistics.df(field, lang, list(shares)) @ np.fromiter(shares.values(), float, len(shares)))


class Nested(_Structured):
    """Every clause must match, in any field; a phrase matches when all its words are there. Exact.

    The score is the plain sum of BM25 over all alternatives, whatever their weights; what was added to the query
    (clauses that are not `required`) need not match, and counts with its weight. It is a dot product, so
    what is wanted is a subsequence of the plain ranking: its head is gone through first. Where that does not hold k
    documents, all documents of the rarest clause are.
    """

    def _one(self, query: Query, k: int, where: Where | None) -> Ranking:
        statistics = self._statistics
        added = tuple(clause for clause in query.clauses if not clause.required)
        asked = query._replace(clauses=tuple(clause for clause in query.clauses if clause.required))
        clauses = self.clauses(asked if asked.clauses or not added else query)
        more = self.clauses(query._replace(clauses=added)) if added and asked.clauses else []
        words: dict[str, float] = {}
        plain = [choice._replace(weight=1.0) for choices in clauses for choice in choices]
        for choice in [*plain, *(choice for choices in more for choice in choices)]:
            for word in choice.words:
                words[word] = words.get(word, 0.0) + choice.clause * choice.weight / len(choice.words)
        weights = dict(zip(statistics.layout.fields, self._factors.tolist(), strict=True))
        linear = statistics.query(query.lang, words, {field: weight for field, weight in weights.items() if weight})
        needs = [[[self._anywhere(w, query.lang) for w in choice.words] for choice in choices] for choices in clauses]
        number = 10 * k + 100
        head = self._candidates(linear, number, where)
        matching = {id for id, _ in self._matching([hit.id for hit in head], needs)}
        found = [hit for hit in head if hit.id in matching]
        if len(found) >= k or len(head) < number:
            return found[:k]
        rarest, df = self._rarest(clauses, query.lang)
        ids = [hit.id for hit in self._candidates(rarest, df, where)]
        return rank((Hit(id, dot(linear, vector)) for id, vector in self._matching(ids, needs)), k)

    def _anywhere(self, word: str, lang: str) -> frozenset[int]:
        """The ids of a word in the fields that count."""
        fields = [field for field, w in zip(self._statistics.layout.fields, self._factors, strict=True) if w]
        return frozenset(int(self._statistics.ids(field, lang, [word])[0]) for field in fields)

    def _matching(
        self, ids: Sequence[str], needs: Sequence[Sequence[Sequence[frozenset[int]]]]
    ) -> Iterator[tuple[str, SparseVector]]:
        """Documents that hold all the words of some alternative of every clause."""
        for start in range(0, len(ids), CANDIDATES):
            some = ids[start : start + CANDIDATES]
            for id, vector in zip(some, self._vectors(some), strict=True):
                here = set(vector.indices.tolist())
                if all(any(all(word & here for word in choice) for choice in choices) for choices in needs):
                    yield id, vector

    def _rarest(self, clauses: Sequence[Sequence[Choice]], lang: str) -> tuple[SparseVector, int]:
        """The clause with the fewest documents, as a question for all of them, and how many there may be."""
        questions = []
        for choices in clauses:
            words = {word for choice in choices for word in choice.words}
            ids = sorted(frozenset[int]().union(*(self._anywhere(word, lang) for word in words)))
            questions.append((sparse(dict.fromkeys(ids, 1.0)), int(self._statistics.df_of(ids).sum())))
        return min(questions, key=lambda question: question[1])


def dot(one: SparseVector, other: SparseVector) -> float:
    _, here, there = np.intersect1d(one.indices, other.indices, assume_unique=True, return_indices=True)
    return float(one.values[here].astype(np.float64) @ other.values[there].astype(np.float64))
