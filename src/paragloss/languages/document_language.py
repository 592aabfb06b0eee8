"""Decides the language of a document by its own text: most of its body, else its title and what its file declares.

The decision never depends on other documents.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from paragloss.languages.identification import identify_one, identify_short
from paragloss.languages.scripts import LATIN_WEIGHT_BESIDE_OTHERS, script_of_language, scripts_in, weigh_letters

#: A body with at least this many letters (CJK characters count as several, see `weigh_letters`), about fifty words,
#: decides alone.
MIN_LETTERS_OF_LONG_BODY = 250
#: A long body is undecided if its commonest language has less than this share of it.
MIN_SHARE_OF_DECIDED_BODY = 0.6
#: Blocks of about this many characters are identified one by one, and this many of them, spread over the text.
_BLOCK_CHARACTERS = 400
_MAX_BLOCKS = 6
#: Only the beginning of a longer text is read.
_MAX_CHARACTERS = 500 * _BLOCK_CHARACTERS
#: Addresses, file names, identifiers, tags and everything with digits: they are the same in every language.
_CODE = re.compile(r"\S*(?:[\d/\\@_{}<>=$#|~^]|\w[.:]\w|\(\))\S*")


def identify_document(text: str, title: str = "", declared: str = "") -> str | None:
    """Decide which language a document is in.

    :param text: the body; if it is long, the language of most of its letters is the document's
    :param title: read together with a short body
    :param declared: a language code from metadata or from the path of the file, or ""; taken where a long body is
        undecided and partly in it, and where a short text may well be in it
    :return: a language code; None where neither text nor title has letters and nothing is declared
    """
    body = _remove_code(text[:_MAX_CHARACTERS])
    if weigh_letters(body) < MIN_LETTERS_OF_LONG_BODY:
        short_text = f"{_remove_code(title)}\n{body}".strip() or f"{title}\n{text}"
        return identify_short(short_text, declared)
    letters_by_lang = _count_letters_by_language(body)
    commonest_lang = max(letters_by_lang, key=lambda lang: (letters_by_lang[lang], lang))  # of equal ones the last code
    min_letters = MIN_SHARE_OF_DECIDED_BODY * sum(letters_by_lang.values())
    is_undecided = letters_by_lang[commonest_lang] < min_letters
    if is_undecided and declared in letters_by_lang:
        return declared
    return commonest_lang


def _remove_code(text: str) -> str:
    """Replace by spaces what is not running text; the line structure stays."""
    return _CODE.sub(" ", text)


def _count_letters_by_language(body: str) -> Mapping[str, float]:
    """Estimate how many letters of a text are in each language.

    The letters of each script are divided among the languages as in a sample of the lines in that script. Beside
    another script Latin letters count half: commands and names are in Latin letters in every language.

    :return: the number of letters by the code of the language, without languages that have none
    """
    lines_by_script = _group_lines_by_script(body)
    letters_by_lang: dict[str, float] = defaultdict(float)
    for script, lines in lines_by_script.items():
        script_letters = float(weigh_letters("\n".join(lines)))
        if script == "Latn" and len(lines_by_script) > 1:
            script_letters *= LATIN_WEIGHT_BESIDE_OTHERS
        sampled_letters = _count_sampled_letters(lines)
        sample_size = sum(sampled_letters.values())
        for lang, count in sampled_letters.items():
            letters_by_lang[lang] += script_letters * count / sample_size
    return letters_by_lang


def _group_lines_by_script(body: str) -> dict[str, list[str]]:
    """Group the lines of a text that have letters by their script; Chinese characters beside kana are Japanese.

    :return: lines by the code of their script; all lines of a text in one script, also those without letters
    """
    scripts = scripts_in(body)
    if len(scripts) == 1:
        return {scripts[0]: body.split("\n")}
    lines_by_script: dict[str, list[str]] = {}
    for line in body.split("\n"):
        script = script_of_language(line)
        if script is not None:
            lines_by_script.setdefault(script, []).append(line)
    if "Kana" in lines_by_script:
        lines_by_script["Kana"] += lines_by_script.pop("Hani", [])
    return lines_by_script


def _count_sampled_letters(lines: Sequence[str]) -> Mapping[str, int]:
    """Identify blocks that are spread over some lines, and count the letters of those in each language."""
    blocks = [*_split_blocks(lines)]
    sample_size = min(len(blocks), _MAX_BLOCKS)
    letters_by_lang: Counter[str] = Counter()
    for number in range(sample_size):
        block = blocks[number * len(blocks) // sample_size]
        lang = identify_one(block)
        if lang is not None:
            letters_by_lang[lang] += weigh_letters(block)
    return letters_by_lang


def _split_blocks(lines: Sequence[str]) -> Iterator[str]:
    """Join lines into blocks of about the same size."""
    block: list[str] = []
    size = 0
    for line in lines:
        if block and size + len(line) > _BLOCK_CHARACTERS:
            yield "\n".join(block)
            block, size = [], 0
        block.append(line[: 2 * _BLOCK_CHARACTERS])
        size += len(line)
    yield "\n".join(block)
