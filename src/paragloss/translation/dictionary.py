"""Word-by-word translation from a bilingual dictionary: every translation, the best one, or one at random.

Longest entries match first, so phrases of the dictionary are phrases of the query. `formats.dictionaries` reads entries
from files; `cooccurrence.DisambiguatingTranslator` chooses by what occurs together in the target collection.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from paragloss import artefacts
from paragloss.analysis import analyzer
from paragloss.errors import InputError, LanguageError, ModelError
from paragloss.translation.alternative_selection import CHOICES, choose_alternatives
from paragloss.types import Alternative, Query, Span, Translation

KIND = "dictionary"


class EntryLike(Protocol):
    """An entry of a dictionary: one translation of a word or phrase."""

    @property
    def source(self) -> str:
        """The word or phrase."""
        ...

    @property
    def target(self) -> str:
        """Its translation."""
        ...

    @property
    def weight(self) -> float:
        """How likely the translation is."""
        ...


class Sense(NamedTuple):
    """One translation of a headword."""

    text: str
    weight: float


class Dictionary:
    """A dictionary of one pair of languages, which translates queries.

    :param senses: translations by headword; a headword is a tuple of lower-case words.
    :param source: the language of the headwords.
    :param target: the language of the translations.
    :param choose: "every" translation (their weights sum to one), the "best" one (the first of equals), or one at
        "random", always the same for the same query and `seed`.
    :param stem: look up a word that is no headword by its stem (Oard 1998), which finds more and errs more.
    :param carry: writes a word without an entry in the script of the target language; without it the word stays.
    :param most: the number of translations that are kept of a word.
    :param seed: selects other translations at "random".
    :raises InputError: for another value of `choose`.

    >>> from paragloss import Entry, Query
    >>> dictionary = Dictionary.build([Entry("bee", "Biene"), Entry("honey bee", "Honigbiene")], "en", "de")
    >>> [translation.alternatives[0].text for translation in dictionary.translate(Query("", "honey bee", "en"), "de")]
    ['Honigbiene']
    """

    #: Its weight relative to the default model. A dictionary knows rare words but not how likely a sense is: with the
    #: weight of a learned table it costs questions what it gains for keywords (docs/understand/log.md).
    trust = 1.5

    def __init__(
        self,
        senses: Mapping[tuple[str, ...], Sequence[Sense]],
        source: str,
        target: str,
        *,
        choose: str = "every",
        stem: bool = True,
        carry: Callable[[str, str], str] | None = None,
        most: int = 20,
        seed: int = 0,
    ) -> None:
        """Make a dictionary of senses; `build` makes one of entries, and describes the settings.

        :param senses: the translations of each headword, which is given as its words in lower case.
        :param source: the language of the headwords.
        :param target: the language of the translations.
        """
        if choose not in CHOICES:
            raise InputError(f"choose {choose!r}: expected one of {', '.join(CHOICES)}")
        self.source = source
        self.target = target
        self.senses = dict(senses)
        self.choose = choose
        self.stem = stem
        self.most = most
        self.seed = seed
        self._carry = carry
        self._plain = analyzer(source, stem=False, stop=False)
        self._terms = analyzer(source)
        self._stemmed = _group_by_stems(self.senses, self._terms.terms) if stem else {}
        self._longest = max(map(len, self.senses), default=1)

    @classmethod
    def build(
        cls,
        entries: Iterable[EntryLike],
        source: str,
        target: str,
        *,
        choose: str = "every",
        stem: bool = True,
        carry: Callable[[str, str], str] | None = None,
        most: int = 20,
        seed: int = 0,
    ) -> Dictionary:
        """Make a dictionary of entries; the weights of equal entries are added up.

        :param entries: an `Entry` for each translation; headwords are tokenized and lower-cased as queries are.
        :param source: the language of the headwords.
        :param target: the language of the translations.
        :param choose: "every", the "best" or a "random" translation.
        :param stem: look up a word that is no headword by its stem.
        :param carry: called with a word without an entry and the target language; writes the word in its script.
        :param most: the number of translations that are kept of a word.
        :param seed: selects other translations at "random".
        :return: the dictionary.
        """
        senses = _group_entries(entries, source)
        return cls(senses, source, target, choose=choose, stem=stem, carry=carry, most=most, seed=seed)

    def __len__(self) -> int:
        return len(self.senses)

    @property
    def langs(self) -> tuple[str, ...]:
        """The language that it translates from."""
        return (self.source,)

    def knows(self, source: str, target: str) -> bool:
        """Tell whether the dictionary translates between two languages.

        :param source: a language code.
        :param target: a language code.
        :return: True for its own two languages, in this direction.
        """
        return (source, target) == (self.source, self.target)

    def has_term(self, term: str, lang: str) -> bool:
        """Tell whether an analysed term is a headword.

        :param term: a term, as the analyzer of the language returns it.
        :param lang: the language of the term.
        :return: False for every term of another language than that of the headwords.
        """
        return lang == self.source and ((term,) in self.senses or (term,) in self._stemmed)

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Translate a query, longest headwords first; a word without an entry stays as it is.

        :param query: the query.
        :param to: the language to translate into.
        :return: a translation for each headword or other word, in order.
        :raises LanguageError: if these are not the languages of the dictionary.
        """
        if not self.knows(query.lang, to):
            raise LanguageError(f"no dictionary for {query.lang}->{to}; this one is {self.source}->{self.target}")
        spans = self._plain.spans(query.text)
        content_starts = {span.start for span in self._terms.spans(query.text)}
        translations = []
        position = 0
        while position < len(spans):
            length, senses = self._match_headword(spans, position)
            start, end = spans[position].start, spans[position + length - 1].end
            is_single_stop_word = length == 1 and start not in content_starts
            if not is_single_stop_word:  # stop words are translated inside phrases only
                headword = query.text[start:end]
                alternatives = self._make_alternatives(headword, senses, query.text)
                translations.append(Translation(headword, alternatives))
            position += length
        return translations

    def _match_headword(self, spans: Sequence[Span], position: int) -> tuple[int, Sequence[Sense]]:
        """Find the longest headword of the dictionary that begins at a word of a query.

        A headword matches as it is written or, if that is wanted, by the stems of its words.

        :param spans: the words of the query.
        :param position: the number of the word, from 0.
        :return: the number of words of the headword, and its translations; (1, ()) if none begins here.
        """
        words = tuple(span.term for span in spans[position : position + self._longest])
        for length in range(len(words), 0, -1):
            phrase = words[:length]
            senses = self.senses.get(phrase) or self._find_by_stems(phrase)
            if senses:
                return length, senses
        return 1, ()

    def _find_by_stems(self, words: Sequence[str]) -> Sequence[Sense]:
        """Return the translations of headwords with the same stems; () if there are none, or for stop words."""
        if not self.stem:
            return ()
        stems = tuple(self._terms.terms(" ".join(words)))
        has_stop_words = len(stems) != len(words)
        return () if has_stop_words else self._stemmed.get(stems, ())

    def _make_alternatives(self, word: str, senses: Sequence[Sense], query: str) -> tuple[Alternative, ...]:
        """Return the translations of a word with weights that sum to one; the word itself if it has no senses."""
        if not senses:
            return (Alternative(self._carry(word, self.target) if self._carry else word, 1.0),)
        weight_by_text: dict[str, float] = {}
        for sense in senses:
            weight_by_text[sense.text] = weight_by_text.get(sense.text, 0.0) + sense.weight
        best = sorted(weight_by_text.items(), key=lambda item: -item[1])[: self.most]
        total = sum(weight for _, weight in best)
        alternatives = tuple(Alternative(text, weight / total) for text, weight in best)
        return choose_alternatives(alternatives, self.choose, seed=self.seed, query=query, word=word)

    def varied(self, *, stem: bool = True, carry: Callable[[str, str], str] | None = None) -> Dictionary:
        """Return the same dictionary with another way to look up words.

        :param stem: whether words without an entry are looked up by their stems, if this dictionary does so.
        :param carry: writes words without an entry in the script of the target language.
        :return: a dictionary that shares its entries with this one.
        """
        variant = copy.copy(self)
        variant.stem, variant._carry = stem and self.stem, carry or self._carry
        return variant

    def save(self, path: str | Path) -> None:
        """Write the dictionary to a folder, without `carry`, which is a function: pass it to `load` again.

        :param path: the folder; a saved model at this path is replaced.
        """
        headwords, texts, weights = [], [], []
        for headword, senses in self.senses.items():
            for sense in senses:
                headwords.append(" ".join(headword))
                texts.append(_fold_white_space(sense.text))
                weights.append(sense.weight)
        meta = {"source": self.source, "target": self.target, "choose": self.choose, "stem": self.stem,
                "most": self.most, "seed": self.seed}  # fmt: skip
        words = {"headwords": headwords, "texts": texts}
        artefacts.save(path, KIND, meta=meta, words=words, arrays={"weight": np.array(weights)})

    @classmethod
    def load(cls, path: str | Path, *, carry: Callable[[str, str], str] | None = None) -> Dictionary:
        """Open a saved dictionary.

        :param path: the folder.
        :param carry: see `Dictionary`.
        :return: the dictionary.
        :raises ModelError: if the folder is missing, damaged or holds another kind of model.
        """
        saved = artefacts.load(path, kind=KIND)
        meta = saved.meta
        if type(meta["most"]) is not int:
            raise ModelError(f"{path} is damaged ('most' is {meta['most']!r}): make or copy the dictionary again")
        senses: dict[tuple[str, ...], list[Sense]] = {}
        rows = zip(saved.words["headwords"], saved.words["texts"], saved.arrays["weight"], strict=True)
        for headword, text, weight in rows:
            senses.setdefault(tuple(headword.split(" ")), []).append(Sense(text, float(weight)))
        return cls(
            senses,
            meta["source"],
            meta["target"],
            choose=meta["choose"],
            stem=meta["stem"],
            carry=carry,
            most=meta["most"],
            seed=int(meta["seed"]),
        )


