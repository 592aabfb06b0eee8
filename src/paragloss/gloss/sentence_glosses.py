"""Gloss foreign texts sentence by sentence: what their words may mean in the reader's language.

A text passes through these steps: sentences and tokens (`analysis`), entries of the lexicon (`lexicon.read_sentence`,
`pivoting` where the reader's language is not English), senses (`senses`), senses that suit the sentence
(`word_associations`), and the rendering (`rendering`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from paragloss.analysis import analyzer
from paragloss.analysis.sentences import split_sentences
from paragloss.gloss import lexicon as lexicons
from paragloss.gloss import pivoting, rendering, word_associations
from paragloss.gloss.glossed_text import Gloss, GlossedSentence, Word
from paragloss.gloss.lexicon import Lexicon, LexiconEntry, WordReading
from paragloss.gloss.reader_language import is_in_readers_language
from paragloss.gloss.senses import (
    BuiltInSources,
    WeightsByMeaning,
    WordOccurrence,
    ask_translators,
    describe_word,
    describe_word_by_built_in_sources,
    make_word,
)
from paragloss.translation import default as default_model
from paragloss.translation.embedding import EmbeddingTranslator
from paragloss.translation.glossary import UserGlossary
from paragloss.types import Alternative, Query, Span, Translation, Translator

#: Longer texts are glossed up to here; a page of a book has 3,000 characters.
MAX_CHARACTERS = 50_000
#: Glosses of sentences up to this length are cached, about 35 MB.
_MAX_CACHED_CHARACTERS = 400
_CACHED_SENTENCES = 8_000
#: How many characters behind the last word of a sentence are searched for punctuation.
_LAST_PUNCTUATION_LENGTH = 2


def gloss(text: str, lang: str, to: str, sources: Mapping[str, Translator | Lexicon], *, query: str = "") -> Gloss:
    """Gloss a text.

    :param text: the foreign text.
    :param lang: its language.
    :param to: the reader's language.
    :param sources: translators and lexicons by name; those that do not know the two languages are not used. Without
        any, words have no meanings.
    :param query: the reader's query, in the language `to`; meanings that it contains are preferred.
    :return: the words with their meanings, and a rough rendering.
    """
    return glosses([(text, lang)], to, sources, query=query)[0]


def glosses(
    texts: Iterable[tuple[str, str]], to: str, sources: Mapping[str, Translator | Lexicon], *, query: str = ""
) -> list[Gloss]:
    """Gloss several texts; see `gloss` for the other arguments.

    Sentences in the reader's language are rendered as they are, and their words are not listed.

    :param texts: each text with its language.
    :return: a gloss of each text, in order.
    """
    query_terms = frozenset(analyzer(to).terms(query)) if query else frozenset[str]()
    sources_by_lang: dict[str, LanguageSources] = {}
    results = []
    for text, lang in texts:
        if lang not in sources_by_lang:
            needed_sources = sources if lang != to else {}
            sources_by_lang[lang] = _select_sources(lang, to, needed_sources)
        results.append(_gloss_text(text[:MAX_CHARACTERS], sources_by_lang[lang], query_terms))
    return results


class LexiconTranslator:
    """A Translator that gives each word the meanings that its gloss has: of the lexicon and the default model."""

    def knows(self, source: str, target: str) -> bool:
        """Return True: words without a meaning stay as they are."""
        return True

    def translate(self, query: Query, to: str) -> list[Translation]:
        """Translate each word of a query into the meanings that its gloss has."""
        sources: dict[str, Translator | Lexicon] = {"default": default_model.open(), "lexicon": lexicons.open()}
        translations = []
        for word in gloss(query.text, query.lang, to, sources).words:
            alternatives = tuple(Alternative(meaning.text, meaning.weight) for meaning in word.meanings)
            unchanged = (Alternative(word.romanised or word.text, 1.0),)
            translations.append(Translation(word.text, alternatives or unchanged))
        return translations


class LanguageSources(NamedTuple):
    """The sources for one pair of languages; the collection's own translators come before the built-in ones."""

    built_in: BuiltInSources
    translators: Mapping[str, Translator]


