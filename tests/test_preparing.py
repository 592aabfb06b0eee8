"""What documents need before they are written: prepared together, they get what each would get by itself."""

from __future__ import annotations

import numpy as np

from paragloss.bm25 import Layout
from paragloss.collection import Collection, embeddings, preparation, train, writer
from paragloss.collection.backfill import EncodingTask, PassageCache
from paragloss.index.terms import TermIndex
from paragloss.lab.methods import cr5
from paragloss.statistics import DRIFT
from paragloss.types import Concept, Document


def test_documents_prepared_together_get_the_vectors_that_each_gets_by_itself_or_zeros():
    texts = [{"en": f"rain falls on town {i}", "de": f"Regen fällt auf Stadt {i}"} for i in range(30)]
    model = train(cr5.fit, [Concept(str(i), by_lang) for i, by_lang in enumerate(texts)], dim=8)
    documents = [
        Document("a", "Rain falls on the towns.", "en", "Rains"),
        Document("b", "Regen und Städte", "de"),
        Document("c", "", "en", "Rain"),
        Document("d", "Дождь", "ru"),
    ]
    [(_, _, dense)] = preparation.prepare_batches([documents], Layout(("title", "text")), {"cr5": model}, None)
    for document, row in zip(documents[:3], dense["cr5"], strict=False):
        np.testing.assert_allclose(row, embeddings.encode_rows(model, [document])[0], atol=1e-6)
        assert row.any()
    assert not dense["cr5"][3].any()


def test_a_passage_that_several_documents_have_is_encoded_once_and_each_gets_its_vector():
    document, shared = Document("a", "", "en"), frozenset({"licence"})
    tasks = [
        EncodingTask(document, "title 1", ["licence", "own 1"], shared),
        EncodingTask(document, "title 2", ["own 2", "licence"], shared),
    ]
    cache, encoded = PassageCache(), []
    for task in tasks:
        texts = cache.list_texts([task])
        encoded.append(texts)
        [encoded_task] = cache.assign_rows([task], [f"vector of {text}" for text in texts])
        assert encoded_task.title == f"vector of {task.title}"
        assert encoded_task.passages == [f"vector of {passage}" for passage in task.passages]
    assert encoded == [["title 1", "licence", "own 1"], ["title 2", "own 2"]]


def test_weights_are_exact_where_that_costs_little():
    for total, new_count in ((20_000, 1), (90_000, 5_000), (100_000, 90_000)):
        assert writer._choose_tolerance(total, new_count) == 0
    assert writer._choose_tolerance(200_000, 150_000) == 0.01  # many, most of them new
    assert writer._choose_tolerance(200_000, 100) == DRIFT  # many, few of them new


def test_weights_are_made_anew_once_though_documents_become_longer(tmp_path, monkeypatch):
    documents = [Document(str(i), "rain " * (20 + i // 10), "en") for i in range(60)]  # a tenth in the end
    passes, rewrite = [], TermIndex._rewrite_weights
    monkeypatch.setattr(writer, "BATCH_SIZE", 10)
    monkeypatch.setattr(TermIndex, "_rewrite_weights", lambda self, lang: (passes.append(lang), rewrite(self, lang)))
    with Collection.create(str(tmp_path / "new"), meaning=False, default=False) as engine:
        engine.index(documents)
        assert passes == ["en"]
        assert not engine.state.index.statistics.find_stale_languages(0.0)
