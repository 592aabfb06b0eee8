"""Find the pages of a collection that say the same in two languages, and align their blocks."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.analysis import analyzer
from paragloss.languages.codes import bases, language_name
from paragloss.translation.default import DefaultModel
from paragloss.types import Concept, Document

#: A word of a path, and a region or script after a language code: `de_DE`, `pt-br`, `zh-Hans`.
_WORD = re.compile(r"[^\W\d_]+")
_REGION = re.compile(r"[-_](?:[A-Z]{2}|[a-z]{2}(?=[./]|$)|[A-Z][a-z]{3})(?![^\W\d_])")
#: Names of languages in themselves, as folders are called.
_OWN_NAMES = {
    "ar": "العربية", "bg": "български", "ca": "català", "cs": "čeština", "da": "dansk", "de": "deutsch",
    "el": "ελληνικά", "es": "español", "et": "eesti", "fa": "فارسی", "fi": "suomi", "fr": "français",
    "he": "עברית", "hi": "हिन्दी", "hr": "hrvatski", "hu": "magyar", "id": "indonesia",
    "it": "italiano", "ja": "日本語", "ko": "한국어", "lt": "lietuvių", "lv": "latviešu", "ms": "melayu",
    "nl": "nederlands", "no": "norsk", "pl": "polski", "pt": "português", "ro": "română",
    "ru": "русский", "sk": "slovenčina", "sl": "slovenščina", "sr": "српски", "sv": "svenska",
    "sw": "kiswahili", "th": "ไทย", "tr": "türkçe", "uk": "українська", "vi": "việt", "zh": "中文",
}  # fmt: skip
#: Letters of the longest language codes.
_MAX_CODE_LENGTH = 3
#: What a block without a counterpart costs, and the weights of similar lengths and similar positions beside words.
_GAP_COST, _LENGTH_WEIGHT, _POSITION_WEIGHT = 0.1, 0.15, 0.1
#: Added to the lengths of blocks, so that those of very short ones are not compared too strictly.
_LENGTH_OFFSET = 5
#: Less similar blocks are not paired; blocks of a page that are aligned.
_MIN_SIMILARITY, _MAX_BLOCKS = 0.2, 200
#: English translations of a word by which blocks are compared.
_MAX_TRANSLATIONS = 4


class Page(NamedTuple):
    """A page of several languages: each language's document."""

    key: str
    documents: dict[str, Document]


def group_pages(documents: Iterable[Document]) -> list[Page]:
    """Group documents that are one page in several languages.

    Their paths differ by a language's name only, or they name each other as translations.

    :return: the pages in several languages, sorted by key. Of several documents of a page in one language only the
        first is kept.
    """
    documents = list(documents)
    documents_by_key: dict[str, dict[str, Document]] = {}  # by page key, then by language
    for document, page_key in zip(documents, _choose_page_keys(documents), strict=True):
        documents_by_key.setdefault(page_key, {}).setdefault(document.lang, document)
    pages = [Page(page_key, documents_by_lang) for page_key, documents_by_lang in sorted(documents_by_key.items())]
    return [page for page in pages if len(page.documents) > 1]


def _choose_page_keys(documents: Sequence[Document]) -> list[str]:
    """Return a key for each document, the same for the documents of one page in several languages.

    It is made of the document's path. Documents that name the same address as their translation get the same key,
    unless two of them are in one language: the address of a site's first page does not tell which pages are one.
    """
    keys = [make_page_key(document.id, document.lang) for document in documents]
    parents = {page_key: page_key for page_key in keys}  # union-find: a key's parent is a key of the same page
    for langs_by_number in _group_by_address(documents).values():
        has_distinct_languages = len(langs_by_number) == len(set(langs_by_number.values()))
        if has_distinct_languages:
            _join_keys(parents, [keys[number] for number in langs_by_number])
    return [_find_root(parents, page_key) for page_key in keys]


def _join_keys(parents: dict[str, str], page_keys: Sequence[str]) -> None:
    """Make several keys those of one page, by giving all of them the root of the first one."""
    root = _find_root(parents, page_keys[0])
    for page_key in page_keys[1:]:
        parents[_find_root(parents, page_key)] = root


def _find_root(parents: Mapping[str, str], page_key: str) -> str:
    """Follow the parents of a key up to one that is its own parent."""
    while parents[page_key] != page_key:
        page_key = parents[page_key]
    return page_key


def _group_by_address(documents: Sequence[Document]) -> dict[str, dict[int, str]]:
    """Group documents by the addresses (of pages, as links have them) that they name as their translations.

    The document that is at such an address itself, which is its id then, belongs to the group as well.

    :return: for each named address the languages of its documents, by their positions in `documents`.
    """
    groups: dict[str, dict[int, str]] = {}
    for position, document in enumerate(documents):
        for address in _list_translation_addresses(document):
            groups.setdefault(address, {})[position] = document.lang
    for position, document in enumerate(documents):
        if document.id in groups:
            groups[document.id][position] = document.lang
    return groups


