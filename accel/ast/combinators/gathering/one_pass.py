"""Several folds in one pass: `Fold`, which is put together by functions and operators, and `runFold`.

In: recipes of folds, a handle. Out: a handle. Each part becomes a `Fold` node of its own, and the last step a `Map` of their
results; they read the same array, so one loop serves all.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, TypeVarTuple

import numpy as np

from accel.ast.combinators.elementwise import map_arrays
from accel.ast.combinators.folds import UNSEEDED, fold_array
from accel.ast.handles.acc import Acc, Array
from accel.ast.handles.checks import inner_array
from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.function import apply
from accel.ast.handles.habits.values import is_function
from accel.ast.handles.literals import describe
from accel.ast.handles.tuples import constant, target_type
from accel.ast.scalars.conversions import add, max, min, mul
from accel.ast.tree.types import BOOL, ComplexType
from accel.ast.tree.walk import postorder
from accel.errors import AccelTypeError, here

F = TypeVar("F")
G = TypeVar("G")
Ix = TypeVarTuple("Ix")
I = TypeVar("I")  # noqa: E741  # what is folded
O = TypeVar("O")  # noqa: E741  # what comes out
N = TypeVar("N", bound=np.number[Any])
Or = TypeVar("Or", bound="np.generic[float]")  # what is ordered
K = TypeVar("K", bound=np.generic)


class Fold(Generic[I, O]):
    """A fold of elements `I` that gives `O`: what `runFold` does to each row (Accelerate's `Data.Fold`).

    `Fold(element, combine, seed)` folds `element(x)` of each x by the associative `combine` from `seed`. Folds become others by
    `map`, `zipWith`, and, of numbers, by `+ - * /` with folds and numbers; all are computed in one pass.

        >>> total, count = A.Fold.sum(np.float64), A.Fold.length(np.float64)
        >>> A.run(A.runFold(total / count, A.use(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]]))))
        array([2., 6.])
    """

    __slots__ = ("_function", "_operands", "_parts")

    def __init__(
        self: Fold[F, G],
        element: Callable[[Exp[F]], Exp[G]],
        combine: Callable[[Exp[G], Exp[G]], Exp[G]],
        seed: Exp[G] | G | float,
    ) -> None:
        """See the class."""
        self._parts: tuple[Callable[..., object], Callable[..., object], object] | None = (element, combine, seed)
        self._function: Callable[..., object] | None = None
        self._operands: tuple[Fold[Any, Any], ...] = ()

    @staticmethod
    def sum(dtype: type[N]) -> Fold[N, N]:
        """The sum; 0 of an empty row. dtype: of the elements, as for all of these."""
        return _named("sum", dtype, add, 0)

    @staticmethod
    def product(dtype: type[N]) -> Fold[N, N]:
        """The product; 1 of an empty row."""
        return _named("product", dtype, mul, 1)

    @staticmethod
    def minimum(dtype: type[Or]) -> Fold[Or, Or]:
        """The least. An empty row raises `AccelValueError` when run."""
        return _named("minimum", dtype, min, UNSEEDED)

    @staticmethod
    def maximum(dtype: type[Or]) -> Fold[Or, Or]:
        """The greatest. An empty row raises `AccelValueError` when run."""
        return _named("maximum", dtype, max, UNSEEDED)

    @staticmethod
    def length(dtype: type[N]) -> Fold[Any, N]:
        """How many elements there are, as a number of type `dtype`. Any: whatever they are."""
        return Fold(lambda x: constant(1, dtype), add, 0)

    def map(self, f: Callable[[Exp[O]], Exp[F]]) -> Fold[I, F]:
        """`f` of the result."""
        return _mapped("map", f, (self,))

    def zipWith(self, f: Callable[[Exp[O], Exp[F]], Exp[G]], other: Fold[I, F]) -> Fold[I, G]:
        """`f` of the results of both."""
        return _mapped("zipWith", f, (self, other))

    def __add__(self, other: Fold[I, O] | O | float) -> Fold[I, O]:
        return _operated(operator.add, self, other)

    def __radd__(self, other: O | float) -> Fold[I, O]:
        return _operated(operator.add, other, self)

    def __sub__(self, other: Fold[I, O] | O | float) -> Fold[I, O]:
        return _operated(operator.sub, self, other)

    def __rsub__(self, other: O | float) -> Fold[I, O]:
        return _operated(operator.sub, other, self)

    def __mul__(self, other: Fold[I, O] | O | float) -> Fold[I, O]:
        return _operated(operator.mul, self, other)

    def __rmul__(self, other: O | float) -> Fold[I, O]:
        return _operated(operator.mul, other, self)

    def __truediv__(self, other: Fold[I, O] | O | float) -> Fold[I, O]:
        return _operated(operator.truediv, self, other)

    def __rtruediv__(self, other: O | float) -> Fold[I, O]:
        return _operated(operator.truediv, other, self)

    __array_ufunc__ = None  # a NumPy number leaves operators to the fold


def runFold(fold: Fold[F, G], xs: Acc[Array[tuple[*Ix, int], F]]) -> Acc[Array[tuple[*Ix], G]]:
    """What `fold` gives of each row, in one pass over `xs`, however many folds it is made of (Accelerate's `runFold`).

    >>> def squared(x):
    ...     return x * x
    >>> mean = A.Fold.sum(np.float64) / A.Fold.length(np.float64)
    >>> squares = A.Fold(squared, A.add, 0.0) / A.Fold.length(np.float64)
    >>> variance = squares.zipWith(lambda s, m: s - m * m, mean)
    >>> A.run(A.runFold(mean.zipWith(lambda m, v: A.lift(m, v), variance), A.use(np.array([1.0, 2.0, 3.0, 4.0]))))
    (array(2.5), array(1.25))
    """
    where = here()
    if not isinstance(fold, Fold):
        raise AccelTypeError(
            f"runFold takes a Fold, got {describe(fold)}", where, hint="write `A.Fold(f, combine, seed)`"
        )
    array = inner_array("runFold", xs, where, (fold, xs))
    order = postorder([fold], lambda each: each._operands)
    folded: dict[Fold[Any, Any], Acc[Any]] = {}
    for each in order:
        if each._parts is not None:
            element, combine, seed = each._parts
            folded[each] = fold_array("runFold", combine, seed, map_arrays("runFold", element, (array,)))

    def last(*results: Exp[Any]) -> object:
        values: dict[Fold[Any, Any], object] = dict(zip(folded, results, strict=True))
        for each in order:
            if each._function is not None:
                operands = [values[operand] for operand in each._operands]
                values[each] = apply(each._function, operands, "a function of runFold", where)
        return values[fold]

    return map_arrays("runFold", last, tuple(folded.values()))


def _named(name: str, dtype: type[K], combine: Callable[..., object], seed: object) -> Fold[K, K]:
    """A fold of elements of one type, as they are."""
    kind = target_type(dtype, f"Fold.{name}", here())
    if (kind is BOOL and combine in (add, mul)) or (isinstance(kind, ComplexType) and combine in (min, max)):
        takes, hint = (
            ("numbers", "count by int64: `A.boolToInt`")
            if kind is BOOL
            else ("what is ordered", "take a part: `A.real`")
        )
        raise AccelTypeError(f"Fold.{name} takes {takes}, got {kind}", here(), hint=hint)

    def element(x: Exp[Any]) -> Exp[Any]:
        if x.type != kind:
            hint = (
                f"write `A.Fold.{name}(…)` of that type, or convert the elements: `A.map(lambda x: A.cast(x, …), xs)`"
            )
            raise AccelTypeError(f"Fold.{name} is of elements of type {kind}, got {x.type}", here(), hint=hint)
        return x

    made: Fold[K, K] = Fold.__new__(Fold)
    made._parts, made._function, made._operands = (element, combine, seed), None, ()
    return made


def _mapped(name: str, f: Callable[..., object], operands: tuple[Fold[Any, Any], ...]) -> Fold[Any, Any]:
    """`f` of the results of folds. Raises `AccelTypeError` for what is no function, or no fold."""
    for wrong in [operand for operand in operands if not isinstance(operand, Fold)]:
        hint = "the function comes first: `one.zipWith(lambda x, y: …, other)`"
        raise AccelTypeError(f"{name} of a Fold takes another Fold, got {describe(raw(wrong))}", here(), hint=hint)
    if not is_function(f):
        call = "map(lambda x: …)" if name == "map" else f"{name}(lambda x, y: …, other)"
        hint = f"it gets results: `one.{call}`"
        raise AccelTypeError(f"{name} of a Fold takes a function, got {describe(raw(f))}", here(), hint=hint)
    return _applied(f, operands)


def _applied(f: Callable[..., object], operands: tuple[Fold[Any, Any], ...]) -> Fold[Any, Any]:
    made: Fold[Any, Any] = Fold.__new__(Fold)
    made._parts, made._function, made._operands = None, f, operands
    return made


def _operated(f: Callable[[Any, Any], object], left: object, right: object) -> Fold[Any, Any]:
    """An operator between folds and numbers."""
    sides: Sequence[object] = (left, right)
    folds = tuple(side for side in sides if isinstance(side, Fold))

    def result(*values: object) -> object:
        rest = iter(values)
        return f(*[next(rest) if isinstance(side, Fold) else side for side in sides])

    return _applied(result, folds)
