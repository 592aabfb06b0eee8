"""The lexicon that glosses are read from: learned, and packed into src/paragloss/gloss/lexicon
(docs/understand/gloss.md).

    PARAGLOSS_DATA=... python studies/lexicon.py learn --work DIR [--langs de,hi]   20 s of one core a language
    PARAGLOSS_DATA=... python studies/lexicon.py pack  --work DIR [--to FOLDER]     half a minute
    PARAGLOSS_DATA=... python studies/lexicon.py clean [--to FOLDER]                two minutes

`learn` aligns the sentences of each language with English (studies/aligning.py), unless told to take dictionaries alone
(--no-align), and makes its entries (studies/entries.py); a run that broke goes on. `clean` removes identifiers of
software from a packed lexicon, as `learn` leaves them out (studies/code_words.py). What is held out of FLORES, NTREX
and TICO-19 is never read, so the figures of docs/understand/gloss.md are those of the lexicon that is shipped.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import aligning
import code_words
import entries
import sources

from paragloss import artefacts
from paragloss.analysis._stopwords import _ENGLISH
from paragloss.gloss import lexicon

#: Of most speakers first.
LANGS = """
zh hi es ar fr bn pt ru id de ja vi tr ko fa sw ta it th pl uk ha am yo nl ro tl ig zu el hu cs sv rw so he bg xh ca fi
da sk no hr sl ms
""".split()  # noqa: SIM905
#: Where words stand without spaces.
UNSPACED = frozenset({"zh", "ja", "th"})
#: Texts in the order in which they are taken, until there are enough: professional and everyday ones first.
TEXTS = """
ntrex tico19 flores storybooks tatoeba udhr stellarium gnome-help indic-wiki wikidata cataclysm suttacentral
""".split()  # noqa: SIM905
SMALL = frozenset(_ENGLISH.split())


def count(lang: str, parts: Sequence[str], english: aligning.Cutter) -> aligning.Counts:
    other = aligning.Cutter(lang)
    pairs_found = [
        *sources.words(lang),
        *sources.names(lang),
        *sources.texts(lang),
        *sources.tatoeba(lang),
        *sources.flores(lang),
    ]
    sentence_pairs = [pair for pair in pairs_found if pair.kind == "sentences" and pair.part in parts]
    sentence_pairs.sort(key=lambda pair: TEXTS.index(pair.source))  # stable
    pairs_kept, cells = [], 0
    for pair in sentence_pairs:
        two_sides = english(pair.en), other(pair.other)
        sizes = [len(sentence.words) for sentence in two_sides]
        if min(sizes) > 0 and max(sizes) <= aligning.LONGEST:
            pairs_kept.append(two_sides)
            cells += sizes[0] * sizes[1]
            if cells > aligning.MOST_CELLS:
                break
    words_there = {word.lower() for _, two in pairs_kept for word in two.words}
    listed = set()
    for pair in pairs_found:
        if pair.kind != "sentences" and " " not in pair.en and pair.other.lower() in words_there:
            sentence, two = english(pair.en), other(pair.other)
            if len(sentence.stems) == len(two.stems) == 1:
                listed.add((sentence.stems[0], two.stems[0]))
    return aligning.count(pairs_kept, aligning.align(pairs_kept, listed), SMALL, "" if lang in UNSPACED else " ")


def learn(work: Path, langs: Sequence[str], *, align: bool) -> None:
    cutter = aligning.Cutter("en")
    work.mkdir(parents=True, exist_ok=True)
    english = None
    for lang in langs:
        counts_path, entries_path = work / f"{lang}.json.gz", work / f"{lang}.entries.gz"
        if entries_path.exists():
            continue
        start = time.process_time()
        if align and not counts_path.exists():
            counts = count(lang, ("train",), cutter)
            keys = {f for f, _ in counts.links}
            counts_of_keys = counts._replace(
                other=Counter({word: n for word, n in counts.other.items() if word in keys})
            )
            _write(counts_path, [_flat(counter) for counter in counts_of_keys])
        english = english or common(work)
        _write(entries_path, entries.entries(lang, entries.read(counts_path), english))
        print(f"{lang}: {time.process_time() - start:.0f} s of one core", flush=True)


def common(work: Path) -> entries.English:
    """How often English words stand in the texts of the languages that were first."""
    first = [lang for lang in LANGS if (work / f"{lang}.json.gz").exists()][:4]
    return entries.English(sum((entries.read(work / f"{lang}.json.gz").english for lang in first), Counter()))


def _write(path: Path, content: object) -> None:
    with gzip.open(path.with_suffix(".part"), "wt", encoding="utf-8", compresslevel=1) as out:
        json.dump(content, out, ensure_ascii=False)
    path.with_suffix(".part").rename(path)


def _flat(counts: Counter) -> list:
    return [[*(key if isinstance(key, tuple) else (key,)), number] for key, number in counts.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=["learn", "pack", "clean"])
    parser.add_argument("--work", type=Path, help="needed to learn and pack")
    parser.add_argument("--langs", default=",".join(LANGS))
    parser.add_argument("--align", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--to", type=Path, default=Path(lexicon.__file__).parent / "lexicon")
    arguments = parser.parse_args()
    if arguments.step == "clean":
        lists = [entries.by_hand(lang).values() for lang in LANGS]
        hand_written = {entry.text for groups in lists for group in groups for entry in group}
        saved = artefacts.load(arguments.to, kind=lexicon.KIND)
        code_words.remove_identifiers(saved, hand_written).save(arguments.to)
    elif arguments.work is None:
        parser.error("--work is missing")
    elif arguments.step == "learn":
        learn(arguments.work, arguments.langs.split(","), align=arguments.align)
    else:
        entries.packed(arguments.work, common(arguments.work)).save(arguments.to)


if __name__ == "__main__":
    main()