def _list_translation_addresses(document: Document) -> list[str]:
    """Return where a page says that its translations are: relative links as ids, others as they are written."""
    links = document.meta.get("translations")
    if not isinstance(links, list):
        return []
    folder = posixpath.dirname(document.id)
    addresses = []
    for link in links:
        if not isinstance(link, str):
            continue
        if "://" in link:
            addresses.append(link)
        else:
            addresses.append(posixpath.normpath(posixpath.join(folder, link)))
    return addresses


def make_page_key(path: str, lang: str) -> str:
    """Return a path with every mention of its language replaced by `*`: "manual/de_DE/a.html" as "manual/*/a.html".

    A mention is a word of the path that is a code of the language, perhaps with a region (`guide-de`, `de_DE`,
    `x.de.html`), or its name in English or in itself (`German/`, `Deutsch/`).
    """
    page_key = path
    for start, end in reversed(list(_find_mentions(path, lang))):  # from the end, so that earlier offsets stay right
        page_key = page_key[:start] + "*" + page_key[end:]
    return page_key


def _find_mentions(path: str, lang: str) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of each mention of a language in a path; the region behind a code belongs to it."""
    position = 0
    while word := _WORD.search(path, position):
        position = word.end()
        if not _names_language(word[0], lang):
            continue
        is_code = len(word[0]) <= _MAX_CODE_LENGTH
        if is_code and (region := _REGION.match(path, word.end())):
            position = region.end()
        yield word.start(), position


def _names_language(word: str, lang: str) -> bool:
    """Decide whether a word is a code of a language, in one case, or its name."""
    if len(word) <= _MAX_CODE_LENGTH and (word.islower() or word.isupper()) and bases().get(word.lower()) == lang:
        return True
    folded = _strip_accents(word.casefold())
    return folded in (language_name(lang).casefold(), _strip_accents(_OWN_NAMES.get(lang, lang)))


def _strip_accents(text: str) -> str:
    """Return a text without accents, which names of folders often lack."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))


def align_pages(pages: Iterable[Page], model: DefaultModel) -> list[Concept]:
    """Return the blocks of pages that say the same in two languages: titles, headings and lines of the text.

    :param pages: documents in several languages.
    :param model: translates words, by which blocks are compared.
    :return: a concept for each pair of blocks, with the text of the block in both languages.
    """
    concepts: list[Concept] = []
    for page in pages:
        for source, target in combinations(sorted(page.documents), 2):
            pairs = _align_documents(page.documents[source], page.documents[target], model)
            for source_block, target_block in pairs:
                blocks = {source: source_block, target: target_block}
                concepts.append(Concept(f"{page.key}#{len(concepts)}", blocks))
    return concepts


def _align_documents(source: Document, target: Document, model: DefaultModel) -> Iterator[tuple[str, str]]:
    """Yield the pairs of blocks of two documents that say the same; blocks that were not translated are left out."""
    if source.title and target.title and source.title != target.title:
        yield source.title, target.title
    for field in ("headings", "text"):
        source_blocks, target_blocks = (_read_blocks(document, field) for document in (source, target))
        for i, j in _align_blocks(source_blocks, target_blocks, source.lang, target.lang, model):
            if source_blocks[i] != target_blocks[j]:
                yield source_blocks[i], target_blocks[j]


def _read_blocks(document: Document, field: str) -> list[str]:
    text = document.text if field == "text" else document.fields.get(field, "")
    return [line for line in map(str.strip, text.split("\n")) if line][:_MAX_BLOCKS]


def _align_blocks(
    source_blocks: Sequence[str], target_blocks: Sequence[str], source: str, target: str, model: DefaultModel
) -> list[tuple[int, int]]:
    """Return the pairs of the best alignment that keeps the order of blocks (Needleman and Wunsch, 1970).

    :param source: the language of the source blocks.
    :param target: the language of the target blocks.
    :param model: translates words, by which blocks are compared.
    :return: the position of a source block and that of its target block for each pair.
    """
    if not source_blocks or not target_blocks:
        return []
    similarities = _measure_similarities(source_blocks, target_blocks, source, target, model)
    return _trace_pairs(_score_alignments(similarities), similarities)


