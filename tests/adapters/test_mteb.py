"""The encoder inside MTEB itself: tasks written here run through MTEB's own evaluation, and score what they should."""

import numpy as np
import pytest

from paragloss import demo
from paragloss.evaluation import evaluate, mean
from paragloss.lab.methods import cr5
from paragloss.ranking import rank_scores


@pytest.fixture
def tasks():
    pytest.importorskip("mteb", reason="mteb is not installed: its pytrec-eval-terrier is built from source here")
    import mteb_tasks

    return mteb_tasks


@pytest.fixture(scope="module")
def model():
    return cr5.fit(demo.concepts(), dim=30)


def test_retrieval_scores_of_mteb_equal_our_own_measures(model, tasks):
    mteb_scores = tasks.evaluate_model(model, tasks.Questions())
    queries, judged = demo.queries()
    queries = [query for query in queries if query.lang == "en"]
    for lang in ("fr", "da"):
        documents = [document for document in demo.documents() if document.lang == lang]
        rows = model.encode([document.text for document in documents], lang)
        ours = model.encode([query.text for query in queries], "en")
        cosines = (ours / np.linalg.norm(ours, axis=1, keepdims=True).clip(1e-9)) @ (
            rows / np.linalg.norm(rows, axis=1, keepdims=True)
        ).T
        ids = [document.id for document in documents]
        run = {query.id: rank_scores(row, ids, 10) for query, row in zip(queries, cosines, strict=True)}
        qrels = {query.id: {id: 1 for id in judged[query.id] if id in ids} for query in queries}
        expected = mean(evaluate(run, qrels, ["nDCG@10"]))["nDCG@10"]
        assert mteb_scores[lang]["main_score"] == pytest.approx(
            expected, abs=0.02
        )  # two questions of sixty may be misread
        assert mteb_scores[lang]["main_score"] > 0.6


def test_texts_are_read_in_the_languages_of_the_task(model, tasks):
    """One word says little of its language among the twelve the model knows; among two it is enough."""
    encoder = tasks.ParaglossEncoder(model)
    batch = [{"text": ["neige", "lava"]}]
    by_task = encoder.encode(batch, task_metadata=tasks.Questions.metadata, hf_subset="fr", hf_split="test")
    assert np.allclose(by_task[0], model.encode(["neige"], "fr")[0])
    by_option = tasks.ParaglossEncoder(model, lang="it").encode(batch)
    assert np.allclose(by_option[1], model.encode(["lava"], "it")[0])


def test_texts_without_letters_and_empty_batches_are_encoded(model, tasks):
    encoder = tasks.ParaglossEncoder(model)
    assert not encoder.encode([{"text": ["42", ""]}]).any()
    assert encoder.encode([]).shape == (0, 30)
    rows = model.encode(["A volcano throws out lava.", "Honey of bees"], "en")
    assert np.allclose(encoder.similarity_pairwise(rows, rows), 1, atol=1e-5)
    assert np.allclose(np.diag(encoder.similarity(rows, rows)), 1, atol=1e-5)
