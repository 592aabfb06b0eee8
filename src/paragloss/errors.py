"""What can go wrong, as a small tree. Each message quotes the value, the expectation and the remedy."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any


class ParaglossError(Exception):
    """Anything a user can cause and mend; the command line prints it as one line."""

    def __reduce__(self) -> tuple[Any, ...]:
        """As it travels from one process to another, whatever it was made of."""
        return _again, (type(self), str(self), self.__dict__)


def _again(kind: type[ParaglossError], message: str, fields: Mapping[str, Any]) -> ParaglossError:
    error = kind.__new__(kind, message)
    error.__dict__.update(fields)
    return error


class InputError(ParaglossError):
    """A file or a value given by the user can't be used: for what `reason`, and where, in a file or a row of one."""

    def __init__(self, reason: str, *, place: object = "") -> None:
        super().__init__(f"{place}: {reason}" if place else reason)
        self.reason, self.place = reason, str(place)


class EmptyFileError(InputError):
    """A file was read to its end and holds no text. Its earlier documents are out of date, unlike those of a file that
    can't be read."""


class PruneError(InputError):
    """So many files have disappeared that their documents are not removed without being told to."""


class PlacedError(InputError):
    """Something in a line of text can't be read: shows the line, and points at the place."""

    def __init__(self, message: str, text: str, at: int) -> None:
        line = " ".join(text.split("\n"))  # as long as before: places stay
        # Most letters of East Asian scripts are two columns wide on a terminal.
        before = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line[:at])
        super().__init__(f"{message}\n  {line}\n  {' ' * before}^")
        self.at = at


class LanguageError(ParaglossError):
    """A language is unknown, or not known to this model or collection."""


class ModelError(ParaglossError):
    """A model can't be trained, saved, loaded or applied."""


class StoreError(ParaglossError):
    """A collection can't be opened, written or searched."""


class DeadlineError(ParaglossError):
    """It took longer than it may."""


class ConsentError(ParaglossError):
    """Something would contact a `host` that the user has not allowed."""

    def __init__(self, message: str, *, host: str) -> None:
        super().__init__(message)
        self.host = host


class MissingExtraError(ParaglossError):
    """An optional part is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional part that is not installed: pip install 'paragloss[{extra}]'")


class UnfinishedError(StoreError):
    """A collection that was never finished being created, copied or restored."""


class ClosedError(StoreError):
    """A collection that this process has closed."""


class InUseError(StoreError):
    """Another process has the collection open."""


def unread_format(what: object, described: Mapping[str, Any], reads: str) -> str:
    """What to say of something kept in a format that this version does not read, and which version does."""
    message = f"{what} has format {described['format']!r}, this version reads {reads}"
    writer = described.get("paragloss")
    return message + (f"; paragloss {writer} wrote it: install that version or a newer one" if writer else "")
