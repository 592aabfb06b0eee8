"""A rough rendering of a sentence: the best meanings of its words, in English word order where simple rules give it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple, TypeAlias


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Before a meaning that is a guess.
GUESS = "~"
_AUXILIARIES = _words("has have had is was are were am will would can could must should may might wants want be been")
_COPULAS = _words("is are am")
_CONJUNCTIONS = _words("that because if when while although whether as which who since before after")
_SUBJECT_PRONOUNS = _words("I he she it we you they one this who everyone nobody")
_PREPOSITIONS = _words(
    "of in on at to from for with by until after before between about near under above over against during without "
    "through since like as into toward towards inside outside around behind among than"
) | {"because of", "according to", "in front of", "instead of", "out of"}
#: Words that end the noun phrase of a postposition.
_PHRASE_BOUNDARIES = _words(
    "i he she they we you it who which that but if because when while although so therefore not is are was were be "
    "also only still already now then very however has have had can will would must may"
)
_ARTICLES = ("the", "a", "an")
_DETERMINERS = _words(
    "the a an this that these those one two three some any all each every no his her its their my your our"
)
#: Endings of Slavic genitives in the singular.
_SLAVIC_GENITIVE = re.compile("[аяыиіїauyiů]$")
#: English of particles that are attached to a noun.
_ATTACHED_WORDS = ("and ", "so ", "with ", "for ", "like ", "in ", "to ", "from ", "that ", "as ", "will ")
_FOREIGN_PUNCTUATION = {
    "。": ".", "！": "!", "？": "?", "।": ".", "؟": "?", "，": ",", "、": ",", "،": ",", "；": ";", "：": ":", "։": ".",
}  # fmt: skip
_PUNCTUATION = {char: char for char in ".!?;:,"} | _FOREIGN_PUNCTUATION


class RenderedWord(NamedTuple):
    """English for a word: its text, its part of speech, the foreign word, and the punctuation behind it.

    `meaning` is the end of the text without small words such as "of the", and `word_number` is the number of the
    foreign word in its sentence, from 0.
    """

    text: str
    kind: str
    foreign_word: str
    punctuation: str = ""
    meaning: str = ""
    word_number: int = 0


Clause: TypeAlias = list[RenderedWord]


class Rendering(NamedTuple):
    """A rendered sentence; `spans` has the offsets of each word's meaning in the text by the word's number."""

    text: str
    spans: Mapping[int, tuple[int, int]]


def render_sentence(words: Sequence[RenderedWord], lang: str, to: str) -> Rendering:
    """Write the words of a sentence as one line; texts in brackets, for which English has no word, are left out.

    :param words: English for each word of the sentence, in its order.
    :param lang: the language of the sentence, whose rules of word order are applied.
    :param to: the reader's language.
    """
    clauses: list[Clause] = [[]]
    for word in words:
        clauses[-1].append(word)
        if word.punctuation:
            clauses.append([])
    ordered_words: Clause = []
    for clause in clauses:
        ordered_words += _order_clause(clause, lang, to)
    rendering = _join_words(ordered_words)
    return _correct_articles(rendering) if to == "en" else rendering


def find_punctuation(between: str) -> str:
    """Return the first mark of the text between two words that the rendering keeps, or ""."""
    for char in between:
        if char in _PUNCTUATION:
            return _PUNCTUATION[char]
    return ""


def is_preposition(text: str) -> bool:
    """Tell whether a text is an English preposition."""
    return text in _PREPOSITIONS


def _order_clause(clause: Clause, lang: str, to: str) -> Clause:
    """Return the words of a clause that are rendered, in English order if that is the reader's language."""
    ordered = clause
    if to == "en":
        for rule in _ORDER_RULES.get(lang, ()):
            ordered = rule(ordered)
    shown_words = [word for word in ordered if word.text and not word.text.startswith("(")]
    rendered = [word._replace(punctuation="") for word in _drop_repetitions(shown_words)]
    if rendered:
        rendered[-1] = rendered[-1]._replace(punctuation=clause[-1].punctuation)
    return rendered


def _drop_repetitions(words: Clause) -> Clause:
    """Keep one of equal neighbours and of neighbouring articles: "the", "the bee" becomes "the", "bee"."""
    unique: Clause = []
    last_word = ""  # the last English word so far, in lower case
    for word in words:
        folded = word.text.casefold()
        is_second_article = last_word in ("the", "a") and folded in _ARTICLES
        if last_word == folded or is_second_article:
            continue
        if last_word in _ARTICLES and folded.startswith("the "):
            word = word._replace(text=word.text[len("the ") :])
        unique.append(word)
        words_of_text = word.text.casefold().split()
        last_word = words_of_text[-1] if words_of_text else ""
    return unique


