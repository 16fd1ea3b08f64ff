"""Element types that are no plain scalars or tuples: their leaves as everywhere, and how each is read and made.

In: the text of an element, or of its leaves. Out: the text of its leaves, or of the element.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import assert_never

from accel.ast.tree.types import BOOL, ScalarType


class Form(Enum):
    """What an element of several leaves is. A nested tuple is of two, the first of which has all leaves but the last."""

    PLAIN = "tuple"
    COMPLEX = "complex"
    RECORD = "record"
    MAYBE = "maybe"
    NESTED = "nested tuple"


class Formed(tuple[ScalarType, ...]):
    """The leaves of an element of another form than a scalar's or a tuple's; not equal to the same leaves as a tuple."""

    form: Form

    def __new__(cls, form: Form, leaves: Sequence[ScalarType]) -> Formed:
        found = super().__new__(cls, leaves)
        found.form = form
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formed) and self.form is other.form and tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.form, *self))


def form_of(element: tuple[ScalarType, ...]) -> Form:
    """The form of an element type."""
    return element.form if isinstance(element, Formed) else Form.PLAIN


def zero(kind: ScalarType) -> str:
    """Nothing of a type, as a constant."""
    value = "0.0" if kind.is_float else "False" if kind is BOOL else "0"
    return f"A.constant({value}, np.{kind.dtype.name})"


def _record(kinds: Sequence[ScalarType]) -> str:
    return f"record({', '.join(repr(kind.value) for kind in kinds)})"


def parts(text: str, element: tuple[ScalarType, ...]) -> tuple[str, ...]:
    """How the leaves of an element are read."""
    form = form_of(element)
    match form:
        case Form.PLAIN:
            return (text,) if len(element) == 1 else tuple(f"{text}[{leaf}]" for leaf in range(len(element)))
        case Form.COMPLEX:
            return (f"A.real({text})", f"A.imag({text})")
        case Form.RECORD:
            return tuple(f"{_record(element)}.x{leaf}({text})" for leaf in range(len(element)))
        case Form.MAYBE:
            return (f"A.isJust({text})", f"A.fromMaybe({zero(element[1])}, {text})")
        case Form.NESTED:
            return (*(f"{text}[0][{leaf}]" for leaf in range(len(element) - 1)), f"{text}[1]")
        case _:
            assert_never(form)


def made(form: Form, kinds: Sequence[ScalarType], leaves: Sequence[str]) -> str:
    """How an element is made of its leaves."""
    match form:
        case Form.PLAIN:
            return leaves[0] if len(leaves) == 1 else f"A.lift({', '.join(leaves)})"
        case Form.COMPLEX:
            return f"A.mkComplex({', '.join(leaves)})"
        case Form.RECORD:
            return f"{_record(kinds)}({', '.join(leaves)})"
        case Form.MAYBE:
            return f"A.cond({leaves[0]}, A.just({leaves[1]}), A.nothing())"
        case Form.NESTED:
            return f"A.lift(A.lift({', '.join(leaves[:-1])}), {leaves[-1]})"
        case _:
            assert_never(form)
