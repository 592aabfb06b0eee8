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


class LongestFirst:
    """Likes long documents."""

    def score(self, query, documents):
        return np.array([len(d.text) for d in documents], np.float32)


class ShortestFirst:
    def score(self, query, documents):
        return np.array([-len(d.text) for d in documents], np.float32)


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
        collection.state.models |= {"longest": LongestFirst(), "shortest": ShortestFirst()}
        yield collection


def search_ids(collection, pipeline, text="bank", **options):
    options = {"lang": "en", "to": ["fr"], "k": 6} | options
    return [result.id for result in collection.search(text, pipeline=pipeline, **options).results]


def test_bm25_matches_untranslated_words_only(collection):
    assert search_ids(collection, "bm25", "Tokyo 1964") == ["Tokyo"]
    assert search_ids(collection, "bm25") == []


def test_untranslated_words_score_alike_under_every_matching_rule(collection):
    (plain,) = collection.search("Tokyo 1964", lang="en", to=["fr"], pipeline="bm25").results
    for matching in ("psq", "each", "synonyms"):
        (result,) = collection.search("Tokyo 1964", lang="en", to=["fr"], pipeline=f"dict:{matching}").results
        assert result.score == pytest.approx(plain.score, rel=1e-3)


def test_a_dictionary_finds_documents_by_translated_words(collection):
    assert search_ids(collection, "dict") == ["banque", "rive"]
    assert search_ids(collection, "table", "river") == ["rivière"]


def test_matching_rules_weigh_alternatives_of_a_word_differently(collection):
    # One document has the likelier translation of bank twice, the other both of them, once each.
    assert search_ids(collection, "dict:psq") == ["banque", "rive"]
    assert search_ids(collection, "dict:each") == ["rive", "banque"]
    (first, second) = collection.search("bank", lang="en", to=["fr"], pipeline="dict:synonyms").results
    assert first.score == pytest.approx(second.score, rel=0.01)  # two occurrences of one word, to either


def test_nested_requires_every_word_to_match(collection):
    assert search_ids(collection, "dict", "river money") == ["banque", "rive"]
    assert search_ids(collection, "dict:nested", "river money") == []
    assert search_ids(collection, "dict:nested", "bank river") == ["rive"]


def test_best_and_random_use_a_single_translation(collection):
    assert search_ids(collection, "dict:best,nested", "bank river") == ["rive"]  # banque and fleuve are both there
    assert {tuple(search_ids(collection, f"dict:random,seed={seed}")) for seed in range(8)} == {
        ("banque", "rive"),
        ("rive",),
    }
    assert search_ids(collection, "dict:top=1") == search_ids(collection, "dict:best")


def test_fields_have_weights_and_can_be_searched_alone(collection):
    # money: in the title and twice in the text of one document
    assert search_ids(collection, "dict:title", "river") == ["rive"]
    assert search_ids(collection, "dict:title", "bank") == []
    assert search_ids(collection, "dict:title=0", "money") == ["banque"]
    assert search_ids(collection, "bm25:text", "Jeux") == []
    assert search_ids(collection, "bm25:title", "Jeux") == ["Tokyo"]
    assert search_ids(collection, "bm25:title=0.5,text=2", "Jeux 1964") == ["Tokyo"]


def test_weights_of_fields_move_documents(collection):
    assert search_ids(collection, "bm25:title=9", "sable eau", lang="fr")[0] == "rivière"
    assert search_ids(collection, "bm25:title=0.1", "sable eau", lang="fr")[0] == "rive"


def test_an_encoder_finds_documents_by_meaning(tmp_path, collection):
    with Collection.create(str(tmp_path / "c"), models=[str(collection.location).removesuffix("/c") + "/cr5"]) as small:
        small.index([d for d in demo.documents() if d.id in ("volcano.fr", "bread.fr", "honey-bee.fr")])
        for pipeline in ("cr5", "cr5:csls", "cr5:exact", "cr5:words,top=2", "cr5:words,csls"):
            assert search_ids(small, pipeline, "lava of a volcano")[0] == "volcano.fr"


def test_plus_fuses_searchers_with_their_weights(collection):
    assert search_ids(collection, "dict+table", "river") == ["rive", "rivière"]
    assert search_ids(collection, "9*dict+table", "river")[0] == "rive"
    assert search_ids(collection, "dict+9*table", "river")[0] == "rivière"
    assert search_ids(collection, "0*dict+table", "river")[0] == "rivière"


@pytest.mark.parametrize("fusion", ["rrf", "sum", "minmax", "rrf:constant=1", "sum:depth=5"])
def test_fusions_by_name(collection, fusion):
    assert search_ids(collection, f"{fusion}(9*dict+table)", "river")[0] == "rive"
    assert search_ids(collection, f"{fusion}(dict+9*table)", "river")[0] == "rivière"


