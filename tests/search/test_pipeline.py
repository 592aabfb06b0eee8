"""Every rule of the language of pipelines, by the ranking it gives on a handful of documents.

English asks, French is found. `dict` says: bank = banque (3) or rive (1), river = fleuve, money = argent; `table` knows
only river = rivière.
"""

import numpy as np
import pytest

from paragloss import demo
from paragloss.collection import Collection, train
from paragloss.errors import LanguageError, LineSyntaxError
from paragloss.formats.dictionaries import Entry
from paragloss.lab.methods import cr5, parallel
from paragloss.translation.dictionary import Dictionary
from paragloss.types import Concept, Document, Query

DOCUMENTS = [
    Document("banque", "La banque prête de l'argent. La banque garde l'argent.", "fr", "Argent"),
    Document("rive", "Sur la rive du fleuve, une banque de sable. Le fleuve coule.", "fr", "Le fleuve"),
    Document("rivière", "La rivière coule vers la mer.", "fr", "Eau"),
    Document("Tokyo", "Tokyo 1964", "fr", "Jeux"),
    Document("bank-en", "The bank lends money on credit, and credit costs interest.", "en", "Lending"),
    Document("river-en", "A river flows to the sea.", "en", "Water"),
]


class ByLength:
    """Likes long documents, or short ones."""

    def __init__(self, sign):
        self.sign = sign

    def score(self, query, documents):
        return np.array([self.sign * len(d.text) for d in documents], np.float32)


def save_dictionary(path, *entries):
    Dictionary.build([Entry(*entry) for entry in entries], "en", "fr").save(path)


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipelines")
    entries = ("bank", "banque", "", 3.0), ("bank", "rive", "", 1.0), ("river", "fleuve"), ("money", "argent")
    save_dictionary(folder / "dict", *entries, ("interest", "rivière"))
    save_dictionary(folder / "table", ("river", "rivière"), ("credit", "rivière"))
    train(cr5.fit, demo.concepts(), dim=40).save(folder / "cr5")
    models = [str(folder / name) for name in ("dict", "table", "cr5")]
    with Collection.create(str(folder / "c"), models=models) as collection:
        collection.index(DOCUMENTS)
        collection.state.models |= {"longest": ByLength(1), "shortest": ByLength(-1)}
        yield collection


def search_ids(collection, pipeline, text="bank", **options):
    options = {"lang": "en", "to": ["fr"], "k": 6} | options
    return [result.id for result in collection.search(text, pipeline=pipeline, **options).results]


@pytest.mark.parametrize(
    ("pipeline", "text", "expected"),
    [
        ("bm25", "Tokyo 1964", ["Tokyo"]),  # words as they are
        ("bm25", "bank", []),
        ("dict", "bank", ["banque", "rive"]),
        ("table", "river", ["rivière"]),
        # One document has the likelier translation of bank twice, the other both of them, once each.
        ("dict:psq", "bank", ["banque", "rive"]),
        ("dict:each", "bank", ["rive", "banque"]),
        # Nested: every word has to match.
        ("dict", "river money", ["banque", "rive"]),
        ("dict:nested", "river money", []),
        ("dict:nested", "bank river", ["rive"]),
        ("dict:best,nested", "bank river", ["rive"]),  # banque and fleuve are both there
        ("dict:best", "bank", ["banque", "rive"]),
        ("dict:top=1", "bank", ["banque", "rive"]),
        # Fields have weights and can be searched alone. Argent is in the title and twice in the text of one document.
        ("dict:title", "river", ["rive"]),
        ("dict:title", "bank", []),
        ("dict:title=0", "money", ["banque"]),
        ("bm25:text", "Jeux", []),
        ("bm25:title", "Jeux", ["Tokyo"]),
        ("bm25:title=0.5,text=2", "Jeux 1964", ["Tokyo"]),
        # Fusion.
        ("dict+table", "river", ["rive", "rivière"]),
        ("9*dict+table", "river", ["rive", "rivière"]),
        ("dict+9*table", "river", ["rivière", "rive"]),
        ("0*dict+table", "river", ["rivière", "rive"]),
        *[(f"{fusion}(9*dict+table)", "river", ["rive", "rivière"])
          for fusion in ("rrf", "sum", "minmax", "rrf:constant=1", "sum:depth=5")],
        *[(f"{fusion}(dict+9*table)", "river", ["rivière", "rive"])
          for fusion in ("rrf", "sum", "minmax", "rrf:constant=1", "sum:depth=5")],
        # Rerankers can be chained and given a depth, and parentheses limit what is reranked.
        ("dict>shortest", "bank", ["banque", "rive"]),
        ("dict>longest", "bank", ["rive", "banque"]),
        ("dict>longest>shortest", "bank", ["banque", "rive"]),
        ("dict>longest:depth=1", "bank", ["banque", "rive"]),  # only the first is looked at
        ("(dict>longest)+0*table", "bank", ["rive", "banque"]),
        # A mixture has one clause for a word: fleuve or rivière.
        ("mix:psq(9*dict+table)", "river", ["rive", "rivière"]),
        ("mix:psq(dict+9*table)", "river", ["rivière", "rive"]),
        ("mix:nested(dict+table)", "river money", []),
        # Feedback after translation learns "banque" from the first results, which both have.
        ("dict", "money", ["banque"]),
        ("dict|feedback", "money", ["banque", "rive"]),
        ("dict|feedback:beta=0", "money", ["banque"]),
        ("dict", "lends", []),
        # A translated query can be passed to another searcher.
        ("dict|bm25", "river", ["rive"]),
    ],
)  # fmt: skip
def test_a_pipeline_ranks_documents_by_its_rules(collection, pipeline, text, expected):
    assert search_ids(collection, pipeline, text) == expected


