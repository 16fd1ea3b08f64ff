"""`rearrangements`: every order in which the rules of [Ber] let the loops of a product run; each can be run and measured.

In: a function over arrays, its arrays, blocks by axis. Out: `Rearrangement`s. They are for looking at the paper's question;
programs do not run so: `run` and `runN` decide that for themselves, and keep the bits of docs/order.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from accel import settings as setting
from accel.ast.tree.leaves import to_host
from accel.ast.tree.operators import Operator
from accel.errors import AccelRearrangeError, AccelValueError, here
from accel.explanation.explain import subject
from accel.rearrange.cost import predicted
from accel.rearrange.execute import Compiled
from accel.rearrange.nest import HostArray, LinearNest
from accel.rearrange.orders import orders
from accel.rearrange.rules import Order, Step, own_order
from accel.rearrange.trace import linear_nest
from accel.support.dataclass import dataclass
from accel.support.lazy import lazy
from accel.support.shown import shown

Association: TypeAlias = Literal["free", "fixed"]


class _Program:
    """What all rearrangements of one program share."""

    def __init__(self, nest: LinearNest, arrays: tuple[HostArray, ...], free: bool) -> None:
        self.nest = nest
        self.arrays = arrays
        self.free = free
        self._codes: dict[Order, Compiled] = {}

    def compiled(self, order: Order) -> Compiled:
        """An order's code, made when it is first asked for."""
        if order not in self._codes:
            self._codes[order] = Compiled(self.nest, order, self.arrays, free=self.free)
        return self._codes[order]

    @lazy
    def reference(self) -> HostArray:
        """The result in the nest's own order, without a float associated otherwise."""
        return Compiled(self.nest, own_order(self.nest), self.arrays, free=False).run()

    @lazy
    def bound(self) -> HostArray:
        """How far floats in two orders may lie apart: 2·n·eps·Σ|xy| of n summands; of anything but sums 2·n·eps·|result|."""
        nest = self.nest
        reduced = [axis.extent for axis in nest.axes if axis not in nest.maps]
        factor = 2 * int(np.prod(reduced)) * float(np.spacing(np.ones((), nest.result.type.dtype)))
        sums = nest.reduction is not None and nest.reduction.monoid.operators == (Operator.ADD,)
        if not sums:
            return np.asarray(factor * np.abs(self.reference))
        magnitudes = Compiled(nest, own_order(nest), self.arrays, free=False, magnitudes=True).run()
        return np.asarray(factor * magnitudes)


@dataclass(frozen=True, slots=True)
class Rearrangement:
    """One order of loops.

    name: its higher-order functions from the outermost to the innermost, as [Ber]'s tables have them: `rnz mapA mapB rnz`.
    steps: the rules that lead to it from the program's own order. predicted: seconds on one thread, by the model.
    """

    name: str
    steps: tuple[Step, ...]
    predicted: float
    _order: Order
    _program: _Program

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of the loops, outermost first."""
        return tuple(piece.extent for piece in self._order.pieces)

    def run(self) -> HostArray:
        """The result, computed by the loops as they stand, on one thread."""
        return self._program.compiled(self._order).run()

    def measure(self, rounds: int = 5) -> float:
        """Seconds of processor time: the least of up to `rounds` rounds."""
        return self._program.compiled(self._order).measure(rounds)

    def verify(self) -> None:
        """Raises `AccelRearrangeError` if the result is not that of the program's own order.

        Exact for integers, bools, and floats that may not be associated otherwise; else within 2·n·eps·Σ|xy|.
        """
        program = self._program
        found, expected = self.run(), program.reference
        if not (program.free and program.nest.result.type.is_float):
            wrong = ~((found == expected) | ((found != found) & (expected != expected)))
        else:
            wrong = ~(np.abs(found - expected) <= program.bound) & (found != expected)
            wrong &= ~(np.isnan(found) & np.isnan(expected))
        if np.any(wrong):
            message = f"{self.name} computes something else at {int(np.sum(wrong))} elements"
            raise AccelRearrangeError(message, here(), hint="this is a bug in accel: please report the program")

    def __str__(self) -> str:
        return f"{self.name}: {'; '.join(map(str, self.steps)) or 'as it is written'}"


def rearrangements(
    f: Callable[..., Any],
    *arrays: object,
    subdivide: Mapping[str, Sequence[int]] | None = None,
    association: Association = "free",
) -> tuple[Rearrangement, ...]:
    """Every order of the loops of `f(*arrays)` that the rules of [Ber] lead to, the program's own first.

    `f` must be one linear nest of maps and at most one reduction, such as a product of matrices; else it raises
    `AccelRearrangeError`. Axes are called `i`, `j`, … from the outermost of the program, or by their higher-order functions:
    `mapA`, `mapB`, …, `rnz`. `subdivide` has blocks by axis: `{"k": (16,)}` splits k once, `{"k": (256, 16)}` twice. With
    `association="fixed"` each result is combined in one order, from its first element; `"free"` lets LLVM choose, and lets two
    axes of a reduction of floats change places.

        >>> a = np.ones((4, 6))
        >>> [each.name for each in A.rearrangements(A.matmul, a, a.T)]
        ['mapA mapB rnz', 'mapB mapA rnz', 'mapA rnz mapB', 'mapB rnz mapA', 'rnz mapA mapB', 'rnz mapB mapA']
    """
    if association not in ("free", "fixed"):
        hint = "`free` lets LLVM choose how floats are combined"
        raise AccelValueError(f"association is 'free' or 'fixed', not {shown(association)}", here(), hint=hint)
    # The product as an operation of its own: LLVM rounds it with its sum, where that is free.
    found = subject(f, arrays, setting.changed({"products": "rounded"}))
    nest, data = linear_nest(found.staged.loops, found.sizes, [to_host(leaf) for leaf in found.data or ()])
    free = association == "free"
    program = _Program(nest, data, free)
    return tuple(
        Rearrangement(order.name, order.steps, predicted(nest, order), order, program)
        for order in orders(nest, subdivide or {}, free=free)
    )
