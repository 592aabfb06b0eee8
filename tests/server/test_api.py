"""The server over HTTP, as programs use it."""

import io
import json
import math
import subprocess
import sys
import threading

import pytest
from test_scans import BREAD, GERMAN, needs_tesseract, print_page

from paragloss import demo
from paragloss.collection import Collection
from paragloss.server import upload_routes
from paragloss.server.limits import DEFAULT

BEE = {"q": "how do bees make honey", "k": 3}


def search(client, **params):
    """The results of a search, of the one for bees if nothing else is given."""
    return client.get("/api/search", params={**BEE, **params}).json()["results"]


def test_a_search_answers_what_the_command_line_prints(serve, collection):
    with Collection.open(collection) as collection_in_use:
        expected = json.loads(json.dumps(collection_in_use.search("how do bees make honey", k=3).as_json()))
    assert serve().get("/api/search", params=BEE).json() == expected


@pytest.mark.parametrize("options", [{}, {"each_language": True}, {"sort": "date"}])
def test_a_search_explains_each_result_on_request(client, options):
    params = {**BEE, "lang": "en", **options}
    plain, explained = (client.get("/api/search", params={**params, **extra}).json() for extra in ({}, {"why": True}))
    assert len(explained["results"]) >= BEE["k"]
    for hit in explained["results"]:
        parts = hit.pop("why")
        log_odds = math.log(hit["score"] / (1 - hit["score"]))
        assert sum(part["score"] for part in parts) == pytest.approx(log_odds, rel=1e-4)
    assert explained == plain
    first = plain["results"][0]["id"]
    if not options:
        single = client.get("/api/why", params={**params, "id": first}).json()
        assert single["parts"] == client.get("/api/search", params={**params, "why": True}).json()["results"][0]["why"]


def test_search_takes_languages_filters_and_pipelines(client):
    results = search(client, lang="en", to="fr,hi")
    assert {hit["lang"] for hit in results} <= {"fr", "hi"}
    hits = search(client, q="honey and lava", where="meta.concept=volcano")
    assert {hit["meta"]["concept"] for hit in hits} == {"volcano"}
    assert search(client, pipeline="cr5")[0]["fit"] <= 1


def test_results_can_be_the_best_of_each_language(client):
    results = search(client, k=2, each_language=True)
    assert {hit["lang"] for hit in results} == {"ar", "da", "de", "en", "es", "fr", "hi", "it", "ru", "sw", "vi", "zh"}
    assert {hit["meta"]["concept"] for hit in results} == {"honey-bee"}


def test_counts_are_those_of_the_best_200(client):
    counted = client.get("/api/counts", params={"q": "how do bees make honey"}).json()
    assert counted["query"]["lang"] == "en"
    assert sum(counted["languages"].values()) == counted["of"] == 200


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/api/search?q=", 400, "empty"),
        ("/api/search", 422, "q"),
        ("/api/search?q=bee&lang=klingon", 400, "klingon"),
        ("/api/search?q=bee&k=1000", 422, "at most 200"),
        ("/api/search?q=bee&k=0", 422, "k"),
        ("/api/search?q=" + "x" * 1001, 422, "1,000"),
        ("/api/search?q=bee&pipeline=nothing", 400, "nothing"),
        ("/api/search?q=bee&where=year", 400, "FIELD=VALUE"),
        ("/api/search?q=bee&collection=other", 404, "library"),
        ("/api/documents/nobody", 404, "nobody"),
        ("/api/nothing", 404, "Not Found"),
    ],
)
def test_a_bad_request_is_answered_with_an_error_of_one_line(client, path, status, message):
    answer = client.get(path)
    assert answer.status_code == status
    assert message in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


def test_documents_are_added_changed_and_deleted(client):
    path = "/api/documents/kites/1"
    creation = client.put(path, json={"text": "En drage flyver i vinden.", "lang": "da", "meta": {"year": 1999}})
    assert creation.json()["documents"] == 721
    assert client.get(path).json()["meta"] == {"year": 1999}
    results = search(client, q="drage", lang="da", to="da", k=1)
    assert results[0]["id"] == "kites/1"
    assert client.patch(path, json={"title": "Drage"}).status_code == 200
    stored = client.get(path).json()
    assert (stored["title"], stored["text"]) == ("Drage", "En drage flyver i vinden.")
    assert client.delete(path).json() == {"deleted": 1, "documents": 720}
    assert client.delete(path).status_code == 404
    assert client.patch(path, json={"title": "x"}).status_code == 404


