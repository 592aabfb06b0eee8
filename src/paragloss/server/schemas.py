"""What requests and answers look like, with examples: the source of the OpenAPI description."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Meta = dict[str, str | int | float | bool | list[str | int | float | bool] | None]


class Strict(BaseModel):
    """A request: a key that is not known is an error, not a silent loss."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """Every error looks like this: one line that says what was wrong and what to do."""

    error: str = Field(examples=["unknown language code 'xx'; expected an ISO 639 code such as 'en'"])


class Asked(BaseModel):
    text: str = Field(examples=["how do bees make honey"])
    lang: str = Field(examples=["en"], description="As given, or as found out.")
    others: list[str] = Field(
        default=[], examples=[["nl"]], description="Languages it may have been as well, which were searched too."
    )
    suggestion: str = Field(
        default="",
        examples=["how do bees make honey"],
        description="As it may have been meant, where words are unknown.",
    )


class PairOfWords(BaseModel):
    query: str = Field(examples=["bees"])
    document: str = Field(examples=["abeille"])
    source: str = Field(examples=["table"])
    score: float = Field(examples=[0.4])


class Part(BaseModel):
    model_config = ConfigDict(extra="allow")
    part: str = Field(examples=["table"])
    score: float = Field(examples=[0.9])
    approximate: bool = False
    pairs: list[PairOfWords]


class Found(BaseModel):
    """One document found."""

    model_config = ConfigDict(extra="allow")
    id: str = Field(examples=["bee.fr"])
    lang: str = Field(examples=["fr"])
    title: str = Field(examples=["Abeille"])
    score: float = Field(examples=[0.98], description="Comparable within one answer.")
    snippet: str = Field(examples=["L'abeille domestique est un insecte ..."])
    marks: list[tuple[int, int]] = Field(examples=[[(2, 9)]], description="Places in the snippet that matched.")
    meta: dict[str, Any] = Field(examples=[{"concept": "bee"}])
    fit: float = Field(examples=[0.72], description="How likely this is what was asked for.")
    copies: list[str] = Field(default=[], description="Ids of documents with the same or nearly the same text.")
    why: list[Part] = Field(default=[], description="What its score is made of; only where `why` is asked.")


class Answered(BaseModel):
    """What `paragloss search --json` prints."""

    model_config = ConfigDict(extra="allow")
    query: Asked
    results: list[Found]


class Counted(BaseModel):
    """How many of the best documents are in which language."""

    query: Asked
    of: int = Field(examples=[200], description="How many documents were looked at.")
    languages: dict[str, int] = Field(examples=[{"fr": 34, "hi": 12}])
    fields: dict[str, dict[str, int]] = Field(
        examples=[{"kind": {"pdf": 30, "md": 4}, "dated": {"1999": 7, "2024": 27}}],
        description="Values that several of them share; `dated` is the year they are from.",
    )


class Document(BaseModel):
    """A document as it is kept."""

    id: str = Field(examples=["bee.fr"])
    lang: str = Field(examples=["fr"])
    title: str = Field("", examples=["Abeille"])
    text: str = Field(examples=["L'abeille domestique est un insecte."])
    fields: dict[str, str] = Field(default_factory=dict)
    meta: dict[str, Any] = Field(default_factory=dict, examples=[{"year": 1999}])


class Paragraph(BaseModel):
    start: int = Field(examples=[0])
    text: str = Field(examples=["L'abeille domestique est un insecte."])
    heading: bool = False
    page: int | None = Field(None, examples=[3], description="The page of its file, where that has pages.")
    marks: list[tuple[int, int]] = Field(examples=[[(2, 9)]], description="Places in its text that matched.")


class Heading(BaseModel):
    title: str = Field(examples=["La ruche"])
    start: int = Field(examples=[420])


class Reading(BaseModel):
    """Some paragraphs of a document."""

    id: str = Field(examples=["bee.fr"])
    lang: str = Field(examples=["fr"])
    title: str = Field("", examples=["Abeille"])
    meta: dict[str, Any] = Field(examples=[{"year": 1999}])
    start: int = Field(examples=[0], description="Where they begin in the text, in characters.")
    end: int = Field(examples=[1200])
    length: int = Field(examples=[1200], description="Of the whole text.")
    best: list[int] | None = Field(examples=[[17, 40]], description="Where the best passage is, if looked for.")
    outline: list[Heading]
    paragraphs: list[Paragraph]


class NewText(Strict):
    """The content of a document; its language is found out when it is not said."""

    text: str = Field(examples=["L'abeille domestique est un insecte."])
    lang: str = Field("", max_length=35, examples=["fr"])
    title: str = Field("", examples=["Abeille"])
    fields: dict[str, str] = Field(default_factory=dict)
    meta: Meta = Field(default_factory=dict, examples=[{"year": 1999}])


class NewDocument(NewText):
    """A document to add; one with a known id is replaced."""

    id: str = Field(min_length=1, max_length=1000, examples=["bee.fr"])


class Change(Strict):
    """What is to be different about a document; what is not given stays."""

    text: str | None = Field(None, examples=["Une abeille."])
    lang: str | None = Field(None, max_length=35)
    title: str | None = None
    fields: dict[str, str] | None = None
    meta: Meta | None = None


class LineError(BaseModel):
    line: int = Field(examples=[3])
    error: str = Field(examples=["not JSON at column 1 (Expecting value); write one whole object per line"])


class Written(BaseModel):
    """What became of documents. Bad lines cost only themselves."""

    indexed: int = Field(examples=[2])
    deleted: int = 0
    failed: int = Field(0, description="How many lines were bad; `errors` lists the first hundred.")
    errors: list[LineError] = Field(default_factory=list)
    documents: int = Field(examples=[720], description="How many the collection holds now.")


class Removed(BaseModel):
    deleted: int = Field(examples=[1])
    documents: int = Field(examples=[419])


class Model(BaseModel):
    model_config = ConfigDict(extra="allow")
    kind: str = Field(examples=["BagEncoder"])


class Collection(BaseModel):
    name: str = Field(examples=["library"])
    documents: int = Field(examples=[720])
    languages: dict[str, int] = Field(examples=[{"en": 60, "fr": 60}])
    models: dict[str, Model]
    pipelines: list[str] = Field(examples=[["bm25", "cr5"]])
    examples: list[tuple[str, str]] = Field(examples=[[("Abeille", "fr")]], description="Titles with their languages.")
    writable: bool = Field(description="Whether this caller may add documents.")
    engine: str = Field("", examples=["apertium"], description="Who translates texts here.")
    originals: bool = Field(description="Whether the files that documents were read from can be opened.")


class Collections(BaseModel):
    collections: list[Collection]
    version: str = Field(examples=["0.1.0"])


class Models(BaseModel):
    models: dict[str, dict[str, Model]] = Field(description="By collection and name.")


class Health(BaseModel):
    status: Literal["ok"] = "ok"
    version: str = Field(examples=["0.1.0"])


class Ready(BaseModel):
    ready: bool
    collections: dict[str, int] = Field(examples=[{"library": 720}], description="Documents in each.")


class GlossText(Strict):
    text: str = Field(examples=["L'abeille vit dans une ruche."])
    lang: str = Field("", max_length=35, examples=["fr"], description="Found out when not given.")


class GlossRequest(Strict):
    texts: list[GlossText] = Field(max_length=100)
    to: str = Field(min_length=2, max_length=35, examples=["en"])
    asked: str = Field("", max_length=1000, description="What the reader looks for: decides between senses.")


class Meaning(BaseModel):
    text: str = Field(examples=["bee"])
    weight: float = Field(examples=[0.8])
    source: str = Field(examples=["table"])
    kind: str = Field("", examples=["noun"], description="Its part of speech, where that is known.")


class Word(BaseModel):
    model_config = ConfigDict(extra="allow")
    start: int = Field(examples=[2])
    end: int = Field(examples=[9])
    text: str = Field(examples=["abeille"])
    kind: str = Field(examples=["word"], description="word, unknown, name, stop or other")
    meanings: list[Meaning]
    confidence: float = Field(examples=[0.8])
    sure: bool = Field(examples=[True], description="whether the first meaning is more than a guess")
    romanised: str | None = None


class Gloss(BaseModel):
    """What the words of a text mean."""

    lang: str = Field(examples=["fr"])
    to: str = Field(examples=["en"])
    words: list[Word]
    rendering: str = Field(examples=["bee lives hive"])


class Glosses(BaseModel):
    glosses: list[Gloss]


class TranslationRequest(Strict):
    text: str = Field(examples=["L'abeille vit dans une ruche."])
    lang: str = Field(min_length=2, max_length=35, examples=["fr"])
    to: str = Field(min_length=2, max_length=35, examples=["en"])


class Translated(BaseModel):
    text: str = Field(examples=["The bee lives in a hive."])


class Why(BaseModel):
    """Which words met, through what, and how much of the score they carried."""

    model_config = ConfigDict(extra="allow")
    query: Asked
    id: str = Field(examples=["bee.fr"])
    score: float = Field(examples=[0.98])
    parts: list[Part]


class GlossaryPair(Strict):
    lang: str = Field(min_length=2, max_length=35, examples=["en"])
    word: str = Field(min_length=1, max_length=200, examples=["privacy"])
    to: str = Field(min_length=2, max_length=35, examples=["da"])
    meaning: str = Field(min_length=1, max_length=200, examples=["privatliv"])


class Glossary(Strict):
    """The reader's own words: they count in both directions, from the next query on."""

    pairs: list[GlossaryPair] = Field(max_length=20_000)


class GlossaryChange(Strict):
    """Pairs to take out, then pairs to put in."""

    remove: list[GlossaryPair] = Field([], max_length=20_000)
    add: list[GlossaryPair] = Field([], max_length=20_000)
