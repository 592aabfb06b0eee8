"""What stands before every request: whose machine is asked, from where, with which key, with how large a body; and what
every answer carries. Plain ASGI, so that streams stay streams, and nothing of a body is read before the key is."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

from paragloss.server.keys import Guesses, Keys, is_loopback
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
#: What is told without a key, and what reads though it is no GET.
_OPEN, _READS = ("/api/health", "/api/openapi.json"), ("/api/gloss", "/api/translate")
#: A Host header: a name or an address, and perhaps a port. Anything else in it is somebody's trick.
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?")
_LARGE = "the request is larger than {:,} bytes: send less at once"


class Guard:
    """Wraps the application.

    On loopback only the names of this machine are answered: a page elsewhere that gives our address another name (DNS
    rebinding) learns nothing. A browser that asks on behalf of another site is refused, reading or writing; the page
    itself may be linked to.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: Limits,
        metrics: Metrics,
        keys: Keys,
        loopback: bool,
        origins: Collection[str] = (),
        log_queries: bool = False,
    ) -> None:
        self._app = app
        self._limits, self._metrics, self._keys, self._guesses = limits, metrics, keys, Guesses()
        self._loopback, self._origins, self._log_queries = loopback, frozenset(origins), log_queries

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status, headers = message["status"], MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._checked(scope, receive, sending)
        finally:
            self._note(scope, status, time.perf_counter() - started)

    async def _checked(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        served = scope["path"].startswith("/api/") or scope["path"] == "/metrics" or scope["method"] not in _SAFE
        answer: ASGIApp | None = None
        if self._loopback and not is_loopback(_host(headers.get("host", ""))):
            answer = self._refusal(421, "host", "this server answers to localhost only: open it by that name")
        elif served and self._foreign(headers):
            answer = self._refusal(403, "origin", "another site's page may not ask here")
        elif served and self._keys and scope["path"] not in _OPEN and (wrong := self._without_key(scope, headers)):
            answer = self._refusal(*wrong)
        elif (declared := headers.get("content-length", "0")).isdigit() and int(declared) > self._most(scope):
            answer = self._refusal(413, "size", _LARGE.format(self._most(scope)))
        await (answer or self._measured)(scope, receive, send)

    def _without_key(self, scope: Scope, headers: Headers) -> tuple[int, str, str, dict[str, str]] | None:
        """Why a request may not be answered, if so: status, reason, message and headers."""
        if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            return None  # a browser asks so before it sends a key
        address = (scope.get("client") or ("",))[0]
        if (seconds := self._guesses.wait(address)) > 0:
            again = {"retry-after": f"{seconds:.0f}"}
            return 429, "guesses", f"too many wrong keys from {address}: try again in {seconds:.0f} s", again
        kind, _, key = headers.get("authorization", "").partition(" ")
        key = key.strip() if kind.lower() == "bearer" else ""
        wanted = "read" if scope["method"] in _SAFE or scope["path"] in _READS else "write"
        if self._keys.allows(key, wanted):
            return None
        if self._keys.scope(key) is not None:
            return 403, "key", f"a key that may {wanted} is needed: this key may only read", {}
        if key and self._guesses.wrong(address):
            note("too many wrong keys", address=address)
        remedy = "send a header `Authorization: Bearer KEY`"
        return 401, "key", f"a key that may {wanted} is needed: {remedy}", {"www-authenticate": "Bearer"}

    def _most(self, scope: Scope) -> int:
        """How many bytes a request may have."""
        larger = {"/api/bulk": self._limits.bulk, "/api/files": self._limits.upload}
        return larger.get(scope["path"], self._limits.body)

    async def _measured(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit, taken, waited, whole = self._most(scope), 0, 0.0, False

        async def receiving() -> Message:
            nonlocal taken, waited, whole
            if whole:  # what comes now is that the client has gone
                return await receive()
            began = time.monotonic()
            try:
                patience = self._limits.patience + taken / self._limits.slowest - waited
                message = await asyncio.wait_for(receive(), patience)
            except TimeoutError:
                self._metrics.refused("time")
                raise HTTPException(408, "the request did not come in time", {"connection": "close"}) from None
            waited += time.monotonic() - began
            taken += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if taken > limit:
                self._metrics.refused("size")
                raise HTTPException(413, _LARGE.format(limit), {"connection": "close"})
            return message

        await self._app(scope, receiving, send)

    def _foreign(self, headers: Headers) -> bool:
        """Whether a browser says that a page of another site is behind this."""
        origin = headers.get("origin")
        if origin is not None:
            return origin not in self._origins and urlsplit(origin).netloc != headers.get("host")
        return headers.get("sec-fetch-site") in ("cross-site", "same-site")

    def _refusal(self, status: int, reason: str, error: str, more: Mapping[str, str] = {}) -> JSONResponse:
        """Answers at once and closes: the body, if there is one, is not read."""
        self._metrics.refused(reason)
        return JSONResponse({"error": error}, status, {"connection": "close", **more})

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "") or ("/" if status < 400 else "unknown")
        self._metrics.request(scope["method"], route, status, seconds)
        about: dict[str, Any] = {"method": scope["method"], "path": scope["path"] if self._log_queries else route}
        if self._log_queries:
            about["query"] = scope["query_string"].decode("latin-1")
        note("request", **about, status=status, ms=round(seconds * 1000, 1))


def _host(value: str) -> str:
    """The name in a Host header, without its port; nothing where there is more in it."""
    found = _HOST.fullmatch(value)
    return found[1].strip("[]").lower() if found else ""
