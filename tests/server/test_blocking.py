"""No client stops a server for the others, by what it asks, how it asks, or by not reading the answer."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
import time
from contextlib import ExitStack, closing, suppress

import pytest
from serving_process import wait_for
from starlette.testclient import TestClient

from paragloss import hosts
from paragloss.collection import Collection, Deadline
from paragloss.collection.upkeep import Maintenance
from paragloss.errors import DeadlineError, StoreError
from paragloss.formats.numbers import get_document_day
from paragloss.server import connections, precedence
from paragloss.server.admission import Admission, BusyError, ExcessTimes
from paragloss.server.answers import read_document
from paragloss.server.application import build_application
from paragloss.server.library import Library
from paragloss.server.limits import DEFAULT
from paragloss.server.logs import RepeatFilter
from paragloss.server.requests import shorten_paths
from paragloss.types import Document

uvicorn = pytest.importorskip("uvicorn")

ODD_DATES = ["20240501", "1714521600000", "0", "-5", "99999999999999999", "20249999", "1e400", "12345"]


@pytest.fixture(scope="module")
def location(tmp_path_factory) -> str:
    path = str(tmp_path_factory.mktemp("blocked") / "c")
    documents = [Document(f"lamp{i}", "a lamp in the dark", "en", meta={"date": d}) for i, d in enumerate(ODD_DATES)]
    documents += [
        Document("nul", "a lamp with a path", "en", meta={"path": "/folder/\0name.txt"}),
        Document("two\nlines", "a lamp with a line break", "en"),
        Document("long" * 500, "a lamp with a long id", "en"),
        Document("None", "a lamp called None", "en"),
    ]
    with Collection.create(path) as collection:
        collection.index(documents)
    return path


@pytest.fixture
def library(location):
    served_library = Library.open([location], DEFAULT._replace(seconds=30.0))
    yield served_library
    served_library.close()


@pytest.fixture
def client(library):
    with TestClient(build_application(library), base_url="http://localhost") as running:
        yield running


# Concurrent work of a client


class Blockade:
    """Work that lasts until it is told to end; `clients` are those whose work has begun."""

    def __init__(self):
        self.end, self.clients = threading.Event(), []

    def work(self, collection, client, deadline):
        self.clients.append(client)
        self.end.wait(30)


def answer(collection, deadline):
    return "answered"


def compute(seconds):
    """Return work that takes some processor time, which is what counts."""

    def work(collection, deadline):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            deadline.step()

    return work


@pytest.mark.anyio
async def test_a_client_works_on_one_thing_at_a_time_and_others_do_not_wait_for_it(library):
    blockade = Blockade()
    greedy = [asyncio.create_task(library.search("greedy", "c", blockade.work, "greedy")) for _ in range(10)]
    while not blockade.clients:
        await asyncio.sleep(0.01)
    assert await library.search("polite", "c", answer) == "answered"
    assert blockade.clients == ["greedy"]
    blockade.end.set()
    await asyncio.gather(*greedy)
    assert blockade.clients == ["greedy"] * 10


@pytest.mark.anyio
async def test_work_that_waits_or_comes_while_the_server_ends_is_refused(location):
    """It was answered with 500."""
    library, blockade = Library.open([location], DEFAULT._replace(seconds=30.0, threads=1)), Blockade()
    working = asyncio.create_task(library.search("a", "c", blockade.work, "a"))
    await asyncio.sleep(0.1)
    waiting = asyncio.create_task(library.search("b", "c", answer))
    await asyncio.sleep(0.1)
    closing = asyncio.create_task(asyncio.to_thread(library.close))
    with pytest.raises(BusyError, match="the server is ending"):
        await waiting
    with pytest.raises(BusyError, match="the server is ending"):
        await library.search("c", "c", answer)
    blockade.end.set()
    await asyncio.gather(working, closing)


@pytest.mark.anyio
@pytest.mark.parametrize("is_greedy", [False, True])
async def test_long_work_gives_way_to_short_work_of_another_client(library, is_greedy):
    """The work of a client that has used more than its share gives way from its beginning."""
    short_has_ended = threading.Event()

    def work_briefly(collection, deadline):
        time.sleep(0.5)
        short_has_ended.set()

    def work_long(collection, deadline):
        if not is_greedy:
            compute(2 * precedence.LONG_WORK_SECONDS)(collection, deadline)
        return short_has_ended.is_set()

    if is_greedy:
        await library.search("long", "c", compute(1.0))
    short = asyncio.create_task(library.search("short", "c", work_briefly))
    await asyncio.sleep(0.1)
    assert await library.search("long", "c", work_long)
    await short


@pytest.mark.anyio
async def test_long_work_gives_way_for_a_limited_time(library, monkeypatch):
    monkeypatch.setattr(precedence, "LONG_WORK_SECONDS", 0.0)
    monkeypatch.setattr(precedence, "MAX_PAUSE_SECONDS", 0.2)
    blockade = Blockade()

    def step_twice(collection, deadline):
        for _ in range(2):
            deadline.step()
        return "answered"

    blocked = asyncio.create_task(library.search("blocked", "c", blockade.work, "blocked"))
    await asyncio.sleep(0.1)
    assert await library.search("other", "c", step_twice) == "answered"
    assert not blockade.end.is_set()
    blockade.end.set()
    await blocked


def make_admission(**limits):
    """An admission with one turn for each client, and limits that are not reached unless they are given."""
    return Admission(**{"per_client": 1, "waiting_per_client": 100, "waiting": 100, **limits})


async def use_too_much(admission, client):
    """Let a client do a piece of work that takes a second of processor time."""
    admission.leave(await admission.enter(client, 1), processor_seconds=1.0)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("limits", "clients", "refused", "allowed"),
    [({"per_client": 5, "waiting_per_client": 2}, "aab", "a", "b"), ({"waiting": 3}, "abc", "d", None)],
)
async def test_too_much_waiting_work_of_a_client_or_of_all_is_refused(limits, clients, refused, allowed):
    admission = make_admission(**limits)
    turns = [await admission.enter(client, 1) for client in clients]
    with pytest.raises(BusyError):
        await admission.enter(refused, 1)
    if allowed:
        await admission.enter(allowed, 1)
    admission.leave(turns[0])
    await admission.enter(refused, 1)
    assert admission.pieces == len(clients) + bool(allowed)


@pytest.mark.anyio
async def test_expensive_work_of_any_number_of_clients_shares_one_lane():
    admission = make_admission()
    hostile = [f"hostile {n}" for n in range(20)]
    for client in hostile:
        await use_too_much(admission, client)
    first = await admission.enter(hostile[0], 1)
    assert first.is_above_share
    waiting = [asyncio.create_task(admission.enter(client, 1)) for client in hostile[1:]]
    await asyncio.sleep(0.01)
    assert not any(task.done() for task in waiting)
    normal = [await admission.enter(f"normal {n}", 1) for n in range(5)]  # nobody else waits
    assert not any(turn.is_above_share for turn in normal)
    admission.leave(first, processor_seconds=1.0)
    await asyncio.sleep(0.01)
    assert [task.done() for task in waiting] == [True] + [False] * 18
    for task in waiting:
        task.cancel()
        with suppress(asyncio.CancelledError):
            admission.leave(await task)


@pytest.mark.anyio
async def test_who_waits_in_vain_for_the_lane_has_its_turn_again():
    admission = make_admission()
    for client in "ab":
        await use_too_much(admission, client)
    held = await admission.enter("a", 1)
    with pytest.raises(DeadlineError):
        await admission.enter("b", 0.05)
    admission.leave(held)
    admission.leave(await admission.enter("b", 1))
    assert admission.pieces == 0


@pytest.mark.anyio
async def test_a_team_behind_one_address_is_never_refused_or_above_its_share():
    """Twenty people, each of whom types a query letter by letter: 200 usual searches, and one that is expensive."""
    admission = make_admission(waiting_per_client=DEFAULT.waiting_per_client, waiting=DEFAULT.waiting)

    async def type_query(person):
        for letter in range(10):
            turn = await admission.enter("proxy", DEFAULT.seconds)
            assert not turn.is_above_share
            await asyncio.sleep(0)
            admission.leave(turn, processor_seconds=0.5 if person == letter == 5 else 0.05)

    await asyncio.gather(*map(type_query, range(20)))


def test_what_a_client_used_too_much_is_forgotten_with_time():
    clock = [0.0]
    times = ExcessTimes(lambda: clock[0])
    for _ in range(1000):
        times.add("usual", precedence.LONG_WORK_SECONDS)
    times.add("once", 0.5)
    for _ in range(1000):
        times.add("hostile", 5.0)
    assert [times.is_above_share(client) for client in ("usual", "once", "hostile")] == [False, False, True]
    clock[0] = 60.0
    assert times.is_above_share("hostile")
    clock[0] = 120.0
    assert not times.is_above_share("hostile")


@pytest.mark.anyio
async def test_waiting_for_a_turn_counts_towards_the_deadline():
    admission = make_admission()
    await admission.enter("a", 1)
    with pytest.raises(DeadlineError):
        await admission.enter("a", 0.05)
    assert admission.pieces == 1


def test_the_deadline_reaches_the_work_of_every_reading_route(location):
    library = Library.open([location], DEFAULT._replace(seconds=0.0))
    with TestClient(build_application(library), base_url="http://localhost") as client:
        for path in (
            "search?q=lamp", "counts?q=lamp", "why?q=lamp&id=nul", "feed?q=lamp", "gloss?text=lamp&to=de",
            "documents/nul", "reading?id=nul&q=lamp", "original?id=nul", "collections", "models", "ready",
        ):  # fmt: skip
            assert client.get(f"/api/{path}").status_code == 504, path


def test_work_ends_at_its_deadline(library):
    collection, deadline = library[None], Deadline(30)
    assert read_document(collection, "nul", "lamp", "en", None, None, deadline)["paragraphs"]
    deadline.cancel()
    with pytest.raises(DeadlineError):
        collection.read_excerpt(collection.get(["nul"])[0], "lamp", lang="en", deadline=deadline)
    for work in (collection.search, collection.rank_documents):
        assert work("lamp", lang="en", deadline=Deadline(60))
        with pytest.raises(DeadlineError):
            work("lamp", lang="en", deadline=deadline)


@pytest.mark.parametrize(
    ("pipeline", "status", "message"),
    [
        ("|".join(["feedback"] * 8 + ["bm25"]), 422, "at most 8"),
        ("bm25|feedback|feedback", 200, ""),
        # Each feedback searches twice what is before it: seven steps searched 128 times.
        ("(bm25|feedback|feedback)|feedback:terms=3", 422, "at most 2 are allowed"),
    ],
)
def test_a_pipeline_has_a_limited_number_of_steps(client, pipeline, status, message):
    answer = client.get("/api/search", params={"q": "lamp", "lang": "en", "pipeline": pipeline})
    assert answer.status_code == status
    assert message in answer.text


# Connections


class RunningServer:
    """An application in a thread of its own, on a free port."""

    def __init__(self, app) -> None:
        options = {"http": connections.LimitedConnection, "lifespan": "off", "log_config": None}
        listener = socket.create_server(("127.0.0.1", 0), backlog=2048)  # as `serve` does
        self.port = listener.getsockname()[1]
        self._server = uvicorn.Server(uvicorn.Config(app, **options))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), 30)

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join()


async def answer_ten_megabytes(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x" * 10_000_000})


async def answer_ok(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3")]})
    await send({"type": "http.response.body", "body": b"end"})


def read_until_closed(connection: socket.socket) -> int:
    """Count the bytes that come until the server closes the connection, or drops it."""
    received = 0
    try:
        while chunk := connection.recv(1 << 16):
            received += len(chunk)
    except ConnectionResetError:
        pass
    return received


def test_an_answer_that_nobody_reads_is_dropped(monkeypatch):
    monkeypatch.setattr(connections, "WRITE_CHECK_SECONDS", 0.2)
    with closing(RunningServer(answer_ten_megabytes)) as server, server.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        time.sleep(1)
        assert not connections.LimitedConnection._open
        assert read_until_closed(connection) < 10_000_000


def test_an_answer_that_is_read_slowly_arrives(monkeypatch):
    monkeypatch.setattr(connections, "WRITE_CHECK_SECONDS", 0.5)
    with closing(RunningServer(answer_ten_megabytes)) as server, server.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        received = 0
        for _ in range(5):
            received += len(connection.recv(1 << 20))
            time.sleep(0.2)
        assert received + read_until_closed(connection) > 10_000_000


def test_a_silent_connection_is_closed(monkeypatch):
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.3)
    full_request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    requests = [b"", b"GET / HTTP/1.1\r\nHost: ", full_request]
    with closing(RunningServer(answer_ok)) as server, ExitStack() as sockets:
        opened = [sockets.enter_context(server.connect()) for _ in requests]
        for connection, data in zip(opened, requests, strict=True):
            connection.sendall(data)
        answer = b""
        while not answer.endswith(b"end"):
            answer += opened[2].recv(4096)
        opened[2].sendall(b"GET / HT")
        assert [read_until_closed(connection) for connection in opened] == [0, 0, 0]


def test_answers_do_not_wait_for_an_acknowledgement_of_their_head():
    """Head and body are two packets; the second waited 40 ms in each answer (Nagle's algorithm)."""
    with closing(RunningServer(answer_ok)) as server, server.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
        (accepted,) = connections.LimitedConnection._open
        assert accepted.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_half_open_connections_make_room_for_new_ones():
    with closing(RunningServer(answer_ten_megabytes)) as server, ExitStack() as sockets:
        for _ in range(connections.MAX_WAITING_FOR_HEADERS + 20):
            sockets.enter_context(server.connect()).sendall(b"GET /")
        last = sockets.enter_context(server.connect())
        last.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert read_until_closed(last) > 10_000_000
        assert len(connections.LimitedConnection._waiting_for_headers) <= connections.MAX_WAITING_FOR_HEADERS


def test_there_is_a_limit_of_open_connections(monkeypatch):
    monkeypatch.setattr(connections.LimitedConnection, "max_connections", 5)
    with closing(RunningServer(answer_ten_megabytes)) as server, ExitStack() as sockets:
        opened = [sockets.enter_context(server.connect()) for _ in range(8)]
        time.sleep(0.5)
        assert len(connections.LimitedConnection._open) == 5
        assert [read_until_closed(connection) for connection in opened[5:]] == [0, 0, 0]


def test_repeated_warnings_are_written_once():
    record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "socket.accept() out of system resource", (), None)
    repeat_filter = RepeatFilter()
    assert [repeat_filter.filter(record) for _ in range(3)] == [True, False, False]


