"""Liu's Table 5.2: English queries find Spanish pages by dictionary, nested or weighted, with expansion or without.

Dictionary: MUSE en-es. Before translation WordNet expands, as in the thesis, where it is installed, otherwise words
of the first English pages found; afterwards Rocchio. "Nested" is the thesis' (a OR b) AND (c OR d); asked of titles
as there, and of all fields. Expansions stand on both forms. Apertium, where it is installed, translates the query
whole.
"""

from __future__ import annotations

import shutil

from paragloss.errors import InputError
from paragloss.formats.dictionaries import read_pairs
from paragloss.lab.recipes import page_fields
from paragloss.lab.recipes.page_fields import Pages, opened
from paragloss.lab.recipes.runner import Measured
from paragloss.lab.recipes.sets import folder
from paragloss.lab.recipes.wordnet import WordNet
from paragloss.search.expanded import Expanded
from paragloss.search.nested import Nested
from paragloss.translation.dictionary import Dictionary
from paragloss.translation.engines import Apertium
from paragloss.translation.expansion import ChainedTranslator, FeedbackExpander
from paragloss.translation.machine import MachineTranslator, TranslationCache
from paragloss.types import Searcher, Translator

MINUTES, SEEDS = 4, (0,)  # nothing is learned
COLUMNS, PARTS = page_fields.COLUMNS, ("en-es",)
DATA = (*page_fields.DATA, "muse/en-es.tsv.gz")


def measure(part: str, seed: int, *, smoke: bool) -> Measured:
    words = Dictionary.build(read_pairs(folder() / "muse" / "en-es.tsv.gz"), "en", "es")
    with opened(smoke=smoke) as pages:
        index = (pages.store, pages.statistics)
        before = ChainedTranslator(expander(pages), words)
        forms: dict[str, Searcher] = {
            "Nested, title": Nested(*index, weights={"title": 1.0}),
            "Nested, all fields": Nested(*index),
            "Weighted, title": pages.lexical(["title"]),
            "Weighted, all fields": pages.lexical(),
        }
        asked: dict[str, tuple[Searcher, Translator]] = {}
        for name, form in forms.items():
            after = Expanded(form, pages.fetch, pages.idf)
            asked[name] = (form, words)
            asked[f"{name}, pre-translation expansion"] = (form, before)
            asked[f"{name}, post-translation expansion"] = (after, words)
            asked[f"{name}, both expansions"] = (after, before)
        if shutil.which("apertium") and not smoke:
            engine = TranslationCache(":memory:", Apertium())
            engine.translate_texts([query.text for query in pages.queries["en"]], "en", "es")  # all at once
            asked["Machine translation (Apertium), all fields"] = (pages.lexical(), MachineTranslator(engine))
        return {"Monolingual, title": pages.measured(forms["Weighted, title"], "es"), **pages.translated(asked)}


def expander(pages: Pages) -> Translator:
    try:
        return WordNet()
    except InputError:
        return FeedbackExpander(pages.lexical(), pages.fetch, lambda term: pages.idf("en", term))
