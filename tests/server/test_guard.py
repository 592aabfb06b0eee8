"""Who may ask, from where, and what is written down about it."""

import json
import subprocess
import sys

import pytest
from serving_process import ServerProcess
from test_dockerfile import read_instructions

from paragloss import Collection, Document
from paragloss.errors import InputError
from paragloss.server.keys import Keys, is_loopback, require_keys

READ, WRITE = "r" * 20, "w" * 20
KEYS = Keys({READ: "read", WRITE: "write"})


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


def test_a_foreign_or_malformed_host_name_is_refused(client):
    foreign = ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "")
    malformed = ("localhost:8801@evil.com", "localhost:8801/evil.com", "localhost evil.com", "localhost:", "[::1")
    for host in (*foreign, *malformed):
        assert client.get("/api/health", headers={"host": host}).status_code == 421
    for host in ("localhost", "LOCALHOST:80", "127.0.0.1:8801", "[::1]:8801"):
        assert client.get("/api/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_another_site_cannot_read_unless_it_is_named_in_the_options(serve, site):
    client, named = serve(origins=["https://intranet.example"]), {"origin": "https://intranet.example"}
    for path in ("/api/search?q=lamp", "/api/collections", "/api/documents/owl.en", "/api/health", "/metrics"):
        assert client.get(path, headers={"sec-fetch-site": site}).status_code == 403
        assert client.get(path, headers={"sec-fetch-site": site, **named}).status_code == 200
        assert client.get(path, headers={"sec-fetch-site": "same-origin"}).status_code == 200
    assert client.get("/", headers={"sec-fetch-site": site}).status_code == 200  # somebody follows a link
    assert client.get("/api/health", headers=named).headers["access-control-allow-origin"] == named["origin"]
    other = client.get("/api/health", headers={"origin": "https://other.example"})
    assert "access-control-allow-origin" not in other.headers
    assert "access-control-allow-origin" not in serve().get("/api/health", headers=named).headers  # named nowhere


def test_a_page_of_another_site_cannot_write(client):
    document = {"text": "planted", "lang": "en"}
    no_addresses = ("null", "http://[", "http://[::1", "http://a[b]c", "//", "\x7f")
    origins = [{"origin": origin} for origin in ("https://evil.example", *no_addresses)]
    for headers in (*origins, {"sec-fetch-site": "cross-site"}):
        assert client.put("/api/documents/x", json=document, headers=headers).status_code == 403
    assert client.get("/api/documents/x").status_code == 404
    assert client.put("/api/documents/x", json=document, headers={"origin": "http://localhost"}).status_code == 200


def test_keys_allow_reading_or_writing(serve):
    client = serve(keys=KEYS, host="books.example", loopback=False)
    params = {"q": "volcano"}
    assert client.get("/api/health").status_code == 200
    assert client.get("/").status_code == 200
    missing = client.get("/api/search", params=params)
    assert (missing.status_code, missing.headers["www-authenticate"]) == (401, "Bearer")
    assert client.get("/api/search", params=params, headers=bearer("x" * 20)).status_code == 401
    for path in ("/api/collections", "/api/glossary", "/api/models", "/metrics", "/api/documents/owl.en"):
        assert client.get(path).status_code == 401
        assert client.get(path, headers=bearer(READ)).status_code == 200
    document = {"text": "words", "lang": "en"}
    assert client.put("/api/documents/x", json=document).status_code == 401
    assert client.put("/api/documents/x", json=document, headers=bearer(READ)).status_code == 403
    assert client.put("/api/documents/x", json=document, headers=bearer(WRITE)).status_code == 200
    for call in (client.post("/api/bulk", content=b""), client.post("/api/files", files={"file": ("a.txt", b"a")})):
        assert call.status_code == 401
    assert client.get("/api/collections", headers=bearer(READ)).json()["collections"][0]["writable"] is False
    assert client.get("/api/collections", headers=bearer(WRITE)).json()["collections"][0]["writable"] is True


def test_serving_other_machines_needs_keys():
    for host in ("0.0.0.0", "::", "192.168.1.4", "books.example"):
        with pytest.raises(InputError, match="--keys"):
            require_keys(host, Keys())
        require_keys(host, KEYS)
    for host in ("127.0.0.1", "localhost", "::1", "127.1.2.3"):
        require_keys(host, Keys())
    assert not is_loopback("localhost.evil.example")


@pytest.mark.parametrize(
    ("text", "message"),
    [("read short\n", "guessed"), ("admin " + READ, "line 1"), ("# none\n", "no key"), (f"read {READ} x", "line 1")],
)
def test_a_malformed_file_of_keys_is_refused(tmp_path, text, message):
    (tmp_path / "keys").write_text(text)
    with pytest.raises(InputError, match=message):
        Keys.read(tmp_path / "keys")


def test_a_file_of_keys_is_read(tmp_path):
    (tmp_path / "keys").write_text(f"# ours\nread {READ}  # the intranet\n\nwrite {WRITE}\n")
    keys = Keys.read(tmp_path / "keys")
    assert (keys.scope(READ), keys.scope(WRITE), keys.scope("")) == ("read", "write", None)


def test_answers_have_headers_that_protect_browsers(client):
    headers = client.get("/").headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_a_server_stops_cleanly_and_logs_no_query_text(process):
    import urllib.request

    with urllib.request.urlopen(f"{process.address}/api/search?q=secret+volcano&lang=en") as answer:
        assert json.load(answer)["results"]
    out, err = process.stop()
    assert process.process.returncode == 0
    assert f"{process.port}/" in out
    rows = [json.loads(line) for line in err.splitlines()]
    assert rows[0]["event"] == "serving"
    assert rows[-1]["event"] == "stopped"
    (search_row,) = [row for row in rows if row.get("path") == "/api/search"]
    assert (search_row["status"], search_row["method"]) == (200, "GET")
    assert "volcano" not in err


@pytest.mark.parametrize(("arguments", "message"), [((), "nothing"), (("--host", "0.0.0.0"), "--keys")])
def test_what_cannot_be_served_is_an_error_of_one_line(tmp_path, arguments, message):
    running = ServerProcess(str(tmp_path / "nothing"), *arguments)
    assert running.process.wait(timeout=30) == 1
    _, err = running.read_output()
    assert err.startswith("paragloss: error:")
    assert err.count("\n") == 1
    assert message in err


def test_the_image_s_health_check_says_whether_the_server_answers(tmp_path):
    """Run as it stands, but for the port; without a key, as Docker runs it."""
    (health,) = [arguments for name, arguments in read_instructions() if name == "HEALTHCHECK"]
    _, *command = json.loads(health.partition("CMD ")[2])
    with Collection.create(str(tmp_path / "library"), meaning=False) as library:
        library.index([Document("a", "Der Zug kommt.", "de")])
    (tmp_path / "keys").write_text("read " + "r" * 20 + "\n")
    running = ServerProcess(str(tmp_path / "library"), "--host", "0.0.0.0", "--keys", str(tmp_path / "keys"))
    command = [word.replace("127.0.0.1:8000", f"127.0.0.1:{running.port}") for word in command]
    check = [sys.executable, *command]
    try:
        running.wait()
        assert subprocess.run(check, capture_output=True).returncode == 0
    finally:
        running.stop()
    assert subprocess.run(check, capture_output=True).returncode == 1
