"""Numbers that values of meta stand for, so that documents can be filtered and sorted by size or date.

Every cell of a CSV file is text, so numbers and dates are parsed from text. A number with leading zeros is a name, such
as a postal code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?", re.ASCII)
_SECONDS_PER_DAY = 86400

#: The first day of 1970, counted from the year 1.
EPOCH_DAY = 719163


def parse_number(value: object) -> float | None:
    """Return the number a value stands for, for a date its day counted from the year 1; None if it is neither."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    match = _DATE.match(text)
    if match is None:
        return None
    try:
        moment = datetime.fromisoformat(match[0])
    except ValueError:
        return None
    seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
    return date.toordinal(moment) + seconds / _SECONDS_PER_DAY


def get_document_day(meta: Mapping[str, Any]) -> float | None:
    """Return the day of a document, counted as by `parse_number`: its `date`, else `modified`, else `year`."""
    for name in ("date", "modified", "year"):
        number = parse_number(meta.get(name))
        if number is None:
            continue
        if 1 <= number < 10_000:  # a year
            return float(date(int(number), 1, 1).toordinal())
        if number > 1e8:  # seconds since 1970
            return number / _SECONDS_PER_DAY + EPOCH_DAY
        if isinstance(meta[name], str):
            return number
    return None
