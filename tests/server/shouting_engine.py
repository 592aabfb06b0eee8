"""A translation engine for tests, on a port of its own: it speaks LibreTranslate's HTTP, and shouts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread


class _ShoutingHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._send_json([{"code": code, "targets": ["en", "fr"]} for code in ("en", "fr")])

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self._send_json({"translatedText": [text.upper() for text in request["q"]]})

    def _send_json(self, answer: object) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def run_shouting_engine() -> Iterator[str]:
    """Its address, while it runs."""
    engine = HTTPServer(("127.0.0.1", 0), _ShoutingHandler)
    Thread(target=engine.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{engine.server_port}"
    engine.shutdown()
