"""Translation by nearest words in a space that two languages share, with the rest of the query as context.

Eq. 5.2 of Liu's thesis: score(q_i, t) = major * cos(q_i, t) + context * sum over j != i of cos(q_j, t). Knows nothing
of how the space was learned: any model with word vectors in it will do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from paragloss.analysis import analyzer
from paragloss.errors import LanguageError
from paragloss.ranking import neighbourhood
from paragloss.types import Alternative, Floats, Query, Translation


class Space(Protocol):
    """Word vectors of several languages; a BagEncoder is one."""

    @property
    def langs(self) -> tuple[str, ...]: ...

    def tower(self, lang: str) -> Any:
        """Something with a `vocabulary`: terms, most frequent first, and how text is cut into them (`stem`)."""
        ...

    def words(self, lang: str) -> Floats:
        """One row per term of the vocabulary."""
        ...


class _Side(NamedTuple):
    """The words of one language that may be answers, and those that may be asked."""

    ids: dict[str, int]
    rows: Floats  # (terms, dim), unit or zero
    stem: bool
    written: list[str]  # what stands for a term in a query; "" where nothing does
    answers: Floats  # (answers, dim): rows of the first terms that can be written
    answer_ids: np.ndarray[Any, np.dtype[np.int64]]


class EmbeddingTranslator:
    """A Translator: the `top` nearest words of the other language for each word of the query.

    Answers come from the `limit` most frequent words. With `csls` a word near everything is held back (Conneau et
    al., 2018). A model may know stems only; an answer has to be text that is cut into that very stem, so a stem
    that is no such text itself needs a spelling in `written` ({lang: {term: text}}) or is passed over.
    """

    def __init__(
        self,
        space: Space,
        *,
        top: int = 3,
        major: float = 1.0,
        context: float = 0.1,
        limit: int = 50_000,
        csls: bool = False,
        written: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self._space = space
        self.top, self.major, self.context, self.limit, self.csls = top, major, context, limit, csls
        self._written = written or {}
        self._sides: dict[str, _Side] = {}
        self._hubness: dict[tuple[str, str], Floats] = {}

    def knows(self, source: str, target: str) -> bool:
        return {source, target} <= set(self._space.langs)

    def translate(self, query: Query, to: str) -> list[Translation]:
        for lang in (query.lang, to):
            if lang not in self._space.langs:
                raise LanguageError(f"this model does not know {lang!r}; it knows {', '.join(self._space.langs)}")
        source, target = self._side(query.lang), self._side(to)
        spans = analyzer(query.lang).spans(query.text)  # stop words are not worth translating, whatever the model knows
        ids = [source.ids.get(span.term if source.stem else _plain(query, span.start, span.end)) for span in spans]
        known = [i for i in ids if i is not None]
        found = iter(self._nearest(source.rows[known], query.lang, to) if known and len(target.answers) else [])
        translations = []
        for span, i in zip(spans, ids, strict=True):
            word = query.text[span.start : span.end]
            near = next(found, ()) if i is not None else ()
            translations.append(Translation(word, near or (Alternative(word, 1.0),)))
        return translations

    def _nearest(self, rows: Floats, source: str, to: str) -> list[tuple[Alternative, ...]]:
        """Eq. 5.2 for all words of a query at once."""
        target = self._side(to)
        cosine = (target.answers @ rows.T).T  # (words, answers); this way round the answers are read once, in order
        if self.csls:
            cosine = 2 * cosine - self._hubs(source, to)
        scores = (self.major - self.context) * cosine + self.context * cosine.sum(axis=0)
        top = min(self.top, scores.shape[1])
        found = []
        for line in scores:
            best = np.argpartition(line, -top)[-top:]
            best = best[np.lexsort((best, -line[best]))]
            shares = np.maximum(line[best], 1e-6)
            texts = (target.written[target.answer_ids[i]] for i in best)
            found.append(
                tuple(Alternative(text, float(w)) for text, w in zip(texts, shares / shares.sum(), strict=True))
            )
        return found

    def _side(self, lang: str) -> _Side:
        if lang not in self._sides:
            vocabulary, rows = self._space.tower(lang).vocabulary, self._space.words(lang)
            norms = np.linalg.norm(rows, axis=1, keepdims=True)
            rows = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
            written = _written(vocabulary, lang, self._written.get(lang, {}), self.limit)
            ids = np.array([i for i, text in enumerate(written) if text and norms[i, 0] > 0], np.int64)
            self._sides[lang] = _Side(vocabulary.index, rows, vocabulary.stem, written, rows[ids], ids)
        return self._sides[lang]

    def _hubs(self, source: str, to: str) -> Floats:
        """Each answer's mean likeness to its ten nearest source words."""
        if (source, to) not in self._hubness:
            asked = self._side(source).rows[: min(self.limit, 10_000)]
            self._hubness[source, to] = neighbourhood(self._side(to).answers, asked)
        return self._hubness[source, to]


def _plain(query: Query, start: int, end: int) -> str:
    terms = analyzer(query.lang, stem=False, stop=False).terms(query.text[start:end])
    return terms[0] if terms else ""


def _written(vocabulary: Any, lang: str, spelled: Mapping[str, str], limit: int) -> list[str]:
    """For each of the first terms a text that a searcher will cut into what the term stands for, or ""."""
    texts = []
    for term in vocabulary.terms[:limit]:
        # Beside another word a stop word is dropped; alone it would pass for a word.
        cuts = ((text, analyzer(lang).terms(f"{text} 0")[:-1]) for text in (spelled.get(term, ""), term) if text)
        good = (text for text, terms in cuts if (terms == [term] if vocabulary.stem else len(terms) == 1))
        texts.append(next(good, ""))
    return texts
