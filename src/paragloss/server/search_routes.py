"""Routes that find and explain: search, counts by language, why, gloss."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Query
from fastapi.responses import JSONResponse, Response

from paragloss.collection import SearchOptions
from paragloss.formats.conditions import parse_conditions
from paragloss.server import answers, schemas
from paragloss.server.requests import Here, Place, problems, with_key

#: A word, or a letter of a script that is written without spaces.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TERM = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")

_JSON = "application/json"

routes = APIRouter(prefix="/api", dependencies=with_key, tags=["search"])

Text = Annotated[str, Query(alias="q", description="What is looked for.", examples=["how do bees make honey"])]
Lang = Annotated[str, Query(description="Its language; found out when not given.", examples=["en"], max_length=35)]
Conditions = Annotated[list[str], Query(description="`FIELD=VALUE`, such as `meta.year=1999`; may be given again.")]


async def _options(
    lang: Lang = "",
    to: Annotated[
        str, Query(description="Languages of documents, such as `da,it`; all by default.", max_length=500)
    ] = "",
    k: Annotated[int, Query(ge=1, description="How many documents.")] = 10,
    pipeline: Annotated[str, Query(description="How to search; everything, fused, by default.", max_length=200)] = "",
    where: Conditions = [],  # noqa: B006 - FastAPI copies it
    reader: Annotated[str, Query(description="The reader's language: that of names alone.", max_length=35)] = "",
) -> SearchOptions:
    targets = [code for code in to.split(",") if code]
    return SearchOptions(
        lang or None, targets or None, k, pipeline or None, parse_conditions(where) or None, reader=reader
    )


Options = Annotated[SearchOptions, Depends(_options)]


@routes.get("/search", response_model=schemas.Answered, responses=problems(503, 504))
async def search(
    here: Here,
    q: Text,
    options: Options,
    each_language: Annotated[bool, Query(description="At least one document of every language.")] = False,
    sort: Annotated[Literal["fit", "date"], Query(description="The best first, or the newest of them.")] = "fit",
    why: Annotated[bool, Query(description="Explain each document as `/api/why` does, by the same search.")] = False,
) -> Response:
    """What `paragloss search --json` prints."""
    asked(here, q, options.k)
    work = partial(answers.found, why=why, newest=sort == "date", each_language=each_language)
    return await _answered(here, work, q, options)


@routes.get("/counts", response_model=schemas.Counted, responses=problems(503, 504))
async def counts(here: Here, q: Text, lang: Lang = "", where: Conditions = []) -> Response:  # noqa: B006
    """How many of the best documents are in which language, and have which values of fields."""
    asked(here, q)
    options = SearchOptions(lang or None, where=parse_conditions(where) or None)
    return await _answered(here, answers.counted, q, options)


@routes.get("/why", response_model=schemas.Why, responses=problems(503, 504))
async def why(
    here: Here, q: Text, options: Options, id: Annotated[str, Query(description="A document.", examples=["bee.fr"])]
) -> Response:
    """Which words met, through what, and how much of the score they carried; asked as the search was."""
    asked(here, q, options.k)
    return await _answered(here, answers.why, q, id, options)


@routes.get("/gloss", response_model=schemas.Gloss, responses=problems(503, 504))
async def gloss(
    here: Here,
    text: Annotated[str, Query(examples=["L'abeille vit dans une ruche."])],
    to: Annotated[str, Query(description="The reader's language.", examples=["en"], max_length=35)],
    lang: Lang = "",
) -> Response:
    """What the words of a text mean."""
    _bounded("text", len(text), here.library.limits.gloss, "characters")
    (words,) = await here.library.ask(here.name, answers.glosses, [(text, lang)], {"to": to})
    return Response(words, media_type=_JSON)


@routes.post("/gloss", response_model=schemas.Glosses, responses=problems(413, 503, 504))
async def glosses(here: Here, wanted: schemas.GlossRequest) -> Response:
    """What the words of several texts mean, such as the titles and snippets of an answer."""
    _bounded("texts", sum(len(item.text) for item in wanted.texts), here.library.limits.gloss, "characters")
    texts = [(text.text, text.lang) for text in wanted.texts]
    how = {"to": wanted.to, "asked": wanted.asked}
    words = await here.library.ask(here.name, answers.glosses, texts, how)
    return Response(f'{{"glosses":[{",".join(words)}]}}', media_type=_JSON)


@routes.post("/translate", response_model=schemas.Translated, responses=problems(413, 501, 503, 504))
async def translate(here: Here, wanted: schemas.TranslationRequest) -> JSONResponse:
    """A text by the translation engine of the collection, where it has one."""
    _bounded("text", len(wanted.text), here.library.limits.gloss, "characters")
    made = await here.library.ask(here.name, answers.translated, wanted.text, wanted.lang, wanted.to)
    return JSONResponse({"text": made})


async def _answered(here: Place, work: Callable[..., Any], *told: Any) -> Response:
    """The answer is ours and JSON already: checking it again costs more than a small search."""
    return Response(await here.library.ask(here.name, answers.written, work, *told), media_type=_JSON)


def asked(here: Place, q: str, k: int = 1) -> None:
    limits = here.library.limits
    _bounded("q", len(q), limits.query, "characters")
    _bounded("q", len(_TERM.findall(q)), limits.terms, "words")
    _bounded("k", k, limits.k, "documents")


def _bounded(name: str, value: int, most: int, unit: str) -> None:
    if value > most:
        raise HTTPException(422, f"{name}: {value:,} {unit}; at most {most:,} are allowed")