def _score_alignments(similarities: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Score the best alignment of the first i source and the first j target blocks, for all i and j.

    An alignment scores the similarities of its pairs, less _GAP_COST for every block without a counterpart.

    :param similarities: (n_source, n_target).
    :return: scores[i, j] of shape (n_source + 1, n_target + 1).
    """
    n_source, n_target = similarities.shape
    scores = np.zeros((n_source + 1, n_target + 1))
    scores[:, 0] = -_GAP_COST * np.arange(n_source + 1)
    scores[0] = -_GAP_COST * np.arange(n_target + 1)
    for i in range(1, n_source + 1):
        for j in range(1, n_target + 1):
            paired_score = scores[i - 1, j - 1] + similarities[i - 1, j - 1]
            best_with_gap = max(scores[i - 1, j], scores[i, j - 1]) - _GAP_COST
            scores[i, j] = max(paired_score, best_with_gap)
    return scores


def _trace_pairs(scores: npt.NDArray[np.float64], similarities: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """Walk back through scores from the last blocks to the first, and return the pairs of similar blocks in order.

    :param scores: what `_score_alignments` returned, of shape (n_source + 1, n_target + 1): [i, j] is the best score of
        aligning the first i source blocks with the first j target blocks.
    :param similarities: (n_source, n_target).
    :return: the position of a source block and that of its target block for each pair.
    """
    i, j = similarities.shape
    pairs = []
    while i and j:
        is_paired = scores[i, j] == scores[i - 1, j - 1] + similarities[i - 1, j - 1]
        if is_paired:
            i -= 1
            j -= 1
            if similarities[i, j] >= _MIN_SIMILARITY:
                pairs.append((i, j))
        elif scores[i, j] == scores[i - 1, j] - _GAP_COST:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]


def _measure_similarities(
    source_blocks: Sequence[str], target_blocks: Sequence[str], source: str, target: str, model: DefaultModel
) -> npt.NDArray[np.float64]:
    """Return the similarity of every source block and every target block; (n_source, n_target).

    It is the cosine of their words, as English words and numbers, with a bonus or malus for lengths and positions.

    :param source: the language of the source blocks.
    :param target: the language of the target blocks.
    :param model: translates words into English.
    """
    word_numbers: dict[str, int] = {}
    source_words = [_translate_words(block, source, model, word_numbers) for block in source_blocks]
    target_words = [_translate_words(block, target, model, word_numbers) for block in target_blocks]
    source_rows = _normalize_rows(source_words, len(word_numbers))
    target_rows = _normalize_rows(target_words, len(word_numbers))
    cosines = source_rows @ target_rows.T
    length_scores = _compare_lengths(source_blocks, target_blocks)
    position_scores = _compare_positions(len(source_blocks), len(target_blocks))
    return np.asarray(cosines + _LENGTH_WEIGHT * length_scores + _POSITION_WEIGHT * position_scores)


def _compare_lengths(source_blocks: Sequence[str], target_blocks: Sequence[str]) -> npt.NDArray[np.float64]:
    """Score how similar the lengths of blocks are, relative to other blocks of their page; (n_source, n_target).

    0.5 for equal lengths, less the logarithm of their ratio, at least -1.
    """
    source_lengths = np.log([len(block) + _LENGTH_OFFSET for block in source_blocks])
    target_lengths = np.log([len(block) + _LENGTH_OFFSET for block in target_blocks])
    log_ratios = source_lengths[:, None] - target_lengths[None, :]
    log_ratios -= np.median(source_lengths) - np.median(target_lengths)
    return np.asarray((0.5 - np.abs(log_ratios)).clip(-1, 1))


def _compare_positions(n_source: int, n_target: int) -> npt.NDArray[np.float64]:
    """Score how near the relative positions of blocks on their pages are; (n_source, n_target).

    1 for equal positions, -1 if they are a quarter of the page or more apart.
    """
    source_positions, target_positions = np.arange(n_source) / n_source, np.arange(n_target) / n_target
    distances = np.abs(source_positions[:, None] - target_positions[None, :])
    return np.asarray((1 - 8 * distances).clip(-1, 1))


def _normalize_rows(blocks: Sequence[Mapping[int, float]], n_words: int) -> npt.NDArray[np.float64]:
    """Return one row of length 1 for each block, of shape (n_blocks, n_words).

    :param blocks: for each block the shares of its words by their numbers.
    """
    rows = np.zeros((len(blocks), n_words))
    for block_number, shares in enumerate(blocks):
        for word_number, share in shares.items():
            rows[block_number, word_number] = share
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, 1e-9))


def _translate_words(block: str, lang: str, model: DefaultModel, word_numbers: dict[str, int]) -> dict[int, float]:
    """Translate the words of a block into English; unknown words and numbers remain as they are.

    :param word_numbers: the number of each English word seen so far; new words are added.
    :return: the numbers of the English words, with the sum of their shares in the translations of the block's words.
    """
    shares: dict[int, float] = {}
    for term in analyzer(lang).terms(block):
        for word, share in _list_english_words(term, lang, model) or [(term, 1.0)]:
            number = word_numbers.setdefault(word, len(word_numbers))
            shares[number] = shares.get(number, 0.0) + share
    return shares


def _list_english_words(term: str, lang: str, model: DefaultModel) -> list[tuple[str, float]]:
    """Return the likeliest English translations of a term with their shares; [] for a term that the model lacks.

    An English word is named by the number of its row in the model, as text.
    """
    if lang not in model.langs:
        return []
    return [(str(row_number), share) for row_number, share in model.english(term, lang)[:_MAX_TRANSLATIONS]]
