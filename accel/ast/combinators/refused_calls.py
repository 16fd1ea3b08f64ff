"""Calls that Python refuses for the number or the names of their arguments: an `AccelTypeError` says what to write instead.

In: the functions of a module that users import. Out: functions that do the same, and answer to calls that do not fit. accel
itself calls the functions that these stand before.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from types import FunctionType, MappingProxyType

from accel.ast.handles.acc import Acc
from accel.ast.handles.habits.calls import Advice, of_a_search, of_a_test, of_one_array, of_two, spelt
from accel.errors import AccelTypeError, Where, here

_ADVICE: Mapping[str, Advice] = MappingProxyType(
    {
        **dict.fromkeys(("sum", "product", "and_", "or_", "argmin", "argmax"), of_one_array()),
        "minimum": of_one_array("min"),
        "maximum": of_one_array("max"),
        "min": of_two("minimum"),
        "max": of_two("maximum"),
        "all": of_a_test("and_"),
        "any": of_a_test("or_"),
        "searchsorted": of_a_search,
    }
)
"""What to write instead of calls that NumPy's functions of these names, or accel's, would take."""

_UNSEEDED = MappingProxyType(
    {
        "fold": "fold1",
        "foldAll": "fold1All",
        "foldSeg": "fold1Seg",
        "foldSegOffsets": "fold1SegOffsets",
        "scanl": "scanl1",
        "scanlSeg": "scanl1Seg",
        "scanr": "scanr1",
        "scanrSeg": "scanr1Seg",
    }
)
"""The same without a seed."""

_ASCENDING = frozenset({"sort", "argsort", "sortBy"})
_DESCENDING = frozenset({"descending", "reverse"})
"""Functions that sort, and what others call the other order."""


def checked(names: Mapping[str, object], public: Iterable[str], module: str) -> dict[str, object]:
    """The functions among the `public` names of a module, so that each answers to calls that do not fit."""
    return {name: checked_call(names[name], module) for name in public if isinstance(names.get(name), FunctionType)}


def checked_call(function: object, module: str) -> object:
    """A function, so that it answers to calls that do not fit; anything else as it is."""
    if not isinstance(function, FunctionType):
        return function

    @wraps(function)
    def call(*given: object, **named: object) -> object:
        try:
            return function(*given, **named)
        except TypeError as error:
            trace = error.__traceback__
            if trace is None or trace.tb_next is not None:  # the call was taken, and something in it failed
                raise
            where = here()
            message = str(error).replace(".__init__", "")
            raise AccelTypeError(message, where, hint=_hint(function, module, given, named, where)) from None

    call.__module__ = module  # where pickles look for it
    return call


def check_class(kind: type[object], module: str) -> None:
    """Have the constructor and the public functions of a class answer to calls that do not fit; `module` is its public name."""
    for name, made in [*vars(kind).items()]:
        if isinstance(made, staticmethod):
            called = checked_call(made.__func__, module)
            assert isinstance(called, FunctionType)
            setattr(kind, name, staticmethod(called))
        elif isinstance(made, FunctionType) and (name == "__init__" or not name.startswith("_")):
            setattr(kind, name, checked_call(made, module))


def _hint(
    function: FunctionType, module: str, given: Sequence[object], named: Mapping[str, object], where: Where | None
) -> str:
    """What to write instead of a call of a module's function that Python refused."""
    name = function.__name__
    advice = _ADVICE.get(name)
    instead = None if advice is None else advice(name, given, named, where)
    if instead is not None:
        return f"write `{instead}`"
    spelling = ", ".join(spelt(name, given, where))
    if name in _ASCENDING and not _DESCENDING.isdisjoint(named):
        return f"write `A.reverse(A.{name}({spelling}))`"
    parameters = inspect.signature(function).parameters
    called = _public(module) if name == "__init__" else f"{_public(module)}.{name}"
    shown = f"`{called}({', '.join(_shown(each) for each in parameters.values() if each.name != 'self')})`"
    if name in _UNSEEDED and not named and len(given) == 2 and isinstance(given[1], Acc):
        return f"without a seed write `A.{_UNSEEDED[name]}({spelling})`; with one it is {shown}"
    if "axis" in named:
        return f"it is {shown}, along the innermost dimension; `A.transposeOn` exchanges another one with that"
    optional = [key for key, parameter in parameters.items() if parameter.default is not parameter.empty]
    close = [near for key in named if key not in parameters for near in get_close_matches(key, optional, 1)]
    return f"it is {shown}; is `{close[0]}` meant?" if close else f"it is {shown}"


def _public(module: str) -> str:
    """What a module is called where accel is `A`."""
    return "A" + module.removeprefix("accel")


def _shown(parameter: inspect.Parameter) -> str:
    """A parameter without its type; what it is if it is left out stands in the reference."""
    stars = "*" * (parameter.kind is parameter.VAR_POSITIONAL) + "**" * (parameter.kind is parameter.VAR_KEYWORD)
    return f"{stars}{parameter.name}{'' if parameter.default is parameter.empty else '=…'}"