def load(path: str | Path) -> Dictionary:
    """Open a saved dictionary."""
    return Dictionary.load(path)


class WatchedDictionary:
    """A Translator for a file that people edit: it is read again whenever it has changed.

    `read` makes a Dictionary of the file. If that fails, a warning is given and the last good dictionary stays.
    """

    def __init__(self, path: str | Path, read: Callable[[Path], Dictionary]) -> None:
        self._path, self._read = Path(path), read
        self._last_stamp = self._read_stamp()
        self._dictionary = read(self._path)

    def knows(self, source: str, target: str) -> bool:
        """Tell whether the dictionary translates between two languages."""
        return self.current().knows(source, target)

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Translate a query with the dictionary as it is now."""
        return self.current().translate(query, to)

    def current(self) -> Dictionary:
        """Return the dictionary of the file as it is now."""
        stamp = self._read_stamp()
        if stamp != self._last_stamp:
            try:
                self._dictionary = self._read(self._path)
            except (InputError, OSError) as error:
                warnings.warn(f"{self._path} was not reloaded: {error}", stacklevel=3)
            self._last_stamp = stamp
        return self._dictionary

    def _read_stamp(self) -> tuple[int, int] | None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        return status.st_mtime_ns, status.st_size


def _group_entries(entries: Iterable[EntryLike], source: str) -> dict[tuple[str, ...], list[Sense]]:
    """Return the translations of each headword, as its lower-case words, and add up the weights of equal entries."""
    tokenize = analyzer(source, stem=False, stop=False).terms
    weights_by_headword: dict[tuple[str, ...], dict[str, float]] = {}
    for entry in entries:
        headword = tuple(tokenize(entry.source))
        text = entry.target.strip()
        if headword and text and entry.weight > 0:
            weights = weights_by_headword.setdefault(headword, {})
            weights[text] = weights.get(text, 0.0) + entry.weight
    senses = {}
    for headword, weights in weights_by_headword.items():
        senses[headword] = [Sense(text, weight) for text, weight in weights.items()]
    return senses


def _group_by_stems(
    senses: Mapping[tuple[str, ...], Sequence[Sense]], analyze: Callable[[str], list[str]]
) -> dict[tuple[str, ...], list[Sense]]:
    """Return the senses by the stems of their headwords; headwords with stop words are left out."""
    by_stems: dict[tuple[str, ...], list[Sense]] = {}
    for headword, senses_of_headword in senses.items():
        stems = tuple(analyze(" ".join(headword)))
        if len(stems) == len(headword):
            by_stems.setdefault(stems, []).extend(senses_of_headword)
    return by_stems


def _fold_white_space(text: str) -> str:
    return " ".join(text.split())
