"""e5's vectors from a folder, computed elsewhere by the same weights: keys.json has blake2b-8 digests of "query: ..."
and "passage: ...", vectorsN.npy their float16 rows. What is not there is computed here.

What encoding would have cost here is told from some of the texts, encoded again."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from paragloss.encoders.pretrained import packages
from paragloss.types import Floats

#: Of 256 texts so many are encoded here, to see what that costs.
TIMED = 8


class Computed:
    alone, dim = True, 384

    def __init__(self, folder: Path) -> None:
        self._place = {key: i for i, key in enumerate(json.loads((folder / "keys.json").read_text(encoding="utf-8")))}
        self._rows = np.concatenate([np.load(file) for file in sorted(folder.rglob("vectors*.npy"))])
        self._here = packages.opened("e5")
        self._spent: dict[bool, list[float]] = {True: [], False: []}
        self._count = {True: 0, False: 0}

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        prefix = "query: " if query else "passage: "
        keys = [hashlib.blake2b(f"{prefix}{text}".encode(), digest_size=8).hexdigest() for text in texts]
        self._time([t for t, key in zip(texts, keys, strict=True) if int(key[:2], 16) < TIMED], query)
        self._count[query] += len(texts)
        missing = [i for i, key in enumerate(keys) if key not in self._place]
        rows = np.asarray(self._rows[[self._place.get(key, 0) for key in keys]], np.float32)
        if missing:
            rows[missing] = self._here.encode([texts[i] for i in missing], query=query)
        return rows

    def _time(self, texts: Sequence[str], query: bool) -> None:
        for text in texts:
            started = time.process_time()
            self._here.encode([text], query=query)
            self._spent[query].append(time.process_time() - started)

    def each(self, *, query: bool) -> float:
        """Processor seconds that a text takes."""
        return float(np.mean(self._spent[query])) if self._spent[query] else 0.0

    def owed(self, *, query: bool) -> float:
        """Processor seconds that the texts would have taken that were not encoded here."""
        return (self._count[query] - len(self._spent[query])) * self.each(query=query)


@contextmanager
def vectors(folder: str) -> Iterator[Computed | None]:
    """Within the block `e5` takes its vectors from the folder, if one is named."""
    if not folder:
        yield None
        return
    before = packages.opened
    known = Computed(Path(folder))
    packages.opened = lambda name: known if name == "e5" else before(name)  # type: ignore[assignment]
    try:
        yield known
    finally:
        packages.opened = before
