"""Meanings of a single word in the reader's language, ranked by how likely each is.

The user's glossary overrules everything. Then the lexicon counts, together with the collection's own dictionaries and
tables, each by its trust. The default model and nearest words of bag models are asked only about words that no other
source knows, and their answers are guesses. A meaning that is one of the reader's query words counts more, since the
text was found for them. A word without a meaning is a name or unknown: it gets the English name that sounds like it,
or its Latin transcription. Words that are spelled as words of the reader's language stand for themselves.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from paragloss.analysis import analyzer
from paragloss.analysis.romanisation import transcribe
from paragloss.errors import LanguageError
from paragloss.gloss.glossed_text import Meaning, Word
from paragloss.gloss.identifiers import is_software_identifier
from paragloss.gloss.lexicon import Lexicon, LexiconEntry, is_korean_noun_suffix
from paragloss.gloss.names import find_english_name
from paragloss.gloss.reader_language import is_readers_word
from paragloss.languages import scripts_of
from paragloss.translation import default as default_model
from paragloss.translation.default import DefaultModel
from paragloss.translation.glossary import CorrectedTranslator, UserGlossary
from paragloss.types import Alternative, Query, Span, Translation, Translator

LEXICON = "lexicon"
UNSURE_LEXICON = "lexicon, unsure"
#: The default model where it confirms a meaning of the lexicon.
CONFIRMING_DEFAULT = "default, seconds"
#: The source of a meaning that is the English word a foreign one spells.
SOUND = "sound"
#: How much each source counts; any other source counts 1.
SOURCE_TRUST = {"glossary": 100.0, "dictionary": 2.0, LEXICON: 3.0, UNSURE_LEXICON: 1.0, CONFIRMING_DEFAULT: 2.5}
#: Sources that are believed if they say that a word means itself.
_SOURCES_OF_OWN_MEANINGS = frozenset({"glossary", LEXICON, UNSURE_LEXICON})
#: Factor for a meaning that the query asks for, and the score, relative to the best, that it must have already: a query
#: about bees does not turn every insect into a bee.
QUERY_FACTOR = 2.0
MIN_RELATIVE_SCORE_FOR_QUERY = 0.6
MAX_MEANINGS = 5
#: The least share of a meaning that is shown.
MIN_SHARE = 0.03
#: The least share of a word that means itself: sources pass names and unknown words through with a small share.
MIN_SHARE_OF_ITSELF = 0.2
#: The least share of a meaning that only the table has, for a word that the lexicon has too.
MIN_SHARE_BESIDE_LEXICON = 0.25
#: The least share of a guess; below it a word is unknown. In news of 16 languages one in ten of the guesses with a
#: smaller share is right, of the others .65 (docs/understand/log-gloss.md).
MIN_GUESS_SHARE = 0.3
#: Factor for the weight of a meaning that belongs to a part of an unknown word, and the share of its letters that the
#: part must have, so that the rest can be an ending.
PART_FACTOR = 0.5
MIN_PART_LENGTH_SHARE = 0.7

#: Meaning -> name of the source -> weight that the source gives it.
WeightsByMeaning: TypeAlias = Mapping[str, Mapping[str, float]]


class BuiltInSources(NamedTuple):
    """The sources for words that no other source knows: the lexicon, then `fallbacks`, whose answers are guesses."""

    lang: str
    to: str
    lexicon: Lexicon | None
    fallbacks: tuple[tuple[str, Translator], ...]

    @property
    def is_constant(self) -> bool:
        """Whether the sources give the same answers in every call."""
        return all(isinstance(remove_glossary(source), DefaultModel) for _, source in self.fallbacks)


class WordOccurrence(NamedTuple):
    """A word or phrase of a sentence with its lexicon entries.

    `term` is None for a stop word; `prefix` are small English words for particles attached to the word.
    """

    text: str
    term: str | None
    starts_sentence: bool
    entries: tuple[LexiconEntry, ...]
    prefix: str
    is_phrase: bool

    @property
    def may_be_common_word(self) -> bool:
        """Whether the word is not a proper name by its capital letter."""
        return self.starts_sentence or not self.text[:1].isupper()


class DescribedWord(NamedTuple):
    """A glossed word, with offsets from its own beginning, and the terms of its likely meanings."""

    word: Word
    likely_terms: frozenset[str]


class RankedMeanings(NamedTuple):
    """Meanings, best first, and the terms of the likely ones."""

    meanings: list[Meaning]
    likely_terms: frozenset[str]


def describe_word(
    occurrence: WordOccurrence,
    sources: BuiltInSources,
    query_terms: frozenset[str],
    user_weights: WeightsByMeaning,
    user_translators: Mapping[str, Translator],
) -> DescribedWord:
    """Look a word up in all sources, and describe it by its meanings, the likeliest first.

    A word that is already in the reader's language is left as it is. If no source knows a word, its meaning is guessed.

    :param occurrence: the word in its sentence, with its entries in the lexicon
    :param sources: the built-in sources
    :param query_terms: terms of the reader's query; they prefer meanings that they occur in.
    :param user_weights: what the collection's own sources said of this word in its sentence.
    :param user_translators: those sources, by name; they are asked again for parts of an unknown word.
    """
    is_known = bool(occurrence.entries or user_weights)
    if not is_known and _is_readers_word(occurrence, sources):
        return DescribedWord(Word(0, len(occurrence.text), occurrence.text, "word"), frozenset())
    candidates = _collect_candidates(occurrence, sources, user_weights)
    meanings, likely_terms = rank_meanings(candidates, occurrence.text, query_terms, sources.to)
    if not meanings:
        meanings = _guess_meanings(occurrence, sources, user_translators)
    word = make_word(occurrence.text, meanings, sources, starts_sentence=occurrence.starts_sentence)
    return DescribedWord(_mark_certainty(word, occurrence, sources), likely_terms)


def _guess_meanings(
    occurrence: WordOccurrence, sources: BuiltInSources, user_translators: Mapping[str, Translator]
) -> list[Meaning]:
    """Guess what a word means that no source knows; stop words and proper names get no guess.

    Without fallback sources the longest part of the word is translated; otherwise, or if its parts are unknown, the
    word may be a loan word.
    """
    if occurrence.term is None or not occurrence.may_be_common_word:
        return []
    if not sources.fallbacks:
        meanings = _translate_longest_part(occurrence.term, sources, user_translators)
        if meanings:
            return meanings
    return _find_loan_word(occurrence, sources)


def _is_readers_word(occurrence: WordOccurrence, sources: BuiltInSources) -> bool:
    """Say whether a content word that no source knows is written as a word of the reader's language."""
    if sources.lexicon is None or sources.lang not in sources.lexicon.langs:
        return False
    return is_readers_word(occurrence.text, sources.to, sources.lexicon, default_model.open())