@pytest.mark.parametrize(
    ("pipeline", "text", "first"),
    [
        ("bm25:title=9", "sable eau", "rivière"),
        ("bm25:title=0.1", "sable eau", "rive"),
        ("bm25|feedback", "argent", "banque"),
        ("feedback|bm25", "argent", "banque"),
    ],
)
def test_a_pipeline_searches_documents_in_the_querys_own_language(collection, pipeline, text, first):
    ids = search_ids(collection, pipeline, text, lang="fr")
    assert ids[0] == first
    assert "feedback" not in pipeline or ids == ["banque", "rive"]


def test_untranslated_words_score_alike_under_every_matching_rule(collection):
    (plain,) = collection.search("Tokyo 1964", lang="en", to=["fr"], pipeline="bm25").results
    for matching in ("psq", "each", "synonyms"):
        (result,) = collection.search("Tokyo 1964", lang="en", to=["fr"], pipeline=f"dict:{matching}").results
        assert result.score == pytest.approx(plain.score, rel=1e-3)


def test_synonyms_count_alike(collection):
    (first, second) = collection.search("bank", lang="en", to=["fr"], pipeline="dict:synonyms").results
    assert first.score == pytest.approx(second.score, rel=0.01)  # two occurrences of one word, to either


def test_a_random_choice_is_one_of_the_translations(collection):
    choices = {tuple(search_ids(collection, f"dict:random,seed={seed}")) for seed in range(8)}
    assert choices == {("banque", "rive"), ("rive",)}


def test_an_encoder_finds_documents_by_meaning(tmp_path, collection):
    with Collection.create(str(tmp_path / "c"), models=[str(collection.location).removesuffix("/c") + "/cr5"]) as small:
        small.index([d for d in demo.documents() if d.id in ("volcano.fr", "bread.fr", "honey-bee.fr")])
        for pipeline in ("cr5", "cr5:csls", "cr5:exact", "cr5:words,top=2", "cr5:words,csls"):
            assert search_ids(small, pipeline, "lava of a volcano")[0] == "volcano.fr"


@pytest.mark.parametrize("pipeline", ["dict|(bm25+cr5)", "dict|rrf(bm25+cr5)", "mix(dict+table)"])
def test_a_group_of_searchers_or_translators_finds_what_its_parts_find(collection, pipeline):
    assert "rive" in search_ids(collection, pipeline, "river")[: 2 if "mix" in pipeline else 1]


@pytest.mark.parametrize(("pipeline", "found"), [("feedback|dict", "banque"), ("feedback|dict|feedback", "rive")])
def test_feedback_before_translation_learns_from_documents_in_the_querys_language(collection, pipeline, found):
    # The dictionary does not know "lends"; the English document that has it speaks of a bank and of money.
    assert found in search_ids(collection, pipeline, "lends")