def test_maintenance_survives_any_exception_and_reports_it(library, monkeypatch, caplog):
    rounds = []

    def fail(maintenance):
        rounds.append(maintenance)
        raise OSError(24, "too many open files")

    monkeypatch.setattr(Maintenance, "build_graph_if_due", fail)
    monkeypatch.setattr("paragloss.server.library.MAINTENANCE_INTERVAL", 0.01)
    monkeypatch.setattr("paragloss.server.library.SECONDS_BEFORE_READING_AHEAD", 0.0)
    logging.getLogger("paragloss.server").propagate = True
    with caplog.at_level("WARNING", "paragloss.server"):
        library.start_maintenance()
        wait_for(lambda: len(rounds) >= 3)
    assert caplog.records[0].about == {"task": "maintenance", "error": "OSError(24, 'too many open files')"}


# Values that once were answered with 500


def test_odd_dates_and_paths_are_counted_listed_and_found(client):
    for path in ("counts", "feed", "search"):
        answer = client.get(f"/api/{path}", params={"q": "lamp", "lang": "en", "k": 30})
        assert answer.status_code == 200, path
    results = client.get("/api/search", params={"q": "path", "lang": "en"}).json()["results"]
    assert [row["id"] for row in results] == ["nul"]


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("20240501", 739007),  # date(2024, 5, 1).toordinal()
        (20240501, 739007),
        (1714521600000, 739007),  # milliseconds
        (1714521600, 739007),  # seconds
        ("2024-05-01", 739007),
        ("2024", 738886),  # the first day of the year
        ("20241301", None),
        (0, None),
        ("-5", None),
        (10**16, None),
        ("12345", None),
    ],
)
def test_the_day_of_a_document(value, day):
    assert get_document_day({"date": value}) == day


