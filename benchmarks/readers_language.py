"""Measures whether sentences in the reader's language are left as they are inside pages of other languages.

    PARAGLOSS_DATA=... python benchmarks/readers_language.py [--sentences 20] [--readers en de fr ...]
    python benchmarks/readers_language.py --held-out [--cache FOLDER]

Every sentence of NTREX (news, professionally translated) in a reader's language is taken for a sentence of a page in
each other language, and must be recognised; every sentence in another language must not. English sentences of MDN are
tried in the same way. Thresholds were chosen on FLORES, rules on NTREX. `--held-out` takes sentences that neither was
chosen on: messages of a program in the same languages (held_out_labels.py fetches them).
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from held_out_labels import MESSAGES, group_by_language, list_paths, read_blobs, read_messages, spread

from paragloss.gloss import lexicon
from paragloss.gloss.reader_language import is_in_readers_language
from paragloss.translation import default

DATA = Path(os.environ.get("PARAGLOSS_DATA", "~/.cache/paragloss")).expanduser()
READERS = ["en", "de", "fr", "es", "pt", "nl", "ru", "uk", "ja", "vi", "id", "ar"]
#: One row of so many is used, so that sentences come from several texts.
ROWS_APART = 13
MIN_SENTENCE_LENGTH = 15


def main() -> None:
    """Print the share of recognised sentences for each reader's language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=20)
    parser.add_argument("--readers", nargs="+", default=READERS)
    parser.add_argument("--held-out", action="store_true", help="sentences that no rule was chosen on")
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/paragloss/held_out").expanduser())
    options = parser.parse_args()
    if options.held_out:
        rows = read_message_rows(options.cache, options.sentences)
    else:
        rows = [row["texts"] for row in read_rows(DATA / "open/text/ntrex.jsonl.xz", options.sentences)]
    langs = sorted({lang for row in rows for lang in row} & set(default.open().langs))
    print("| reader | own sentences recognised | foreign sentences taken for own |\n|---|---|---|")
    for reader in options.readers:
        others = [lang for lang in langs if lang != reader]
        own = [is_recognised(row[reader], lang, reader) for lang in others for row in rows if reader in row]
        foreign = [is_recognised(row[lang], lang, reader) for lang in others for row in rows if lang in row]
        print(f"| {reader} | {sum(own)} of {len(own)} | {sum(foreign)} of {len(foreign)} |")
    if options.held_out:
        return
    english = list(read_mdn_sentences(options.sentences))
    outcomes = [is_recognised(sentence, lang, "en") for lang in langs if lang != "en" for sentence in english]
    print(f"English sentences of MDN: {sum(outcomes)} of {len(outcomes)}")


def is_recognised(sentence: str, lang: str, reader: str) -> bool:
    """Say whether a sentence of a page in `lang` is taken for one in the reader's language."""
    return is_in_readers_language(sentence, lang, reader, lexicon.open(), default.open())


def read_rows(path: Path, count: int) -> Iterator[dict[str, Any]]:
    """Yield rows that are some lines apart."""
    open_text = lzma.open if path.suffix == ".xz" else gzip.open
    with open_text(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number >= count * ROWS_APART:
                return
            if number % ROWS_APART == 0:
                yield json.loads(line)


def read_message_rows(cache: Path, count: int) -> list[dict[str, str]]:
    """Return messages of a program by language, spread over all; those that nobody translated are left out."""
    paths = group_by_language(list_paths(cache, MESSAGES), MESSAGES.path_pattern)
    lang_by_path = {paths_of_lang[-1]: lang for lang, paths_of_lang in paths.items()}
    messages = {
        lang_by_path[path]: read_messages(text.decode()) for path, text in read_blobs(cache, MESSAGES, lang_by_path)
    }
    rows = []
    for key in spread([*messages["en"]], count):
        english = messages["en"][key]
        translations = {lang: texts[key] for lang, texts in messages.items() if texts.get(key, english) != english}
        rows.append({"en": english, **translations})
    return rows


def read_mdn_sentences(count: int) -> Iterator[str]:
    """Yield the sentences at the beginning of English pages."""
    for row in read_rows(DATA / "mdn/en.jsonl.gz", count):
        sentences = re.split(r"\n|(?<=[.!?]) ", row["text"][:1000])
        yield from (sentence for sentence in sentences[:-1] if len(sentence) > MIN_SENTENCE_LENGTH)


if __name__ == "__main__":
    main()
