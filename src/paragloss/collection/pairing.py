"""Which pages of a collection say the same in two languages, and which of their blocks do."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
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
#: Names that languages have in themselves, as folders are called.
_OWN_NAMES = {
    "ar": "العربية", "bg": "български", "ca": "català", "cs": "čeština", "da": "dansk", "de": "deutsch",
    "el": "ελληνικά", "es": "español", "et": "eesti", "fa": "فارسی", "fi": "suomi", "fr": "français",
    "he": "עברית", "hi": "हिन्दी", "hr": "hrvatski", "hu": "magyar", "id": "indonesia",
    "it": "italiano", "ja": "日本語", "ko": "한국어", "lt": "lietuvių", "lv": "latviešu", "ms": "melayu",
    "nl": "nederlands", "no": "norsk", "pl": "polski", "pt": "português", "ro": "română",
    "ru": "русский", "sk": "slovenčina", "sl": "slovenščina", "sr": "српски", "sv": "svenska",
    "sw": "kiswahili", "th": "ไทย", "tr": "türkçe", "uk": "українська", "vi": "việt", "zh": "中文",
}  # fmt: skip
#: What a block without a counterpart costs, and what counts beside words: that lengths, and places, are alike.
_GAP, _LENGTH, _PLACE = 0.1, 0.15, 0.1
#: Blocks this unlike say something else; longer pages are cut.
_LEAST, _MOST_BLOCKS = 0.2, 200


class Page(NamedTuple):
    """A page of several languages: each language's document."""

    key: str
    documents: dict[str, Document]


def pages(documents: Iterable[Document]) -> list[Page]:
    """Documents whose paths differ by a language's name only, or that say where their translations are."""
    every = list(documents)
    found: dict[str, dict[str, Document]] = {}
    for document, name in zip(every, _linked(every), strict=True):
        found.setdefault(name, {}).setdefault(document.lang, document)
    return [Page(name, some) for name, some in sorted(found.items()) if len(some) > 1]


def _linked(documents: Sequence[Document]) -> list[str]:
    """The page that each document is of: the key of its path, or of one that names the same addresses. An address that
    two of a language name (a site's first page) says nothing."""
    keys = [key(document.id, document.lang) for document in documents]
    named: dict[str, dict[int, str]] = {}
    for number, document in enumerate(documents):
        for address in _addresses(document):
            named.setdefault(address, {})[number] = document.lang
    for number, document in enumerate(documents) if named else ():
        if document.id in named:
            named[document.id][number] = document.lang
    first = {name: name for name in keys}

    def page(name: str) -> str:
        while first[name] != name:
            name = first[name]
        return name

    for some in named.values():
        if len(some) == len(set(some.values())):
            one, *others = (page(keys[number]) for number in some)
            first.update(dict.fromkeys(others, one))
    return [page(name) for name in keys]


def _addresses(document: Document) -> list[str]:
    """Where a page says that its translations are: those beside it by their paths, others as they are written."""
    told = document.meta.get("translations")
    links = [link for link in told if isinstance(link, str)] if isinstance(told, list) else []
    home = posixpath.dirname(document.id)
    return [link if "://" in link else posixpath.normpath(posixpath.join(home, link)) for link in links]


def key(path: str, lang: str) -> str:
    """Return a path with every mention of its language replaced by `*`.

    A mention is a word of the path that is a code of the language, perhaps with a region (`guide-de`, `de_DE`,
    `x.de.html`), or its name in English or in itself (`German/`, `Deutsch/`).
    """
    pieces: list[str] = []
    end = 0
    for word in _WORD.finditer(path):
        if word.start() < end or not _names_language(word[0], lang):
            continue
        pieces += [path[end : word.start()], "*"]
        region = _REGION.match(path, word.end())
        end = region.end() if region and len(word[0]) <= 3 else word.end()
    return "".join([*pieces, path[end:]])


def _names_language(word: str, lang: str) -> bool:
    """Decide whether a word is a code of a language, in one case, or its name."""
    if len(word) <= 3 and (word.islower() or word.isupper()) and bases().get(word.lower()) == lang:
        return True
    folded = _strip_accents(word.casefold())
    return folded in (language_name(lang).casefold(), _strip_accents(_OWN_NAMES.get(lang, lang)))


