"""Files of a folder as the server finds them: by kind, folder, year, day of adding; counted, sorted, opened, fed."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from json import loads
from xml.etree import ElementTree

import pytest
from json_servers import run_shouting_engine
from starlette.testclient import TestClient
from typer.testing import CliRunner

from paragloss.cli import app
from paragloss.collection import Collection
from paragloss.server.application import build_application
from paragloss.server.keys import Keys
from paragloss.server.library import Library
from paragloss.types import Document

BEES = "The bees make honey in their hive all summer long, and the keeper takes some of it."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of files, indexed, with a translation engine that shouts."""
    root = tmp_path_factory.mktemp("files")
    year = {"2021": datetime(2021, 5, 4).timestamp(), "2024": datetime(2024, 7, 8).timestamp()}
    for name, text, written_in in (
        ("notes/bees.txt", f"{BEES} A note.", "2021"),
        ("notes/hive.md", f"# The hive\n\n{BEES}\n\n- wax\n- honey\n\nThe end.", "2024"),
        ("pages/honey.html", f"<html lang=en><title>Honey</title><body><p>{BEES}</p></body></html>", "2024"),
        ("pages/secret.env", "KEY=1", "2024"),
    ):
        path = root / "shelf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (year[written_in], year[written_in]))

    with run_shouting_engine() as engine:
        with Collection.create(str(root / "c"), machine=engine, meaning=False) as collection:
            collection.index_files([str(root / "shelf")])
            meta = {"shelf": "A", "path": "/etc/passwd", "year": 1999}
            collection.index([Document("mine", f"{BEES} Mine.", "en", meta=meta)])
        yield root


@pytest.fixture
def collection(folder) -> str:
    """What `serve` serves."""
    return str(folder / "c")


def search_ids(client, *where, **params):
    answer = client.get("/api/search", params={"q": "bees make honey", "lang": "en", "where": where, **params})
    return [result["id"] for result in answer.json()["results"]]


def test_kind_folder_year_and_day_of_adding_are_filters_and_counted(client):
    assert set(search_ids(client)) == {"notes/bees.txt", "notes/hive.md", "pages/honey.html", "mine"}
    assert search_ids(client, "kind=md") == ["notes/hive.md"]
    assert set(search_ids(client, "folder=notes")) == {"notes/bees.txt", "notes/hive.md"}
    assert set(search_ids(client, "dated>=2024-01-01", "dated<2025-01-01")) == {"notes/hive.md", "pages/honey.html"}
    hour = timedelta(hours=1)
    current_time = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
    assert len(search_ids(client, f"added>={(current_time - hour).isoformat()}")) == 4
    assert search_ids(client, f"added>={(current_time + hour).isoformat()}") == []
    fields = client.get("/api/counts", params={"q": "bees make honey", "lang": "en"}).json()["fields"]
    assert fields["folder"] == {"notes": 2, "pages": 1}
    assert fields["dated"] == {"2024": 2, "2021": 1, "1999": 1}


def test_results_can_be_sorted_by_date(client):
    assert search_ids(client, sort="date")[2:] == ["notes/bees.txt", "mine"]


def test_a_file_is_opened_on_this_machine_only_and_from_indexed_folders_only(client, folder):
    page = client.get("/api/original", params={"id": "pages/honey.html"})
    assert BEES in page.text
    assert page.headers["content-security-policy"].startswith("sandbox")
    assert client.get("/api/original", params={"id": "mine"}).status_code == 404
    client.put("/api/documents/sly", json={"text": "bees", "meta": {"path": str(folder / "shelf/pages/secret.env")}})
    assert client.get("/api/original", params={"id": "sly"}).status_code == 404
    client.delete("/api/documents/sly")
    locked = build_application(Library.open([str(folder / "c")]), keys=Keys({"k" * 16: "write"}))
    with TestClient(
        locked, base_url="http://localhost", headers={"authorization": "Bearer " + "k" * 16}
    ) as locked_client:
        assert locked_client.get("/api/original", params={"id": "pages/honey.html"}).status_code == 404


def test_a_search_can_be_read_as_a_feed(client):
    answer = client.get("/api/feed", params={"q": "bees <make> honey", "lang": "en", "where": "kind=md"})
    assert answer.headers["content-type"].startswith("application/atom+xml")
    names = {"a": "http://www.w3.org/2005/Atom"}
    [entry] = ElementTree.fromstring(answer.content).findall("a:entry", names)
    assert entry.findtext("a:title", None, names) == "The hive"
    assert entry.findtext("a:updated", None, names) == "2024-07-08T00:00:00Z"
    assert "doc=notes%2Fhive.md" in entry.find("a:link", names).get("href")


def test_a_translation_engine_translates_a_text(client):
    [library] = client.get("/api/collections").json()["collections"]
    assert library["engine"].startswith("http://127.0.0.1")
    request = {"text": "La ruche.", "lang": "fr", "to": "en"}
    assert client.post("/api/translate", json=request).json() == {"text": "LA RUCHE."}


def test_items_of_lists_are_paragraphs(client):
    rows = client.get("/api/reading", params={"id": "notes/hive.md"}).json()["paragraphs"]
    assert [row["text"] for row in rows][2:] == ["• wax", "• honey", "The end."]


def test_an_upload_keeps_its_folder_and_reports_its_languages(client):
    files = {"file": ("bees.txt", b"Les abeilles vivent dans une ruche et font du miel pour l'hiver.")}
    answer = client.post("/api/files", files=files, data={"folder": "../notes/fr", "modified": "1620000000"})
    last = loads(answer.text.splitlines()[-1])
    assert (last["indexed"], last["langs"]) == (1, {"fr": 1})
    stored = client.get("/api/documents/notes/fr/bees.txt").json()
    assert (stored["meta"]["path"], stored["meta"]["modified"]) == ("notes/fr/bees.txt", "2021-05-03")
    client.delete("/api/documents/notes/fr/bees.txt")


def test_the_command_line_searches_documents_added_since_a_day(folder):
    for since, min_results in (("2000-01-01", 1), ("2999-01-01", 0)):
        run = CliRunner().invoke(
            app, ["search", "bees make honey", "--in", str(folder / "c"), "--lang", "en", "--since", since, "--json"]
        )
        assert (len(loads(run.stdout)["results"]) > 0) == (min_results > 0), run.output
