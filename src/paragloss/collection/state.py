"""What an open collection is searched with: its store, the index of its terms, its models, its glossary. Everything
else here takes one of these; it decides nothing itself."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from paragloss.collection import document_translation, model_records
from paragloss.collection.deadline import Deadline, timed
from paragloss.collection.models import load
from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.pretrained import Pretrained
from paragloss.errors import ConsentError, StoreError
from paragloss.index.terms import TermIndex
from paragloss.search import pipeline as pipelines
from paragloss.search.document_cache import DocumentCache
from paragloss.stores import AnyStore, model_files
from paragloss.translation import default as default_model
from paragloss.translation.embedding import EmbeddingTranslator
from paragloss.translation.glossary import Pair, UserGlossary, apply_glossary
from paragloss.types import Document, Encoder, Record, Reranker, TranslationChooser, Translator

_GLOSSARY = "glossary"
#: Says that a collection is searched without the default model.
_DEFAULT, _LEFT_OUT = "default", b"left out"


class State:
    """A collection and the models it is searched with."""

    def __init__(self, location: str, store: AnyStore, index: TermIndex, *, default: bool = True) -> None:
        self.location = location
        self.store = store
        self.index = index
        self.models: dict[str, Any] = {}
        #: Hosts that models of the collection need and the user has not allowed; it is searched without these models.
        self.hosts_awaiting_consent: tuple[str, ...] = ()
        self.load_models()
        self.default = default_model.open() if default and store.read_blob(_DEFAULT) != _LEFT_OUT else None
        self.glossary = UserGlossary.from_text((store.read_blob(_GLOSSARY) or b"").decode())
        self.machine = document_translation.read(store)
        self.is_new = False  # whether this process has created the collection
        self.cache = DocumentCache(lambda: self.index.document_version)
        self._nearest: dict[
            str, tuple[BagEncoder, EmbeddingTranslator]
        ] = {}  # encoders as translators, made when needed

    def load_models(self) -> None:
        """Load the models of the collection that are not loaded yet and may be used on this machine."""
        hosts_awaiting_consent: dict[str, None] = {}
        for name, record in model_records.read_model_records(self.store).items():
            if not record.ready or name in self.models:
                continue
            try:
                model = load(model_files.get_model_folder(self.store, name))
            except ConsentError as error:
                hosts_awaiting_consent[error.host] = None
                warnings.warn(f"searching without the model {name!r}: {error}", stacklevel=2)
                continue
            # A kill inside the engine may cost a model its vectors: it is searched without until it is given again.
            if name in self.store.dense or not isinstance(model, Encoder):
                self.models[name] = model
        self.hosts_awaiting_consent = tuple(hosts_awaiting_consent)

    def close(self) -> None:
        """Write down what is known and let go of the collection."""
        with suppress(StoreError):
            self.index.commit()
        self.store.close()

    @property
    def langs(self) -> tuple[str, ...]:
        """The languages of the documents."""
        return self.index.statistics.langs

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Those of some documents that are here."""
        return [record.document for record in self.store.get(ids) if record is not None]

    def records(self, ids: Sequence[str]) -> list[Record]:
        """The same with what is shown of them by: where their words stand, and their passages' vectors."""
        there = self.store.get(ids, vectors=[name for name, m in self.models.items() if isinstance(m, Pretrained)])
        return [record for record in there if record is not None]

    def parts(self, deadline: Deadline | None = None) -> pipelines.Parts:
        """What a pipeline can be made of; its store is asked until a deadline."""
        return pipelines.Parts(
            timed(self.store, deadline) if deadline else self.store,
            self.index.statistics,
            {name: m for name, m in self.models.items() if isinstance(m, Encoder)},
            apply_glossary(self.translators(), self.glossary),
            {name: m for name, m in self.models.items() if isinstance(m, Reranker)},
            self.documents,
            machine=self.machine.engine,
            cache=self.cache,
            choosers={name: m for name, m in self.models.items() if isinstance(m, TranslationChooser)},
            title_vectors=frozenset(self.store.dense) - self.models.keys(),
        )

    def translators(self) -> dict[str, Translator]:
        """The default first, so that a model of the reader's that has its name takes its place."""
        default: dict[str, Translator] = {pipelines.DEFAULT: self.default} if self.default else {}
        return default | {name: model for name, model in self.models.items() if isinstance(model, Translator)}

    def explaining(self) -> dict[str, Translator]:
        """What says what words mean, the most trusted first; the default model also where it is not searched with."""
        for name, model in self.models.items():
            if isinstance(model, BagEncoder) and self._nearest.get(name, (None,))[0] is not model:
                self._nearest[name] = (model, EmbeddingTranslator(model))
        near = {name: made for name, (model, made) in self._nearest.items() if self.models.get(name) is model}
        own = dict(self.parts().translators)
        last = own.pop(pipelines.DEFAULT, None) or default_model.open()
        return {**own, pipelines.DEFAULT: last, **near}

    def write_glossary(self, pairs: Sequence[Pair]) -> int:
        """Replace the reader's own glossary; it counts from the next query on. How many pairs it has."""
        glossary = UserGlossary(pairs)
        self.store.write_blob(_GLOSSARY, glossary.to_text().encode())
        self.glossary = glossary
        return len(glossary.pairs)

    def change_glossary(self, *, remove: Sequence[Pair], add: Sequence[Pair]) -> int:
        """The same of some pairs, beside whoever changes others: what is kept now is what is changed."""
        kept, gone = (
            UserGlossary.from_text((self.store.read_blob(_GLOSSARY) or b"").decode()).pairs,
            UserGlossary(remove).pairs,
        )
        return self.write_glossary(
            list(dict.fromkeys([*(pair for pair in kept if pair not in gone), *UserGlossary(add).pairs]))
        )


def leave_out_default(store: AnyStore) -> None:
    """Search a collection without the default model from now on."""
    if store.read_blob(_DEFAULT) != _LEFT_OUT:
        store.write_blob(_DEFAULT, _LEFT_OUT)
