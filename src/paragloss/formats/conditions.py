"""Which documents may be found, as people write it: `year=1999`, `open=true`, `day>=2024-05-01`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from paragloss.errors import InputError
from paragloss.formats.numbers import parse_number
from paragloss.types import Range

#: Conditions of one search.
MAX_CONDITIONS = 10
_CONDITION = re.compile(r"(?:meta\.)?(?P<field>.+?)(?P<sign>>=|<=|>|<|=)(?P<value>.*)", re.DOTALL)


def parse_conditions(texts: Sequence[str]) -> dict[str, list[str | int | float | bool | Range]]:
    """What --where says: values of one field are alternatives, limits of one field hold together."""
    where: dict[str, list[str | int | float | bool | Range]] = {}
    limits: dict[str, Range] = {}
    if len(texts) > MAX_CONDITIONS:
        raise InputError(
            f"--where is given {len(texts):,} times; at most {MAX_CONDITIONS} conditions can be asked at once"
        )
    for condition in texts:
        found = _CONDITION.fullmatch(condition)
        if found is None:
            raise InputError(f"--where {condition!r}: write FIELD=VALUE or FIELD>=NUMBER, such as year=1999")
        field = "lang" if found["field"] == "lang" else f"meta.{found['field']}"
        if found["sign"] == "=":
            where.setdefault(field, []).extend(_values(found["value"]))
        else:
            limits[field] = _narrowed(
                limits.get(field, Range()), found["sign"], condition, parse_number(found["value"])
            )
    for field, limit in limits.items():
        where.setdefault(field, []).append(limit)
    return where


def _values(text: str) -> list[str | int | float | bool | Range]:
    """What a value may stand for: a text, and the number or truth it is written as; in quotes only the text."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        return [text[1:-1]]
    size = parse_number(text)
    truth = {"true": True, "false": False}.get(text)
    return [text, *([] if truth is None else [truth]), *([] if size is None else [size])]


def _narrowed(known: Range, sign: str, condition: str, limit: float | None) -> Range:
    if limit is None:
        raise InputError(f"--where {condition!r}: {sign} needs a number or a date, such as 1999 or 2024-05-31")
    if sign in (">", ">="):
        return known._replace(low=limit, low_open=sign == ">")
    return known._replace(high=limit, high_open=sign == "<")
