"""Which of a dictionary's translations is meant: what occurs together, parallel texts.

    PARAGLOSS_DATA=... python studies/disambiguation.py DICTIONARIES [--quick]

DICTIONARIES is the folder of FreeDict's files for dictd (Debian: dict-freedict-eng-deu, -eng-hin, -eng-nld, -eng-fra;
/usr/share/dictd). Chapter 2 of Liu's thesis tells of Ballesteros and Croft's comparison; this is it on open sets. Every
row is a pipeline of a collection, English queries; parallel texts are of the same set, split by concept.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from paragloss.evaluation.significance import compare
from paragloss.formats.dictionaries import read_entries
from paragloss.lab.methods import parallel
from paragloss.lab.recipes import tasks
from paragloss.lab.recipes.sets import drawn, in_all, share, split
from paragloss.lab.recipes.tables import results
from paragloss.translation.dictionary import Dictionary
from paragloss.types import Concept

SETS = (("lohelp", "de"), ("ddtp", "de"), ("tatoeba", "de"), ("tatoeba", "hi"), ("lohelp", "nl"), ("mdn", "fr"))
FILES = {"de": "eng-deu", "hi": "eng-hin", "nl": "eng-nld", "fr": "eng-fra"}
PLAIN = "every translation"
SYSTEMS = {
    PLAIN: "words:{}",
    "together with its neighbours": "words:{}|together",
    "the one of parallel texts": "words:{}|pairs:one",
    "weighed by parallel texts": "words:{}|pairs",
}
#: How alternatives are searched: mixed as probabilities, or each for itself.
MATCHINGS = ("psq", "each")
SIZES, QUICK = tasks.Sizes(20_000, 20_000, 600, 3000), tasks.Sizes(500, 500, 30, 100)


def main(folder: Path, sizes: tasks.Sizes) -> None:
    for name, lang in SETS:
        task = tasks.sentences(lang, sizes) if name == "tatoeba" else tasks.titles(name, lang, sizes, smoke=False)
        texts = learned_from(name, lang, sizes)
        print(
            f"\n{task.name}: {len(task.queries)} queries, {len(task.documents)} documents, {len(texts)} parallel texts"
        )
        rows = measured(folder, lang, task, texts)
        print(f"\n| | {' | p | '.join(MATCHINGS)} | p |\n|---|{'---|---|' * len(MATCHINGS)}")
        for system in SYSTEMS:
            if f"{system} {MATCHINGS[0]}" in rows:
                cells = [against_plain(rows, system, matching) for matching in MATCHINGS]
                print(f"| {system} | {' | '.join(cells)} |", flush=True)


def learned_from(name: str, lang: str, sizes: tasks.Sizes) -> list[Concept]:
    if name == "tatoeba":
        return drawn([c for c in tasks.pairs(lang) if share(c.texts["en"].lower(), 1) == "train"], sizes.pairs, 0)
    return drawn(in_all(split(name, ["en", lang]).train, ["en", lang]), sizes.pages, 0)


def measured(folder: Path, lang: str, task: tasks.Task, texts: list[Concept]) -> dict[str, dict[str, float]]:
    """Each system's reciprocal ranks, query by query."""
    with tempfile.TemporaryDirectory() as place:
        entries = read_entries(folder / f"freedict-{FILES[lang]}.index", "en", lang, on_error=lambda _: None)
        Dictionary.build(entries, "en", lang).save(f"{place}/words")
        parallel.fit(texts).save(f"{place}/pairs")
        systems = {f"{name} {way}": line.format(way) for name, line in SYSTEMS.items() for way in MATCHINGS}
        found = results._asked([task], [f"{place}/words", f"{place}/pairs"], systems, Path(place))
    ids = [query.id for query in task.queries]
    return {name: dict(zip(ids, found[f"{task.name} | {name}"]["measure"], strict=True)) for name in systems}


def against_plain(rows: dict[str, dict[str, float]], system: str, matching: str) -> str:
    test = compare(rows[f"{PLAIN} {matching}"], rows[f"{system} {matching}"])
    return f"{test.second:.3f} | {'' if system == PLAIN else f'{test.p_randomisation:.3g}'}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), QUICK if "--quick" in sys.argv else SIZES)
