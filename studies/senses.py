"""Which of a word's translations does the query mean? Those near the whole query's vector count more.

    PARAGLOSS_DATA=... PARAGLOSS_HELD=MODEL python studies/senses.py [KIND:LANG ...] [--part train] [--queries 60]

The formula that was chosen in matching.py; an alternative's share is multiplied by exp(SHARPNESS (cosine - the clause's
greatest cosine)), the cosine being that of the query's vector with the alternative's, both by the encoder in the box.
p is the randomisation test against sharpness 0.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import matching
import numpy as np

from paragloss.encoders import pretrained
from paragloss.evaluation import compare
from paragloss.translation import default
from paragloss.types import Query, Translation

SHARPNESS = (0.0, 3.0, 10.0, 30.0)
PAIRS = "lohelp:de lohelp:ru ddtp:de mdn:ru asked:de asked:ru asked:hi claims:ru claims:hi"


class Near:
    """The default model, its alternatives weighed by the query's vector."""

    def __init__(self, model: default.DefaultModel) -> None:
        self._model, self._encoder = model, pretrained.build(pretrained.settings_for("meaning"))
        self._vectors: dict[tuple[str, str], np.ndarray] = {}
        self.sharpness = 0.0

    def translate(self, query: Query, to: str) -> list[Translation]:
        clauses = self._model.translate(query, to)
        if not self.sharpness:
            return clauses
        return [self._weighed(query, clause, to) for clause in clauses]

    def _weighed(self, query: Query, clause: Translation, to: str) -> Translation:
        if len(clause.alternatives) < 2:
            return clause
        asked = self._vector(query.text, query.lang)
        cosine = np.array([self._vector(alternative.text, to) @ asked for alternative in clause.alternatives])
        # matching takes the power of what it is given here
        factor = np.exp(self.sharpness / matching.CHOSEN.power * (cosine - cosine.max()))
        some = [one._replace(weight=one.weight * by) for one, by in zip(clause.alternatives, factor, strict=True)]
        return clause._replace(alternatives=tuple(some))

    def _vector(self, text: str, lang: str) -> np.ndarray:
        if (text, lang) not in self._vectors:
            self._vectors[text, lang] = self._encoder.encode([text], lang)[0]
        return self._vectors[text, lang]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", default=PAIRS.split())
    parser.add_argument("--part", default="train")
    parser.add_argument("--queries", type=int, default=60)
    args = parser.parse_args()
    matching.QUERIES = args.queries
    model = Near(default.DefaultModel.load(Path(os.environ["PARAGLOSS_HELD"])))
    found: dict[str, dict[str, dict[str, float]]] = {f"{sharpness:g}": {} for sharpness in SHARPNESS}
    for kind, lang in (pair.split(":") for pair in args.pairs):
        made = matching.sample(kind, lang, args.part)
        documents = matching.fields(made.documents, lang)
        columns = [one.counts.tocsc() for one in documents]
        for sharpness in SHARPNESS:
            model.sharpness = sharpness
            for query, right in zip(made.queries, made.right, strict=True):
                each = matching.scores(matching.asked(query, model, documents, columns), matching.CHOSEN)
                better = (each > each[right]).sum() + (each[:right] == each[right]).sum()
                rr = 1.0 / (1 + better) if each[right] > 0 else 0.0
                found[f"{sharpness:g}"].setdefault(kind, {})[f"{kind}:{lang}:{query.id}"] = float(rr)
    matching.table(found)
    plain = {query: rr for by in found["0"].values() for query, rr in by.items()}
    for name, by in found.items():
        test = compare(plain, {query: rr for some in by.values() for query, rr in some.items()})
        print(f"sharpness {name}: {test.difference:+.4f}, p {test.p_randomisation:.4f}, {len(plain)} queries")


if __name__ == "__main__":
    main()
