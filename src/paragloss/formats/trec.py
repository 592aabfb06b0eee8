"""Read and write TREC files: documents and topics in loose SGML, runs of six columns, judgments of four.

Knows nothing of measures. The formats are those of trec_eval (https://github.com/usnistgov/trec_eval).
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from paragloss.errors import InputError
from paragloss.formats import text as files
from paragloss.formats.text import (
    MAX_DOCUMENT_BYTES,
    OnError,
    PathLike,
    open_output,
    parse_language_code,
    raise_or_report,
)
from paragloss.types import Document, Hit, Qrels, Query, Run

# Possessive, so that a "<" that is never closed costs one pass.
_TAG = re.compile(r"<(?P<slash>/?)(?P<name>[A-Za-z][\w.-]*+)[^<>]*+>")
_COLUMN = re.compile(r"[^ \t]+")
_DOC_START = re.compile(r"<doc(\s[^>]*)?>", re.IGNORECASE)
_DOC_END = re.compile(r"(?<=</doc>)", re.IGNORECASE)  # where a line is cut
_TOPIC = re.compile(r"<(top|topic)\b([^>]*)>(.*?)</\1\s*>", re.IGNORECASE | re.DOTALL)
_ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*["']?([^"'\s>]+)""")
_LABEL = re.compile(r"^\s*(number|topic|title|description|narrative)\s*:\s*", re.IGNORECASE)
_TITLES = ("title", "headline", "hl", "head", "ti")
_HEADER = frozenset({"docno", "docid", "lang", *_TITLES})


class _RunLine(NamedTuple):
    """A line of a run, and its number in the file."""

    number: int
    query_id: str
    document_id: str
    rank: int
    score: float


def read_run(path: PathLike) -> Run:
    """Read a run in the format of TREC, lines `query Q0 document rank score tag`.

    :return: the hits of each query, the best score first, equal scores by their rank in the file
    :raises InputError: if a line has other columns, or a document comes twice for a query
    """
    lines_by_query: dict[str, dict[str, _RunLine]] = {}  # by query and document
    for line in files.parse_lines(path, _parse_run_line):
        lines = lines_by_query.setdefault(line.query_id, {})
        if line.document_id in lines:
            repetition = f"document {line.document_id!r} comes twice for query {line.query_id!r}"
            raise InputError(f"{repetition}; keep one of the lines", location=f"{path}:{line.number}")
        lines[line.document_id] = line
    return {query_id: _rank_hits(lines.values()) for query_id, lines in lines_by_query.items()}


def _rank_hits(lines: Iterable[_RunLine]) -> list[Hit]:
    """Return the hits of a query, the best score first, equal scores by the rank that their lines state."""
    ranking = sorted(lines, key=lambda line: (-line.score, line.rank))
    return [Hit(line.document_id, line.score) for line in ranking]


def _parse_run_line(number: int, line: str) -> _RunLine:
    columns = _split_columns(line, 6, "query Q0 document rank score tag")
    query_id, _iteration, document_id, rank, score, _tag = columns
    return _RunLine(number, query_id, document_id, score=_parse_score(score), rank=_parse_int(rank, "rank"))


def write_run(path: PathLike, run: Run, *, tag: str = "paragloss") -> None:
    """Write rankings with every digit of their scores, so that reading gives the same floats in the same order.

    :param run: the hits of each query, best first
    :param tag: the name of the run, its last column
    :raises InputError: if the scores of a ranking are not finite or rise, or a name has blanks
    """
    _check_id(tag, "tag")
    with open_output(path) as output:
        for query_id, ranking in run.items():
            _check_id(query_id, "query id")
            scores = [float(hit.score) for hit in ranking]
            _check_scores(scores, query_id, path)
            for rank, (hit, score) in enumerate(zip(ranking, scores, strict=True), 1):
                document_id = _check_id(hit.id, "document id")
                output.write(f"{query_id} Q0 {document_id} {rank} {score!r} {tag}\n")


