"""Warnings a reader gets: words nobody understood, documents in another language than they are said to be in."""

import warnings

import pytest

from paragloss import demo
from paragloss.collection import Collection, coverage
from paragloss.translation import default
from paragloss.types import Document


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("alarms") / "library")
    with Collection.create(path) as opened_collection, warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing of the demonstration is suspicious
        opened_collection.index(demo.documents())
    return path


def test_words_that_nobody_understood_are_named(collection):
    with Collection.open(collection) as opened_collection:
        answer = opened_collection.search("a whale called Qwrtzplk in 1851", lang="en", to=["zh", "hi"])
        assert answer.understood == coverage.QueryCoverage(4, ("Qwrtzplk",))
        assert str(answer.understood) == "1 of 4 words not understood: Qwrtzplk"
        assert answer.as_json()["query"]["unknown"] == ["Qwrtzplk"]
        assert str(opened_collection.search("whale", lang="en", to=["zh"]).understood) == ""


def test_a_name_that_documents_have_as_it_stands_is_understood_and_all_words_without_a_translator(collection, tmp_path):
    with Collection.create(str(tmp_path / "c")) as opened_collection:
        opened_collection.index([Document("1", "Das Zimmer gehört Qwrtzplk.", "de")])
        assert opened_collection.search("Qwrtzplk", lang="en").understood.unknown == ()
    with Collection.open(collection, default=False) as opened_collection:
        assert opened_collection.search("Qwrtzplk lava", lang="en").understood.unknown == ()


def test_documents_in_another_language_than_said_raise_a_warning(tmp_path):
    hindi = [d._replace(lang="en") for d in demo.documents() if d.lang == "hi"]
    with (
        Collection.create(str(tmp_path / "c")) as opened_collection,
        pytest.warns(UserWarning, match=r"words of documents in 'en' are unknown; they look like 'hi'"),
    ):
        opened_collection.index(hindi)


def test_info_tells_the_share_of_unknown_words(collection):
    with Collection.open(collection) as opened_collection:
        shares = opened_collection.info()["unknown words"]
    assert shares.keys() == {"ar", "da", "de", "en", "es", "fr", "hi", "it", "ru", "sw", "vi", "zh"}
    assert all(0 <= share < coverage.FOREIGN_SHARE for share in shares.values())


def test_a_language_the_model_does_not_speak_has_no_share():
    assert coverage.measure_unknown_share(["kia ora " * 100], "mi", default.open()) is None
