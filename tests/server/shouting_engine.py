"""A translation engine for tests, on a port of its own: it speaks LibreTranslate's HTTP, and shouts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread


class _Shouting(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._say([{"code": code, "targets": ["en", "fr"]} for code in ("en", "fr")])

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self._say({"translatedText": [text.upper() for text in asked["q"]]})

    def _say(self, what: object) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(what).encode())

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def shouting() -> Iterator[str]:
    """Its address, while it runs."""
    engine = HTTPServer(("127.0.0.1", 0), _Shouting)
    Thread(target=engine.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{engine.server_port}"
    engine.shutdown()