@lru_cache(maxsize=20_000)
def describe_word_by_built_in_sources(
    occurrence: WordOccurrence, sources: BuiltInSources, query_terms: frozenset[str] = frozenset()
) -> DescribedWord:
    """Describe a word that only the built-in sources know; cached, since the answer is always the same."""
    return describe_word(occurrence, sources, query_terms, {}, {})


def remove_glossary(source: Translator) -> Translator:
    """Return the translator that the user's glossary is wrapped around, or the translator itself."""
    return source.translator if isinstance(source, CorrectedTranslator) else source


@lru_cache(maxsize=50_000)
def analyze_terms(text: str, lang: str) -> tuple[str, ...]:
    """Return the terms of a meaning."""
    return tuple(analyzer(lang).terms(text))


@lru_cache(maxsize=1_000)
def is_built_in(source: str) -> bool:
    """Say whether a meaning with this source is from the lexicon or the default model."""
    return source.split(",")[0] in ("default", LEXICON)


def _collect_candidates(
    occurrence: WordOccurrence, sources: BuiltInSources, user_weights: WeightsByMeaning
) -> WeightsByMeaning:
    """Collect the meanings of a word from all sources; fallbacks are asked only if no other source knows it.

    The default model confirms or adds meanings of a single word that the lexicon has, if the reader's language is
    English.

    :param occurrence: the word in its sentence, with its entries in the lexicon.
    :param sources: the built-in sources.
    :param user_weights: what the collection's own sources said of the word.
    :return: meaning -> name of a source -> weight.
    """
    candidates = {meaning: dict(weights) for meaning, weights in user_weights.items()}
    for entry in occurrence.entries:
        source = LEXICON if entry.sure else UNSURE_LEXICON
        candidates.setdefault(entry.text, {})[source] = entry.weight
    if occurrence.term is None:
        return candidates
    can_be_confirmed = sources.to == "en" and occurrence.entries and not occurrence.is_phrase
    if can_be_confirmed:
        for meaning, source, weight in _weigh_by_default_model(candidates, occurrence.term, sources):
            weights = candidates.setdefault(meaning, {})
            weights[source] = weights.get(source, 0.0) + weight
    if not candidates and sources.fallbacks and _has_letters(occurrence.text):
        return _ask_fallbacks(occurrence, occurrence.term, sources)
    return candidates


