"""Settings of methods: a line that explains each, and the values it may have, written where the setting is declared.

A setting is `dim: Annotated[int, Setting("...", min=1)]`. `checked` refuses values out of bounds before any work is
done, and the command line makes its flags, their help and their errors from the same annotation.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    ParamSpec,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from paragloss.errors import ModelError
from paragloss.types import Floats

P = ParamSpec("P")
T = TypeVar("T")


class Setting(NamedTuple):
    """What a setting is for, and which values it takes. Of a tuple, the bounds hold for every number in it."""

    help: str
    min: float | None = None
    above: float | None = None
    max: float | None = None
    below: float | None = None
    words: Sequence[str] = ()
    ascending: bool = False
    #: For what no bound can say: what is wrong with a value, or "".
    refuse: Callable[[Any], str] | None = None


def _unreachable(device: str) -> str:
    from paragloss.lab.solving.arrays import unreachable  # with numpy, which those who only ask for help do without

    return unreachable(device, numpy=False)


class Option(NamedTuple):
    """A keyword argument of a function: its type without what is only said about it, and that."""

    name: str
    type: Any
    default: Any
    setting: Setting


def options(function: Callable[..., Any]) -> dict[str, Option]:
    """The keyword arguments of a function. One that ends in `**settings: Annotated[Any, other]` hands the rest on to
    `other`, whose arguments are then its own as well."""
    option_by_name: dict[str, Option] = {}
    plain = inspect.unwrap(function)
    for name, parameter in inspect.signature(plain).parameters.items():
        hint = _hint(plain, name, parameter.annotation)
        about = getattr(hint, "__metadata__", ())
        if parameter.kind is parameter.KEYWORD_ONLY:
            setting = next((item for item in about if isinstance(item, Setting)), Setting(""))
            option_by_name[name] = Option(name, get_args(hint)[0] if about else hint, parameter.default, setting)
        elif parameter.kind is parameter.VAR_KEYWORD:
            for other in about:
                option_by_name |= {
                    name: option for name, option in options(other).items() if name not in option_by_name
                }
    return option_by_name


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Wrap the function so that it refuses settings that are out of bounds."""

    @wraps(function)
    def first_checked(*args: P.args, **kwargs: P.kwargs) -> T:
        check(function, kwargs)
        return function(*args, **kwargs)

    return first_checked


def check(function: Callable[..., Any], settings: Mapping[str, Any]) -> None:
    """Raise an error that names the setting, the value and what was expected, where a value is not as declared."""
    option_by_name = options(function)
    for name, value in settings.items():
        if name in option_by_name and (reason := refused(option_by_name[name], value)):
            raise ModelError(f"{name} {value!r}: {reason}")


def refused(option: Option, value: Any) -> str:
    """Say what was expected of a value, or "" where it is as declared."""
    setting, kinds = option.setting, alternatives(option.type)
    if value is None:
        return "" if NoneType in kinds or option.default is None else f"expected {expected(option)}"
    series = series_of(option.type)
    numbers = [value]
    if series is not None:
        if not _is_series(value, series.length):
            return f"expected {expected(option)}"
        numbers = list(value)
    for number in numbers:
        if not _fits(number, series.kind if series else option.type, setting):
            return f"expected {expected(option)}"
    if setting.ascending and numbers != sorted(numbers):
        return f"expected {expected(option)}"
    return setting.refuse(value) if setting.refuse is not None else ""


def expected(option: Option) -> str:
    """Describe the values a setting takes."""
    setting, series = option.setting, series_of(option.type)
    if setting.words:
        return f"one of {', '.join(setting.words)}"
    kind = (
        series.kind
        if series
        else next((singular for singular in alternatives(option.type) if singular in _NAMES), None)
    )
    singular, plural = _NAMES.get(kind, ("a value", "values"))
    named = {"at least": setting.min, "above": setting.above, "at most": setting.max, "below": setting.below}
    bound_by_word = {word: bound for word, bound in named.items() if bound is not None}
    bounds = [
        f"{word} {bound:,.0f}" if bound == int(bound) else f"{word} {bound}" for word, bound in bound_by_word.items()
    ]
    text = singular
    if series is not None:
        text = f"ascending {plural}" if setting.ascending else plural
        text = f"{series.length} {text}" if series.length else text
    return f"{text}, {' and '.join(bounds)}" if bounds else text


