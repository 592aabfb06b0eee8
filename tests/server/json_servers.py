"""Servers of JSON for tests, on ports of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@contextmanager
def run_json_server(answer: Callable[[Any], object]) -> Iterator[str]:
    """Answer requests with `answer(the object that was posted)`, or `answer(None)` for GET; its host and port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(answer(None))

        def do_POST(self) -> None:
            self._send(answer(json.loads(self.rfile.read(int(self.headers["content-length"])))))

        def _send(self, content: object) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def run_shouting_engine() -> Iterator[str]:
    """Run a translation engine that speaks LibreTranslate's HTTP, and shouts; its address."""

    def shout(request: Any) -> object:
        if request is None:
            return [{"code": code, "targets": ["en", "fr"]} for code in ("en", "fr")]
        return {"translatedText": [text.upper() for text in request["q"]]}

    with run_json_server(shout) as host:
        yield f"http://{host}"