def _weigh_by_default_model(
    candidates: WeightsByMeaning, term: str, sources: BuiltInSources
) -> list[tuple[str, str, float]]:
    """Return the weights that the default model gives to meanings of a word, and to likely ones of its own.

    An answer of the model confirms a meaning that ends with the same term: "bee" confirms "honey bee".

    :param candidates: the meanings that other sources have.
    :param term: the term of the word, as the analyzer makes it.
    :return: for each of these answers the meaning, the name of the source, and the weight; [] without a model of the
        language.
    """
    model = _find_default_model(sources)
    if model is None:
        return []
    meaning_by_last_term = _index_by_last_term(candidates)
    weighed = []
    for alternative in _translate_term(model, term, sources.lang):
        last_term = alternative.terms[-1] if alternative.terms else alternative.text
        if last_term in meaning_by_last_term:
            weighed.append((meaning_by_last_term[last_term], CONFIRMING_DEFAULT, alternative.weight))
        elif _is_likely_addition(alternative, sources):
            weighed.append((alternative.text, "default", alternative.weight))
    return weighed


def _index_by_last_term(meanings: Iterable[str]) -> dict[str, str]:
    """Return the first English meaning that ends with each term; a meaning without terms counts as one."""
    meaning_by_last_term: dict[str, str] = {}
    for meaning in meanings:
        terms = analyze_terms(meaning, "en") or (meaning,)
        meaning_by_last_term.setdefault(terms[-1], meaning)
    return meaning_by_last_term


def _find_default_model(sources: BuiltInSources) -> DefaultModel | None:
    """Return the default model if it is one of the fallbacks and has the language."""
    source = dict(sources.fallbacks).get("default")
    model = remove_glossary(source) if source else None
    return model if isinstance(model, DefaultModel) and sources.lang in model.langs else None


def _is_likely_addition(alternative: Alternative, sources: BuiltInSources) -> bool:
    """Say whether the default model may add a meaning to those of the lexicon."""
    return alternative.weight >= MIN_SHARE_BESIDE_LEXICON and not _is_identifier(alternative.text, sources)


def _is_identifier(text: str, sources: BuiltInSources) -> bool:
    return sources.lexicon is not None and is_software_identifier(text, sources.lexicon)


@lru_cache(maxsize=20_000)
def _translate_term(model: DefaultModel, term: str, lang: str) -> tuple[Alternative, ...]:
    return model.alternatives(term, lang, "en")[:MAX_MEANINGS]


