"""Tokenizes a document once, in its own language and in the languages of its foreign blocks, and packs the tokens.

The packed tokens are stored with the document, and so are the limits of its passages. Snippets, glosses and
explanations look up there where terms and passages stand and read the text only at those offsets.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from paragloss.analysis import analyzer
from paragloss.analysis.blocks import find_foreign_blocks
from paragloss.analysis.passages import Span, select_passages
from paragloss.languages import UNKNOWN
from paragloss.types import Analyzer, Integers, Record, TokenizedText

#: Tokens beyond this many characters of a text are neither stored nor shown.
MAX_TOKENIZED_CHARACTERS = 50_000
_FORMAT_VERSION = 2
_HEADER = struct.Struct("<BI")  # format version, length of the text in characters
_LANGUAGE_HEADER = struct.Struct("<BI")  # bytes of the language code, bytes of the terms
_ARRAY_HEADER = struct.Struct("<BI")  # bytes per number, number of numbers


def tokenize_by_language(text: str, lang: str, analyze: Callable[[str], Analyzer] = analyzer) -> list[TokenizedText]:
    """Tokenize a text in its own language, and its blocks in other languages in those.

    :param text: the text of a document
    :param lang: the language of most of it; a text of unknown language has no foreign blocks
    :param analyze: returns the analyzer of a language code
    :return: the text tokenized in `lang`, then for each other language the tokens of its blocks only; all offsets refer
        to `text`
    """
    own_tokens = analyze(lang).tokenize(text)
    tokenized_texts = [own_tokens if own_tokens.lang == lang else own_tokens._replace(lang=lang)]
    if lang != UNKNOWN:
        for block_lang, block_spans in find_foreign_blocks(text, lang).items():
            tokenized_texts.append(_tokenize_blocks(text, block_spans, block_lang, analyze(block_lang)))
    return tokenized_texts


def _tokenize_blocks(text: str, spans: Sequence[tuple[int, int]], lang: str, analyzer: Analyzer) -> TokenizedText:
    """Tokenize some blocks of a text as if they were one text; offsets in the result refer to the whole text."""
    joined_blocks = "\n".join(text[start:end] for start, end in spans)
    tokens = analyzer.tokenize(joined_blocks)
    sizes = np.array([end - start + 1 for start, end in spans])
    joined_starts = np.cumsum(sizes) - sizes  # (blocks,) where each block begins in `joined_blocks`
    shifts = np.array([start for start, _ in spans]) - joined_starts
    block_numbers = np.searchsorted(joined_starts, tokens.starts, side="right") - 1
    return tokens._replace(lang=lang, text=text, starts=tokens.starts + shifts[block_numbers])


def read_tokenized_texts(record: Record) -> Sequence[TokenizedText]:
    """Return the tokens stored with a document, or tokenize it again where none fit its text."""
    document = record.document
    analysis = unpack_texts(record.packed_tokens, document.text) if record.packed_tokens else None
    if analysis:
        return analysis.tokenized
    beginning = document.text[:MAX_TOKENIZED_CHARACTERS]
    tokenized_texts = truncate_texts(tokenize_by_language(beginning, document.lang))
    return [tokens._replace(text=document.text) for tokens in tokenized_texts]


def read_passage_spans(record: Record) -> Sequence[Span]:
    """Return the spans of a document's passages as they are stored, or select them again where none are."""
    analysis = unpack_texts(record.packed_tokens, record.document.text) if record.packed_tokens else None
    return analysis.passages if analysis and analysis.passages else select_passages(record.document.text)


def truncate_texts(tokenized_texts: list[TokenizedText]) -> list[TokenizedText]:
    """Drop tokens that reach beyond the first `MAX_TOKENIZED_CHARACTERS` of their text."""
    if len(tokenized_texts[0].text) < MAX_TOKENIZED_CHARACTERS:
        return tokenized_texts
    return [_truncate_text(tokens) for tokens in tokenized_texts]


def _truncate_text(tokens: TokenizedText) -> TokenizedText:
    """Drop the tokens that end beyond MAX_TOKENIZED_CHARACTERS, and the words that only they have."""
    token_ends = tokens.starts + tokens.lengths[tokens.word_indices]
    n_tokens = int(np.searchsorted(token_ends, MAX_TOKENIZED_CHARACTERS))
    if n_tokens == len(tokens.starts):
        return tokens
    word_indices = tokens.word_indices[:n_tokens]
    # Words are numbered in the order they first occur; without tokens there are no words.
    n_words = int(word_indices.max(initial=-1)) + 1
    return tokens._replace(
        terms=tokens.terms[:n_words],
        lengths=tokens.lengths[:n_words],
        word_indices=word_indices,
        starts=tokens.starts[:n_tokens],
    )