def _check_scores(scores: Sequence[float], query_id: str, path: PathLike) -> None:
    """Raise InputError if a score of a ranking is not finite or higher than the one before it."""
    previous_score = math.inf
    for rank, score in enumerate(scores, 1):
        if not math.isfinite(score) or score > previous_score:
            problem = f"rank {rank} of query {query_id!r} has score {score!r} after {previous_score!r}"
            raise InputError(f"{problem}; scores must be finite and fall with the rank", location=path)
        previous_score = score


class _Judgment(NamedTuple):
    """A line of judgments, and its number in the file."""

    number: int
    query_id: str
    document_id: str
    grade: int


def read_trec_qrels(path: PathLike) -> Qrels:
    """Read judgments in the format of TREC, lines `query 0 document grade`.

    :return: the grades by query and document
    :raises InputError: if a line has other columns, or a document has two grades for a query
    """
    qrels: Qrels = {}
    for judgment in files.parse_lines(path, _parse_judgment):
        grades = qrels.setdefault(judgment.query_id, {})
        first_grade = grades.setdefault(judgment.document_id, judgment.grade)
        if judgment.grade != first_grade:
            contradiction = f"document {judgment.document_id!r} has two grades for query {judgment.query_id!r}"
            raise InputError(f"{contradiction}; keep one of the lines", location=f"{path}:{judgment.number}")
    return qrels


def _parse_judgment(number: int, line: str) -> _Judgment:
    query_id, _iteration, document_id, grade = _split_columns(line, 4, "query 0 document grade")
    return _Judgment(number, query_id, document_id, _parse_int(grade, "grade"))


def write_qrels(path: PathLike, qrels: Qrels) -> None:
    """Write grades, one line each."""
    with open_output(path) as out:
        for query, grades in qrels.items():
            _check_id(query, "query id")
            for document, grade in grades.items():
                out.write(f"{query} 0 {_check_id(document, 'document id')} {int(grade)}\n")


def read_trec_documents(path: PathLike, *, lang: str = "", on_error: OnError = None) -> Iterator[Document]:
    """Yield the documents of `<DOC>` elements.

    The title is that of a TITLE, HEADLINE or HL element, the text that of the TEXT elements, or of all others if there
    is none. A `<LANG>` element overrides `lang`.
    """
    return files.parse_numbered_items(
        _read_doc_elements(path, on_error), lambda _, body: _parse_document(body, lang), path, on_error
    )


def write_trec_documents(path: PathLike, documents: Iterable[Document]) -> int:
    """Write `<DOC>` elements, without fields and meta, which TREC does not have; return the number of documents."""
    n_documents = 0
    with open_output(path) as output:
        for document in documents:
            document_id = _check_id(document.id, "document id")
            texts = {"DOCNO": document_id, "LANG": document.lang, "TITLE": document.title, "TEXT": document.text}
            elements = [f"<{tag}>{html.escape(text, quote=False)}</{tag}>\n" for tag, text in texts.items() if text]
            output.write(f"<DOC>\n{''.join(elements)}</DOC>\n")
            n_documents += 1
    return n_documents


def read_topics(path: PathLike, *, lang: str = "") -> Iterator[Query]:
    """Yield the queries of `<top>` or `<topic>` elements: their titles. CLEF's `<FR-title>` gives the language, too."""
    text = files.read_text(path)
    topics = list(_TOPIC.finditer(text))
    if not topics:
        raise InputError("no <top> ... </top> element; give a file of TREC topics", location=path)
    for match in topics:
        try:
            yield _parse_topic(match[2], match[3], lang)
        except InputError as error:
            raise_or_report(error, path, text.count("\n", 0, match.start()) + 1, None)


def _split_columns(line: str, count: int, expected: str) -> list[str]:
    # Not str.split(): an id may hold a no-break space, which separates nothing here.
    columns = _COLUMN.findall(line)
    if len(columns) != count:
        raise InputError(f"{len(columns)} columns where {count} are expected: {expected}")
    return columns


