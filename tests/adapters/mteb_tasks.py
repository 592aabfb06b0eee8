"""Tasks for MTEB over the demonstration. Importing MTEB takes seconds, so tests import this when they run."""

import mteb
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata

from paragloss import demo
from paragloss.adapters.mteb import ParaglossEncoder


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


def evaluate_model(model, task):
    """Run one of the tasks, and return the scores of each of its parts."""
    evaluation = mteb.evaluate(ParaglossEncoder(model), task, cache=None, show_progress_bar=False, co2_tracker=False)
    return {row["hf_subset"]: row for row in evaluation.task_results[0].scores["test"]}
