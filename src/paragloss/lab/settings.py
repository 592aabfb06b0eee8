"""Settings of training methods: the help and the allowed values of each, declared in the annotation of its argument.

A setting is `dim: Annotated[int, Setting("...", min=1)]`. `checked` refuses values out of bounds before any work is
done, and the command line makes its flags, their help and their errors from the same annotation.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from numbers import Integral, Real
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
from paragloss.types import Floats, JudgedCollection

P = ParamSpec("P")
T = TypeVar("T")


class Setting(NamedTuple):
    """The help of a setting and the values it takes. For a tuple, the bounds hold for every number in it."""

    help: str
    min: float | None = None
    above: float | None = None
    max: float | None = None
    below: float | None = None
    words: Sequence[str] = ()
    ascending: bool = False
    #: A check that bounds can't express: value -> what is wrong with it, or "".
    refuse: Callable[[Any], str] | None = None


def _find_device_problem(device: str) -> str:
    """Say why torch can't compute on a device, or return ""."""
    # Imported late because it imports numpy, which printing help does without.
    from paragloss.lab.solving.arrays import find_device_problem

    return find_device_problem(device, numpy=False)


class Option(NamedTuple):
    """A keyword argument of a function, its annotation split into the plain type and the Setting."""

    name: str
    type: Any
    default: Any
    setting: Setting


def read_options(function: Callable[..., Any]) -> dict[str, Option]:
    """Read the keyword arguments of a function from its signature, by name.

    A function that ends in `**settings: Annotated[Any, other]` passes further arguments on to the function `other`,
    so the keyword arguments of `other` are included.

    :param function: perhaps decorated; its annotations may be strings
    """
    undecorated = inspect.unwrap(function)
    own_options: dict[str, Option] = {}
    passed_on_options: dict[str, Option] = {}
    for name, parameter in inspect.signature(undecorated).parameters.items():
        annotation = _resolve_annotation(undecorated, name, parameter.annotation)
        if parameter.kind is parameter.KEYWORD_ONLY:
            own_options[name] = _make_option(name, annotation, parameter.default)
        elif parameter.kind is parameter.VAR_KEYWORD:
            for other_function in _list_metadata(annotation):
                passed_on_options |= read_options(other_function)
    return passed_on_options | own_options


def _make_option(name: str, annotation: Any, default: Any) -> Option:
    """Make the option of a keyword argument; without a Setting in its annotation it takes any value of its type."""
    metadata = _list_metadata(annotation)
    plain_type = get_args(annotation)[0] if metadata else annotation
    settings = [item for item in metadata if isinstance(item, Setting)]
    return Option(name, plain_type, default, settings[0] if settings else Setting(""))


def _list_metadata(annotation: Any) -> tuple[Any, ...]:
    """List what stands behind the type in `Annotated[type, ...]`; nothing for any other annotation."""
    return getattr(annotation, "__metadata__", ())


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function so that it refuses settings that are not as declared.

    It then raises a ModelError that names the setting, its value and what was expected.
    """

    @wraps(function)
    def check_and_call(*args: P.args, **kwargs: P.kwargs) -> T:
        option_by_name = read_options(function)
        for name, value in kwargs.items():
            if name not in option_by_name:
                continue  # no setting, such as the texts
            problem = find_problem(option_by_name[name], value)
            if problem:
                raise ModelError(f"{name} {value!r}: {problem}")
        return function(*args, **kwargs)

    return check_and_call


def find_problem(option: Option, value: Any) -> str:
    """Return what is wrong with the value of a setting, such as "expected a number, above 0"; "" for a valid one."""
    if not _is_as_declared(option, value):
        return f"expected {describe_values(option)}"
    if option.setting.refuse is not None and value is not None:
        return option.setting.refuse(value)
    return ""


def _is_as_declared(option: Option, value: Any) -> bool:
    """Tell whether a value has the type, length, order and bounds that its setting declares.

    For a series of numbers, such as a tuple, the bounds hold for each of them.
    """
    if value is None:
        return option.default is None or NoneType in union_members(option.type)
    series = find_series(option.type)
    if series is None:
        return _is_allowed(value, option.type, option.setting)
    if not _is_series(value, series.length):
        return False
    numbers = list(value)
    if not all(_is_allowed(number, series.kind, option.setting) for number in numbers):
        return False
    return not option.setting.ascending or numbers == sorted(numbers)


def describe_values(option: Option) -> str:
    """Describe the values a setting takes, such as "a whole number, at least 1 and at most 10,000"."""
    setting = option.setting
    if setting.words:
        return f"one of {', '.join(setting.words)}"
    kind = _describe_kind(option)
    bounds = _describe_bounds(setting)
    return f"{kind}, {bounds}" if bounds else kind


def _describe_kind(option: Option) -> str:
    """Describe the type of a setting, such as "a whole number" or "2 ascending numbers"; "a value" for other types."""
    series = find_series(option.type)
    if series is not None:
        length = f"{series.length} " if series.length else ""
        order = "ascending " if option.setting.ascending else ""
        return f"{length}{order}{_PLURALS[series.kind]}"
    for member in union_members(option.type):
        if member in _SINGULARS:
            return _SINGULARS[member]
    return "a value"


def _describe_bounds(setting: Setting) -> str:
    """Describe the bounds of a setting, such as "above 0 and at most 1"; "" if it has none."""
    bound_by_relation = {
        "at least": setting.min,
        "above": setting.above,
        "at most": setting.max,
        "below": setting.below,
    }
    texts = []
    for relation, bound in bound_by_relation.items():
        if bound is not None:
            number = f"{bound:,.0f}" if bound == int(bound) else str(bound)
            texts.append(f"{relation} {number}")
    return " and ".join(texts)


class Series(NamedTuple):
    """The type of a setting that holds several numbers of one kind; `length` is None if it may hold any number."""

    kind: type
    length: int | None


def find_series(hint: Any) -> Series | None:
    """Return the series of numbers that a type such as `tuple[int, int] | None` or `Sequence[float]` allows, if any."""
    for member in union_members(hint):
        container, kinds = get_origin(member), get_args(member)
        holds_numbers = bool(kinds) and all(kind in (int, float) for kind in kinds)
        if container is tuple and holds_numbers:
            return Series(kinds[0], len(kinds))
        if container in (Sequence, Iterable) and holds_numbers:
            return Series(kinds[0], None)
    return None


def union_members(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union; another type is its only member."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


#: type -> how one of its values is called in error messages
_SINGULARS: Mapping[Any, str] = {int: "a whole number", float: "a number", str: "a word", bool: "true or false"}
#: type -> how several of its values are called
_PLURALS: Mapping[Any, str] = {int: "whole numbers", float: "numbers"}


def _resolve_annotation(function: Callable[..., Any], name: str, annotation: Any) -> Any:
    """Resolve the names in an annotation; return Any for one that only the type checker can resolve."""
    try:
        holder = SimpleNamespace(__annotations__={name: annotation})
        return get_type_hints(holder, function.__globals__, include_extras=True)[name]
    except NameError:
        return Any


def _is_series(value: Any, length: int | None) -> bool:
    """Tell whether a value can be iterated, is no text, and has the given length (None: any)."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return False
    return length is None or len(list(value)) == length


