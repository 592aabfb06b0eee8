"""The state of an open collection: its store, the index of its terms, its models, its glossary."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from paragloss.collection import document_translation, model_records
from paragloss.collection.deadline import Deadline, limit_time
from paragloss.collection.models import load
from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.pretrained import Pretrained
from paragloss.errors import ConsentError, StoreError
from paragloss.index.terms import TermIndex
from paragloss.search.document_cache import DocumentCache
from paragloss.search.parts import DEFAULT, Parts
from paragloss.stores import AnyStore, model_files
from paragloss.translation import default as default_model
from paragloss.translation.embedding import EmbeddingTranslator
from paragloss.translation.glossary import Pair, UserGlossary, apply_glossary
from paragloss.types import Document, Encoder, Record, Reranker, TranslationChooser, Translator

_GLOSSARY = "glossary"
#: The blob of a collection that is searched without the default model, and its content.
_DEFAULT, _LEFT_OUT = "default", b"left out"


class _CachedTranslator(NamedTuple):
    """A translator by nearest words, which reads the word vectors of its model once, and that model."""

    model: BagEncoder
    translator: EmbeddingTranslator


class State:
    """A collection and the models it is searched with."""

    def __init__(self, location: str, store: AnyStore, index: TermIndex, *, default: bool = True) -> None:
        """Load the models and the glossary of a collection whose store and index are open.

        :param location: its folder or address.
        :param default: False leaves the default model out.
        """
        self.location = location
        self.store = store
        self.index = index
        self.models: dict[str, Any] = {}
        #: Hosts that models of the collection need and the user has not allowed; it is searched without these models.
        self.hosts_awaiting_consent: tuple[str, ...] = ()
        self.load_models()
        uses_default = default and store.read_blob(_DEFAULT) != _LEFT_OUT
        self.default = default_model.open() if uses_default else None
        glossary_bytes = store.read_blob(_GLOSSARY) or b""
        self.glossary = UserGlossary.from_text(glossary_bytes.decode())
        self.engine_settings = document_translation.read_engine_settings(store)
        self.is_new = False  # whether this process has created the collection
        self.cache = DocumentCache(lambda: self.index.document_version)
        # Encoders as translators by nearest words, made when needed.
        self._embedding_translators: dict[str, _CachedTranslator] = {}

    def load_models(self) -> None:
        """Load the models of the collection that are not loaded yet and may be used on this machine.

        A model whose host the user has not allowed is left out with a warning, and named in `hosts_awaiting_consent`.
        """
        blocked_hosts: list[str] = []
        for name, record in model_records.read_model_records(self.store).items():
            if not record.is_complete or name in self.models:
                continue
            try:
                self._load_model(name)
            except ConsentError as error:
                blocked_hosts.append(error.host)
                warnings.warn(f"searching without the model {name!r}: {error}", stacklevel=2)
        self.hosts_awaiting_consent = tuple(dict.fromkeys(blocked_hosts))

    def _load_model(self, name: str) -> None:
        """Load a model from its folder, and search with it from now on.

        :raises ConsentError: if it needs a host that the user has not allowed.
        """
        model = load(model_files.get_model_folder(self.store, name))
        # If a kill inside the engine has cost a model its vectors, it is not used until it is added again.
        if name in self.store.dense or not isinstance(model, Encoder):
            self.models[name] = model

    def close(self) -> None:
        """Save the statistics and close the store."""
        with suppress(StoreError):
            self.index.commit()
        self.store.close()

    @property
    def langs(self) -> tuple[str, ...]:
        """The languages of the documents."""
        return self.index.statistics.langs

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Return the documents of these ids; those that don't exist are left out."""
        return [record.document for record in self.store.get(ids) if record is not None]

    def records(self, ids: Sequence[str]) -> list[Record]:
        """Return the records of these documents with what results are made from: tokens, and vectors of passages."""
        vector_names = [name for name, model in self.models.items() if isinstance(model, Pretrained)]
        return [record for record in self.store.get(ids, vectors=vector_names) if record is not None]

    def parts(self, deadline: Deadline | None = None) -> Parts:
        """Return what a pipeline can be made of: the store, the statistics, and the models by kind and name.

        :param deadline: after it, the store raises DeadlineError.
        """
        models = self.models.items()
        return Parts(
            store=limit_time(self.store, deadline) if deadline else self.store,
            statistics=self.index.statistics,
            encoders={name: model for name, model in models if isinstance(model, Encoder)},
            translators=apply_glossary(self.translators(), self.glossary),
            rerankers={name: model for name, model in models if isinstance(model, Reranker)},
            read_documents=self.documents,
            machine=self.engine_settings.engine,
            cache=self.cache,
            choosers={name: model for name, model in models if isinstance(model, TranslationChooser)},
            title_vectors=frozenset(self.store.dense) - self.models.keys(),
            step=deadline.step if deadline else lambda: None,
        )

    def translators(self) -> dict[str, Translator]:
        """Return the translators; a model of the user's with the name of the default model replaces it."""
        default: dict[str, Translator] = {DEFAULT: self.default} if self.default else {}
        return default | {name: model for name, model in self.models.items() if isinstance(model, Translator)}

    def gloss_translators(self) -> dict[str, Translator]:
        """Return what translates words for glosses by name, the most trusted first; always with the default model."""
        translators = dict(self.parts().translators)
        default = translators.pop(DEFAULT, None) or default_model.open()
        return {**translators, DEFAULT: default, **self._open_embedding_translators()}

    def _open_embedding_translators(self) -> dict[str, Translator]:
        """Return a translator by nearest words for each bag encoder, by name; one of a replaced model is made anew."""
        current_translators: dict[str, _CachedTranslator] = {}
        for name, model in self.models.items():
            if isinstance(model, BagEncoder):
                cached = self._embedding_translators.get(name)
                if cached is None or cached.model is not model:
                    cached = _CachedTranslator(model, EmbeddingTranslator(model))
                current_translators[name] = cached
        self._embedding_translators = current_translators
        return {name: cached.translator for name, cached in current_translators.items()}

    def write_glossary(self, pairs: Sequence[Pair]) -> int:
        """Replace the user's glossary; it counts from the next query on. Return its number of pairs."""
        glossary = UserGlossary(pairs)
        self.store.write_blob(_GLOSSARY, glossary.to_text().encode())
        self.glossary = glossary
        return len(glossary.pairs)

    def change_glossary(self, *, remove: Sequence[Pair], add: Sequence[Pair]) -> int:
        """Remove pairs from the stored glossary, which others may have changed, and add pairs; return their number."""
        stored = UserGlossary.from_text((self.store.read_blob(_GLOSSARY) or b"").decode())
        removed_pairs = UserGlossary(remove).pairs
        remaining = [pair for pair in stored.pairs if pair not in removed_pairs]
        return self.write_glossary(list(dict.fromkeys([*remaining, *UserGlossary(add).pairs])))


def leave_out_default(store: AnyStore) -> None:
    """Search a collection without the default model from now on."""
    if store.read_blob(_DEFAULT) != _LEFT_OUT:
        store.write_blob(_DEFAULT, _LEFT_OUT)
