"""The errors that a user can cause. Each message quotes the wrong value, what was expected and how to correct it."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Mapping
from typing import Any


class ParaglossError(Exception):
    """The base class of all errors that a user can cause and correct; the command line prints them as one line.

    >>> from paragloss import load
    >>> try:
    ...     load("no-such-folder")
    ... except ParaglossError as error:
    ...     print(type(error).__name__)
    ModelError
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle any subclass, whatever the arguments of its constructor, so that it can be sent to another process."""
        return _rebuild_error, (type(self), str(self), self.__dict__)


def _rebuild_error(error_class: type[ParaglossError], message: str, fields: Mapping[str, Any]) -> ParaglossError:
    error = error_class.__new__(error_class, message)
    error.__dict__.update(fields)
    return error


class InputError(ParaglossError):
    """A file or a value given by the user can't be used.

    :param reason: what is wrong with it.
    :param location: the file, or the file and the row.

    >>> str(InputError("the file is empty", location="notes.txt"))
    'notes.txt: the file is empty'
    """

    def __init__(self, reason: str, *, location: object = "") -> None:
        super().__init__(f"{location}: {reason}" if location else reason)
        self.reason, self.location = reason, str(location)

    @property
    def place(self) -> str:
        """The same as `location`; deprecated."""
        warnings.warn(
            "InputError.place is called location; it will be removed in 0.3", DeprecationWarning, stacklevel=2
        )
        return self.location


class EmptyFileError(InputError):
    """A file was read to its end and has no text.

    Documents read from it earlier are therefore out of date, which can't be said of a file that can't be read.
    """


class PruneError(InputError):
    """So many files have disappeared that their documents are only removed if the user confirms it."""


class LineSyntaxError(InputError):
    """A line such as a pipeline can't be parsed; the message shows the line and points at the error.

    :param message: what is wrong.
    :param text: the line.
    :param at: the offset of the error in the line.
    """

    def __init__(self, message: str, text: str, at: int) -> None:
        line = " ".join(text.split("\n"))  # of the same length, so that offsets stay valid
        # Most letters of East Asian scripts are two columns wide on a terminal.
        column = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line[:at])
        super().__init__(f"{message}\n  {line}\n  {' ' * column}^")
        self.at = at


class LanguageError(ParaglossError):
    """A language is unknown, or a model or collection does not support it.

    >>> from paragloss import load
    >>> try:
    ...     load("default").alternatives("bee", "en", "xx")
    ... except LanguageError:
    ...     print("not supported")
    not supported
    """


class ModelError(ParaglossError):
    """A model can't be trained, saved, loaded or applied.

    >>> from paragloss import load
    >>> try:
    ...     load("no-such-folder")
    ... except ModelError:
    ...     print("not a model")
    not a model
    """


class StoreError(ParaglossError):
    """A collection can't be opened, written or searched.

    >>> from paragloss import Collection
    >>> try:
    ...     Collection.open("no-such-folder")
    ... except StoreError:
    ...     print("not a collection")
    not a collection
    """


class DeadlineError(ParaglossError):
    """A search took longer than its deadline allows."""


class ConsentError(ParaglossError):
    """A host would be contacted that the user has not allowed."""

    def __init__(self, message: str, *, host: str) -> None:
        super().__init__(message)
        self.host = host


class MissingExtraError(ParaglossError):
    """An optional dependency is not installed.

    :param feature: what needs it.
    :param extra: the extra of the package that installs it.

    >>> str(MissingExtraError("the server", "serve"))
    "the server needs an optional part that is not installed: pip install 'paragloss[serve]'"
    """

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional part that is not installed: pip install 'paragloss[{extra}]'")


class UnfinishedError(StoreError):
    """Creating, copying or restoring a collection was interrupted."""


class ClosedError(StoreError):
    """A collection was used after it had been closed."""


class InUseError(StoreError):
    """Another process has the collection open."""


def describe_unknown_format(path: object, meta: Mapping[str, Any], supported: str) -> str:
    """Compose the message for a file or folder whose format this version can't read.

    :param path: the file or folder.
    :param meta: its metadata: "format", and the version of "paragloss" that wrote it if known.
    :param supported: the formats that this version reads.
    """
    message = f"{path} has format {meta['format']!r}, this version reads {supported}"
    writer = meta.get("paragloss")
    return message + (f"; paragloss {writer} wrote it: install that version or a newer one" if writer else "")
