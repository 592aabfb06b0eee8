"""Keep the translations of a word's own part of speech (Ballesteros and Croft 1998).

Words are tagged by the Hanover Tagger (Wartena 2019), whose models lie inside its wheel: pip install HanTa. No extra
installs it, since only a recipe needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from paragloss.analysis import analyzer
from paragloss.types import Alternative, Query, Translation

MODELS = {"en": "morphmodel_en.pgz", "de": "morphmodel_ger.pgz"}
#: How the tags of each part of speech begin: BNC's C5 and STTS. The first that fits counts.
TAG_BEGINNINGS = {
    "en": {"NN": "noun", "NP": "noun", "V": "verb", "AJ": "adjective", "AV": "adverb"},
    "de": {"NNI": "verb", "NN": "noun", "NE": "noun", "V": "verb", "ADJ": "adjective", "ADV": "adverb"},
}
#: A translation may have each tag whose logarithmic probability is at most this far below that of the likeliest.
TAG_MARGIN = 3


def has_tagger() -> bool:
    """Say whether the tagger is installed."""
    return find_spec("HanTa") is not None


def keep_part_of_speech(query: Query, clauses: Sequence[Translation], to: str) -> list[Translation]:
    """Keep the alternatives of each word of a query that may be of its part of speech in the query.

    All are kept where none may be, and of a word that is none of the four parts of speech, or not one word.
    """
    part_by_word = tag_words(query.text, query.lang)
    kept = []
    for clause in clauses:
        part = part_by_word.get(clause.source, "")
        same_part = [a for a in clause.alternatives if part and part in list_parts(a.text, to)]
        kept.append(keep_alternatives(clause, same_part or clause.alternatives))
    return kept


def keep_alternatives(clause: Translation, alternatives: Sequence[Alternative]) -> Translation:
    """Keep some of the alternatives of a clause; their weights sum to one."""
    total = sum(alternative.weight for alternative in alternatives)
    return clause._replace(alternatives=tuple(a._replace(weight=a.weight / total) for a in alternatives))


def tag_words(text: str, lang: str) -> dict[str, str]:
    """Return the part of speech of each word of a text in its context, "" for other parts than the four."""
    words = [text[span.start : span.end] for span in analyzer(lang, stem=False, stop=False).spans(text)]
    try:
        return {word: _part_of_tag(tag, lang) for word, _, tag in _load_tagger(lang).tag_sent(words)}
    except KeyError:  # the tagger knows no path through some sequences of tags
        return {}


@cache
def list_parts(word: str, lang: str) -> set[str]:
    """List the parts of speech that a word may have by itself, whatever the case of its letters."""
    tags = _load_tagger(lang).tag_word(word, cutoff=TAG_MARGIN, casesensitive=False)
    return {_part_of_tag(tag, lang) for tag, _ in tags}


def _part_of_tag(tag: str, lang: str) -> str:
    return next((part for beginning, part in TAG_BEGINNINGS[lang].items() if tag.startswith(beginning)), "")


@cache
def _load_tagger(lang: str) -> Any:
    from HanTa.HanoverTagger import HanoverTagger

    return HanoverTagger(MODELS[lang])
