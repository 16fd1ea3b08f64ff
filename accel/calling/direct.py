"""A `runN` function called with arrays of the same kinds as before: the fewest steps to its kernels.

Kinds are dtypes and ranks. Plain arrays of numbers are read by compiled code (`Direct.function`), a function for each
combination of kinds; so are complex numbers and tuples of arrays. These form a chain: one that does not take what it is given
passes it to the next, the last one to what takes anything. That finds in a table what else came before: structured arrays, rows
with gaps, byte-swapped arrays, and programs that have no compiled call.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, Union, assert_never

import numpy as np

from accel.ast.tree.types import (
    BOOL,
    DEEPEST,
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
from accel.calling.specialised import Specialised
from accel.structure import Nested

if TYPE_CHECKING:
    from accel.ast.tree.leaves import Leaf
    from accel.backends.protocol import HostArray
    from accel.calling.writing import Taking, Writing
    from accel.settings import Settings

Kind: TypeAlias = Union[tuple[np.dtype[np.generic], int], tuple["Kind", ...]]
"""An array's dtype and rank, or those of a tuple's."""

_MOST = 8
"""Combinations of kinds that are known at a time."""

_MOST_SETTINGS = 4
"""Blocks of settings that ways are kept for."""


def kinds_of(arguments: Sequence[object], depth: int = DEEPEST) -> tuple[Kind, ...] | None:
    """The kinds of NumPy's arrays and of tuples of them; None if there is anything else, or tuples lie deeper than `depth`."""
    kinds: list[Kind] = []
    for argument in arguments:
        if type(argument) is np.ndarray:
            kinds.append((argument.dtype, argument.ndim))
        elif type(argument) is tuple and depth:
            inner = kinds_of(argument, depth - 1)
            if inner is None:
                return None
            kinds.append(inner)
        else:
            return None
    return tuple(kinds)


def with_arrays(arguments: Sequence[object]) -> list[object] | None:
    """The arguments with arrays without dimensions for NumPy's scalars; None if there are no such scalars."""
    for argument in arguments:
        if isinstance(argument, np.generic):
            return [np.asarray(each) if isinstance(each, np.generic) else each for each in arguments]
    return None


class General:
    """A method that takes arguments of any kind, as the end of a chain. It does not keep alive what the method is of, which has
    the chain."""

    def __init__(self, method: Callable[..., object]) -> None:
        self._method = weakref.WeakMethod(method)

    def __call__(self, *arguments: object) -> object:
        """What the method gives."""
        method = self._method()
        assert method is not None, "a function is called that is gone: a bug in accel"
        return method(*arguments)


