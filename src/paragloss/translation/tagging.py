"""Parts of speech of a query's words, and the phrases they make (Ballesteros and Croft, SIGIR 1998).

Words are tagged by the Hanover Tagger (Wartena 2019), whose models of English, German and Dutch lie inside its wheel.
Whoever has another tagger gives a function of the same kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from paragloss.analysis import analyzer
from paragloss.errors import InputError, LanguageError
from paragloss.types import Span

#: Tells the kind of each of a text's words, "" where it can't.
Tagger: TypeAlias = Callable[[str, Sequence[Span]], Sequence[str]]

NOUN, VERB, ADJECTIVE, ADVERB, PREPOSITION = "noun", "verb", "adj", "adv", "prep"


class _Tags(NamedTuple):
    """A model of the tagger, and how the tags that mean each kind begin: BNC's (C5), STTS and CGN."""

    model: str
    kinds: dict[str, str]


_LANGUAGES = {
    "en": _Tags("en", {"NN": NOUN, "NP": NOUN, "V": VERB, "AJ": ADJECTIVE, "AV": ADVERB, "PR": PREPOSITION}),
    "de": _Tags("ger", {"NN": NOUN, "NE": NOUN, "V": VERB, "ADJ": ADJECTIVE, "ADV": ADVERB, "APP": PREPOSITION}),
    "nl": _Tags(
        "dutch",
        {"N(": NOUN, "SPEC(deel": NOUN, "WW": VERB, "ADJ": ADJECTIVE, "BW": ADVERB, "VZ": PREPOSITION},
    ),
}
#: What dictionaries write for each kind; the gender of a noun says that it is one.
_WRITTEN = {
    NOUN: "n noun name propn proper subst s m f nt masc fem neut mf pl sg",
    VERB: "v vb vt vi vti verb auxv phrv phrvt phrvi",
    ADJECTIVE: "a adj adjective",
    ADVERB: "r adv adverb",
    PREPOSITION: "prep adp preposition",
}
_KIND = {word: kind for kind, words in _WRITTEN.items() for word in words.split()}
_LETTER = {NOUN: "n", ADJECTIVE: "a"}
_PHRASE = re.compile(r"[an]+n")


def tagger(lang: str) -> Tagger:
    """What tags the words of a language."""
    if lang not in _LANGUAGES:
        raise LanguageError(f"no tagger for {lang!r}; there is one for {', '.join(_LANGUAGES)}")
    model, kinds = _model(lang), _LANGUAGES[lang].kinds

    def tag(text: str, spans: Sequence[Span]) -> list[str]:
        words = [text[span.start : span.end] for span in spans]
        try:
            tags = [tag for _, _, tag in model.tag_sent(words)]
        except KeyError:  # it has no way through some sequences that nobody writes
            return [""] * len(words)
        return [next((kind for start, kind in kinds.items() if tag.startswith(start)), "") for tag in tags]

    return tag


@cache
def _model(lang: str) -> Any:
    try:
        from HanTa.HanoverTagger import HanoverTagger
    except ImportError:
        raise InputError("parts of speech need a tagger: pip install 'paragloss[tagger]'") from None
    return HanoverTagger(f"morphmodel_{_LANGUAGES[lang].model}.pgz")


def kind(pos: str) -> str:
    """A part of speech as a dictionary writes it, in our words: "n" and "fem" are nouns."""
    first = re.split(r"[\s,.;:/]", pos.strip().lower(), maxsplit=1)[0]
    return _KIND.get(first, first)


def phrases(text: str, lang: str, tag: Tagger) -> list[Span]:
    """Where nouns stand in a row, or behind adjectives: what is translated best as a whole."""
    spans = analyzer(lang, stem=False, stop=False).spans(text)
    letters = "".join(_LETTER.get(kind, "-") for kind in tag(text, spans))
    found = (spans[match.start() : match.end()] for match in _PHRASE.finditer(letters))
    return [Span(part[0].start, part[-1].end, text[part[0].start : part[-1].end]) for part in found]
