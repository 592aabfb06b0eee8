"""A Qdrant server on a machine with too much to do answers 408: it has not received the request in time."""

import http.server
import threading
from contextlib import contextmanager

import pytest

from paragloss.errors import StoreError
from paragloss.stores import collection_exists

pytest.importorskip("qdrant_client")


@contextmanager
def answer_after(refusal_count):
    """Run a server that answers 408 some times, and then that a collection exists; yield its address."""
    refusals = [408] * refusal_count

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status = refusals.pop() if refusals and "/exists" in self.path else 200
            body = b'{"result": {"exists": true, "aliases": []}, "status": "ok", "time": 0}' if status == 200 else b""
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"qdrant+http://127.0.0.1:{server.server_port}/library"
    server.shutdown()
    server.server_close()


def test_a_request_that_the_server_has_not_received_is_sent_again():
    with answer_after(3) as location:
        assert collection_exists(location)


def test_a_server_that_never_receives_a_request_is_reported():
    with answer_after(1000) as location, pytest.raises(StoreError, match="408"):
        collection_exists(location)
