"""What compiled code is given in place of Python's steps: the form of arguments of some kinds, and of their results.

A program's machine code reads plain arrays of numbers, complex numbers and tuples of these, named or not, by itself
(`Direct.function`), and makes the results. Structured arrays and byte-swapped arrays have no such form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, assert_never

import numpy as np

from accel.ast.tree.types import (
    BOOL,
    ArrayType,
    ComplexType,
    ElementType,
    MaybeType,
    RecordType,
    ScalarType,
    TupleType,
    number_type,
)
from accel.backends.direct import Direct, Form, Forms
from accel.calling.kinds import Kind
from accel.calling.specialised import Specialised
from accel.structure import Nested

if TYPE_CHECKING:
    from accel.backends.protocol import HostArray


class Short(NamedTuple):
    """An executable that can be called by arrays alone, or by what `forms` says, and the arrays that the function holds."""

    executable: Direct
    constants: Sequence[HostArray]
    forms: Forms | None


def short(kinds: tuple[Kind, ...], found: Specialised) -> Short | None:
    """What is called for arguments of these kinds.

    None if it has no short way, or if some of the arrays that it holds lie on a device, for the executable to refuse.
    """
    constants = [constant for constant in found.constants if isinstance(constant, np.ndarray)]
    if len(constants) < len(found.constants) or not isinstance(found.executable, Direct):
        return None
    arguments, result = tuple([_form_of_kind(kind) for kind in kinds]), _form_of_results(found.result.form)
    if result is None or any(form is None for form in arguments):
        return None
    known = tuple([form for form in arguments if form is not None])
    plain = all(isinstance(form, ScalarType) for form in known) and _is_flat(result)
    return Short(found.executable, constants, None if plain else Forms(known, result))


def _form_of_kind(kind: Kind) -> Form | None:
    """The form of an argument; None for structured arrays, byte-swapped ones, those on a device, and tuples with such."""
    match kind:
        case (np.dtype() as dtype, int()):
            element = number_type(dtype)
            return element if element is not None and element.dtype == dtype else None
        case (tuple(), *_):
            return _all([_form_of_kind(item) for item in kind if isinstance(item, tuple)])
        case (type() as named, tuple() as inner):
            return _all([_form_of_kind(item) for item in inner], named)
        case _:
            return None


def _form_of_results(form: Nested[ArrayType]) -> Form | None:
    """The form of results; None if there are structured arrays among them."""
    if isinstance(form, ArrayType):
        return _form_of_elements(form.element)
    return _all([_form_of_results(part) for part in form], type(form))


def _form_of_elements(element: ElementType) -> Form | None:
    match element:
        case ScalarType() | ComplexType():
            return element
        case RecordType(items, record):
            return _all([_form_of_elements(item) for item in items], record) if isinstance(record, type) else None
        case TupleType(items):
            return _all([_form_of_elements(item) for item in items])
        case MaybeType(value):
            return _all([BOOL, _form_of_elements(value)])
        case _:
            assert_never(element)


def _all(forms: Sequence[Form | None], class_: type[tuple[object, ...]] = tuple) -> Form | None:
    """All of them as a tuple of that class; None if one is not known."""
    known = [form for form in forms if form is not None]
    if len(known) < len(forms):
        return None
    return tuple.__new__(class_, known)  # type: ignore[return-value]  # forms, of which its class says nothing


def _is_flat(form: Form) -> bool:
    """Whether the user gets one array, or a tuple of several."""
    if isinstance(form, tuple):
        return type(form) is tuple and len(form) > 1 and all(isinstance(part, ScalarType) for part in form)
    return isinstance(form, ScalarType)
