"""What every route needs: the library, who is asking, and an error as one line with the right status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from fastapi import Depends, FastAPI, Query, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials
from starlette.exceptions import HTTPException as StarletteHTTPException

from paragloss.errors import DeadlineError, MissingExtraError, ParaglossError
from paragloss.server.keys import Keys
from paragloss.server.library import BusyError, Library, UnknownError
from paragloss.server.metrics import Metrics
from paragloss.server.schemas import Problem

if TYPE_CHECKING:
    from paragloss.collection import Collection

_STATUS = {UnknownError: 404, BusyError: 503, DeadlineError: 504, MissingExtraError: 501}
_WORDS = {
    400: "The request can't be used.",
    401: "A key is needed.",
    403: "This key may not do that.",
    404: "There is no such thing.",
    408: "It did not come in time.",
    413: "Too large.",
    422: "A parameter is missing or out of bounds.",
    429: "Too many wrong keys.",
    501: "Not available in this collection.",
    503: "Too many are waiting.",
    504: "It took too long.",
}


class Serving(NamedTuple):
    """What the application holds."""

    library: Library
    keys: Keys
    metrics: Metrics
    #: Whether files of this machine are shown: to its own user only.
    originals: bool = False


def serving(request: Request) -> Serving:
    found: Serving = request.app.state.serving
    return found


_bearer = HTTPBearer(auto_error=False, description="A key of the server; not needed on loopback without keys.")
Bearer = Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]
#: Described here; the guard has looked at it before anything of the request is read.
with_key = [Security(_bearer)]


async def may_write(request: Request, bearer: Bearer) -> bool:
    return serving(request).keys.allows(bearer.credentials if bearer else "", "write")


class Place(NamedTuple):
    """The collection a request is about."""

    name: str
    engine: Collection
    library: Library
    metrics: Metrics


async def place(
    request: Request,
    collection: Annotated[str | None, Query(description="Which collection; the first when not given.")] = None,
) -> Place:
    served = serving(request)
    return Place(served.library.named(collection), served.library[collection], served.library, served.metrics)


Here = Annotated[Place, Depends(place)]


def problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for its description."""
    return {code: {"model": Problem, "description": _WORDS[code]} for code in (400, 401, 403, 404, 422, 429, *codes)}


def answer_errors(app: FastAPI) -> None:
    """Every error as `{"error": ...}`."""

    @app.exception_handler(ParaglossError)
    async def ours(_: Request, error: ParaglossError) -> JSONResponse:
        status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 400)
        headers = {"Retry-After": "1"} if status == 503 else None
        return JSONResponse({"error": " ".join(str(error).split())}, status, headers)

    @app.exception_handler(StarletteHTTPException)
    async def theirs(_: Request, error: StarletteHTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
        return JSONResponse({"error": f"{where}: {first['msg']}"}, 422)