def test_together_prefers_translations_that_occur_together(tmp_path):
    save_dictionary(tmp_path / "dict", ("bank", "banque", "", 3.0), ("bank", "rive"), ("river", "fleuve"))
    texts = [*["la rive du fleuve"] * 3, *["une banque de Paris"] * 9, *["la mer est bleue"] * 9]
    with Collection.create(str(tmp_path / "c"), models=[str(tmp_path / "dict")]) as small:
        small.index([Document(f"{i} {text}", text, "fr") for i, text in enumerate(texts)])
        assert "bank (1): banque 0.75, rive 0.25" in small.explain("bank river", lang="en", pipeline="dict")
        for pipeline in ("together", "together:window=4,documents=21", "together:window=2,by_length"):
            assert "bank (1): rive 1.00" in small.explain("bank river", lang="en", pipeline=f"dict|{pipeline}")
        # By length there are but two windows of twenty words, and chance alone would have rive and fleuve in both.
        explanation = small.explain("bank river", lang="en", pipeline="dict|together:by_length")
        assert "bank (1): banque 0.75, rive 0.25" in explanation
        for pipeline, number in (("dict", 12), ("dict|together", 3)):  # copies are ranked, though shown once
            query = Query("", "bank river", "en")
            assert len(small.rank([query], to=["fr"], k=20, pipeline=pipeline)[0]) == number


def test_parallel_texts_choose_translations_by_context(tmp_path):
    save_dictionary(
        tmp_path / "dict", ("bank", "banque", "", 3.0), ("bank", "rive"), ("boat", "bateau"), ("boat", "barque")
    )
    concepts = [
        Concept("1", {"en": "A boat lies at the bank.", "fr": "Une barque est sur la rive."}),
        Concept("2", {"en": "The bank keeps money.", "fr": "La banque garde de l'argent."}),
    ]
    parallel.fit(concepts, texts=1).save(tmp_path / "pairs")
    with Collection.create(str(tmp_path / "c"), models=[str(tmp_path / "dict"), str(tmp_path / "pairs")]) as small:
        small.index(DOCUMENTS)
        for pipeline in ("dict|pairs", "dict|pairs:one"):
            assert "bank (1): rive 1.00" in small.explain("boat bank", lang="en", to=["fr"], pipeline=pipeline)
            assert "bank (1): banque 1.00" in small.explain("money bank", lang="en", to=["fr"], pipeline=pipeline)
        assert search_ids(small, "dict|pairs", "boat bank") == ["rive"]
        assert search_ids(small, "dict", "boat bank") == ["banque", "rive"]
        assert search_ids(small, None, "Tokyo") == ["Tokyo"]  # the default search leaves parallel texts out
        assert small.info()["options"]["a|pairs"] == ["one"]
        with pytest.raises(LineSyntaxError, match="pairs chooses among translations: put it behind a translator"):
            search_ids(small, "pairs|dict")
        with pytest.raises(LineSyntaxError, match="pairs has no option 'two'; it has one"):
            search_ids(small, "dict|pairs:two")


@pytest.mark.parametrize(
    ("pipeline", "printed"),
    [
        ("cr5:words,top=2|dict", "first: EmbeddingTranslator(top=2"),  # neighbours of a word expand before translation
        ("rrf(dict+2*table)", "weights=[1.0, 2.0]"),
        ("mix(dict+2*table)", "weights=[1.0, 2.0]"),
    ],
)
def test_parts_are_printed_with_their_settings(collection, pipeline, printed):
    assert printed in collection.explain("volcano", lang="en", to=["fr"], pipeline=pipeline)


def test_languages_are_merged(collection):
    assert set(search_ids(collection, "dict", "river", to=None)) == {"rive", "river-en"}


