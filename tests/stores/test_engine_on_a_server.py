"""The engine does not care where its collection is: the same searches on a server, models included."""

import os
import signal

from paragloss import Document
from paragloss.collection import Collection
from paragloss.collection.integrity import check_collection
from paragloss.stores import collection_exists


def test_a_new_collection_on_a_server_has_the_vectors_of_the_built_in_encoder(remote, tmp_path, monkeypatch):
    """Servers before 1.18 can't add a vector later: those of passages and titles are there from the start."""
    monkeypatch.setenv("PARAGLOSS_MEANING", "1")
    documents = [
        Document("bees", "Bienen sammeln Nektar und machen daraus Honig.", "de", "Bienen"),
        Document("rain", "La pluie tombe des nuages.", "fr", "La pluie"),
    ]
    scores = []
    for location in (str(tmp_path / "library"), remote):
        with Collection.create(location) as collection:
            collection.index(documents)
            results = collection.search("insects that make something sweet", lang="en").results
            scores.append([(result.id, round(result.score, 4)) for result in results])
    assert scores[0] == scores[1]
    assert scores[0][0][0] == "bees"


def test_a_corrected_language_stays_when_its_file_is_read_again(remote, tmp_path):
    page = tmp_path / "plage.html"
    page.write_text("<html lang=en><p>The sea was calm, and the boats came back before the evening.</html>")
    with Collection.create(remote, default=False, meaning=False) as collection:
        collection.index_files([str(page)])
        collection.correct_language("plage.html", "fr")
    page.write_text("<html lang=en><p>The wind had turned, and nobody went out to fish that day.</html>")
    with Collection.open(remote, default=False) as collection:
        assert collection.index_files([str(page)]).read == 1
        [document] = collection.get(["plage.html"])
        assert (document.lang, "fish" in document.text) == ("fr", True)


def test_a_creator_that_fails_deletes_an_empty_collection_of_its_own_and_nothing_else(remote):
    creator = Collection.create(remote, default=False, meaning=False)
    other = Collection.open_or_create(remote, default=False, meaning=False)
    other.maintenance.close_or_remove()  # as a command does that fails
    with Collection.open(remote) as writer:
        writer.maintenance.take_over_writing()
        writer.add([Document("kept", "some text", "en")])
    creator.maintenance.take_over_writing()
    creator.maintenance.close_or_remove()
    with Collection.open(remote) as collection:
        assert [document.id for document in collection.documents()] == ["kept"]
    empty = f"{remote}-empty"
    Collection.create(empty, default=False, meaning=False).maintenance.close_or_remove()
    assert not collection_exists(empty)


def test_what_the_next_writer_counts_again_is_no_damage(remote):
    """A writer that is killed between its documents and their statistics leaves documents that are not counted yet."""
    with Collection.create(remote, default=False, meaning=False) as collection:
        collection.index([Document("a", "rain on the hill", "en")])
    child = os.fork()
    if child == 0:
        collection = Collection.open(remote)
        store = collection.state.store
        add = store.add
        store.add = lambda records: (add(records), os.kill(os.getpid(), signal.SIGKILL))
        try:
            collection.add([Document("b", "snow on the hill", "en")])
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert check_collection(remote) == []
    with Collection.open(remote) as collection:
        collection.add([Document("c", "wind on the hill", "en")])
        assert collection.count() == 3
    assert check_collection(remote) == []
