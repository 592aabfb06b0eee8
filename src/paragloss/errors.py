"""What can go wrong, as a small tree. Each message quotes the value, the expectation and the remedy."""

from __future__ import annotations


class ParaglossError(Exception):
    """Anything a user can cause and mend; the command line prints it as one line."""


class InputError(ParaglossError):
    """A file or a value given by the user can't be used."""


class LanguageError(ParaglossError):
    """A language is unknown, or not known to this model or collection."""


class ModelError(ParaglossError):
    """A model can't be trained, saved, loaded or applied."""


class StoreError(ParaglossError):
    """A collection can't be opened, written or searched."""


class MissingExtraError(ParaglossError):
    """An optional part is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional part that is not installed: pip install 'paragloss[{extra}]'")


class InUseError(StoreError):
    """Another process has the collection open."""
