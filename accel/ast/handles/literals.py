"""Python numbers, NumPy scalars and Python tuples as scalar nodes: they take the type of what they meet.

In: what a user wrote where an `Exp` could stand, handles already replaced by their nodes: a node, a Python number, a NumPy
scalar, a Python tuple of such; anything else is refused. Out: scalar nodes.
The rules (docs/ast.md, "Numbers"): a Python number that does not fit its type is an `AccelTypeError`, a NumPy scalar must
have exactly that type, and a number that meets nothing is i64, f64, c128 or bool.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Final, assert_never, get_args

import numpy as np

from accel.ast.handles.nothings import NOTHING_YET, filled, has_met_nothing
from accel.ast.tree.nodes import Literal, MakeTuple, ScalarNode
from accel.ast.tree.types import (
    BOOL,
    C128,
    F64,
    I64,
    ComplexType,
    ElementType,
    MaybeType,
    ScalarType,
    TupleType,
    number_type,
    require_shallow,
    require_shallow_tuples,
)
from accel.errors import AccelTypeError, Where
from accel.support.shown import kind_of, shown

if TYPE_CHECKING:
    from typing_extensions import TypeIs  # in Python since 3.13

_NODES = frozenset(get_args(ScalarNode))


def is_node(value: object) -> TypeIs[ScalarNode]:
    """Whether `value` is a scalar node."""
    return type(value) in _NODES


def typed(value: object, expected: ElementType, what: str, where: Where | None) -> ScalarNode:
    """`value` as a node of type `expected`; `what` names its role in the error, such as "the seed of fold".

    Raises `AccelTypeError` if its type differs or it does not fit.
    """
    if is_node(value):
        return value if value.type is expected else _node(value, expected, what, where)
    match expected:
        case ScalarType() | ComplexType():
            return number(value, expected, what, where)
        case TupleType(items):
            if not isinstance(value, tuple) or len(value) != len(items):
                hint = f"write a tuple: `A.lift({', '.join('…' for _ in items)})`"
                raise AccelTypeError(f"{what} must be {expected}, got {describe(value)}", where, hint=hint)
            parts = tuple(
                typed(v, t, f"item {i} of {what}", where) for i, (v, t) in enumerate(zip(value, items, strict=True))
            )
            return MakeTuple(parts, expected, where)
        case MaybeType():
            hint = "write `A.just(value)` or `A.nothing()`"
            raise AccelTypeError(f"{what} must be {expected}, got {describe(value)}", where, hint=hint)
        case _:
            assert_never(expected)


def whole_number(value: object) -> object:
    """What stands where sizes, indices and axes do: a NumPy integer of any type as Python's, items of tuples as well.

    Only what elements are made of keeps its type; how many there are and where they stand has none.
    """
    if isinstance(value, np.integer):
        return int(value)
    return (
        tuple([int(each) if isinstance(each, np.integer) else each for each in value])
        if type(value) is tuple
        else value
    )


def whole_typed(value: object, what: str, where: Where | None) -> ScalarNode:
    """A size, an index, or an amount as a node of i64. Raises `AccelTypeError` as `typed` does."""
    return typed(whole_number(value), I64, what, where)


def untyped(value: object, what: str, where: Where | None) -> ScalarNode:
    """`value` as a node of its own type: for a Python number that meets nothing, i64, f64, c128 or bool."""
    if is_node(value):
        return value
    if isinstance(value, tuple):
        require_shallow_tuples(value, where)
        parts = tuple(untyped(v, f"item {i} of {what}", where) for i, v in enumerate(value))
        kind = TupleType(tuple(part.type for part in parts))
        require_shallow(kind)
        return MakeTuple(parts, kind, where)
    return number(value, natural_type(value, what, where), what, where)


def natural_type(value: object, what: str, where: Where | None) -> ScalarType | ComplexType:
    """The type of a number that meets nothing. Raises `AccelTypeError` if accel has no such type."""
    if isinstance(value, np.generic):
        found = number_type(value.dtype)
        if found is None:
            hint = "write a Python number, or convert it: `np.float64(…)`"
            raise AccelTypeError(f"{what} has dtype {value.dtype}, which accel has no type for", where, hint=hint)
        return found
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return I64
    if isinstance(value, float):
        return F64
    if isinstance(value, complex):
        return C128
    raise AccelTypeError(f"{what} must be an Exp or a number, got {describe(value)}", where, hint=_advice(value))


def number(value: object, expected: ScalarType | ComplexType, what: str, where: Where | None) -> Literal | MakeTuple:
    """A Python number or NumPy scalar as a literal of type `expected`, or two for a complex number, checked to fit."""
    if isinstance(expected, ComplexType):
        return _complex(value, expected, what, where)
    if isinstance(value, np.generic):
        found = natural_type(value, what, where)
        if found is not expected:
            raise _other_type(value, expected, what, where)
        return Literal(expected, value.item(), where)
    literal = usual_number(value, expected, where)
    if literal is not None:
        return literal
    found = natural_type(value, what, where)
    if isinstance(found, ComplexType):
        hint = f"convert the other side: `A.cast(e, np.{found.dtype})`, or write a real number"
        raise AccelTypeError(f"{what} must be {expected}, got {describe(value)}", where, hint=hint)
    assert isinstance(value, (bool, int, float))
    if found is BOOL or expected is BOOL:
        if found is not expected:
            hint = f"write `{bool(value)}`" if expected is BOOL else f"write `{int(value)}`"
            raise AccelTypeError(f"{what} must be {expected}, got {describe(value)}", where, hint=hint)
    elif expected.is_integer:
        _check_integer(value, expected, what, where)
    elif not _fits_float(value, expected):
        raise AccelTypeError(f"{what}: {shown(value)} does not fit {expected}", where, hint=_wider(value, expected))
    return Literal(expected, float(value) if expected.is_float else value, where)


def usual_number(value: object, expected: ElementType, where: Where | None) -> Literal | None:
    """A Python number as a literal of a scalar type, if that is all there is to say: it is no bool, and fits."""
    if not isinstance(expected, ScalarType):
        return None
    if type(value) is int and expected.is_integer:
        return Literal(expected, value, where) if expected.minimum <= value <= expected.maximum else None
    if (type(value) is int or type(value) is float) and expected.is_float and abs(value) <= _largest(expected):
        return Literal(expected, float(value), where)
    return None


def _complex(value: object, expected: ComplexType, what: str, where: Where | None) -> MakeTuple:
    found = natural_type(value, what, where)
    if isinstance(value, np.generic):
        if found is not expected:
            raise _other_type(value, expected, what, where)
        value = value.item()
    assert isinstance(value, (bool, int, float, complex))
    if found is BOOL:
        hint = f"write `{int(value.real)}`"
        raise AccelTypeError(f"{what} must be {expected}, got {describe(value)}", where, hint=hint)
    if not _fits_float(value.real, expected.part) or not _fits_float(value.imag, expected.part):
        raise AccelTypeError(f"{what}: {shown(value)} does not fit {expected}", where, hint=_wider(value, expected))
    parts = (Literal(expected.part, float(value.real), where), Literal(expected.part, float(value.imag), where))
    return MakeTuple(parts, expected, where)


def _other_type(
    value: np.generic, expected: ScalarType | ComplexType, what: str, where: Where | None
) -> AccelTypeError:
    hint = f"a NumPy scalar keeps its type; write `np.{expected.dtype}({value.item()!r})` or a Python number"
    return AccelTypeError(f"{what} must be {expected}, got {describe(value)}", where, hint=hint)


def describe(value: object) -> str:
    """A value in words for an error message, with its type."""
    if is_node(value):
        return str(value.type)
    if isinstance(value, np.generic):
        return f"the NumPy scalar {value.item()!r} of type {value.dtype}"
    if isinstance(value, (bool, int, float, complex)):
        return f"the Python {type(value).__name__} {shown(value)}"
    if isinstance(value, tuple):
        return f"a Python tuple of {len(value)}"
    if value is None:
        return "None"
    if type(value) is np.ndarray:  # others, such as a memmap, are called what they are
        return "a NumPy array"
    return kind_of(value)


def same_place(place: Where | None, other: Where | None) -> bool:
    """Whether two places are one, so that an error need not show it twice."""
    if place is None or other is None:
        return place is other
    return place.code is other.code and place.instruction == other.instruction


_UNTYPED: Final = "write `A.cond(A.constant(False), A.just(e), A.nothing())`, with an `e` of it"


def _node(node: ScalarNode, expected: ElementType, what: str, where: Where | None) -> ScalarNode:
    if node.type == expected:
        return node
    agreeing = filled(node, expected)
    if agreeing is not None:
        return agreeing
    hint = _made_of(expected) or part_of(node.type)
    if expected == NOTHING_YET:
        hint = f"the nothing() has no type yet: {_UNTYPED}"
    elif isinstance(expected, MaybeType):
        hint = _hint_of_index(node.type, expected.value) or "write `A.just(e)` or `A.nothing()`"
    elif expected is BOOL and isinstance(node.type, ScalarType):
        hint = "compare it: `e != 0`"
    elif isinstance(expected, ScalarType) and isinstance(node.type, ComplexType):
        hint = "take a part of the complex number: `A.real(z)`, `A.imag(z)`, `A.magnitude(z)`"
    elif isinstance(expected, ScalarType | ComplexType) and isinstance(node.type, ScalarType | ComplexType):
        hint = f"convert it: `A.cast(e, np.{expected.dtype})`"
    made = () if same_place(node.where, where) else (("made here:", node.where),)
    raise AccelTypeError(f"{what} must be {expected}, got {node.type}", where, others=made, hint=hint)


def require_definite(node: ScalarNode, what: str, where: Where | None) -> None:
    """Raise `AccelTypeError` if an element would be a `nothing()` of which nobody says what it lacks."""
    if has_met_nothing(node):
        raise AccelTypeError(f"{what} is a nothing() that has met no value: it has no type", where, hint=_UNTYPED)


def definite(value: object, what: str, where: Where | None) -> ScalarNode:
    """As `untyped`, of what is no `nothing()` of which nobody says what it lacks."""
    node = untyped(value, what, where)
    require_definite(node, what, where)
    return node


def part_of(kind: ElementType) -> str | None:
    """How a scalar is taken out of a tuple or a maybe."""
    if isinstance(kind, MaybeType):
        return "the value of a maybe is `A.fromMaybe(default, m)`, and `A.isJust(m)` whether it has one"
    return "an item of a tuple is taken by `t[0]`" if isinstance(kind, TupleType) else None


def _made_of(kind: ElementType) -> str | None:
    """How a tuple, or an index, is made."""
    if not isinstance(kind, TupleType) or not kind.items:
        return None
    if {*kind.items} == {I64}:
        return f"an index has one number for each dimension: `A.index({', '.join('ijklmnop'[: len(kind.items)])})`"
    return f"one is made by `A.lift({', '.join('…' for _ in kind.items)})`"


def _hint_of_index(found: ElementType, index: ElementType) -> str | None:
    """What to write if what was found is a maybe, and `index` an index."""
    if (
        not isinstance(found, MaybeType)
        or not isinstance(index, TupleType)
        or not index.items
        or {*index.items} != {I64}
    ):
        return None
    count = len(index.items)
    items = "ijklmnop"[:count] if count <= len("ijklmnop") else [f"i{number}" for number in range(count)]
    written = f"`A.just(A.index({', '.join(items)}))`"
    return (
        f"an index is a tuple: {written}"
        if count == 1 and found.value == I64
        else f"an index of that rank is {written}"
    )


def _check_integer(value: float, expected: ScalarType, what: str, where: Where | None) -> None:
    if isinstance(value, float):
        hint = "write an integer"
        if what.startswith("operand"):
            hint += f", or convert the other side: `A.toFloating(e, np.{F64.dtype})`"
        raise AccelTypeError(f"{what} must be {expected}, got {describe(value)}", where, hint=hint)
    if not expected.minimum <= value <= expected.maximum:
        limits = f"{expected.minimum} to {expected.maximum}"
        hint = "write a number in these limits, or convert what it meets to a type with wider ones by `A.cast`"
        raise AccelTypeError(f"{what}: {shown(value)} does not fit {expected} ({limits})", where, hint=hint)


def _wider(value: float | complex, expected: ScalarType | ComplexType) -> str:
    """What to do about a number that is too large for a float type."""
    part = expected.part if isinstance(expected, ComplexType) else expected
    return f"the largest is {_largest(part):.7g}; write that, `np.inf`, or convert what it meets to a wider type by `A.cast`"


def _fits_float(value: float, expected: ScalarType) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        return True
    # Half a unit in the last place above the greatest float still rounds down to it; one is enough of a bound.
    return abs(value) <= _largest(expected)


@cache
def _largest(kind: ScalarType) -> float:
    return float(np.finfo(kind.dtype.name).max)


def _advice(value: object) -> str | None:
    if isinstance(value, np.ndarray):
        return "an array enters a program by `A.use(array)`; one element of it is read by `A.use(array)[index]`"
    if type(value).__name__ == "Acc":
        return "one element of an array is read by `xs[index]`, that of a scalar array by `A.the(xs)`"
    if isinstance(value, tuple):
        return f"a tuple of expressions is made by `A.lift({', '.join('…' for _ in value)})`"
    if value is None:
        return "is a `return` missing, or an argument?"
    if callable(value):
        return "give the value itself, not a function that makes it; in a choice only the branch that is taken is evaluated"
    return "numbers are those of Python and NumPy's scalars"
