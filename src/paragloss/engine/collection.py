"""Opens a collection; text in, titled snippets out. The one object the command line and the server hold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from paragloss import artefacts, languages
from paragloss.engine import alarms, keeping, reasons, translating
from paragloss.engine.alarms import Understood
from paragloss.engine.catching_up import best_passages, catch_up, kept, slow
from paragloss.engine.encoding import encoded, storing
from paragloss.engine.files import documents_of
from paragloss.engine.loading import about, load, name_of
from paragloss.engine.showing import Result, Said, result
from paragloss.engine.tracking import Tracker
from paragloss.engine.understanding import DOUBT, Guess, checked, expected, guesses, with_languages
from paragloss.errors import InputError, ParaglossError, StoreError
from paragloss.formats.text import OnError
from paragloss.gloss import gloss
from paragloss.search import calibrated, explaining
from paragloss.search import pipeline as pipelines
from paragloss.search.calibrated import DEPTH
from paragloss.search.fields import FIELDS, translation
from paragloss.search.terms import NAME, TermIndex
from paragloss.serving.bag import BagEncoder
from paragloss.statistics import DRIFT
from paragloss.stores import create_store, exists, open_store, shelf
from paragloss.translation import default as default_model
from paragloss.translation.embedding import Embedding
from paragloss.translation.glossary import Pair, Pairs, corrected
from paragloss.types import Document, Encoder, Query, Ranking, Record, Searcher, Translator, Where

if TYPE_CHECKING:
    from paragloss.stores import AnyStore

_GLOSSARY, _GRAPH = "glossary", "graph"
#: Says that a collection is searched without the default model.
_DEFAULT, _LEFT_OUT = "default", b"left out"
#: Documents handed to the store at once: large enough to vectorise, small enough to lose little time in a crash.
BATCH = 1000
#: Documents handed to the store at once while others search: nobody waits longer than for these.
SMALL = 50
#: Up to so many documents comparing with all of them takes a few milliseconds, is exact, and saves building a graph,
#: which takes longer than everything else in indexing.
_MANY = 50_000
#: Up to so many documents weights are kept exact after every call of `index`, however little it adds.
_FEW = 20_000


#: So many characters of a text tell its language.
_TELLING = 1500


class Answer(NamedTuple):
    """What was understood and what was found."""

    query: Query
    results: list[Result]
    #: Other languages the query may have been in, likeliest first; they were searched as well.
    others: tuple[str, ...] = ()
    #: How many words the query has, and which of them nobody understood.
    understood: Understood = Understood(0, ())

    def as_json(self) -> dict[str, Any]:
        words = {"words": self.understood.words, "unknown": list(self.understood.unknown)}
        return {
            "query": {"text": self.query.text, "lang": self.query.lang, "others": list(self.others), **words},
            "results": [{**result._asdict(), "meta": dict(result.meta)} for result in self.results],
        }


class Done(NamedTuple):
    """What became of a reading of files: documents read, files that had not changed, documents removed."""

    read: int
    unchanged: int
    removed: int


class Engine:
    """A collection and the models it is searched with. Use it in a `with` block, or close it."""

    def __init__(self, location: str, store: AnyStore, index: TermIndex, *, default: bool = True) -> None:
        self.location = location
        self._store = store
        self._index = index
        self._models = {name: load(shelf.kept(store, name)) for name, k in keeping.kept(store).items() if k.ready}
        self._nearest: dict[str, tuple[BagEncoder, Embedding]] = {}  # encoders as translators, made when needed
        self._default = default_model.open() if default and store.read_blob(_DEFAULT) != _LEFT_OUT else None
        self._glossary = Pairs.from_text((store.read_blob(_GLOSSARY) or b"").decode())
        self._machine = translating.read(store)
        self._memory: dict[Hashable, Any] = {}  # what pipelines made for the documents as they are

    @classmethod
    def create(
        cls,
        location: str,
        *,
        models: Sequence[str] = (),
        default: bool = True,
        precision: str = "float32",
        machine: str = "",
        translate_to: str = "",
    ) -> Engine:
        """Start a collection searched with the default model, unless that is to be left out of it, and with some
        trained models, which are copied into it. `precision` says how finely the vectors of pretrained encoders are
        kept: float32, float16, int8 or binary. `machine` is the translation engine that `mt` in a pipeline means; with
        `translate_to` it also translates documents into that language."""
        translator = translating.checked(machine, translate_to)
        loaded = {name_of(path): load(path) for path in models}
        store = create_store(
            location,
            dense={name: storing(m).dim for name, m in loaded.items() if isinstance(m, Encoder)},
            sparse=[NAME],
            several=list(slow(loaded)),
            precision=dict.fromkeys(slow(loaded), precision),
        )
        try:
            more = [translation(translator.to)] if translator.to else []
            index = TermIndex.build(store, fields=[*FIELDS, *more])
            if translator.engine:
                translating.write(store, translator)
            for path in models:
                keeping.add(store, path, loaded[name_of(path)], precision=precision)
            if not default:
                store.write_blob(_DEFAULT, _LEFT_OUT)
            return cls(location, store, index)
        except BaseException:
            store.close()
            raise

    @classmethod
    def open(cls, location: str, *, default: bool = True) -> Engine:
        """Open a collection; without `default`, leave the default model out this time."""
        store = open_store(location)
        try:
            return cls(location, store, TermIndex.open_or_build(store), default=default)
        except BaseException:
            store.close()
            raise

    @classmethod
    def open_or_create(
        cls,
        location: str,
        *,
        models: Sequence[str] = (),
        default: bool = True,
        precision: str = "float32",
        machine: str = "",
        translate_to: str = "",
    ) -> Engine:
        """Open a collection, adding models it does not have yet; or start one."""
        if not exists(location):
            return cls.create(
                location,
                models=models,
                default=default,
                precision=precision,
                machine=machine,
                translate_to=translate_to,
            )
        engine = cls.open(location, default=default)
        try:
            engine._use_machine(machine, translate_to)
            for path in models:
                engine.add_model(path, precision=precision)
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
        encoding: Callable[[int, int], None] | None = None,
    ) -> int:
        """Add or replace documents; how many. Each batch is safe on disk before the next is read.

        A document that does not say its language gets `lang`, or the one it seems to be written in. Pretrained encoders
        come last, when all documents can be found by their words: `encoding` is told how many of how many they have
        read. Indexing the same documents again goes on where it was stopped.
        """
        if isinstance(documents, Document | Mapping | str):
            raise InputError(f"index takes several documents, got one {type(documents).__name__}: put it in a list")
        done = 0
        warned: set[str] = set()
        self._memory.clear()
        try:
            for batch in _batches(documents, BATCH):
                ready = translating.translated(with_languages(batch, lang), self._machine, self._store)
                old = kept(self._store, list(slow(self._models)), ready)
                self._index.add(ready, encoded(self._models, ready) | old)
                done += len(ready)
                self._warn(ready, warned)
                if progress:
                    progress(done)
        finally:
            total = self.count()
            # Exact weights cost a pass over all documents: they must be few, or many of them new.
            self._index.refresh(tolerance=0.0 if total <= max(_FEW, 20 * done) else DRIFT)
            self._index.commit()
        for name, model in slow(self._models).items():
            catch_up(self._store, name, model, progress=encoding)
        self._build_graph(total)
        return done

    def _warn(self, documents: Sequence[Document], warned: set[str]) -> None:
        """Say once of a language that its documents are hardly in it."""
        if self._default is not None:
            for lang, message in alarms.strangers(
                [d for d in documents if d.lang not in warned], self._default
            ).items():
                warned.add(lang)
                warnings.warn(f"{message}: is that their language?", stacklevel=3)

    def _use_machine(self, machine: str, translate_to: str) -> None:
        """Take another translation engine; what documents are translated into stays what it was at the beginning."""
        if not machine and not translate_to:
            return
        wanted = translating.checked(machine or self._machine.engine, translate_to or self._machine.to)
        if wanted.to != self._machine.to:
            have = f"translates into {self._machine.to!r}" if self._machine.to else "does not translate its documents"
            raise StoreError(f"{self.location} {have}: make a new collection to translate into {wanted.to!r}")
        if wanted != self._machine:
            translating.write(self._store, wanted)
            self._machine = wanted

    def _build_graph(self, total: int) -> None:
        """Where comparing with every document has become slow; again when a tenth has been added since."""
        built = int(self._store.read_blob(_GRAPH) or b"0")
        if total > _MANY and total > 1.1 * built:
            self._store.optimize()
            self._store.write_blob(_GRAPH, str(total).encode())

    def index_files(
        self,
        paths: Sequence[str],
        *,
        lang: str | None = None,
        again: bool = False,
        prune: bool = False,
        on_error: OnError = None,
        progress: Callable[[int], None] | None = None,
        encoding: Callable[[int, int], None] | None = None,
    ) -> Done:
        """Read files and folders into the collection: those that are new or have changed since, or all of them
        `again`. `prune` removes documents whose file is gone, or no longer holds them."""
        tracker = Tracker(self._store, lang=lang or "", again=again)

        def safe(done: int) -> None:
            tracker.safe(done)
            if progress:
                progress(done)

        documents = tracker.follow(self.read(paths, on_error=on_error, wanted=tracker.wanted))
        read = self.index(documents, lang=lang, progress=safe, encoding=encoding)
        tracker.safe(read)
        tracker.note()
        removed = tracker.prune(paths, self.delete) if prune else 0
        if removed:
            self._index.commit()
        return Done(read, tracker.unchanged, removed)

    def add(self, documents: Sequence[Document], *, lang: str | None = None) -> int:
        """Add or replace a few documents of a collection that is being searched; how many. They are safe on disk on
        return. Unlike `index` it leaves the work that makes everybody wait (exact averages, graphs) for later."""
        self._memory.clear()
        for batch in _batches(documents, SMALL):
            ready = translating.translated(with_languages(batch, lang), self._machine, self._store)
            self._index.add(ready, encoded(self._models, ready))
        return len(documents)

    def delete(self, ids: Sequence[str]) -> int:
        self._memory.clear()
        return self._index.delete(ids)

    def write_glossary(self, pairs: Iterable[Pair]) -> int:
        """Replace the reader's own glossary; it counts from the next query on. How many pairs it has."""
        glossary = Pairs(pairs)
        self._store.write_blob(_GLOSSARY, glossary.to_text().encode())
        self._glossary = glossary
        return len(glossary.pairs)

    def add_model(self, path: str, *, precision: str = "float32") -> bool:
        """Search with one more model, or with a new one in place of the one of its name: it is copied into the
        collection and every document is encoded with it, with a pretrained one at the next `index`. False when it is
        there already."""
        name, model = name_of(path), load(path)
        added = keeping.add(self._store, path, model, precision=precision)
        self._models[name] = model
        return added

    def remove_model(self, name: str) -> None:
        """Search without a model from now on."""
        if name not in keeping.kept(self._store):
            have = ", ".join(keeping.kept(self._store)) or "none"
            raise InputError(f"this collection has no model {name!r}; it has {have}")
        self._models.pop(name, None)
        keeping.remove(self._store, name)

    # Reading

    def read(
        self, paths: Sequence[str], *, on_error: OnError = None, wanted: Callable[[Path], bool] | None = None
    ) -> Iterator[Document]:
        """Documents of files and folders, to be indexed: each file has the id it had the first time. `wanted` is asked
        before a file is read."""
        return documents_of(self._store, paths, on_error, wanted)

    def documents(self, *, where: Where | None = None, k: int | None = None) -> Iterator[Document]:
        """Documents in no particular order, at most `k`."""
        return islice((record.document for records in self._store.scroll(where) for record in records), k)

    @property
    def glossary(self) -> list[Pair]:
        """The reader's own words, as they were written."""
        return list(self._glossary.pairs)

    def get(self, ids: Sequence[str]) -> list[Document | None]:
        """Documents by id, None where there is none."""
        return [record.document if record else None for record in self._store.get(ids)]

    def sample(self, most: int) -> Iterator[Record]:
        """Up to so many documents with their vectors. Their order has nothing to do with what they say: the first
        are as good as any."""
        return islice((record for some in self._store.scroll(batch=200, vectors=True) for record in some), most)

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
        self._index.catch_up()
        query, shares = self._understood(Query("", text, lang or ""))
        ranking = self._ranked([(query, shares)], k=k, to=to, pipeline=pipeline, where=where)[0]
        documents = self._documents([hit.id for hit in ranking])
        parts = self._parts()
        targets = [languages.normalise(lang) for lang in to] if to is not None else list(self.langs)
        best = pipelines.attainable(parts, pipeline, source=query.lang, targets=targets)
        models = {**self._models, **parts.translators}
        passages = best_passages(self._store, self._models, query, documents)
        results, said = [], Said(query, models)
        for document, hit in zip(documents, ranking, strict=True):
            fit = hit.score / (best.get(document.lang) or max(ranking[0].score, 1e-9))
            results.append(result(said, document, hit.score, fit, passage=passages.get(document.id)))
        words = alarms.understood(query, parts.translators.values(), self._index.statistics, targets)
        return Answer(query, results, tuple(guess.lang for guess in shares[1:]), words)

    def guesses(self, text: str) -> list[Guess]:
        """The languages a query may be in, likeliest first, with how likely each is."""
        return guesses(text, self._index.statistics, {**self._translators(), **self._models})

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
        self._index.catch_up()
        return self._ranked([self._understood(query) for query in queries], k=k, to=to, pipeline=pipeline, where=where)

    def _ranked(
        self,
        asked: Sequence[tuple[Query, Sequence[Guess]]],
        *,
        k: int,
        to: Sequence[str] | None,
        pipeline: str | None,
        where: Where | None,
    ) -> list[Ranking]:
        """A query that may be in one of several languages is searched in each, and a document has the score it is to
        be expected to have."""
        targets = self._targets(to)
        if to is not None:
            where = {**(where or {}), "lang": targets}
        found: list[list[tuple[float, Ranking]]] = [[] for _ in asked]
        for source in dict.fromkeys(guess.lang for _, shares in asked for guess in shares):
            which = [(i, g.share) for i, (_, shares) in enumerate(asked) for g in shares if g.lang == source]
            searcher = self._searcher(pipeline, source, targets)
            queries = [asked[i][0]._replace(lang=source) for i, _ in which]
            for (i, share), ranking in zip(which, searcher.search(queries, k, where), strict=True):
                found[i].append((share, ranking))
        return [rankings[0][1] if len(rankings) == 1 else expected(rankings, k) for rankings in found]

    def gloss(self, text: str, *, lang: str | None = None, to: str, asked: str = "") -> dict[str, Any]:
        """What the words of a text mean, by everything here that translates or has words of both languages near;
        `asked` is what the reader was looking for."""
        target = languages.normalise(to)
        source = languages.normalise(lang) if lang else self.guesses(text[:_TELLING])[0].lang
        sources = self._explaining() if source != target else {}
        return gloss(text, source, target, sources, asked=asked).as_json()

    def why(self, query: Query, id: str) -> dict[str, Any]:
        """Which words of a query met which of a document, through what, and how much of the score that carried."""
        query, _ = self._understood(query)
        document = self.get([id])[0]
        if document is None:
            raise InputError(f"no document {id!r} in this collection: give the id of one that was found")
        parts, said = self._parts(), {}
        for name, (words, weight) in pipelines.kinds(parts, source=query.lang, targets=self.langs).items():
            ranking = self.rank([query], k=DEPTH, to=[document.lang], pipeline=name)[0]
            found = calibrated.shares(ranking) if words else calibrated.ways([ranking])[0]
            said[name] = words, weight * found.get(id, 0.0)
        score = next((hit.score for hit in self.rank([query], k=DEPTH)[0] if hit.id == id), 0.0)
        scores = calibrated.contributions(said, score)
        return {
            "query": {"text": query.text, "lang": query.lang},
            "id": id,
            "score": sum(scores.values()),
            "parts": reasons.why(query, document, scores, parts),
        }

    def info(self) -> dict[str, Any]:
        """What the collection holds, for people."""
        parts = self._parts()
        return {
            "collection": self.location,
            "documents": self.count(),
            "languages": {lang: self.count({"lang": [lang]}) for lang in self.langs},
            "fields": self._fields(),
            "default model": self._about_default(),
            "unknown words": self._unknown_words(),
            "models": {
                name: about(self._models[name]) if name in self._models else "unfinished: add it again"
                for name in keeping.kept(self._store)
            },
            "pipelines": [*parts.names, *(f"...>{name}" for name in parts.rerankers)],
            "options": pipelines.sayable(parts),
        }

    def explain(
        self, text: str = "", *, lang: str | None = None, to: Sequence[str] | None = None, pipeline: str | None = None
    ) -> str:
        """The searchers that a pipeline nests for this collection and, with a query, how it is understood."""
        query = self._understood(Query("", text, lang or ""))[0] if text.strip() else None
        source = query.lang if query else languages.normalise(lang) if lang else next(iter(self.langs), "en")
        searcher = self._searcher(pipeline, source, self._targets(to))
        lines = [explaining.tree(searcher)]
        return "\n\n".join([*lines, explaining.understood(searcher, query)] if query else lines)

    # What those need

    def _searcher(self, pipeline: str | None, source: str, targets: Sequence[str]) -> Searcher:
        return pipelines.build(self._parts(), pipeline, source=source, targets=targets)

    def _targets(self, to: Sequence[str] | None) -> list[str]:
        if isinstance(to, str):
            raise InputError(f"`to` takes a list of languages, got {to!r}: write to=[{to!r}]")
        return [languages.normalise(lang) for lang in to] if to is not None else list(self.langs)

    def _fields(self) -> dict[str, int]:
        """The fields that documents have, and how many have each."""
        statistics = self._index.statistics
        counts = {f: sum(statistics.documents(f, lang) for lang in self.langs) for f in statistics.layout.fields}
        return {field: count for field, count in counts.items() if count}

    def _understood(self, query: Query) -> tuple[Query, list[Guess]]:
        """The query with its language, and which it may be in: as said, or found out, with doubt more than one."""
        query = checked(query)
        if query.lang:
            return query, [Guess(query.lang, 1.0)]
        found = self.guesses(query.text)
        likely = [guess for guess in found if guess.share >= DOUBT][:2] or found[:1]
        return query._replace(lang=likely[0].lang), likely

    def _documents(self, ids: Sequence[str]) -> list[Document]:
        return [record.document for record in self._store.get(ids) if record is not None]

    def _parts(self) -> pipelines.Parts:
        return pipelines.Parts(
            self._store,
            self._index.statistics,
            {name: m for name, m in self._models.items() if isinstance(m, Encoder)},
            corrected(self._translators(), self._glossary, _GLOSSARY),
            {name: m for name, m in self._models.items() if hasattr(m, "score")},
            self._documents,
            machine=self._machine.engine,
            memory=self._memory,
        )

    def _explaining(self) -> dict[str, Translator]:
        """What says what words mean, the most trusted first; the default model also where it is not searched with."""
        for name, model in self._models.items():
            if isinstance(model, BagEncoder) and self._nearest.get(name, (None,))[0] is not model:
                self._nearest[name] = (model, Embedding(model))
        near = {name: made for name, (model, made) in self._nearest.items() if self._models.get(name) is model}
        own = dict(self._parts().translators)
        last = own.pop(pipelines.DEFAULT, None) or default_model.open()
        return {**own, pipelines.DEFAULT: last, **near}

    def _translators(self) -> dict[str, Translator]:
        """The default first, so that a model of the reader's that has its name takes its place."""
        default: dict[str, Translator] = {pipelines.DEFAULT: self._default} if self._default else {}
        return default | {name: model for name, model in self._models.items() if isinstance(model, Translator)}

    def _unknown_words(self) -> dict[str, float]:
        """The share of words the default model does not know, in some documents of each of its languages."""
        found = {}
        for lang in self.langs if self._default is not None else ():
            some = next(self._store.scroll({"lang": [lang]}, batch=alarms.SAMPLE), [])
            assert self._default is not None
            share = alarms.unknown_share([record.document.text for record in some], lang, self._default)
            if share is not None:
                found[lang] = round(share, 2)
        return found

    def _about_default(self) -> str:
        if self._default is None:
            return "left out"
        unknown = sorted(set(self.langs) - set(self._default.langs))
        but = f", but not {', '.join(unknown)} of this collection" if unknown else ""
        return f"used: {len(self._default.langs)} languages{but}"


def describe(what: str) -> dict[str, Any]:
    """What a collection or a model holds."""
    if exists(what):
        with Engine.open(what) as engine:
            return engine.info()
    return {"model": what, "kind": artefacts.kind_of(what), **about(load(what))}


def _batches(items: Iterable[Document], size: int) -> Iterator[list[Document]]:
    """Batches of documents. When reading them fails, those that were read before come first."""
    batch: list[Document] = []
    try:
        for item in items:
            if not isinstance(item, Document):
                kind = f"a {type(item).__name__}, not a Document: write Document(id, text, lang)"
                raise InputError(f"document {len(batch) + 1} of the batch is {kind}")
            batch.append(item)
            if len(batch) == size:
                yield batch
                batch = []
    except (ParaglossError, KeyboardInterrupt):
        if batch:
            yield batch
        raise
    if batch:
        yield batch
