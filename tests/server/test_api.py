"""The server over HTTP, as programs use it."""

import io
import json
import math
import subprocess
import sys
import threading

import pytest
from test_scans import BREAD, GERMAN, printed, tesseract

from paragloss import demo
from paragloss.collection import Collection
from paragloss.server import upload_routes
from paragloss.server.limits import DEFAULT

BEE = {"q": "how do bees make honey", "k": 3}


def test_search_answers_what_the_command_prints(serve, collection):
    with Collection.open(collection) as engine:
        expected = json.loads(json.dumps(engine.search("how do bees make honey", k=3).as_json()))
    assert serve().get("/api/search", params=BEE).json() == expected


@pytest.mark.parametrize("how", [{}, {"each_language": True}, {"sort": "date"}])
def test_a_search_says_why_of_each_document_where_it_is_asked(serve, how):
    client = serve()
    asked = {**BEE, "lang": "en", **how}
    plain, told = (client.get("/api/search", params={**asked, **more}).json() for more in ({}, {"why": True}))
    assert len(told["results"]) >= BEE["k"]
    for hit in told["results"]:
        parts = hit.pop("why")
        log_odds = math.log(hit["score"] / (1 - hit["score"]))
        assert sum(part["score"] for part in parts) == pytest.approx(log_odds, rel=1e-4)
    assert told == plain
    first = plain["results"][0]["id"]
    if not how:
        alone = client.get("/api/why", params={**asked, "id": first}).json()
        assert alone["parts"] == client.get("/api/search", params={**asked, "why": True}).json()["results"][0]["why"]


def test_search_takes_languages_filters_and_pipelines(serve):
    client = serve()
    found = client.get("/api/search", params={**BEE, "lang": "en", "to": "fr,hi"}).json()["results"]
    assert {hit["lang"] for hit in found} <= {"fr", "hi"}
    lava = {**BEE, "q": "honey and lava", "where": "meta.concept=volcano"}
    assert {hit["meta"]["concept"] for hit in client.get("/api/search", params=lava).json()["results"]} == {"volcano"}
    assert client.get("/api/search", params={**BEE, "pipeline": "cr5"}).json()["results"][0]["fit"] <= 1


def test_every_language_can_have_its_say(serve):
    found = serve().get("/api/search", params={**BEE, "k": 2, "each_language": True}).json()["results"]
    assert {hit["lang"] for hit in found} == {"ar", "da", "de", "en", "es", "fr", "hi", "it", "ru", "sw", "vi", "zh"}
    assert {hit["meta"]["concept"] for hit in found} == {"honey-bee"}


def test_languages_are_counted_among_the_best(serve):
    counted = serve().get("/api/counts", params={"q": "how do bees make honey"}).json()
    assert counted["query"]["lang"] == "en"
    assert sum(counted["languages"].values()) == counted["of"] == 200