def _join_words(words: Clause) -> Rendering:
    """Write words with spaces between them, and note where the meaning of each stands."""
    text = ""
    spans = {}
    for word in words:
        text += f" {word.text}" if text else word.text
        length = len(word.meaning) if word.meaning and word.text.endswith(word.meaning) else len(word.text)
        spans[word.word_number] = (len(text) - length, len(text))
        text += word.punctuation
    return Rendering(text, spans)


def _correct_articles(rendering: Rendering) -> Rendering:
    """Write "an" before vowels; what stands behind it moves by one character."""
    article_ends = [article.end() for article in _article_before_vowel().finditer(rendering.text)]
    if not article_ends:
        return rendering
    spans = {
        word_number: (start + bisect_left(article_ends, start), end + bisect_right(article_ends, end))
        for word_number, (start, end) in rendering.spans.items()
    }
    return Rendering(_article_before_vowel().sub(r"\1n", rendering.text), spans)


@cache
def _article_before_vowel() -> re.Pattern[str]:
    return re.compile(r"\b([Aa])(?= [aeio])")


def _put_adjectives_first(clause: Clause) -> Clause:
    """Put adjectives before their nouns: "the house white" becomes "the white house"."""
    ordered = list(clause)
    for position in range(1, len(ordered)):
        noun, adjective = ordered[position - 1], ordered[position]
        if adjective.kind == "adjective" and noun.kind == "noun":
            before, article, text = noun.text.rpartition("the ")
            adjective = adjective._replace(text=before + article + adjective.text.removeprefix("the "))
            ordered[position - 1 : position + 1] = adjective, noun._replace(text=text)
    return ordered


def _insert_of(clause: Clause) -> Clause:
    """Insert "of" between neighbouring nouns: "decision authorities" becomes "decision of authorities"."""
    return _insert_of_before(clause, lambda noun: True)


def _insert_of_before_genitives(clause: Clause) -> Clause:
    """Insert "of" before nouns whose ending is that of a genitive, or that are plural."""
    return _insert_of_before(
        clause, lambda noun: bool(_SLAVIC_GENITIVE.search(noun.foreign_word)) or noun.text.endswith("s")
    )


def _insert_of_before(clause: Clause, can_be_owner: Callable[[RenderedWord], bool]) -> Clause:
    """Insert "of" before each noun phrase that follows a noun directly and may be its owner.

    "roof big school" becomes "roof of big school": the owner is "school", and "of" comes before its adjective.

    :param can_be_owner: tells of a noun whether it may be the owner of the noun before its phrase.
    """
    linked = clause[:1]
    for position in range(1, len(clause)):
        word = clause[position]
        if _can_be_owned(clause[position - 1]) and _starts_owner_phrase(clause[position:], can_be_owner):
            word = word._replace(text=f"of {word.text}")
        linked.append(word)
    return linked


def _can_be_owned(word: RenderedWord) -> bool:
    """Say whether an owner may follow a word: a noun, but in Arabic and Hebrew none with an article."""
    has_article = word.foreign_word.startswith("ال") or "the " in word.text
    return word.kind == "noun" and not has_article


def _starts_owner_phrase(words: Clause, can_be_owner: Callable[[RenderedWord], bool]) -> bool:
    """Say whether words start with a noun that may be an owner, perhaps behind adjectives, and without preposition."""
    if words[0].text.startswith(_ATTACHED_WORDS):
        return False
    first_other_word = next((word for word in words if word.kind != "adjective"), None)
    return first_other_word is not None and first_other_word.kind == "noun" and can_be_owner(first_other_word)


def _put_subject_first(clause: Clause) -> Clause:
    """Put the subject before the verb: "closed the school doors" becomes "the school closed doors".

    A clause that does not begin with a verb and a noun, between which only adjectives may stand, stays as it is.
    """
    first_noun = next((i for i, word in enumerate(clause[1:], 1) if word.kind != "adjective"), None)
    if first_noun is None or clause[0].kind != "verb" or clause[first_noun].kind != "noun":
        return clause
    subject_end = first_noun + 1  # behind the noun and its owners: "roof of big school"
    while subject_end < len(clause):
        is_owner = clause[subject_end].text.startswith("of ")
        if not is_owner and clause[subject_end - 1].kind != "adjective":
            break
        subject_end += 1
    verb, subject, other_words = clause[0], clause[1:subject_end], clause[subject_end:]
    return [*subject, verb, *other_words]


