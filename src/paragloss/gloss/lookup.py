"""Words of a sentence read by the lexicon: the longest phrase it has, a word as written, without what is attached to
it, by an ending that may be exchanged, by the parts of a compound. What it does not know has no meaning here."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

from paragloss.analysis import analyzer
from paragloss.gloss.lexicon import Entry, Lexicon, hashed, loosened, spelled
from paragloss.translation.compounds import COMPOUND_LINKERS, split_compound

#: Words of a phrase, and letters of one where nothing stands between words, at most.
_PHRASE, _LETTERS = 4, 10
UNSPACED = frozenset({"zh", "ja", "th"})
#: Letters that are written as one with the word behind them, with their English.
_ATTACHED = {
    "ar": {"وال": "and the", "بال": "with the", "فال": "so the", "كال": "like the", "لل": "for the", "ال": "the"}
    | {"و": "and", "ف": "so", "ب": "with", "ل": "for", "ك": "like", "س": "will"},
    "he": {"וה": "and the", "שה": "that the", "מה": "from the", "וב": "and in", "ול": "and to", "ומ": "and from"}
    | {"ו": "and", "ה": "the", "ב": "in", "ל": "to", "מ": "from", "ש": "that", "כ": "as"},
}
#: What Korean writes behind a noun: particles; the verbs to do and to become and the copula, each with its endings.
_KOREAN_PARTICLES = re.compile(
    "들?(?:이나?|가|은|는|을|를|의|에|[와과]의?|도|만[이을은]?|나|(?:으?로|에서|에게|께서?|한테)(?:[는도의서써]|부터)?|에[는도]"
    "|(?:까지|부터|보다|처럼|마다|조차|마저|뿐)[는도의만]?|이?라[도고는면]|이?란|님[이은의을께]?|들)"
)
_KOREAN_VERBS = re.compile(
    "들?(?:[하했해한할함합되됐돼된될됨됩적]|시[키켜킨킬]|당[하한]|스[러럽]|[이였인일임입]|예요)\\w{0,5}"
)
_KANA = re.compile("[\u30a0-\u30ff]+")
_ELIDING = frozenset({"fr", "it", "ca"})
#: Beginnings of German and Dutch verbs that stand at the end of the clause.
_APART = {
    lang: frozenset(words.split())
    for lang, words in {
        "de": "ab an auf aus bei ein fest her hin los mit nach statt teil um vor weg zu zurück zusammen",
        "nl": "aan af bij door in mee na om op over terug toe uit voor weg",
    }.items()
}
_SHORTEST, _ENDING = 3, 5
_IRREGULAR = {"man": "men", "woman": "women", "child": "children", "person": "people", "foot": "feet", "tooth": "teeth"}


class Reading(NamedTuple):
    """Words [first, last) of a sentence with their meanings, if they are known. `before`: small words of English that
    what is attached to the word says."""

    first: int
    last: int
    entries: tuple[Entry, ...] = ()
    before: str = ""


def read(words: Sequence[str], joined: Sequence[bool], lang: str, lexicon: Lexicon) -> list[Reading]:
    """All words of a sentence, phrases as one. `joined`: whether nothing but a space stands behind each word."""
    found: list[Reading] = []
    keys = [spelled(word, lang) for word in words]
    phrases = _phrases(keys, joined, lang, lexicon)
    place = 0
    while place < len(words):
        last = phrases.get(place, place + 1)
        if last > place + 1:
            key = ("" if lang in UNSPACED else " ").join(keys[place:last])
            found.append(Reading(place, last, lexicon.look(key.lower(), lang)))
        else:
            found.append(Reading(place, last, *_known(keys[place], place == 0, lang, lexicon)))
        place = last
    return _separable(found, keys, joined, lang, lexicon) if lang in _APART else found


def _phrases(keys: Sequence[str], joined: Sequence[bool], lang: str, lexicon: Lexicon) -> dict[int, int]:
    """Where phrases begin that are known, with where the longest of each ends: one look at all that might be."""
    space, most = ("", _LETTERS) if lang in UNSPACED else (" ", sys.maxsize)
    lower = [key.lower().encode("utf-8", "replace") for key in keys]
    more, places, hashes = [space.encode() + key for key in lower], list[tuple[int, int]](), list[int]()
    for first, key in enumerate(lower):
        letters, last, hash = len(keys[first]), first + 1, 0
        while joined[last - 1] and last < first + _PHRASE and (letters := letters + len(keys[last])) <= most:
            hash = hashed(more[last], hash or hashed(key))
            last += 1
            places.append((first, last))
            hashes.append(hash)
    return dict(compress(places, lexicon.have(hashes, lang))) if lang in lexicon.langs else {}


@lru_cache(maxsize=50_000)
def _known(key: str, begins: bool, lang: str, lexicon: Lexicon) -> tuple[tuple[Entry, ...], str]:
    """The entries of a word, and the small words before it."""
    ways = [(key, ""), *_bare(key, lang)]
    for base, before in ways:
        if entries := as_written(base, begins, lang, lexicon):
            the = lang == "ar" and base.startswith("ال") and entries[0].kind == "noun"
            return entries, "the" if the and not before else before
    if key[:1].isupper() and not begins and lang != "de":
        return (), ""  # a name that is not known
    for base, before in ways:
        if entries := form(base.lower(), lang, lexicon):
            return entries, before
    return compound(key.lower(), lang, lexicon), ""


def as_written(key: str, begins: bool, lang: str, lexicon: Lexicon) -> tuple[Entry, ...]:
    """A capital counts unless the sentence begins with it."""
    lower = key.lower() if lang != "tr" else key.replace("İ", "i").replace("I", "ı").lower()
    for one in dict.fromkeys((lower, key) if begins else (key, lower)):
        entries = lexicon.look(one, lang)
        if entries:
            return entries
    loose = loosened(lower)
    return lexicon.look(loose, lang) if loose != lower else ()


def _bare(key: str, lang: str) -> list[tuple[str, str]]:
    """The word without articles and particles written as one with it, and their English."""
    if "'" in key[1:-1]:
        first, _, rest = key.partition("'")
        return [(rest, "")] if lang in _ELIDING and len(first) <= _ENDING else [(first, "")]
    attached = _ATTACHED.get(lang, {})
    return [
        (key[len(letters) :], before)
        for letters, before in attached.items()
        if key.startswith(letters) and len(key) - len(letters) >= _SHORTEST
    ]


def form(key: str, lang: str, lexicon: Lexicon) -> tuple[Entry, ...]:
    """Of the known words that another ending makes of this one, the surest."""
    rules, best = lexicon.rules(lang), (0.0, tuple[Entry, ...]())
    for size in range(min(_ENDING, len(key) - 2), 0, -1):
        for rule in rules.get(key[-size:], ()):
            if rule.share > best[0]:
                entries = lexicon.look(key[:-size] + rule.base, lang)
                if entries:
                    sure = rule.share >= 0.7
                    best = (
                        rule.share,
                        tuple(
                            one._replace(text=formed(one, rule.effect, lexicon), sure=one.sure and sure)
                            for one in entries
                        ),
                    )
    return best[1] or (_korean(key, lexicon) if lang == "ko" else ())


def _korean(key: str, lexicon: Lexicon) -> tuple[Entry, ...]:
    """The longest noun that the word begins with, if the rest is what stands behind nouns."""
    for size in range(len(key) - 1, 1, -1):
        particle = _KOREAN_PARTICLES.fullmatch(key, size)
        if particle or _KOREAN_VERBS.fullmatch(key, size):
            entries = lexicon.look(key[:size], "ko")
            if entries:
                return tuple(one._replace(sure=one.sure and bool(particle)) for one in entries)
    return ()


def behind_noun(rest: str) -> bool:
    """Whether this is what Korean writes behind a noun."""
    return bool(_KOREAN_PARTICLES.fullmatch(rest) or _KOREAN_VERBS.fullmatch(rest))


def formed(one: Entry, effect: str, lexicon: Lexicon) -> str:
    """English in the form that an ending stands for, if it is one that texts have."""
    if not effect or " " in one.text or (effect == "s") != (one.kind == "noun"):
        return one.text
    text = one.text
    soft = text.removesuffix("e") if effect != "s" else text[:-1] + "ie" if text.endswith("y") else text
    made = _IRREGULAR.get(text, "") if effect == "s" else ""
    tried = (made, soft + effect, text + effect, text + "es")
    return next((form for form in tried if form and lexicon.says(form)), text)


def compound(key: str, lang: str, lexicon: Lexicon) -> tuple[Entry, ...]:
    """The meanings of the parts of a word, the head last as in English."""
    if lang in COMPOUND_LINKERS:
        found = split_compound(
            key, lang, lambda part: any(e.sure for e in lexicon.look(part, lang)) and not small(part, lang)
        )
    elif lang in UNSPACED:
        found = _cut(key, lang, lexicon)
    else:
        found = []
    if not found:
        return ()
    said = [lexicon.look(part, lang)[0] for part in found]
    sure = all(one.sure for one in said) and min(map(len, found)) > (1 if lang in UNSPACED else _SHORTEST)
    text = " ".join(dict.fromkeys(one.text for one in said))
    return (Entry(text, min(one.weight for one in said), said[-1].source, sure, said[-1].kind),)


@lru_cache(maxsize=50_000)
def small(word: str, lang: str) -> bool:
    """Whether it is a pronoun, a preposition or the like."""
    return not analyzer(lang).terms(word)


def _cut(key: str, lang: str, lexicon: Lexicon) -> list[str]:
    """All of a word in known ones, the longest first; nothing if some of it is left, or if more than one piece is a
    single character, or a name in kana would be cut to pieces."""
    found, place = [], 0
    while place < len(key):
        ends = range(min(len(key), place + 6), place, -1)
        end = next((end for end in ends if (place or end < len(key)) and lexicon.look(key[place:end], lang)), 0)
        if not end:
            return []
        found.append(key[place:end])
        place = end
    letters = 3 if _KANA.fullmatch(key) else 1
    return found if sum(len(piece) <= letters for piece in found) <= 1 else []


def _separable(
    found: list[Reading], keys: Sequence[str], joined: Sequence[bool], lang: str, lexicon: Lexicon
) -> list[Reading]:
    """A verb whose beginning stands at the end of its clause is read with it: er ruft mich an."""
    by_place = {one.first: one for one in found}
    start = 0
    for end, key in enumerate(keys):
        if joined[end] and keys[end + 1] not in ("und", "oder", "en", "of"):
            continue
        if key in _APART[lang] and end > start + 1:
            for place in range(start, end):
                entries = (
                    () if keys[place][:1].isupper() and place else _whole(key + keys[place].lower(), lang, lexicon)
                )
                if entries:
                    by_place[place] = Reading(place, place + 1, entries)
                    if end in by_place:
                        by_place[end] = Reading(end, end + 1)
                    break
        start = end + 1
    return [by_place[place] for place in sorted(by_place)]


def _whole(key: str, lang: str, lexicon: Lexicon) -> tuple[Entry, ...]:
    entries = lexicon.look(key, lang) or form(key, lang, lexicon)
    return entries if entries and entries[0].kind == "verb" else ()
