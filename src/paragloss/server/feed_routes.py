"""A saved search as a feed: documents that were added lately and match it, in Atom, for feed readers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlencode
from xml.etree import ElementTree

from fastapi import APIRouter, Query, Request, Response

from paragloss.collection import SearchOptions
from paragloss.formats.numbers import EPOCH_DAY, get_document_day, parse_number
from paragloss.server import answers
from paragloss.server.requests import Context, describe_errors, key_required
from paragloss.server.schemas import Problem
from paragloss.server.search_routes import Options, QueryText, check_search
from paragloss.types import Range

#: Entries of a feed.
MAX_ENTRIES = 30

routes = APIRouter(prefix="/api", dependencies=key_required, tags=["search"])


class AtomResponse(Response):
    """An answer in Atom."""

    media_type = "application/atom+xml"


#: Errors are JSON, although the answer is not.
_JSON_CONTENT = {"application/json": {"schema": Problem.model_json_schema()}}
_ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"description": error["description"], "content": _JSON_CONTENT}
    for code, error in describe_errors(503, 504).items()
}


@routes.get("/feed", response_class=AtomResponse, responses=_ERRORS)
async def get_feed(
    request: Request,
    context: Context,
    text: QueryText,
    options: Options,
    days: Annotated[int, Query(ge=1, le=3650, description="How many days the feed goes back.")] = 30,
) -> AtomResponse:
    """Return documents for a query that were added in the last days, as Atom."""
    check_search(context, text, options)
    current_time = datetime.now(UTC).replace(microsecond=0, tzinfo=None)
    options = _select_added_since(current_time - timedelta(days=days), options)
    answer = await context.search(answers.find_documents, text, options)
    search_parameters = {
        "q": text,
        "lang": options.lang or "",
        "to": ",".join(options.to or ()),
        "collection": context.collection_name,
    }
    feed = _build_feed(request, search_parameters, answer["results"], current_time)
    return AtomResponse(ElementTree.tostring(feed, encoding="utf-8", xml_declaration=True))


def _select_added_since(first_time: datetime, options: SearchOptions) -> SearchOptions:
    """Restrict a search to documents that were added from a moment on, as many as a feed has entries."""
    added_since = {"meta.added": [Range(low=parse_number(first_time.isoformat()))]}
    return replace(options, k=MAX_ENTRIES, where={**(options.where or {}), **added_since})


def _build_feed(
    request: Request, search_parameters: dict[str, str], results: list[dict[str, Any]], current_time: datetime
) -> ElementTree.Element:
    """Build the Atom element of a feed, with an entry for each document.

    :param request: it has the address of the feed and of the page.
    :param search_parameters: the parameters of the search in the page's address: q, lang, to and collection.
    :param results: the documents, as in the answer to a search.
    :param current_time: when the feed is made, in UTC; documents without a date are from then.
    """
    page = str(request.base_url)
    root = ElementTree.Element("feed", xmlns="http://www.w3.org/2005/Atom")
    _add_text(root, "title", f"{search_parameters['q']} – Paragloss")
    _add_text(root, "id", _page_link(page, search_parameters))
    _add_text(root, "updated", f"{current_time.isoformat()}Z")
    _add_text(ElementTree.SubElement(root, "author"), "name", search_parameters["collection"])
    ElementTree.SubElement(root, "link", rel="self", href=str(request.url))
    for result in results:
        link = _page_link(page, {"view": "read", "doc": result["id"], **search_parameters})
        _add_entry(root, result, link, current_time)
    return root


def _add_entry(root: ElementTree.Element, result: dict[str, Any], link: str, current_time: datetime) -> None:
    """Add an entry for a result, which the page shows at a link."""
    entry = ElementTree.SubElement(root, "entry")
    _add_text(entry, "title", result["title"] or result["id"])
    _add_text(entry, "id", link)
    _add_text(entry, "updated", _format_time(result["meta"], current_time))
    _add_text(entry, "summary", result["snippet"])
    ElementTree.SubElement(entry, "link", href=link)


def _add_text(parent: ElementTree.Element, name: str, text: str) -> None:
    """Add an element with a text; XML can't hold control characters."""
    element = ElementTree.SubElement(parent, name)
    element.text = "".join(letter for letter in text if letter.isprintable() or letter == "\n")


def _page_link(page: str, parameters: dict[str, str]) -> str:
    return f"{page}?{urlencode({name: value for name, value in parameters.items() if value})}"


def _format_time(meta: dict[str, Any], current_time: datetime) -> str:
    """Return the time of a document as Atom writes it, or the present one where its metadata has none."""
    day = get_document_day(meta)
    time = current_time if day is None else datetime(1970, 1, 1) + timedelta(days=day - EPOCH_DAY)
    return f"{time.replace(microsecond=0).isoformat()}Z"