def _move_verb_forward(clause: Clause) -> Clause:
    """Move a verb at the end of a clause to where English has it.

    "he has honey made" becomes "he has made honey", "because he bread bakes" becomes "because he bakes bread", and
    "closed are" becomes "are closed".
    """
    if len(clause) < 3:
        return clause
    *first_words, second_last, last = clause
    if last.text in _AUXILIARIES and second_last.kind in ("verb", "adjective"):
        return [*first_words, last, second_last]
    if last.kind != "verb":
        return clause
    auxiliary = _find_auxiliary(first_words)
    if auxiliary is not None:
        return _move_verb_behind(clause, auxiliary)
    if clause[0].text in _CONJUNCTIONS:
        return _move_verb_behind_subject(clause)
    return clause


def _find_auxiliary(words: Clause) -> int | None:
    """Return the position of the first auxiliary verb among words; None if there is none."""
    for position, word in enumerate(words):
        if word.text.removeprefix(GUESS) in _AUXILIARIES:
            return position
    return None


def _move_verb_behind_subject(clause: Clause) -> Clause:
    """Move the last word, a verb, behind the first noun or pronoun that follows the conjunction."""
    for position, word in enumerate(clause[1:-1], 1):
        if word.kind == "noun" or word.text in _SUBJECT_PRONOUNS:
            return [*clause[: position + 1], clause[-1], *clause[position + 1 : -1]]
    return clause


def _move_verb_behind(clause: Clause, auxiliary: int) -> Clause:
    """Move the last word, a verb, behind the auxiliary and its negation."""
    middle = clause[auxiliary + 1 : -1]
    negations = [word for word in middle if word.text == "not"]
    objects = [word for word in middle if word not in negations]
    return [*clause[: auxiliary + 1], *negations, clause[-1], *objects]


def _drop_copula_behind_verb(clause: Clause) -> Clause:
    """Drop a form of "to be" behind a verb: Hindi "jāte haĩ" is "go", not "go are"."""
    redundant = {i for i in range(1, len(clause)) if clause[i].text in _COPULAS and clause[i - 1].kind == "verb"}
    return [word._replace(text="") if i in redundant else word for i, word in enumerate(clause)]


def _put_postpositions_first(clause: Clause) -> Clause:
    """Turn postpositions into prepositions: "school of roof on" becomes "on roof of school".

    Words are collected until one of them shows what they are: "of" makes them the owners of the noun that follows,
    another preposition is put before them, and a word that is in no noun phrase ends them.
    """
    ordered: Clause = []  # the words before the current noun phrase, in English order
    phrase: Clause = []  # the current noun phrase
    owners: Clause = []  # owners of the phrase's noun, the last one first, each behind its "of"
    for word in clause:
        text = word.text.removeprefix(GUESS).casefold()
        if text == "of" and phrase:
            phrase, owners = [], [word, *phrase, *owners]
        elif text in _PREPOSITIONS and phrase:
            if not ordered and not owners:
                ordered, phrase = _split_subject(phrase)
            ordered += [word, *phrase, *owners]
            phrase, owners = [], []
        elif _ends_noun_phrase(word, text):
            ordered += [*phrase, *owners, word]
            phrase, owners = [], []
        else:
            phrase.append(word)
    return [*ordered, *phrase, *owners]


def _split_subject(words: Clause) -> tuple[Clause, Clause]:
    """Split the words before a postposition into the subject of the clause, if there are two nouns, and the others."""
    noun_positions = [position for position, word in enumerate(words) if word.kind == "noun"]
    if len(noun_positions) < 2:
        return [], words
    end = noun_positions[0] + 1
    return words[:end], words[end:]


def _ends_noun_phrase(word: RenderedWord, text: str) -> bool:
    """Say whether a word, given with its English text, is not part of a noun phrase."""
    return word.kind == "verb" or text in _PHRASE_BOUNDARIES or text in _PREPOSITIONS or text.startswith("(")


def _put_cases_first(clause: Clause) -> Clause:
    """Put the prepositions of cases before whole noun phrases, and owners behind what they own.

    "the big in house" becomes "in the big house", "of house new roof" becomes "new roof of house".
    """
    ordered: list[Clause] = []  # the phrases behind the current one, in English order
    for phrase_with_case in reversed(_split_noun_phrases(clause)):
        preposition, phrase = _take_preposition(phrase_with_case)
        ordered = _prepend_phrase(preposition, phrase, ordered)
    return [word for phrase in ordered for word in phrase]


def _prepend_phrase(preposition: str, phrase: Clause, next_phrases: list[Clause]) -> list[Clause]:
    """Put a phrase with its preposition at the front of a clause, in English order.

    - "and" joins two phrases: it is put between this phrase and the next one.
    - "of" marks an owner: this phrase is put behind the next one if that is a noun, as in "roof of house".
    - "and" or "of" without such a phrase behind it is left out.
    - Any other preposition is put before the phrase.

    :param preposition: that of the phrase; "" for a phrase without case
    :param next_phrases: the phrases behind it, already in English order
    """
    if preposition not in ("and", "of"):
        return [_add_preposition(preposition, phrase), *next_phrases]
    if not next_phrases:
        return [phrase]
    next_phrase, *other_phrases = next_phrases
    if preposition == "and":
        return [phrase, _add_preposition("and", next_phrase), *other_phrases]
    if any(word.kind == "noun" for word in next_phrase):
        return [[*_add_article(next_phrase), *_add_preposition("of", phrase)], *other_phrases]
    return [phrase, *next_phrases]


