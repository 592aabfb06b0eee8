"""What programs that run a collection do beside users' work: keep it quick, current, and under one writer."""

from __future__ import annotations

from collections.abc import Iterator

from paragloss.collection import learned, writer
from paragloss.collection.state import State
from paragloss.index import terms


class Maintenance:
    """The maintenance of an open collection; `Collection.maintenance` makes it."""

    def __init__(self, state: State) -> None:
        self._state = state

    def read_versions(self) -> tuple[str, str]:
        """Return the versions of the documents and of everything else. Each changes when that does.

        A process that has read both searches as this one does.
        """
        return self._state.store.get_blob_change_markers(terms.STATISTICS_BLOB)

    def catch_up(self) -> None:
        """Read what another process has written since."""
        self._state.index.catch_up(interval=0.0)

    def read_ahead(self) -> Iterator[int]:
        """Read into memory what searches would read one by one, as far as there is room for it.

        Yields after each step how many documents have been read. A collection on a server is read by the server itself.
        """
        return self._state.store.preload_sparse(terms.TERMS_VECTOR)

    def build_graph_if_due(self) -> None:
        """Build the graph of vectors once many documents have been added. Takes minutes; searches and writes go on."""
        writer.build_graph_if_due(self._state)

    def encode_deferred(self) -> Iterator[tuple[int, int]]:
        """Encode documents that lack vectors of pretrained encoders, a few at a time.

        Yields after each step how many of how many documents are done. Nothing else may be written during a step;
        between two steps anything may.
        """
        return writer.encode_deferred(self._state)

    def take_over_writing(self) -> None:
        """Become the writer although another process is; that process is refused from then on."""
        self._state.store.take_over_writing()

    def close_or_remove(self) -> None:
        """Close the collection, or remove it if this process has created it and it has no documents."""
        if not (self._state.is_new and self._state.store.remove_if_empty()):
            self._state.close()

    def list_translated_paths(self) -> list[str]:
        """Return the paths of pages in several languages that `learn` could learn from; none if it has done so."""
        return [] if learned.NAME in self._state.models else learned.list_translated_paths(self._state)
