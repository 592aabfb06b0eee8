"""Machine translation of queries when they are asked, and of documents before they are indexed. Knows nothing of
engines but that they turn texts into texts (`engines`)."""

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

#: Where a long text may be cut: behind a paragraph, or behind the end of a sentence.
_END = re.compile(r"\n+|(?<=[.!?…])\s+|(?<=[。！？।])\s*")
#: Engines are trained on sentences; much longer than this they lose their thread, or memory.
_LONGEST = 600


class MachineTranslator:
    """A Translator: the query as one text. An engine doesn't say which word became which, so every word of its
    answer is a clause of its own, standing for the whole query."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def knows(self, source: str, target: str) -> bool:
        return self._engine.knows(source, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        if not query.text.strip():
            self._engine.translate_texts([], query.lang, to)  # says so where it does not know the languages
            return []
        (text,) = self._engine.translate_texts([query.text], query.lang, to)
        words = [text[span.start : span.end] for span in analyzer(to).spans(text)]
        return [Translation(query.text, (Alternative(word, 1.0),)) for word in words]


class TranslationCache:
    """Translations kept on disk under a hash of engine, languages and text: what was translated once, by whatever
    run and however it ended, is not translated again."""

    def __init__(self, path: str | Path, engine: Engine) -> None:
        import sqlite3

        self._engine = engine
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._base = sqlite3.connect(path)
        self._base.execute("CREATE TABLE IF NOT EXISTS translations (hash BLOB PRIMARY KEY, text TEXT) WITHOUT ROWID")

    @property
    def name(self) -> str:
        return self._engine.name

    def knows(self, source: str, target: str) -> bool:
        return self._engine.knows(source, target)

    def translate_texts(self, texts: Sequence[str], source: str, target: str) -> list[str]:
        hashes = [_hash(self.name, source, target, text) for text in texts]
        known = self._known(hashes)
        missing = {key: text for key, text in zip(hashes, texts, strict=True) if key not in known}
        if missing:
            made = self._engine.translate_texts(list(missing.values()), source, target)
            known.update(zip(missing, made, strict=True))
            with self._base:
                self._base.executemany(
                    "INSERT OR REPLACE INTO translations VALUES (?, ?)", [(key, known[key]) for key in missing]
                )
        return [known[key] for key in hashes]

    def _known(self, hashes: Sequence[bytes]) -> dict[bytes, str]:
        found = {}
        for key in set(hashes):
            row = self._base.execute("SELECT text FROM translations WHERE hash = ?", (key,)).fetchone()
            if row is not None:
                found[key] = str(row[0])
        return found

    def close(self) -> None:
        self._base.close()

    def __enter__(self) -> TranslationCache:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def translate_documents(
    documents: Iterable[Document], engine: Engine, to: str, *, batch: int = 32
) -> Iterator[Document]:
    """Documents in language `to`, in order; `meta["translated_from"]` says what they were. Those in `to` already pass
    unchanged. Give a `Memory` as the engine to be able to stop and go on: each batch is kept before the next begins.
    """
    waiting = iter(documents)
    while some := list(islice(waiting, batch)):
        by_lang: dict[str, list[Document]] = {}
        for document in some:
            if document.lang != to:
                by_lang.setdefault(document.lang, []).append(document)
        made = {}
        for lang, group in by_lang.items():
            parts = [_parts(document) for document in group]
            texts = iter(_whole(engine, [text for part in parts for text in part], lang, to))
            for document, part in zip(group, parts, strict=True):
                made[document.id] = _rebuilt(document, list(islice(texts, len(part))), to)
        yield from (made.get(document.id, document) for document in some)


def _parts(document: Document) -> list[str]:
    return [document.title, document.text, *document.fields.values()]


def _rebuilt(document: Document, texts: list[str], to: str) -> Document:
    return document._replace(
        title=texts[0],
        text=texts[1],
        fields=dict(zip(document.fields, texts[2:], strict=True)),
        lang=to,
        meta={**document.meta, "translated_from": document.lang},
    )


def _whole(engine: Engine, texts: Sequence[str], source: str, target: str) -> list[str]:
    """Translate texts of any length, piece by piece."""
    pieces = [split_into_segments(text) for text in texts]
    made = iter(engine.translate_texts([piece for some in pieces for piece in some], source, target))
    return [" ".join(islice(made, len(some))) for some in pieces]


def split_into_segments(text: str) -> list[str]:
    """A text in pieces of whole sentences, none much longer than an engine can follow."""
    found: list[str] = []
    for sentence in filter(None, (part.strip() for part in _END.split(text))):
        while len(sentence) > _LONGEST:
            cut = sentence.rfind(" ", 1, _LONGEST)
            cut = cut if cut > 0 else _LONGEST
            found.append(sentence[:cut].strip())
            sentence = sentence[cut:].strip()
        if sentence:
            found.append(sentence)
    return found


def _hash(*parts: str) -> bytes:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=20).digest()