class TextAnalysis(NamedTuple):
    """What is stored of a text: its tokens in each of its languages, and the spans of its passages."""

    tokenized: tuple[TokenizedText, ...]
    passages: tuple[Span, ...]


def pack_texts(tokenized_texts: Sequence[TokenizedText], passages: Sequence[Span]) -> bytes:
    """Pack the tokens and the passages of one text, terms as text and numbers in as few bytes as they need."""
    passage_limits = np.array(passages, np.int64).ravel()  # start, end, start, end, ...
    parts = [_HEADER.pack(_FORMAT_VERSION, len(tokenized_texts[0].text)), _pack_numbers(passage_limits)]
    for tokens in tokenized_texts:
        lang, terms = tokens.lang.encode(), "\n".join(tokens.terms).encode("utf-8", "surrogatepass")
        parts += [_LANGUAGE_HEADER.pack(len(lang), len(terms)), lang, terms]
        distances = np.diff(tokens.starts, prepend=0)
        parts += [_pack_numbers(numbers) for numbers in (tokens.lengths, tokens.word_indices, distances)]
    return zlib.compress(b"".join(parts), 1)


@lru_cache(maxsize=256)
def unpack_texts(data: bytes, text: str) -> TextAnalysis | None:
    """Unpack the tokens and passages of a text that `pack_texts` packed.

    The cache serves documents that are shown, then explained or read.

    :param data: the packed bytes
    :param text: the text that they belong to
    :return: None where they are damaged, of another text or in another format
    """
    try:
        unpacked = memoryview(zlib.decompress(data))
        version, text_length = _HEADER.unpack_from(unpacked)
        if version != _FORMAT_VERSION or text_length != len(text):
            return None
        passages, texts_start = _unpack_spans(unpacked, _HEADER.size)
        return TextAnalysis(tuple(_unpack_tokenized_texts(unpacked, texts_start, text)), passages)
    except (zlib.error, struct.error, ValueError):
        return None


def _unpack_spans(data: memoryview, position: int) -> tuple[tuple[Span, ...], int]:
    """Return the spans packed at a position, and the position behind them."""
    limits, end = _unpack_numbers(data, position)  # start, end, start, end, ...
    return tuple(zip(limits[::2].tolist(), limits[1::2].tolist(), strict=True)), end


def _unpack_tokenized_texts(data: memoryview, position: int, text: str) -> Iterator[TokenizedText]:
    """Yield the tokenized texts that `pack_texts` wrote one after the other: the text in each of its languages.

    :param data: the bytes after decompression
    :param position: where the first text begins
    :param text: the text that the tokens refer to
    """
    while position < len(data):
        lang, terms, position = _unpack_terms(data, position)
        lengths, position = _unpack_numbers(data, position)
        word_indices, position = _unpack_numbers(data, position)
        distances, position = _unpack_numbers(data, position)  # between the starts of neighbouring tokens
        yield TokenizedText(lang, text, terms, lengths, word_indices, np.cumsum(distances))


def _unpack_terms(data: memoryview, position: int) -> tuple[str, list[str], int]:
    """Return the language and the terms packed at a position, and the position behind them."""
    lang_size, terms_size = _LANGUAGE_HEADER.unpack_from(data, position)
    lang_start = position + _LANGUAGE_HEADER.size
    terms_start = lang_start + lang_size
    terms_end = terms_start + terms_size
    lang = str(data[lang_start:terms_start], "utf-8")
    terms = str(data[terms_start:terms_end], "utf-8", "surrogatepass").split("\n") if terms_size else []
    return lang, terms, terms_end


def _pack_numbers(numbers: Integers) -> bytes:
    values = numbers.tolist()
    largest = max(values, default=0)
    if largest < 1 << 8:  # most arrays: `bytes` is quicker than an array of its own
        return _ARRAY_HEADER.pack(1, len(values)) + bytes(values)
    width = 2 if largest < 1 << 16 else 4
    return _ARRAY_HEADER.pack(width, len(values)) + numbers.astype(f"<u{width}").tobytes()


def _unpack_numbers(data: memoryview, position: int) -> tuple[Integers, int]:
    """Return the numbers packed at a position, and the position behind them."""
    width, count = _ARRAY_HEADER.unpack_from(data, position)
    start = position + _ARRAY_HEADER.size
    end = start + width * count
    return np.frombuffer(data[start:end], f"<u{width}").astype(np.int64), end
