"""How many slips in words of the default model are put right, without any documents.

python studies/slips.py
"""

from __future__ import annotations

import random
import time

from paragloss.bm25 import Layout
from paragloss.collection import spelling
from paragloss.statistics import Statistics
from paragloss.translation import default


def slip(word: str, rng: random.Random) -> str:
    """Two letters exchanged, one left out, one doubled, or a neighbouring key."""
    at, kind = rng.randrange(1, len(word) - 1), rng.random()
    if kind < 0.3:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind < 0.55:
        return word[:at] + word[at + 1 :]
    if kind < 0.75:
        return word[:at] + word[at] + word[at:]
    return word[:at] + rng.choice(spelling._beside(spelling._plain(word[at])) or word) + word[at + 1 :]


def main() -> None:
    model, nothing, rng = default.open(), Statistics(Layout(("title", "text"))), random.Random(0)
    for lang in ("en", "de", "fr", "ru", "es", "tr"):
        spelled = [word for word in model.sample_spellings(lang, 4000) if len(word) >= 6 and word.isalpha()]
        words = rng.sample([word.lower() for word in spelled if word[0].islower() or lang == "de"], 60)
        slips = [(word, made) for word in words if (made := slip(word, rng)) != word]
        strange = [(word, made) for word, made in slips if not spelling._knows([made], lang, nothing, model)[0]]
        started = time.perf_counter()
        found = [spelling.nearest(made, lang, nothing, model) for _, made in strange]
        right = sum(bool(one) and one[0] == word for one, (word, _) in zip(found, strange, strict=True))
        print(f"{lang}: {right} of {len(strange)}, {(time.perf_counter() - started) / len(strange) * 1e3:.0f} ms each")


if __name__ == "__main__":
    main()
