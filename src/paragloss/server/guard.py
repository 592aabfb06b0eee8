"""What stands before every request: whose machine is asked, from where, with how large a body; and what every answer
carries. Plain ASGI, so that streams stay streams."""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fastapi import HTTPException

from paragloss.server.keys import is_loopback
from paragloss.server.limits import Limits
from paragloss.server.logs import note
from paragloss.server.metrics import Metrics

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_SAFE = ("GET", "HEAD", "OPTIONS")


class Guard:
    """Wraps the application.

    On loopback only the names of this machine are answered: a page elsewhere that gives our address another name (DNS
    rebinding) learns nothing. A browser that writes on behalf of another site is refused everywhere.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: Limits,
        metrics: Metrics,
        loopback: bool,
        origins: Collection[str] = (),
        log_queries: bool = False,
    ) -> None:
        self._app = app
        self._limits, self._metrics = limits, metrics
        self._loopback, self._origins, self._log_queries = loopback, frozenset(origins), log_queries

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *_missing(message["headers"])]
            await send(message)

        try:
            await self._checked(scope, receive, sending)
        finally:
            self._note(scope, status, time.perf_counter() - started)

    async def _checked(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if self._loopback and not is_loopback(_host(headers.get(b"host", ""))):
            await self._refuse(send, 421, "host", "this server answers to localhost only: open it by that name")
        elif scope["method"] not in _SAFE and self._foreign(headers):
            await self._refuse(send, 403, "origin", "another site's page may not write here")
        else:
            await self._measured(scope, receive, send, headers)

    async def _measured(self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, str]) -> None:
        limit = {"/api/bulk": self._limits.bulk, "/api/files": self._limits.upload}.get(
            scope["path"], self._limits.body
        )
        large = f"the request is larger than {limit:,} bytes: send less at once"
        declared = headers.get(b"content-length", "0")
        if declared.isdigit() and int(declared) > limit:
            await self._refuse(send, 413, "size", large)
            return
        taken = 0

        async def receiving() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > limit:
                self._metrics.refused("size")
                raise HTTPException(413, large)
            return message

        await self._app(scope, receiving, send)

    def _foreign(self, headers: dict[bytes, str]) -> bool:
        """Whether a browser says that a page of another site is behind this."""
        origin = headers.get(b"origin")
        if origin is not None:
            return origin not in self._origins and urlsplit(origin).netloc != headers.get(b"host")
        return headers.get(b"sec-fetch-site") in ("cross-site", "same-site")

    async def _refuse(self, send: Send, status: int, reason: str, error: str) -> None:
        self._metrics.refused(reason)
        body = json.dumps({"error": error}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "") or ("/" if status < 400 else "unknown")
        self._metrics.request(scope["method"], route, status, seconds)
        about: dict[str, Any] = {"method": scope["method"], "path": scope["path"] if self._log_queries else route}
        if self._log_queries:
            about["query"] = scope["query_string"].decode("latin-1")
        note("request", **about, status=status, ms=round(seconds * 1000, 1))


def _host(value: str) -> str:
    """The name in a Host header, without its port."""
    if value.startswith("["):
        return value[1:].partition("]")[0]
    return value.partition(":")[0].lower()


def _missing(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    there = {name for name, _ in headers}
    return [(key.encode(), value.encode()) for key, value in HEADERS.items() if key.encode() not in there]
