"""TREC's files: documents and topics in loose SGML, runs of six columns, judgments of four.

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
    """`query Q0 document rank score tag` as rankings, best score first; equal scores keep the order of their ranks."""
    found: dict[str, dict[str, tuple[float, int]]] = {}

    def parse(_: int, line: str) -> None:
        query, _iteration, document, rank, score, _tag = _columns(line, 6, "query Q0 document rank score tag")
        placed = (_number(score), _whole(rank, "rank"))
        if found.setdefault(query, {}).setdefault(document, placed) is not placed:
            raise InputError(f"document {document!r} comes twice for query {query!r}; keep one of the lines")

    for _row in files.parse_lines(path, parse):
        pass
    run: Run = {}
    for query, ranking in found.items():
        order = sorted(ranking.items(), key=lambda item: (-item[1][0], item[1][1]))
        run[query] = [Hit(document, score) for document, (score, _) in order]
    return run


def write_run(path: PathLike, run: Run, *, tag: str = "paragloss") -> None:
    """Write rankings with every digit of their scores, so that reading gives the same floats in the same order."""
    _one_word(tag, "tag")
    with open_output(path) as out:
        for query, ranking in run.items():
            _one_word(query, "query id")
            last = math.inf
            for rank, hit in enumerate(ranking, 1):
                score = float(hit.score)
                if not math.isfinite(score) or score > last:
                    raise InputError(
                        f"rank {rank} of query {query!r} has score {score!r} after {last!r}; "
                        "scores must be finite and fall with the rank",
                        place=path,
                    )
                last = score
                out.write(f"{query} Q0 {_one_word(hit.id, 'document id')} {rank} {score!r} {tag}\n")


def read_trec_qrels(path: PathLike) -> Qrels:
    """`query 0 document grade` as grades by query and document."""
    qrels: Qrels = {}

    def parse(_: int, line: str) -> None:
        query, _iteration, document, grade = _columns(line, 4, "query 0 document grade")
        value = _whole(grade, "grade")
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
            _one_word(query, "query id")
            for document, grade in grades.items():
                out.write(f"{query} 0 {_one_word(document, 'document id')} {int(grade)}\n")


def read_trec_documents(path: PathLike, *, lang: str = "", on_error: OnError = None) -> Iterator[Document]:
    """`<DOC>` elements. Title from a TITLE, HEADLINE or HL element, text from the TEXT elements, or from all others
    where there is none; a `<LANG>` element goes before `lang`."""
    return files.parse_numbered_items(_bodies(path, on_error), lambda _, body: _document(body, lang), path, on_error)


def write_trec_documents(path: PathLike, documents: Iterable[Document]) -> int:
    """Write `<DOC>` elements that `read_documents` reads again; how many there were. What TREC has no
    place for (fields, meta) is left out."""
    count = 0
    with open_output(path) as out:
        for d in documents:
            parts = {"DOCNO": _one_word(d.id, "document id"), "LANG": d.lang, "TITLE": d.title, "TEXT": d.text}
            inner = "".join(f"<{tag}>{html.escape(text, quote=False)}</{tag}>\n" for tag, text in parts.items() if text)
            out.write(f"<DOC>\n{inner}</DOC>\n")
            count += 1
    return count


def read_topics(path: PathLike, *, lang: str = "") -> Iterator[Query]:
    """`<top>` or `<topic>` elements, closed inside or not; a query's text is the title. CLEF's `<FR-title>` gives the
    language too."""
    text = files.read_text(path)
    topics = list(_TOPIC.finditer(text))
    if not topics:
        raise InputError("no <top> ... </top> element; give a file of TREC topics", place=path)
    for match in topics:
        try:
            yield _topic(match[2], match[3], lang)
        except InputError as error:
            raise_or_report(error, path, text.count("\n", 0, match.start()) + 1, None)


def _columns(line: str, count: int, expected: str) -> list[str]:
    # Not str.split(): an id may hold a no-break space, which separates nothing here.
    columns = _COLUMN.findall(line)
    if len(columns) != count:
        raise InputError(f"{len(columns)} columns where {count} are expected: {expected}")
    return columns


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise InputError(f"score {text!r} is no number; write it as 12.34") from error
    if not math.isfinite(value):
        raise InputError(f"score {text!r} is not finite; write it as 12.34")
    return value


def _whole(text: str, what: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise InputError(f"{what} {text!r} is no whole number; write it as 1") from error


def _one_word(name: str, what: str) -> str:
    if len(name.split()) != 1 or "\0" in name or name.startswith("\ufeff") or name != name.strip():
        raise InputError(f"{what} {name!r} can't stand in a TREC file; ids there have no blanks and are not empty")
    return name


def _bodies(path: PathLike, on_error: OnError) -> Iterator[tuple[int, str]]:
    """(line, markup) of every <DOC> element, from its opening tag to its closing one."""
    start, size, body, seen = 0, 0, list[str](), False
    unclosed = InputError("<DOC> is never closed; end it with </DOC>")
    for number, line in files.read_lines(path, on_error=on_error):
        for piece in _DOC_END.split(line):
            opening = _DOC_START.search(piece)
            if opening is not None:
                if start:
                    raise_or_report(unclosed, path, start, on_error)
                start, size, body, seen = number, 0, [], True
            if not start:
                continue
            body.append(piece)
            size += len(piece)
            if size > MAX_DOCUMENT_BYTES:
                long = InputError(f"<DOC> is longer than {MAX_DOCUMENT_BYTES:,} characters; close it with </DOC>")
                place, start = start, 0
                raise_or_report(long, path, place, on_error)
            elif _DOC_CLOSED.search(piece):
                place, start = start, 0
                yield place, "\n".join(body)
    if start:
        raise_or_report(unclosed, path, start, on_error)
    if not seen:
        raise InputError("no <DOC> element; give a file of TREC documents", place=path)


def _document(body: str, lang: str) -> Document:
    inner = _closed(body)
    texts = {name: _clean(" ".join(markup)) for name, markup in inner.items()}
    head = _DOC_START.search(body)
    attributes = dict(_ATTRIBUTE.findall(head[1])) if head is not None and head[1] else {}
    name = texts.get("docno") or texts.get("docid") or attributes.get("id") or ""
    if not name:
        raise InputError("<DOC> without <DOCNO>; give every document its number")
    title = next((texts[tag] for tag in _TITLES if texts.get(tag)), "")
    own = texts.get("lang", "").lower()
    text = texts.get("text") or _clean(_outside(body, _HEADER))
    return Document(name, text, parse_language_code(own) if own else lang, title)


def _topic(attributes: str, body: str, lang: str) -> Query:
    given = {key.lower(): value for key, value in _ATTRIBUTE.findall(attributes)}
    texts: dict[str, str] = {}
    for name, text in _behind_tags(body):
        prefix, _, bare = name.rpartition("-")
        if bare in ("title", "desc", "narr") and prefix:
            name, lang = bare, parse_language_code(prefix)
        value = html.unescape(_LABEL.sub("", text)).strip()
        if name and value:
            texts.setdefault(name, value)
    number = texts.get("num") or texts.get("identifier") or given.get("number") or given.get("id") or ""
    if not number:
        raise InputError("topic without <num>; give every topic its number")
    wanted = texts.get("title") or texts.get("query", "")
    if not wanted:
        raise InputError(f"topic {number} has no <title>; it has {', '.join(texts)}")
    own = given.get("lang") or given.get("xml:lang") or ""
    return Query(number, " ".join(wanted.split()), parse_language_code(own) if own else lang)


# Loose SGML: elements closed or not, in any case, nested or not; each function is one pass.


def _clean(markup: str) -> str:
    return html.unescape(_TAG.sub(" ", markup)).strip()


def _closed(body: str) -> dict[str, list[str]]:
    """What stands inside every closed element, by its name in lower case."""
    opened: dict[str, int] = {}
    found: dict[str, list[str]] = {}
    for tag in _TAG.finditer(body):
        name = tag[2].lower()
        if not tag[1]:
            opened.setdefault(name, tag.end())
        elif name in opened:
            found.setdefault(name, []).append(body[opened.pop(name) : tag.start()])
    return found


def _outside(body: str, names: frozenset[str]) -> str:
    """The body without the elements of these names."""
    kept, at, inside = list[str](), 0, ""
    for tag in _TAG.finditer(body):
        name = tag[2].lower()
        if not inside and not tag[1] and name in names:
            kept.append(body[at : tag.start()])
            inside = name
        elif inside == name and tag[1]:
            inside, at = "", tag.end()
    return " ".join(kept) if inside else " ".join([*kept, body[at:]])


def _behind_tags(body: str) -> list[tuple[str, str]]:
    """(element, text up to the next tag), in order: topics seldom close their elements."""
    tags = list(_TAG.finditer(body))
    ends = [tag.start() for tag in tags[1:]] + [len(body)]
    return [(tag[2].lower(), body[tag.end() : end]) for tag, end in zip(tags, ends, strict=True) if not tag[1]]
