"""Routes that search, count, explain, gloss and translate."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response

from paragloss.collection import SearchOptions
from paragloss.formats.conditions import parse_conditions
from paragloss.search.parts import FEEDBACK
from paragloss.server import answers, schemas
from paragloss.server.requests import Context, RequestContext, check_at_most, describe_errors, key_required

#: A word, or a letter of a script that is written without spaces.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TERM = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
#: What separates the steps of a pipeline.
_STEP_SEPARATOR = re.compile(r"[|>+]")
_FEEDBACK_STEP = re.compile(rf"\b{FEEDBACK}\b")
#: Longest id that can be asked for, in characters; documents that are added have shorter ones.
MAX_ID_LENGTH = 20_000

routes = APIRouter(prefix="/api", dependencies=key_required, tags=["search"])

QueryText = Annotated[str, Query(alias="q", description="The query.", examples=["how do bees make honey"])]
Lang = Annotated[str, Query(description="Its language; detected when not given.", examples=["en"], max_length=35)]
Conditions = Annotated[list[str], Query(description="`FIELD=VALUE`, such as `meta.year=1999`; may be given again.")]
DocumentId = Annotated[
    str, Query(min_length=1, max_length=MAX_ID_LENGTH, description="The id of a document.", examples=["bee.fr"])
]


async def _parse_options(
    lang: Lang = "",
    to: Annotated[
        str, Query(description="Languages of documents, such as `da,it`; all by default.", max_length=500)
    ] = "",
    k: Annotated[int, Query(ge=1, description="How many documents.")] = 10,
    pipeline: Annotated[str, Query(description="How to search; everything, fused, by default.", max_length=200)] = "",
    where: Conditions = [],  # noqa: B006 - FastAPI copies it
    reader: Annotated[str, Query(description="The reader's language: that of names alone.", max_length=35)] = "",
    variants: Annotated[bool, Query(description="Also other spellings of names, and corrected spelling.")] = True,
) -> SearchOptions:
    """Make search options of the parameters of a request; empty ones mean the collection's defaults.

    :param to: codes of the languages of documents, separated by commas
    :param k: how many documents are returned
    :param where: conditions on fields, such as `meta.year=1999`
    """
    document_langs = [code for code in to.split(",") if code]
    return SearchOptions(
        lang=lang or None,
        to=document_langs or None,
        k=k,
        pipeline=pipeline or None,
        where=parse_conditions(where) or None,
        reader=reader,
        variants=variants,
    )


Options = Annotated[SearchOptions, Depends(_parse_options)]


@routes.get("/search", response_model=schemas.SearchResponse, responses=describe_errors(503, 504))
async def search(
    context: Context,
    text: QueryText,
    options: Options,
    each_language: Annotated[bool, Query(description="At least one document of every language.")] = False,
    sort: Annotated[Literal["fit", "date"], Query(description="The best first, or the newest of them.")] = "fit",
    why: Annotated[bool, Query(description="Explain each document as `/api/why` does, by the same search.")] = False,
) -> Response:
    """Search a collection; the answer is what `paragloss search --json` prints."""
    check_search(context, text, options)
    work = partial(answers.find_documents, why=why, newest=sort == "date", each_language=each_language)
    return await _answer_json(context, work, text, options)


@routes.get("/counts", response_model=schemas.CountsResponse, responses=describe_errors(503, 504))
async def count_documents(context: Context, text: QueryText, options: Options) -> Response:
    """Count the best documents for a query by language and by the values of their fields."""
    check_search(context, text, options)
    return await _answer_json(context, answers.count_matching_documents, text, options)


@routes.get("/term", response_model=schemas.TermResponse, responses=describe_errors(503, 504))
async def count_term(context: Context, text: QueryText, options: Options) -> Response:
    """Count a name or term, as written or translated: its places, and the best documents that have it."""
    check_search(context, text, options)
    return await _answer_json(context, answers.answer_term_count, text, options)


@routes.get("/why", response_model=schemas.ExplanationResponse, responses=describe_errors(503, 504))
async def explain(context: Context, text: QueryText, options: Options, id: DocumentId) -> Response:
    """Explain why a search finds a document; takes the parameters of the search."""
    check_search(context, text, options)
    return await _answer_json(context, answers.explain_document, text, id, options)


@routes.get("/gloss", response_model=schemas.GlossResponse, responses=describe_errors(503, 504))
async def gloss(
    context: Context,
    text: Annotated[str, Query(examples=["L'abeille vit dans une ruche."])],
    to: Annotated[str, Query(description="The reader's language.", examples=["en"], max_length=35)],
    lang: Lang = "",
) -> Response:
    """Look up the words of a text."""
    check_at_most("text", len(text), context.library.limits.gloss, "characters")
    return await _answer_json(context, answers.gloss_text, text, lang, to)


@routes.post("/gloss", response_model=schemas.GlossesResponse, responses=describe_errors(413, 503, 504))
async def gloss_several(context: Context, request: schemas.GlossRequest) -> Response:
    """Look up the words of several texts, such as the titles and snippets of an answer."""
    length = sum(len(item.text) for item in request.texts)
    check_at_most("texts", length, context.library.limits.gloss, "characters")
    texts = [(item.text, item.lang) for item in request.texts]
    return await _answer_json(context, answers.answer_glosses, texts, request.to, request.asked)


@routes.post("/translate", response_model=schemas.TranslationResponse, responses=describe_errors(413, 501, 503, 504))
async def translate(context: Context, request: schemas.TranslationRequest) -> Response:
    """Translate a text with the engine of the collection, where it has one."""
    check_at_most("text", len(request.text), context.library.limits.gloss, "characters")
    return await _answer_json(context, answers.answer_translation, request.text, request.lang, request.to)


async def _answer_json(context: RequestContext, work: Callable[..., Any], *arguments: Any) -> Response:
    """Answer with JSON that the worker has encoded: validating it again costs more than a small search."""
    content = await context.search(answers.encode_json, work, *arguments)
    return Response(content, media_type="application/json")


def check_search(context: RequestContext, text: str, options: SearchOptions) -> None:
    """Raise an error of status 422 where a search asks for more than a request may cost."""
    limits = context.library.limits
    check_at_most("q", len(text), limits.query, "characters")
    check_at_most("q", len(_TERM.findall(text)), limits.terms, "words")
    check_at_most("k", options.k, limits.k, "documents")
    steps = len(_STEP_SEPARATOR.split(options.pipeline or ""))
    check_at_most("pipeline", steps, limits.pipeline_steps, "steps")
    check_at_most("pipeline", len(_FEEDBACK_STEP.findall(options.pipeline or "")), limits.feedback_steps, "feedback")
