"""e5's vectors from a folder, computed elsewhere by the same weights: keys.json has blake2b-8 digests of "query: ..."
and "passage: ...", vectorsN.npy their float16 rows. What is not there is computed here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from paragloss.serving.pretrained import packages
from paragloss.types import Floats


class Computed:
    alone, dim = True, 384

    def __init__(self, folder: Path) -> None:
        self._place = {key: i for i, key in enumerate(json.loads((folder / "keys.json").read_text(encoding="utf-8")))}
        self._rows = np.concatenate([np.load(file) for file in sorted(folder.rglob("vectors*.npy"))])
        self._rest: packages.E5 | None = None

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        prefix = "query: " if query else "passage: "
        keys = [hashlib.blake2b(f"{prefix}{text}".encode(), digest_size=8).hexdigest() for text in texts]
        missing = [i for i, key in enumerate(keys) if key not in self._place]
        rows = np.asarray(self._rows[[self._place.get(key, 0) for key in keys]], np.float32)
        if missing:
            self._rest = self._rest or packages.E5()
            rows[missing] = self._rest.encode([texts[i] for i in missing], query=query)
        return rows


@contextmanager
def vectors(folder: str) -> Iterator[None]:
    """Within the block `e5` takes its vectors from the folder, if one is named."""
    if not folder:
        yield
        return
    before = packages.opened
    known = Computed(Path(folder))
    packages.opened = lambda name: known  # type: ignore[assignment, return-value]
    try:
        yield
    finally:
        packages.opened = before
