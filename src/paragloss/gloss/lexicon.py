"""The lexicon that glosses are read from: words and phrases of each language with their English meanings.

Each meaning has a weight, an origin and whether it is certain. studies/lexicon.py compiles the lexicon
(docs/understand/gloss.md). `read_sentence` looks up the words of a sentence: the longest phrase that the lexicon has, a
word as written, without attached particles, with its ending exchanged, or as a compound.

A key is stored as a 32-bit hash, so an unknown word is taken for a known one once in a hundred thousand look-ups; a
meaning takes four bytes. All arrays are memory-mapped.
"""

from __future__ import annotations

import re
import sys
import unicodedata
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss import artefacts
from paragloss.analysis import analyzer
from paragloss.errors import ModelError
from paragloss.gloss.case_endings import find_case
from paragloss.translation.compounds import COMPOUND_LINKERS, split_compound
from paragloss.translation.packed_words import PackedWordList, pack_words

KIND = "lexicon"
#: The hash of an encoded key.
hash_key = zlib.crc32
#: Origins of a meaning: written by hand, from dictionaries, from aligned texts, from both.
SOURCES = ("hand", "dictionary", "texts", "dictionary and texts")
#: The pseudo-language of English names, keyed by their consonants.
NAMES = "names"
#: Parts of speech, as far as English texts tell them.
PARTS_OF_SPEECH = ("", "noun", "verb", "adjective")
#: Languages that write no spaces between words.
UNSPACED_LANGUAGES = frozenset({"zh", "ja", "th"})

_FOLDER = Path(__file__).parent / "lexicon"
#: Keys whose sizes are added up to find one: only the start of every such group is stored.
KEYS_PER_GROUP = 16
#: Weights are stored in six bits.
_MAX_STORED_WEIGHT = 63

_ROMANIAN_LETTERS = str.maketrans({"’": "'", "ʼ": "'", "ş": "ș", "ţ": "ț"})
#: Marks that only help reading: tatweel, joiners, stress, Hebrew points, Arabic vowels.
_READING_MARKS = str.maketrans(
    "", "", "\u0640\u200c\u200d\u0301" + "".join(map(chr, [*range(0x591, 0x5C8), *range(0x64B, 0x653), 0x670]))
)
_SIMPLE_LETTERS = str.maketrans({"ё": "е", "أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه", "ك": "ک", "ي": "ی"})

_MAX_PHRASE_WORDS = 4
#: Letters of a phrase, at most, where words are not separated by spaces.
_MAX_UNSPACED_PHRASE_LETTERS = 10
#: Letters that are attached to the word behind them, with their English.
_ATTACHED_PREFIXES = {
    "ar": {"وال": "and the", "بال": "with the", "فال": "so the", "كال": "like the", "لل": "for the", "ال": "the"}
    | {"و": "and", "ف": "so", "ب": "with", "ل": "for", "ك": "like", "س": "will"},
    "he": {"וה": "and the", "שה": "that the", "מה": "from the", "וב": "and in", "ול": "and to", "ומ": "and from"}
    | {"ו": "and", "ה": "the", "ב": "in", "ל": "to", "מ": "from", "ש": "that", "כ": "as"},
}
#: What Korean attaches to a noun: particles, and the verbs to do and to become and the copula with their endings.
_KOREAN_PARTICLES = re.compile(
    "들?(?:이나?|가|은|는|을|를|의|에|[와과]의?|도|만[이을은]?|나|(?:으?로|에서|에게|께서?|한테)(?:[는도의서써]|부터)?|에[는도]"
    "|(?:까지|부터|보다|처럼|마다|조차|마저|뿐)[는도의만]?|이?라[도고는면]|이?란|님[이은의을께]?|들)"
)
_KOREAN_VERBS = re.compile(
    "들?(?:[하했해한할함합되됐돼된될됨됩적]|시[키켜킨킬]|당[하한]|스[러럽]|[이였인일임입]|예요)\\w{0,5}"
)
_KATAKANA = re.compile("[\u30a0-\u30ff]+")
_ELIDING_LANGUAGES = frozenset({"fr", "it", "ca"})
#: Prefixes of German and Dutch verbs that may stand at the end of the clause.
_SEPARABLE_PREFIXES = {
    "de": frozenset(
        ("ab", "an", "auf", "aus", "bei", "ein", "fest", "her", "hin", "los", "mit")
        + ("nach", "statt", "teil", "um", "vor", "weg", "zu", "zurück", "zusammen")
    ),
    "nl": frozenset(
        ("aan", "af", "bij", "door", "in", "mee", "na", "om", "op", "over", "terug", "toe", "uit", "voor", "weg")
    ),
}
#: German and Dutch conjunctions that end a clause.
_CLAUSE_CONJUNCTIONS = frozenset({"und", "oder", "en", "of"})
#: Letters that must remain of a word without its prefix; letters of an ending, at most.
_MIN_BASE_LETTERS = 3
_MAX_ENDING_LETTERS = 5
#: From this share of agreeing pairs on, an exchanged ending leaves a meaning certain.
_CERTAIN_RULE_SHARE = 0.7
_MAX_COMPOUND_PART_LETTERS = 6
#: A shorter clause has no room for a subject, a verb and the prefix of the verb.
_MIN_WORDS_WITH_SEPARATED_VERB = 3
_IRREGULAR_PLURALS = {
    "man": "men", "woman": "women", "child": "children", "person": "people", "foot": "feet", "tooth": "teeth",
}  # fmt: skip


