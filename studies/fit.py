"""What the fit that is shown beside a document means: learned from judged searches, and held against others.

    PARAGLOSS_DATA=... PARAGLOSS_HELD=MODEL python studies/fit.py learn     the weights of collection/calibration.py
    PARAGLOSS_DATA=... PARAGLOSS_HELD=MODEL python studies/fit.py check     test parts: said and true, and docs' diagram

Sets are `matching`'s, in collections of 5 to 1,000 documents, searched by the product as it is. The right document of
every second query is taken out: half of what is asked has no answer. The five best hits of each are judged.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from pathlib import Path

import matching
import numpy as np

from paragloss.collection import Collection, SearchOptions, calibration, retrieval

SIZES, QUERIES, HITS = (5, 40, 300, 1000), 40, 5
#: Two of them for each kind.
LEARN, CHECK = "de ru", "de ru es fr ja"
DIAGRAM = Path(__file__).parents[1] / "docs" / "images" / "fit.svg"


def judged(part: str, langs: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(hits, features), whether each is right, and how many documents there were."""
    rows, right, sizes = [], [], []
    for kind, spoken in matching.KINDS.items():
        for lang in [lang for lang in spoken.split() if lang in langs.split()][:2]:
            made = matching.sample(kind, lang, part)
            for size in SIZES:
                some = random.Random(size).sample(range(len(made.queries)), min(QUERIES, len(made.queries)))
                if size == SIZES[0]:
                    some = some[: size * 2]
                there = {made.right[i] for i in some[::2]}
                gone = {made.right[i] for i in some[1::2]} - there
                rest = [i for i in range(len(made.documents)) if i not in there | gone]
                kept = [*there, *random.Random(1).sample(rest, max(0, min(len(rest), size - len(there))))]
                with (
                    tempfile.TemporaryDirectory() as place,
                    Collection.create(f"{place}/c", models=[os.environ["PARAGLOSS_HELD"]], default=False) as engine,
                ):
                    engine.index([made.documents[i] for i in kept])
                    parts, options = engine.state.parts(), SearchOptions(k=HITS, to=[lang])
                    best = retrieval.searcher(engine.state, None, "en", [lang]).best(lang)
                    for i in some:
                        asked = retrieval.understood(engine.state, made.queries[i])
                        ((found, _),) = retrieval._found(engine.state, parts, [asked], options, standing=True)
                        for hit in found:
                            rows.append(calibration.features(found.standing[hit.id], best, len(kept)))
                            right.append(hit.id == made.documents[made.right[i]].id)
                            sizes.append(size)
            print(kind, lang, len(rows), f"{np.mean(right):.3f}", flush=True)
    return np.array(rows), np.array(right, float), np.array(sizes)


def learned(rows: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Newton's steps, with a little ridge."""
    weights = np.zeros(rows.shape[1])
    for _ in range(30):
        said = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (right - said) - 0.1 * weights
        curve = (rows * (said * (1 - said))[:, None]).T @ rows + 0.1 * np.eye(len(weights))
        weights += np.linalg.solve(curve, slope)
    return weights


def reliability(said: np.ndarray, right: np.ndarray) -> list[tuple[float, float, int]]:
    """Said, true and how many, tenth by tenth."""
    tenth = np.minimum((said * 10).astype(int), 9)
    return [(said[tenth == t].mean(), right[tenth == t].mean(), int((tenth == t).sum())) for t in np.unique(tenth)]


def diagram(points: list[tuple[float, float, int]]) -> str:
    """A square of 100 points a side, what is said from left to right and what is true upwards."""
    dots = "".join(
        f'<circle cx="{30 + 200 * s:.0f}" cy="{220 - 200 * t:.0f}" r="4"><title>{n} hits</title></circle>'
        for s, t, n in points
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 250 250" width="375" font-family="sans-serif"'
        ' font-size="10"><rect width="250" height="250" fill="#fff"/>'
        '<path d="M30 20V220H230" fill="none" stroke="#666"/>'
        f'<path d="M30 220L230 20" stroke="#bbb" stroke-dasharray="4"/><g fill="#0b57d0">{dots}</g>'
        '<text x="130" y="240" text-anchor="middle">fit that is shown</text>'
        '<text x="14" y="120" text-anchor="middle" transform="rotate(-90 14 120)">share that is right</text></svg>\n'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["learn", "check"])
    what = parser.parse_args().what
    rows, right, sizes = judged("train" if what == "learn" else "test", LEARN if what == "learn" else CHECK)
    weights = learned(rows, right) if what == "learn" else np.array(calibration.WEIGHTS)
    said = 1 / (1 + np.exp(-rows @ weights))
    print("weights", tuple(round(float(w), 3) for w in weights))
    for size in (*SIZES, None):
        here = sizes == size if size else np.ones(len(sizes), bool)
        points = reliability(said[here], right[here])
        error = sum(n * abs(s - t) for s, t, n in points) / here.sum()
        print(size or "all", f"error {error:.3f}", " ".join(f"{s:.2f}:{t:.2f}({n})" for s, t, n in points))
    for floor in (0.01, 0.02, 0.03, 0.05):
        low = said < floor
        print(f"floor {floor}: {low.mean():.3f} of hits, {right[low].sum() / right.sum():.4f} of right ones")
    if what == "check":
        DIAGRAM.parent.mkdir(exist_ok=True)
        DIAGRAM.write_text(diagram(reliability(said, right)), encoding="utf-8")


if __name__ == "__main__":
    main()