def _is_allowed(value: Any, hint: Any, setting: Setting) -> bool:
    """Tell whether a single value (no series) has the type `hint` and respects the words and bounds of its setting.

    :param hint: the type that it must have, perhaps a union; any value has a type other than numbers, str and bool
    :param setting: what its annotation declares
    """
    allowed_types = union_members(hint)
    if setting.words and isinstance(value, str):
        return value in setting.words
    if float in allowed_types:
        return _is_number(value, Real) and _is_within_bounds(value, setting)
    if int in allowed_types:
        return _is_number(value, Integral) and _is_within_bounds(value, setting)
    if allowed_types in ((str,), (bool,)):
        return isinstance(value, allowed_types[0])
    return True


def _is_number(value: Any, number_type: type[Any]) -> bool:
    """Tell whether a value is a finite number of a type, and not True or False."""
    return isinstance(value, number_type) and not isinstance(value, bool) and math.isfinite(value)


def _is_within_bounds(number: Any, setting: Setting) -> bool:
    """Tell whether a number respects all bounds of its setting."""
    return (
        (setting.min is None or number >= setting.min)
        and (setting.above is None or number > setting.above)
        and (setting.max is None or number <= setting.max)
        and (setting.below is None or number < setting.below)
    )


#: Losses and optimizers of `lab.descent.contrast`.
LOSSES = ("difference", "logistic")
OPTIMIZERS = ("adam", "cg")

# Settings that several methods share. Upper bounds are values that are probably typing errors.

Dim: TypeAlias = Annotated[int, Setting("Dimensions of the vectors.", min=1, max=10_000)]
Seed: TypeAlias = Annotated[int, Setting("The random seed: the same seed gives the same model.", min=0, max=2**32 - 1)]
Stem: TypeAlias = Annotated[bool, Setting("Stem words and drop stop words.")]
MaxTerms: TypeAlias = Annotated[int, Setting("Maximum vocabulary of a language.", min=1)]
MinDf: TypeAlias = Annotated[int, Setting("Minimum document frequency of a term.", min=1)]
Lengths: TypeAlias = Annotated[
    tuple[int, int] | None,
    Setting("Minimum and maximum number of distinct terms of a training document.", min=1, ascending=True),
]
Epochs: TypeAlias = Annotated[int, Setting("Passes over all training data.", min=1, max=100_000)]
Batch: TypeAlias = Annotated[int, Setting("Training examples in one step.", min=1, max=1_000_000)]
Rate: TypeAlias = Annotated[float, Setting("Learning rate.", above=0, max=1000)]
Patience: TypeAlias = Annotated[
    int, Setting("Stop after this many epochs without improvement on held-out data; 0 never stops.", min=0)
]
Negatives: TypeAlias = Annotated[int, Setting("Negative examples for each positive one.", min=1, max=100_000)]
Device: TypeAlias = Annotated[str, Setting("Device of torch: cpu or cuda.", refuse=_find_device_problem)]
Loss: TypeAlias = Annotated[str, Setting("Loss: the difference of cosines, or a logistic loss on it.", words=LOSSES)]
Optimizer: TypeAlias = Annotated[str, Setting("Optimiser; cg is conjugate gradients.", words=OPTIMIZERS)]
Layers: TypeAlias = Annotated[int, Setting("Number of layers.", min=1, max=100)]
Validation: TypeAlias = Annotated[Sequence[JudgedCollection], Setting("Judgments that choose the best epoch.")]
WordVectors: TypeAlias = Annotated[
    Mapping[str, Mapping[str, Floats]] | None, Setting("Word vectors to start from, as files such as wiki.fr.vec.")
]
