"""Nothing that arrives from elsewhere causes a request: addresses in collections, backups and models need consent."""

from __future__ import annotations

from pathlib import Path

import pytest
from json_servers import JsonServer

from paragloss import hosts
from paragloss.collection import Collection
from paragloss.collection.archive_file import backup, restore
from paragloss.collection.models import load_for_adding
from paragloss.collection.transfer import copy
from paragloss.encoders import pretrained
from paragloss.errors import ConsentError, InputError
from paragloss.types import Document

DOCUMENTS = [Document("bee", "the bee makes honey", "en"), Document("owl", "the owl sleeps", "en")]


def answer(body):
    """Speak both protocols that collections may name: encoders and translation engines."""
    if body is None:
        return [{"code": "en", "targets": ["fr"]}]
    if "input" not in body:
        return {"translatedText": body["q"]}
    vectors = [[float(text.count(letter)) + 1 for letter in "abc"] for text in body["input"]]
    return {"data": [{"index": i, "embedding": row} for i, row in enumerate(vectors)]}


@pytest.fixture
def recorder():
    with JsonServer(answer) as server:
        yield server


@pytest.fixture(autouse=True)
def new_user(tmp_path, monkeypatch):
    """Return a function that makes this process one of a user who has allowed nothing yet."""

    def become_new_user(name: str) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / name))
        monkeypatch.setenv(hosts.ALLOWED_HOSTS_VARIABLE, "")

    become_new_user("author")
    return become_new_user


@pytest.fixture
def collection_with_endpoint(tmp_path, recorder, new_user) -> str:
    """A collection whose author encodes with a server; the reader who got it has allowed nothing."""
    path = str(tmp_path / "collection")
    with Collection.create(path, models=[f"{recorder.address}/v1#letters"]) as collection:
        collection.index(DOCUMENTS)
    assert recorder.requests
    recorder.requests.clear()
    new_user("reader")
    return path


@pytest.mark.filterwarnings("ignore:searching without the model")
@pytest.mark.parametrize("arrival", ["as it is", "copied", "restored"])
def test_a_collection_that_names_a_server_is_searched_without_asking_it(
    collection_with_endpoint, recorder, tmp_path, arrival
):
    path = collection_with_endpoint
    if arrival == "restored":
        backup(path, str(tmp_path / "backup.tar"))
        path = str(tmp_path / "restored")
        restore(str(tmp_path / "backup.tar"), path)
    elif arrival == "copied":
        copy(path, str(tmp_path / "copied"))
        path = str(tmp_path / "copied")
    with Collection.open(path) as collection:
        assert [result.id for result in collection.search("honey", lang="en").results] == ["bee"]
        collection.add([Document("ant", "the ant carries honey", "en")])
        assert collection.state.hosts_awaiting_consent == (recorder.host,)
    assert recorder.requests == []


def test_a_host_is_asked_for_and_allowed_once_for_all_later_processes(collection_with_endpoint, recorder, monkeypatch):
    with pytest.warns(UserWarning, match=rf"--allow-host {recorder.host}"):
        Collection.open(collection_with_endpoint).close()
    hosts.allow_host(recorder.host)
    monkeypatch.setenv(hosts.ALLOWED_HOSTS_VARIABLE, "")  # what a later process inherits
    with Collection.open(collection_with_endpoint) as collection:
        collection.search("honey", lang="en")
        assert collection.state.hosts_awaiting_consent == ()
    assert recorder.requests


@pytest.mark.filterwarnings("ignore:searching without the model")
def test_a_host_allowed_while_a_collection_is_open_is_used_from_then_on(collection_with_endpoint, recorder):
    with Collection.open(collection_with_endpoint) as collection:
        hosts.allow_host(recorder.host)
        collection.state.load_models()
        collection.search("honey", lang="en")
        assert recorder.requests


def test_a_model_folder_from_elsewhere_asks_nobody(tmp_path, recorder, new_user):
    pretrained.open_encoder(pretrained.settings_for(recorder.address)).save(tmp_path / "model")
    recorder.requests.clear()
    new_user("reader")
    for load in (pretrained.load, load_for_adding):
        with pytest.raises(ConsentError, match=f"--allow-host {recorder.host}"):
            load(tmp_path / "model")
    assert recorder.requests == []


def test_a_translation_engine_from_elsewhere_is_not_asked(tmp_path, recorder, new_user):
    path = str(tmp_path / "collection")
    Collection.create(path, machine=recorder.address, translate_to="fr").close()
    recorder.requests.clear()
    new_user("reader")
    with Collection.open(path) as collection:
        with pytest.raises(ConsentError, match="translation engine"):
            collection.translate("the bee", lang="en", to="fr")
        with pytest.raises(ConsentError):
            collection.search("bee", lang="en", to=["en"], pipeline="mt > bm25")
        with pytest.raises(ConsentError):
            collection.add(DOCUMENTS)
        assert recorder.requests == []
        hosts.allow_host("127.0.0.1")  # every port of it
        assert collection.translate("the bee", lang="en", to="fr") == "the bee"


def test_a_key_is_sent_to_its_own_host_only(recorder, monkeypatch):
    monkeypatch.setenv("PARAGLOSS_EMBEDDINGS_KEY", f"api.example.org=theirs {recorder.host}=ours")
    pretrained.open_encoder(pretrained.settings_for(recorder.address))
    monkeypatch.setenv("PARAGLOSS_EMBEDDINGS_KEY", "api.example.org=theirs")
    pretrained.open_encoder(pretrained.settings_for(recorder.address))
    assert [request.key for request in recorder.requests] == ["Bearer ours", None]
    monkeypatch.setenv("PARAGLOSS_EMBEDDINGS_KEY", "secret")
    with pytest.raises(InputError, match="without its host"):
        pretrained.open_encoder(pretrained.settings_for(recorder.address))


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("http://Example.org/v1", "example.org"),
        ("https://example.org:443", "example.org"),
        ("https://example.org:8443/x#y", "example.org:8443"),
        ("http://user@[::1]:80/", "[::1]"),
        ("http://example.org:443", "example.org:443"),
    ],
)
def test_the_host_of_an_address_is_its_name_and_unusual_port(address, host):
    assert hosts.host_of(address) == host


@pytest.mark.parametrize("address", ["http://", "http://[", "http://host:99999999", "https:///path"])
def test_an_address_without_a_host_is_refused(address):
    with pytest.raises(InputError, match="names no host"):
        hosts.host_of(address)


@pytest.mark.parametrize(
    "host", ["", "http://example.org", "a b", "a/b", "user@host", "a,b", "a\0b", "\0", "a\x1b", "a\x7f", "\ud800"]
)
def test_only_a_host_can_be_allowed(host):
    with pytest.raises(InputError, match="is no host"):
        hosts.allow_host(host)


def test_allowed_hosts_are_kept_even_where_the_folder_can_not_be_written(tmp_path, monkeypatch):
    Path(tmp_path, "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    hosts.allow_host("example.org")
    assert hosts.is_host_allowed("https://example.org/v1")
