"""Which number a value of meta stands for, so that it can be asked for by its size: numbers, numbers written as text
(every cell of a CSV file is text), and dates. A number that begins with zeros is a name, such as a postal code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?", re.ASCII)

#: The first day of 1970.
EPOCH_DAY = 719163


def parse_number(value: object) -> float | None:
    """The number, a date as its day counted from the year 1; None where it is neither."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    if found := _DATE.match(text):
        try:
            moment = datetime.fromisoformat(found[0])
        except ValueError:
            return None
        return date.toordinal(moment) + (moment.hour * 3600 + moment.minute * 60 + moment.second) / 86400
    return None


def get_document_day(meta: Mapping[str, Any]) -> float | None:
    """When a document is from, by what it says of itself, counted as `number` counts dates: its date, the day its file
    was changed, or its year."""
    for name in ("date", "modified", "year"):
        found = parse_number(meta.get(name))
        if found is not None and 1 <= found < 10_000:
            return float(date(int(found), 1, 1).toordinal())
        if found is not None and found > 1e8:  # seconds
            return found / 86400 + EPOCH_DAY
        if found is not None and isinstance(meta[name], str):
            return found
    return None
