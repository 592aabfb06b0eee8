"""Click logs: which results people were shown for a query, and which they opened.

Our own form is JSON Lines: `{"query": "...", "shown": ["d1", "d2"], "clicks": [{"doc": "d2", "dwell": 31.5}]}`.
Sogou's (2008) has a line per click: time, user, [query], rank and order of the click, URL, with tabs between them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from paragloss.errors import InputError
from paragloss.formats import jsonl
from paragloss.formats.rows import get_row_language, get_row_text
from paragloss.formats.text import OnError, PathLike, open_output, parse_lines, read_lines

# In the published files a blank stands between rank and order, in their description a tab.
_SOGOU = re.compile(r"([^\t]*)\t([^\t]+)\t\[(.*)\]\t *(\d+)[ \t](\d+)\t(.+)")


class Click(NamedTuple):
    """A result opened: its place from 1, or 0 if that is unknown, and the seconds spent on it, where known."""

    document: str
    rank: int = 0
    dwell: float | None = None


class Session(NamedTuple):
    """One query of one person: the documents shown, best first (none where the log doesn't say), and the clicks."""

    query: str
    results: tuple[str, ...]
    clicks: tuple[Click, ...]
    lang: str = ""


def read_sessions(path: PathLike, *, on_error: OnError = None) -> Iterator[Session]:
    """Read a log in our own format."""
    return parse_lines(path, lambda _, line: _session(jsonl.parse_json_object(line)), on_error=on_error)


def read_log(path: PathLike, *, on_error: OnError = None) -> Iterator[Session]:
    """Read a log in either format; a line of ours begins with a brace."""
    first = next((line.lstrip() for _, line in read_lines(path) if line.strip()), "")
    return (read_sessions if first.startswith("{") else read_sogou)(path, on_error=on_error)


def write_sessions(path: PathLike, sessions: Iterable[Session]) -> None:
    """Write our own form."""
    with open_output(path) as out:
        for session in sessions:
            clicks = [{"doc": c.document} | ({} if c.dwell is None else {"dwell": c.dwell}) for c in session.clicks]
            row = {"query": session.query, "lang": session.lang, "shown": session.results, "clicks": clicks}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def read_sogou(path: PathLike, *, lang: str = "zh", on_error: OnError = None) -> Iterator[Session]:
    """Read a log in Sogou's format; clicks in their order, grouped by user and query over the whole file.

    The published files are in GB18030: convert them first, `iconv -f GB18030 -t UTF-8`.
    """
    grouped: dict[tuple[str, str], list[tuple[int, Click]]] = {}
    for user, query, order, click in parse_lines(path, lambda _, line: _sogou(line), on_error=on_error):
        grouped.setdefault((user, query), []).append((order, click))
    for (_, query), clicks in grouped.items():
        yield Session(query, (), tuple(click for _, click in sorted(clicks, key=lambda pair: pair[0])), lang)


def _sogou(line: str) -> tuple[str, str, int, Click]:
    match = _SOGOU.fullmatch(line)
    if match is None:
        raise InputError("not a line of Sogou's log; expected time, user, [query], rank, order, url, tabs between them")
    _, user, query, rank, order, url = match.groups()
    return user, query, int(order), Click(url, int(rank))


def _session(row: dict[str, Any]) -> Session:
    query, results, clicks = get_row_text(row, "query"), row.get("shown", []), row.get("clicks", [])
    if not query.strip():
        raise InputError("no query; add a key 'query' that says what was asked")
    if not isinstance(results, list) or not all(isinstance(name, str) for name in results):
        raise InputError('\'shown\' is no list of document ids; write "shown": ["d1", "d2"]')
    if not isinstance(clicks, list):
        raise InputError('\'clicks\' is no list; write "clicks": [{"doc": "d1", "dwell": 12.5}]')
    rank_by_id = {name: rank for rank, name in enumerate(results, 1)}
    return Session(query, tuple(results), tuple(_click(click, rank_by_id) for click in clicks), get_row_language(row))


def _click(click: Any, rank_by_id: dict[str, int]) -> Click:
    name = click.get("doc") if isinstance(click, dict) else None
    if not isinstance(name, str) or not name:
        raise InputError('a click names no document; write {"doc": "d1", "dwell": 12.5}')
    if rank_by_id and name not in rank_by_id:
        raise InputError(f"the click on {name!r} is on no document shown; add it to 'shown'")
    dwell = click.get("dwell")
    if dwell is not None and (isinstance(dwell, bool) or not isinstance(dwell, int | float) or dwell < 0):
        raise InputError(f"'dwell' of {name!r} is {dwell!r}; give seconds, or leave it out")
    return Click(name, rank_by_id.get(name, 0), None if dwell is None else float(dwell))