def test_an_offset_beyond_any_text_is_refused(client):
    for name in ("start", "before"):
        answer = client.get("/api/reading", params={"id": "nul", name: "99999999999999999999"})
        assert answer.status_code == 422


@pytest.mark.parametrize("document_id", ["two\nlines", "long" * 500])
def test_any_id_can_be_read_explained_and_deleted(client, library, document_id):
    (document,) = library[None].get([document_id])
    assert client.get(f"/api/documents/{document_id.replace(chr(10), '%0A')}").json()["id"] == document_id
    assert client.get("/api/reading", params={"id": document_id}).status_code == 200
    assert client.get("/api/why", params={"q": "lamp", "id": document_id}).status_code == 200
    assert client.delete(f"/api/documents/{document_id.replace(chr(10), '%0A')}").json()["deleted"] == 1
    library[None].add([document])


def test_head_is_answered_as_get_without_a_body(client):
    for path in ("/api/health", "/api/ready", "/"):
        answer = client.head(path)
        assert (answer.status_code, answer.content) == (200, b""), path


@pytest.mark.parametrize("value", [None, 5, "", ["None"]])
def test_deleting_what_is_no_id_deletes_nothing(client, value):
    answer = client.post("/api/bulk", content=json.dumps({"delete": value}).encode()).json()
    assert (answer["deleted"], answer["failed"]) == (0, 1)
    assert client.get("/api/documents/None").status_code == 200