class LexiconEntry(NamedTuple):
    """A meaning in English; `weight` is its share of the word's meanings, `kind` its part of speech or ""."""

    text: str
    weight: float
    source: str
    sure: bool
    kind: str = ""


class EndingRule(NamedTuple):
    """An ending and the one it is exchanged for to find a known form.

    `effect` says what happens to the English: "s", "ed" and "ing" are appended. `share` is how often both forms mean
    the same.
    """

    ending: str
    base: str
    effect: str
    share: float


class WordReading(NamedTuple):
    """Words [first, last) of a sentence with their entries, if they are known.

    `prefix` are small English words for particles attached to the word, or for its case.
    """

    first: int
    last: int
    entries: tuple[LexiconEntry, ...] = ()
    prefix: str = ""


class Lexicon:
    """Entries by language and key."""

    def __init__(self, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take the arrays of a saved lexicon, and its metadata, which tells where each language begins in them.

        Methods that read the arrays are cached: texts repeat their words.
        """
        self._meta = dict(meta)
        self._arrays = {name: np.asarray(array) for name, array in arrays.items()}
        self.langs = frozenset(meta["langs"])
        self._key_ranges = {lang: tuple(about["place"]) for lang, about in meta["langs"].items()}  # (start, end)
        # Reading single numbers from a memoryview takes a tenth of the time that an array takes.
        self._views = {name: array.data for name, array in self._arrays.items()}
        self._english = PackedWordList(self._arrays["english"], self._arrays["groups"], int(meta["english"]))
        self.find_entries = lru_cache(maxsize=50_000)(self._find_entries)
        self.rules_by_ending = lru_cache(maxsize=None)(self._rules_by_ending)
        self._english_text = lru_cache(maxsize=50_000)(lambda number: self._english.entry(number)[1])

    def _find_entries(self, key: str, lang: str) -> tuple[LexiconEntry, ...]:
        """Return the entries of a key, likeliest first; none if the key is unknown."""
        position = self._find_position(key, lang)
        if position < 0:
            return ()
        sizes, starts, cells = self._views["sizes"], self._views["starts"], self._views["cells"]
        group = position // KEYS_PER_GROUP
        start = starts[group] + sum(sizes[group * KEYS_PER_GROUP : position])
        end = start + sizes[position]
        return tuple([self._unpack_entry(cell) for cell in cells[start:end].tolist()])

    def _find_position(self, key: str, lang: str) -> int:
        """Return the position of a key among all keys; -1 if the language does not have it."""
        first, last = self._key_ranges.get(lang, (0, 0))
        keys = self._views["keys"]
        key_hash = hash_key(key.encode("utf-8", "replace"))
        position = bisect_left(keys, key_hash, first, last)
        return position if position < last and keys[position] == key_hash else -1

    def _unpack_entry(self, cell: int) -> LexiconEntry:
        """Return the entry that `_pack_entry` packed into 32 bits."""
        number = cell & 0xFFFFF
        weight = (cell >> 20 & 63) / _MAX_STORED_WEIGHT
        kind = PARTS_OF_SPEECH[self._views["kinds"][number]]
        return LexiconEntry(self._english_text(number), weight, SOURCES[cell >> 26 & 3], bool(cell >> 28 & 1), kind)

    def has_key(self, key: str, lang: str) -> bool:
        """Say whether a language has a word or phrase."""
        return self._find_position(key, lang) >= 0

    def has_meaning(self, text: str) -> bool:
        """Say whether some word of any language means exactly this."""
        return self._english.find(text) >= 0

    def _rules_by_ending(self, lang: str) -> dict[str, tuple[EndingRule, ...]]:
        """Return the rules of a language by ending, the best first."""
        rules: dict[str, list[EndingRule]] = {}
        for row in self._meta["langs"].get(lang, {}).get("rules", ()):
            rules.setdefault(row[0], []).append(EndingRule(*row))
        return {ending: tuple(group) for ending, group in rules.items()}

    @property
    def meta(self) -> dict[str, Any]:
        """Number of keys of each language, and what the build recorded."""
        keys = {lang: last - first for lang, (first, last) in self._key_ranges.items()}
        return {"keys": keys, **{name: value for name, value in self._meta.items() if name != "langs"}}

    def save(self, path: str | Path) -> None:
        """Write the lexicon to a folder."""
        artefacts.save(path, KIND, meta=self._meta, arrays=self._arrays)

    @classmethod
    def load(cls, path: str | Path) -> Lexicon:
        """Open a saved lexicon; its arrays are memory-mapped."""
        saved = artefacts.load(path, kind=KIND)
        return cls(saved.meta, saved.arrays)


@cache
def open() -> Lexicon:
    """Open the lexicon that is part of the package, once a process."""
    if not (_FOLDER / "meta.json").is_file():
        raise ModelError(
            f"the lexicon is not at {_FOLDER}: install paragloss again, or build it (python studies/lexicon.py)"
        )
    return Lexicon.load(_FOLDER)


@lru_cache(maxsize=50_000)
def normalize_key(word: str, lang: str = "") -> str:
    """Spell a word as the lexicon keys it: without marks that only help reading; case stays."""
    composed = unicodedata.normalize("NFC", word).translate(_READING_MARKS)
    return composed.translate(_ROMANIAN_LETTERS) if lang == "ro" else composed.replace("’", "'")


def simplify_letters(word: str) -> str:
    """Spell a word as careless writing does: ё as е, Arabic letters without hamza and dots."""
    return word.translate(_SIMPLE_LETTERS)


def read_sentence(words: Sequence[str], adjacent: Sequence[bool], lang: str, lexicon: Lexicon) -> list[WordReading]:
    """Look up all words of a sentence in the lexicon; a phrase that it has is looked up as one.

    :param words: the words as written, without punctuation.
    :param adjacent: for each word whether nothing but a space stands between it and the next one.
    :param lang: the language of the sentence.
    :param lexicon: the known words and phrases.
    :return: the readings of words and phrases, in order; one of an unknown word has no entries.
    """
    keys = [normalize_key(word, lang) for word in words]
    phrase_ends = _find_phrases(keys, adjacent, lang, lexicon)
    separator = "" if lang in UNSPACED_LANGUAGES else " "
    readings: list[WordReading] = []
    position = 0
    while position < len(words):
        end = phrase_ends.get(position, position + 1)
        if position in phrase_ends:
            phrase = separator.join(keys[position:end]).lower()
            entries, prefix = lexicon.find_entries(phrase, lang), ""
        else:
            starts_sentence = position == 0
            entries, prefix = _read_word(keys[position], starts_sentence, lang, lexicon)
        readings.append(WordReading(position, end, entries, prefix))
        position = end
    if lang in _SEPARABLE_PREFIXES:
        return _join_separable_verbs(readings, keys, adjacent, lang, lexicon)
    return readings


def _find_phrases(keys: Sequence[str], adjacent: Sequence[bool], lang: str, lexicon: Lexicon) -> dict[int, int]:
    """Map the first word of each known phrase to the end of the longest one that begins there."""
    separator = "" if lang in UNSPACED_LANGUAGES else " "
    phrase_ends = {}
    for first in range(len(keys)):
        for end in _list_phrase_ends(keys, adjacent, first, lang):
            if lexicon.has_key(separator.join(keys[first:end]).lower(), lang):
                phrase_ends[first] = end  # longer phrases come later
    return phrase_ends


def _list_phrase_ends(keys: Sequence[str], adjacent: Sequence[bool], first: int, lang: str) -> Iterator[int]:
    """Yield the end of every sequence of words that may be a phrase and begins with a word, shorter ones first.

    :param keys: the words of a sentence, spelled as keys of the lexicon are.
    :param adjacent: for each word whether nothing but a space stands between it and the next one.
    :param first: the number of the word that the sequences begin with.
    """
    max_letters = _MAX_UNSPACED_PHRASE_LETTERS if lang in UNSPACED_LANGUAGES else sys.maxsize
    n_letters = len(keys[first])
    for last in range(first + 1, min(first + _MAX_PHRASE_WORDS, len(keys))):
        n_letters += len(keys[last])
        if not adjacent[last - 1] or n_letters > max_letters:
            return
        yield last + 1


@lru_cache(maxsize=50_000)
def _read_word(key: str, starts_sentence: bool, lang: str, lexicon: Lexicon) -> tuple[tuple[LexiconEntry, ...], str]:
    """Return the entries of a word, and the English of particles attached before it or of its case.

    The word is looked up as written, without particles, with its ending exchanged, and as a compound.

    :param key: the word, spelled as keys of the lexicon are.
    :param starts_sentence: whether a capital may be that of the sentence.
    :return: the entries, none for an unknown word; and the English before it, or "".
    """
    bases = [(key, ""), *_strip_particles(key, lang)]  # (the word without a particle, English of the particle)
    for base, prefix in bases:
        entries = find_written_form(base, starts_sentence, lang, lexicon)
        if entries:
            return entries, prefix or _find_article_or_case(key, base, entries, lang, lexicon)
    is_unknown_name = key[:1].isupper() and not starts_sentence and lang != "de"  # German nouns have capitals, too
    if is_unknown_name:
        return (), ""
    for base, prefix in bases:
        entries = find_inflected_form(base.lower(), lang, lexicon)
        if entries:
            return entries, prefix or _find_case(key, entries, lang, lexicon)
    return find_compound(key.lower(), lang, lexicon), ""


def _find_article_or_case(key: str, base: str, entries: Sequence[LexiconEntry], lang: str, lexicon: Lexicon) -> str:
    """Return "the" for an Arabic noun with the article, for other words the English of their case, or "".

    :param key: the word with its particles.
    :param base: the word as the lexicon has it.
    :param entries: what the lexicon has of it.
    """
    has_article = lang == "ar" and base.startswith("ال") and entries[0].kind == "noun"
    if has_article:
        return "the"
    return _find_case(key, entries, lang, lexicon)


def _find_case(key: str, entries: Sequence[LexiconEntry], lang: str, lexicon: Lexicon) -> str:
    """Return the English of the case of a noun or name, if another form of it means the same."""
    if entries[0].kind != "noun" and not entries[0].text[:1].isupper():
        return ""
    meanings = {entry.text.removesuffix("s") for entry in entries}

    def is_form(word: str) -> bool:
        forms = find_written_form(word, True, lang, lexicon)
        return any(entry.text.removesuffix("s") in meanings for entry in forms)

    return find_case(key, lang, is_form)


def find_written_form(key: str, starts_sentence: bool, lang: str, lexicon: Lexicon) -> tuple[LexiconEntry, ...]:
    """Return the entries of a word as written; a capital counts unless the word starts the sentence."""
    lower = key.lower() if lang != "tr" else key.replace("İ", "i").replace("I", "ı").lower()
    for spelling in (lower, key) if starts_sentence else (key, lower):
        entries = lexicon.find_entries(spelling, lang)
        if entries:
            return entries
    simplified = simplify_letters(lower)
    return lexicon.find_entries(simplified, lang) if simplified != lower else ()


def _strip_particles(key: str, lang: str) -> list[tuple[str, str]]:
    """Return the word without each article or particle that may be attached to it, with the particle's English."""
    if "'" in key[1:-1]:
        first, _, second = key.partition("'")
        elided = lang in _ELIDING_LANGUAGES and len(first) <= _MAX_ENDING_LETTERS
        return [(second if elided else first, "")]
    return [
        (key[len(letters) :], english)
        for letters, english in _ATTACHED_PREFIXES.get(lang, {}).items()
        if key.startswith(letters) and len(key) - len(letters) >= _MIN_BASE_LETTERS
    ]


def find_inflected_form(key: str, lang: str, lexicon: Lexicon) -> tuple[LexiconEntry, ...]:
    """Return the entries of the known word that a word becomes by the most reliable exchange of its ending.

    Korean words have endings without end: if no exchange makes a known word, the longest known noun that the word
    begins with is taken.

    :param key: the word, spelled as keys of the lexicon are.
    :return: the entries, with their English in the form that the ending stands for; () if no known word is found.
    """
    exchanges = list(_exchange_endings(key, lexicon.rules_by_ending(lang)))
    exchanges.sort(key=lambda exchange: -exchange[0].share)  # of equally reliable ones the longer ending first
    for rule, word in exchanges:
        entries = lexicon.find_entries(word, lang)
        if entries:
            return tuple(_apply_rule(entry, rule, lexicon) for entry in entries)
    return _find_korean_noun(key, lexicon) if lang == "ko" else ()


def _exchange_endings(
    key: str, rules_by_ending: Mapping[str, Sequence[EndingRule]]
) -> Iterator[tuple[EndingRule, str]]:
    """Yield each rule for an ending of a word with the word that the rule makes of it, longer endings first."""
    for ending_length in range(min(_MAX_ENDING_LETTERS, len(key) - 2), 0, -1):
        stem, ending = key[:-ending_length], key[-ending_length:]
        for rule in rules_by_ending.get(ending, ()):
            yield rule, stem + rule.base


def _apply_rule(entry: LexiconEntry, rule: EndingRule, lexicon: Lexicon) -> LexiconEntry:
    """Return the entry of a word whose ending was exchanged; it is certain only if the rule is reliable."""
    certain = entry.sure and rule.share >= _CERTAIN_RULE_SHARE
    return entry._replace(text=inflect_english(entry, rule.effect, lexicon), sure=certain)


def inflect_english(entry: LexiconEntry, effect: str, lexicon: Lexicon) -> str:
    """Give an English meaning the form that an ending stands for, if the lexicon has that form."""
    is_noun, is_phrase = entry.kind == "noun", " " in entry.text
    if not effect or is_phrase or is_noun != (effect == "s"):
        return entry.text
    forms = _list_plurals(entry.text) if is_noun else _list_verb_forms(entry.text, effect)
    for form in forms:
        if lexicon.has_meaning(form):
            return form
    return entry.text


def _list_plurals(noun: str) -> list[str]:
    """Return the plurals that an English noun may have, in the order in which they are looked up."""
    irregular = [_IRREGULAR_PLURALS[noun]] if noun in _IRREGULAR_PLURALS else []
    after_consonant = [noun[:-1] + "ies"] if noun.endswith("y") else []
    return [*irregular, *after_consonant, noun + "s", noun + "es"]


def _list_verb_forms(verb: str, ending: str) -> list[str]:
    """Return the forms that an English verb may have with "ed" or "ing", in the order in which they are looked up."""
    return [verb.removesuffix("e") + ending, verb + ending]


def _find_korean_noun(key: str, lexicon: Lexicon) -> tuple[LexiconEntry, ...]:
    """Return the entries of the longest noun that the word begins with, if the rest may be attached to nouns."""
    for size in range(len(key) - 1, 1, -1):
        is_particle = bool(_KOREAN_PARTICLES.fullmatch(key, size))
        if is_particle or _KOREAN_VERBS.fullmatch(key, size):
            entries = lexicon.find_entries(key[:size], "ko")
            if entries:
                return tuple(entry._replace(sure=entry.sure and is_particle) for entry in entries)
    return ()


def is_korean_noun_suffix(text: str) -> bool:
    """Say whether Korean attaches this to a noun."""
    return bool(_KOREAN_PARTICLES.fullmatch(text) or _KOREAN_VERBS.fullmatch(text))


def find_compound(key: str, lang: str, lexicon: Lexicon) -> tuple[LexiconEntry, ...]:
    """Gloss an unknown word as a compound, by the best meanings of its parts: German "honigbiene" as "honey bee".

    The head of the compound stands last, as in English, and gives it its source and its part of speech. The meaning is
    certain if those of all parts are, and no part is so short that it may stand there by chance.

    :param key: the word in lower case, spelled as keys of the lexicon are.
    :param lang: the language of the word.
    :param lexicon: the known words.
    :return: one entry; () if the word is no compound of known words.
    """
    parts = _split_word(key, lang, lexicon)
    if not parts:
        return ()
    entries = [lexicon.find_entries(part, lang)[0] for part in parts]
    different_meanings = dict.fromkeys(entry.text for entry in entries)  # in order
    weight = min(entry.weight for entry in entries)
    max_short_length = 1 if lang in UNSPACED_LANGUAGES else _MIN_BASE_LETTERS
    has_short_part = any(len(part) <= max_short_length for part in parts)
    is_certain = all(entry.sure for entry in entries) and not has_short_part
    head = entries[-1]
    return (LexiconEntry(" ".join(different_meanings), weight, head.source, is_certain, head.kind),)


def _split_word(key: str, lang: str, lexicon: Lexicon) -> list[str]:
    """Split a word into known words, where the language writes compounds; return [] if it cannot be split."""
    if lang in COMPOUND_LINKERS:
        return split_compound(key, lang, partial(_is_compound_part, lang=lang, lexicon=lexicon))
    return _split_unspaced(key, lang, lexicon) if lang in UNSPACED_LANGUAGES else []


def _is_compound_part(word: str, lang: str, lexicon: Lexicon) -> bool:
    """Say whether a word has a certain meaning and is no stop word."""
    return any(entry.sure for entry in lexicon.find_entries(word, lang)) and not is_stop_word(word, lang)


@lru_cache(maxsize=50_000)
def is_stop_word(word: str, lang: str) -> bool:
    """Say whether a word is a pronoun, a preposition or another word that the analyzer drops."""
    # Alone, a stop word would be kept, so another word stands beside it. Digits are stop words of some languages.
    return not analyzer(lang).token_terms([word, "zqxzq"])[0]


def _split_unspaced(key: str, lang: str, lexicon: Lexicon) -> list[str]:
    """Split a word of a language without spaces into known words, taking the longest one at each position.

    :param key: the word, spelled as keys of the lexicon are.
    :return: the words; [] if a piece is unknown, if more than one piece is a single character, or if a name in katakana
        would be split into several short pieces.
    """
    pieces: list[str] = []
    position = 0
    while position < len(key):
        piece = _find_longest_word(key, position, lang, lexicon)
        if not piece:
            return []
        pieces.append(piece)
        position += len(piece)
    max_short_length = 3 if _KATAKANA.fullmatch(key) else 1
    n_short_pieces = sum(len(piece) <= max_short_length for piece in pieces)
    return pieces if n_short_pieces <= 1 else []


def _find_longest_word(key: str, start: int, lang: str, lexicon: Lexicon) -> str:
    """Return the longest known word at a position of `key`, other than `key` itself; "" if there is none."""
    for end in range(min(len(key), start + _MAX_COMPOUND_PART_LETTERS), start, -1):
        piece = key[start:end]
        if piece != key and lexicon.find_entries(piece, lang):
            return piece
    return ""


def _join_separable_verbs(
    readings: Sequence[WordReading], keys: Sequence[str], adjacent: Sequence[bool], lang: str, lexicon: Lexicon
) -> list[WordReading]:
    """Read a verb together with its prefix at the end of the clause: "ruft" in "er ruft mich an" as "anruft".

    The verb's reading is replaced; that of the prefix loses its entries, since it has no meaning of its own.

    :param readings: of the single words and phrases of a sentence.
    :param keys: the words of the sentence, spelled as keys of the lexicon are.
    :param adjacent: for each word whether nothing but a space stands between it and the next one.
    """
    reading_by_position = {reading.first: reading for reading in readings}
    for clause in _split_clauses(keys, adjacent):
        verb = _find_separated_verb(keys, clause, lang, lexicon)
        if verb is None:
            continue
        reading_by_position[verb.first] = verb
        prefix_position = clause[-1]
        if prefix_position in reading_by_position:
            reading_by_position[prefix_position] = WordReading(prefix_position, prefix_position + 1)
    return [reading_by_position[position] for position in sorted(reading_by_position)]


def _split_clauses(keys: Sequence[str], adjacent: Sequence[bool]) -> Iterator[range]:
    """Yield the positions of the words of each clause; one ends at punctuation or before a conjunction."""
    start = 0
    for last in range(len(keys)):
        if not adjacent[last] or keys[last + 1] in _CLAUSE_CONJUNCTIONS:
            yield range(start, last + 1)
            start = last + 1


def _find_separated_verb(keys: Sequence[str], clause: range, lang: str, lexicon: Lexicon) -> WordReading | None:
    """Find the verb of a clause whose separable prefix ends the clause, and read it with the prefix; None without one.

    It is the first word that is a known verb together with the prefix.

    :param keys: the words of the sentence, spelled as keys of the lexicon are.
    :param clause: the positions of the words of the clause.
    """
    prefix = keys[clause[-1]]
    if prefix not in _SEPARABLE_PREFIXES[lang] or len(clause) < _MIN_WORDS_WITH_SEPARATED_VERB:
        return None
    for position in clause[:-1]:
        is_noun_or_name = keys[position][:1].isupper() and position > 0  # the first word always has a capital
        if is_noun_or_name:
            continue
        key = prefix + keys[position].lower()
        entries = lexicon.find_entries(key, lang) or find_inflected_form(key, lang, lexicon)
        if entries and entries[0].kind == "verb":
            return WordReading(position, position + 1, entries)
    return None


def pack_lexicon(
    entries: Mapping[str, Mapping[str, Sequence[LexiconEntry]]],
    rules: Mapping[str, Sequence[EndingRule]] | None = None,
    kinds: Mapping[str, str] | None = None,
    about: Mapping[str, Any] | None = None,
) -> Lexicon:
    """Build a lexicon, packed as it is saved.

    :param entries: language -> word -> the entries of the word, best first.
    :param rules: language -> its rules for endings, best first.
    :param kinds: English meaning -> its part of speech, where it is known.
    :param about: what else `Lexicon.meta` reports.
    """
    rules, kinds, about = rules or {}, kinds or {}, about or {}
    english = _list_meanings(entries)
    columns = _KeyColumns({text: number for number, text in enumerate(english)})
    metadata_by_lang: dict[str, Any] = {}
    for lang, words in sorted(entries.items()):
        first_key = len(columns.keys)
        columns.add_words(words)
        key_range = [first_key, len(columns.keys)]  # where the keys of the language begin and end
        metadata_by_lang[lang] = {"place": key_range, "rules": list(rules.get(lang, ()))}
    meta = {**about, "langs": metadata_by_lang, "english": len(english)}
    arrays = {**columns.make_arrays(), **_pack_meanings(english, kinds)}
    return Lexicon(meta, arrays)


def _list_meanings(entries: Mapping[str, Mapping[str, Sequence[LexiconEntry]]]) -> list[str]:
    """Return the distinct English texts of all entries, in the order of their bytes."""
    texts: set[str] = set()
    for words in entries.values():
        for word_entries in words.values():
            texts.update(entry.text for entry in word_entries)
    return sorted(texts, key=str.encode)


def _pack_meanings(english: Sequence[str], kinds: Mapping[str, str]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of the English meanings: their letters, where each group of them begins, parts of speech."""
    letters, groups = pack_words(english, english)
    kind_numbers = [PARTS_OF_SPEECH.index(kinds.get(text, "")) for text in english]
    return {"english": letters, "groups": groups, "kinds": np.array(kind_numbers, np.uint8)}


@dataclass
class _KeyColumns:
    """The hashed keys of a lexicon, the number of entries of each key, and the packed entries of all keys in order."""

    number_by_text: Mapping[str, int]  # the numbers of the English meanings
    keys: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)

    def add_words(self, words: Mapping[str, Sequence[LexiconEntry]]) -> None:
        """Append the words of one language, sorted by their hashes; if two words have one hash, the first is taken."""
        entries_by_hash: dict[int, Sequence[LexiconEntry]] = {}
        for word, entries in words.items():
            entries_by_hash.setdefault(hash_key(word.encode()), entries)
        for key in sorted(entries_by_hash):
            entries = entries_by_hash[key]
            self.keys.append(key)
            self.sizes.append(len(entries))
            self.cells += [_pack_entry(entry, self.number_by_text[entry.text]) for entry in entries]

    def make_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns as arrays; `starts` has the number of entries before each group of keys."""
        starts = np.concatenate([[0], np.cumsum(np.array(self.sizes, np.int64))])[: len(self.sizes) : KEYS_PER_GROUP]
        return {
            "keys": np.array(self.keys, np.uint32),
            "sizes": np.array(self.sizes, np.uint8),
            "starts": starts.astype(np.uint32),
            "cells": np.array(self.cells, np.uint32),
        }


def _pack_entry(entry: LexiconEntry, number: int) -> int:
    """Pack an entry into 32 bits: the number of its English text, its weight, its source and whether it is certain."""
    weight = min(max(round(entry.weight * _MAX_STORED_WEIGHT), 0), _MAX_STORED_WEIGHT)
    return number | weight << 20 | SOURCES.index(entry.source) << 26 | int(entry.sure) << 28
