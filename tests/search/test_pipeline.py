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


class Longest:
    """Likes long documents."""

    def score(self, query, documents):
        return np.array([len(d.text) for d in documents], np.float32)


class Shortest:
    def score(self, query, documents):
        return np.array([-len(d.text) for d in documents], np.float32)


def dictionary(path, *entries):
    Dictionary.build([Entry(*entry) for entry in entries], "en", "fr").save(path)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    place = tmp_path_factory.mktemp("pipelines")
    many = ("bank", "banque", "", 3.0), ("bank", "rive", "", 1.0), ("river", "fleuve"), ("money", "argent")
    dictionary(place / "dict", *many, ("interest", "rivière"))
    dictionary(place / "table", ("river", "rivière"), ("credit", "rivière"))
    train(cr5.fit, demo.concepts(), dim=40).save(place / "cr5")
    models = [str(place / name) for name in ("dict", "table", "cr5")]
    with Collection.create(str(place / "c"), models=models) as made:
        made.index(DOCUMENTS)
        made.state.models |= {"longest": Longest(), "shortest": Shortest()}
        yield made


def found(engine, pipeline, text="bank", **how):
    how = {"lang": "en", "to": ["fr"], "k": 6} | how
    return [result.id for result in engine.search(text, pipeline=pipeline, **how).results]


def test_words_as_they_stand(engine):
    assert found(engine, "bm25", "Tokyo 1964") == ["Tokyo"]
    assert found(engine, "bm25") == []


def test_words_as_they_stand_are_the_same_share_of_the_question_however_alternatives_count(engine):
    (plain,) = engine.search("Tokyo 1964", lang="en", to=["fr"], pipeline="bm25").results
    for how in ("psq", "each", "synonyms"):
        (result,) = engine.search("Tokyo 1964", lang="en", to=["fr"], pipeline=f"dict:{how}").results
        assert result.score == pytest.approx(plain.score, rel=1e-3)


def test_a_translator_finds_by_translated_words(engine):
    assert found(engine, "dict") == ["banque", "rive"]
    assert found(engine, "table", "river") == ["rivière"]


def test_how_alternatives_of_a_word_count(engine):
    # One document has the likelier translation of bank twice, the other both of them, once each.
    assert found(engine, "dict:psq") == ["banque", "rive"]
    assert found(engine, "dict:each") == ["rive", "banque"]
    (first, second) = engine.search("bank", lang="en", to=["fr"], pipeline="dict:synonyms").results
    assert first.score == pytest.approx(second.score, rel=0.01)  # two occurrences of one word, to either


def test_nested_wants_every_word_matched(engine):
    assert found(engine, "dict", "river money") == ["banque", "rive"]
    assert found(engine, "dict:nested", "river money") == []
    assert found(engine, "dict:nested", "bank river") == ["rive"]


def test_best_and_random_choose_one_translation(engine):
    assert found(engine, "dict:best,nested", "bank river") == ["rive"]  # banque and fleuve are both there
    assert {tuple(found(engine, f"dict:random,seed={seed}")) for seed in range(8)} == {("banque", "rive"), ("rive",)}
    assert found(engine, "dict:top=1") == found(engine, "dict:best")


def test_fields_have_weights_and_can_be_searched_alone(engine):
    # money: in the title and twice in the text of one document
    assert found(engine, "dict:title", "river") == ["rive"]
    assert found(engine, "dict:title", "bank") == []
    assert found(engine, "dict:title=0", "money") == ["banque"]
    assert found(engine, "bm25:text", "Jeux") == []
    assert found(engine, "bm25:title", "Jeux") == ["Tokyo"]
    assert found(engine, "bm25:title=0.5,text=2", "Jeux 1964") == ["Tokyo"]


def test_weights_of_fields_move_documents(engine):
    assert found(engine, "bm25:title=9", "sable eau", lang="fr")[0] == "rivière"
    assert found(engine, "bm25:title=0.1", "sable eau", lang="fr")[0] == "rive"


def test_an_encoder_finds_by_meaning(tmp_path, engine):
    with Collection.create(str(tmp_path / "c"), models=[str(engine.location).removesuffix("/c") + "/cr5"]) as small:
        small.index([d for d in demo.documents() if d.id in ("volcano.fr", "bread.fr", "honey-bee.fr")])
        for pipeline in ("cr5", "cr5:csls", "cr5:exact", "cr5:words,top=2", "cr5:words,csls"):
            assert found(small, pipeline, "lava of a volcano")[0] == "volcano.fr"


def test_plus_fuses_and_weights_say_how_far_each_is_trusted(engine):
    assert found(engine, "dict+table", "river") == ["rive", "rivière"]
    assert found(engine, "9*dict+table", "river")[0] == "rive"
    assert found(engine, "dict+9*table", "river")[0] == "rivière"
    assert found(engine, "0*dict+table", "river")[0] == "rivière"