def _select_sources(lang: str, to: str, sources: Mapping[str, Translator | Lexicon]) -> LanguageSources:
    """Select the sources that know a pair of languages, and tell those whose answers are guesses from the others.

    If there is a lexicon of the languages, the default model and embeddings are fallbacks, whose answers are guesses.

    :param lang: the language of the texts.
    :param to: the reader's language.
    :param sources: translators and lexicons, by name.
    """
    lexicon = _find_lexicon(sources, {lang, to} - {"en"})
    translators: dict[str, Translator] = {}
    fallbacks: list[tuple[str, Translator]] = []
    for name, source in sources.items():
        if isinstance(source, Lexicon):
            continue
        if isinstance(source, UserGlossary) and not source.knows(lang, to):
            continue
        is_guess = name == "default" or isinstance(source, EmbeddingTranslator)
        if lexicon and is_guess:
            fallbacks.append((name, source))
        else:
            translators[name] = source
    return LanguageSources(BuiltInSources(lang, to, lexicon, tuple(fallbacks)), translators)


def _find_lexicon(sources: Mapping[str, Translator | Lexicon], langs: Collection[str]) -> Lexicon | None:
    """Return the first lexicon that has one of some languages; None if none has."""
    for source in sources.values():
        if isinstance(source, Lexicon) and not source.langs.isdisjoint(langs):
            return source
    return None


def _gloss_text(text: str, sources: LanguageSources, query_terms: frozenset[str]) -> Gloss:
    """Gloss a text sentence by sentence; sentences in the reader's language stay as they are."""
    glossed = []
    lang, to = sources.built_in.lang, sources.built_in.to
    for start, end in split_sentences(text, lang):
        sentence = text[start:end]
        if is_in_readers_language(sentence, lang, to, lexicons.open(), default_model.open()):
            glossed.append((start, GlossedSentence((), " ".join(sentence.split()))))
        else:
            glossed.append((start, _gloss_sentence(sentence, sources, query_terms)))
    return Gloss(lang, to, glossed)


def _gloss_sentence(text: str, sources: LanguageSources, query_terms: frozenset[str]) -> GlossedSentence:
    """Gloss a sentence; the result is cached if only the built-in sources are used."""
    is_constant = sources.built_in.is_constant and not sources.translators
    if is_constant and len(text) <= _MAX_CACHED_CHARACTERS:
        return gloss_by_built_in_sources(text, sources.built_in, query_terms)
    return _choose_senses(text, sources, query_terms)


@lru_cache(maxsize=_CACHED_SENTENCES)
def gloss_by_built_in_sources(text: str, sources: BuiltInSources, query_terms: frozenset[str]) -> GlossedSentence:
    """Gloss a sentence by sources whose answers are always the same."""
    return _choose_senses(text, LanguageSources(sources, MappingProxyType({})), query_terms)


def _choose_senses(text: str, sources: LanguageSources, query_terms: frozenset[str]) -> GlossedSentence:
    """Look up the words of a sentence, choose and rank their senses, given a query, and render them."""
    built_in = sources.built_in
    words = _describe_words(text, sources, query_terms)
    if "-" in text:
        words = _extend_names_over_hyphens(text, words, built_in)
    words = word_associations.rerank_meanings(words, built_in.to)
    rendered = _render(text, words, built_in)
    return GlossedSentence(words, rendered.text, [rendered.spans.get(i) for i in range(len(words))])


def _describe_words(text: str, sources: LanguageSources, query_terms: frozenset[str]) -> list[Word]:
    """Split a sentence into words and phrases, and describe each by what all sources say of it.

    :return: the words in order, with offsets in the sentence.
    """
    built_in, translators = sources
    tokens = _tokenize(text, built_in.lang)
    content_words = [token for token in tokens if token.term]
    query = Query("", text, built_in.lang)  # the form in which translators take a text
    answers = ask_translators(translators, query, content_words, built_in.to)
    words = []
    for reading in _look_up_entries(text, tokens, built_in, answers.glossary_spans):
        occurrence = _make_occurrence(text, tokens, reading)
        start = tokens[reading.first].start
        weights = answers.weights_by_start.get(start, {})
        words.append(_describe_occurrence(occurrence, weights, sources, query_terms).move(start))
    return words