def _ask_fallbacks(occurrence: WordOccurrence, term: str, sources: BuiltInSources) -> WeightsByMeaning:
    """Ask the fallbacks, which are often wrong, for meanings of a word; {} unless one of them is certain enough.

    A word that they do not know, and that is no proper name, is translated by its longest known part.

    :param occurrence: the word in its sentence.
    :param term: the term of the word, as the analyzer makes it.
    :param sources: the built-in sources, whose fallbacks are asked.
    :return: meaning -> name of a source -> weight.
    """
    candidates = _translate_by_fallbacks(occurrence.text, term, sources)
    best_share = _find_best_share(candidates, occurrence.text)
    if not best_share and occurrence.may_be_common_word:
        meanings = _translate_longest_part(term, sources, dict(sources.fallbacks))
        return {meaning.text: {meaning.source: meaning.weight} for meaning in meanings}
    return candidates if best_share >= MIN_GUESS_SHARE else {}


def _translate_by_fallbacks(text: str, term: str, sources: BuiltInSources) -> WeightsByMeaning:
    """Translate a single word by all fallbacks, and leave out meanings that are software identifiers."""
    word = Span(0, len(text), term)
    answers = ask_translators(dict(sources.fallbacks), Query("", text, sources.lang), [word], sources.to)
    weights_by_meaning = answers.weights_by_start.get(word.start, {})
    return {meaning: weights for meaning, weights in weights_by_meaning.items() if not _is_identifier(meaning, sources)}


def _find_best_share(candidates: WeightsByMeaning, text: str) -> float:
    """Return the greatest weight that a source gives to a meaning other than the word itself; 0 without any."""
    best_share = 0.0
    for meaning, weights in candidates.items():
        if not _is_same_word(meaning, text):
            best_share = max(best_share, *weights.values())
    return best_share


def _translate_longest_part(term: str, sources: BuiltInSources, translators: Mapping[str, Translator]) -> list[Meaning]:
    """Return meanings of the longest known word inside an unknown one, if the rest can be an ending; else [].

    :param term: the term of the unknown word, as the analyzer makes it.
    :param sources: the languages of the words and of the meanings, and the lexicon.
    :param translators: the sources that are asked, by name; only default models know parts of words.
    """
    lang, to = sources.lang, sources.to
    for name, translator in translators.items():
        if not isinstance(translator, DefaultModel) or not {lang, to} <= set(translator.langs):
            continue
        part = max(translator.find_known_parts(term, lang), key=len, default="")
        if not _can_stand_for(part, term, lang):
            continue
        alternatives = translator.alternatives(part, lang, to)[:MAX_MEANINGS]
        if alternatives:
            return _make_part_meanings(alternatives, name, sources)
    return []


def _make_part_meanings(alternatives: Iterable[Alternative], name: str, sources: BuiltInSources) -> list[Meaning]:
    """Turn the translations of a part of a word into meanings of the word, with reduced weights.

    Translations with a small share, and software identifiers, are left out.

    :param name: the source that has the translations.
    """
    meanings = []
    for alternative in alternatives:
        if alternative.weight >= MIN_SHARE and not _is_identifier(alternative.text, sources):
            meanings.append(Meaning(alternative.text, PART_FACTOR * alternative.weight, name))
    return meanings


def _can_stand_for(part: str, term: str, lang: str) -> bool:
    """Say whether a word without a known part of it can be an ending."""
    if len(part) >= MIN_PART_LENGTH_SHARE * len(term):
        return True
    ending = term.removeprefix(part) if lang == "ko" else term
    return len(part) > 1 and is_korean_noun_suffix(ending)


def _find_loan_word(occurrence: WordOccurrence, sources: BuiltInSources) -> list[Meaning]:
    """Return the English word that an unknown word of another script spells, as a guess."""
    if not sources.lexicon or sources.to != "en":
        return []
    match = find_english_name(occurrence.text, sources.lang, sources.lexicon, default_model.open())
    return [Meaning(match.text, match.share, SOUND)] if match and match.text.islower() else []


