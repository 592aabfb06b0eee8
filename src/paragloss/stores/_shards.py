"""A server's collection whose shards are languages: where a document belongs, and which shards a search has to ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from paragloss.errors import StoreError

#: The shard of documents whose language nobody knows; it is made with the collection, which can't be without any.
UNKNOWN = "und"


class Languages:
    """The languages that are shards of a collection; each is made when its first document comes."""

    def __init__(self, client: Any, name: str, ask: Callable[..., Any]) -> None:
        self._client, self._name, self._ask = client, name, ask
        self._known: set[str] = set()

    def known(self, langs: Iterable[str] | None) -> list[str] | None:
        """Those of some languages that have a shard, or all; None where no language is said."""
        if langs is None:
            return None
        wanted = set(langs)
        if wanted - self._known:
            self._look()
        return sorted(wanted & self._known)

    def make(self, lang: str) -> None:
        """See that a language has a shard; somebody else may have made it a moment ago."""
        if lang in self._known or lang in (self.known([lang]) or []):
            return
        try:
            self._ask(self._client.create_shard_key, self._name, lang)
        except StoreError:
            if lang not in (self.known([lang]) or []):
                raise
        self._known.add(lang)

    def of(self, points: Sequence[str]) -> dict[str, str]:
        """The language of each point that is there."""
        found = self._ask(self._client.retrieve, self._name, list(points), with_payload=["lang"], with_vectors=False)
        return {point.id.replace("-", ""): point.payload.get("lang") or UNKNOWN for point in found}

    def _look(self) -> None:
        about = self._ask(self._client.collection_cluster_info, self._name)
        shards = [*about.local_shards, *about.remote_shards]
        self._known = {str(shard.shard_key) for shard in shards if shard.shard_key is not None}


def asked(groups: Iterable[Sequence[Any]]) -> list[str] | None:
    """The languages that conditions allow; None where they say nothing of that."""
    allowed: set[str] | None = None
    for group in groups:
        if all(match.key == "lang" for match in group):
            here = {str(value) for match in group for value in match.values}
            allowed = here if allowed is None else allowed & here
    return None if allowed is None else sorted(allowed)
