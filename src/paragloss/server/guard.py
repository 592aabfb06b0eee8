"""Checks before every request: host name, origin, key and size of the body; and the headers of every answer.

Plain ASGI, so that streams stay streams, and nothing of a body is read before the key has been checked.
"""

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

from paragloss.server.keys import Keys, WrongKeys, is_loopback
from paragloss.server.limits import Limits
from paragloss.server.logs import log_event
from paragloss.server.metrics import Metrics

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECURITY_HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
#: Paths that are answered without a key.
_PUBLIC_PATHS = ("/api/health", "/api/openapi.json")
#: Paths that read although their method is POST.
_READING_PATHS = ("/api/gloss", "/api/translate", "/mcp")
#: A Host header: a name or an address, and perhaps a port.
_HOST_HEADER = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?")
_TOO_LARGE = "the request is larger than {:,} bytes: send less at once"


class Guard:
    """Wrap the application with the checks.

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
        """Guard an application.

        :param limits: how large requests may be, and how slowly they may come.
        :param metrics: counts the requests, and those that are refused.
        :param keys: the keys that requests need.
        :param loopback: answer only requests that name this machine as their host.
        :param origins: other sites whose pages may send requests.
        :param log_queries: write the queries of searches to the log.
        """
        self._app = app
        self._limits = limits
        self._metrics = metrics
        self._keys = keys
        self._wrong_keys = WrongKeys()
        self._loopback = loopback
        self._origins = frozenset(origins)
        self._log_queries = log_queries

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, add the security headers, count it and log it.

        The arguments are those of an ASGI application.
        """
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start_time = time.perf_counter()
        is_head = scope["method"] == "HEAD"
        response = _GuardedResponse(send, has_body=not is_head)
        if is_head and scope["path"].startswith("/api/"):  # the routes know GET only
            scope = {**scope, "method": "GET"}
        try:
            await self._refuse_or_answer(scope, receive, response.send)
        finally:
            self._log(scope, response.status, time.perf_counter() - start_time)

    async def _refuse_or_answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request that may not be answered, or pass it on with a limit on its body."""
        headers = Headers(scope=scope)
        max_size = self._max_body_size(scope["path"])
        refusal = self._refuse_sender(scope, headers) or self._refuse_size(headers, max_size)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        body = _LimitedBody(receive, max_size, self._limits, self._metrics)
        await self._app(scope, body.receive, send)

    def _refuse_size(self, headers: Headers, max_size: int) -> JSONResponse | None:
        """Return the refusal of a request that announces a body of more bytes than `max_size`; None if it may go on."""
        declared_size = headers.get("content-length", "0")
        if declared_size.isdigit() and int(declared_size) > max_size:
            return self._refuse(413, "size", _TOO_LARGE.format(max_size))
        return None

    def _refuse_sender(self, scope: Scope, headers: Headers) -> JSONResponse | None:
        """Return the refusal of a request by its host, origin or key; None if it may go on.

        The page itself is public. Origin and key are checked for requests that read or change documents.
        """
        path = scope["path"]
        is_data_path = path.startswith("/api/") or path == "/metrics"
        is_api = is_data_path or scope["method"] not in _SAFE_METHODS
        if self._loopback and not is_loopback(_parse_host(headers.get("host", ""))):
            return self._refuse(421, "host", "this server answers to localhost only: open it by that name")
        if is_api and self._is_cross_site(headers):
            return self._refuse(403, "origin", "another site's page may not ask here")
        if is_api and self._keys and path not in _PUBLIC_PATHS:
            return self._refuse_without_key(scope, headers)
        return None

    def _refuse_without_key(self, scope: Scope, headers: Headers) -> JSONResponse | None:
        """Return the refusal of a request whose key is missing, wrong or may not write; None if it may go on.

        Whoever has sent too many wrong keys is refused whatever the key.
        """
        is_preflight = scope["method"] == "OPTIONS" and "access-control-request-method" in headers
        if is_preflight:  # a browser asks so before it sends a key
            return None
        client = scope.get("client")  # (address, port)
        address = client[0] if client else ""
        seconds = self._wrong_keys.seconds_to_wait(address)
        if seconds > 0:
            message = f"too many wrong keys from {address}: try again in {seconds:.0f} s"
            return self._refuse(429, "guesses", message, {"retry-after": f"{seconds:.0f}"})
        key = _read_key(headers)
        is_reading = scope["method"] in _SAFE_METHODS or scope["path"] in _READING_PATHS
        needed_scope = "read" if is_reading else "write"
        if self._keys.allows(key, needed_scope):
            return None
        return self._refuse_key(key, needed_scope, address)

    def _refuse_key(self, key: str, needed_scope: str, address: str) -> JSONResponse:
        """Return the refusal of a request with a key that does not allow it; count a wrong key.

        :param key: the key, "" for a request without one
        :param needed_scope: "read" or "write"
        :param address: where the request comes from
        """
        if self._keys.scope(key) is not None:
            return self._refuse(403, "key", f"a key that may {needed_scope} is needed: this key may only read")
        if key and self._wrong_keys.count_wrong_key(address):
            log_event("too many wrong keys", address=address)
        message = f"a key that may {needed_scope} is needed: send a header `Authorization: Bearer KEY`"
        return self._refuse(401, "key", message, {"www-authenticate": "Bearer"})

    def _max_body_size(self, path: str) -> int:
        return {"/api/bulk": self._limits.bulk, "/api/files": self._limits.upload}.get(path, self._limits.body)

    def _is_cross_site(self, headers: Headers) -> bool:
        """Tell whether a browser says that a page of another site is behind a request."""
        origin = headers.get("origin")
        if origin is None:
            return headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if origin in self._origins:
            return False
        try:
            return urlsplit(origin).netloc != headers.get("host")
        except ValueError:  # such as `http://[`
            return True

    def _refuse(self, status: int, reason: str, error: str, headers: Mapping[str, str] = {}) -> JSONResponse:
        """Make an answer that closes the connection: the body, if there is one, is not read."""
        self._metrics.count_refused(reason)
        return JSONResponse({"error": error}, status, {"connection": "close", **headers})

    def _log(self, scope: Scope, status: int, seconds: float) -> None:
        """Count an answered request and log it: by its route, and by its path and query only if queries are logged."""
        route = getattr(scope.get("route"), "path", "") or ("/" if status < 400 else "unknown")
        self._metrics.count_request(scope["method"], route, status, seconds)
        about: dict[str, Any] = {"method": scope["method"], "path": scope["path"] if self._log_queries else route}
        if self._log_queries:
            about["query"] = scope["query_string"].decode("latin-1")
        log_event("request", **about, status=status, ms=round(seconds * 1000, 1))


class _GuardedResponse:
    """The response of one request, to which the security headers are added."""

    def __init__(self, send: Send, *, has_body: bool) -> None:
        self.status = 500  # unless the application answers
        self._send = send
        self._has_body = has_body

    async def send(self, message: Message) -> None:
        """Send the headers or a part of the body, which stays empty in answer to HEAD."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        elif not self._has_body:
            message = {**message, "body": b""}
        await self._send(message)


