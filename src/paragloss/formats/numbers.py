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
#: Smaller numbers are no seconds since 1970; larger ones are milliseconds.
_MIN_SECONDS, _MAX_SECONDS = 1e8, 1e11
#: Smaller numbers are years. Larger ones, up to the last day, may be dates of eight digits.
_END_OF_YEARS, _MAX_EIGHT_DIGITS = 10_000, 99_991_231


def parse_number(value: object) -> float | None:
    """Return the number that a value of meta stands for, so that documents can be filtered and sorted by it.

    :param value: a number, or a text such as `3.5` or `2024-05-01T12:00`
    :return: the number; for a date its day, counted from the year 1, with the time as its fraction; None for a truth
        value and everything else
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    return float(text) if _NUMBER.fullmatch(text) else _parse_date(text)


def _parse_date(text: str) -> float | None:
    """Return the day, with its fraction, of an ISO date at the beginning of a text; None if there is none."""
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
    """Return the day a document is from, counted from the first day of the year 1.

    It is the date in its metadata, the day its file was changed, or its year; None if none of them is a time between
    the years 1 and 9999.
    """
    for name in ("date", "modified", "year"):
        day = _parse_day(meta.get(name))
        if day is not None:
            return day
    return None


def _parse_day(value: object) -> float | None:
    """Return the day that a value of meta stands for, counted from the first day of the year 1.

    :param value: an ISO date, a year, a date of eight digits such as 20240501, or seconds or milliseconds since 1970
    :return: the day, with its fraction if the value has a time; None if the value is no date
    """
    if isinstance(value, str) and _DATE.match(value.strip()):
        return parse_number(value)  # the day of the date
    number = parse_number(value)
    if number is None:
        return None
    if 1 <= number < _END_OF_YEARS:  # a year stands for its first day
        return float(date(int(number), 1, 1).toordinal())
    if _END_OF_YEARS < number <= _MAX_EIGHT_DIGITS:
        return _parse_eight_digits(int(number))
    return _convert_timestamp(number)


def _convert_timestamp(number: float) -> float | None:
    """Return the day, with its fraction, of a time in seconds or milliseconds since 1970; None if it can't be one."""
    if number <= _MIN_SECONDS:
        return None
    seconds = number / 1000 if number > _MAX_SECONDS else number
    day = seconds / _SECONDS_PER_DAY + EPOCH_DAY
    return day if day < date.max.toordinal() else None


def _parse_eight_digits(number: int) -> float | None:
    """Return the day of a date written as a number, such as 20240501; None if there is no such day."""
    try:
        return float(date(number // 10_000, number // 100 % 100, number % 100).toordinal())
    except ValueError:
        return None
