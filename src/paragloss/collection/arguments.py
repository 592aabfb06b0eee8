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
    """How to search.

    :param lang: the language of the query; None finds it out.
    :param to: the languages of the documents; None searches all.
    :param k: how many documents are returned at most.
    :param pipeline: how to search, as a line of text (docs/look-up/pipelines.md); None is the default search.
    :param where: conditions that documents must meet, such as `{"meta.year": [1999]}`.
    :param deadline: when to give up; None never does.
    :param reader: the reader's language, in which queries of names alone are read.
    :param newest: of how many of the best documents the newest are returned, newest first; 0 returns the best.
    :param variants: whether the default search also looks for other spellings of names and for what they sound like,
        and corrects spelling.

    >>> SearchOptions(lang="en", to=["de", "fr"], k=5).k
    5
    """

    lang: str | None = None
    to: Sequence[str] | None = None
    k: int = 10
    pipeline: str | None = None
    where: Where | None = None
    deadline: Deadline | None = None
    reader: str = ""
    newest: int = 0
    variants: bool = True


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
    variants: bool


@dataclass(frozen=True)
class CollectionOptions:
    """How to create a collection.

    :param models: models to search with, as `Collection.add_model` takes them; they are copied into the collection.
    :param default: whether to search with the default model, which translates words.
    :param meaning: whether to search with the shipped encoder; None does so beside the default model, unless
        another pretrained encoder is given or PARAGLOSS_MEANING=0 is set.
    :param precision: how vectors of pretrained encoders are stored: float32, float16 or int8.
    :param machine: the translation engine that `mt` in a pipeline uses, by name, folder or address.
    :param translate_to: the language into which documents are translated by that engine when they are indexed.
    :param placement: how a server spreads the collection over its nodes.

    >>> CollectionOptions(meaning=False).precision
    'float32'
    """

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
    """How to add documents.

    :param lang: the language of documents that do not state theirs; None identifies it.
    :param progress: is told how many documents are safe on disk.
    :param encoding: is told how many of how many documents pretrained encoders have encoded, after all can be found
        by their words.
    :param workers: how many processes prepare documents.
    :param encode: whether to run pretrained encoders; without them documents wait for another call.

    >>> IndexOptions(lang="de").workers
    1
    """

    lang: str | None = None
    progress: Progress = None
    encoding: Encoding = None
    workers: int = 1
    encode: bool = True


@dataclass(frozen=True)
class FileOptions(IndexOptions):
    """How to add files.

    :param lang: the language of documents that do not state theirs; None identifies it.
    :param progress: is told how many documents are safe on disk.
    :param encoding: is told how many of how many documents pretrained encoders have encoded, after all can be found
        by their words.
    :param workers: how many processes prepare documents.
    :param encode: whether to run pretrained encoders; without them documents wait for another call.
    :param again: whether to read unchanged files too.
    :param prune: whether to remove documents whose file is gone or no longer holds them, unless more than a third
        of the collection has disappeared or a folder has become empty.
    :param prune_anyway: whether to remove these as well.
    :param on_error: is told what can't be read; without it the first error is raised.
    :param scanning: is told of every page that is read from a scan: the file, how many pages so far, of how many.

    >>> FileOptions(prune=True).again
    False
    """

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
