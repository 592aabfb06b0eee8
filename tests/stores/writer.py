"""Adds numbered batches to a collection until it is killed, and says so after each: `python writer.py FOLDER SEED`.

Batch n holds documents n:0 .. n:39 and replaces some of, or deletes from, the batch before.
"""

import random
import sys

import numpy as np

from paragloss.analysis import analyzer
from paragloss.index.terms import TermIndex
from paragloss.stores.embedded import EmbeddedStore
from paragloss.types import Document

SIZE = 40


def unstemmed_analyzer(lang):
    return analyzer(lang, stem=False, stop=False)


def make_text(rng):
    return " ".join(f"w{min(int(rng.paretovariate(0.8)), 500)}" for _ in range(rng.randint(1, 60)))


def report(action, batch):
    sys.stdout.write(f"{action} {batch}\n")
    sys.stdout.flush()


def main(folder, seed):
    rng = random.Random(seed)
    with EmbeddedStore.open(folder) as store:
        index = TermIndex.open(store, analyze=unstemmed_analyzer)
        batch = 1 + max((int(r.document.id.split(":")[0]) for b in store.scroll() for r in b), default=-1)
        while True:
            documents = [Document(f"{batch}:{i}", make_text(rng), rng.choice(("en", "de"))) for i in range(SIZE)]
            if batch:
                documents += [Document(f"{batch - 1}:{i}", make_text(rng), "fr") for i in range(5)]
            index.add(documents, {"m": np.ones((len(documents), 16), np.float32)})
            report("added", batch)
            if batch % 3 == 0:
                index.delete([f"{batch}:{SIZE - 1}"])
                report("deleted", batch)
            if batch % 5 == 0:
                index.commit()
            if batch % 7 == 0:
                store.optimize()
            if batch % 11 == 0:
                index.refresh()
            batch += 1


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