@pytest.mark.parametrize(
    ("path", "status", "said"),
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
def test_what_can_not_be_used_is_said_in_one_line(serve, path, status, said):
    answer = serve().get(path)
    assert answer.status_code == status
    assert said in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


def test_documents_come_change_and_go(serve):
    client = serve()
    path = "/api/documents/kites/1"
    made = client.put(path, json={"text": "En drage flyver i vinden.", "lang": "da", "meta": {"year": 1999}})
    assert made.json()["documents"] == 721
    assert client.get(path).json()["meta"] == {"year": 1999}
    found = client.get("/api/search", params={"q": "drage", "lang": "da", "to": "da", "k": 1}).json()["results"]
    assert found[0]["id"] == "kites/1"
    assert client.patch(path, json={"title": "Drage"}).status_code == 200
    kept = client.get(path).json()
    assert (kept["title"], kept["text"]) == ("Drage", "En drage flyver i vinden.")
    assert client.delete(path).json() == {"deleted": 1, "documents": 720}
    assert client.delete(path).status_code == 404
    assert client.patch(path, json={"title": "x"}).status_code == 404


def test_a_document_without_a_language_gets_one(serve):
    client = serve()
    client.post("/api/documents", json=[{"id": "x", "text": "Le facteur apporte une lettre à la maison du village."}])
    assert client.get("/api/documents/x").json()["lang"] == "fr"


def test_a_key_that_is_not_known_is_an_error(serve):
    answer = serve().put("/api/documents/x", json={"txt": "oops"})
    assert answer.status_code == 422


def test_bad_lines_of_a_stream_cost_only_themselves(serve):
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
    client = serve()
    done = client.post("/api/bulk", content=b"\n".join(lines)).json()
    assert (done["indexed"], done["deleted"], done["failed"], done["documents"]) == (3, 1, 3, 721)
    assert [error["line"] for error in done["errors"]] == [2, 4, 6]
    assert client.get("/api/documents/a").json()["text"] == "To bier."


def test_a_long_stream_is_taken_in_pieces_and_a_long_line_is_not(serve):
    client = serve(limits=DEFAULT._replace(line=2000))

    def stream():
        for number in range(700):
            yield b'{"id": "n%d", "lang": "en", "text": "kite %d"}\n' % (number, number)
        yield b'{"id": "long", "text": "' + b"x" * 3000 + b'"}\n'
        yield b'{"id": "last", "lang": "en", "text": "the end"}'

    done = client.post("/api/bulk", content=stream()).json()
    assert (done["indexed"], done["failed"], done["errors"][0]["line"]) == (701, 1, 701)


def upload(client, name, data, **form):
    answer = client.post("/api/files", files={"file": (name, data)}, data=form)
    return [json.loads(line) for line in answer.text.splitlines()]


def test_files_are_read_by_their_format(serve):
    client = serve()
    assert upload(client, "drage.da.md", b"# Drage\n\nEn drage flyver.\n")[-1]["documents"] == 721
    assert client.get("/api/documents/drage.da.md").json()["title"] == "Drage"
    rows = b"".join(b'{"id": "r%d", "lang": "en", "text": "kite"}\n' % n for n in range(450)) + b"bad\n"
    told = upload(client, "rows.jsonl", rows)
    assert [line["indexed"] for line in told] == [200, 400, 450, 450]
    assert told[-1]["failed"] == 1
    assert "451" in told[-1]["errors"][0]
    upload(client, "side.html", b"<html><title>T</title><body><p>La maison du facteur.</p></body></html>", lang="fr")
    assert client.get("/api/documents/side.html").json()["lang"] == "fr"


@tesseract
def test_the_pages_of_a_scan_are_told_while_it_is_read(serve, monkeypatch):
    pages, scan = [printed(text, worse=False) for text in (GERMAN, BREAD)], io.BytesIO()
    pages[0].save(scan, "PDF", save_all=True, append_images=pages[1:], resolution=200)
    monkeypatch.setattr(upload_routes, "PROGRESS_INTERVAL", 0.05)
    told = upload(serve(), "book.pdf", scan.getvalue())
    assert {"indexed": 0, "page": 1, "pages": 2} in told
    assert told[-1]["done"]


@pytest.mark.parametrize("name", ["../../etc/evil.txt", "..\\evil.txt", "/evil.txt"])
def test_a_file_s_name_can_not_lead_anywhere(serve, name):
    client = serve()
    assert upload(client, name, b"harmless words in a file")[-1]["done"]
    assert client.get("/api/documents/evil.txt").status_code == 200


def test_a_file_that_can_not_be_read_is_said_and_loses_nothing(serve):
    client = serve()
    for name, data in (("x.pdf", b"%PDF-1.7 broken"), ("x.bin", b"\x00\x01\x02"), ("x.docx", b"PK\x03\x04junk")):
        line = upload(client, name, data)[-1]
        assert line["error"].startswith(name)
        assert "/tmp" not in line["error"]
    assert client.get("/api/ready").json()["collections"] == {"library": 720}


def test_the_glossary_counts_from_the_next_query_on(serve):
    client = serve()
    client.put("/api/documents/d", json={"text": "En drage flyver over byen.", "lang": "da"})
    ask = {"q": "wyvern", "lang": "en", "to": "da", "k": 1}
    assert client.get("/api/search", params=ask).json()["results"] == []
    pairs = [{"lang": "en", "word": "wyvern", "to": "da", "meaning": "drage"}]
    assert client.put("/api/glossary", json={"pairs": pairs}).json() == {"pairs": pairs}
    assert client.get("/api/search", params=ask).json()["results"][0]["id"] == "d"
    assert client.get("/api/glossary").json() == {"pairs": pairs}
    bad = [{"lang": "en", "word": "a", "to": "en", "meaning": "b"}]
    assert client.put("/api/glossary", json={"pairs": bad}).status_code == 400
    assert client.get("/api/glossary").json() == {"pairs": pairs}


def test_collections_models_and_readiness_are_told(serve):
    client = serve()
    (told,) = client.get("/api/collections").json()["collections"]
    assert (told["name"], told["documents"], told["languages"]["hi"]) == ("library", 720, 60)
    assert told["pipelines"] == ["bm25", "cr5", "default", "table"]
    assert client.get("/api/models").json()["models"]["library"]["cr5"]["dimensions"] == 51 - 1
    assert client.get("/api/health").json()["status"] == "ok"


def test_metrics_count_what_happened(serve):
    client = serve()
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


def test_searches_go_on_while_documents_are_added(serve):
    client = serve()
    rows = b"".join(
        b'{"id": "n%d", "lang": "en", "text": "kite number %d in the wind"}\n' % (n, n) for n in range(2000)
    )
    answers = []
    writing = threading.Thread(target=lambda: answers.append(client.post("/api/bulk", content=rows).json()))
    writing.start()
    during = 0
    while writing.is_alive():
        found = client.get("/api/search", params=BEE).json()["results"]
        assert found[0]["meta"]["concept"] == "honey-bee"
        during += writing.is_alive()
    assert answers[0]["indexed"] == 2000
    assert during >= 3


def test_too_much_at_once_is_refused_early(serve):
    client = serve(limits=DEFAULT._replace(body=1000, upload=2000, waiting=0))
    assert client.put("/api/documents/x", json={"text": "x" * 2000}).status_code == 413
    assert client.post("/api/documents", content=iter([b"[" + b" " * 900, b" " * 900])).status_code == 413
    assert client.post("/api/files", files={"file": ("x.txt", b"x" * 3000)}).status_code == 413
    busy = client.get("/api/search", params=BEE)
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")


def test_a_search_that_takes_too_long_is_given_up(serve):
    answer = serve(limits=DEFAULT._replace(seconds=0.0001)).get("/api/search", params=BEE)
    assert answer.status_code == 504


def test_a_server_that_starts_loads_nothing_it_may_not_need():
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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Abeille" in done.stdout


@pytest.fixture
def collection_without_models(tmp_path):
    path = str(tmp_path / "plain")
    with Collection.create(path) as engine:
        engine.index(document for document in demo.documents() if document.lang == "fr")
    return path
