"""A `runN` function called with arrays of the same types and ranks as before: the fewest steps to its kernels.

Each combination of types has a function of its own. They form a chain: one that does not take what it is given passes it to
the next, the last one to what takes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from accel.ast.tree.types import ArrayType, ElementType, RecordType, ScalarType, TupleType
from accel.backends.direct import Direct
from accel.structure import Nested
from accel.support.frozen import frozen

if TYPE_CHECKING:
    from accel.ast.tree.leaves import Leaf
    from accel.backends.protocol import Executable

Kind: TypeAlias = tuple[np.dtype[np.generic], int]
"""An array's dtype and rank."""


@frozen
class Target:
    """What is called: an executable, the arrays that it is given beside the caller's, and how results come back.

    `run` does it for arrays of these kinds, and gives what the user gets.
    """

    executable: Executable
    constants: tuple[Leaf, ...]
    form: Nested[ArrayType]
    kinds: tuple[Kind, ...]
    run: Callable[[Sequence[Leaf]], object]


def direct(target: Target, otherwise: Callable[..., object]) -> Callable[..., object]:
    """The function for arrays of the target's kinds, which passes everything else to `otherwise`."""
    if isinstance(target.executable, Direct) and _is_flat(target.form):
        constants = [constant for constant in target.constants if isinstance(constant, np.ndarray)]
        # What lies on a device is for the executable to refuse.
        alike = len(constants) == len(target.constants)
        function = target.executable.function(otherwise, constants) if alike else None
        if function is not None:
            return function
    return _Compared(target, otherwise)


class _Compared:
    """Compares what it is given in Python."""

    def __init__(self, target: Target, otherwise: Callable[..., object]) -> None:
        self._kinds = target.kinds
        self._constants = target.constants
        self._run = target.run
        self._otherwise = otherwise

    def __call__(self, *arguments: Leaf) -> object:
        if len(arguments) != len(self._kinds):
            return self._otherwise(*arguments)
        for argument, (dtype, rank) in zip(arguments, self._kinds, strict=True):
            if type(argument) is not np.ndarray or argument.dtype is not dtype or argument.ndim != rank:
                return self._otherwise(*arguments)
        return self._run((*arguments, *self._constants))


def _is_flat(form: Nested[ArrayType]) -> bool:
    """Whether the user gets one array, or a tuple of several."""
    if isinstance(form, ArrayType):
        return isinstance(form.element, ScalarType) or _is_flat_tuple(form.element)
    return len(form) > 1 and all(isinstance(part, ArrayType) and isinstance(part.element, ScalarType) for part in form)


def _is_flat_tuple(element: ElementType) -> bool:
    if not isinstance(element, TupleType) or isinstance(element, RecordType) or len(element.items) < 2:
        return False
    return all(isinstance(item, ScalarType) for item in element.items)
