"""Functions of nested arguments, around a program's call: `forms_text.py` says what they do."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, assert_never

import numpy as np

from accel.ast.tree.types import ComplexType, ScalarType
from accel.backends.direct import Form, Forms
from accel.backends.llvm.calls.formed.forms_text import EXPORTS, IMPORTS, LEAF, MOST, TUPLE, forms_text
from accel.backends.llvm.calls.formed.halves_text import C64, C128, kernels_text
from accel.backends.llvm.calls.spread import Function
from accel.backends.llvm.machine.buffers import buffers, numpy_functions
from accel.backends.llvm.machine.kept_objects import kept_object
from accel.backends.llvm.machine.loading import load
from accel.backends.llvm.machine.python_function import python_function, symbol
from accel.backends.llvm.machine.rows import with_rows
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES
from accel.backends.llvm.threads.pool import pool
from accel.support.dataclass import dataclass
from accel.support.forks import Once

if TYPE_CHECKING:
    from accel.backends.protocol import HostArray

COPIED = 1 << 13
"""The most elements of a complex array that are copied for each call: what calls by Python do besides takes as long."""

VIEWS = -1
"""Instead of it: none are."""


@dataclass(frozen=True, slots=True)
class Formed:
    """What makes the function of a form, from what takes anything and the arrays that the program's call holds.

    make: makes the call. copied: the most elements of a complex array that are copied, or `VIEWS`. threads: join halves.
    """

    make: Function
    forms: Forms
    copied: int
    threads: int

    def __call__(self, otherwise: Callable[..., object], constants: Sequence[HostArray]) -> Callable[..., object]:
        """The function. It holds copies of small arrays that have no rows of adjacent elements, such as halves."""
        code = _code()
        if self.copied != VIEWS:
            constants = [with_rows(array) if array.size <= self.copied else array for array in constants]
        call = self.make(code.nothing, constants)
        return code.formed(otherwise, call, self.forms, _table(self.forms, self.copied, self.threads))


def formed(make: Function, forms: Forms, threads: int, *, views: bool) -> Function | None:
    """What makes such functions, which compare as what they are made of. None if a form has more parts than a table holds.

    `views` of all complex arrays are given to the call, instead of copies of small ones.
    """
    taken = sum(len(list(_outermost_first(form, -1, 0, 0))) for form in forms.arguments)
    made = len(list(_innermost_first(forms.result)))
    is_served = max(taken, made) <= MOST and _arrays(forms.result) > 0
    return Formed(make, forms, VIEWS if views else COPIED, threads) if is_served else None


def _table(forms: Forms, copied: int, threads: int) -> bytes:
    """What `forms_text.py` says."""
    taken: list[tuple[int, int, int, int, int]] = []
    for place, form in enumerate(forms.arguments):
        taken += _outermost_first(form, -1, place, len(taken))
    made = list(_innermost_first(forms.result))
    results = _arrays(forms.result)
    alone = [(LEAF, 0, 0)] * results
    flat = made == alone or (results > 1 and made == [*alone, (TUPLE, results, id(tuple))])
    head = [len(forms.arguments), len(taken), copied, threads, results, 0 if flat else len(made)]
    words = [*head, *(word for part in taken for word in part), *(word for part in made for word in part)]
    return struct.pack(f"{len(words)}q", *words)


def _outermost_first(form: Form, inside: int, place: int, number: int) -> Iterator[tuple[int, int, int, int, int]]:
    """The parts of a form, which itself has this number: their kinds, where they lie, how many items they have, and the address
    of their class."""
    if not isinstance(form, tuple):
        yield _kind(form), inside, place, 0, 0
        return
    yield TUPLE, inside, place, len(form), id(type(form))
    inner = number + 1
    for at, item in enumerate(form):
        for part in _outermost_first(item, number, at, inner):
            yield part
            inner += 1


def _innermost_first(form: Form) -> Iterator[tuple[int, int, int]]:
    """The parts of a form: their kinds, how many items they have, and the address of their class."""
    if not isinstance(form, tuple):
        yield _kind(form), 0, 0
        return
    for item in form:
        yield from _innermost_first(item)
    yield TUPLE, len(form), id(type(form))


def _kind(element: ScalarType | ComplexType) -> int:
    match element:
        case ScalarType():
            return LEAF
        case ComplexType.C64:
            return C64
        case ComplexType.C128:
            return C128
        case _:
            assert_never(element)


def _arrays(form: Form) -> int:
    """How many arrays of a call a form is made of."""
    if isinstance(form, tuple):
        return sum(map(_arrays, form))
    return 2 if isinstance(form, ComplexType) else 1


class _Code:
    """The linked text."""

    def __init__(self) -> None:
        imports: dict[str, int] = {**buffers().symbols, **pool().symbols, **numpy_functions()}
        imports |= {name: symbol(name) for name in IMPORTS}
        imports |= {"array_type": id(np.ndarray), "tuple_type": id(tuple)}
        elements: Mapping[str, ScalarType | ComplexType] = {
            each.value: each for each in (ScalarType.F32, ScalarType.F64, *ComplexType)
        }
        imports |= {name: id(element.dtype) for name, element in elements.items()}
        objects = [
            kept_object("forms", lambda: forms_text() + HOST_ATTRIBUTES),
            kept_object("halves", lambda: kernels_text() + HOST_ATTRIBUTES, quick=False),
        ]
        self._library = load(objects, EXPORTS, imports)
        self.nothing: Callable[..., object] = python_function(
            "nothing", self._library.addresses["accel_python_nothing"], (self._library,)
        )
        """Stands behind calls that the function of a form makes."""

    def formed(
        self, otherwise: Callable[..., object], call: Callable[..., object], forms: Forms, table: bytes
    ) -> Callable[..., object]:
        """The function. It holds the forms, of whose classes the table has the addresses."""
        held = (otherwise, call, table, self._library, forms)
        found: Callable[..., object] = python_function("call", self._library.addresses["accel_python_formed"], held)
        return found


_code = Once(_Code)
"""Compiled once per machine, and linked once per process."""
