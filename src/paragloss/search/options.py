"""The options of a part: the keyword arguments of the function that makes it.

A number is written as `depth=50`, a switch by its name alone, one of several words by that word (`psq`), a field by its
name alone (search only there) or with its weight (`title=2`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, get_args, get_origin

from paragloss.errors import LineSyntaxError
from paragloss.search.grammar import PartOption, PipelinePart

#: Fields with their weights; None for a field without one.
Fields: TypeAlias = Mapping[str, float | None]

_DECIMAL = re.compile(r"\d+(\.\d*)?|\.\d+")
#: What a switch is set to by the text behind its name; by its name alone (None) it is turned on.
_SWITCH_VALUES: Mapping[str | None, bool] = {None: True, "yes": True, "no": False}


class OptionType(NamedTuple):
    """A keyword argument: the values that it takes, and its default."""

    name: str
    kind: Any  # bool, int, float, str, or a tuple of words
    default: Any

    @classmethod
    def from_annotation(cls, name: str, annotation: Any, default: Any) -> OptionType:
        """Read the words of a `Literal`, or those that the function in an `Annotated` lists."""
        if get_origin(annotation) is Literal:
            annotation = get_args(annotation)
        elif get_origin(annotation) is Annotated:
            annotation = tuple(annotation.__metadata__[0]())
        return cls(name, annotation, default)

    @property
    def minimum(self) -> float:
        """The least number that may be given: 0, or 1 for a whole number that is not 0 by default."""
        return min(self.default, 1) if self.kind is int else 0

    def format(self) -> str:
        """Return the option as it is written, with its default."""
        if isinstance(self.kind, tuple):
            return "|".join(self.kind)
        if self.kind is bool:
            return self.name
        return f"{self.name}=xx" if self.kind is str else f"{self.name}={self.default}"

    def is_set_by(self, option: PartOption) -> bool:
        """Tell whether an option as it is written sets this argument: by its name, or by one of its words alone."""
        if option.name == self.name:
            return option.value is not None or self.kind is bool
        return isinstance(self.kind, tuple) and option.name in self.kind and option.value is None

    def convert(self, text: str | None) -> Any:
        """Convert the text behind the option's name to a value of the option's type.

        :param text: None if only the name is written, which turns a switch on.
        :return: the value; None if the text stands for no value of this type.
        """
        if self.kind is bool:
            return _SWITCH_VALUES.get(text)
        if not text:
            return None
        if self.kind in (int, float):
            return self._convert_number(text)
        if self.kind is str or text in self.kind:
            return text
        return None

    def _convert_number(self, text: str) -> float | None:
        """Convert a text to a whole or a decimal number; None if it is none, or a whole number below the minimum."""
        if self.kind is float:
            return float(text) if _DECIMAL.fullmatch(text) else None
        if not text.isdecimal() or int(text) < self.minimum:
            return None
        return int(text)

    def describe_values(self) -> str:
        """Say which values the option takes."""
        if isinstance(self.kind, tuple):
            return f"one of {', '.join(self.kind)}"
        numbers = {int: f"a whole number from {self.minimum} up", float: "a number from 0 up"}
        return {bool: "yes or no", **numbers}.get(self.kind, "a word")


#: The argument `fields`, which options set by the names of fields; a field may have a weight.
_FIELDS_TYPE = OptionType("fields", float, None)


def list_option_types(make: Callable[..., Any]) -> list[OptionType]:
    """List the keyword arguments of a function as options; `fields` is not one of them."""
    return [
        OptionType.from_annotation(name, parameter.annotation, parameter.default)
        for name, parameter in inspect.signature(make, eval_str=True).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name != "fields"
    ]


def format_options(make: Callable[..., Any]) -> list[str]:
    """List the options of a function as they are written, with their defaults."""
    return [option_type.format() for option_type in list_option_types(make)]


def bind_options(
    part: PipelinePart, text: str, makers: Sequence[Callable[..., Any]], fields: Sequence[str]
) -> list[dict[str, Any]]:
    """Turn the options of a part into keyword arguments of the functions that the part is made by.

    An option goes to the first function that has it. A function with an argument `fields` takes the options that name a
    field. `x:depth=5,title` gives a function with these arguments `{"depth": 5, "fields": {"title": None}}`.

    :param part: the part with its options, as they are written.
    :param text: the pipeline, for errors.
    :param makers: the functions that the part is made by.
    :param fields: the names of fields that options may have.
    :return: the keyword arguments of each function.
    :raises LineSyntaxError: if no function has an option, or a value does not fit.
    """
    arguments_by_maker: list[dict[str, Any]] = [{} for _ in makers]
    for option in part.options:
        target = _find_option_target(option, makers, fields)
        if target is None:
            raise LineSyntaxError(_describe_unknown(part, option, makers, fields), text, option.at)
        maker_number, option_type = target
        _set_argument(arguments_by_maker[maker_number], option, option_type, text)
    return arguments_by_maker


def _find_option_target(
    option: PartOption, makers: Sequence[Callable[..., Any]], fields: Sequence[str]
) -> tuple[int, OptionType] | None:
    """Find the first function that has an option: its number, and the type of its argument; None if no function has it.

    :param fields: the names of all fields.
    """
    for maker_number, make in enumerate(makers):
        option_type = _find_option_type(option, make, fields)
        if option_type is not None:
            return maker_number, option_type
    return None


def _find_option_type(option: PartOption, make: Callable[..., Any], fields: Sequence[str]) -> OptionType | None:
    """Return the keyword argument that an option sets, as its type; None if the function has no such argument.

    An option is written as `name=value`, as the name of a switch, as one of the words that an argument may be, or, for
    a function with an argument `fields`, as the name of a field.

    :param make: the function whose arguments are looked through.
    :param fields: the names of all fields.
    """
    for option_type in list_option_types(make):
        if option_type.is_set_by(option):
            return option_type
    if option.name in fields and _has_fields(make):
        return _FIELDS_TYPE
    return None


def _set_argument(arguments: dict[str, Any], option: PartOption, option_type: OptionType, text: str) -> None:
    """Add the keyword argument that an option sets to those of a call.

    :param arguments: the keyword arguments of the call, to which one is added.
    :param option_type: the argument. The option has its name, or is one of its words, or names a field.
    :param text: the pipeline, for errors.
    :raises LineSyntaxError: if the value of the option does not fit.
    """
    if option_type is _FIELDS_TYPE:
        weight = None
        if option.value is not None:
            weight = _parse_value(option, option_type, text)
        arguments.setdefault("fields", {})[option.name] = weight
    elif option.name == option_type.name:
        arguments[option.name] = _parse_value(option, option_type, text)
    else:
        arguments[option_type.name] = option.name


def _parse_value(option: PartOption, option_type: OptionType, text: str) -> Any:
    """Convert the value of an option to its type; raise LineSyntaxError with what was expected if it does not fit.

    :param text: the pipeline, for the error.
    """
    value = option_type.convert(option.value)
    if value is None:
        expected = option_type.describe_values()
        raise LineSyntaxError(f"{option.name}={option.value}: expected {expected}", text, option.at)
    return value


def _describe_unknown(
    part: PipelinePart, option: PartOption, makers: Sequence[Callable[..., Any]], fields: Sequence[str]
) -> str:
    """Return the message for an option that no function has; it lists those that there are."""
    options = [line for make in makers for line in format_options(make)]
    if any(map(_has_fields, makers)):
        options += [f"{field}=WEIGHT" for field in fields]
    return f"{part.name} has no option {option.name!r}; it has {', '.join(options) or 'none'}"


def _has_fields(make: Callable[..., Any]) -> bool:
    return "fields" in inspect.signature(make).parameters