def rank_meanings(candidates: WeightsByMeaning, text: str, query_terms: frozenset[str], to: str) -> RankedMeanings:
    """Rank the meanings of a word by the weights of their sources, each times the source's trust.

    :param candidates: meaning -> name of a source -> weight.
    :param text: the word.
    :param query_terms: terms of the reader's query; likely meanings with one of these count more.
    :param to: the language of the meanings.
    """
    scores = _score_candidates(candidates, text)
    terms_by_likely_meaning = _analyze_likely_meanings(scores, to)
    for meaning, terms in terms_by_likely_meaning.items():
        if not query_terms.isdisjoint(terms):
            scored = scores[meaning]
            scores[meaning] = scored._replace(score=scored.score * QUERY_FACTOR)
    likely_terms: frozenset[str] = frozenset().union(*terms_by_likely_meaning.values())
    return RankedMeanings(_select_best_meanings(scores), likely_terms)


def _analyze_likely_meanings(scores: Mapping[str, _ScoredMeaning], to: str) -> dict[str, tuple[str, ...]]:
    """Return the terms of each meaning whose score is near the best."""
    min_score = MIN_RELATIVE_SCORE_FOR_QUERY * max((scored.score for scored in scores.values()), default=0.0)
    return {meaning: analyze_terms(meaning, to) for meaning, scored in scores.items() if scored.score >= min_score}


def _select_best_meanings(scores: Mapping[str, _ScoredMeaning]) -> list[Meaning]:
    """Return the meanings with considerable scores, best first, each with its share of all scores."""
    total_score = sum([scored.score for scored in scores.values()])
    best_first = sorted(scores.items(), key=lambda item: (-item[1].score, item[0]))[:MAX_MEANINGS]
    meanings = []
    for meaning, scored in best_first:
        if scored.score >= MIN_SHARE * total_score:
            meanings.append(Meaning(meaning, scored.score / total_score, scored.source))
    return meanings


class _ScoredMeaning(NamedTuple):
    """The score of a meaning and the source with the largest part of it."""

    score: float
    source: str


def _score_candidates(candidates: WeightsByMeaning, text: str) -> dict[str, _ScoredMeaning]:
    """Return the score of each meaning of a word: the sum of its sources' weights, each times the source's trust."""
    scores: dict[str, _ScoredMeaning] = {}
    for meaning, weights in _drop_echoes(candidates, text).items():
        parts = [(SOURCE_TRUST.get(source, 1.0) * weight, source) for source, weight in weights.items()]
        _, main_source = max(parts, key=itemgetter(0))
        scores[meaning] = _ScoredMeaning(sum([part for part, _ in parts]), main_source)
    return scores


def _drop_echoes(candidates: WeightsByMeaning, text: str) -> WeightsByMeaning:
    """Remove the answers of sources that only return an unknown word as its own meaning.

    A word may be a meaning of itself if the glossary or the lexicon says so, or a source that knows other meanings of
    the word too and gives this one a considerable share.

    :param candidates: meaning -> name of a source -> weight.
    :param text: the word.
    """
    knowing_sources: set[str] = set()  # those that have another meaning of the word
    for meaning, weights in candidates.items():
        if not _is_same_word(meaning, text):
            knowing_sources.update(weights)
    remaining: dict[str, Mapping[str, float]] = {}
    for meaning, weights in candidates.items():
        is_echo = _is_same_word(meaning, text)
        remaining_weights = _select_trusted(weights, knowing_sources) if is_echo else weights
        if remaining_weights:
            remaining[meaning] = remaining_weights
    return remaining


def _select_trusted(weights: Mapping[str, float], knowing_sources: Container[str]) -> dict[str, float]:
    """Select the sources that are believed to mean that a word means itself.

    :param knowing_sources: those that know other meanings of the word
    """
    trusted = {}
    for source, weight in weights.items():
        is_considered = source in knowing_sources and weight >= MIN_SHARE_OF_ITSELF
        if is_considered or source in _SOURCES_OF_OWN_MEANINGS:
            trusted[source] = weight
    return trusted


def _is_same_word(text: str, other_text: str) -> bool:
    """Return whether two texts differ in capitals at most."""
    return text.casefold() == other_text.casefold()


