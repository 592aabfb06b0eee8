"""The encoder inside MTEB itself: tasks written here run through MTEB's own evaluation, and score what they should."""

import numpy as np
import pytest

mteb = pytest.importorskip("mteb", reason="mteb is not installed: its pytrec-eval-terrier is built from source here")

from mteb.abstasks.retrieval import AbsTaskRetrieval  # noqa: E402
from mteb.abstasks.sts import AbsTaskSTS  # noqa: E402
from mteb.abstasks.task_metadata import TaskMetadata  # noqa: E402

from paragloss import demo  # noqa: E402
from paragloss.adapters.mteb import ParaglossEncoder  # noqa: E402
from paragloss.evaluation import evaluate, mean  # noqa: E402
from paragloss.lab.methods import cr5  # noqa: E402
from paragloss.ranking import rank_scores  # noqa: E402


def describe_task(**about):
    return TaskMetadata(
        description="Sixty concepts in twelve languages.",
        dataset={"path": "paragloss/demo", "revision": "1"},
        eval_splits=["test"],
        date=("2026-01-01", "2026-01-02"),
        reference=None,
        domains=["Encyclopaedic"],
        task_subtypes=[],
        license="apache-2.0",
        annotations_creators="expert-annotated",
        dialect=[],
        sample_creation="created",
        bibtex_citation="",
        **about,
    )


class Questions(AbsTaskRetrieval):
    """Questions in English, answers in another language: a part of the task for each."""

    metadata = describe_task(
        name="ParaglossQuestions", type="Retrieval", category="t2t", modalities=["text"], main_score="ndcg_at_10",
        eval_langs={lang: ["eng-Latn", script] for lang, script in (("fr", "fra-Latn"), ("da", "dan-Latn"))},
    )  # fmt: skip

    def load_data(self, **_):
        queries, judged = demo.queries()
        self.queries, self.corpus, self.relevant_docs = {}, {}, {}
        for lang in self.hf_subsets:
            documents_by_id = {document.id: document for document in demo.documents() if document.lang == lang}
            self.corpus[lang] = {"test": {id: {"title": "", "text": page.text} for id, page in documents_by_id.items()}}
            self.queries[lang] = {"test": {query.id: query.text for query in queries if query.lang == "en"}}
            self.relevant_docs[lang] = {
                "test": {
                    id: {doc_id: 1 for doc_id in judged[id] if doc_id in documents_by_id}
                    for id in self.queries[lang]["test"]
                }
            }
        self.data_loaded = True


class TextSimilarity(AbsTaskSTS):
    """Pairs of texts, alike when they are on one concept."""

    metadata = describe_task(
        name="ParaglossLikeness", type="STS", category="t2t", modalities=["text"], main_score="cosine_spearman",
        eval_langs=["eng-Latn", "ita-Latn"],
    )  # fmt: skip
    min_score, max_score = 0, 1

    def load_data(self, **_):
        from datasets import Dataset

        concepts = demo.concepts()
        next_concepts = concepts[1:] + concepts[:1]
        rows = [{"sentence1": a.texts["en"], "sentence2": a.texts["it"], "score": 1.0} for a in concepts]
        rows += [
            {"sentence1": a.texts["en"], "sentence2": b.texts["it"], "score": 0.0}
            for a, b in zip(concepts, next_concepts, strict=True)
        ]
        self.dataset = {"test": Dataset.from_list(rows)}
        self.data_loaded = True


@pytest.fixture(scope="module")
def model():
    return cr5.fit(demo.concepts(), dim=30)


def evaluate_encoder(encoder, task):
    evaluation = mteb.evaluate(encoder, task, cache=None, show_progress_bar=False, co2_tracker=False)
    return {row["hf_subset"]: row for row in evaluation.task_results[0].scores["test"]}


def test_retrieval_scores_of_mteb_equal_our_own_measures(model):
    mteb_scores = evaluate_encoder(ParaglossEncoder(model), Questions())
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


def test_pairs_on_one_concept_are_similar_by_mteb(model):
    assert evaluate_encoder(ParaglossEncoder(model), TextSimilarity())["default"]["main_score"] > 0.8


def test_texts_are_read_in_the_languages_of_the_task(model):
    """One word says little of its language among the twelve the model knows; among two it is enough."""
    encoder = ParaglossEncoder(model)
    batch = [{"text": ["vulcano", "lava"]}]
    by_task = encoder.encode(batch, task_metadata=TextSimilarity.metadata, hf_subset="default", hf_split="test")
    assert np.allclose(by_task[0], model.encode(["vulcano"], "it")[0])
    by_option = ParaglossEncoder(model, lang="it").encode(batch)
    assert np.allclose(by_option[1], model.encode(["lava"], "it")[0])


def test_texts_without_letters_and_empty_batches_are_encoded(model):
    encoder = ParaglossEncoder(model)
    assert not encoder.encode([{"text": ["42", ""]}]).any()
    assert encoder.encode([]).shape == (0, 30)
    rows = model.encode(["A volcano throws out lava.", "Honey of bees"], "en")
    assert np.allclose(encoder.similarity_pairwise(rows, rows), 1, atol=1e-5)
    assert np.allclose(np.diag(encoder.similarity(rows, rows)), 1, atol=1e-5)