def _strip_accents(text: str) -> str:
    """Return a text without accents, which names of folders often lack."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))


def aligned(some: Iterable[Page], model: DefaultModel) -> list[Concept]:
    """The blocks of pages that say the same in two languages: titles, headings and lines of the text."""
    found: list[Concept] = []
    for page in some:
        for a, b in combinations(sorted(page.documents), 2):
            one, other = page.documents[a], page.documents[b]
            for first, second in _aligned(one, other, model):
                found.append(Concept(f"{page.key}#{len(found)}", {a: first, b: second}))
    return found


def _aligned(one: Document, other: Document, model: DefaultModel) -> Iterator[tuple[str, str]]:
    if one.title and other.title and one.title != other.title:
        yield one.title, other.title
    for field in ("headings", "text"):
        left, right = (_blocks(d, field) for d in (one, other))
        for i, j in _pairs(left, right, one.lang, other.lang, model):
            if left[i] != right[j]:  # what is alike is not translated yet
                yield left[i], right[j]


def _blocks(document: Document, field: str) -> list[str]:
    text = document.text if field == "text" else document.fields.get(field, "")
    return [line for line in map(str.strip, text.split("\n")) if line][:_MOST_BLOCKS]


def _pairs(left: Sequence[str], right: Sequence[str], a: str, b: str, model: DefaultModel) -> list[tuple[int, int]]:
    """The best alignment of two texts' blocks that keeps their order."""
    if not left or not right:
        return []
    alike = _alike(left, right, a, b, model)
    best = np.zeros((len(left) + 1, len(right) + 1))
    best[:, 0], best[0] = -_GAP * np.arange(len(left) + 1), -_GAP * np.arange(len(right) + 1)
    for i in range(1, len(left) + 1):
        row, above = best[i], best[i - 1]
        for j in range(1, len(right) + 1):
            row[j] = max(above[j - 1] + alike[i - 1, j - 1], above[j] - _GAP, row[j - 1] - _GAP)
    found, i, j = [], len(left), len(right)
    while i and j:
        if best[i, j] == best[i - 1, j - 1] + alike[i - 1, j - 1]:
            i, j = i - 1, j - 1
            if alike[i, j] >= _LEAST:
                found.append((i, j))
        elif best[i, j] == best[i - 1, j] - _GAP:
            i -= 1
        else:
            j -= 1
    return found[::-1]


def _alike(left: Sequence[str], right: Sequence[str], a: str, b: str, model: DefaultModel) -> npt.NDArray[np.float64]:
    """(left, right) how much each two blocks have in common: words by way of English, numbers, length and place."""
    index: dict[str, int] = {}
    sides = [[_meanings(block, lang, model, index) for block in side] for side, lang in ((left, a), (right, b))]
    matrices = []
    for side in sides:
        matrix = np.zeros((len(side), len(index)))
        for row, words in enumerate(side):
            for word, share in words.items():
                matrix[row, word] += share
        norm = np.linalg.norm(matrix, axis=1, keepdims=True)
        matrices.append(matrix / np.maximum(norm, 1e-9))
    lengths = [np.log([len(block) + 5 for block in side]) for side in (left, right)]
    ratio = lengths[0][:, None] - lengths[1][None, :]
    ratio -= np.median(lengths[0]) - np.median(lengths[1])
    place = np.arange(len(left))[:, None] / len(left) - np.arange(len(right))[None, :] / len(right)
    return np.asarray(
        matrices[0] @ matrices[1].T
        + _LENGTH * (0.5 - np.abs(ratio)).clip(-1, 1)
        + _PLACE * (1 - 8 * np.abs(place)).clip(-1, 1)
    )


def _meanings(block: str, lang: str, model: DefaultModel, index: dict[str, int]) -> dict[int, float]:
    """A block's words as the English words they may be; what is unknown, and numbers, stands for itself."""
    found: dict[int, float] = {}
    for term in analyzer(lang).terms(block):
        english = model.english(term, lang)[:4] if lang in model.langs else []
        for name, share in [(str(n), s) for n, s in english] or [(term, 1.0)]:
            place = index.setdefault(name, len(index))
            found[place] = found.get(place, 0.0) + share
    return found
