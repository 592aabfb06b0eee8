"""Read and write TREC files: documents and topics in loose SGML, runs of six columns, judgments of four.

Knows nothing of measures. The formats are those of trec_eval (https://github.com/usnistgov/trec_eval).
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator

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
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*+)[^<>]*+>")
_COLUMN = re.compile(r"[^ \t]+")
_DOC_START = re.compile(r"<doc(\s[^>]*)?>", re.IGNORECASE)
_DOC_END = re.compile(r"(?<=</doc>)", re.IGNORECASE)  # where a line is cut
_DOC_CLOSED = re.compile(r"</doc>$", re.IGNORECASE)
_TOPIC = re.compile(r"<(top|topic)\b([^>]*)>(.*?)</\1\s*>", re.IGNORECASE | re.DOTALL)
_ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*["']?([^"'\s>]+)""")
_LABEL = re.compile(r"^\s*(number|topic|title|description|narrative)\s*:\s*", re.IGNORECASE)
_TITLES = ("title", "headline", "hl", "head", "ti")
_HEADER = frozenset({"docno", "docid", "lang", *_TITLES})


def read_run(path: PathLike) -> Run:
    """Read lines `query Q0 document rank score tag` as rankings, best score first, equal scores by rank."""
    rankings: dict[str, dict[str, tuple[float, int]]] = {}  # (score, rank) by query and document

    def parse(_: int, line: str) -> None:
        query, _iteration, document, rank, score, _tag = _split_columns(line, 6, "query Q0 document rank score tag")
        position = (_parse_score(score), _parse_int(rank, "rank"))
        if rankings.setdefault(query, {}).setdefault(document, position) is not position:
            raise InputError(f"document {document!r} comes twice for query {query!r}; keep one of the lines")

    for _row in files.parse_lines(path, parse):
        pass
    run: Run = {}
    for query, ranking in rankings.items():
        order = sorted(ranking.items(), key=lambda item: (-item[1][0], item[1][1]))
        run[query] = [Hit(document, score) for document, (score, _) in order]
    return run


def write_run(path: PathLike, run: Run, *, tag: str = "paragloss") -> None:
    """Write rankings with every digit of their scores, so that reading gives the same floats in the same order."""
    _check_id(tag, "tag")
    with open_output(path) as out:
        for query, ranking in run.items():
            _check_id(query, "query id")
            last = math.inf
            for rank, hit in enumerate(ranking, 1):
                score = float(hit.score)
                if not math.isfinite(score) or score > last:
                    raise InputError(
                        f"rank {rank} of query {query!r} has score {score!r} after {last!r}; "
                        "scores must be finite and fall with the rank",
                        location=path,
                    )
                last = score
                out.write(f"{query} Q0 {_check_id(hit.id, 'document id')} {rank} {score!r} {tag}\n")


def read_trec_qrels(path: PathLike) -> Qrels:
    """Read lines `query 0 document grade` as grades by query and document."""
    qrels: Qrels = {}

    def parse(_: int, line: str) -> None:
        query, _iteration, document, grade = _split_columns(line, 4, "query 0 document grade")
        value = _parse_int(grade, "grade")
        grades = qrels.setdefault(query, {})
        if grades.setdefault(document, value) != value:
            raise InputError(f"document {document!r} has two grades for query {query!r}; keep one of the lines")

    for _row in files.parse_lines(path, parse):
        pass
    return qrels


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
    count = 0
    with open_output(path) as out:
        for d in documents:
            parts = {"DOCNO": _check_id(d.id, "document id"), "LANG": d.lang, "TITLE": d.title, "TEXT": d.text}
            inner = "".join(f"<{tag}>{html.escape(text, quote=False)}</{tag}>\n" for tag, text in parts.items() if text)
            out.write(f"<DOC>\n{inner}</DOC>\n")
            count += 1
    return count


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
    """Yield (line, markup) of every <DOC> element, from its opening tag to its closing one."""
    unclosed = InputError("<DOC> is never closed; end it with </DOC>")
    too_long = InputError(f"<DOC> is longer than {MAX_DOCUMENT_BYTES:,} characters; close it with </DOC>")
    start_line, size, has_doc = 0, 0, False  # start_line is 0 outside of elements
    pieces: list[str] = []
    for number, line in files.read_lines(path, on_error=on_error):
        for piece in _DOC_END.split(line):
            if _DOC_START.search(piece):
                if start_line:
                    raise_or_report(unclosed, path, start_line, on_error)
                start_line, size, pieces, has_doc = number, 0, [], True
            if not start_line:
                continue
            pieces.append(piece)
            size += len(piece)
            if size > MAX_DOCUMENT_BYTES:
                raise_or_report(too_long, path, start_line, on_error)
                start_line = 0
            elif _DOC_CLOSED.search(piece):
                yield start_line, "\n".join(pieces)
                start_line = 0
    if start_line:
        raise_or_report(unclosed, path, start_line, on_error)
    if not has_doc:
        raise InputError("no <DOC> element; give a file of TREC documents", location=path)


