"""Synonyms from WordNet's own database files (Miller 1995; format: wndb(5WN)), for English.

It expands queries within one language: put it before a translator with `expansion.ChainedTranslator`.
"""

from __future__ import annotations

import os
from pathlib import Path

from paragloss.analysis import analyzer
from paragloss.errors import InputError, LanguageError
from paragloss.types import Alternative, Query, Translation

MAX_SYNONYMS, SYNONYMS_WEIGHT = 5, 0.3
#: Endings and their replacements, from WordNet's own morphology.
_ENDINGS = {
    "noun": "s: ses:s xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}
_FOLDERS = ("/usr/share/wordnet", "/usr/local/share/wordnet", "/usr/share/WordNet", "/opt/local/share/WordNet-3.0/dict")


class WordNet:
    """A Translator from English to English: each word, then synonyms of its most frequent sense as each part of speech.

    :param path: the folder of `data.noun`; found by itself if WordNet is installed
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path) if path is not None else _find_folder()
        try:
            self._index = {pos: _read_index(self.path / f"index.{pos}") for pos in _ENDINGS}
            self._data = {pos: (self.path / f"data.{pos}").read_bytes() for pos in _ENDINGS}
            self._exceptions = {pos: _read_exceptions(self.path / f"{pos}.exc") for pos in _ENDINGS}
        except FileNotFoundError as error:
            raise InputError(f"{self.path} is no WordNet database: {error.filename} is missing") from None

    def knows(self, source: str, target: str) -> bool:
        return source == target == "en"

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Expand each word of a query by its synonyms, which share SYNONYMS_WEIGHT among them."""
        if not self.knows(query.lang, to):
            raise LanguageError(f"this WordNet expands en; it can't take {query.lang}->{to}")
        clauses = []
        for span in analyzer(query.lang).spans(query.text):
            word = query.text[span.start : span.end]
            synonyms = self.synonyms(word)
            alternatives = tuple(Alternative(text, SYNONYMS_WEIGHT / len(synonyms)) for text in synonyms)
            clauses.append(Translation(word, (Alternative(word, 1.0), *alternatives)))
        return clauses

    def synonyms(self, word: str) -> list[str]:
        """List up to MAX_SYNONYMS synonyms of a word's first sense in each part of speech."""
        synonyms: dict[str, None] = {}
        own_forms = {word.lower()}
        for pos in _ENDINGS:
            for lemma in self.lemmas(word.lower().replace(" ", "_"), pos):
                synonyms.update(dict.fromkeys(self._read_synset(pos, self._index[pos][lemma][0])))
                own_forms.add(lemma.replace("_", " "))
        return [text for text in synonyms if text.lower() not in own_forms][:MAX_SYNONYMS]

    def lemmas(self, word: str, pos: str) -> list[str]:
        """Return the first form of a word that is an entry: itself, its irregular base, or without its ending."""
        candidates = [word, *self._exceptions[pos].get(word, ())]
        for rule in _ENDINGS[pos].split():
            ending, base = rule.split(":")
            if word.endswith(ending) and len(word) > len(ending):
                candidates.append(word[: -len(ending)] + base)
        return [lemma for lemma in dict.fromkeys(candidates) if lemma in self._index[pos]][:1]

    def _read_synset(self, pos: str, offset: int) -> list[str]:
        data = self._data[pos]
        fields = data[offset : data.index(b"\n", offset)].decode().split(" ")
        words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        return [word.split("(")[0].replace("_", " ") for word in words]  # "galore(ip)": a syntactic marker


def _read_index(path: Path) -> dict[str, tuple[int, ...]]:
    """Read lemma -> offsets of its senses: `lemma pos synsets pointers [pointer...] senses tagged offset...`."""
    offsets = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith(" "):  # the licence
                fields = line.split()
                offsets[fields[0]] = tuple(map(int, fields[-int(fields[2]) :]))
    return offsets


def _read_exceptions(path: Path) -> dict[str, list[str]]:
    with path.open(encoding="utf-8") as lines:
        rows = [line.split() for line in lines]
    return {fields[0]: fields[1:] for fields in rows if fields}


def _find_folder() -> Path:
    for folder in (os.environ.get("WNSEARCHDIR", ""), *_FOLDERS):
        if folder and (Path(folder) / "index.noun").is_file():
            return Path(folder)
    raise InputError("no WordNet on this machine: install it (Debian: wordnet-base) or give the folder of data.noun")
