"""A saved search as a feed: what was added lately and is found for it, in Atom, for programs that read feeds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlencode
from xml.etree import ElementTree

from fastapi import APIRouter, Query, Request, Response

from paragloss.formats.numbers import EPOCH_DAY, get_document_day, parse_number
from paragloss.server import answers
from paragloss.server.requests import Here, problems, with_key
from paragloss.server.schemas import Problem
from paragloss.server.search_routes import Options, Text, asked
from paragloss.types import Range

#: Entries of a feed.
MOST = 30

routes = APIRouter(prefix="/api", dependencies=with_key, tags=["search"])


class Atom(Response):
    media_type = "application/atom+xml"


#: Errors are JSON here too, whatever a good answer is.
_JSON = {"application/json": {"schema": Problem.model_json_schema()}}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"description": told["description"], "content": _JSON} for code, told in problems(503, 504).items()
}


@routes.get("/feed", response_class=Atom, responses=_PROBLEMS)
async def feed(
    request: Request,
    here: Here,
    q: Text,
    options: Options,
    days: Annotated[int, Query(ge=1, le=3650, description="How far back.")] = 30,
) -> Atom:
    """Documents found for a query that were added in the last days, as Atom."""
    asked(here, q)
    now = datetime.now(UTC).replace(microsecond=0, tzinfo=None)
    since = {"meta.added": [Range(low=parse_number((now - timedelta(days=days)).isoformat()))]}
    options = replace(options, k=MOST, where={**(options.where or {}), **since})
    answer = await here.library.ask(here.name, answers.found, q, options)
    page = str(request.base_url)
    asking = {"q": q, "lang": options.lang or "", "to": ",".join(options.to or ()), "collection": here.name}
    root = ElementTree.Element("feed", xmlns="http://www.w3.org/2005/Atom")
    _say(root, title=f"{q} – Paragloss", id=_link(page, asking), updated=f"{now.isoformat()}Z")
    _say(_say(root, author=""), name=here.name)
    ElementTree.SubElement(root, "link", rel="self", href=str(request.url))
    for result in answer["results"]:
        where_ = _link(page, {"view": "read", "doc": result["id"], **asking})
        entry = ElementTree.SubElement(root, "entry")
        _say(entry, title=result["title"] or result["id"], id=where_, updated=_moment(result["meta"], now))
        _say(entry, summary=result["snippet"])
        ElementTree.SubElement(entry, "link", href=where_)
    return Atom(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def _say(parent: ElementTree.Element, **texts: str) -> ElementTree.Element:
    """Elements with a text each; the last of them."""
    for name, text in texts.items():
        made = ElementTree.SubElement(parent, name)
        made.text = "".join(letter for letter in text if letter.isprintable() or letter == "\n")
    return made


def _link(page: str, parameters: dict[str, str]) -> str:
    return f"{page}?{urlencode({name: value for name, value in parameters.items() if value})}"


def _moment(meta: dict[str, Any], now: datetime) -> str:
    day = get_document_day(meta)
    moment = now if day is None else datetime(1970, 1, 1) + timedelta(days=day - EPOCH_DAY)
    return f"{moment.replace(microsecond=0).isoformat()}Z"