def _parse_document(body: str, lang: str) -> Document:
    texts = {name: _strip_tags(" ".join(markup)) for name, markup in _read_closed_elements(body).items()}
    head = _DOC_START.search(body)
    attributes = dict(_ATTRIBUTE.findall(head[1])) if head is not None and head[1] else {}
    name = texts.get("docno") or texts.get("docid") or attributes.get("id") or ""
    if not name:
        raise InputError("<DOC> without <DOCNO>; give every document its number")
    title = next((texts[tag] for tag in _TITLES if texts.get(tag)), "")
    own = texts.get("lang", "").lower()
    text = texts.get("text") or _strip_tags(_remove_elements(body, _HEADER))
    return Document(name, text, parse_language_code(own) if own else lang, title)


def _parse_topic(attributes: str, body: str, lang: str) -> Query:
    """Make a query of a topic's title.

    :param attributes: markup of the attributes of the topic's tag
    :param body: markup inside the topic
    :param lang: the language, unless the topic's attributes or tags such as <EN-title> name another
    :raises InputError: if the topic has no number or no title
    """
    named_attributes = {key.lower(): value for key, value in _ATTRIBUTE.findall(attributes)}
    texts, tag_lang = _read_topic_texts(body)
    numbers = [texts.get("num"), texts.get("identifier"), named_attributes.get("number"), named_attributes.get("id")]
    number = next((candidate for candidate in numbers if candidate), "")
    if not number:
        raise InputError("topic without <num>; give every topic its number")
    query_text = texts.get("title") or texts.get("query", "")
    if not query_text:
        raise InputError(f"topic {number} has no <title>; it has {', '.join(texts)}")
    own_lang = named_attributes.get("lang") or named_attributes.get("xml:lang") or ""
    query_lang = parse_language_code(own_lang) if own_lang else tag_lang or lang
    return Query(number, " ".join(query_text.split()), query_lang)


def _read_topic_texts(body: str) -> tuple[dict[str, str], str]:
    """Return the texts of a topic by their tags, the first of each, and the language that its tags name, or "".

    Tags may begin with a language, such as <EN-title>.
    """
    texts: dict[str, str] = {}
    lang = ""
    for tag, text in _split_at_tags(body):
        prefix, _, bare_tag = tag.rpartition("-")
        if prefix and bare_tag in ("title", "desc", "narr"):
            tag, lang = bare_tag, parse_language_code(prefix)
        value = html.unescape(_LABEL.sub("", text)).strip()
        if tag and value:
            texts.setdefault(tag, value)
    return texts, lang


# Loose SGML: elements closed or not, in any case, nested or not; each function is one pass.


def _strip_tags(markup: str) -> str:
    return html.unescape(_TAG.sub(" ", markup)).strip()


def _read_closed_elements(body: str) -> dict[str, list[str]]:
    """Return the contents of all closed elements, by their names in lower case."""
    opened: dict[str, int] = {}
    contents: dict[str, list[str]] = {}
    for tag in _TAG.finditer(body):
        name = tag[2].lower()
        if not tag[1]:
            opened.setdefault(name, tag.end())
        elif name in opened:
            contents.setdefault(name, []).append(body[opened.pop(name) : tag.start()])
    return contents


def _remove_elements(body: str, names: frozenset[str]) -> str:
    """Return the body without the elements of these names."""
    pieces: list[str] = []
    position, open_element = 0, ""
    for tag in _TAG.finditer(body):
        name = tag[2].lower()
        if not open_element and not tag[1] and name in names:
            pieces.append(body[position : tag.start()])
            open_element = name
        elif open_element == name and tag[1]:
            open_element, position = "", tag.end()
    return " ".join(pieces) if open_element else " ".join([*pieces, body[position:]])


def _split_at_tags(body: str) -> list[tuple[str, str]]:
    """Return (element, text up to the next tag) in order: topics seldom close their elements."""
    tags = list(_TAG.finditer(body))
    end_positions = [tag.start() for tag in tags[1:]] + [len(body)]
    return [(tag[2].lower(), body[tag.end() : end]) for tag, end in zip(tags, end_positions, strict=True) if not tag[1]]
