"""The one object for a collection: documents, and the models they are searched with.

The command line, the server and the adapters use it as libraries do; `opening`, `writer`, `retrieval`, `reading` and
`description` do the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Unpack

from paragloss import artefacts
from paragloss.collection import (
    bulk_search,
    description,
    document_translation,
    opening,
    reading,
    retrieval,
    term_table,
    writer,
)
from paragloss.collection.arguments import (
    DEFAULT_OPTIONS,
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
from paragloss.collection.models import describe_model, load
from paragloss.collection.query_language import Guess
from paragloss.collection.retrieval import Answer
from paragloss.collection.sources import SourceFiles, read_sources
from paragloss.collection.state import State, leave_out_default
from paragloss.collection.term_table import TermCount
from paragloss.collection.upkeep import Maintenance
from paragloss.collection.writer import IndexReport
from paragloss.encoders.pretrained import MEANING
from paragloss.formats.text import OnError
from paragloss.gloss import Gloss
from paragloss.stores import collection_exists
from paragloss.translation.glossary import Pair
from paragloss.types import Document, Query, Ranking, Where

__all__ = ["Answer", "Collection", "IndexReport", "describe"]
#: Documents read from the store at once.
_PAGE_SIZE = 1000


class Collection:
    """Documents in many languages, and the models they are searched with.

    Use it in a `with` block, or close it:

    >>> from paragloss import Document
    >>> with Collection.open_or_create("library") as library:
    ...     _ = library.index([Document("bees", "Bienen sammeln Nektar.", "de", title="Bienen")])
    ...     answer = library.search("what do bees collect", lang="en")
    >>> answer.results[0].title
    'Bienen'

    Methods that take `options` and keyword arguments take either, or both; keyword arguments overrule options.
    Every error that a user can cause is a `ParaglossError`.
    """

    def __init__(self, state: State) -> None:
        """Wrap an open collection. Use `create`, `open` or `open_or_create`."""
        self.state = state

    @classmethod
    def create(cls, location: str, **options: Unpack[CollectionKeywords]) -> Collection:
        """Create a collection.

        :param location: a folder that does not exist or is empty, or `qdrant+http://host:port/name` on a server.
        :param options: the fields of `CollectionOptions`: models to search with, the translation engine, and others.
        :return: the open collection.
        :raises StoreError: if there is a collection already.

        Example: `Collection.create("library", models=["trained/cr5"])`
        """
        return cls(opening.create(location, CollectionOptions(**options)))

    @classmethod
    def open(cls, location: str, *, default: bool = True) -> Collection:
        """Open a collection.

        :param location: its folder, or its address on a server.
        :param default: False leaves the default model out this time.
        :return: the open collection.
        :raises StoreError: if there is no collection, or if it is damaged.

        Example: `Collection.open("library")`
        """
        return cls(opening.open_collection(location, default=default))

    @classmethod
    def open_or_create(cls, location: str, **options: Unpack[CollectionKeywords]) -> Collection:
        """Open a collection, or create it. If another process is creating it, wait for that.

        An existing collection gets the models it does not have yet. With `default=False` or `meaning=False` it is
        searched without the default model, or without the shipped encoder, from now on.

        :param location: a folder, or `qdrant+http://host:port/name` on a server.
        :param options: the fields of `CollectionOptions`.
        :return: the open collection.

        Example: `Collection.open_or_create("library", models=["trained/cr5"])`
        """
        collection_options = CollectionOptions(**options)
        collection = cls(opening.open_or_create(location, collection_options))
        if collection.state.is_new:
            return collection
        try:
            collection._change_models(collection_options)
        except BaseException:
            collection.close()
            raise
        return collection

    def _change_models(self, options: CollectionOptions) -> None:
        """Add the models that options name and the collection lacks, and leave out those that they exclude."""
        if not options.default:
            leave_out_default(self.state.store)
        opening.change_engine(self.state, options.machine, options.translate_to)
        if options.meaning is False and MEANING in self.state.models:
            self.remove_model(MEANING)
        shipped_encoder = [MEANING] if options.meaning else []
        for path in [*shipped_encoder, *options.models]:
            self.add_model(path, precision=options.precision)

    def __enter__(self) -> Collection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Save the statistics and release the collection. What was acknowledged is safe on disk before that."""
        self.state.close()

    @property
    def location(self) -> str:
        """The folder or the address of the collection."""
        return self.state.location

    @property
    def langs(self) -> tuple[str, ...]:
        """The languages of the documents, as codes."""
        return self.state.langs

    @property
    def maintenance(self) -> Maintenance:
        """What servers and other programs that run a collection do with it beside users' work."""
        return Maintenance(self.state)

    @property
    def sources(self) -> SourceFiles:
        """The files and folders that the documents were read from."""
        return SourceFiles(self.state.store, self.state.cache)

    # Writing

    def index(self, documents: Iterable[Document], **options: Unpack[IndexKeywords]) -> int:
        """Add or replace documents.

        Each batch is safe on disk before the next is read. Indexing the same documents again after an interruption
        repeats only what was not finished.

        :param documents: any iterable; a document with the id of an earlier one replaces it.
        :param options: the fields of `IndexOptions`. A script that sets `workers` to more than 1 starts with
            `if __name__ == "__main__":`.
        :return: how many documents were written.

        Example: `library.index([Document("rain", "La pluie tombe.", "fr")])`
        """
        with self.state.store.write_session():
            return writer.index(self.state, documents, IndexOptions(**options))

    def index_files(self, paths: Sequence[str], **options: Unpack[FileKeywords]) -> IndexReport:
        """Read files and folders into the collection: those that are new or have changed since.

        :param paths: files, folders, and `irds:DATASET`.
        :param options: the fields of `FileOptions`, such as `prune=True` to remove documents whose files are gone.
        :return: how many documents were read, files had not changed, and documents were removed.
        :raises PruneError: if so many files are gone that their disk may not be mounted.

        Example: `library.index_files(["reports"], prune=True).read`
        """
        with self.state.store.write_session():
            self.state.store.claim_writing()  # the records of files are read and written by one process
            return writer.index_files(self.state, paths, FileOptions(**options))

    def add(self, documents: Sequence[Document], *, lang: str | None = None) -> int:
        """Add or replace a few documents of a collection that is being searched.

        They are safe on disk on return. Unlike `index`, it leaves work that makes others wait (exact average lengths,
        graphs) for later.

        :param lang: the language of documents that do not state theirs; None identifies it.
        :param documents: the documents.
        :return: how many documents were written.

        Example: `library.add([Document("rain", "La pluie tombe.", "fr")])`
        """
        return writer.add(self.state, documents, lang=lang)

    def correct_language(self, id: str, lang: str) -> None:
        """Correct the language of a document. It keeps it, also when its file is read again, until it is deleted.

        :param id: the document id.
        :param lang: a language code; "" removes an earlier correction and identifies the language again.
        :raises InputError: if the collection has no such document.

        Example: `library.correct_language("rain", "fr")`
        """
        writer.correct_language(self.state, id, lang)

    def delete(self, ids: Sequence[str]) -> int:
        """Delete documents by id.

        :param ids: the document ids.
        :return: how many there were.

        Example: `library.delete(["rain"])`
        """
        return writer.delete(self.state, ids)

    def write_glossary(self, pairs: Iterable[Pair]) -> int:
        """Replace the user's glossary, whose translations overrule those of models from the next query on.

        :param pairs: the new pairs.
        :return: its number of pairs.

        Example: `library.write_glossary([Pair("en", "layer", "de", "Ebene")])`
        """
        return self.state.write_glossary(list(pairs))

    def change_glossary(self, *, remove: Sequence[Pair] = (), add: Sequence[Pair] = ()) -> int:
        """Remove pairs from the user's glossary and add others.

        :param remove: pairs to remove.
        :param add: pairs to add.
        :return: its number of pairs.

        Example: `library.change_glossary(add=[Pair("en", "layer", "de", "Ebene")])`
        """
        return self.state.change_glossary(remove=remove, add=add)

    def add_model(self, path: str, *, precision: str = "float32") -> bool:
        """Search with one more model, or with a new one in place of the one of the same name.

        The model is copied into the collection. Documents are encoded with it at once; with a pretrained encoder at the
        next `index`.

        :param path: a model's folder, a short name such as `e5`, files of word vectors, or an address.
        :param precision: of the vectors of a pretrained encoder: float32, float16 or int8.
        :return: False if the collection has this model already.
        :raises ModelError: if the model is damaged or of an unknown kind.

        Example: `library.add_model("trained/cr5")`
        """
        return opening.add_model(self.state, path, precision=precision)

    def remove_model(self, name: str) -> None:
        """Search without a model from now on, and remove its vectors.

        :param name: the name of the model.
        :raises InputError: if the collection has no such model.

        Example: `library.remove_model("cr5")`
        """
        opening.remove_model(self.state, name)

    # Reading

    def count(self, where: Where | None = None) -> int:
        """Return the number of documents.

        :param where: conditions, as in `SearchOptions`.
        :return: the number of documents.

        Example: `library.count({"lang": ["fr"]})`
        """
        return self.state.store.count(where)

    def get(self, ids: Sequence[str]) -> list[Document | None]:
        """Return documents by id, in the same order; None where there is none.

        Example: `[document] = library.get(["rain"])`

        :param ids: the document ids.
        :return: a document for each id, None if it is not stored.
        """
        return [record.document if record else None for record in self.state.store.get(ids)]

    def documents(self, *, where: Where | None = None, k: int | None = None) -> Iterator[Document]:
        """Yield documents in no particular order.

        :param where: conditions, as in `SearchOptions`.
        :param k: how many at most; None for all.
        :return: the documents, one after the other.

        Example: `titles = [document.title for document in library.documents(where={"lang": ["fr"]})]`
        """
        pages = self.state.store.scroll(where, batch_size=min(k or _PAGE_SIZE, _PAGE_SIZE))
        return islice((record.document for records in pages for record in records), k)

    def read(self, paths: Sequence[str], *, on_error: OnError = None) -> Iterator[Document]:
        """Yield the documents of files and folders without writing them; each file has the id it had the first time.

        :param on_error: is told what can't be read; without it the first error is raised.
        :param paths: files and folders.
        :return: the documents, one after the other.

        Example: `library.index(library.read(["reports"]))`
        """
        return read_sources(self.state.store, paths, on_error)

    @property
    def glossary(self) -> list[Pair]:
        """The pairs of the user's glossary, as they were written."""
        return list(self.state.glossary.pairs)

    def summary(self) -> dict[str, Any]:
        """Return what is known at once: how much the collection holds, its languages, models and pipelines.

        Example: `library.summary()["documents"]`
        """
        return description.summarize_collection(self.state)

    def info(self) -> dict[str, Any]:
        """Return `summary`, and what is measured by reading documents, such as the share of unknown words.

        Example: `library.info()["unknown words"]`
        """
        return description.describe_collection(self.state)

    # Searching

    def search(self, text: str, options: SearchOptions = DEFAULT_OPTIONS, **keywords: Unpack[SearchKeywords]) -> Answer:
        """Find documents for a query, with snippets and the words that match.

        :param text: the query, in any language.
        :param options: how to search, as a record; `keywords` are the fields of `SearchOptions`.
        :param keywords: `SearchOptions` as keyword arguments.
        :return: the results, best first, and how the query was understood.
        :raises InputError: if the query or the pipeline makes no sense.
        :raises LanguageError: if the query's language can't be told.
        :raises DeadlineError: if the deadline passes first.

        Example: `library.search("how do bees make honey", to=["de", "fr"], k=5).results`
        """
        return retrieval.search(self.state, text, replace(options, **keywords))

    def count_terms(
        self, terms: Iterable[str], options: SearchOptions = DEFAULT_OPTIONS, **keywords: Unpack[SearchKeywords]
    ) -> Iterator[TermCount]:
        """Count names or terms one by one: the places of each, or of its translations, and the documents that have it.

        :param terms: each is looked for as a phrase in quotation marks is, unless it has operators of its own.
        :param options: how to search.
        :param keywords: `SearchOptions` as keyword arguments.
        :return: the terms with their counts.

        Example: `rows = list(library.count_terms(["Jean Martin", "harbour lang:fr"]))`
        """
        search_options = replace(options, **keywords)
        return (term_table.count_term(self.state, term, search_options) for term in terms)

    def rank(
        self, queries: Sequence[Query], options: SearchOptions = DEFAULT_OPTIONS, **keywords: Unpack[SearchKeywords]
    ) -> list[Ranking]:
        """Rank documents for several queries as `search` does, without snippets. Evaluation measures this.

        :param queries: the queries.
        :param options: how to search.
        :param keywords: `SearchOptions` as keyword arguments.
        :return: one list of hits, best first, per query.

        Example: `library.rank([Query("1", "bees", "en")], k=100)`
        """
        return retrieval.rank_plain_queries(self.state, queries, replace(options, **keywords))

    def rank_batches(
        self,
        queries: Sequence[Query],
        options: SearchOptions = DEFAULT_OPTIONS,
        *,
        workers: int = 1,
        **keywords: Unpack[SearchKeywords],
    ) -> Iterator[list[Ranking]]:
        """Yield the rankings of many queries, batch by batch, in the order of the queries.

        :param queries: the queries.
        :param options: how to search.
        :param workers: how many processes to use.
        :param keywords: `SearchOptions` as keyword arguments.
        :return: the rankings of a batch of queries at a time.

        Example: `rankings = [ranking for batch in library.rank_batches(queries) for ranking in batch]`
        """
        return bulk_search.rank_batches(self.state, queries, replace(options, **keywords), workers=workers)

    def rank_documents(
        self, text: str, options: SearchOptions = DEFAULT_OPTIONS, **keywords: Unpack[SearchKeywords]
    ) -> tuple[Query, list[Document]]:
        """Return the query with its language, and the best documents without their texts, for example to count them.

        Example: `query, documents = library.rank_documents("bees", k=200)`

        :param text: the query.
        :param options: how to search.
        :param keywords: `SearchOptions` as keyword arguments.
        :return: the query with its language, and its best documents without their texts.
        """
        return retrieval.rank_documents(self.state, text, replace(options, **keywords))

    def guess_languages(self, text: str) -> list[Guess]:
        """Return the languages a query may be in, likeliest first, with their probabilities.

        Example: `library.guess_languages("le prix du pain")[0].lang`

        :param text: the query.
        :return: languages with their probabilities, likeliest first.
        """
        return retrieval.guess_query_languages(self.state, text)

    def why(
        self, query: Query, id: str, options: SearchOptions = DEFAULT_OPTIONS, **keywords: Unpack[SearchKeywords]
    ) -> dict[str, Any]:
        """Explain the score of a document: which words of the query matched which of its words, and what each adds.

        A document that is not among the best `k` is looked for among the best hundred. `Answer.why` explains a result
        of a search without searching again.

        :param query: the query.
        :param id: the document id.
        :param options: how to search.
        :param keywords: `SearchOptions` as keyword arguments.
        :return: the parts of the score with their pairs of words.
        :raises InputError: if the collection has no such document.

        Example: `library.why(Query("", "bees", "en"), "bees")["parts"]`
        """
        return retrieval.explain_document_score(self.state, query, id, replace(options, **keywords))

    def explain(
        self, text: str = "", options: SearchOptions = DEFAULT_OPTIONS, **keywords: Unpack[SearchKeywords]
    ) -> str:
        """Describe the searchers that a pipeline nests for this collection and, with a query, how it is understood.

        Example: `print(library.explain("bees", lang="en", pipeline="default"))`

        :param text: a query, or "".
        :param options: how to search.
        :param keywords: `SearchOptions` as keyword arguments.
        :return: several lines of text.
        """
        return description.explain_pipeline(self.state, text, replace(options, **keywords))

    # Reading foreign texts

    def gloss(self, text: str, *, lang: str | None = None, to: str, query: str = "") -> dict[str, Any]:
        """Look up the words of a text.

        :param text: the text.
        :param lang: the language of the text; None identifies it.
        :param to: the reader's language.
        :param query: what the reader searched for; meanings that match it are preferred.
        :return: the words with their meanings, and the text rendered in the reader's language.

        Example: `library.gloss("Bienen sammeln Nektar", lang="de", to="en")["rendering"]`
        """
        return self.glosses([(text, lang or "")], to=to, query=query)[0].as_json()

    def glosses(self, texts: Iterable[tuple[str, str]], *, to: str, query: str = "") -> list[Gloss]:
        """Look up the words of several texts, which takes less time than one by one.

        :param texts: each with its language; "" identifies it.
        :param to: the reader's language.
        :param query: the reader's query; meanings that it contains are preferred.
        :return: a gloss for each text.

        Example: `library.glosses([("Bienen sammeln Nektar", "de")], to="en")[0].rendering`
        """
        return description.gloss_texts(self.state, texts, to=to, query=query)

    def translate(self, text: str, *, lang: str, to: str) -> str:
        """Translate a text with the collection's translation engine.

        :param text: the text.
        :param lang: the language of the text.
        :param to: the language to translate into.
        :return: the translated text.
        :raises InputError: if the collection has no engine.
        :raises LanguageError: if the engine does not have both languages.

        Example: `library.translate("Bienen sammeln Nektar", lang="de", to="en")`
        """
        return document_translation.translate_text(self.state.engine_settings, text, lang, to)

    def read_excerpt(
        self,
        document: Document,
        text: str,
        *,
        lang: str | None = None,
        start: int | None = None,
        before: int | None = None,
        deadline: Deadline | None = None,
    ) -> dict[str, Any]:
        """Return some paragraphs of a document, with the words that match a query marked.

        :param document: the document.
        :param text: the query; it may be empty.
        :param lang: the language of the query; None finds it out.
        :param start: the offset in characters from which to read, or `before` up to which; without both, paragraphs
            around the best passage are returned.
        :param before: the offset in the document at which the excerpt ends.
        :param deadline: when to give up; None never does.
        :return: the excerpt with the matches in it.
        :raises DeadlineError: if the deadline passes first.

        Example: `library.read_excerpt(document, "bees")["paragraphs"]`
        """
        return reading.read_excerpt(
            self.state, document, text, lang=lang, start=start, before=before, deadline=deadline
        )


def describe(location: str) -> dict[str, Any]:
    """Describe a collection or a model.

    :param location: the folder or the address of a collection, or whatever `load` takes.
    """
    if collection_exists(location):
        with Collection.open(location) as collection:
            return collection.info()
    return {"model": location, "kind": artefacts.read_kind(location), **describe_model(load(location))}
