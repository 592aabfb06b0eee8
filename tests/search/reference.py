"""BM25 written out plainly, document by document, to compare with."""

import math
from collections import Counter, defaultdict

from paragloss.analysis import analyzer


def Words(lang):
    """Plain words, as they stand."""
    return analyzer(lang, stem=False, stop=False)


def text_of(document, field):
    return {"text": document.text, "title": document.title}.get(field) or document.fields.get(field, "")


class Plain:
    """Scores with the statistics of each document's own language."""

    def __init__(self, documents, fields=("title", "text"), *, analyze=Words, k1=1.2, b=0.75):
        self.k1, self.b, self.fields = k1, b, fields
        self.documents = {d.id: d for d in documents}
        self.tf = {}
        self.df = defaultdict(Counter)
        self.lengths = defaultdict(list)
        for d in self.documents.values():
            for field in fields:
                terms = analyze(d.lang).terms(text_of(d, field))
                self.tf[d.id, field] = Counter(terms)
                if terms:
                    self.lengths[field, d.lang].append(len(terms))
                    self.df[field, d.lang].update(set(terms))

    def idf(self, field, lang, df):
        return math.log(1 + (len(self.lengths[field, lang]) - df + 0.5) / (df + 0.5))

    def saturated(self, d, field, tf):
        lengths = self.lengths[field, d.lang]
        length = sum(self.tf[d.id, field].values())
        return tf / (tf + self.k1 * (1 - self.b + self.b * length / (sum(lengths) / len(lengths)))) if tf else 0.0

    def score(self, d, terms, weights):
        """`terms` maps the terms asked for to their weights."""
        return sum(
            w * weight * self.idf(f, d.lang, self.df[f, d.lang][t]) * self.saturated(d, f, self.tf[d.id, f][t])
            for f, w in weights.items()
            for t, weight in terms.items()
        )

    def clause(self, d, shares, df, weights):
        """One term made of several: `df(field)` is its document frequency."""
        return sum(
            w
            * self.idf(f, d.lang, df(f))
            * self.saturated(d, f, sum(p * self.tf[d.id, f][t] for t, p in shares.items()))
            for f, w in weights.items()
        )

    def ranking(self, score, lang):
        scored = [(id, score(d)) for id, d in self.documents.items() if d.lang == lang]
        return sorted([(id, s) for id, s in scored if s > 0], key=lambda pair: (-pair[1], pair[0]))
