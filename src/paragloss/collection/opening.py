"""Create and open collections; add and remove the models and the translation engine they are searched with."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from paragloss import hosts
from paragloss.collection import document_translation, model_records
from paragloss.collection.arguments import CollectionOptions
from paragloss.collection.backfill import select_deferred_encoders
from paragloss.collection.models import get_model_name, load, load_for_adding
from paragloss.collection.state import State, leave_out_default
from paragloss.encoders.pretrained import MEANING, Pretrained
from paragloss.errors import InputError, InUseError, ParaglossError, StoreError, UnfinishedError
from paragloss.index.journal import choose_index_class
from paragloss.index.terms import FIELDS, STATISTICS_BLOB, SUBWORD_FIELDS, TERMS_VECTOR, TermIndex, translation_field
from paragloss.stores import AnyStore, collection_exists, create_store, open_store

#: Blob of a collection that is being filled by a copy or a restored backup, until it is whole.
COPYING = "copying"
#: Seconds to wait for a collection that another process is creating, and between two looks.
CREATION_PATIENCE, CREATION_PAUSE = 20.0, 0.1


class ModelsToAdd(NamedTuple):
    """The models that a new collection is searched with: their paths in order, and the loaded models by name."""

    paths: list[str]
    loaded: dict[str, Any]


def create(location: str, options: CollectionOptions) -> State:
    """Create an empty collection. If anything fails on the way, what was created is removed.

    :param location: the folder of the collection, or its address on a Qdrant server.
    :param options: its models, which are copied into it, the precision of their vectors, its translation engine, and
        how it is distributed on a server.
    :return: the open collection, marked as new.
    :raises ParaglossError: if a model or the translation engine can't be used, or the location is taken.
    """
    _allow_engine_host(options.machine)
    settings = document_translation.make_engine_settings(options.machine, options.translate_to)
    models = _load_models(options)
    store = _create_store(location, models.loaded, options)
    try:
        index = _build_index(store, settings)
        _write_settings(store, models, settings, options)
        state = State(location, store, index)
    except BaseException:
        store.remove_created()
        raise
    state.is_new = True
    return state


def _load_models(options: CollectionOptions) -> ModelsToAdd:
    """Load the models of a new collection: those that are given, after the shipped encoder if it is used.

    It is used if the options say so and no other pretrained encoder is given.
    """
    paths = list(options.models)
    loaded = {get_model_name(path): load_for_adding(path) for path in paths}
    has_pretrained = bool(select_deferred_encoders(loaded))
    if has_pretrained or not has_shipped_encoder(options.meaning, options.default):
        return ModelsToAdd(paths, loaded)
    return ModelsToAdd([MEANING, *paths], {MEANING: load(MEANING), **loaded})


def _create_store(location: str, models: Mapping[str, Any], options: CollectionOptions) -> AnyStore:
    """Create an empty store for the vectors of some models and for the terms of documents.

    :param models: the models of the new collection, by name.
    :param options: the precision of pretrained encoders' vectors, and how a server distributes the collection.
    """
    pretrained = select_deferred_encoders(models)
    return create_store(
        location,
        dense=model_records.list_vector_sizes(models),
        sparse=[TERMS_VECTOR],
        multivectors=list(pretrained),
        precision=dict.fromkeys(model_records.list_vector_sizes(pretrained), options.precision),
        placement=options.placement,
    )


def _build_index(store: AnyStore, settings: document_translation.EngineSettings) -> TermIndex:
    """Build an empty index with the fields of all collections, and one for translated texts if documents get them."""
    translated_fields = [translation_field(settings.to)] if settings.to else []
    return choose_index_class(store).build(store, fields=[*FIELDS, *SUBWORD_FIELDS, *translated_fields])


def _write_settings(
    store: AnyStore, models: ModelsToAdd, settings: document_translation.EngineSettings, options: CollectionOptions
) -> None:
    """Write the translation engine and the models into a store, and whether the default model is left out."""
    if settings.engine:
        document_translation.write_engine_settings(store, settings)
    for path in models.paths:
        model_records.write_model(store, path, models.loaded[get_model_name(path)], precision=options.precision)
    if not options.default:
        leave_out_default(store)


def open_or_create(location: str, options: CollectionOptions) -> State:
    """Open a collection, or create it. If another process is creating it, wait and open that one.

    :raises StoreError: if it can't be opened, or the other process takes longer than CREATION_PATIENCE seconds.
    """
    deadline = time.monotonic() + CREATION_PATIENCE
    while True:
        try:
            if collection_exists(location):
                return open_collection(location, default=options.default, build_empty=True)
            return create(location, options)
        except UnfinishedError:
            raise
        except StoreError as error:
            is_being_created = isinstance(error, InUseError) or collection_exists(location)
            if not is_being_created or time.monotonic() > deadline:
                raise
        time.sleep(CREATION_PAUSE)


def has_shipped_encoder(meaning: bool | None, default: bool) -> bool:
    """Decide whether a new collection gets the shipped encoder: as stated, else if it has the default model."""
    if meaning is not None:
        return meaning
    return default and os.environ.get("PARAGLOSS_MEANING") != "0"


def open_collection(location: str, *, default: bool = True, build_empty: bool = False) -> State:
    """Open a collection.

    :param default: False leaves the default model out this time.
    :param build_empty: finish a collection whose creation was interrupted before it had documents. Reading must not:
        it may be a copy that goes on later.
    :raises StoreError: if there is no complete collection, or it is damaged.
    """
    store = open_store(location)
    try:
        with _damage_as_store_error(location):
            check_finished(store, location, build_empty=build_empty)
            index = choose_index_class(store).open_or_build(store)
            return State(location, store, index, default=default)
    except BaseException:
        store.close()
        raise


@contextmanager
def _damage_as_store_error(location: str) -> Iterator[None]:
    """Turn the errors that values of a wrong kind in a collection's own records cause into a StoreError.

    :param location: the folder or address of the collection, for the error.
    """
    try:
        yield
    except ParaglossError:
        raise
    except (ValueError, TypeError, KeyError) as error:
        damage = "what it notes of itself is damaged"
        raise StoreError(f"{location}: {damage} ({error}): restore a copy, or index again") from error


def check_finished(store: AnyStore, location: str, *, build_empty: bool = False) -> None:
    """Raise UnfinishedError for a collection that a copy, a restored backup or a creation has left unfinished.

    :param location: the folder or address of the collection, for the error.
    :param build_empty: allow a collection without documents, whose creation was interrupted.
    """
    # Statistics are written last. If only they are missing, and this is no copy, opening counts the documents again.
    if store.read_blob(STATISTICS_BLOB) is not None:
        return
    if store.read_blob(COPYING) is not None:
        raise UnfinishedError(
            f"{location} is an unfinished copy: run the same `paragloss copy` or `paragloss restore` again to finish "
            "it, or remove it"
        )
    if not build_empty and not store.count():
        raise UnfinishedError(
            f"{location} was never finished: index into it, or run the same `paragloss copy` or `restore` again"
        )


def add_model(state: State, path: str, *, precision: str = "float32") -> bool:
    """Search with one more model, or with a new one in place of the one of the same name.

    A pretrained encoder also replaces the shipped one.

    :param path: the model's folder, name or address.
    :param precision: of the vectors of a pretrained encoder: float32, float16 or int8.
    :return: False if the collection has the model already.
    """
    name = get_model_name(path)
    model = load_for_adding(path)
    is_new = model_records.write_model(state.store, path, model, precision=precision)
    state.models[name] = model
    replaces_shipped = isinstance(model, Pretrained) and name != MEANING
    if replaces_shipped and MEANING in model_records.read_model_records(state.store):
        remove_model(state, MEANING)
    return is_new


def remove_model(state: State, name: str) -> None:
    """Search without a model from now on.

    :raises InputError: if the collection has no such model.
    """
    records = model_records.read_model_records(state.store)
    if name not in records:
        raise InputError(f"this collection has no model {name!r}; it has {', '.join(records) or 'none'}")
    state.models.pop(name, None)
    model_records.delete_model(state.store, name)


def change_engine(state: State, engine: str, translate_to: str) -> None:
    """Use another translation engine for a collection; the language its documents are translated into stays the same.

    :param engine: the name, folder or address of the engine; "" for the present one.
    :param translate_to: the language that documents are translated into; "" for the present one.
    :raises StoreError: if it is another language than the present one.
    :raises InputError: if there is no such engine.
    """
    if not engine and not translate_to:
        return
    current = state.engine_settings
    _allow_engine_host(engine)
    settings = document_translation.make_engine_settings(engine or current.engine, translate_to or current.to)
    if settings.to != current.to:
        practice = f"translates into {current.to!r}" if current.to else "does not translate its documents"
        raise StoreError(f"{state.location} {practice}: make a new collection to translate into {settings.to!r}")
    if settings != current:
        document_translation.write_engine_settings(state.store, settings)
        state.engine_settings = settings


def _allow_engine_host(engine: str) -> None:
    """Allow the host of a translation engine that the user names by its address."""
    if hosts.is_address(engine):
        hosts.allow_host(hosts.host_of(engine))
