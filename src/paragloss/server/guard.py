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
        refusal = self._check_sender(scope, headers) or self._check_size(headers, max_size)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        body = _LimitedBody(receive, max_size, self._limits, self._metrics)
        await self._app(scope, body.receive, send)

    def _check_size(self, headers: Headers, max_size: int) -> JSONResponse | None:
        """Return the refusal of a request that announces a body of more bytes than `max_size`; None if it may go on."""
        declared_size = headers.get("content-length", "0")
        if declared_size.isdigit() and int(declared_size) > max_size:
            return self._make_refusal(413, "size", _TOO_LARGE.format(max_size))
        return None

    def _check_sender(self, scope: Scope, headers: Headers) -> JSONResponse | None:
        """Return the refusal of a request because of its host, origin or key; None if it may go on.

        The page itself may be read by everybody. Requests that read documents or change anything must not come from the
        page of another site, and need a key if the server has keys.

        :param scope: describes the request as ASGI does: "path", "method", "client".
        :param headers: its headers.
        :return: an answer of status 421 for a wrong host, 403 for another site; for a key see `_check_key`.
        """
        is_host_refused = self._loopback and not is_loopback(_parse_host(headers.get("host", "")))
        if is_host_refused:
            return self._make_refusal(421, "host", "this server answers to localhost only: open it by that name")
        if not _is_protected(scope):
            return None
        if self._is_cross_site(headers):
            return self._make_refusal(403, "origin", "another site's page may not ask here")
        needs_key = bool(self._keys) and scope["path"] not in _PUBLIC_PATHS and not _is_preflight(scope, headers)
        return self._check_key(scope, headers) if needs_key else None

    def _check_key(self, scope: Scope, headers: Headers) -> JSONResponse | None:
        """Return the refusal of a request whose key is missing, wrong or may not write; None if its key allows it.

        A wrong key is counted for the sender's address. After too many of them all requests from there are refused for
        a while, even with a right key, so that keys can't be guessed.

        :param scope: describes the request as ASGI does: "path", "method", "client".
        :param headers: its headers; the key is in `Authorization: Bearer KEY`.
        :return: an answer of status 429 after too many wrong keys, 403 for a key that may only read, 401 for a wrong
            key or none.
        """
        address = _read_client_address(scope)
        seconds_to_wait = self._wrong_keys.seconds_to_wait(address)
        if seconds_to_wait > 0:
            return self._make_refusal_for_guessing(address, seconds_to_wait)
        key = _read_key(headers)
        needed_permission = _find_needed_permission(scope)
        if self._keys.allows(key, needed_permission):
            return None
        what_is_needed = f"a key that may {needed_permission} is needed"
        is_known_key = self._keys.scope(key) is not None
        if is_known_key:
            return self._make_refusal(403, "key", f"{what_is_needed}: this key may only read")
        if key:
            self._count_wrong_key(address)
        message = f"{what_is_needed}: send a header `Authorization: Bearer KEY`"
        return self._make_refusal(401, "key", message, {"www-authenticate": "Bearer"})

    def _make_refusal_for_guessing(self, address: str, seconds_to_wait: float) -> JSONResponse:
        """Make the answer to an address that has sent too many wrong keys: it says when to try again."""
        message = f"too many wrong keys from {address}: try again in {seconds_to_wait:.0f} s"
        return self._make_refusal(429, "guesses", message, {"retry-after": f"{seconds_to_wait:.0f}"})

    def _count_wrong_key(self, address: str) -> None:
        """Count a wrong key from an address, and log the one after which the address has to wait."""
        has_to_wait_now = self._wrong_keys.count_wrong_key(address)
        if has_to_wait_now:
            log_event("too many wrong keys", address=address)

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

    def _make_refusal(self, status: int, reason: str, error: str, headers: Mapping[str, str] = {}) -> JSONResponse:
        """Make an answer that refuses a request, and count it in the metrics.

        It closes the connection: the body of the request, if there is one, is not read.

        :param status: the HTTP status.
        :param reason: the name under which the metrics count it, such as "key".
        :param error: the message for the client.
        :param headers: further headers of the answer.
        """
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


def _is_protected(scope: Scope) -> bool:
    """Tell whether a request reads documents or metrics, or may change something; the other requests are for the page.

    :param scope: describes the request as ASGI does.
    """
    path = scope["path"]
    is_data_path = path.startswith("/api/") or path == "/metrics"
    return is_data_path or scope["method"] not in _SAFE_METHODS


def _is_preflight(scope: Scope, headers: Headers) -> bool:
    """Tell whether a browser only asks what it may send to another site, which it does without a key (CORS)."""
    return scope["method"] == "OPTIONS" and "access-control-request-method" in headers


def _read_client_address(scope: Scope) -> str:
    """Return the address that a request comes from, without the port; "" if it is unknown."""
    address_and_port = scope.get("client")
    return address_and_port[0] if address_and_port else ""


def _find_needed_permission(scope: Scope) -> str:
    """Return what the key of a request has to allow: "read", or "write" for a request that may change something."""
    only_reads = scope["method"] in _SAFE_METHODS or scope["path"] in _READING_PATHS
    return "read" if only_reads else "write"


def _read_key(headers: Headers) -> str:
    """Return the key that a request sends as `Authorization: Bearer KEY`; "" if it sends none."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def _parse_host(header: str) -> str:
    """Return the name in a Host header without its port, "" where the header holds anything else."""
    match = _HOST_HEADER.fullmatch(header)
    return match[1].strip("[]").lower() if match else ""
