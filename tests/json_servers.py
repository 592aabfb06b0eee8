"""A server on this machine that answers with JSON, for tests of what asks servers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Request(NamedTuple):
    path: str
    body: Any  # None for a GET request
    key: str | None


class JsonServer:
    """Answers each request with what a function returns for its body, and records the requests.

    The status is 200, or 400 if the answer has an "error"; a function may also return a pair (status, answer). With 302
    the answer is {"location": address}.
    """

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self.requests: list[Request] = []
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.answer(None)

            def do_POST(self) -> None:
                self.answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

            def answer(self, body: Any) -> None:
                recorder.requests.append(Request(self.path, body, self.headers["authorization"]))
                content = answer(body)
                status = 400 if "error" in content else 200
                if isinstance(content, tuple):
                    status, content = content
                self.send_response(status)
                if status == 302:
                    self.send_header("location", content["location"])
                self.end_headers()
                self.wfile.write(json.dumps(content).encode())

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.address = f"http://{self.host}"

    def __enter__(self) -> JsonServer:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def run_json_server(answer: Callable[[Any], Any]) -> Iterator[str]:
    """Answer requests with `answer(the object that was posted)`, or `answer(None)` for GET; yield host and port."""
    with JsonServer(answer) as server:
        yield server.host


@contextmanager
def run_shouting_engine() -> Iterator[str]:
    """Run a translation engine that speaks LibreTranslate's HTTP, and shouts; yield its address."""

    def shout(request: Any) -> object:
        if request is None:
            return [{"code": code, "targets": ["en", "fr"]} for code in ("en", "fr")]
        return {"translatedText": [text.upper() for text in request["q"]]}

    with JsonServer(shout) as server:
        yield server.address
