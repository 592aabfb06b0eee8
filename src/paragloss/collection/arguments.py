"""The options for creating, filling and searching a collection: a record of each, and the same as keyword arguments.

The interfaces (`collection.py`, the command line, the server) build the records; everything behind them takes those.
"""

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
    """How to search."""

    #: The language of the query; None finds it out.
    lang: str | None = None
    #: The languages of the documents; None searches all.
    to: Sequence[str] | None = None
    #: How many documents are returned at most.
    k: int = 10
    #: How to search, as a line of text (docs/look-up/pipelines.md); None is the default search.
    pipeline: str | None = None
    #: Conditions that documents must meet, such as `{"meta.year": [1999]}`.
    where: Where | None = None
    #: When to give up; None never does.
    deadline: Deadline | None = None
    #: The reader's language, in which queries of names alone are read.
    reader: str = ""
    #: Of how many of the best documents the newest are returned, newest first; 0 returns the best.
    newest: int = 0


DEFAULT_OPTIONS = SearchOptions()


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
    """How to create a collection."""

    #: Models to search with, as `Collection.add_model` takes them; they are copied into the collection.
    models: Sequence[str] = ()
    #: Whether to search with the default model, which translates words.
    default: bool = True
    #: Whether to search with the shipped encoder; None does so beside the default model, unless another pretrained
    #: encoder is given or PARAGLOSS_MEANING=0 is set.
    meaning: bool | None = None
    #: How vectors of pretrained encoders are stored: float32, float16 or int8.
    precision: str = "float32"
    #: The translation engine that `mt` in a pipeline uses, by name, folder or address.
    machine: str = ""
    #: The language into which documents are translated by that engine when they are indexed.
    translate_to: str = ""
    #: How a server spreads the collection over its nodes.
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
    """How to add documents."""

    #: The language of documents that do not state theirs; None identifies it.
    lang: str | None = None
    #: Is told how many documents are safe on disk.
    progress: Progress = None
    #: Is told how many of how many documents pretrained encoders have encoded, after all can be found by their words.
    encoding: Encoding = None
    #: How many processes prepare documents.
    workers: int = 1
    #: Whether to run pretrained encoders; without them documents wait for another call.
    encode: bool = True


@dataclass(frozen=True)
class FileOptions(IndexOptions):
    """How to add files."""

    #: Whether to read unchanged files too.
    again: bool = False
    #: Whether to remove documents whose file is gone or no longer holds them, unless more than a third of the
    #: collection has disappeared or a folder has become empty.
    prune: bool = False
    #: Whether to remove these as well.
    prune_anyway: bool = False
    #: Is told what can't be read; without it the first error is raised.
    on_error: OnError = None
    #: Is told of every page that is read from a scan: the file, how many pages so far, of how many.
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
