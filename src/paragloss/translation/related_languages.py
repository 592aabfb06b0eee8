"""Languages without a table of their own, translated through a close relative with regular changes of spelling.

Afrikaans is translated through Dutch: "school" becomes "skool". A word is respelled by all rules of the pair, one after
the other; optional rules give further variants, since spelling alone does not tell which applies (Belarusian writes an
unstressed о as а). Measured by studies/related_languages.py (docs/understand/log-translation.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from paragloss.languages import scripts_of
from paragloss.types import Alternative, Translation


class SpellingRule(NamedTuple):
    """A regular expression and its replacement; an optional rule gives a variant beside the word without it."""

    pattern: re.Pattern[str]
    replacement: str
    is_optional: bool = False


def _parse_rules(text: str) -> tuple[SpellingRule, ...]:
    """Parse `pattern=replacement` items; a `?` before an item makes the rule optional."""
    rules = []
    for item in text.split():
        pattern, _, replacement = item.removeprefix("?").rpartition("=")
        rules.append(SpellingRule(re.compile(pattern), replacement, item.startswith("?")))
    return tuple(rules)


def _relate(**rules_by_relative: str) -> dict[str, tuple[SpellingRule, ...]]:
    """Parse the rules of each relative of a language."""
    return {lang: _parse_rules(text) for lang, text in rules_by_relative.items()}


#: The relatives of each language, nearest first, each with the rules that turn its words into the language's own.
RELATED_LANGUAGES: Mapping[str, Mapping[str, tuple[SpellingRule, ...]]] = {
    "af": _relate(
        nl="lijk=lik ij=y sch=sk tie$=sie ties$=sies isch(e?)$=ies\\1 z=s c(?=[aoulrkt])=k "
        "(?<=[aeiou])v(?=[aeiou])=w cht$=g ?en$=e ?en$= ?(?<=[aeiou])ge(?=n?$)=e"
    ),
    "gl": _relate(
        pt="ção$=ción ções$=cións são$=sión sões$=sións lh=ll nh=ñ ss=s ç=z j=x g(?=[eiéí])=x m$=n ?ão$=ón ?ão$=án",
        es="j=x g(?=[eiéí])=x ?ciones$=cións ?ue=o ?ie=e ?h=f",
    ),
    "ast": _relate(es="ciones$=ciones as$=es ?o$=u ?f=h"),
    "oc": _relate(ca="ny=nh ll=lh ció$=cion cions$=cions ?t$=t"),
    "bs": _relate(hr=""),
    "sr": _relate(hr="?ije=e ?(?<=[bcdfghklmnprstvzčćđšž])je=e"),
    "mk": _relate(bg="щ=шт ия$=ија ие$=ие я=ја ю=ју й=ј жд=ѓ ъ=а ?ен$=ен ?а$=ата"),
    "be": _relate(
        uk="и=ы і=і ї=і є=е ти$=ць ть$=ць ґ=г щ=шч в(?=[бвгджзклмнпрстфхцчш])=ў ?(?<=[а-яіў].)о=а ?о=а",
        ru="щ=шч ть$=ць и=і в(?=[бвгджзклмнпрстфхцчш])=ў ?(?<=[а-яіў].)о=а ?о=а ъ=' ци=цы",
    ),
    "nn": _relate(no="^hv=kv ikke=ikkje ?ene$=ane ?er$=ar ?et$=a"),
    "lb": _relate(de="ei=äi ?tion$=tioun ?ung$=ung ?en$=en ?au=au"),
    "sco": _relate(en=""),
    "az": _relate(tr="?e=ə ?k=q ?v=v ?ğ=ğ ?h=x"),
    "mr": _relate(hi=""),
    "ne": _relate(hi=""),
    "jv": _relate(id=""),
    "su": _relate(id=""),
    "min": _relate(id="", ms=""),
    "bjn": _relate(ms="", id=""),
    "ceb": _relate(tl=""),
    "ilo": _relate(tl=""),
}
#: Variants of a word, at most.
_MAX_VARIANTS = 6
#: The share of the relative's own spelling.
_UNCHANGED_SHARE = 0.2


@cache
def share_script(first: str, second: str) -> bool:
    """Say whether two languages are written in the same script, or have one in common."""
    return not set(scripts_of(first)).isdisjoint(scripts_of(second))


def list_relatives(lang: str, langs: Collection[str]) -> list[str]:
    """Return the relatives of a language that are among `langs`, nearest first; none for a language without any."""
    return [relative for relative in RELATED_LANGUAGES.get(lang, ()) if relative in langs]


@lru_cache(maxsize=20_000)
def respell(word: str, relative: str, lang: str) -> tuple[str, ...]:
    """Respell a word of one language as a related language may write it: Dutch "school" as Afrikaans "skool".

    The rules of the two languages are applied one after the other. An optional rule gives variants beside those without
    it, since spelling alone does not tell whether it applies.

    :param word: the word, in any case.
    :param relative: the language of the word, a key of RELATED_LANGUAGES[lang].
    :param lang: the language in whose spelling it is written.
    :return: up to six variants in lower case, likeliest first; only the word if no rule applies.
    """
    variants = [word.lower()]
    for rule in RELATED_LANGUAGES[lang][relative]:
        changed = [rule.pattern.sub(rule.replacement, variant) for variant in variants]
        candidates = [*variants, *changed] if rule.is_optional else changed
        different_candidates = list(dict.fromkeys(candidates))
        variants = different_candidates[:_MAX_VARIANTS]
    return tuple(variants)


def merge_clauses(clauses_by_relative: Mapping[str, list[Translation]], lang: str) -> list[Translation]:
    """Merge the clauses that relatives of a language give for one query into clauses of the language.

    The alternatives of all relatives that know a word are respelled and averaged.
    """
    by_source: dict[str, list[tuple[str, Translation]]] = {}
    for relative, clauses in clauses_by_relative.items():
        for clause in clauses:
            by_source.setdefault(clause.source, []).append((relative, clause))
    return [_merge_word(source, answers, lang) for source, answers in by_source.items()]


def _merge_word(source: str, answers: list[tuple[str, Translation]], lang: str) -> Translation:
    """Merge the translations of one word into several relatives of a language into one translation into the language.

    The spellings that the relatives' words may have in the language get the mean of their weights. Relatives that do
    not know the word, and leave it as it is, count only if none knows it.

    :param source: the word.
    :param answers: for each relative its language code and its translation of the word.
    :param lang: the language.
    :return: the translation, with the likeliest spelling first.
    """
    answers_that_translate = [(relative, clause) for relative, clause in answers if _is_translated(clause)]
    counted_answers = answers_that_translate or answers
    weight_by_spelling: dict[str, float] = {}
    for relative, clause in counted_answers:
        for spelling, weight in _respell_alternatives(clause, relative, lang):
            previous_weight = weight_by_spelling.get(spelling, 0.0)
            weight_by_spelling[spelling] = previous_weight + weight / len(counted_answers)
    best_first = sorted(weight_by_spelling.items(), key=lambda item: -item[1])
    alternatives = [Alternative(spelling, min(weight, 1.0)) for spelling, weight in best_first]
    return Translation(source, tuple(alternatives))


def _is_translated(clause: Translation) -> bool:
    return any(alternative.terms or alternative.text != clause.source for alternative in clause.alternatives)


def _respell_alternatives(clause: Translation, relative: str, lang: str) -> Iterator[tuple[str, float]]:
    """Yield the spellings that each alternative may have in another language, with shares of its weight.

    A spelling that the rules change also keeps a share as it is. The word of the query itself, which translators add
    without terms, is not respelled.

    :param clause: the alternatives of a word in a relative of the language.
    :param relative: the language of the alternatives.
    :param lang: the language in whose spelling they are written.
    """
    for text, weight, terms in clause.alternatives:
        is_word_of_query = text == clause.source and not terms
        if is_word_of_query:
            yield text, weight
            continue
        variants = respell(text, relative, lang)
        changed_share = 1.0
        is_changed = variants not in ((text,), (text.lower(),))
        if is_changed:
            yield text, _UNCHANGED_SHARE * weight
            changed_share = 1 - _UNCHANGED_SHARE
        for variant in variants:
            yield variant, weight * changed_share / len(variants)