class _LimitedBody:
    """The body of one request, which may be neither too large nor too slow."""

    def __init__(self, receive: Receive, max_size: int, limits: Limits, metrics: Metrics) -> None:
        self._receive = receive
        self._max_size = max_size
        self._limits = limits
        self._metrics = metrics
        self._size = 0
        self._seconds_waited = 0.0
        self._is_complete = False

    async def receive(self) -> Message:
        """Receive the next part of the body.

        :raises HTTPException: if the body has become too large, or does not come in time.
        """
        if self._is_complete:  # what comes now says that the client has gone
            return await self._receive()
        message = await self._receive_in_time()
        self._size += len(message.get("body", b""))
        self._is_complete = not message.get("more_body", False)
        if self._size > self._max_size:
            self._metrics.count_refused("size")
            raise HTTPException(413, _TOO_LARGE.format(self._max_size), {"connection": "close"})
        return message

    async def _receive_in_time(self) -> Message:
        """Receive the next part of the body; raise HTTPException if it comes more slowly than the limits allow."""
        start_time = time.monotonic()
        seconds_left = self._limits.patience + self._size / self._limits.slowest - self._seconds_waited
        try:
            message = await asyncio.wait_for(self._receive(), seconds_left)
        except TimeoutError:
            self._metrics.count_refused("time")
            raise HTTPException(408, "the request did not come in time", {"connection": "close"}) from None
        self._seconds_waited += time.monotonic() - start_time
        return message


def _read_key(headers: Headers) -> str:
    """Return the key that a request sends as `Authorization: Bearer KEY`; "" if it sends none."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def _parse_host(header: str) -> str:
    """Return the name in a Host header without its port, "" where the header holds anything else."""
    match = _HOST_HEADER.fullmatch(header)
    return match[1].strip("[]").lower() if match else ""
