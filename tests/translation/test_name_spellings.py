"""Names of persons in other scripts: the list that is part of the package, and what a search makes of it."""

import json

import pytest
from typer.testing import CliRunner

from paragloss import Collection, Document
from paragloss.cli import app
from paragloss.translation.name_alternatives import add_listed_spellings
from paragloss.translation.name_spellings import MAX_SPELLINGS, NameList, build_name_list, list_name_spellings
from paragloss.types import Alternative, Translation

NAMES = [["shinohara", "šinohara", "синохара", "篠原"], ["anna", "анна", "άννα"], ["anna", "hanna", "анна", "ганна"]]


def test_a_spelling_shared_by_more_names_is_likelier():
    names = build_name_list(NAMES)
    assert names.list_spellings("shinohara", ["Cyrl"]) == {"синохара": 1.0}
    assert names.list_spellings("篠原", ["Latn"]) == {"shinohara": 0.5, "šinohara": 0.5}
    assert names.list_spellings("anna", ["Cyrl"]) == {"анна": 0.75, "ганна": 0.25}  # (1 + 1/2) / 2, (1/2) / 2
    assert names.list_spellings("anna", ["Latn"]) == {"hanna": 1.0}  # not the word itself
    assert names.list_spellings("unknown", ["Latn"]) == {}


def test_a_saved_list_is_the_same(tmp_path):
    build_name_list(NAMES).save(tmp_path / "names")
    names = NameList.load(tmp_path / "names")
    for word in ("anna", "синохара", "άννα", "x"):
        assert names.list_spellings(word, ["Latn", "Grek"]) == build_name_list(NAMES).list_spellings(
            word, ["Latn", "Grek"]
        )


@pytest.mark.parametrize(
    ("word", "lang", "spelling"),
    [
        ("Shinohara", "ja", "篠原"),
        ("Schmidt", "he", "שמידט"),
        ("Smith", "el", "σμιθ"),
        ("Mohammed", "ar", "محمد"),
        ("Khrushchev", "de", "chruschtschow"),
        ("Меркель", "en", "merkel"),
    ],
)
def test_the_list_of_the_package_has_names_in_many_scripts(word, lang, spelling):
    spellings = dict(list_name_spellings(word, lang))
    assert spelling in spellings
    assert sum(spellings.values()) == pytest.approx(1.0)
    assert len(spellings) <= MAX_SPELLINGS


def add_spellings(word, *alternatives):
    """Return the clause of an English word in Russian with the spellings of the list."""
    clause = Translation(word, tuple(Alternative(text, weight) for text, weight in alternatives))
    return add_listed_spellings([clause], "en", "ru")[0].alternatives


def test_unknown_words_and_words_with_a_capital_get_the_spellings_of_the_list():
    unknown = add_spellings("merkel", ("merkel", 1.0))
    assert unknown[0] == Alternative("merkel", pytest.approx(0.4))
    assert {text for text, _, _ in unknown[1:]} == {"меркел", "меркель"}
    assert add_spellings("Rose", ("роза", 1.0))[0] == Alternative("роза", pytest.approx(0.7))
    assert add_spellings("rose", ("роза", 1.0)) == (Alternative("роза", 1.0),)


DOCUMENTS = [
    Document("shinohara", "篠原さんは昨日、東京で大臣に会った。", "ja"),
    Document("tanaka", "田中さんは来週、京都へ行く。", "ja"),
    Document("merkel", "Меркель приехала в город.", "ru"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    with Collection.create(str(tmp_path_factory.mktemp("names") / "library"), meaning=False) as collection:
        collection.index(DOCUMENTS)
        yield collection


def test_without_variants_names_are_searched_as_they_are_translated_or_typed(library):
    def find(text, **options):
        return [result.id for result in library.search(text, **options).results]

    assert find("Shinohara", lang="en") == ["shinohara"]  # in another script
    assert find("Shinohara", lang="en", variants=False) == []
    assert library.search("Shinoharra", lang="en", variants=False).suggestion == ""
    assert find("篠原", lang="ja", variants=False) == ["shinohara"]


def test_the_table_of_many_terms_can_do_without_variants(library):
    (with_variants,) = library.count_terms(["Shinohara"], lang="en")
    (as_typed,) = library.count_terms(["Shinohara"], lang="en", variants=False)
    assert (with_variants.documents, as_typed.documents) == (1, 0)


@pytest.mark.parametrize(("options", "ids"), [([], ["shinohara"]), (["--as-typed"], [])])
def test_the_command_line_searches_as_typed(library, options, ids):
    command = ["search", "Shinohara", "--lang", "en", "--in", library.location, "--json", *options]
    results = json.loads(CliRunner().invoke(app, command).output)["results"]
    assert [result["id"] for result in results] == ids