def make_word(text: str, meanings: Sequence[Meaning], sources: BuiltInSources, *, starts_sentence: bool) -> Word:
    """Make the record of a word, with offsets from its own beginning.

    Its kind is "other" if it has no letters, "word" if it has meanings, and "name" or "unknown" if it has none.

    :param text: the word as written.
    :param meanings: the meanings of the word, best first.
    :param sources: the languages of the word and of the reader, and the lexicon that has names.
    :param starts_sentence: a capital at the beginning of a sentence does not make a word a name.
    """
    if not _has_letters(text):
        return Word(0, len(text), text, "other")
    if meanings:
        return Word(0, len(text), text, "word", tuple(meanings), meanings[0].weight)
    return _make_word_without_meaning(text, sources, starts_sentence=starts_sentence)


def _make_word_without_meaning(text: str, sources: BuiltInSources, *, starts_sentence: bool) -> Word:
    """Make the record of a word whose meaning is unknown: a "name" if English has it or it has a capital.

    If the reader's language is written in Latin letters and the word is not, it is spelled as English spells the name,
    or transcribed.
    """
    transcription = transcribe(text, sources.lang) if "Latn" in scripts_of(sources.to) else text
    is_transcribed = transcription != text
    english_name = _find_name(text, sources) if is_transcribed else ""
    is_capitalized = text[:1] == text[:1].upper()  # so is a word in a script without capitals
    is_name = bool(english_name) or (is_capitalized and not starts_sentence)
    kind = "name" if is_name else "unknown"
    romanised = english_name or transcription
    if romanised == text:
        return Word(0, len(text), text, kind)
    if is_name:
        romanised = romanised[:1].upper() + romanised[1:]
    return Word(0, len(text), text, kind, romanised=romanised)


def _find_name(text: str, sources: BuiltInSources) -> str:
    """Return the English name that a word of another script spells, or the word, if it has a capital; else ""."""
    if not sources.lexicon:
        return ""
    match = find_english_name(text, sources.lang, sources.lexicon, default_model.open())
    return match.text if match and (match.text[:1].isupper() or text[:1].isupper()) else ""


def _mark_certainty(word: Word, occurrence: WordOccurrence, sources: BuiltInSources) -> Word:
    """Add to a word with meanings their parts of speech, and whether the first of them is certain.

    A word that is no content word (its occurrence has no term) becomes one of the kind "stop", unless it is a number.

    :param word: the word with its ranked meanings.
    :param occurrence: the same word in its sentence, with the entries that the lexicon has of it.
    :param sources: the built-in sources; what only their fallbacks know is a guess.
    """
    is_stop_word = occurrence.term is None
    if is_stop_word and word.kind != "other":
        word = word._replace(kind="stop")
    if not word.meanings:
        return word
    entry_by_text = {entry.text: entry for entry in occurrence.entries}
    meanings = [_describe_by_lexicon(meaning, entry_by_text.get(meaning.text)) for meaning in word.meanings]
    best_meaning = word.meanings[0]
    is_certain = _is_certain(best_meaning, entry_by_text.get(best_meaning.text), sources)
    return word._replace(meanings=tuple(meanings), sure=is_certain, before=occurrence.prefix)


def _describe_by_lexicon(meaning: Meaning, entry: LexiconEntry | None) -> Meaning:
    """Give a meaning of a built-in source the source and the part of speech of its entry in the lexicon, if any."""
    if entry is None or not is_built_in(meaning.source):
        return meaning
    return Meaning(meaning.text, meaning.weight, f"lexicon, {entry.source}", entry.kind)


def _is_certain(meaning: Meaning, entry: LexiconEntry | None, sources: BuiltInSources) -> bool:
    """Return whether a meaning is certain: its entry in the lexicon says so, or no guess is its source."""
    if entry is not None:
        return entry.sure
    return meaning.source != SOUND and meaning.source not in dict(sources.fallbacks)


def _has_letters(word: str) -> bool:
    return word.isalpha() or any(map(str.isalpha, word))