class Series(NamedTuple):
    """Several numbers of a kind: so many, or any number of them."""

    kind: type
    length: int | None


def series_of(hint: Any) -> Series | None:
    """Return what a type such as `tuple[int, int] | None` or `Sequence[float]` contains; None if it is no series of
    numbers."""
    for alternative in alternatives(hint):
        inner = get_args(alternative)
        if (
            get_origin(alternative) in (tuple, Sequence, Iterable)
            and inner
            and all(kind in (int, float) for kind in inner)
        ):
            return Series(inner[0], len(inner) if get_origin(alternative) is tuple else None)
    return None


def alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union; another type is its only member."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


_NAMES: Mapping[Any, tuple[str, str]] = {
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    str: ("a word", "words"),
    bool: ("true or false", "truth values"),
}


def _hint(function: Callable[..., Any], name: str, annotation: Any) -> Any:
    """Resolve the names in an annotation; return Any for one that only the type checker can resolve."""
    try:
        holder = SimpleNamespace(__annotations__={name: annotation})
        return get_type_hints(holder, function.__globals__, include_extras=True)[name]
    except NameError:
        return Any


def _is_series(value: Any, length: int | None) -> bool:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return False
    return length is None or len(list(value)) == length


def _fits(value: Any, hint: Any, setting: Setting) -> bool:
    kinds = alternatives(hint)
    number: Any = value
    if setting.words and isinstance(value, str):
        return value in setting.words
    if float in kinds or int in kinds:
        number_type = Real if float in kinds else Integral
        if not isinstance(value, number_type) or isinstance(value, bool) or not math.isfinite(value):
            return False
        return not (
            (setting.min is not None and number < setting.min)
            or (setting.above is not None and number <= setting.above)
            or (setting.max is not None and number > setting.max)
            or (setting.below is not None and number >= setting.below)
        )
    if kinds in ((str,), (bool,)):
        return isinstance(value, kinds[0])
    return True


#: What learning by contrast (`lab.descent.contrast`) can minimise, and how.
LOSSES = ("difference", "logistic")
OPTIMIZERS = ("adam", "cg")

# Settings that several methods share. Bounds from above are where a slip of the finger is likelier than a wish.

Dim: TypeAlias = Annotated[int, Setting("How many dimensions the vectors have.", min=1, max=10_000)]
Seed: TypeAlias = Annotated[int, Setting("Where chance begins: the same seed, the same model.", min=0, max=2**32 - 1)]
Stem: TypeAlias = Annotated[bool, Setting("Cut words down to their stems and drop stop words.")]
MaxTerms: TypeAlias = Annotated[int, Setting("The most terms a language may have.", min=1)]
MinDf: TypeAlias = Annotated[int, Setting("A term counts if so many documents have it.", min=1)]
Lengths: TypeAlias = Annotated[
    tuple[int, int] | None,
    Setting("Documents with so many distinct terms, from,to, are learned from.", min=1, ascending=True),
]
Epochs: TypeAlias = Annotated[int, Setting("How often all training data is gone through.", min=1, max=100_000)]
Batch: TypeAlias = Annotated[int, Setting("Examples learned from in one step.", min=1, max=1_000_000)]
Rate: TypeAlias = Annotated[float, Setting("How long a step is.", above=0, max=1000)]
Patience: TypeAlias = Annotated[
    int, Setting("Stop after so many epochs that were no better on held-out data; 0 never stops.", min=0)
]
Negatives: TypeAlias = Annotated[
    int, Setting("How many other texts each right one is set against.", min=1, max=100_000)
]
Checkpoint: TypeAlias = Annotated[
    str | Path | None, Setting("Where to keep the state of training; a killed one goes on from it.")
]
Device: TypeAlias = Annotated[str, Setting("Where torch computes: cpu, cuda.", refuse=_unreachable)]
Loss: TypeAlias = Annotated[
    str, Setting("What is minimised over differences of cosines: them, or their logistic loss.", words=LOSSES)
]
Optimizer: TypeAlias = Annotated[str, Setting("How steps are taken; cg is conjugate gradients.", words=OPTIMIZERS)]
Layers: TypeAlias = Annotated[int, Setting("How many layers of units.", min=1, max=100)]
WordVectors: TypeAlias = Annotated[
    Mapping[str, Mapping[str, Floats]] | None, Setting("Word vectors to start from, as files such as wiki.fr.vec.")
]
