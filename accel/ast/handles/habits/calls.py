"""What to write instead of calls that NumPy would take: functions of elements at arrays, axes, arguments in another order.

In: what the user gave, and where. Out: hints with the names of the user's own call, and the errors that show them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from accel.ast.handles.acc import Acc
from accel.ast.handles.exp import Exp
from accel.ast.handles.habits.values import is_function
from accel.ast.handles.literals import describe
from accel.ast.tree.types import BOOL, ScalarType
from accel.errors import AccelTypeError, Where
from accel.support.source import texts

Advice: TypeAlias = Callable[[str, Sequence[object], Mapping[str, object], Where | None], str | None]
"""What to write instead of a call, from the function's name, what it was given, and where; None to leave it to Python."""

_ARRAYS_FIRST = frozenset({"slice"})
"""Combinators that take their array before what tells its parts."""

_VARIABLES = "xyzuvw"
"""What hints call the parameters of functions."""


def require_elements(name: str, given: Sequence[object], where: Where | None, *, floats: bool = False) -> None:
    """Raise `AccelTypeError` if a function of elements was given an array; `floats`: if it takes those only."""
    for value in given:
        if _is_array(value):
            hint = f"write `{_at_elements(name, given, where, floats)}`"
            raise AccelTypeError(f"{name} takes Exps and numbers, got {describe(value)}", where, hint=hint)


def _at_elements(
    name: str, given: Sequence[object], where: Where | None, floats: bool, wrote: str | None = None
) -> str:
    spelt = texts(wrote or name, where, _placeholders(given))
    if name == "cond" and isinstance(given[0], (Exp, bool)) and all(isinstance(value, Acc) for value in given[1:]):
        return f"A.acond({', '.join(spelt)})"
    if any(isinstance(value, Exp) for value in given):
        # This is scalar code, in which no array computation starts: it reads one element.
        read = [_element(value, text) for value, text in zip(given, spelt, strict=True)]
        return f"A.{name}({', '.join(read)})"
    arrays = [(value, text) for value, text in zip(given, spelt, strict=True) if _is_array(value)]
    others = " ".join(text for value, text in zip(given, spelt, strict=True) if not _is_array(value))
    fresh = iter([letter for letter in _VARIABLES if letter not in others])
    names = [next(fresh, "x") if _is_array(value) else text for value, text in zip(given, spelt, strict=True)]
    bound = [text for value, text in zip(given, names, strict=True) if _is_array(value)]
    body = [_as_float(value, text) if floats else text for value, text in zip(given, names, strict=True)]
    plain = len(arrays) == len(given) and body == names
    function = f"A.{name}" if plain else f"lambda {', '.join(bound)}: A.{name}({', '.join(body)})"
    combinator = ("map", "zipWith", "zipWith3", "zipWith4", "zipWith5")[len(arrays) - 1]
    return f"A.{combinator}({function}, {', '.join(_used(value, text) for value, text in arrays)})"


def reordered(name: str, given: Sequence[object], where: Where | None) -> str | None:
    """The hint for a call whose arguments stand in another order than accel's; None if they are in it."""
    if not any(isinstance(value, Acc) for value in given):
        return None
    arrays_first = name in _ARRAYS_FIRST
    rule = "the array comes first" if arrays_first else "functions come first, then numbers and shapes, then arrays"
    order = sorted(range(len(given)), key=lambda position: _kind(given[position]) * (-1 if arrays_first else 1))
    if order == list(range(len(given))):
        return None
    spelt = texts(name, where, _placeholders(given))
    return f"{rule}: write `A.{name}({', '.join(spelt[position] for position in order)})`"


def of_two(reduction: str) -> Advice:
    """Advice for a function of two numbers that was given one array, which `reduction` takes."""

    def advice(name: str, given: Sequence[object], named: Mapping[str, object], where: Where | None) -> str | None:
        if given and _is_array(given[0]):
            return along_axis(reduction, given, named, where, wrote=name)
        return f"A.{name}({spelt(name, given, where)[0]}, y)" if len(given) == 1 and not named else None

    return advice


def of_one_array(elements: str | None = None) -> Advice:
    """Advice for a reduction of the innermost dimension; `elements` is the function of two numbers that NumPy calls as this."""

    def advice(name: str, given: Sequence[object], named: Mapping[str, object], where: Where | None) -> str | None:
        if elements is not None and len(given) == 2 and not named:
            if any(map(_is_array, given)):
                return _at_elements(elements, given, where, floats=False, wrote=name)
            return f"A.{elements}({', '.join(spelt(name, given, where))})"
        return along_axis(name, given, named, where, wrote=name)

    return advice