def _describe_occurrence(
    occurrence: WordOccurrence, weights: WeightsByMeaning, sources: LanguageSources, query_terms: frozenset[str]
) -> Word:
    """Find the meanings of a word of a sentence in all sources, and rank them for the reader's query.

    Descriptions are cached where only the built-in sources count and their answers never change.

    :param occurrence: the word in its sentence, with its entries in the lexicon.
    :param weights: what the collection's own translators say of the word in this sentence, meaning -> name of the
        translator -> weight; {} if they do not know it.
    :param sources: the built-in sources for the two languages, and the collection's own translators.
    :param query_terms: the terms of the reader's query; meanings that have them are preferred.
    :return: the word with its meanings, best first; its offsets are from its own beginning.
    """
    built_in, translators = sources
    # Without fallbacks, the translators are asked for the parts of a word that nobody knows.
    may_ask_translators = bool(translators) and not built_in.fallbacks
    if built_in.is_constant and not weights and not may_ask_translators:
        return _describe_by_cache(occurrence, built_in, query_terms)
    return describe_word(occurrence, built_in, query_terms, weights, translators).word


def _describe_by_cache(occurrence: WordOccurrence, sources: BuiltInSources, query_terms: frozenset[str]) -> Word:
    """Describe a word by the built-in sources alone, whose answers are cached by word and query terms.

    A query changes the ranking only if it has a term of a likely meaning, which few words have. All other words share
    the cached description that is made without a query.

    :param occurrence: the word in its sentence, with its entries in the lexicon.
    :param sources: the lexicon and fallbacks; they must give the same answers in every call.
    :param query_terms: the terms of the reader's query.
    """
    description = describe_word_by_built_in_sources(occurrence, sources)
    terms_that_matter = query_terms & description.likely_terms
    if not terms_that_matter:
        return description.word
    return describe_word_by_built_in_sources(occurrence, sources, terms_that_matter).word


def _tokenize(text: str, lang: str) -> list[Span]:
    """Return the words of a sentence with their offsets and terms; a stop word has the term "".

    Punctuation is left out. The analyzer gives it no term either, so it must be told from stop words.
    """
    tokens = analyzer(lang).tokens(text)  # (start, end, token)
    terms = analyzer(lang).token_terms([token for _, _, token in tokens])  # "" for stop words and punctuation
    tokens_without_term = {token for (_, _, token), term in zip(tokens, terms, strict=True) if not term}
    stop_words = _find_words(tokens_without_term, lang)
    words = []
    for (start, end, token), term in zip(tokens, terms, strict=True):
        if term or token in stop_words:
            words.append(Span(start, end, term))
    return words


def _find_words(tokens: Set[str], lang: str) -> set[str]:
    """Return the tokens that are words, stop words among them, and not punctuation."""
    # An analyzer that keeps stop words finds no term in punctuation only.
    terms = analyzer(lang, stem=False, stop=False).token_terms(tokens)
    return {token for token, term in zip(tokens, terms, strict=True) if term}


def _look_up_entries(
    text: str, tokens: Sequence[Span], sources: BuiltInSources, glossary_spans: Sequence[tuple[int, int]]
) -> list[WordReading]:
    """Find the words and phrases of a sentence in the lexicon, with their meanings in the reader's language.

    :param text: the sentence.
    :param tokens: its words.
    :param sources: the languages and the lexicon; without a lexicon all words are unknown.
    :param glossary_spans: offsets of words that the user's glossary has; they form no phrases with others.
    """
    lexicon = sources.lexicon
    if not lexicon:
        return [WordReading(i, i + 1) for i in range(len(tokens))]
    words = [text[token.start : token.end] for token in tokens]
    if sources.lang == "en":
        readings = [_read_english_word(i, word) for i, word in enumerate(words)]
    else:
        adjacent = _find_adjacent_words(text, tokens, glossary_spans)
        readings = lexicons.read_sentence(words, adjacent, sources.lang, lexicon)
    if sources.to == "en":
        return readings
    return [_translate_reading(reading, sources.to, lexicon) for reading in readings]