def test_a_corrected_language_stays_when_the_document_is_sent_again(client):
    file = {"file": ("boats.txt", b"The boats came back to the harbour before the evening.")}
    client.post("/api/files", files=file)
    assert client.get("/api/documents/boats.txt").json()["lang"] == "en"
    assert client.patch("/api/documents/boats.txt", json={"lang": "nl", "title": "Boten"}).status_code == 200
    client.post("/api/files", files={"file": ("boats.txt", b"The boats stayed in the harbour for the whole day.")})
    stored = client.get("/api/documents/boats.txt").json()
    assert (stored["lang"], "stayed" in stored["text"]) == ("nl", True)
    assert client.patch("/api/documents/boats.txt", json={"lang": ""}).status_code == 200
    assert client.get("/api/documents/boats.txt").json()["lang"] == "en"


def test_the_language_of_a_document_is_detected(client):
    client.post("/api/documents", json=[{"id": "x", "text": "Le facteur apporte une lettre à la maison du village."}])
    assert client.get("/api/documents/x").json()["lang"] == "fr"


def test_an_unknown_field_is_an_error(client):
    answer = client.put("/api/documents/x", json={"txt": "oops"})
    assert answer.status_code == 422


def test_bad_lines_of_a_stream_are_reported_and_the_others_indexed(client):
    lines = [
        b'{"id": "a", "lang": "da", "text": "En bi."}',
        b"nonsense",
        b"",
        b'{"id": "b", "lang": "xx", "text": "?"}',
        b'{"id": "c", "lang": "en", "text": "A kite."}',
        b"\xff\xfe",
        b'{"delete": "volcano.zh"}',
        b'{"id": "a", "lang": "da", "text": "To bier."}',
    ]
    report = client.post("/api/bulk", content=b"\n".join(lines)).json()
    assert (report["indexed"], report["deleted"], report["failed"], report["documents"]) == (3, 1, 3, 721)
    assert [error["line"] for error in report["errors"]] == [2, 4, 6]
    assert client.get("/api/documents/a").json()["text"] == "To bier."


def test_a_long_stream_is_read_in_pieces_and_a_long_line_refused(serve):
    client = serve(limits=DEFAULT._replace(line=2000))

    def stream():
        for number in range(700):
            yield b'{"id": "n%d", "lang": "en", "text": "kite %d"}\n' % (number, number)
        yield b'{"id": "long", "text": "' + b"x" * 3000 + b'"}\n'
        yield b'{"id": "last", "lang": "en", "text": "the end"}'

    report = client.post("/api/bulk", content=stream()).json()
    assert (report["indexed"], report["failed"], report["errors"][0]["line"]) == (701, 1, 701)


def upload(client, name, data, **form):
    answer = client.post("/api/files", files={"file": (name, data)}, data=form)
    return [json.loads(line) for line in answer.text.splitlines()]


def test_files_are_read_by_their_format(client):
    assert upload(client, "drage.da.md", b"# Drage\n\nEn drage flyver.\n")[-1]["documents"] == 721
    assert client.get("/api/documents/drage.da.md").json()["title"] == "Drage"
    rows = b"".join(b'{"id": "r%d", "lang": "en", "text": "kite"}\n' % n for n in range(450)) + b"bad\n"
    progress = upload(client, "rows.jsonl", rows)
    assert [line["indexed"] for line in progress] == [200, 400, 450, 450]
    assert progress[-1]["failed"] == 1
    assert "451" in progress[-1]["errors"][0]
    upload(client, "side.html", b"<html><title>T</title><body><p>La maison du facteur.</p></body></html>", lang="fr")
    assert client.get("/api/documents/side.html").json()["lang"] == "fr"


@needs_tesseract
def test_progress_through_the_pages_of_a_scan_is_reported(client, monkeypatch):
    pages, scan = [print_page(text, worse=False) for text in (GERMAN, BREAD)], io.BytesIO()
    pages[0].save(scan, "PDF", save_all=True, append_images=pages[1:], resolution=200)
    monkeypatch.setattr(upload_routes, "PROGRESS_INTERVAL", 0.05)
    progress = upload(client, "book.pdf", scan.getvalue())
    assert {"indexed": 0, "page": 1, "pages": 2} in progress
    assert progress[-1]["done"]


@pytest.mark.parametrize("name", ["../../etc/evil.txt", "..\\evil.txt", "/evil.txt"])
def test_a_file_s_name_can_not_lead_anywhere(client, name):
    assert upload(client, name, b"harmless words in a file")[-1]["done"]
    assert client.get("/api/documents/evil.txt").status_code == 200


def test_an_unreadable_upload_is_an_error_without_a_path_and_loses_nothing(client):
    for name, data in (("x.pdf", b"%PDF-1.7 broken"), ("x.bin", b"\x00\x01\x02"), ("x.docx", b"PK\x03\x04junk")):
        line = upload(client, name, data)[-1]
        assert line["error"].startswith(name)
        assert "/tmp" not in line["error"]
    assert client.get("/api/ready").json()["collections"] == {"library": 720}