def of_a_test(bools: str) -> Advice:
    """Advice for `any` and `all`, which take a test of the elements; `bools` takes an array of bools alone."""

    def advice(name: str, given: Sequence[object], named: Mapping[str, object], where: Where | None) -> str | None:
        if not given or not isinstance(given[0], Acc):
            return None
        if given[0].type.element is BOOL:
            return along_axis(bools, given, named, where, wrote=name)
        return along_axis(name, given, named, where, wrote=name, before="lambda x: x != 0, ")

    return advice


def of_a_search(name: str, given: Sequence[object], named: Mapping[str, object], where: Where | None) -> str | None:
    """Advice for a search with NumPy's `side`: from the right it is one of pairs, where what is looked for comes after what is
    equal to it."""
    side = named.get("side")
    if len(given) != 2 or set(named) != {"side"} or side not in ("left", "right"):
        return None
    table, wanted = spelt(name, given, where)
    if side == "left":
        return f"A.{name}({table}, {wanted})"
    pairs = (f"A.map(lambda x: A.lift(x, {side}), {text})" for side, text in ((False, table), (True, wanted)))
    return f"A.{name}({', '.join(pairs)})"


def along_axis(
    name: str,
    given: Sequence[object],
    named: Mapping[str, object],
    where: Where | None,
    wrote: str,
    before: str = "",
) -> str | None:
    """The reduction `name` of an array along an axis that the user gave by name or after it, as NumPy takes it.

    None if that is no array, or if there was something else as well.
    """
    axis = given[1] if len(given) == 2 else named.get("axis", -1)
    if not given or len(given) > 2 or not set(named) <= {"axis"} or not isinstance(given[0], Acc):
        return None
    array, text = given[0], spelt(wrote, given, where)[0]
    if axis is None:
        return f"A.{name}({before}{text if array.rank == 1 else f'A.flatten({text})'})"
    if not isinstance(axis, int) or not -array.rank <= axis < array.rank:
        return None
    match array.rank - axis % array.rank:
        case 1:
            return f"A.{name}({before}{text})"
        case 2 if array.rank == 2:
            return f"A.{name}({before}A.transpose({text}))"
        case 2:
            return f"A.{name}({before}A.transposeOn(-2, -1, {text}))"
        case 3 if array.rank == 3:
            return f"A.transpose(A.{name}({before}A.transposeOn(0, -1, {text})))"
        case _:
            return None


def spelt(name: str, given: Sequence[object], where: Where | None) -> tuple[str, ...]:
    """What was given by position, as the user wrote it."""
    return texts(name, where, _placeholders(given), keywords=True)


def _is_array(value: object) -> bool:
    return isinstance(value, (Acc, np.ndarray))


def _used(value: object, text: str) -> str:
    return f"A.use({text})" if isinstance(value, np.ndarray) else text


def _element(value: object, text: str) -> str:
    """One element of an array; anything else as it is."""
    if not isinstance(value, (Acc, np.ndarray)):
        return text
    rank = value.rank if isinstance(value, Acc) else value.ndim
    array = _used(value, text)
    return f"{array}[{', '.join('ijklm'[:rank])}]" if rank else f"A.the({array})"


def _as_float(value: object, text: str) -> str:
    """A variable that stands for the elements of `value`, converted if they are integers."""
    if isinstance(value, np.ndarray):
        integers = value.dtype.kind in "iu"
    else:
        element = value.type.element if isinstance(value, Acc) else None
        integers = isinstance(element, ScalarType) and element.is_integer
    return f"A.toFloating({text}, np.float64)" if integers else text


def _kind(value: object) -> int:
    """Where an argument stands in a call."""
    if isinstance(value, Acc):
        return 2
    return 0 if is_function(value) else 1


def _placeholders(given: Sequence[object]) -> list[str]:
    """What to call arguments whose text is not known."""
    arrays = iter(["xs", "ys", "zs", "us", "vs", "ws"])
    return [_placeholder(value, arrays) for value in given]


def _placeholder(value: object, arrays: Any) -> str:
    if _is_array(value):
        return next(arrays, "xs")
    if isinstance(value, Exp):
        return "e"
    if isinstance(value, type):
        return f"np.{value.__name__}"
    if callable(value):
        return "f"
    return (
        repr(value) if isinstance(value, (bool, int, float, complex)) else "shape" if isinstance(value, tuple) else "…"
    )
