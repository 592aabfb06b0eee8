"""Starting and opening collections, and the models and the translation engine they are searched with."""

from __future__ import annotations

import os

from paragloss.collection import document_translation, model_records
from paragloss.collection.arguments import CollectionOptions
from paragloss.collection.backfill import deferred_encoders
from paragloss.collection.embeddings import storing
from paragloss.collection.models import given, load, name_of
from paragloss.collection.state import State, leave_out_default
from paragloss.encoders.pretrained import MEANING
from paragloss.errors import InputError, ParaglossError, StoreError
from paragloss.search.indexed_fields import FIELDS, INNER, translation
from paragloss.search.journal import index_of
from paragloss.search.terms import NAME
from paragloss.stores import create_store, open_store
from paragloss.types import Encoder


def create(location: str, options: CollectionOptions) -> State:
    """Start a collection; models are copied into it."""
    translator = document_translation.checked(options.machine, options.translate_to)
    models = list(options.models)
    loaded = {name_of(path): given(path) for path in models}
    if not deferred_encoders(loaded) and wanted(options.meaning, options.default):
        models, loaded = [MEANING, *models], {MEANING: load(MEANING), **loaded}
    store = create_store(
        location,
        dense={name: storing(m).dim for name, m in loaded.items() if isinstance(m, Encoder)},
        sparse=[NAME],
        several=list(deferred_encoders(loaded)),
        precision=dict.fromkeys(deferred_encoders(loaded), options.precision),
        placement=options.placement,
    )
    try:
        more = [translation(translator.to)] if translator.to else []
        index = index_of(store).build(store, fields=[*FIELDS, INNER, *more])
        if translator.engine:
            document_translation.write(store, translator)
        for path in models:
            model_records.add_model(store, path, loaded[name_of(path)], precision=options.precision)
        if not options.default:
            leave_out_default(store)
        return State(location, store, index)
    except BaseException:
        store.close()
        raise


def wanted(meaning: bool | None, default: bool) -> bool:
    """Whether a new collection gets the encoder in the box: as said, else with the default model."""
    return default and os.environ.get("PARAGLOSS_MEANING") != "0" if meaning is None else meaning


def open(location: str, *, default: bool = True) -> State:
    """Open a collection; without `default`, leave the default model out this time."""
    store = open_store(location)
    try:
        return State(location, store, index_of(store).open_or_build(store), default=default)
    except BaseException as error:
        store.close()
        if isinstance(error, ValueError | TypeError | KeyError) and not isinstance(error, ParaglossError):
            damage = "what it notes of itself is damaged"
            raise StoreError(f"{location}: {damage} ({error}): restore a copy, or index again") from error
        raise


def add_model(state: State, path: str, *, precision: str = "float32") -> bool:
    """Search with one more model, or with a new one in place of the one of its name; False when it is there already.
    A pretrained encoder takes the place of the one in the box."""
    name, model = name_of(path), given(path)
    added = model_records.add_model(state.store, path, model, precision=precision)
    state.models[name] = model
    if (
        name != MEANING
        and deferred_encoders({name: model})
        and MEANING in model_records.read_model_records(state.store)
    ):
        remove_model(state, MEANING)
    return added


def remove_model(state: State, name: str) -> None:
    """Search without a model from now on."""
    if name not in model_records.read_model_records(state.store):
        have = ", ".join(model_records.read_model_records(state.store)) or "none"
        raise InputError(f"this collection has no model {name!r}; it has {have}")
    state.models.pop(name, None)
    model_records.remove_model(state.store, name)


def use_machine(state: State, machine: str, translate_to: str) -> None:
    """Take another translation engine; what documents are translated into stays what it was at the beginning."""
    if not machine and not translate_to:
        return
    now = state.machine
    wanted = document_translation.checked(machine or now.engine, translate_to or now.to)
    if wanted.to != now.to:
        have = f"translates into {now.to!r}" if now.to else "does not translate its documents"
        raise StoreError(f"{state.location} {have}: make a new collection to translate into {wanted.to!r}")
    if wanted != now:
        document_translation.write(state.store, wanted)
        state.machine = wanted