class Answers(NamedTuple):
    """What translators say of the words of a text, and where the text has words of the user's glossary."""

    weights_by_start: dict[int, dict[str, dict[str, float]]]  # start of a word -> meaning -> translator -> weight
    glossary_spans: list[tuple[int, int]]


def ask_translators(translators: Mapping[str, Translator], query: Query, words: Sequence[Span], to: str) -> Answers:
    """Translate the words of a text by several translators; those that do not know its language are left out.

    :param translators: by their names.
    :param query: the text and its language.
    :param words: the content words of the text.
    :param to: the language to translate into.
    :return: the meanings of each word with the weight that each translator gives them, by the start of the word; and
        the offsets of words that are in the user's glossary.
    """
    weights_by_start: dict[int, dict[str, dict[str, float]]] = {}
    glossary_spans: list[tuple[int, int]] = []
    for name, translator in translators.items():
        clauses = _translate_if_known(translator, query, to)
        if isinstance(translator, UserGlossary):
            glossary_spans += _find_sources(query.text, clauses)
        for word, alternatives in _align_clauses(query.text, words, clauses):
            weights_by_meaning = weights_by_start.setdefault(word.start, {})
            for alternative in alternatives:
                weight_by_translator = weights_by_meaning.setdefault(alternative.text, {})
                weight_by_translator[name] = alternative.weight
    return Answers(weights_by_start, glossary_spans)


def _translate_if_known(translator: Translator, query: Query, to: str) -> Sequence[Translation]:
    """Translate a text, by the glossary only the words that it has; () if the translator does not know the language."""
    with suppress(LanguageError):
        if isinstance(translator, UserGlossary):
            return translator.translate_known_words(query, to)
        return translator.translate(query, to)
    return ()


def _find_sources(text: str, clauses: Iterable[Translation]) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) offsets in the text of each clause's source."""
    for clause in clauses:
        start = text.casefold().find(clause.source.casefold())
        if start >= 0:
            yield start, start + len(clause.source)


def _align_clauses(
    text: str, spans: Sequence[Span], clauses: Iterable[Translation]
) -> Iterator[tuple[Span, Sequence[Alternative]]]:
    """Yield each word of a text with the alternatives that a translator has for it.

    A translator answers in the order of the text: one clause a word, one for the words of a phrase, or one for each
    part of a compound, whose best alternatives are then joined. Clauses whose sources are not in the text are the parts
    of the compound that stands there.

    :param spans: the words of the text.
    :param clauses: the answer of the translator.
    """
    position = 0  # of the first word that has no alternatives yet
    compound_parts: list[Translation] = []  # of the word at this position
    for clause in clauses:
        first = _find_word(clause.source, text, spans, position)
        if first is None:
            compound_parts.append(clause)
            continue
        if compound_parts:
            yield spans[position], _join_best_alternatives(compound_parts)
            compound_parts = []
        position = _find_next_word(spans, first, clause.source)
        for word in spans[first:position]:
            yield word, clause.alternatives
    if compound_parts and position < len(spans):
        yield spans[position], _join_best_alternatives(compound_parts)


def _find_next_word(spans: Sequence[Span], first: int, source: str) -> int:
    """Return the number of the first word behind a phrase, or behind a word.

    :param spans: the words of a text.
    :param first: the number of the phrase's first word.
    :param source: the phrase as it is written.
    """
    end = spans[first].start + len(source)
    position = first
    while position < len(spans) and spans[position].end <= end:
        position += 1
    return position


def _find_word(source: str, text: str, spans: Sequence[Span], position: int) -> int | None:
    """Return the first word, from a position on, at which a text continues with `source`; None if there is none."""
    for number in range(position, len(spans)):
        if text.startswith(source, spans[number].start):
            return number
    return None


def _join_best_alternatives(parts: Sequence[Translation]) -> list[Alternative]:
    """Join the best alternatives of the parts of a compound into one; their weights are multiplied."""
    best_alternatives = [part.alternatives[0] for part in parts]
    text = " ".join(alternative.text for alternative in best_alternatives)
    return [Alternative(text, math.prod(alternative.weight for alternative in best_alternatives))]
