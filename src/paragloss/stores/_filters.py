"""Translate a search's filter into conditions on payload keys. Independent of the engine."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from paragloss.errors import StoreError
from paragloss.stores._payload import (
    FILE_PROPERTIES,
    make_boolean_flag,
    make_file_flag,
    make_presence_flag,
    parse_numbers,
)
from paragloss.types import Document, Range, Where

#: Stands for a filter that no document can match.
MATCHES_NOTHING = object()

_META_PREFIX = "meta."
#: Characters that the engines' JSON paths can't contain.
_QUOTES = frozenset('"\\')


class ValueCondition(NamedTuple):
    """A payload key and the values it may have: all of them texts, or all of them integers."""

    key: str
    values: list[str] | list[int]


class RangeCondition(NamedTuple):
    """A payload key and the range its number must be in."""

    key: str
    range: Range


Condition: TypeAlias = ValueCondition | RangeCondition


def build_conditions(where: Where | None, indexed_keys: Container[str]) -> list[list[Condition]] | None:
    """Translate a filter into groups of conditions; a document must meet at least one condition of every group.

    :param where: allowed values by field, `lang` or `meta.NAME`.
    :param indexed_keys: payload keys that have an index. For a key without one, a condition on the documents' flags is
        added, so that only documents that have the field are read.
    :return: the groups, or None if no document can match.
    :raises StoreError: a field can't be filtered, or its values are not a list.
    """
    groups: list[list[Condition]] = []
    for field, values in (where or {}).items():
        _check_filter(field, values)
        conditions = [*_build_value_conditions(field, values), *_build_range_conditions(field, values)]
        groups.append(conditions)
        if any(condition.key not in indexed_keys for condition in conditions):
            groups.append([ValueCondition("flags", [make_presence_flag(_get_meta_name(field))])])
    return groups if all(groups) else None


def _check_filter(field: str, values: Any) -> None:
    """Raise StoreError if a field can't be filtered, or its allowed values are not a list."""
    if field != "lang" and not field.startswith(_META_PREFIX):
        raise StoreError(f"can't filter by {field!r}: 'lang' and 'meta.NAME' can be filtered")
    if isinstance(values, str | int | float | bool | Range):
        raise StoreError(f"the filter on {field!r} needs a list of allowed values, got {values!r}")


def list_filterable_keys(documents: Iterable[Document]) -> dict[str, str]:
    """Return the payload keys by which documents can be filtered, each with the kind of index it needs.

    The kinds are "keyword", "integer" and "float". A field with values of several kinds gets the kind of the first.
    """
    index_kinds: dict[str, str] = {}
    for document in documents:
        for name, value in document.meta.items():
            if _QUOTES & set(name):
                continue
            value_kind = _choose_index_kind(value)
            if value_kind:
                index_kinds.setdefault(_make_json_path(f"meta.{name}"), value_kind)
            numbers = parse_numbers(value)
            has_numbers = numbers is not None and numbers != []
            if has_numbers:
                index_kinds.setdefault(_make_json_path(f"numbers.{name}"), "float")
    return index_kinds


def get_range_bounds(allowed: Range) -> dict[str, float]:
    """Return a range as the engines' bounds: `gt` or `gte`, `lt` or `lte`; an open end has none."""
    bounds = {"gt" if allowed.low_open else "gte": allowed.low, "lt" if allowed.high_open else "lte": allowed.high}
    return {name: bound for name, bound in bounds.items() if bound is not None}


def _build_value_conditions(field: str, values: Sequence[Any]) -> list[Condition]:
    """Return the conditions for allowed truth values, texts and integers of a field."""
    name, key = _get_meta_name(field), _make_json_path(field)
    texts = [value for value in values if isinstance(value, str)]
    integers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    truth_flags = [make_boolean_flag(name, value) for value in values if isinstance(value, bool)]
    conditions = [ValueCondition("flags", truth_flags), ValueCondition(key, texts), ValueCondition(key, integers)]
    if name in FILE_PROPERTIES:
        conditions.append(ValueCondition("flags", [make_file_flag(name, text) for text in texts]))
    return [condition for condition in conditions if condition.values]


def _build_range_conditions(field: str, values: Sequence[Any]) -> list[Condition]:
    """Return the conditions for allowed ranges and non-integer numbers of a field."""
    key = "numbers" + _make_json_path(field)[4:]
    exact_numbers = [Range(value, value) for value in values if isinstance(value, float)]
    ranges = [value for value in values if isinstance(value, Range)]
    return [RangeCondition(key, allowed) for allowed in [*exact_numbers, *ranges]]


def _get_meta_name(field: str) -> str:
    """Return NAME of `meta.NAME`, and "" of `lang`."""
    return field.partition(".")[2]


def _choose_index_kind(value: Any) -> str:
    """Return the kind of index for a metadata value, or "" for a value that can't be indexed."""
    item = value[0] if isinstance(value, list) and value else value
    if isinstance(item, str):
        return "keyword"
    return "integer" if type(item) is int else ""


def _make_json_path(field: str) -> str:
    """Return a payload key as a JSON path of the engines: a name that is not a plain word is quoted."""
    prefix, dot, name = field.partition(".")
    if _QUOTES & set(name):
        raise StoreError(f"can't filter by {field!r}: quotes and backslashes can't stand in a filtered name")
    return field if not dot or re.fullmatch(r"[A-Za-z0-9_]+", name) else f'{prefix}."{name}"'