def _split_noun_phrases(clause: Clause) -> list[Clause]:
    """Split a clause into nouns and names, each with the article and the adjectives before it, and other words."""
    phrases: list[Clause] = []
    modifiers: Clause = []
    for word in clause:
        if word.kind == "adjective" or word.text in _ARTICLES:
            modifiers.append(word)
            continue
        has_small_words = word.text != word.meaning  # such as "of" for a case, which only nouns and names have
        if word.kind == "noun" or has_small_words:
            phrases.append([*modifiers, word])
        else:
            phrases += [[single_word] for single_word in (*modifiers, word)]
        modifiers = []
    phrases += [[modifier] for modifier in modifiers]
    return phrases


def _take_preposition(phrase: Clause) -> tuple[str, Clause]:
    """Return the preposition of the noun that ends a phrase, or "", and the phrase without it."""
    noun = phrase[-1]
    preposition = noun.text.removesuffix(noun.meaning).strip()
    if not (is_preposition(preposition) or preposition == "and"):
        return "", phrase
    return preposition, [*phrase[:-1], noun._replace(text=noun.meaning)]


def _add_preposition(preposition: str, phrase: Clause) -> Clause:
    """Put a preposition before the first word of a phrase; "" changes nothing."""
    first = phrase[0]
    return [first._replace(text=f"{preposition} {first.text}".lstrip()), *phrase[1:]]


def _add_article(phrase: Clause) -> Clause:
    """Put "the" before a noun phrase that has an owner, unless it has an article, a name or another determiner."""
    if any(word.text[:1].isupper() or word.meaning.removeprefix(GUESS) in _DETERMINERS for word in phrase):
        return phrase
    preposition, phrase = _split_preposition(phrase)
    return _add_preposition(f"{preposition} the".lstrip(), phrase)


def _split_preposition(phrase: Clause) -> tuple[str, Clause]:
    """Return the preposition before the first word of a phrase, or "", and the phrase without it."""
    first = phrase[0]
    preposition = first.text.removesuffix(first.meaning).strip()
    return preposition, [first._replace(text=first.meaning), *phrase[1:]]


def _put_verb_behind_subject(clause: Clause, particles: Collection[str]) -> Clause:
    """Move the last verb of a clause behind the subject: "I honey ate" becomes "I ate honey".

    This is for languages whose verbs stand last and whose subjects end with a particle. The clause stays as it is if it
    has no such particle before the verb, or a word that is more than a particle behind it.

    :param particles: the foreign words that mark a subject.
    """
    verb = max((i for i, word in enumerate(clause) if word.kind == "verb"), default=-1)
    particle = next((i for i, word in enumerate(clause) if word.foreign_word in particles), len(clause))
    is_verb_apart = particle + 1 < verb
    ends_clause = all(not word.kind for word in clause[verb + 1 :])
    if not (is_verb_apart and ends_clause):
        return clause
    subject, objects, verb_phrase = clause[: particle + 1], clause[particle + 1 : verb], clause[verb:]
    return [*subject, *verb_phrase, *objects]


_put_hindi_verb_behind_subject = partial(_put_verb_behind_subject, particles=("ने",))
_put_japanese_verb_behind_subject = partial(_put_verb_behind_subject, particles=("は", "が"))


#: Rules that are applied to each clause, one after the other, by language.
_ORDER_RULES: dict[str, tuple[Callable[[Clause], Clause], ...]] = {
    lang: rules
    for langs, rules in {
        "fr es it pt ro ca vi th sw yo ha ig zu xh rw so": (_put_adjectives_first,),
        "he fa id ms": (_put_adjectives_first, _insert_of),
        "ar": (_put_adjectives_first, _insert_of, _put_subject_first),
        "ru uk pl cs sk hr sl": (_insert_of_before_genitives,),
        "de nl": (_move_verb_forward,),
        "fi hu tr": (_put_cases_first,),
        "ko": (_put_cases_first, _put_postpositions_first),
        "bn ta": (_put_postpositions_first,),
        "hi": (_drop_copula_behind_verb, _put_postpositions_first, _put_hindi_verb_behind_subject),
        "ja": (_put_postpositions_first, _put_japanese_verb_behind_subject),
    }.items()
    for lang in langs.split()
}
