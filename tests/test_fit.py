"""What the fit beside a document says: surer of what matches and stands out, and silent where nothing does."""

import pytest

from paragloss import demo
from paragloss.collection import Collection, calibration
from paragloss.types import Document, Query


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with Collection.create(str(tmp_path_factory.mktemp("fit") / "c")) as made:
        made.index(demo.documents())
        yield made


@pytest.mark.parametrize("documents", [5, 1000, 1_000_000])
def test_more_evidence_and_standing_out_further_never_make_less_of_a_fit(documents):
    steps = [i / 20 for i in range(21)]
    shares = [calibration.fit((share, 0.0), 1.0, documents) for share in steps]
    out = [calibration.fit((0.5, beyond - 0.5), 1.0, documents) for beyond in steps]
    for fits in (shares, out):
        assert fits == sorted(fits)
        assert fits[0] < fits[-1]
        assert all(0 <= fit <= 1 for fit in fits)


def test_what_is_asked_for_is_told_from_what_is_not(engine):
    for document in [document for document in demo.documents() if document.lang == "fr"][:6]:
        first, *rest = engine.search(document.title, lang="fr", to=["fr"], k=5).results
        assert first.id == document.id
        assert first.fit > 0.5
        assert all(result.fit < first.fit for result in rest)


def test_over_many_languages_a_fit_is_not_the_merged_score(engine):
    """Scores of a merged list are tiny: beliefs of a language sum to one."""
    first = engine.search("volcano and lava", lang="en", k=3).results[0]
    assert first.id.startswith("volcano")
    assert first.fit > 0.5


def test_gibberish_finds_nothing_and_says_what_was_searched_for(engine):
    """Names that sound a little like it are found, and are no answer."""
    assert engine.rank([Query("q", "asdf qwer zxcv", "en")], k=5)[0]
    answer = engine.search("asdf qwer zxcv", lang="en")
    assert not answer.results
    assert answer.searched["de"] == "asdf qwer zxcv"
    assert answer.as_json()["query"]["searched"] == dict(answer.searched)


def test_where_nothing_was_found_the_words_are_told_in_each_language(engine):
    answer = engine.search("water", lang="en", to=["de"], where={"meta.path": ["no such file"]})
    assert not answer.results
    assert answer.searched == {"de": "Wasser"}
    assert not engine.search("volcano", lang="en", to=["de"]).searched


def test_documents_that_are_all_alike_are_found_though_none_stands_out(tmp_path):
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.index([Document(f"new{i}", "a quokka smiles", "en") for i in range(60)])
        assert len(engine.search("quokka", lang="en", k=5).results) == 5
