"""The records of requests and answers, with examples: the source of the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Meta = dict[str, str | int | float | bool | list[str | int | float | bool] | None]


class StrictModel(BaseModel):
    """Refuse unknown keys of a request instead of ignoring them."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """Every error looks like this: one line that says what was wrong and what to do."""

    error: str = Field(examples=["unknown language code 'xx'; expected an ISO 639 code such as 'en'"])


class InterpretedQuery(BaseModel):
    """A query as it was understood."""

    text: str = Field(examples=["how do bees make honey"])
    lang: str = Field(examples=["en"], description="As given, or as detected.")
    others: list[str] = Field(
        default=[], examples=[["nl"]], description="Languages it may have been as well, which were searched too."
    )
    suggestion: str = Field(
        default="",
        examples=["how do bees make honey"],
        description="As it may have been meant, where words are unknown.",
    )
    notes: list[str] = Field(
        default=[],
        examples=[["before:soon was left out: it is no date; write one as in before:2020-01-31."]],
        description='Operators such as `"exact phrase"`, `-word` and `lang:de` that could not be used, and why.',
    )


class WordMatch(BaseModel):
    """A word of the query, the word of the document that it matched, and through what."""

    query: str = Field(examples=["bees"])
    document: str = Field(examples=["abeille"])
    source: str = Field(examples=["table"])
    score: float = Field(examples=[0.4])


class ScorePart(BaseModel):
    """What one searcher contributed to the score of a document."""

    model_config = ConfigDict(extra="allow")
    part: str = Field(examples=["table"])
    score: float = Field(examples=[0.9])
    approximate: bool = False
    pairs: list[WordMatch]


class SearchResult(BaseModel):
    """A document that matches a query."""

    model_config = ConfigDict(extra="allow")
    id: str = Field(examples=["bee.fr"])
    lang: str = Field(examples=["fr"])
    title: str = Field(examples=["Abeille"])
    score: float = Field(examples=[0.98], description="Comparable within one answer.")
    snippet: str = Field(examples=["L'abeille domestique est un insecte ..."])
    marks: list[tuple[int, int]] = Field(examples=[[(2, 9)]], description="Offsets of matching words in the snippet.")
    meta: dict[str, Any] = Field(examples=[{"concept": "bee"}])
    fit: float = Field(examples=[0.72], description="How likely the document is relevant, from 0 to 1.")
    copies: list[str] = Field(
        default=[], examples=[["backup/bee.fr"]], description="Ids of documents with the same or nearly the same text."
    )
    why: list[ScorePart] = Field(default=[], description="What its score is made of; only where `why` is set.")


class SearchResponse(BaseModel):
    """The answer to a search, as `paragloss search --json` prints it."""

    model_config = ConfigDict(extra="allow")
    query: InterpretedQuery
    results: list[SearchResult]


class TermDocument(BaseModel):
    """A document that has a term."""

    id: str = Field(examples=["bee.fr"])
    lang: str = Field(examples=["fr"])
    title: str = Field("", examples=["Abeille"])
    path: str = Field("", examples=["2020/bees.pdf"])
    hits: int = Field(examples=[3], description="How often it has the term.")
    places: list[str] = Field(
        examples=[["L'abeille domestique est un insecte"]], description="Text around the first places."
    )


class TermResponse(BaseModel):
    """How often a name or term, as written or translated, stands in which documents."""

    term: str = Field(examples=["honey bee"])
    hits: int = Field(examples=[7])
    documents: int = Field(examples=[2])
    listed: list[TermDocument] = Field(description="The best documents.")
    notes: list[str] = Field(default=[], description="Operators that could not be used, and why.")


class CountsResponse(BaseModel):
    """How many of the best documents are in which language."""

    query: InterpretedQuery
    of: int = Field(examples=[200], description="How many documents were counted.")
    languages: dict[str, int] = Field(examples=[{"fr": 34, "hi": 12}])
    fields: dict[str, dict[str, int]] = Field(
        examples=[{"kind": {"pdf": 30, "md": 4}, "dated": {"1999": 7, "2024": 27}}],
        description="Values that several of them share; `dated` is the year they are from.",
    )


class StoredDocument(BaseModel):
    """A document as it is kept."""

    id: str = Field(examples=["bee.fr"])
    lang: str = Field(examples=["fr"])
    title: str = Field("", examples=["Abeille"])
    text: str = Field(examples=["L'abeille domestique est un insecte."])
    fields: dict[str, str] = Field(default_factory=dict)
    meta: dict[str, Any] = Field(default_factory=dict, examples=[{"year": 1999}])


class ReadingParagraph(BaseModel):
    """A paragraph of a document; `start` is its offset in the text."""

    start: int = Field(examples=[0])
    text: str = Field(examples=["L'abeille domestique est un insecte."])
    heading: bool = False
    page: int | None = Field(None, examples=[3], description="The page of its file, where that has pages.")
    time: str = Field("", examples=["0:01:23"], description="When a line of subtitles is shown.")
    marks: list[tuple[int, int]] = Field(examples=[[(2, 9)]], description="Offsets of words in its text that matched.")


class OutlineHeading(BaseModel):
    """A heading of a document and its offset in the text."""

    title: str = Field(examples=["La ruche"])
    start: int = Field(examples=[420])


class ReadingResponse(BaseModel):
    """Some paragraphs of a document."""

    id: str = Field(examples=["bee.fr"])
    lang: str = Field(examples=["fr"])
    title: str = Field("", examples=["Abeille"])
    meta: dict[str, Any] = Field(examples=[{"year": 1999}])
    start: int = Field(examples=[0], description="Where they begin in the text, in characters.")
    end: int = Field(examples=[1200])
    length: int = Field(examples=[1200], description="Of the whole text.")
    best: list[int] | None = Field(examples=[[17, 40]], description="Offsets of the best passage for the query.")
    outline: list[OutlineHeading]
    paragraphs: list[ReadingParagraph]


class DocumentContent(StrictModel):
    """The content of a document; its language is detected when it is not given."""

    text: str = Field(examples=["L'abeille domestique est un insecte."])
    lang: str = Field("", max_length=35, examples=["fr"])
    title: str = Field("", examples=["Abeille"])
    fields: dict[str, str] = Field(default_factory=dict)
    meta: Meta = Field(default_factory=dict, examples=[{"year": 1999}])


class NewDocument(DocumentContent):
    """A document to add; one with a known id is replaced."""

    id: str = Field(min_length=1, max_length=1000, examples=["bee.fr"])


class DocumentChange(StrictModel):
    """Changes of a document; what is not given stays."""

    text: str | None = Field(None, examples=["Une abeille."])
    lang: str | None = Field(None, max_length=35)
    title: str | None = None
    fields: dict[str, str] | None = None
    meta: Meta | None = None


class LineError(BaseModel):
    """A line of a stream of documents that could not be used."""

    line: int = Field(examples=[3])
    error: str = Field(examples=["not JSON at column 1 (Expecting value); write one whole object per line"])


class WriteResponse(BaseModel):
    """How many documents were written. A bad line does not affect the others."""

    indexed: int = Field(examples=[2])
    deleted: int = 0
    failed: int = Field(0, description="How many lines were bad; `errors` lists the first hundred.")
    errors: list[LineError] = Field(default_factory=list)
    documents: int = Field(examples=[720], description="How many the collection holds now.")


class DeleteResponse(BaseModel):
    """How many documents were deleted, and how many are left."""

    deleted: int = Field(examples=[1])
    documents: int = Field(examples=[419])


class ModelSummary(BaseModel):
    """A model of a collection."""

    model_config = ConfigDict(extra="allow")
    kind: str = Field(examples=["BagEncoder"])


class CollectionSummary(BaseModel):
    """A collection that the server has open."""

    name: str = Field(examples=["library"])
    documents: int = Field(examples=[720])
    languages: dict[str, int] = Field(examples=[{"en": 60, "fr": 60}])
    support: dict[str, str] = Field(
        default={},
        examples=[{"fr": "full: a table of translations", "af": "related: through Dutch"}],
        description="How documents of each language are found from others: full, related, encoder only or names only.",
    )
    models: dict[str, ModelSummary]
    pipelines: list[str] = Field(examples=[["bm25", "cr5"]])
    examples: list[tuple[str, str]] = Field(examples=[[("Abeille", "fr")]], description="Titles with their languages.")
    writable: bool = Field(description="Whether this caller may add documents.")
    engine: str = Field("", examples=["apertium"], description="The translation engine of the collection.")
    originals: bool = Field(description="Whether the files that documents were read from can be opened.")
    hosts_awaiting_consent: list[str] = Field(
        default=[],
        examples=[["api.example.org"]],
        description="Hosts that models of the collection need; they are not contacted until the user allows them.",
    )


class CollectionsResponse(BaseModel):
    """All collections of the server."""

    collections: list[CollectionSummary]
    version: str = Field(examples=["0.1.0"])


class ModelsResponse(BaseModel):
    """The models of all collections."""

    models: dict[str, dict[str, ModelSummary]] = Field(description="By collection and name.")


class HealthResponse(BaseModel):
    """Says that the process answers."""

    status: Literal["ok"] = "ok"
    version: str = Field(examples=["0.1.0"])


class ReadyResponse(BaseModel):
    """Says that the collections can be searched."""

    ready: bool
    collections: dict[str, int] = Field(examples=[{"library": 720}], description="Documents in each.")


class TextToGloss(StrictModel):
    """A text whose words are looked up."""

    text: str = Field(examples=["L'abeille vit dans une ruche."])
    lang: str = Field("", max_length=35, examples=["fr"], description="Detected when not given.")


class GlossRequest(StrictModel):
    """Texts to gloss, and the language of the reader."""

    texts: list[TextToGloss] = Field(max_length=100)
    to: str = Field(min_length=2, max_length=35, examples=["en"])
    asked: str = Field("", max_length=1000, description="The reader's query: it helps to choose between senses.")


class WordMeaning(BaseModel):
    """A possible meaning of a word."""

    text: str = Field(examples=["bee"])
    weight: float = Field(examples=[0.8])
    source: str = Field(examples=["table"])
    kind: str = Field("", examples=["noun"], description="Its part of speech, where that is known.")


class GlossedWord(BaseModel):
    """A word of a text with its meanings; `start` and `end` are offsets in the text."""

    model_config = ConfigDict(extra="allow")
    start: int = Field(examples=[2])
    end: int = Field(examples=[9])
    text: str = Field(examples=["abeille"])
    kind: str = Field(examples=["word"], description="word, unknown, name, stop or other")
    meanings: list[WordMeaning]
    confidence: float = Field(examples=[0.8])
    sure: bool = Field(examples=[True], description="whether the first meaning is more than a guess")
    romanised: str | None = None
    rendered: list[int] | None = Field(
        None, examples=[[0, 3]], description="where its meaning starts and ends in the rendering, if it is rendered"
    )


class GlossResponse(BaseModel):
    """The words of a text with their meanings, and a rough rendering of the text."""

    lang: str = Field(examples=["fr"])
    to: str = Field(examples=["en"])
    words: list[GlossedWord]
    rendering: str = Field(examples=["bee lives hive"])


class GlossesResponse(BaseModel):
    """The glosses of several texts, in their order."""

    glosses: list[GlossResponse]


class TranslationRequest(StrictModel):
    """A text to translate."""

    text: str = Field(examples=["L'abeille vit dans une ruche."])
    lang: str = Field(min_length=2, max_length=35, examples=["fr"])
    to: str = Field(min_length=2, max_length=35, examples=["en"])


class TranslationResponse(BaseModel):
    """A text in the language that was asked for."""

    text: str = Field(examples=["The bee lives in a hive."])


class ExplanationResponse(BaseModel):
    """Which words of the query matched which words of the document, and what each contributed to the score."""

    model_config = ConfigDict(extra="allow")
    query: InterpretedQuery
    id: str = Field(examples=["bee.fr"])
    score: float = Field(examples=[0.98])
    parts: list[ScorePart]


class GlossaryPair(StrictModel):
    """A word and its translation, which hold in both directions."""

    lang: str = Field(min_length=2, max_length=35, examples=["en"])
    word: str = Field(min_length=1, max_length=200, examples=["privacy"])
    to: str = Field(min_length=2, max_length=35, examples=["da"])
    meaning: str = Field(min_length=1, max_length=200, examples=["privatliv"])


class GlossaryContent(StrictModel):
    """The reader's own glossary."""

    pairs: list[GlossaryPair] = Field(max_length=20_000)


class GlossaryChange(StrictModel):
    """Pairs to remove from the glossary, then pairs to add."""

    remove: list[GlossaryPair] = Field([], max_length=20_000)
    add: list[GlossaryPair] = Field([], max_length=20_000)


class HostConsent(StrictModel):
    """A host that the user allows this machine to contact."""

    host: str = Field(min_length=1, max_length=300, examples=["api.example.org"])
