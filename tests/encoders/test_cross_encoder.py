"""Cross-encoders from a folder: tiny ones made here, in the engine."""

import numpy as np
import pytest
from tiny_models import WORDS, write_onnx

from paragloss.collection import Collection, load
from paragloss.encoders.cross_encoder import CrossEncoder, is_cross_encoder
from paragloss.errors import ModelError
from paragloss.types import Document, Query


def write_model(folder, outputs=1):
    """Write a model that scores a pair by how often "honey" stands in it, which can be checked by counting."""
    table = np.zeros((len(WORDS), outputs), np.float32)
    table[WORDS.index("honey"), -1] = 1.0
    return write_onnx(folder, table, sum_tokens=True, architectures=["XLMRobertaForSequenceClassification"])


@pytest.mark.parametrize("outputs", [1, 2])
def test_it_reads_query_and_document_together(tmp_path, outputs):
    model = CrossEncoder(write_model(tmp_path / "tiny", outputs))
    documents = [Document("a", "honey honey", "en", "bee"), Document("b", "lava", "fr"), Document("c", "", "en")]
    assert model.score(Query("", "honey", "en"), documents).tolist() == [3.0, 1.0, 1.0]  # the query's own counts too
    assert model.score(Query("", "ship", "en"), []).shape == (0,)


def test_a_long_document_counts_as_its_best_passage(tmp_path):
    model = CrossEncoder(write_model(tmp_path / "tiny"))
    text = "ship " * 200 + "\n" + "honey " * 30
    assert model.score(Query("", "bee", "en"), [Document("a", text, "en")])[0] == 30.0


def test_it_reranks_what_a_pipeline_finds(tmp_path):
    path = write_model(tmp_path / "judge")
    assert is_cross_encoder(path)
    with Collection.create(str(tmp_path / "library"), models=[path]) as collection:
        collection.index([Document("a", "bee bee bee", "en"), Document("b", "bee honey honey", "en")])
    with Collection.open(str(tmp_path / "library")) as collection:
        for pipeline, expected in (("bm25", ["a", "b"]), ("bm25>judge", ["b", "a"])):
            (ranking,) = collection.rank([Query("q", "bee", "en")], k=2, pipeline=pipeline)
            assert [hit.id for hit in ranking] == expected


def test_a_saved_cross_encoder_refers_to_its_folder(tmp_path):
    load(write_model(tmp_path / "tiny")).save(tmp_path / "saved")
    assert load(tmp_path / "saved").path == (tmp_path / "tiny").resolve()


def test_a_model_with_other_outputs_than_a_score_is_refused(tmp_path):
    model = CrossEncoder(write_model(tmp_path / "tiny", outputs=5))
    with pytest.raises(ModelError, match="a cross-encoder gives one score or two"):
        model.score(Query("", "bee", "en"), [Document("a", "honey", "en")])
