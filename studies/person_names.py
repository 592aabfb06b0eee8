"""Names of persons in several scripts: pack the list that is part of the package, and measure how names are found.

    python studies/person_names.py build PERSONS.txt                 into the package
    python studies/person_names.py measure PERSONS.txt WORK [--persons-per-language 200]

PERSONS.txt is rigour/data/names/persons.txt of the package rigour 1.8 (MIT): names of persons with their spellings and
their number in Wikidata (CC0). Spellings in hiragana are left out: they are how Japanese names are read, and seldom how
they are written.

`measure` makes a given number of persons for each of eight languages, each in another script: two names of the list
that have an English spelling and one in that script. For half of the persons both names are kept aside by their number
in Wikidata before the list is packed. A document is a sentence of FLORES with the name of one person; the query is the
name in English letters. All documents are indexed together, and each language is searched for itself. Printed for each
language, of persons in the list and of others, is the share found first and the mean reciprocal rank, without the list
and with it, and the significance of the difference of all.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sources

from paragloss import Collection, Document
from paragloss.evaluation.significance import compare
from paragloss.languages import script_of
from paragloss.translation import name_alternatives, name_spellings
from paragloss.translation.name_spellings import build_name_list, list_name_spellings, open_name_list
from paragloss.types import Query

LANGS = {"ru": "Cyrl", "ar": "Arab", "he": "Hebr", "el": "Grek", "zh": "Hani", "ja": "Kana", "ko": "Hang", "bn": "Beng"}
SCRIPTS = frozenset({"Latn", *LANGS.values(), "Deva", "Thai", "Taml", "Ethi"})
HIRAGANA = re.compile("[ぁ-ゖ]")
MAX_CHARACTERS = 30


class Name(NamedTuple):
    """A name of the list."""

    key: str  # its number in Wikidata
    spellings: Mapping[str, Sequence[str]]  # by script

    @property
    def is_held(self) -> bool:
        """Whether the name is kept aside."""
        return hashlib.blake2b(self.key.encode(), digest_size=1).digest()[0] % 4 == 0


class Person(NamedTuple):
    """A person of the test."""

    lang: str
    is_listed: bool
    english: str
    written: str


def main() -> None:
    """Read the command line and run a step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["build", "measure"])
    parser.add_argument("persons", type=Path)
    parser.add_argument("work", type=Path, nargs="?")
    parser.add_argument("--persons-per-language", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    names = list(read_names(arguments.persons))
    if arguments.step == "build":
        pack(names).save(name_spellings.FOLDER)
    else:
        measure(names, arguments.work, arguments.persons_per_language, arguments.seed)


def read_names(path: Path) -> Iterator[Name]:
    """Yield the names that are written in several scripts."""
    for line in path.read_text("utf-8").splitlines():
        spellings, _, key = line.partition(" => ")
        by_script: dict[str, list[str]] = {}
        for spelling in spellings.split(", "):
            script = script_of(spelling)
            if script in SCRIPTS and 1 < len(spelling) <= MAX_CHARACTERS and not HIRAGANA.search(spelling):
                by_script.setdefault(script, []).append(spelling)
        if len(by_script) > 1:
            yield Name(key, by_script)


def pack(names: Sequence[Name]) -> name_spellings.NameList:
    """Pack names with all their spellings."""
    return build_name_list([[word for words in name.spellings.values() for word in words] for name in names])


def measure(names: Sequence[Name], work: Path, persons_per_language: int, seed: int) -> None:
    """Search for persons without the list and with it, and print a table."""
    pack([name for name in names if not name.is_held]).save(work / "names")
    persons = [
        person
        for lang in LANGS
        for is_listed in (True, False)
        for person in draw_persons(names, lang, is_listed, persons_per_language // 2, seed)
    ]
    ranks_by_folder, counted_by_folder = {}, {}
    with open_indexed(persons, work / f"collection-{seed}") as collection:
        for folder in (work / "none", work / "names"):
            name_spellings.FOLDER = folder
            for cached in (open_name_list, list_name_spellings, name_alternatives._add_spellings):
                cached.cache_clear()
            ranks_by_folder[folder.name] = find_persons(collection, persons)
            counted_by_folder[folder.name] = count_persons(collection, persons)
    print_table(persons, *ranks_by_folder.values())
    print("            persons  counted as a term: without, with the list")
    print_shares(persons, *counted_by_folder.values())


def draw_persons(names: Sequence[Name], lang: str, is_listed: bool, count: int, seed: int) -> list[Person]:
    """Draw persons whose two names are both in the packed list, or both kept aside and written as no name in it."""
    script = LANGS[lang]
    listed = {word for name in names if not name.is_held for word in name.spellings.get(script, ())}
    rng = random.Random(f"{lang}-{is_listed}-{seed}")
    candidates = [
        (english, name.spellings[script])
        for name in names
        if name.is_held != is_listed
        and script in name.spellings
        and (is_listed or listed.isdisjoint(name.spellings[script]))
        and (english := [word for word in name.spellings.get("Latn", ()) if is_plain(word)])
    ]
    persons = []
    for _ in range(count):
        first, last = rng.sample(candidates, 2)
        english, written = ([rng.choice(spellings) for spellings in pair] for pair in zip(first, last, strict=True))
        persons.append(Person(lang, is_listed, " ".join(english).title(), join_name(written, lang)))
    return persons


def is_plain(word: str) -> bool:
    """Say whether a spelling has only English letters."""
    return set(word) <= set(string.ascii_lowercase)


def join_name(words: Sequence[str], lang: str) -> str:
    """Join given and family name as a language does."""
    return "·".join(words) if lang == "zh" else "・".join(words) if lang == "ja" else " ".join(words).title()


def open_indexed(persons: Sequence[Person], folder: Path) -> Collection:
    """Open the collection with a document for each person, or make it."""
    if folder.exists():
        return Collection.open(str(folder))
    collection = Collection.open_or_create(str(folder))
    sentences = [row["texts"] for row in sources.rows("flores")]
    collection.index(
        Document(str(number), f"{sentences[number % len(sentences)][person.lang]} {person.written}", person.lang)
        for number, person in enumerate(persons)
    )
    return collection


def find_persons(collection: Collection, persons: Sequence[Person]) -> np.ndarray:
    """Return the reciprocal rank of each person's document among those of its language."""
    ranks = np.zeros(len(persons))
    for lang in LANGS:
        numbers = [number for number, person in enumerate(persons) if person.lang == lang]
        queries = [Query(str(number), persons[number].english, "en") for number in numbers]
        for number, ranking in zip(numbers, collection.rank(queries, to=[lang], k=100), strict=True):
            ids = [hit.id for hit in ranking]
            ranks[number] = 1 / (1 + ids.index(str(number))) if str(number) in ids else 0.0
    return ranks


def count_persons(collection: Collection, persons: Sequence[Person]) -> np.ndarray:
    """Return 1 for each person whose document is among those that a table of terms lists for the name, else 0."""
    is_counted = np.zeros(len(persons))
    for number, person in enumerate(persons):
        (row,) = collection.count_terms([person.english], lang="en", to=[person.lang])
        is_counted[number] = any(document.id == str(number) for document in row.listed)
    return is_counted


def print_table(persons: Sequence[Person], before: np.ndarray, after: np.ndarray) -> None:
    """Print the share found first and RR by language, in the list and not."""
    print("            persons  first: without, with the list   RR: without, with")
    for is_listed in (True, False):
        for lang in (*LANGS, "all"):
            rows = list_rows(persons, lang, is_listed=is_listed)
            cells = [(values[rows] == 1).mean() for values in (before, after)]
            cells += [values[rows].mean() for values in (before, after)]
            print_row(lang, cells, len(rows), is_listed=is_listed)
        comparison = compare(*[{str(row): values[row] for row in rows} for values in (before, after)])
        print(f"p = {comparison.p_randomisation:.5f}, {comparison.wins} better, {comparison.losses} worse")


def print_shares(persons: Sequence[Person], before: np.ndarray, after: np.ndarray) -> None:
    """Print the share of persons that were counted, by language, in the list and not."""
    for is_listed in (True, False):
        for lang in (*LANGS, "all"):
            rows = list_rows(persons, lang, is_listed=is_listed)
            print_row(lang, [values[rows].mean() for values in (before, after)], len(rows), is_listed=is_listed)


def list_rows(persons: Sequence[Person], lang: str, *, is_listed: bool) -> list[int]:
    """Return the numbers of the persons of a language, or of "all", that are in the list or not."""
    return [
        number
        for number, person in enumerate(persons)
        if person.is_listed == is_listed and lang in (person.lang, "all")
    ]


def print_row(lang: str, cells: Sequence[float], count: int, *, is_listed: bool) -> None:
    """Print a line of a table."""
    line = "  ".join(f"{cell:.3f}" for cell in cells)
    print(f"{'listed' if is_listed else 'other':7}{lang:5}{count:6}  {line}", flush=True)


if __name__ == "__main__":
    main()