@pytest.mark.parametrize(
    ("pipeline", "at", "message"),
    [
        ("bm25+nonsense", 5, "no 'nonsense' in this collection to search with; it has bm25, cr5, default, dict, table"),
        ("bm25>knrm", 5, "no reranker 'knrm' in this collection; it has longest, shortest"),
        ("bm25:titel=2", 5, "bm25 has no option 'titel'; it has title=WEIGHT, text=WEIGHT"),
        ("dict:nestled", 5, "dict has no option 'nestled'; it has every|best|random, top=0"),
        ("dict:match=all", 5, "match=all: expected one of combined, each, nested, psq, synonyms, tempered"),
        ("together|dict", 0, "put it behind a translator"),
        ("bm25|dict", 5, "only feedback can follow what searches"),
        ("dict:nested|cr5", 5, "dict has no option 'nested'"),
        ("cr5:top=3", 4, "cr5 has no option 'top'"),
        ("table:exact,to=fr|dict:to=en", 23, "dict has no option 'to'"),
        ("mix(dict+bm25)", 9, "only what translates can stand here"),
        ("mix(dict:nested+table)", 9, "dict has no option 'nested'"),
        ("rrf:k=60(bm25+cr5)", 4, "rrf has no option 'k'; it has constant=60, depth=200"),
        ("mt", 0, "no translation engine"),
        ("mt:elsewhere", 3, "mt has no option 'elsewhere'"),
    ],
)
def test_a_pipeline_that_cannot_be_built_is_an_error_at_its_column(collection, pipeline, at, message):
    with pytest.raises(LineSyntaxError) as caught:
        search_ids(collection, pipeline)
    assert caught.value.at == at, str(caught.value)
    assert message in str(caught.value)
    assert f"\n  {pipeline}\n  " in str(caught.value)


def test_an_unknown_language_pair_is_an_error(collection):
    with pytest.raises(LanguageError, match="no dictionary for de->fr"):
        search_ids(collection, "dict", "Bank", lang="de")


def test_two_dictionaries_can_be_chained_through_a_third_language(collection, tmp_path):
    Dictionary.build([Entry("Fluss", "river")], "de", "en").save(tmp_path / "german")
    Dictionary.build([Entry("river", "fleuve")], "en", "fr").save(tmp_path / "onward")
    with Collection.create(str(tmp_path / "c"), models=[str(tmp_path / "german"), str(tmp_path / "onward")]) as small:
        small.index(DOCUMENTS)
        assert search_ids(small, "german:to=en|onward", "Fluss", lang="de") == ["rive"]


def test_without_a_pipeline_the_default_search_uses_what_knows_the_language(collection):
    text = collection.explain(lang="en", to=["fr"])
    assert text.startswith("DefaultSearcher(targets=[fr]")
    assert "translator: CompoundTranslator" in text
    assert "encoder: " in text
    assert "encoder: " not in collection.explain(lang="fi", to=["fr"])  # cr5 does not know Finnish


def test_the_nested_searchers_are_printed_and_how_a_query_is_understood(collection):
    text = collection.explain("bank river", lang="en", to=["fr"], pipeline="dict:nested|feedback")
    assert text == (
        "Merged()\n"
        "  searchers: Translated(to='fr', called='dict')\n"
        "    searcher: Expanded(depth=10, terms=10, alpha=1.0, beta=0.3)\n"
        "      searcher: Nested(weights={title: 1, text: 1, headings: 0.5, strong: 0.1, url: 0.1}, max_candidates=200, "
        "proportional=True, vector_name='terms')\n"
        "    translator: Dictionary()\n\n"
        "'bank river' [en], terms: bank, river\n"
        "Translated en->fr:\n"
        "  bank (1): banque 0.75, rive 0.25\n"
        "  river (1): fleuve 1.00"
    )


def test_info_lists_fields_and_options_of_a_collection(collection):
    about = collection.info()
    assert collection.summary().items() <= about.items()
    assert about["fields"] == {"title": 6, "text": 6}
    assert {"bm25", "cr5", "dict", "mix(a+b)", "feedback|a", "a|feedback", "a>longest"} <= set(about["options"])
    assert "combined|each|nested|psq|synonyms|tempered" in about["options"]["dict"]
    assert about["options"]["a>longest"] == ["depth=100"]


def test_expansion_terms_weigh_beta_under_every_matching_rule(collection):
    """The words that feedback adds count `beta` whatever the structure of the query."""
    for matching in ("psq", "synonyms", "each"):
        queries, ranked = [Query("q", "money", "en")], {}
        for beta in (0.1, 1):
            ranked[beta] = collection.rank(queries, k=6, to=["fr"], pipeline=f"dict:{matching}|feedback:beta={beta}")[0]
            assert [hit.id for hit in ranked[beta]] == ["banque", "rive"]
        assert ranked[0.1][1].score < 0.5 * ranked[1][1].score
