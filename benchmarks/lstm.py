"""CPU seconds of an LSTM tower for 100 queries and an epoch, with irrelevant documents drawn from all or from a few.

OMP_NUM_THREADS=1 python benchmarks/lstm.py
"""

from __future__ import annotations

import time

import numpy as np
import torch

from paragloss.lab import judgments
from paragloss.lab.methods import ordinal
from paragloss.types import Concept

CONCEPTS, WORDS, TERMS = 400, 150, 5000


def main() -> None:
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    concepts = [
        Concept(str(i), {code: " ".join(f"{code}{w}" for w in rng.zipf(1.3, WORDS) % TERMS) for code in ("qa", "qb")})
        for i in range(CONCEPTS)
    ]
    judged = judgments.from_aligned(concepts, source="qa", target="qb", query="text")
    for pool in (0, ordinal.POOL):
        ordinal.POOL = pool
        started = time.process_time()
        ordinal.fit_judged(judged, encoder="lstm", epochs=1, batch=32)
        taken = (time.process_time() - started) * 100 / CONCEPTS
        print(f"drawn from {pool or 'all'}: {taken:.1f} CPU seconds for 100 queries and an epoch")


if __name__ == "__main__":
    main()