def _read_english_word(position: int, word: str) -> WordReading:
    """Return the reading of a word of an English sentence: it means itself."""
    entry = LexiconEntry(word.lower(), 1.0, "texts", True)
    return WordReading(position, position + 1, (entry,))


def _translate_reading(reading: WordReading, to: str, lexicon: Lexicon) -> WordReading:
    """Translate the English meanings of a word into the reader's language."""
    if not reading.entries:
        return reading
    entries = pivoting.translate_entries(reading.entries, to, default_model.open(), lexicon)
    return reading._replace(entries=entries, prefix="")


def _find_adjacent_words(text: str, tokens: Sequence[Span], glossary_spans: Sequence[tuple[int, int]]) -> list[bool]:
    """Say for each word whether it may form a phrase with the next one.

    It may not if punctuation stands between them, or if the user's glossary has one of the two.
    """
    adjacent = [not text[token.end : next_token.start].strip() for token, next_token in pairwise(tokens)] + [False]
    for i, token in enumerate(tokens):
        if any(start <= token.start < end for start, end in glossary_spans):
            adjacent[max(i - 1, 0)] = adjacent[i] = False
    return adjacent


def _make_occurrence(text: str, tokens: Sequence[Span], reading: WordReading) -> WordOccurrence:
    """Return what the choice of senses needs to know of a word or phrase in its sentence."""
    first, last = tokens[reading.first], tokens[reading.last - 1]
    return WordOccurrence(
        text=text[first.start : last.end],
        term=first.term or None,
        starts_sentence=reading.first == 0,
        entries=reading.entries,
        prefix=reading.prefix,
        is_phrase=reading.last > reading.first + 1,
    )


def _extend_names_over_hyphens(text: str, words: Sequence[Word], sources: BuiltInSources) -> list[Word]:
    """Turn each word that a hyphen joins to a name into a name, even if it has a meaning: Saffir-Simpson."""
    extended = list(words)
    for left, right in pairwise(range(len(words))):
        if text[extended[left].end : extended[right].start] != "-":
            continue
        if _is_name(extended[left]):
            extended[right] = _read_as_name(extended[right], sources)
        if _is_name(extended[right]):
            extended[left] = _read_as_name(extended[left], sources)
    return extended


def _read_as_name(word: Word, sources: BuiltInSources) -> Word:
    """Return a word as a name, without meanings; one in Latin letters stays as it is."""
    if not word.meanings or word.text.isascii():
        return word
    return make_word(word.text, (), sources, starts_sentence=False).move(word.start)


def _is_name(word: Word) -> bool:
    if word.kind == "name":
        return bool(word.romanised)
    return bool(word.meanings) and word.meanings[0].text[:1].isupper()


def _render(text: str, words: Sequence[Word], sources: BuiltInSources) -> rendering.Rendering:
    """Render a sentence by the best meanings of its words; stop words without a meaning are left out."""
    rendered_words = []
    for i, word in enumerate(words):
        is_last = i + 1 == len(words)
        punctuation_end = word.end + _LAST_PUNCTUATION_LENGTH if is_last else words[i + 1].start
        punctuation = rendering.find_punctuation(text[word.end : punctuation_end])
        english, meaning, kind = _render_word(word)
        rendered_words.append(rendering.RenderedWord(english, kind, word.text, punctuation, meaning, i))
    return rendering.render_sentence(rendered_words, sources.lang, sources.to)


def _render_word(word: Word) -> tuple[str, str, str]:
    """Return English for a word, the meaning at its end (marked if it is a guess) and its part of speech."""
    if not word.meanings:
        name = "" if word.kind == "stop" else word.romanised or word.text
        return name, name, ""
    best = word.meanings[0]
    meaning = best.text if word.sure else f"{rendering.GUESS}{best.text}"
    has_preposition = rendering.is_preposition(best.text.partition(" ")[0])  # in its meaning already
    before = "" if has_preposition or not word.before else f"{word.before} "
    return before + meaning, meaning, best.kind
