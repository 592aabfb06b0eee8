"""BM25 written out plainly, document by document, to compare with."""

import math
import random
from collections import Counter, defaultdict

import pytest

from paragloss.analysis import analyzer
from paragloss.types import Document


def unstemmed_analyzer(lang):
    """Plain words, as they stand."""
    return analyzer(lang, stem=False, stop=False)


def field_text(document, field):
    return {"text": document.text, "title": document.title}.get(field) or document.fields.get(field, "")


class ReferenceBM25:
    """Scores with the statistics of each document's own language."""

    def __init__(self, documents, fields=("title", "text"), *, analyze=unstemmed_analyzer, k1=1.2, b=0.75):
        self.k1, self.b, self.fields = k1, b, fields
        self.documents = {d.id: d for d in documents}
        self.tf = {}
        self.df = defaultdict(Counter)
        self.lengths = defaultdict(list)
        for d in self.documents.values():
            for field in fields:
                terms = analyze(d.lang).terms(field_text(d, field))
                self.tf[d.id, field] = Counter(terms)
                if terms:
                    self.lengths[field, d.lang].append(len(terms))
                    self.df[field, d.lang].update(set(terms))

    def idf(self, field, lang, df):
        return math.log(1 + (len(self.lengths[field, lang]) - df + 0.5) / (df + 0.5))

    def saturate_tf(self, d, field, tf):
        lengths = self.lengths[field, d.lang]
        length = sum(self.tf[d.id, field].values())
        return tf / (tf + self.k1 * (1 - self.b + self.b * length / (sum(lengths) / len(lengths)))) if tf else 0.0

    def score(self, d, terms, weights):
        """`terms` maps the terms asked for to their weights."""
        return sum(
            w * weight * self.idf(f, d.lang, self.df[f, d.lang][t]) * self.saturate_tf(d, f, self.tf[d.id, f][t])
            for f, w in weights.items()
            for t, weight in terms.items()
        )

    def score_clause(self, d, shares, df, weights):
        """One term made of several: `df(field)` is its document frequency."""
        return sum(
            w
            * self.idf(f, d.lang, df(f))
            * self.saturate_tf(d, f, sum(p * self.tf[d.id, f][t] for t, p in shares.items()))
            for f, w in weights.items()
        )

    def rank_documents(self, score, lang):
        scored = [(id, score(d)) for id, d in self.documents.items() if d.lang == lang]
        return sorted([(id, s) for id, s in scored if s > 0], key=lambda pair: (-pair[1], pair[0]))


def make_random_documents(number: int, *, langs=("en", "de", "zh"), seed: int = 0) -> list[Document]:
    """Documents of words w0, w1, ... where small numbers are frequent; the languages share spellings."""
    rng = random.Random(seed)

    def words(max_words):
        return " ".join(f"w{min(int(rng.paretovariate(0.7)), 300)}" for _ in range(rng.randint(1, max_words)))

    return [Document(f"d{i}", words(80), rng.choice(langs), words(6) if i % 5 else "") for i in range(number)]


def assert_same_ranking(ranking, expected, k):
    """The same documents with the same scores; float32 may swap documents closer than that."""
    assert [score for _, score in ranking] == pytest.approx([score for _, score in expected[:k]], rel=2e-6)
    scores = dict(expected)
    assert [scores[id] for id, _ in ranking] == pytest.approx([score for _, score in ranking], rel=2e-6)