class Ways:
    """The short ways of one function under some settings."""

    def __init__(self, settings: object, lasting: bool, general: Callable[..., object]) -> None:
        """`settings`: the innermost ones that these ways are for; `lasting`: they may be held while others are in force.

        `general` takes anything, and asks `find`.
        """
        self.settings = settings
        self.lasting = lasting
        self.chain = general
        self._general = general
        self.known: dict[tuple[Kind, ...], Specialised] = {}
        self._direct: dict[tuple[Kind, ...], _Short | None] = {}
        """What came twice: the executable with its constants, if there is a short way to it."""
        self.writing: dict[tuple[Kind, ...], Writing] = {}
        """Of calls with arrays for their results (`writing.py`)."""
        self.taking: dict[tuple[tuple[Kind, ...], tuple[int, ...]], Taking] = {}
        """Of calls whose results may take the memory of arguments with some numbers."""
        self._spread: set[object] = set()
        """What made functions of the chain for arrays without rows of adjacent elements."""

    def find(self, kinds: tuple[Kind, ...]) -> Specialised | None:
        """What was run for arguments of these kinds."""
        return self.known.get(kinds)

    def remember(self, kinds: tuple[Kind, ...] | None, found: Specialised, settings: Settings) -> None:
        """This is run for arguments of these kinds, if they have some, and of any sizes."""
        if kinds is None or kinds in self.known or settings.sizes == "actual":
            return
        if len(self.known) >= _MOST:
            self.known, self._direct, self._spread, self.chain = {}, {}, set(), self._general
            self.writing, self.taking = {}, {}
        self.known[kinds] = found

    def given(
        self, arguments: Sequence[object], /, out: object = None, donate: object = None, **_others: object
    ) -> tuple[object] | None:
        """The results in a tuple, of a call with `out` or `donate` (`writing.py`).

        None if no such call came before, with arguments of these kinds, or something is not as usual: then nothing is done.
        """
        kinds = kinds_of(arguments)
        if kinds is None:
            return None
        if out is not None:
            writing = self.writing.get(kinds)
            return (out,) if writing is not None and writing.write(self.chain, arguments, out) else None
        if type(donate) is not tuple or not all(type(number) is int for number in donate):
            return None
        taking = self.taking.get((kinds, donate))
        return None if taking is None else taking.take(arguments)

    def shorten(self, kinds: tuple[Kind, ...], found: Specialised, arguments: Sequence[Leaf]) -> None:
        """Arrays of these kinds, which came before, get a function of their own, where the program has one.

        So do those that have no rows of adjacent elements, once there is code for how they lie. `arguments`: their leaves.
        """
        if kinds not in self._direct:
            self._direct[kinds] = short = _short(kinds, found)
            if short is not None:
                self.chain = short.executable.function(self.chain, short.constants, short.forms) or self.chain
        elif (short := self._direct[kinds]) is not None:
            leaves = [*(each for each in arguments if isinstance(each, np.ndarray)), *short.constants]
            make = short.executable.spread(leaves, short.forms)
            if make is not None and make not in self._spread:
                self._spread.add(make)
                self.chain = make(self.chain, short.constants)


def ways_under(
    settings: object, kept: tuple[Ways, ...], lasting: bool, general: Callable[[], Callable[..., object]]
) -> tuple[Ways, ...]:
    """The ways under these settings, made if there are none, and behind them others that were kept."""
    if kept and kept[0].settings is settings:
        return kept
    found = next((ways for ways in kept if ways.settings is settings), None) or Ways(settings, lasting, general())
    return (found, *[ways for ways in kept if ways is not found and ways.lasting][: _MOST_SETTINGS - 1])


class _Short(NamedTuple):
    """An executable that can be called by arrays alone, or by what `forms` says, and the arrays that the function holds."""

    executable: Direct
    constants: Sequence[HostArray]
    forms: Forms | None


def _short(kinds: tuple[Kind, ...], found: Specialised) -> _Short | None:
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
    return _Short(found.executable, constants, None if plain else Forms(known, result))


def _form_of_kind(kind: Kind) -> Form | None:
    """The form of an argument; None for structured arrays, byte-swapped ones, and tuples with such."""
    match kind:
        case (np.dtype() as dtype, int()):
            element = number_type(dtype)
            return element if element is not None and element.dtype == dtype else None
        case _:
            return _all(tuple([_form_of_kind(item) for item in kind]))


def _form_of_results(form: Nested[ArrayType]) -> Form | None:
    """The form of results; None if there are named tuples or structured arrays among them."""
    if isinstance(form, ArrayType):
        return _form_of_elements(form.element)
    return _all([_form_of_results(part) for part in form]) if type(form) is tuple else None


def _form_of_elements(element: ElementType) -> Form | None:
    match element:
        case ScalarType() | ComplexType():
            return element
        case RecordType():
            return None
        case TupleType(items):
            return _all([_form_of_elements(item) for item in items])
        case MaybeType(value):
            return _all([BOOL, _form_of_elements(value)])
        case _:
            assert_never(element)


def _all(forms: Sequence[Form | None]) -> Form | None:
    """All of them as a tuple; None if one is not known."""
    known = tuple([form for form in forms if form is not None])
    return known if len(known) == len(forms) else None


def _is_flat(form: Form) -> bool:
    """Whether the user gets one array, or a tuple of several."""
    if isinstance(form, tuple):
        return len(form) > 1 and all(isinstance(part, ScalarType) for part in form)
    return isinstance(form, ScalarType)
