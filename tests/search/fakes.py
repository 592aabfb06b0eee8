"""Small stand-ins for searchers, translators, rerankers and a store's other writers, so that each can be seen alone."""

import numpy as np

from paragloss.errors import StoreError
from paragloss.types import Alternative, Document, Hit, Query, Translation


class Listed:
    """Finds what it was told to, in the order and with the scores it was told; remembers what it was asked."""

    def __init__(self, **scores):
        self.scores, self.asked = scores, []

    def search(self, queries, k, where=None):
        self.asked.append((list(queries), k, where))
        ranking = sorted((Hit(i, s) for i, s in self.scores.items()), key=lambda h: (-h.score, h.id))
        return [ranking[:k] for _ in queries]


class WordForWord:
    def __init__(self, words):
        self.words = words

    def translate(self, query: Query, to: str):
        return [
            Translation(word, tuple(Alternative(*pair) for pair in self.words[word])) for word in query.text.split()
        ]


class Shortest:
    """Likes short documents."""

    def score(self, query, documents):
        return np.array([-len(d.text) for d in documents], np.float32)


def document(name, text=""):
    return Document(name, text, "en")


class Process:
    """What one of several processes sees of a collection: a folder's store, and the lease that a server keeps."""

    many_writers = True

    def __init__(self, store, lease):
        self._store, self._lease = store, lease

    def __getattr__(self, name):
        return getattr(self._store, name)

    def claim(self):
        if self._lease.setdefault("holder", self) is not self:
            raise StoreError("another process has the lease")

    def claimed(self):
        return self._lease.get("holder", self) is not self

    def release(self):
        if self._lease.get("holder") is self:
            del self._lease["holder"]

    def version(self, name):
        return self._store.blobs().get(name)

    def delete_blob(self, name):
        (self._store.path / "blobs" / name).unlink(missing_ok=True)
