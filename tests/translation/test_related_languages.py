"""Languages without a table of their own are translated through a relative."""

import json

import pytest
from typer.testing import CliRunner

from paragloss.cli import app
from paragloss.collection import Collection
from paragloss.errors import LanguageError
from paragloss.translation import default
from paragloss.translation.language_support import describe_support
from paragloss.translation.related_languages import merge_clauses, respell
from paragloss.types import Alternative, Document, Query, Translation


@pytest.mark.parametrize(
    ("lang", "relative", "word", "spelling"),
    [
        ("af", "nl", "school", "skool"),
        ("af", "nl", "informatie", "informasie"),
        ("af", "nl", "tijd", "tyd"),
        ("af", "nl", "landen", "lande"),
        ("gl", "pt", "informação", "información"),
        ("gl", "pt", "filho", "fillo"),
        ("be", "ru", "вода", "вада"),
        ("mk", "bg", "информация", "информација"),
        ("sr", "hr", "vrijeme", "vreme"),
        ("bs", "hr", "vlada", "vlada"),
    ],
)
def test_a_word_of_a_relative_is_respelled_by_regular_changes(lang, relative, word, spelling):
    assert spelling in respell(word, relative, lang)


@pytest.mark.parametrize(
    ("lang", "word", "translation"),
    [("af", "school", "skool"), ("gl", "school", "escola"), ("sr", "water", "voda"), ("mk", "school", "училиште")],
)
def test_the_default_model_translates_into_a_language_through_its_relative(lang, word, translation):
    model, query = default.open(), Query("", word, "en")
    assert model.knows("en", lang)
    (clause,) = model.translate(query, lang)
    assert translation in [alternative.text for alternative in clause.alternatives]
    assert sum(alternative.weight for alternative in clause.alternatives) == pytest.approx(1)
    assert model.translate_many(query, [lang, "de"])[lang] == [clause]


def test_a_relative_that_does_not_know_a_word_does_not_count():
    unknown = Translation("x", (Alternative("x", 1.0),))
    translated = Translation("x", (Alternative("agua", 1.0),))
    (clause,) = merge_clauses({"pt": [unknown], "es": [translated]}, "gl")
    assert clause.alternatives == (Alternative("agua", 1.0),)


def test_a_language_without_relatives_is_refused():
    assert not default.open().knows("en", "lg")
    with pytest.raises(LanguageError, match="'lg'"):
        default.open().translate(Query("", "water", "en"), "lg")


def test_the_support_of_a_language_is_described_in_words():
    langs = default.open().langs
    kinds = [describe_support(lang, langs, has_encoder=True).partition(":")[0] for lang in ("de", "af", "ka", "lg")]
    assert kinds == ["full", "related", "encoder only", "names only"]
    assert describe_support("af", langs, has_encoder=True) == "related: through Dutch"
    assert describe_support("ka", langs, has_encoder=False).startswith("names only")


def test_info_lists_the_support_of_each_language(tmp_path):
    with Collection.create(str(tmp_path / "collection")) as collection:
        collection.index([Document("a", "Die skool is groot.", "af"), Document("b", "Die Schule ist groß.", "de")])
        support = collection.info()["support"]
        assert {lang: text.partition(":")[0] for lang, text in support.items()} == {"af": "related", "de": "full"}
        answer = collection.search("school", lang="en", to=["af"])
        assert [result.id for result in answer.results] == ["a"]


def test_the_command_info_says_that_luganda_and_tswana_are_found_by_names_only(tmp_path):
    texts = {"lg": "Omwana asoma ekitabo.", "tn": "Ngwana o bala buka kwa sekolong.", "de": "Das Kind liest ein Buch."}
    with Collection.create(str(tmp_path / "collection")) as collection:
        collection.index(Document(lang, text, lang) for lang, text in texts.items())
    runner, command = CliRunner(), ["info", str(tmp_path / "collection")]
    lines = [" ".join(line.split()) for line in runner.invoke(app, command).output.splitlines()]
    assert "German (de) full: a table of translations" in lines
    for language in ("Ganda (lg)", "Tswana (tn)"):
        assert f"{language} names only: words that are the same in both languages" in lines
    described = json.loads(runner.invoke(app, [*command, "--json"]).output)
    assert list(described["support"]) == ["de", "lg", "tn"]