@pytest.mark.parametrize("fusion", ["rrf", "sum", "minmax", "rrf:constant=1", "sum:depth=5"])
def test_fusions_by_name(engine, fusion):
    assert found(engine, f"{fusion}(9*dict+table)", "river")[0] == "rive"
    assert found(engine, f"{fusion}(dict+9*table)", "river")[0] == "rivière"


def test_rerankers_stand_in_a_row_with_depths(engine):
    assert found(engine, "dict>shortest") == ["banque", "rive"]
    assert found(engine, "dict>longest") == ["rive", "banque"]
    assert found(engine, "dict>longest>shortest") == ["banque", "rive"]
    assert found(engine, "dict>longest:depth=1") == ["banque", "rive"]  # only the first is looked at


def test_parentheses_say_what_is_reranked(engine):
    assert found(engine, "(dict>longest)+0*table", "bank") == ["rive", "banque"]


def test_mix_makes_one_clause_of_several_translators(engine):
    # one clause: fleuve or rivière; as two parts a document is found by one of them only
    assert sorted(found(engine, "mix(dict+table)", "river")) == ["rive", "rivière"]
    assert found(engine, "mix:psq(9*dict+table)", "river")[0] == "rive"
    assert found(engine, "mix:psq(dict+9*table)", "river")[0] == "rivière"
    assert found(engine, "mix:nested(dict+table)", "river money") == []


def test_feedback_before_translation_learns_from_documents_in_the_query_s_language(engine):
    # The dictionary does not know the word; the English document that has it speaks of a bank and of money.
    assert found(engine, "dict", "lends") == []
    assert "banque" in found(engine, "feedback|dict", "lends")


def test_feedback_after_translation_learns_from_what_was_found(engine):
    assert found(engine, "dict", "money") == ["banque"]
    assert found(engine, "dict|feedback", "money") == ["banque", "rive"]  # learns "banque", which both have
    assert found(engine, "dict|feedback:beta=0", "money") == ["banque"]


def test_feedback_on_both_sides_and_alone(engine):
    assert "rive" in found(engine, "feedback|dict|feedback", "lends")
    assert found(engine, "bm25|feedback", "argent", lang="fr") == ["banque", "rive"]
    assert found(engine, "feedback|bm25", "argent", lang="fr") == ["banque", "rive"]


def test_neighbours_of_a_word_expand_before_translation(engine):
    text = engine.explain("volcano", lang="en", to=["fr"], pipeline="cr5:words,top=2|dict")
    assert "first: EmbeddingTranslator(top=2" in text


def test_together_chooses_what_occurs_together(tmp_path):
    dictionary(tmp_path / "dict", ("bank", "banque", "", 3.0), ("bank", "rive"), ("river", "fleuve"))
    texts = [*["la rive du fleuve"] * 3, *["une banque de Paris"] * 9, *["la mer est bleue"] * 9]
    with Collection.create(str(tmp_path / "c"), models=[str(tmp_path / "dict")]) as small:
        small.index([Document(f"{i} {text}", text, "fr") for i, text in enumerate(texts)])
        assert "bank (1): banque 0.75, rive 0.25" in small.explain("bank river", lang="en", pipeline="dict")
        for pipeline in ("together", "together:window=4,documents=21", "together:window=2,by_length"):
            assert "bank (1): rive 1.00" in small.explain("bank river", lang="en", pipeline=f"dict|{pipeline}")
        # By length there are but two windows of twenty words, and chance alone would have rive and fleuve in both.
        told = small.explain("bank river", lang="en", pipeline="dict|together:by_length")
        assert "bank (1): banque 0.75, rive 0.25" in told
        for pipeline, number in (("dict", 12), ("dict|together", 3)):  # copies are ranked, though shown once
            query = Query("", "bank river", "en")
            assert len(small.rank([query], to=["fr"], k=20, pipeline=pipeline)[0]) == number


def test_parallel_texts_choose_what_is_meant(tmp_path):
    dictionary(tmp_path / "dict", ("bank", "banque", "", 3.0), ("bank", "rive"), ("boat", "bateau"), ("boat", "barque"))
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
        assert found(small, "dict|pairs", "boat bank") == ["rive"]
        assert found(small, "dict", "boat bank") == ["banque", "rive"]
        assert found(small, None, "Tokyo") == ["Tokyo"]  # parallel texts are no part of what is searched by default
        assert small.info()["options"]["a|pairs"] == ["one"]
        with pytest.raises(LineSyntaxError, match="pairs chooses among translations: put it behind a translator"):
            found(small, "pairs|dict")
        with pytest.raises(LineSyntaxError, match="pairs has no option 'two'; it has one"):
            found(small, "dict|pairs:two")


def test_a_translated_query_can_be_asked_of_an_encoder_or_of_a_group(engine):
    assert found(engine, "dict|bm25", "river") == ["rive"]
    assert found(engine, "dict|(bm25+cr5)", "river")[0] == "rive"
    assert found(engine, "dict|rrf(bm25+cr5)", "river")[0] == "rive"


