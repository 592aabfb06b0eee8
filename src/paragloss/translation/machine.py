"""Machine translation of queries, and of documents before they are indexed; `engines` has the engines."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from paragloss.analysis import analyzer
from paragloss.types import Alternative, Document, Query, Translation

if TYPE_CHECKING:
    from paragloss.translation.engines import Engine

#: Where a long text may be split: behind a paragraph or a sentence.
_SEGMENT_END = re.compile(r"\n+|(?<=[.!?…])\s+|(?<=[。！？।])\s*")
#: Engines are trained on sentences; on much longer texts they fail or run out of memory.
_MAX_SEGMENT_LENGTH = 600


class MachineTranslator:
    """A Translator that gives the query to an engine as one text.

    An engine does not say which word became which, so every word of its answer is a clause whose source is the query.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        return self._engine.knows(source, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Return the alternatives for each term of a query in another language."""
        if not query.text.strip():
            self._engine.translate_texts([], query.lang, to)  # raises LanguageError if it does not know the languages
            return []
        (text,) = self._engine.translate_texts([query.text], query.lang, to)
        words = [text[span.start : span.end] for span in analyzer(to).spans(text)]
        return [Translation(query.text, (Alternative(word, 1.0),)) for word in words]


class TranslationCache:
    """An engine whose translations are stored on disk under a hash of engine, languages and text.

    A text that was translated in any run, even one that was interrupted, is not translated again.
    """

    def __init__(self, path: str | Path, engine: Engine) -> None:
        import sqlite3

        self._engine = engine
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path)
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS translations (hash BLOB PRIMARY KEY, text TEXT) WITHOUT ROWID"
        )

    @property
    def name(self) -> str:
        """The name of the engine, with what identifies its translations."""
        return self._engine.name

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        return self._engine.knows(source, target)

    def translate_texts(self, texts: Sequence[str], source: str, target: str) -> list[str]:
        """Translate texts; the engine translates those that are not stored yet, and they are stored."""
        hashes = [_hash(self.name, source, target, text) for text in texts]
        translations = self._read_stored(hashes)
        missing_texts = {key: text for key, text in zip(hashes, texts, strict=True) if key not in translations}
        if missing_texts:
            new_translations = self._engine.translate_texts(list(missing_texts.values()), source, target)
            rows = list(zip(missing_texts, new_translations, strict=True))
            with self._database:
                self._database.executemany("INSERT OR REPLACE INTO translations VALUES (?, ?)", rows)
            translations.update(rows)
        return [translations[key] for key in hashes]

    def _read_stored(self, hashes: Sequence[bytes]) -> dict[bytes, str]:
        """Return the stored translations of texts, by the hashes of the texts; others are left out."""
        stored = {}
        for key in set(hashes):
            row = self._database.execute("SELECT text FROM translations WHERE hash = ?", (key,)).fetchone()
            if row is not None:
                stored[key] = str(row[0])
        return stored

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def __enter__(self) -> TranslationCache:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def translate_documents(
    documents: Iterable[Document], engine: Engine, to: str, *, batch: int = 32
) -> Iterator[Document]:
    """Translate documents into language `to`, in order; `meta["translated_from"]` is their own language.

    Documents in `to` pass unchanged. With a `TranslationCache` as engine the work can be interrupted and resumed: each
    batch is stored before the next begins.

    :param batch: how many documents are translated at once.
    """
    remaining = iter(documents)
    while documents_of_batch := list(islice(remaining, batch)):
        yield from _translate_batch(documents_of_batch, engine, to)


def _translate_batch(documents: Sequence[Document], engine: Engine, to: str) -> Iterator[Document]:
    """Translate documents of several languages, with one request for each language; yield them in their order."""
    documents_by_lang: dict[str, list[Document]] = {}
    for document in documents:
        if document.lang != to:
            documents_by_lang.setdefault(document.lang, []).append(document)
    translated: dict[str, Document] = {}
    for documents_of_language in documents_by_lang.values():
        for document in _translate_from_one_language(documents_of_language, engine, to):
            translated[document.id] = document
    for document in documents:
        yield translated.get(document.id, document)


def _translate_from_one_language(documents: Sequence[Document], engine: Engine, to: str) -> Iterator[Document]:
    """Translate documents of one language with one request, in order."""
    texts_by_document = [_list_texts(document) for document in documents]
    all_texts = [text for texts in texts_by_document for text in texts]
    translations = iter(_translate_long_texts(engine, all_texts, documents[0].lang, to))
    for document, texts in zip(documents, texts_by_document, strict=True):
        yield _replace_texts(document, list(islice(translations, len(texts))), to)


def _list_texts(document: Document) -> list[str]:
    return [document.title, document.text, *document.fields.values()]


def _replace_texts(document: Document, texts: list[str], to: str) -> Document:
    return document._replace(
        title=texts[0],
        text=texts[1],
        fields=dict(zip(document.fields, texts[2:], strict=True)),
        lang=to,
        meta={**document.meta, "translated_from": document.lang},
    )


def _translate_long_texts(engine: Engine, texts: Sequence[str], source: str, target: str) -> list[str]:
    """Translate texts of any length, segment by segment."""
    segments_by_text = [split_into_segments(text) for text in texts]
    all_segments = [segment for segments in segments_by_text for segment in segments]
    translations = iter(engine.translate_texts(all_segments, source, target))
    return [" ".join(islice(translations, len(segments))) for segments in segments_by_text]


def split_into_segments(text: str) -> list[str]:
    """Split a text into sentences, and sentences that are too long for an engine between words.

    White space around segments is removed; no other character is lost.
    """
    segments: list[str] = []
    for part in _SEGMENT_END.split(text):
        sentence = part.strip()
        while len(sentence) > _MAX_SEGMENT_LENGTH:
            last_blank = sentence.rfind(" ", 1, _MAX_SEGMENT_LENGTH)
            end = last_blank if last_blank > 0 else _MAX_SEGMENT_LENGTH
            segments.append(sentence[:end].strip())
            sentence = sentence[end:].strip()
        if sentence:
            segments.append(sentence)
    return segments


def _hash(*parts: str) -> bytes:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=20).digest()
