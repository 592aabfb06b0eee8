"""Read click logs: which results people were shown for a query, and which they opened.

Our own format is JSON Lines: `{"query": "...", "shown": ["d1", "d2"], "clicks": [{"doc": "d2", "dwell": 31.5}]}`.
Sogou's (2008) has a line per click: time, user, [query], rank and order of the click, URL, separated by tabs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from paragloss.errors import InputError
from paragloss.formats import jsonl
from paragloss.formats.rows import get_row_language, get_row_text
from paragloss.formats.text import OnError, PathLike, parse_lines, read_lines

# In the published files a blank stands between rank and order, in their description a tab.
_SOGOU_LINE = re.compile(r"([^\t]*)\t([^\t]+)\t\[(.*)\]\t *(\d+)[ \t](\d+)\t(.+)")
#: The language of all of its queries.
SOGOU_LANGUAGE = "zh"


class Click(NamedTuple):
    """A result that was opened: its rank from 1 (0 if unknown), and the seconds spent on it, where known."""

    document: str
    rank: int = 0
    dwell: float | None = None


class Session(NamedTuple):
    """One query of one person: the documents shown, best first (empty if the log doesn't say), and the clicks."""

    query: str
    results: tuple[str, ...]
    clicks: tuple[Click, ...]
    lang: str = ""


def read_sessions(path: PathLike, *, on_error: OnError = None) -> Iterator[Session]:
    """Read a log in our own format."""
    return parse_lines(path, lambda _, line: _parse_session(jsonl.parse_json_object(line)), on_error=on_error)


def read_log(path: PathLike, *, on_error: OnError = None) -> Iterator[Session]:
    """Read a log in either format; a line of ours begins with a brace."""
    first_line = next((line for _, line in read_lines(path) if line.strip()), "")
    if first_line.lstrip().startswith("{"):
        return read_sessions(path, on_error=on_error)
    return read_sogou(path, on_error=on_error)


def read_sogou(path: PathLike, *, on_error: OnError = None) -> Iterator[Session]:
    """Read a log in Sogou's format; a session holds the clicks of one user for one query, in their order.

    The published files are in GB18030: convert them first, `iconv -f GB18030 -t UTF-8`.
    """
    clicks_by_session: dict[tuple[str, str], list[tuple[int, Click]]] = {}  # (user, query) -> (order, click)
    for user, query, order, click in parse_lines(path, lambda _, line: _parse_sogou_line(line), on_error=on_error):
        clicks_by_session.setdefault((user, query), []).append((order, click))
    for (_, query), ordered_clicks in clicks_by_session.items():
        clicks = [click for _, click in sorted(ordered_clicks, key=lambda pair: pair[0])]
        yield Session(query, (), tuple(clicks), SOGOU_LANGUAGE)


def _parse_sogou_line(line: str) -> tuple[str, str, int, Click]:
    """Return the user, the query, the click's position in the order of clicks, and the click."""
    match = _SOGOU_LINE.fullmatch(line)
    if match is None:
        raise InputError("not a line of Sogou's log; expected time, user, [query], rank, order, url, tabs between them")
    _, user, query, rank, order, url = match.groups()
    return user, query, int(order), Click(url, int(rank))


def _parse_session(row: dict[str, Any]) -> Session:
    """Make a session of a row of our own format.

    :raises InputError: if the query, the results shown or the clicks are missing or of another type
    """
    query = get_row_text(row, "query")
    results, clicks = row.get("shown", []), row.get("clicks", [])
    if not query.strip():
        raise InputError("no query; add a key 'query' that says what was asked")
    if not isinstance(results, list) or not all(isinstance(doc_id, str) for doc_id in results):
        raise InputError('\'shown\' is no list of document ids; write "shown": ["d1", "d2"]')
    if not isinstance(clicks, list):
        raise InputError('\'clicks\' is no list; write "clicks": [{"doc": "d1", "dwell": 12.5}]')
    rank_by_id = {doc_id: rank for rank, doc_id in enumerate(results, 1)}
    parsed_clicks = tuple(_parse_click(click, rank_by_id) for click in clicks)
    return Session(query, tuple(results), parsed_clicks, get_row_language(row))


def _parse_click(click: Any, rank_by_id: dict[str, int]) -> Click:
    """Make a Click of an object such as {"doc": "d1", "dwell": 12.5}.

    :param rank_by_id: ranks of the documents shown; empty if the log does not list them, and the rank is then 0
    :raises InputError: if the object names no document or one that was not shown, or its dwell time is no number
    """
    doc_id = click.get("doc") if isinstance(click, dict) else None
    if not isinstance(doc_id, str) or not doc_id:
        raise InputError('a click names no document; write {"doc": "d1", "dwell": 12.5}')
    if rank_by_id and doc_id not in rank_by_id:
        raise InputError(f"the click on {doc_id!r} is on no document shown; add it to 'shown'")
    rank = rank_by_id.get(doc_id, 0)
    dwell = click.get("dwell")
    if dwell is None:
        return Click(doc_id, rank)
    is_number = isinstance(dwell, int | float) and not isinstance(dwell, bool)
    if not is_number or dwell < 0:
        raise InputError(f"'dwell' of {doc_id!r} is {dwell!r}; give seconds, or leave it out")
    return Click(doc_id, rank, float(dwell))
