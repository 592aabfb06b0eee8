"""The encoder's vectors of the demonstration's texts, which `paragloss demo` shows beside the default model.

    python studies/demo_vectors.py [FILE]

Needs `paragloss[encoder]`. Half a second a document and a tenth a query on one core: twelve minutes for all; texts that
FILE (the one in the package) has already are not encoded again. Writes after every hundred texts.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from paragloss import demo
from paragloss.demo import encoded
from paragloss.encoders.pretrained import packages


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else Path(demo.__file__).parent / encoded.FILE)
    read = encoded.list_texts(demo.documents(), demo.queries()[0])
    keys = encoded.compute_keys(read)
    rows_by_key: dict[int, np.ndarray] = {}
    if path.is_file():
        with np.load(path, allow_pickle=False) as stored:
            rows_by_key = dict(zip(stored["keys"].tolist(), stored["rows"], strict=True))
    encoder = packages.open_named_encoder("e5")
    missing = [i for i, key in enumerate(keys.tolist()) if key not in rows_by_key]
    print(f"{len(read)} texts, {len(missing)} to encode", flush=True)
    for start in range(0, len(missing), 100):
        for i in missing[start : start + 100]:
            text, query = read[i]
            rows_by_key[int(keys[i])] = encoded.quantize(encoder.encode([text], query=query))[0]
        write(path, [key for key in keys.tolist() if key in rows_by_key], rows_by_key)
        print(f"{min(start + 100, len(missing))} encoded", flush=True)
    write(path, keys.tolist(), rows_by_key)


def write(path: Path, keys: list[int], rows_by_key: dict[int, np.ndarray]) -> None:
    with path.open("wb") as file:
        np.savez(file, keys=np.array(keys, np.uint64), rows=np.array([rows_by_key[key] for key in keys], np.int8))


if __name__ == "__main__":
    main()
