"""Stop words by language: stopwordsiso's lists, in the spelling of the analyzer."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

#: Words of closed classes only: stopwordsiso's English list has words that people search for (computer, information,
#: index, order, number).
_ENGLISH = """
a about above after again against all also although am an and any are aren't as at be because been before being below
between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each either for
from further had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him himself his
how how's however i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself just let's me more most mustn't
my myself neither no nor not of off on once only or other otherwise ought our ours ourselves out over own same shall
she she'd she'll she's should shouldn't since so some such than that that's the their theirs them themselves then there
there's these they they'd they'll they're they've this those through thus to too under until unto up upon us very was
wasn't we we'd we'll we're we've were weren't what what's when when's where where's whether which while who who's whom
whose why why's will with within without won't would wouldn't yet you you'd you'll you're you've your yours yourself
yourselves
"""
#: Languages that have the list of a relative.
_LIST_OF_RELATIVE = {"nn": "no", "bs": "hr", "sr": "hr", "mai": "hi", "ne": "hi"}

#: A list of more words than this has many that people search for (Russian: water, money, Moscow; Portuguese: system,
#: journey). The truly common ones are short, so of a long list only words of so many letters are used, without those
#: in `_SEARCHED_WORDS`.
MIN_WORDS_OF_LONG_LIST = 300
MAX_LETTERS_IN_LONG_LIST = 4
#: Arabic script leaves vowels out, so its words are shorter.
_MAX_LETTERS_BY_LANGUAGE = {"ar": 3, "fa": 3, "ur": 3}
#: Languages whose long lists are used as they are: measured, and without alphabets whose letters could be counted.
_UNSHORTENED_LISTS = {"zh", "ko", "vi"}
_SEARCHED_WORDS = """
anni anno ansa caso cima cosa fine lato male mesi modo nome uomo vita vale ieri oggi
beau gens haut mine neuf onze sein stop voie vive état cent clic
dank ende gott jahr lang kurz mann neue teil tage tag uhr zeit zehn hoch rund wahr
bajo días dias día dia lado pais país usar uso ayer
anos hoje hora obra povo tipo zero área nova novo meio ano
года году год глаз дать день душа жена лицо люди мать мир мира нога ночь окно отец путь рука свет сила стол утро вода
дело друг дом раз час
"""
#: Stop words that the lists lack.
_MISSING_WORDS = {"uk": "і в у на не за по при над між а о ж я ти", "sw": "vya cha la za"}


def stopwords(lang: str, spell: Callable[[str], str]) -> frozenset[str]:
    """Return the stop words of a language, spelled by `spell`; none for a language without a list."""
    return frozenset(filter(None, map(spell, _select_words(lang))))


def _select_words(lang: str) -> set[str]:
    if lang == "en":
        return set(_ENGLISH.split())
    words = {word for word in _load_lists().get(_LIST_OF_RELATIVE.get(lang, lang), ()) if " " not in word}
    if len(words) > MIN_WORDS_OF_LONG_LIST and lang not in _UNSHORTENED_LISTS:
        max_letters = _MAX_LETTERS_BY_LANGUAGE.get(lang, MAX_LETTERS_IN_LONG_LIST)
        words = {word for word in words if len(word) <= max_letters}
    return words.union(_MISSING_WORDS.get(lang, "").split()) - set(_SEARCHED_WORDS.split())


@cache
def _load_lists() -> dict[str, list[str]]:
    """Read the file of stopwordsiso; importing the package takes five times as long."""
    package: Any = find_spec("stopwordsiso")
    lists: dict[str, list[str]] = json.loads(Path(package.origin).with_name("stopwords-iso.json").read_bytes())
    return lists
