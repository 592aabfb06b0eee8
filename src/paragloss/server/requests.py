"""What every route needs: the collection, who is asking, and errors as one line with the right status."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

from fastapi import Depends, FastAPI, HTTPException, Query, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials
from starlette.exceptions import HTTPException as StarletteHTTPException

from paragloss.errors import ConsentError, DeadlineError, MissingExtraError, ParaglossError
from paragloss.server.admission import BusyError
from paragloss.server.answers import UnknownDocumentError
from paragloss.server.keys import Keys, client_network
from paragloss.server.library import Library, UnknownCollectionError
from paragloss.server.metrics import Metrics
from paragloss.server.schemas import Problem

if TYPE_CHECKING:
    from paragloss.collection import Collection

T = TypeVar("T")
_STATUS_BY_ERROR = {
    UnknownCollectionError: 404,
    UnknownDocumentError: 404,
    BusyError: 503,
    DeadlineError: 504,
    MissingExtraError: 501,
    ConsentError: 403,
}
_DESCRIPTIONS = {
    400: "The request can't be used.",
    401: "A key is needed.",
    403: "This key may not do that.",
    404: "There is no such thing.",
    408: "The request did not come in time.",
    413: "Too large.",
    422: "A parameter is missing or out of bounds.",
    429: "Too many wrong keys.",
    501: "Not available in this collection.",
    503: "Too many requests are waiting.",
    504: "It took too long.",
}
#: An absolute path of POSIX or Windows; the slashes of an address such as http://host/v1 are none.
_ABSOLUTE_PATH = re.compile(r"(?<![\w/:.])(?:[A-Za-z]:\\|\\\\|/)(?:[^\s/\\'\":,;()]+[/\\])+")


class AppState(NamedTuple):
    """What the application holds."""

    library: Library
    keys: Keys
    metrics: Metrics
    #: Whether requests come from the user of this machine only: files may be opened, hosts may be allowed.
    is_personal: bool = False


def get_app_state(request: Request) -> AppState:
    """Return what the application of a request holds."""
    state: AppState = request.app.state.paragloss
    return state


_bearer = HTTPBearer(auto_error=False, description="A key of the server; not needed on loopback without keys.")
Bearer = Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]
#: Describes keys in the OpenAPI document; the guard has checked them before a route is reached.
key_required = [Security(_bearer)]


async def may_write(request: Request, bearer: Bearer) -> bool:
    """Tell whether the key of a request allows writing."""
    return get_app_state(request).keys.allows(bearer.credentials if bearer else "", "write")


class RequestContext(NamedTuple):
    """The collection that a request is about, and what is needed to answer it."""

    collection_name: str
    collection: Collection
    library: Library
    metrics: Metrics
    client: str  # the address or network that asks

    async def search(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run `work(collection, *arguments, deadline)`, in a worker process where there is one."""
        return await self.library.search(self.client, self.collection_name, work, *arguments)

    async def read(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run `work(collection, *arguments, deadline)` in a thread of this process."""
        return await self.library.read(self.client, lambda deadline: work(self.collection, *arguments, deadline))

    async def write(self, work: Callable[[], T]) -> T:
        """Run work in the thread that writes."""
        return await self.library.write(self.client, work)


def get_client(request: Request) -> str:
    """Return what identifies the client of a request when its work is limited."""
    return client_network(request.client.host) if request.client else ""


async def _get_context(
    request: Request,
    collection: Annotated[str | None, Query(description="Which collection; the first when not given.")] = None,
) -> RequestContext:
    state = get_app_state(request)
    name = state.library.resolve_name(collection)
    return RequestContext(name, state.library[name], state.library, state.metrics, get_client(request))


Context = Annotated[RequestContext, Depends(_get_context)]


def describe_errors(*codes: int) -> dict[int | str, dict[str, Any]]:
    """Return the errors of a route for the OpenAPI document: the common ones and some more."""
    all_codes = (400, 401, 403, 404, 422, 429, *codes)
    return {code: {"model": Problem, "description": _DESCRIPTIONS[code]} for code in all_codes}


def check_at_most(name: str, value: int, limit: int, unit: str) -> None:
    """Raise an error of status 422 where a parameter is larger than its limit."""
    if value > limit:
        raise HTTPException(422, f"{name}: {value:,} {unit}; at most {limit:,} are allowed")


def shorten_paths(message: str) -> str:
    """Return an error message as one line that has only the last parts of absolute paths.

    Where files of this machine lie is nobody's business.
    """
    home = os.path.expanduser("~")
    line = " ".join(message.split())
    if len(home) > 1:
        line = line.replace(f"{home}{os.sep}", "/home/")
    return _ABSOLUTE_PATH.sub("", line)


def answer_errors(app: FastAPI) -> None:
    """Answer every error as `{"error": ...}`."""
    for kind, handler in _ERROR_HANDLERS.items():
        app.add_exception_handler(kind, handler)


async def _answer_own_error(_: Request, error: ParaglossError) -> JSONResponse:
    status = next((code for kind, code in _STATUS_BY_ERROR.items() if isinstance(error, kind)), 400)
    headers = {"Retry-After": "1"} if status == 503 else None
    return JSONResponse({"error": shorten_paths(str(error))}, status, headers)


async def _answer_system_error(_: Request, error: OSError) -> JSONResponse:
    if error.errno == errno.ENOSPC:
        return JSONResponse({"error": "the server's disk is full: free some space there"}, 507)
    return JSONResponse({"error": f"the server can't do that now ({error.strerror or 'input or output'})"}, 503)


async def _answer_http_error(_: Request, error: StarletteHTTPException) -> JSONResponse:
    return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)


async def _answer_invalid_request(_: Request, error: RequestValidationError) -> JSONResponse:
    """Answer with the first parameter that is missing or wrong, and why."""
    problem = error.errors()[0]
    parameter = ".".join(str(part) for part in problem["loc"][1:]) or str(problem["loc"][0])
    return JSONResponse({"error": f"{parameter}: {problem['msg']}"}, 422)


_ERROR_HANDLERS: dict[type[Exception], Any] = {
    ParaglossError: _answer_own_error,
    OSError: _answer_system_error,
    StarletteHTTPException: _answer_http_error,
    RequestValidationError: _answer_invalid_request,
}
