"""Invented data in the form of every data set, so that recipes can be tried without downloading anything.

Texts are random words of an invented vocabulary. A word has a counterpart in every language, and a text in another
language consists of the counterparts in the same order. Values measured on such texts mean nothing.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from papers.data_converters import Page, write_lines, write_pages, write_sentences
from papers.data_sets import DATA_SETS

VOCABULARY_SIZE, TOPICS, WORDS_PER_TOPIC = 1_200, 40, 60
PAGES, SENTENCES, RARE_PAIRS = 600, 1_000, 10_000
TITLE_WORDS, TEXT_WORDS, SENTENCE_WORDS = 3, 60, 9
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"


@contextmanager
def use_invented_data() -> Iterator[Path]:
    """Let PARAGLOSS_DATA name a temporary folder of invented data for the duration of a block."""
    previous = os.environ.get("PARAGLOSS_DATA")
    with tempfile.TemporaryDirectory(prefix="paragloss-invented-") as folder:
        write_invented_data(Path(folder))
        os.environ["PARAGLOSS_DATA"] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ["PARAGLOSS_DATA"]
            if previous is not None:
                os.environ["PARAGLOSS_DATA"] = previous


def write_invented_data(folder: Path) -> None:
    """Write small files of all data sets that recipes need."""
    for collection in ("ddtp", "lohelp", "mdn"):
        texts = make_texts(collection, PAGES, TEXT_WORDS)
        for lang in DATA_SETS[collection].langs:
            write_pages(folder / collection / f"{lang}.jsonl.gz", make_pages(collection, texts, lang))
    links = (f"{_name_concept('mdn', number)}\t{_name_concept('mdn', number + TOPICS)}" for number in range(PAGES))
    write_lines(folder / "mdn" / "mutual_links.tsv.gz", links)
    english = make_vocabulary("en")
    sentences = make_texts("sentences", SENTENCES, SENTENCE_WORDS)
    for lang in DATA_SETS["tatoeba"].langs:
        other = make_vocabulary(lang)
        pairs = (f"{join_words(text, english)}\t{join_words(text, other)}" for text in sentences)
        write_lines(folder / "tatoeba" / f"en-{lang}.tsv.gz", pairs)
        write_lines(folder / "muse" / f"en-{lang}.tsv.gz", make_word_pairs(english, other))
    vocabularies = {lang: make_vocabulary(lang) for lang in ("en", *DATA_SETS["ntrex"].langs)}
    for name in ("ntrex", "tico19"):
        news = make_texts(name, SENTENCES, SENTENCE_WORDS)
        rows = ({lang: join_words(text, words) for lang, words in vocabularies.items()} for text in news)
        write_sentences(folder / "open" / "text" / f"{name}.jsonl.xz", name, rows)


def make_pages(collection: str, texts: Sequence[Sequence[int]], lang: str) -> Iterator[Page]:
    """Make the pages of a collection in one language; the first words of a text are its title."""
    vocabulary = make_vocabulary(lang)
    for number, text in enumerate(texts):
        title, body = join_words(text[:TITLE_WORDS], vocabulary), join_words(text[TITLE_WORDS:], vocabulary)
        yield Page(_name_concept(collection, number), lang, title, body)


def _name_concept(collection: str, number: int) -> str:
    """Name a page as its collection does."""
    return f"package{number}:{number:08x}" if collection == "ddtp" else f"section/page{number}"


def make_word_pairs(english: Sequence[str], other: Sequence[str]) -> list[str]:
    """Pair words as lines of a dictionary.

    Recipes learn from the first 10,000 pairs and test on the rest. Pairs that no text contains separate two halves of
    the vocabulary, so that both have words that the models know.
    """
    pairs = [f"{source}\t{target}" for source, target in zip(english, other, strict=True)]
    rare_pairs = [f"rare{number}\traro{number}" for number in range(RARE_PAIRS)]
    middle = len(pairs) // 2
    return [*pairs[:middle], *rare_pairs, *pairs[middle:]]


def make_vocabulary(lang: str) -> list[str]:
    """Invent the words of a language; words with the same index are translations of each other."""
    rng = random.Random(f"vocabulary {lang}")
    words: dict[str, None] = {}
    while len(words) < VOCABULARY_SIZE:
        words["".join(rng.choice(CONSONANTS) + rng.choice(VOWELS) for _ in range(rng.randint(2, 4)))] = None
    return list(words)


def make_texts(name: str, size: int, length: int) -> list[list[int]]:
    """Invent texts as indexes of words; text i has topic i modulo TOPICS, whose words make up half of it."""
    rng = random.Random(f"texts {name}")
    topics = [rng.sample(range(VOCABULARY_SIZE), WORDS_PER_TOPIC) for _ in range(TOPICS)]
    texts = []
    for number in range(size):
        topic = topics[number % TOPICS]
        texts.append(
            [rng.choice(topic) if rng.random() < 0.5 else rng.randrange(VOCABULARY_SIZE) for _ in range(length)]
        )
    return texts


def join_words(text: Sequence[int], vocabulary: Sequence[str]) -> str:
    """Write a text with the words of a language, as one sentence."""
    return " ".join(vocabulary[index] for index in text).capitalize() + "."
