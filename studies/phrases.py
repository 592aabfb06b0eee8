"""Do phrases in quotation marks find what they should? Measured on parallel pages of MDN and of LibreOffice help.

    PARAGLOSS_DATA=... python studies/phrases.py [--phrases 50] [--langs fr,de,ja]

Phrases are two neighbouring words of English titles that stand in 2 to 30 English pages. A page of another
language is right if its English counterpart has the phrase as written. Compared are pages that have a translation of
every word anywhere, and those that have them next to each other, as quotation marks demand. Results are in
docs/understand/how-it-finds.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from paragloss.analysis import analyzer
from paragloss.search.phrases import PhraseForms, build_phrase_forms, find_phrase
from paragloss.translation import default
from paragloss.types import Query, TokenizedText

LANGS = {"mdn": "fr ru", "lohelp": "fr de"}
MAX_PAGES = 400
#: A width that no text reaches.
ANYWHERE = 10**9


def read_pages(collection: str, lang: str) -> dict[str, str]:
    """Return title and text of pages by their concept."""
    path = Path(os.environ["PARAGLOSS_DATA"]) / collection / f"{lang}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return {row["concept"]: f"{row['title']}\n{row['text']}" for row in rows}


def tokenize_pages(pages: dict[str, str], lang: str) -> dict[str, TokenizedText]:
    tokenize = analyzer(lang).tokenize
    return {concept: tokenize(text) for concept, text in pages.items()}


def choose_phrases(pages: dict[str, str], tokens: dict[str, TokenizedText], count: int) -> dict[str, set[str]]:
    """Return phrases of titles with the concepts of the pages that have them."""
    title_phrases: dict[tuple[str, ...], str] = {}
    for text in pages.values():
        title = text.partition("\n")[0]
        spans = analyzer("en").spans(title)
        for first, second in pairwise(spans):
            if title[first.end : second.start] == " ":
                title_phrases.setdefault((first.term, second.term), title[first.start : second.end])
    concepts: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for concept, page in tokens.items():
        for pair in set(pairwise(page.token_terms())) & title_phrases.keys():
            concepts[pair].add(concept)
    usable = sorted(pair for pair, having in concepts.items() if 2 <= len(having) <= 30)
    chosen = random.Random(0).sample(usable, min(count, len(usable)))
    return {title_phrases[pair]: concepts[pair] for pair in chosen}


def find_pages(tokens: dict[str, TokenizedText], forms: PhraseForms) -> set[str]:
    terms = forms.terms
    candidates = {concept: page for concept, page in tokens.items() if not terms.isdisjoint(page.terms)}
    return {concept for concept, page in candidates.items() if find_phrase(page, forms, inside_words=True)}


def measure(collection: str, lang: str, english: dict[str, str], count: int) -> None:
    pages = read_pages(collection, lang)
    concepts = sorted(pages.keys() & english.keys())
    concepts = random.Random(1).sample(concepts, min(MAX_PAGES, len(concepts)))
    tokens = tokenize_pages({concept: pages[concept] for concept in concepts}, lang)
    own_pages = {concept: english[concept] for concept in concepts}
    phrases = choose_phrases(own_pages, tokenize_pages(own_pages, "en"), count)
    sums = {"anywhere": [0, 0, 0], "phrase": [0, 0, 0]}
    for phrase, right in phrases.items():
        query = Query("", phrase, "en")
        forms = build_phrase_forms(query, lang, default.open().translate(query, lang), only_best=False)
        for name, width in (("anywhere", ANYWHERE), ("phrase", forms.word_count)):
            pages_found = find_pages(tokens, forms._replace(word_count=width))
            for column, number in enumerate((len(pages_found & right), len(pages_found), len(right))):
                sums[name][column] += number
    cells = [f"{hits / max(pages_found, 1):.2f} | {hits / right:.2f}" for hits, pages_found, right in sums.values()]
    print(f"| {collection} | {lang} | {len(phrases)} | {' | '.join(cells)} |", flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--phrases", type=int, default=50)
    options.add_argument("--langs", default="")
    options.add_argument("--sets", default="mdn,lohelp")
    arguments = options.parse_args(argv)
    print("| pages | language | phrases | anywhere: right | found | quotation marks: right | found |\n|" + "---|" * 7)
    for collection in arguments.sets.split(","):
        english = read_pages(collection, "en")
        for lang in arguments.langs.split(",") if arguments.langs else LANGS[collection].split():
            measure(collection, lang, english, arguments.phrases)


if __name__ == "__main__":
    main()