def test_the_glossary_changes_the_next_search(client):
    client.put("/api/documents/d", json={"text": "En drage flyver over byen.", "lang": "da"})
    params = {"q": "wyvern", "lang": "en", "to": "da", "k": 1}
    assert search(client, **params) == []
    pairs = [{"lang": "en", "word": "wyvern", "to": "da", "meaning": "drage"}]
    assert client.put("/api/glossary", json={"pairs": pairs}).json() == {"pairs": pairs}
    assert search(client, **params)[0]["id"] == "d"
    assert client.get("/api/glossary").json() == {"pairs": pairs}
    bad = [{"lang": "en", "word": "a", "to": "en", "meaning": "b"}]
    assert client.put("/api/glossary", json={"pairs": bad}).status_code == 400
    assert client.get("/api/glossary").json() == {"pairs": pairs}


def test_collections_models_and_readiness_are_described(client):
    (library,) = client.get("/api/collections").json()["collections"]
    assert (library["name"], library["documents"], library["languages"]["hi"]) == ("library", 720, 60)
    assert library["pipelines"] == ["bm25", "cr5", "default", "table"]
    assert client.get("/api/models").json()["models"]["library"]["cr5"]["dimensions"] == 51 - 1
    assert client.get("/api/health").json()["status"] == "ok"


def test_metrics_count_requests_and_documents(client):
    client.get("/api/search", params=BEE)
    client.get("/api/search", params={"q": ""})
    client.put("/api/documents/x", json={"text": "words of a new document", "lang": "en"})
    text = client.get("/metrics").text
    assert 'paragloss_requests_total{method="GET",route="/api/search",status="200"} 1.0' in text
    assert 'paragloss_requests_total{method="GET",route="/api/search",status="400"} 1.0' in text
    assert 'paragloss_request_seconds_bucket{le="+Inf",route="/api/search"} 2.0' in text
    assert 'paragloss_documents_written_total{collection="library",kind="added"} 1.0' in text
    assert 'paragloss_documents{collection="library"} 721.0' in text
    assert "bees" not in text


def test_searches_are_answered_while_documents_are_added(client):
    rows = b"".join(
        b'{"id": "n%d", "lang": "en", "text": "kite number %d in the wind"}\n' % (n, n) for n in range(2000)
    )
    answers = []
    writing = threading.Thread(target=lambda: answers.append(client.post("/api/bulk", content=rows).json()))
    writing.start()
    during = 0
    while writing.is_alive():
        results = search(client)
        assert results[0]["meta"]["concept"] == "honey-bee"
        during += writing.is_alive()
    assert answers[0]["indexed"] == 2000
    assert during >= 3


def test_requests_that_are_too_large_or_too_many_are_refused(serve):
    client = serve(limits=DEFAULT._replace(body=1000, upload=2000, waiting=0))
    assert client.put("/api/documents/x", json={"text": "x" * 2000}).status_code == 413
    assert client.post("/api/documents", content=iter([b"[" + b" " * 900, b" " * 900])).status_code == 413
    assert client.post("/api/files", files={"file": ("x.txt", b"x" * 3000)}).status_code == 413
    busy = client.get("/api/search", params=BEE)
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")


def test_starting_a_server_imports_no_heavy_library():
    code = (
        "import sys, json, paragloss.cli, paragloss.server.application\n"
        "import paragloss.server.library, paragloss.server.run\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    heavy = {"scipy", "torch", "mcp", "matplotlib", "rich", "qdrant_client", "resiliparse", "onnxruntime", "tokenizers"}
    assert not heavy & set(loaded)


def test_a_search_from_the_command_line_needs_no_scipy(collection_without_models):
    code = (
        "import sys; from paragloss.cli import app\n"
        f"asked = ['search', '--in', {collection_without_models!r}, 'honey', '--lang', 'en', '--to', 'fr']\n"
        "app(asked, standalone_mode=False)\n"
        "assert not [name for name in sys.modules if name.startswith('scipy')]"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "Abeille" in run.stdout


@pytest.fixture
def collection_without_models(tmp_path):
    path = str(tmp_path / "plain")
    with Collection.create(path) as collection_in_use:
        collection_in_use.index(document for document in demo.documents() if document.lang == "fr")
    return path


def test_a_request_can_ask_for_the_words_as_typed(client):
    params = {"q": "volcanno erupts", "lang": "en"}
    assert client.get("/api/search", params=params).json()["query"]["suggestion"] == "volcano erupts"
    answer = client.get("/api/search", params={**params, "variants": "false"}).json()
    assert not answer["query"].get("suggestion")
