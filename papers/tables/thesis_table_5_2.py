"""Liu's Table 5.2: English queries find Spanish pages by dictionary, nested or weighted, with or without expansion.

Dictionary: MUSE en-es. Before translation WordNet expands, as in the thesis, where it is installed, otherwise words of
the first English pages; afterwards Rocchio. "Nested" is the thesis' (a OR b) AND (c OR d), over titles as there, and
over all fields. "Random translation" takes one of a word's translations at random (Oard). Apertium, where it is
installed, translates whole queries.
"""

from __future__ import annotations

import random

from papers import page_fields
from papers.corpora import Rows
from papers.page_fields import FieldedPages, open_pages
from papers.translators import has_apertium, read_muse, translate_by_apertium
from papers.wordnet import WordNet
from paragloss.errors import InputError
from paragloss.formats.dictionaries import Entry
from paragloss.lab.matchings.nested import Nested
from paragloss.search.expanded import Expanded
from paragloss.translation.dictionary import Dictionary
from paragloss.translation.expansion import ChainedTranslator, FeedbackExpander
from paragloss.types import Searcher, Translator

SEEDS = (0,)  # nothing is learned
COLUMNS, PARTS = page_fields.COLUMNS, ("en-es",)
DATA = (*page_fields.DATA, "muse/en-es.tsv.gz")


def measure(part: str, seed: int, *, smoke: bool) -> Rows:
    entries = read_muse("es")
    with open_pages(smoke=smoke) as pages:
        systems = make_systems(pages, entries)
        if has_apertium("es") and not smoke:
            apertium = translate_by_apertium({("en", "es"): [query.text for query in pages.queries["en"]]})
            systems["Machine translation (Apertium), all fields"] = (pages.search_fields(), apertium)
        monolingual = pages.measure_searcher(pages.search_fields(["title"]), "es")
        return {"Monolingual, title": monolingual, **pages.measure_translated(systems)}


def make_systems(pages: FieldedPages, entries: list[Entry]) -> dict[str, tuple[Searcher, Translator]]:
    """Make a searcher and a translator for each row."""
    dictionary = Dictionary.build(entries, "en", "es")
    expanding = ChainedTranslator(make_expander(pages), dictionary)
    index = (pages.store, pages.statistics)
    forms: dict[str, Searcher] = {
        "Nested, title": Nested(*index, weights={"title": 1.0}),
        "Nested, all fields": Nested(*index),
        "Weighted, title": pages.search_fields(["title"]),
        "Weighted, all fields": pages.search_fields(),
    }
    systems: dict[str, tuple[Searcher, Translator]] = {}
    for name, searcher in forms.items():
        feedback = Expanded(searcher, pages.fetch, pages.idf)
        systems[name] = (searcher, dictionary)
        systems[f"{name}, pre-translation expansion"] = (searcher, expanding)
        systems[f"{name}, post-translation expansion"] = (feedback, dictionary)
        systems[f"{name}, both expansions"] = (feedback, expanding)
    random_words = Dictionary.build(choose_random_translations(entries), "en", "es")
    systems["Weighted, all fields, random translation"] = (forms["Weighted, all fields"], random_words)
    return systems


def make_expander(pages: FieldedPages) -> Translator:
    """Expand English queries by WordNet if it is installed, otherwise by words of the first English pages."""
    try:
        return WordNet()
    except InputError:
        return FeedbackExpander(pages.search_fields(), pages.fetch, lambda term: pages.idf("en", term))


def choose_random_translations(entries: list[Entry]) -> list[Entry]:
    """Keep one translation of each word, chosen at random."""
    by_source: dict[str, list[Entry]] = {}
    for entry in entries:
        by_source.setdefault(entry.source, []).append(entry)
    return [random.Random(word).choice(translations) for word, translations in by_source.items()]