# What errors say


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("/srv/data/library/points.bin: no space left", "points.bin: no space left"),
        ("can't write '/var/lib/x/y.json' (disk full)", "can't write 'y.json' (disk full)"),
        ("C:\\Users\\me\\library\\a.txt is damaged", "a.txt is damaged"),
        ("https://api.example.org/v1/embeddings answered 500", "https://api.example.org/v1/embeddings answered 500"),
        ("expected da/it or 1/2", "expected da/it or 1/2"),
    ],
)
def test_errors_say_nothing_of_folders(message, expected):
    assert shorten_paths(message) == expected


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (StoreError("/srv/library/points.bin: no space left on device"), 400),
        (OSError(28, "No space left on device", "/srv/library/points.bin"), 507),
        (PermissionError(13, "Permission denied", "/srv/library/points.bin"), 503),
    ],
)
def test_errors_of_the_disk_are_answered_without_its_folders(client, library, monkeypatch, error, status):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(Collection, "search", fail)
    answer = client.get("/api/search?q=lamp")
    assert answer.status_code == status
    assert "/srv" not in answer.json()["error"]


# Hosts that a collection names


def test_the_user_of_this_machine_allows_a_host_by_the_page_and_nobody_else_does(library, tmp_path, monkeypatch):
    from paragloss.server.keys import Keys

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv(hosts.ALLOWED_HOSTS_VARIABLE, "")
    with TestClient(build_application(library), base_url="http://localhost") as personal:
        assert personal.post("/api/hosts", json={"host": "api.example.org"}).status_code == 200
        assert hosts.is_host_allowed("https://api.example.org/v1")
        with_keys = build_application(library, keys=Keys({"w" * 20: "write"}))
        shared = TestClient(with_keys, base_url="http://localhost", headers={"authorization": f"Bearer {'w' * 20}"})
        assert shared.post("/api/hosts", json={"host": "other.example.org"}).status_code == 403
    assert not hosts.is_host_allowed("https://other.example.org/v1")


@pytest.mark.parametrize(("host", "status"), [("\0", 400), ("a\0.example.org", 400), ("a\x1b", 400), ("\ud800", 422)])
def test_a_host_with_impossible_characters_is_refused(library, host, status, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with TestClient(build_application(library), base_url="http://localhost") as client:
        content = json.dumps({"host": host})  # with characters escaped: a lone surrogate has no bytes
        response = client.post("/api/hosts", content=content, headers={"content-type": "application/json"})
    assert response.status_code == status
    assert "host" in response.json()["error"]