def test_what_a_fusion_trusts_each_with(engine):
    assert "weights=[1.0, 2.0]" in engine.explain(lang="en", to=["fr"], pipeline="rrf(dict+2*table)")
    assert "weights=[1.0, 2.0]" in engine.explain(lang="en", to=["fr"], pipeline="mix(dict+2*table)")


def test_languages_are_merged(engine):
    assert set(found(engine, "dict", "river", to=None)) == {"rive", "river-en"}


def test_machine_translation_is_named_or_the_collection_s_own(engine):
    with pytest.raises(LineSyntaxError, match="no translation engine"):
        found(engine, "mt")
    with pytest.raises(LineSyntaxError, match="mt has no option 'elsewhere'"):
        found(engine, "mt:elsewhere")


@pytest.mark.parametrize(
    ("pipeline", "at", "message"),
    [
        ("bm25+nonsense", 5, "no 'nonsense' in this collection to search with; it has bm25, cr5, default, dict, table"),
        ("bm25>knrm", 5, "no reranker 'knrm' in this collection; it has longest, shortest"),
        ("bm25>longest:depth=0", 13, "depth=0: expected a whole number from 1 up"),
        ("bm25:titel=2", 5, "bm25 has no option 'titel'; it has title=WEIGHT, text=WEIGHT"),
        ("bm25:title=two", 5, "title=two: expected a number from 0 up"),
        ("dict:nestled", 5, "dict has no option 'nestled'; it has every|best|random, top=0"),
        ("dict:match=all", 5, "match=all: expected one of tempered, psq, synonyms, nested, each"),
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
def test_what_can_t_be_built_is_pointed_at(engine, pipeline, at, message):
    with pytest.raises(LineSyntaxError) as caught:
        found(engine, pipeline)
    assert caught.value.at == at, str(caught.value)
    assert message in str(caught.value)
    assert f"\n  {pipeline}\n  " in str(caught.value)


def test_a_pair_nobody_knows_is_said(engine):
    with pytest.raises(LanguageError, match="no dictionary for de->fr"):
        found(engine, "dict", "Bank", lang="de")


def test_through_a_third_language(engine, tmp_path):
    Dictionary.build([Entry("Fluss", "river")], "de", "en").save(tmp_path / "german")
    Dictionary.build([Entry("river", "fleuve")], "en", "fr").save(tmp_path / "onward")
    with Collection.create(str(tmp_path / "c"), models=[str(tmp_path / "german"), str(tmp_path / "onward")]) as small:
        small.index(DOCUMENTS)
        assert found(small, "german:to=en|onward", "Fluss", lang="de") == ["rive"]


def test_without_a_pipeline_the_default_search_uses_what_knows_the_language(engine):
    text = engine.explain(lang="en", to=["fr"])
    assert text.startswith("DefaultSearcher(targets=[fr]")
    assert "translator: CompoundTranslator" in text
    assert "encoder: " in text
    assert "encoder: " not in engine.explain(lang="fi", to=["fr"])  # cr5 does not know Finnish


def test_the_nested_searchers_are_printed_and_how_a_query_is_understood(engine):
    text = engine.explain("bank river", lang="en", to=["fr"], pipeline="dict:nested|feedback")
    assert text == (
        "Merged()\n"
        "  searchers: Translated(to='fr', called='dict')\n"
        "    searcher: Expanded(depth=10, terms=10, alpha=1.0, beta=0.3)\n"
        "      searcher: Nested(weights={title: 1, text: 1, headings: 0.5, strong: 0.1, url: 0.1}, number=200, "
        "proportional=True, name='terms')\n"
        "    translator: Dictionary()\n\n"
        "'bank river' [en], terms: bank, river\n"
        "Translated en->fr:\n"
        "  bank (1): banque 0.75, rive 0.25\n"
        "  river (1): fleuve 1.00"
    )


def test_info_says_what_can_be_said(engine):
    about = engine.info()
    assert engine.summary().items() <= about.items()
    assert about["fields"] == {"title": 6, "text": 6}
    assert {"bm25", "cr5", "dict", "mix(a+b)", "feedback|a", "a|feedback", "a>longest"} <= set(about["options"])
    assert "tempered|psq|synonyms|nested|each" in about["options"]["dict"]
    assert about["options"]["a>longest"] == ["depth=100"]


def test_expansion_does_not_weigh_as_much_as_the_query(engine):
    """The words that feedback adds count `beta` whatever the structure of the query."""
    for how in ("psq", "synonyms", "each"):
        asked, ranked = [Query("q", "money", "en")], {}
        for beta in (0.1, 1):
            ranked[beta] = engine.rank(asked, k=6, to=["fr"], pipeline=f"dict:{how}|feedback:beta={beta}")[0]
            assert [hit.id for hit in ranked[beta]] == ["banque", "rive"]
        assert ranked[0.1][1].score < 0.5 * ranked[1][1].score
