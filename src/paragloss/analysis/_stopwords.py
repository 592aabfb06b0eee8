"""Words too common to search for, by language: stopwordsiso's lists, spelled as the analyzer spells its words."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

#: stopwordsiso's English list holds words people do search for (computer, information, index, order, number):
#: these are the closed classes only.
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
_NEAREST = {"nn": "no", "bs": "hr", "sr": "hr", "mai": "hi", "ne": "hi"}

#: The long lists of stopwordsiso hold many words people search for (Russian: water, money, Moscow; Portuguese: system,
#: journey). The truly common ones are short, so of a long list only short words are taken, less those named below.
_LONG_LIST = 300
_SHORT_WORD = 4
#: Arabic script leaves vowels out, so its words are shorter.
_SHORT_WORDS = {"ar": 3, "fa": 3, "ur": 3}
#: Long lists that are good as they are: measured, and short or foreign to counting letters.
_WHOLE = {"zh", "ko", "vi"}
_WORTH_FINDING = """
anni anno ansa caso cima cosa fine lato male mesi modo nome uomo vita vale ieri oggi
beau gens haut mine neuf onze sein stop voie vive état cent clic
dank ende gott jahr lang kurz mann neue teil tage tag uhr zeit zehn hoch rund wahr
bajo días dias día dia lado pais país usar uso ayer
anos hoje hora obra povo tipo zero área nova novo meio ano
года году год глаз дать день душа жена лицо люди мать мир мира нога ночь окно отец путь рука свет сила стол утро вода
дело друг дом раз час
"""
#: What the lists forgot.
_MORE = {"uk": "і в у на не за по при над між а о ж я ти", "sw": "vya cha la za"}


def stopwords(lang: str, spell: Callable[[str], str]) -> frozenset[str]:
    """Spelled by `spell`. Empty for a language without a list."""
    return frozenset(spelled for word in _listed(lang) if (spelled := spell(word)))


def _listed(lang: str) -> set[str]:
    if lang == "en":
        return set(_ENGLISH.split())
    words = {word for word in _lists().get(_NEAREST.get(lang, lang), ()) if " " not in word}
    if len(words) > _LONG_LIST and lang not in _WHOLE:
        longest = _SHORT_WORDS.get(lang, _SHORT_WORD)
        words = {word for word in words if len(word) <= longest}
    return words.union(_MORE.get(lang, "").split()) - set(_WORTH_FINDING.split())


@cache
def _lists() -> dict[str, list[str]]:
    """Read from stopwordsiso's file: importing the package takes five times as long, for its version."""
    package: Any = find_spec("stopwordsiso")
    lists: dict[str, list[str]] = json.loads(Path(package.origin).with_name("stopwords-iso.json").read_bytes())
    return lists
