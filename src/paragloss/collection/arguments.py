"""What is said when a collection is made, filled or searched: a record of each, and the same as keyword arguments. The
door (`collection.py`, the command line, the server) builds the record; everything behind it takes that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from paragloss.collection.deadline import Deadline
from paragloss.formats.text import OnError
from paragloss.stores import Placement
from paragloss.types import Where

if TYPE_CHECKING:
    from paragloss.formats.scans import ScanProgress

Progress: TypeAlias = Callable[[int], None] | None
Encoding: TypeAlias = Callable[[int, int], None] | None


@dataclass(frozen=True)
class SearchOptions:
    """How to search: the query's language (found out when not given), the documents' languages (all), how many, the
    pipeline (everything, fused), which documents may be found, until when, the reader's language, in which names
    alone are read, and of how many of the best the newest are shown, the newest first (0: the best are)."""

    lang: str | None = None
    to: Sequence[str] | None = None
    k: int = 10
    pipeline: str | None = None
    where: Where | None = None
    deadline: Deadline | None = None
    reader: str = ""
    newest: int = 0


#: A search that nothing is said of.
PLAIN = SearchOptions()


class SearchKeywords(TypedDict, total=False):
    """`SearchOptions` as keyword arguments."""

    lang: str | None
    to: Sequence[str] | None
    k: int
    pipeline: str | None
    where: Where | None
    deadline: Deadline | None
    reader: str
    newest: int


@dataclass(frozen=True)
class CollectionOptions:
    """How a collection is made. It is searched with the default model, unless that is to be left out of it, and with
    some trained models, which are copied into it. By `meaning` it is searched where the default model is, unless one of
    the models is a pretrained encoder; PARAGLOSS_MEANING=0 leaves it out of every new collection. `precision` says how
    finely the vectors of pretrained encoders are kept: float32, float16 or int8. `machine` is the translation
    engine that `mt` in a pipeline means; with `translate_to` it also translates documents into that language.
    `placement` says how a server spreads it."""

    models: Sequence[str] = ()
    default: bool = True
    meaning: bool | None = None
    precision: str = "float32"
    machine: str = ""
    translate_to: str = ""
    placement: Placement | None = None


class CollectionKeywords(TypedDict, total=False):
    """`CollectionOptions` as keyword arguments."""

    models: Sequence[str]
    default: bool
    meaning: bool | None
    precision: str
    machine: str
    translate_to: str
    placement: Placement | None


@dataclass(frozen=True)
class IndexOptions:
    """How documents are added. One that does not say its language gets `lang`, or the one it seems to be written in.
    Pretrained encoders come last, when all documents can be found by their words: `encoding` is told how many of how
    many they have read; without `encode` they wait for another call. With more than one of `workers`, that many
    processes prepare documents while this one writes."""

    lang: str | None = None
    progress: Progress = None
    encoding: Encoding = None
    workers: int = 1
    encode: bool = True


@dataclass(frozen=True)
class FileOptions(IndexOptions):
    """How files are added: those that are new or have changed since, or all of them `again`; `prune` removes documents
    whose file is gone, or no longer holds them, unless a third of the collection has disappeared or a folder has become
    empty, which `prune_anyway` removes too; what can't be read is told to `on_error`, and `scanning` is told of
    every page that is read from a scan: its file, how many pages so far, of how many."""

    again: bool = False
    prune: bool = False
    prune_anyway: bool = False
    on_error: OnError = None
    scanning: ScanProgress = lambda *_: None


class IndexKeywords(TypedDict, total=False):
    """`IndexOptions` as keyword arguments."""

    lang: str | None
    progress: Progress
    encoding: Encoding
    workers: int
    encode: bool


class FileKeywords(IndexKeywords, total=False):
    """`FileOptions` as keyword arguments."""

    again: bool
    prune: bool
    prune_anyway: bool
    on_error: OnError
    scanning: ScanProgress
