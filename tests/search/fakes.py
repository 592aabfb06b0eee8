"""Small stand-ins for searchers, translators and rerankers, so that each can be seen alone."""

import numpy as np

from paragloss.types import Alternative, Hit, Query, RankedList, Translation


class FixedSearcher:
    """Finds what it was told to, in the order and with the scores it was told; remembers what it was asked."""

    def __init__(self, **scores):
        self.scores, self.requests = scores, []

    def search(self, queries, k, where=None):
        self.requests.append((list(queries), k, where))
        ranking = sorted((Hit(i, s) for i, s in self.scores.items()), key=lambda h: (-h.score, h.id))
        return [RankedList(tuple(ranking[:k]), name="listed") for _ in queries]

    def max_score(self, lang):
        return 1.0


class WordTranslator:
    def __init__(self, words):
        self.words = words

    def knows(self, source, target):
        return True

    def translate(self, query: Query, to: str):
        return [
            Translation(word, tuple(Alternative(*pair) for pair in self.words[word])) for word in query.text.split()
        ]


class ShortestFirst:
    """Likes short documents."""

    def score(self, query, documents):
        return np.array([-len(d.text) for d in documents], np.float32)