def test_rerankers_can_be_chained_and_given_a_depth(collection):
    assert search_ids(collection, "dict>shortest") == ["banque", "rive"]
    assert search_ids(collection, "dict>longest") == ["rive", "banque"]
    assert search_ids(collection, "dict>longest>shortest") == ["banque", "rive"]
    assert search_ids(collection, "dict>longest:depth=1") == ["banque", "rive"]  # only the first is looked at


def test_parentheses_limit_what_is_reranked(collection):
    assert search_ids(collection, "(dict>longest)+0*table", "bank") == ["rive", "banque"]


def test_mix_puts_translations_of_several_translators_into_one_clause(collection):
    # one clause: fleuve or rivière; as two parts a document is found by one of them only
    assert sorted(search_ids(collection, "mix(dict+table)", "river")) == ["rive", "rivière"]
    assert search_ids(collection, "mix:psq(9*dict+table)", "river")[0] == "rive"
    assert search_ids(collection, "mix:psq(dict+9*table)", "river")[0] == "rivière"
    assert search_ids(collection, "mix:nested(dict+table)", "river money") == []


def test_feedback_before_translation_learns_from_documents_in_the_querys_language(collection):
    # The dictionary does not know the word; the English document that has it speaks of a bank and of money.
    assert search_ids(collection, "dict", "lends") == []
    assert "banque" in search_ids(collection, "feedback|dict", "lends")


def test_feedback_after_translation_learns_from_the_first_results(collection):
    assert search_ids(collection, "dict", "money") == ["banque"]
    assert search_ids(collection, "dict|feedback", "money") == ["banque", "rive"]  # learns "banque", which both have
    assert search_ids(collection, "dict|feedback:beta=0", "money") == ["banque"]


def test_feedback_on_both_sides_and_alone(collection):
    assert "rive" in search_ids(collection, "feedback|dict|feedback", "lends")
    assert search_ids(collection, "bm25|feedback", "argent", lang="fr") == ["banque", "rive"]
    assert search_ids(collection, "feedback|bm25", "argent", lang="fr") == ["banque", "rive"]


def test_neighbours_of_a_word_expand_before_translation(collection):
    text = collection.explain("volcano", lang="en", to=["fr"], pipeline="cr5:words,top=2|dict")
    assert "first: EmbeddingTranslator(top=2" in text


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
        assert search_ids(small, None, "Tokyo") == [
            "Tokyo"
        ]  # parallel texts are no part of what is searched by default
        assert small.info()["options"]["a|pairs"] == ["one"]
        with pytest.raises(LineSyntaxError, match="pairs chooses among translations: put it behind a translator"):
            search_ids(small, "pairs|dict")
        with pytest.raises(LineSyntaxError, match="pairs has no option 'two'; it has one"):
            search_ids(small, "dict|pairs:two")


def test_a_translated_query_can_be_passed_to_an_encoder_or_a_group(collection):
    assert search_ids(collection, "dict|bm25", "river") == ["rive"]
    assert search_ids(collection, "dict|(bm25+cr5)", "river")[0] == "rive"
    assert search_ids(collection, "dict|rrf(bm25+cr5)", "river")[0] == "rive"


def test_weights_of_a_fusion_are_printed(collection):
    assert "weights=[1.0, 2.0]" in collection.explain(lang="en", to=["fr"], pipeline="rrf(dict+2*table)")
    assert "weights=[1.0, 2.0]" in collection.explain(lang="en", to=["fr"], pipeline="mix(dict+2*table)")


def test_languages_are_merged(collection):
    assert set(search_ids(collection, "dict", "river", to=None)) == {"rive", "river-en"}


def test_machine_translation_needs_an_engine(collection):
    with pytest.raises(LineSyntaxError, match="no translation engine"):
        search_ids(collection, "mt")
    with pytest.raises(LineSyntaxError, match="mt has no option 'elsewhere'"):
        search_ids(collection, "mt:elsewhere")


@pytest.mark.parametrize(
    ("pipeline", "at", "message"),
    [
        ("bm25+nonsense", 5, "no 'nonsense' in this collection to search with; it has bm25, cr5, default, dict, table"),
        ("bm25>knrm", 5, "no reranker 'knrm' in this collection; it has longest, shortest"),
        ("bm25>longest:depth=0", 13, "depth=0: expected a whole number from 1 up"),
        ("bm25:titel=2", 5, "bm25 has no option 'titel'; it has title=WEIGHT, text=WEIGHT"),
        ("bm25:title=two", 5, "title=two: expected a number from 0 up"),
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
