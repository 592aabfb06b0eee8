"""Opens a collection; text in, titled snippets out. The one object the command line and the server hold: what it does
is done by `opening`, `writer`, `retrieval`, `reading` and `description`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

from paragloss import artefacts
from paragloss.collection import (
    bulk_search,
    description,
    document_translation,
    learned,
    opening,
    reading,
    retrieval,
    writer,
)
from paragloss.collection.arguments import (
    PLAIN,
    CollectionKeywords,
    CollectionOptions,
    FileKeywords,
    FileOptions,
    IndexKeywords,
    IndexOptions,
    SearchKeywords,
    SearchOptions,
)
from paragloss.collection.deadline import Deadline
from paragloss.collection.models import about, load
from paragloss.collection.query_language import Guess
from paragloss.collection.retrieval import Answer
from paragloss.collection.sources import hide_folders, read_roots, read_sources, resolve_folders
from paragloss.collection.state import State, leave_out_default
from paragloss.collection.writer import IndexReport
from paragloss.encoders.pretrained import MEANING
from paragloss.formats.file_ids import is_inside
from paragloss.formats.text import OnError
from paragloss.gloss import Gloss
from paragloss.index import terms
from paragloss.stores import collection_exists
from paragloss.translation.glossary import Pair
from paragloss.types import Document, Query, Ranking, Record, Where

__all__ = ["Answer", "Collection", "IndexReport", "describe"]
#: Documents read at once where all are.
_PAGE = 1000


class Collection:
    """A collection and the models it is searched with. Use it in a `with` block, or close it."""

    def __init__(self, state: State) -> None:
        self.state = state

    @classmethod
    def create(cls, location: str, **how: Unpack[CollectionKeywords]) -> Collection:
        """Start a collection, as `CollectionOptions` say."""
        return cls(opening.create(location, CollectionOptions(**how)))

    @classmethod
    def open(cls, location: str, *, default: bool = True) -> Collection:
        """Open a collection; without `default`, leave the default model out this time."""
        return cls(opening.open(location, default=default))

    @classmethod
    def open_or_create(cls, location: str, **how: Unpack[CollectionKeywords]) -> Collection:
        """Open a collection, adding models it does not have yet; or start one. Without `default` it is searched
        without the default model from now on, as one that was started so; so it is with `meaning`."""
        options = CollectionOptions(**how)
        engine = cls(opening.open_or_create(location, options))
        if engine.state.is_new:
            return engine
        try:
            if not options.default:
                leave_out_default(engine.state.store)
            opening.use_machine(engine.state, options.machine, options.translate_to)
            if options.meaning is False and MEANING in engine.state.models:
                engine.remove_model(MEANING)
            for path in [MEANING, *options.models] if options.meaning else options.models:
                engine.add_model(path, precision=options.precision)
        except BaseException:
            engine.close()
            raise
        return engine

    def __enter__(self) -> Collection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write down what is known and let go of the collection."""
        self.state.close()

    def close_or_remove(self) -> None:
        """Close the collection. If this object has created it and it has no documents, remove it instead."""
        if not (self.state.is_new and self.state.store.remove_if_empty()):
            self.close()

    @property
    def location(self) -> str:
        return self.state.location

    @property
    def langs(self) -> tuple[str, ...]:
        """The languages of the documents."""
        return self.state.langs

    def count(self, where: Where | None = None) -> int:
        return self.state.store.count(where)

    def versions(self) -> tuple[str, str]:
        """What another process must have read to search as this one does: the terms' counts, and everything else but
        documents. Each changes when that does."""
        return self.state.store.get_blob_change_markers(terms.STATISTICS_BLOB)

    def catch_up(self) -> None:
        """Take in what another process has written since."""
        self.state.index.catch_up(every=0.0)

    def read_ahead(self) -> Iterator[int]:
        """What searches would read bit by bit, into memory, as far as there is room for it: step by step, with how many
        documents were read so far. A server's collection is read by the server itself."""
        return self.state.store.preload_sparse(terms.TERMS_VECTOR)

    def tend(self) -> None:
        """What makes searching quick once many documents have been added: a graph of their vectors, where one is due.
        Takes minutes; searches and writes go on."""
        writer.tend(self.state)

    def encode(self) -> Iterator[tuple[int, int]]:
        """Give documents the vectors they lack of pretrained encoders, a few at a time: how many of how many have been
        read. Nothing else may be written while one step is done; between two anything may."""
        return writer.encode(self.state)

    # Writing

    def take_over(self) -> None:
        """Write, from the next time on, although another process has the right to: it is refused from then on."""
        self.state.store.take_over_writing()

    def index(self, documents: Iterable[Document], **how: Unpack[IndexKeywords]) -> int:
        """Add or replace documents, as `IndexOptions` say; how many. Each batch is safe on disk before the next is
        read. Indexing the same documents again goes on where it was stopped. With more than one of `workers` a script
        starts with `if __name__ == "__main__":`."""
        with self.state.store.write_session():
            return writer.index(self.state, documents, IndexOptions(**how))

    def index_files(self, paths: Sequence[str], **how: Unpack[FileKeywords]) -> IndexReport:
        """Read files and folders into the collection, as `FileOptions` say."""
        with self.state.store.write_session():
            self.state.store.claim_writing()  # what is noted of files is read and written as one
            return writer.index_files(self.state, paths, FileOptions(**how))

    def add(self, documents: Sequence[Document], *, lang: str | None = None) -> int:
        """Add or replace a few documents of a collection that is being searched; how many. They are safe on disk on
        return. Unlike `index` it leaves the work that makes everybody wait (exact averages, graphs) for later."""
        return writer.add(self.state, documents, lang=lang)

    def delete(self, ids: Sequence[str]) -> int:
        return writer.delete(self.state, ids)

    def write_glossary(self, pairs: Iterable[Pair]) -> int:
        """Replace the reader's own glossary; it counts from the next query on. How many pairs it has."""
        return self.state.write_glossary(list(pairs))

    def change_glossary(self, *, remove: Sequence[Pair] = (), add: Sequence[Pair] = ()) -> int:
        """Take pairs out of the reader's own glossary and put others in; how many it has."""
        return self.state.change_glossary(remove=remove, add=add)

    def add_model(self, path: str, *, precision: str = "float32") -> bool:
        """Search with one more model, or with a new one in place of the one of its name: it is copied into the
        collection and every document is encoded with it, with a pretrained one at the next `index`. False when it is
        there already."""
        return opening.add_model(self.state, path, precision=precision)

    def remove_model(self, name: str) -> None:
        """Search without a model from now on."""
        opening.remove_model(self.state, name)

    # Reading

    def read(self, paths: Sequence[str], *, on_error: OnError = None) -> Iterator[Document]:
        """Documents of files and folders, to be indexed: each file has the id it had the first time."""
        return read_sources(self.state.store, paths, on_error)

    def documents(self, *, where: Where | None = None, k: int | None = None) -> Iterator[Document]:
        """Documents in no particular order, at most `k`."""
        pages = self.state.store.scroll(where, batch=min(k or _PAGE, _PAGE))
        return islice((record.document for records in pages for record in records), k)

    @property
    def glossary(self) -> list[Pair]:
        """The reader's own words, as they were written."""
        return list(self.state.glossary.pairs)

    def get(self, ids: Sequence[str]) -> list[Document | None]:
        """Documents by id, None where there is none."""
        return [record.document if record else None for record in self.state.store.get(ids)]

    def without_folders(self, meta: Mapping[str, Any]) -> dict[str, Any]:
        """What a document says of itself, for others: where its file lies below what was indexed, not on this
        machine."""
        return hide_folders(meta, self._roots())

    def with_folders(self, where: Where) -> Where:
        """A condition on folders as others see them, for `search`."""
        return resolve_folders(where, self._roots())

    def original(self, meta: Mapping[str, Any]) -> Path | None:
        """The file a document was read from, where it lies in a folder that was indexed."""
        from paragloss.formats.documents import SUPPORTED_SUFFIXES  # which imports every format

        recorded = str(meta.get("path", ""))
        if not os.path.isabs(recorded) or "\0" in recorded:
            return None
        real = self.state.cache.get("real roots", lambda: [*map(os.path.realpath, self._roots())])
        path = os.path.realpath(recorded)
        known = os.path.splitext(path)[1].lower() in SUPPORTED_SUFFIXES and any(is_inside(path, root) for root in real)
        return Path(path) if known and os.path.isfile(path) else None

    def _roots(self) -> dict[str, str]:
        return self.state.cache.get("roots", lambda: read_roots(self.state.store))

    def sample(self, most: int) -> Iterator[Record]:
        """Up to so many documents with their vectors. Their order has nothing to do with what they say: the first
        are as good as any."""
        return islice((record for some in self.state.store.scroll(batch=200, vectors=True) for record in some), most)

    # Searching

    def search(self, text: str, options: SearchOptions = PLAIN, **how: Unpack[SearchKeywords]) -> Answer:
        """Find documents for a query and show what matched. How is said by keyword arguments (`SearchOptions` has
        them), by such a record, or by both. DeadlineError where a deadline passes first."""
        return retrieval.search(self.state, text, replace(options, **how))

    def noticed(self) -> list[str]:
        """Pages whose paths say that they are here in several languages; none where it has been learned from them."""
        return [] if learned.NAME in self.state.models else learned.noticed_paths(self.state)

    def rank(
        self, queries: Sequence[Query], options: SearchOptions = PLAIN, **how: Unpack[SearchKeywords]
    ) -> list[Ranking]:
        """One ranking per query: what `search` shows, without the showing. Evaluation measures this."""
        return retrieval.rank(self.state, queries, replace(options, **how))

    def rankings(
        self,
        queries: Sequence[Query],
        options: SearchOptions = PLAIN,
        *,
        workers: int = 1,
        **how: Unpack[SearchKeywords],
    ) -> Iterator[list[Ranking]]:
        """What `rank` gives for many queries, batch by batch; with more `workers` in as many processes."""
        return bulk_search.rankings(self.state, queries, replace(options, **how), workers=workers)

    def candidates(
        self, text: str, options: SearchOptions = PLAIN, **how: Unpack[SearchKeywords]
    ) -> tuple[Query, list[Document]]:
        """A query with its language, and the best documents for it without their texts, to be counted."""
        return retrieval.candidates(self.state, text, replace(options, **how))

    def guesses(self, text: str) -> list[Guess]:
        """The languages a query may be in, likeliest first, with how likely each is."""
        return retrieval.guesses(self.state, text)

    # Describing

    def gloss(self, text: str, *, lang: str | None = None, to: str, asked: str = "") -> dict[str, Any]:
        """What the words of a text mean, by everything here that translates or has words of both languages near;
        `asked` is what the reader was looking for."""
        return self.glosses([(text, lang or "")], to=to, asked=asked)[0].as_json()

    def glosses(self, texts: Iterable[tuple[str, str]], *, to: str, asked: str = "") -> list[Gloss]:
        """The same of several texts, each with its language ("": it is found out): takes less than one by one."""
        return description.glosses(self.state, texts, to=to, asked=asked)

    def translation(self, text: str, *, lang: str, to: str) -> str:
        """A text by the translation engine of the collection; LanguageError where that does not know both languages."""
        return document_translation.of_text(self.state.machine, text, lang, to)

    def piece(
        self,
        document: Document,
        text: str,
        *,
        lang: str | None = None,
        start: int | None = None,
        before: int | None = None,
        deadline: Deadline | None = None,
    ) -> dict[str, Any]:
        """Some paragraphs of a document to read, with what speaks for a query marked: from `start` on, up to `before`,
        or about the best passage."""
        return reading.piece(self.state, document, text, lang=lang, start=start, before=before, deadline=deadline)

    def why(
        self, query: Query, id: str, options: SearchOptions = PLAIN, **how: Unpack[SearchKeywords]
    ) -> dict[str, Any]:
        """Which words of a query met which of a document, through what, and how much of the score that carried; asked
        as `search` was. A document that is not among the best `k` is looked for among the best hundred. Of results
        of a search `Answer.why` says the same, and searches nothing."""
        return retrieval.why(self.state, query, id, replace(options, **how))

    def summary(self) -> dict[str, Any]:
        """How much the collection holds and how it can be searched: of `info` what is known at once."""
        return description.summary(self.state)

    def info(self) -> dict[str, Any]:
        """What the collection holds, for people."""
        return description.info(self.state)

    def explain(self, text: str = "", options: SearchOptions = PLAIN, **how: Unpack[SearchKeywords]) -> str:
        """The searchers that a pipeline nests for this collection and, with a query, how it is understood."""
        return description.explain(self.state, text, replace(options, **how))


def describe(what: str) -> dict[str, Any]:
    """What a collection or a model holds."""
    if collection_exists(what):
        with Collection.open(what) as engine:
            return engine.info()
    return {"model": what, "kind": artefacts.read_kind(what), **about(load(what))}
