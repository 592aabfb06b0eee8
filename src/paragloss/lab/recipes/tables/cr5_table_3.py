"""Cr5's Table 3: sentences find their translations, by Cr5 learned from documents and by maps between word spaces.

Theirs: Europarl en-it, 200,000 candidates, Cr5 and word vectors from Wikipedia, a dictionary of 5,000 pairs. Ours: Cr5
and each language's own word vectors (PPMI, 200 dimensions) from Debian's descriptions; sentences of Tatoeba; MUSE pairs
as the dictionary. Neither learns from sentences. Europarl is a part where its files are (`lab.recipes.originals`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from paragloss.encoders.bag import BagEncoder
from paragloss.formats.dictionaries import read_pairs
from paragloss.lab.methods import alignment, cr5
from paragloss.lab.recipes import originals
from paragloss.lab.recipes.nearest import across
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.sets import drawn, folder, in_all, sentences, split

MINUTES = 12
DATA = ("ddtp/it.jsonl.gz", "ddtp/da.jsonl.gz", "ddtp/fr.jsonl.gz", "tatoeba/en-it.tsv.gz", "muse/en-it.tsv.gz")
TAUGHT = 10_000  # word pairs that teach the maps
COLUMNS = ("P@1", "P@5", "P@10", "back P@1", "back P@5", "back P@10")
#: A map between word spaces, and by which rule its authors look for the nearest.
MAPS = {
    "Mikolov et al.": ("least-squares", "cosine"),
    "Dinu et al.": ("least-squares", "corrected"),
    "Faruqui and Dyer": ("cca", "cosine"),
    "Artetxe et al.": ("orthogonal", "cosine"),
    "Smith et al.": ("svd", "inverted"),
    "Procrustes (cosine)": ("procrustes", "cosine"),
    "Procrustes (CSLS)": ("procrustes", "CSLS"),
    "AdvRefine (CSLS)": ("advrefine", "CSLS"),
    "Cr5 (cosine)": ("cr5", "cosine"),
    "Cr5 (CSLS)": ("cr5", "CSLS"),
}


def parts(smoke: bool) -> list[str]:
    ours = ["en-it"] if smoke else ["en-it", "en-da", "en-fr"]
    return [*ours, *([] if smoke else originals.present({"europarl en-it": ("europarl/*.en", "europarl/*.it")}))]


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    name, _, lang = part.rpartition("en-")
    held = originals.sentences(name.strip(), lang) if name else sentences(lang)
    test = drawn(held.test, 40 if smoke else 2000 if name else 1000, 0)
    learned = models(lang, seed, smoke)
    rows: Measured = {}
    for name, (method, rule) in MAPS.items():
        back = across(learned[method], test, lang, "en", rule=rule)
        rows[name] = {
            **across(learned[method], test, "en", lang, rule=rule),
            **{f"back {measure}": value for measure, value in back.items()},
        }
    return rows


@lru_cache(maxsize=1)
def models(lang: str, seed: int, smoke: bool) -> dict[str, BagEncoder]:
    """Learned from the same descriptions; the maps from the same word vectors."""
    whole = split("ddtp", ["en", lang], lines=500 if smoke else None)
    train = drawn(in_all(whole.train, ["en", lang]), 200 if smoke else 4000, seed)
    pairs = [(entry.source, entry.target) for entry in read_pairs(folder() / "muse" / f"en-{lang}.tsv.gz")][:TAUGHT]
    known = {("en", lang): pairs, (lang, "en"): [(b, a) for a, b in pairs]}
    small: dict[str, Any] = {"epochs": 1, "steps": 20} if smoke else {"epochs": 3}
    made = {
        method: alignment.fit(
            train,
            method=method,
            dim=50 if smoke else 200,
            seed=seed,
            dictionary=None if method == "advrefine" else known,
            **(small if method == "advrefine" else {}),
        )
        for method in dict.fromkeys(method for method, _ in MAPS.values() if method != "cr5")
    }
    return {**made, "cr5": cr5.fit(train, seed=seed, stem=False)}
