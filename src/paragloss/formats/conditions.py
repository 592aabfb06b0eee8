"""Conditions on documents as people write them: `year=1999`, `open=true`, `day>=2024-05-01`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from paragloss.errors import InputError
from paragloss.formats.numbers import parse_number
from paragloss.types import Range

AcceptedValue: TypeAlias = str | int | float | bool | Range
#: Conditions of one search.
MAX_CONDITIONS = 10
_CONDITION = re.compile(r"(?:meta\.)?(?P<field>.+?)(?P<operator>>=|<=|>|<|=)(?P<value>.*)", re.DOTALL)


def parse_conditions(texts: Sequence[str]) -> dict[str, list[AcceptedValue]]:
    """Parse conditions on documents into a filter.

    :param texts: conditions such as `year=1999` or `day>=2024-05-01`
    :return: for each field, such as `meta.year`, the values that are accepted: several values of a field are
        alternatives, while its limits are joined into one range
    :raises InputError: if there are too many, or one is not a condition
    """
    if len(texts) > MAX_CONDITIONS:
        raise InputError(f"--where is given {len(texts):,} times; at most {MAX_CONDITIONS} can be used at once")
    values_by_field: dict[str, list[AcceptedValue]] = {}
    range_by_field: dict[str, Range] = {}
    for text in texts:
        condition = _parse_condition(text)
        if condition.operator == "=":
            values_by_field.setdefault(condition.field, []).extend(_list_meanings(condition.value))
        else:
            value_range = range_by_field.get(condition.field, Range())
            range_by_field[condition.field] = _narrow_range(value_range, condition)
    for field, value_range in range_by_field.items():
        values_by_field.setdefault(field, []).append(value_range)
    return values_by_field


class _Condition(NamedTuple):
    """A condition split into its field, as filters name it (`lang`, `meta.year`), its operator and its value."""

    text: str
    field: str
    operator: str  # =, <, >, <= or >=
    value: str


def _parse_condition(text: str) -> _Condition:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise InputError(f"--where {text!r}: write FIELD=VALUE or FIELD>=NUMBER, such as year=1999")
    field = "lang" if match["field"] == "lang" else f"meta.{match['field']}"
    return _Condition(text, field, match["operator"], match["value"])


def _list_meanings(text: str) -> list[AcceptedValue]:
    """Return what a value may mean: the text, and the number or truth value it spells; in quotes only the text."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        return [text[1:-1]]
    meanings: list[AcceptedValue] = [text]
    if text in ("true", "false"):
        meanings.append(text == "true")
    number = parse_number(text)
    if number is not None:
        meanings.append(number)
    return meanings


def _narrow_range(value_range: Range, condition: _Condition) -> Range:
    """Return a range with the limit that a condition sets; raise InputError if its value is no number or date."""
    limit = parse_number(condition.value)
    operator = condition.operator
    if limit is None:
        message = f"--where {condition.text!r}: {operator} needs a number or a date, such as 1999 or 2024-05-31"
        raise InputError(message)
    if operator in (">", ">="):
        return value_range._replace(low=limit, low_open=operator == ">")
    return value_range._replace(high=limit, high_open=operator == "<")
