import numpy as np
import pytest

from paragloss import demo
from paragloss.collection import Collection, load, train
from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.encoders.hubness import DocumentEncoder, QueryEncoder, encode_reference_titles
from paragloss.errors import InputError
from paragloss.lab.methods import cr5
from paragloss.ranking import csls_documents, csls_queries, neighbourhood
from paragloss.types import Concept
from paragloss.vocabulary import Vocabulary


def make_tiny_encoder():
    """Two languages of two words each; a text is one word, a vector one of two directions."""
    table = np.array([[1, 0], [0.6, 0.8]], np.float32)
    towers = {lang: Tower(Vocabulary(lang, ["sun", "rain"], [1, 1], 1, stem=False), table) for lang in ("en", "fr")}
    return BagEncoder(towers)


def test_vectors_with_hubness_equal_those_worked_out_by_hand():
    encoder = make_tiny_encoder()
    encoder.reference = {"en": np.array([[1, 0], [0, 1]], np.float32), "fr": np.zeros((0, 2), np.float32)}
    stored = DocumentEncoder(encoder).encode(["sun", "rain", "unknown"], "fr")
    # r(sun) = (1 + 0) / 2, r(rain) = (0.6 + 0.8) / 2, what is not known is nothing
    np.testing.assert_allclose(stored, [[1, 0, -0.25], [0.6, 0.8, -0.35], [0, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(
        QueryEncoder(encoder, csls=True).encode(["sun", "unknown"], "en"), [[1, 0, 1], [0, 0, 0]]
    )
    np.testing.assert_allclose(QueryEncoder(encoder, csls=False).encode(["sun"], "en"), [[1, 0, 0]])


def test_a_document_s_neighbours_are_of_other_languages():
    encoder = make_tiny_encoder()
    encoder.reference = {"en": np.array([[0, 1]], np.float32), "fr": np.array([[1, 0]], np.float32)}
    # By the French one r(sun) would be 1 and r(rain) .6; by both .5 and .7.
    np.testing.assert_allclose(DocumentEncoder(encoder).encode(["sun", "rain"], "fr")[:, 2], [0, -0.4], atol=1e-6)


def test_titles_are_the_reference_and_the_first_words_where_there_is_none():
    aligned = [Concept("a", {"en": "rain rain", "fr": "sun"}, {"en": "sun"})]
    rows = encode_reference_titles(make_tiny_encoder(), aligned)
    np.testing.assert_allclose(rows["en"], [[1, 0]])
    np.testing.assert_allclose(rows["fr"], [[1, 0]])


def test_the_index_ranks_by_csls_as_the_formula_does(tmp_path):
    model = train(cr5.fit, demo.concepts(), dim=30)
    model.save(tmp_path / "cr5")
    assert load(tmp_path / "cr5").reference.keys() == set(model.langs)
    french = [d for d in demo.documents() if d.lang == "fr"]
    query = "a storm over the sea"
    with Collection.create(str(tmp_path / "c"), models=[str(tmp_path / "cr5")]) as collection:
        collection.index(french)
        ids_by_pipeline = {
            name: [r.id for r in collection.search(query, lang="en", k=60, pipeline=name).results]
            for name in ("cr5", "cr5:csls")
        }
    documents = model.encode([f"{d.title}\n{d.text}" for d in french], "fr")
    other_rows = [rows for lang, rows in model.reference.items() if lang != "fr"]
    hubs = np.mean([neighbourhood(documents, rows) for rows in other_rows], axis=0)
    q = model.encode([query], "en")
    exact = {"cr5": q @ documents.T, "cr5:csls": csls_queries(q) @ csls_documents(documents, hubs).T}
    for name, scores in exact.items():
        assert ids_by_pipeline[name] == [french[i].id for i in np.argsort(-scores[0])]
    assert ids_by_pipeline["cr5"] != ids_by_pipeline["cr5:csls"]


def test_csls_without_a_reference_is_an_error(tmp_path):
    cr5.fit_space(demo.concepts(), dim=10).save(tmp_path / "cr5")
    with Collection.create(str(tmp_path / "c"), models=[str(tmp_path / "cr5")]) as collection:
        collection.index(demo.documents()[:7])
        with pytest.raises(InputError, match="no reference for CSLS"):
            collection.search("volcano", lang="en", pipeline="cr5:csls")
