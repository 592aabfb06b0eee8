"""Cross-encoders from a folder: tiny ones made here, in the engine."""

import json

import numpy as np
import pytest

from paragloss.collection import Collection, load
from paragloss.encoders.cross_encoder import CrossEncoder, is_cross_encoder
from paragloss.errors import ModelError
from paragloss.types import Document, Query

WORDS = ["[PAD]", "[UNK]", "bee", "honey", "lava", "ship"]


def write_model(folder, *, outputs=1):
    """Scores a pair by how often "honey" stands in it: a model that can be checked by counting."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    helper, proto = onnx.helper, onnx.TensorProto
    table = np.zeros((len(WORDS), outputs), np.float32)
    table[3, -1] = 1.0
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["each"]),
        helper.make_node("ReduceSum", ["each", "axis"], ["logits"], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("input_ids", proto.INT64, ["b", "t"])],
        [helper.make_tensor_value_info("logits", proto.FLOAT, ["b", outputs])],
        [onnx.numpy_helper.from_array(table, "table"), onnx.numpy_helper.from_array(np.array([1]), "axis")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    (folder / "config.json").write_text(json.dumps({"architectures": ["XLMRobertaForSequenceClassification"]}))
    return str(folder)


@pytest.mark.parametrize("outputs", [1, 2])
def test_it_reads_query_and_document_together(tmp_path, outputs):
    model = CrossEncoder(write_model(tmp_path / "tiny", outputs=outputs))
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
        assert [h.id for h in collection.rank([Query("q", "bee", "en")], k=2, pipeline="bm25")[0]] == ["a", "b"]
        assert [h.id for h in collection.rank([Query("q", "bee", "en")], k=2, pipeline="bm25>judge")[0]] == ["b", "a"]


def test_a_saved_cross_encoder_refers_to_its_folder(tmp_path):
    model = load(write_model(tmp_path / "tiny"))
    model.save(tmp_path / "saved")
    assert load(tmp_path / "saved").path == (tmp_path / "tiny").resolve()


def test_a_model_with_other_outputs_than_a_score_is_refused(tmp_path):
    with pytest.raises(ModelError, match="a cross-encoder gives one score or two"):
        CrossEncoder(write_model(tmp_path / "tiny", outputs=5)).score(
            Query("", "bee", "en"), [Document("a", "honey", "en")]
        )