def _parse_score(text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise InputError(f"score {text!r} is no number; write it as 12.34") from error
    if not math.isfinite(value):
        raise InputError(f"score {text!r} is not finite; write it as 12.34")
    return value


def _parse_int(text: str, column: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise InputError(f"{column} {text!r} is no whole number; write it as 1") from error


def _check_id(name: str, column: str) -> str:
    if len(name.split()) != 1 or "\0" in name or name.startswith("\ufeff") or name != name.strip():
        raise InputError(f"{column} {name!r} can't stand in a TREC file; ids there have no blanks and are not empty")
    return name


def _read_doc_elements(path: PathLike, on_error: OnError) -> Iterator[tuple[int, str]]:
    """Yield (line, markup) of every <DOC> element of a file, from its opening tag to its closing one.

    :param on_error: called with the error of each element that is not closed or too long; otherwise it is raised
    :raises InputError: if there is no such element
    """
    has_element = False
    for start_line, markup in _split_doc_elements(path, on_error):
        has_element = True
        problem = _find_element_problem(markup)
        if problem:
            raise_or_report(InputError(problem), path, start_line, on_error)
        else:
            yield start_line, markup
    if not has_element:
        raise InputError("no <DOC> element; give a file of TREC documents", location=path)


def _find_element_problem(markup: str) -> str:
    """Return why a <DOC> element can't be read, "" if it can."""
    if len(markup) > MAX_DOCUMENT_BYTES:
        return f"<DOC> is longer than {MAX_DOCUMENT_BYTES:,} characters; close it with </DOC>"
    return "" if _is_closed(markup) else "<DOC> is never closed; end it with </DOC>"


def _is_closed(markup: str) -> bool:
    return markup[-len("</doc>") :].lower() == "</doc>"


@dataclass
class _OpenDocElement:
    """A <DOC> element while it is read."""

    start_line: int  # of its opening tag
    pieces: list[str] = field(default_factory=list)
    n_characters: int = 0  # in all pieces
    is_complete: bool = False  # whether it is closed, or too long to be read on

    def add_piece(self, piece: str) -> None:
        """Add a line, or the part of a line up to a closing tag."""
        self.pieces.append(piece)
        self.n_characters += len(piece)
        self.is_complete = _is_closed(piece) or self.n_characters > MAX_DOCUMENT_BYTES

    def join_pieces(self) -> tuple[int, str]:
        """Return (line, markup) of the element."""
        return self.start_line, "\n".join(self.pieces)


def _split_doc_elements(path: PathLike, on_error: OnError) -> Iterator[tuple[int, str]]:
    """Yield (line, markup) of each <DOC> element of a file up to its closing tag.

    One that is not closed ends before the next one, at the end of the file, or when it is too long.

    :param on_error: called with the error of each line that can't be read; otherwise it is raised
    """
    element: _OpenDocElement | None = None  # None between elements
    for number, piece in _read_doc_pieces(path, on_error):
        if _DOC_START.search(piece):
            if element is not None:
                yield element.join_pieces()
            element = _OpenDocElement(number)
        if element is None:
            continue
        element.add_piece(piece)
        if element.is_complete:
            yield element.join_pieces()
            element = None
    if element is not None:
        yield element.join_pieces()


def _read_doc_pieces(path: PathLike, on_error: OnError) -> Iterator[tuple[int, str]]:
    """Yield (line number, piece) of every line of a file, which is cut behind each closing tag of a <DOC> element."""
    for number, line in files.read_lines(path, on_error=on_error):
        for piece in _DOC_END.split(line):
            yield number, piece


def _parse_document(body: str, lang: str) -> Document:
    texts = {name: _strip_tags(" ".join(markup)) for name, markup in _read_closed_elements(body).items()}
    head = _DOC_START.search(body)
    attributes = dict(_ATTRIBUTE.findall(head[1])) if head is not None and head[1] else {}
    name = _get_first_text(texts, "docno", "docid") or attributes.get("id", "")
    if not name:
        raise InputError("<DOC> without <DOCNO>; give every document its number")
    title = _get_first_text(texts, *_TITLES)
    own = texts.get("lang", "").lower()
    text = texts.get("text") or _strip_tags(_remove_elements(body, _HEADER))
    return Document(name, text, parse_language_code(own) if own else lang, title)


def _parse_topic(attribute_markup: str, body: str, lang: str) -> Query:
    """Make a query of the title of a TREC topic.

    :param attribute_markup: the attributes in the topic's tag, such as `lang="de"`
    :param body: the markup inside the topic
    :param lang: the language, unless the topic's attributes or tags such as <EN-title> name another
    :raises InputError: if the topic has no number or no title
    """
    attributes = {name.lower(): value for name, value in _ATTRIBUTE.findall(attribute_markup)}
    texts, tag_lang = _read_topic_texts(body)
    number = _get_first_text(texts, "num", "identifier") or _get_first_text(attributes, "number", "id")
    if not number:
        raise InputError("topic without <num>; give every topic its number")
    query_text = _get_first_text(texts, "title", "query")
    if not query_text:
        raise InputError(f"topic {number} has no <title>; it has {', '.join(texts)}")
    declared_lang = _get_first_text(attributes, "lang", "xml:lang")
    query_lang = parse_language_code(declared_lang) if declared_lang else (tag_lang or lang)
    return Query(number, " ".join(query_text.split()), query_lang)


def _get_first_text(texts: Mapping[str, str], *names: str) -> str:
    """Return the text of the first of some elements or attributes that has one, "" if none has."""
    return next((texts[name] for name in names if texts.get(name)), "")


def _read_topic_texts(body: str) -> tuple[dict[str, str], str]:
    """Read the elements of a topic, whose tags may begin with a language, such as <EN-title>.

    :param body: the markup inside the topic
    :return: the first text of each tag, without the tag's language, and that language, or "" if no tag names one
    """
    texts: dict[str, str] = {}
    lang = ""
    for tag, markup in _split_at_tags(body):
        bare_tag, tag_lang = _split_tag_language(tag)
        lang = tag_lang or lang
        text = html.unescape(_LABEL.sub("", markup)).strip()
        if text:
            texts.setdefault(bare_tag, text)
    return texts, lang


def _split_tag_language(tag: str) -> tuple[str, str]:
    """Return a tag without its language, and that language: ("title", "en") for `en-title`, ("num", "") for `num`."""
    prefix, _, bare_tag = tag.rpartition("-")
    if prefix and bare_tag in ("title", "desc", "narr"):
        return bare_tag, parse_language_code(prefix)
    return tag, ""


# Loose SGML: elements closed or not, in any case, nested or not; each function is one pass.


def _strip_tags(markup: str) -> str:
    return html.unescape(_TAG.sub(" ", markup)).strip()


def _read_closed_elements(body: str) -> dict[str, list[str]]:
    """Return the contents of all closed elements, by their names in lower case."""
    starts: dict[str, int] = {}  # of the open elements
    contents: dict[str, list[str]] = {}
    for tag in _TAG.finditer(body):
        name = tag["name"].lower()
        if not tag["slash"]:
            starts.setdefault(name, tag.end())
        elif name in starts:
            contents.setdefault(name, []).append(body[starts.pop(name) : tag.start()])
    return contents


def _remove_elements(body: str, names: frozenset[str]) -> str:
    """Return markup without the elements of some names; one that is never closed is removed up to the end.

    :param body: the markup inside a document or topic
    :param names: the names of these elements, in lower case
    """
    pieces: list[str] = []
    position = 0  # behind the last element that was removed
    open_element = ""  # the name of the element that is being removed
    for tag in _TAG.finditer(body):
        name = tag["name"].lower()
        is_closing = bool(tag["slash"])
        if not open_element and not is_closing and name in names:
            pieces.append(body[position : tag.start()])
            open_element = name
        elif is_closing and name == open_element:
            open_element = ""
            position = tag.end()
    if not open_element:
        pieces.append(body[position:])
    return " ".join(pieces)


def _split_at_tags(body: str) -> list[tuple[str, str]]:
    """Return (element, text up to the next tag) in order: topics seldom close their elements."""
    tags = list(_TAG.finditer(body))
    text_ends = [tag.start() for tag in tags[1:]] + [len(body)]
    texts: list[tuple[str, str]] = []
    for tag, text_end in zip(tags, text_ends, strict=True):
        if not tag["slash"]:
            texts.append((tag["name"].lower(), body[tag.end() : text_end]))
    return texts
