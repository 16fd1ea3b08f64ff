"""`Acc[A]`: the typed handle of an array computation, and the phantom types that say its rank and element.

In: nodes of `accel/ast/tree/nodes.py`. Out: the same; the handle adds indexing, static types and the extents known so far.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    NoReturn,
    Self,
    TypeAlias,
    TypeVar,
    TypeVarTuple,
    Union,
    assert_never,
    overload,
)

import numpy as np

from accel.ast.handles.elements import Maybe
from accel.ast.handles.exp import E, Exp, raw
from accel.ast.handles.habits import attributes
from accel.ast.handles.habits.values import Handle
from accel.ast.handles.literals import describe, is_node, typed, whole_number
from accel.ast.handles.records import Record
from accel.ast.tree.nodes import (
    Acond,
    ArrayNode,
    Awhile,
    Filter,
    HostCall,
    Index,
    Require,
    Result,
    ScalarNode,
    Scan,
    ScanSegments,
    ShapeOf,
)
from accel.ast.tree.text import text
from accel.ast.tree.types import ArrayType, ComplexType, ElementType, MaybeType, ScalarType, TupleType, index_type
from accel.device_array import DeviceArray
from accel.errors import AccelStagingError, AccelTypeError, Where, here
from accel.support.dataclass import dataclass
from accel.support.numpy_names import NUMPY_FUNCTION

Ix = TypeVarTuple("Ix")
Sh = TypeVar("Sh", bound=tuple[Any, ...])
X = TypeVar("X")
T = TypeVar("T", bound=tuple[Any, ...])
G = TypeVar("G", bound=np.generic)
Rec = TypeVar("Rec", bound=Record)
G2 = TypeVar("G2", bound=np.generic)
G3 = TypeVar("G3", bound=np.generic)
G4 = TypeVar("G4", bound=np.generic)
G5 = TypeVar("G5", bound=np.generic)

Extents: TypeAlias = tuple[int | None, ...]
"""The extents of an array as far as they are known while the program is built."""

DType: TypeAlias = Union["np.dtype[np.generic]", tuple["DType", ...]]
"""NumPy's type of a scalar; of a tuple, the tuple of its items' types."""


class Array(Generic[Sh, E]):
    """The type of an array: shape `Sh`, as in `np.ndarray[Sh, ...]`, and element `E`. It has no instances."""


DIM0: TypeAlias = tuple[()]
DIM1: TypeAlias = tuple[int]
DIM2: TypeAlias = tuple[int, int]
DIM3: TypeAlias = tuple[int, int, int]
DIM4: TypeAlias = tuple[int, int, int, int]
DIM5: TypeAlias = tuple[int, int, int, int, int]
Scalar: TypeAlias = Array[tuple[()], E]
Vector: TypeAlias = Array[tuple[int], E]
Matrix: TypeAlias = Array[tuple[int, int], E]
Segments: TypeAlias = Array[tuple[int], np.int64]

_PRODUCTS: Final = "accel.ast.combinators.linear_algebra.products"
"""Where `matmul` is."""

Num: TypeAlias = int | Exp[np.int64]
"""What counts: a Python int or an i64 expression."""


@dataclass(frozen=True, eq=False, repr=False)
class Acc(Handle, Generic[X]):
    """An array computation; `X` is `Array[shape, element]`. An `Acc` used twice is computed once.

    `extents` are those known while the program is built, None for the others: errors about them are found early.
    """

    __slots__ = ("extents", "node")  # by hand: `slots=True` makes a second class, and then `Acc[Any](…)` fails

    node: ArrayNode
    extents: Extents

    __setattr__, __delattr__ = Handle.__setattr__, Handle.__delattr__  # else those of frozen dataclasses

    @property
    def type(self) -> ArrayType:
        """Rank and element type."""
        return self.node.types[0]

    @property
    def shape(self: Acc[Array[Sh, E]]) -> Exp[Sh]:
        """The shape as an index: `A.unlift(xs.shape)` gives its extents. It asks no assertion."""
        node = self.node
        while isinstance(node, Require):
            node = node.array
        return Exp(ShapeOf(node, index_type(self.rank), here()))

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self.node.types[0].rank

    @property
    def dtype(self) -> DType:
        """NumPy's type of the elements; of tuples, the tuple of their items' types."""
        return _dtype(self.type.element)

    @overload
    def __getitem__(self: Acc[Array[tuple[int], E]], index: Num) -> Exp[E]: ...
    @overload
    def __getitem__(self: Acc[Array[Sh, E]], index: Exp[Sh]) -> Exp[E]: ...
    @overload
    def __getitem__(self: Acc[Array[tuple[()], E]], index: tuple[()]) -> Exp[E]: ...
    @overload
    def __getitem__(self: Acc[Array[tuple[int], E]], index: tuple[Num]) -> Exp[E]: ...
    @overload
    def __getitem__(self: Acc[Array[tuple[int, int], E]], index: tuple[Num, Num]) -> Exp[E]: ...
    @overload
    def __getitem__(self: Acc[Array[tuple[int, int, int], E]], index: tuple[Num, Num, Num]) -> Exp[E]: ...
    @overload
    def __getitem__(self: Acc[Array[DIM4, E]], index: tuple[Num, Num, Num, Num]) -> Exp[E]: ...
    @overload
    def __getitem__(self: Acc[Array[DIM5, E]], index: tuple[Num, Num, Num, Num, Num]) -> Exp[E]: ...
    def __getitem__(self, index: object) -> Exp[Any]:
        where = here()
        node = index_node(raw(index), self.rank, where)
        return Exp(Index(self.node, node, self.type.element, where))

    if TYPE_CHECKING:  # no such things at run time: they say what `run` gives

        @overload
        def _evaluated(self: Acc[Array[Sh, G]]) -> np.ndarray[Sh, np.dtype[G]]: ...
        @overload
        def _evaluated(self: Acc[Array[Sh, tuple[G]]]) -> tuple[np.ndarray[Sh, np.dtype[G]]]: ...
        @overload
        def _evaluated(
            self: Acc[Array[Sh, tuple[G, G2]]],
        ) -> tuple[np.ndarray[Sh, np.dtype[G]], np.ndarray[Sh, np.dtype[G2]]]: ...
        @overload
        def _evaluated(
            self: Acc[Array[Sh, tuple[G, G2, G3]]],
        ) -> tuple[np.ndarray[Sh, np.dtype[G]], np.ndarray[Sh, np.dtype[G2]], np.ndarray[Sh, np.dtype[G3]]]: ...
        @overload
        def _evaluated(
            self: Acc[Array[Sh, tuple[G, G2, G3, G4]]],
        ) -> tuple[
            np.ndarray[Sh, np.dtype[G]],
            np.ndarray[Sh, np.dtype[G2]],
            np.ndarray[Sh, np.dtype[G3]],
            np.ndarray[Sh, np.dtype[G4]],
        ]: ...
        @overload
        def _evaluated(
            self: Acc[Array[Sh, tuple[G, G2, G3, G4, G5]]],
        ) -> tuple[
            np.ndarray[Sh, np.dtype[G]],
            np.ndarray[Sh, np.dtype[G2]],
            np.ndarray[Sh, np.dtype[G3]],
            np.ndarray[Sh, np.dtype[G4]],
            np.ndarray[Sh, np.dtype[G5]],
        ]: ...
        @overload
        def _evaluated(self: Acc[Array[Sh, T]]) -> tuple[Any, ...]: ...
        @overload
        def _evaluated(self: Acc[Array[Sh, Maybe[E]]]) -> tuple[np.ndarray[Sh, np.dtype[np.bool_]], Any]: ...
        @overload
        def _evaluated(self: Acc[Array[Sh, Rec]]) -> Any: ...
        @overload
        def _evaluated(self) -> object: ...
        def _evaluated(self) -> object:
            """An array; of tuples, a tuple of arrays. Any: what records give, and items that are tuples themselves."""

        @overload
        def _kept(self: Acc[Array[Sh, G]]) -> DeviceArray[Sh, G]: ...
        @overload
        def _kept(self: Acc[Array[Sh, tuple[G]]]) -> tuple[DeviceArray[Sh, G]]: ...
        @overload
        def _kept(
            self: Acc[Array[Sh, tuple[G, G2]]],
        ) -> tuple[DeviceArray[Sh, G], DeviceArray[Sh, G2]]: ...
        @overload
        def _kept(
            self: Acc[Array[Sh, tuple[G, G2, G3]]],
        ) -> tuple[DeviceArray[Sh, G], DeviceArray[Sh, G2], DeviceArray[Sh, G3]]: ...
        @overload
        def _kept(
            self: Acc[Array[Sh, tuple[G, G2, G3, G4]]],
        ) -> tuple[
            DeviceArray[Sh, G],
            DeviceArray[Sh, G2],
            DeviceArray[Sh, G3],
            DeviceArray[Sh, G4],
        ]: ...
        @overload
        def _kept(
            self: Acc[Array[Sh, tuple[G, G2, G3, G4, G5]]],
        ) -> tuple[
            DeviceArray[Sh, G],
            DeviceArray[Sh, G2],
            DeviceArray[Sh, G3],
            DeviceArray[Sh, G4],
            DeviceArray[Sh, G5],
        ]: ...
        @overload
        def _kept(self: Acc[Array[Sh, T]]) -> tuple[Any, ...]: ...
        @overload
        def _kept(self: Acc[Array[Sh, Maybe[E]]]) -> tuple[DeviceArray[Sh, np.bool_], Any]: ...
        @overload
        def _kept(self: Acc[Array[Sh, Rec]]) -> Any: ...
        @overload
        def _kept(self) -> object: ...
        def _kept(self) -> object:
            """The same of results that stay on a device."""

        @overload
        def __matmul__(self: Acc[Array[tuple[int], G]], other: Acc[Array[tuple[int], G]]) -> Acc[Array[DIM0, G]]: ...
        @overload
        def __matmul__(
            self: Acc[Array[tuple[int], G]], other: Acc[Array[tuple[*Ix, int, int], G]]
        ) -> Acc[Array[tuple[*Ix, int], G]]: ...
        @overload
        def __matmul__(
            self: Acc[Array[tuple[*Ix, int, int], G]], other: Acc[Array[tuple[int], G]]
        ) -> Acc[Array[tuple[*Ix, int], G]]: ...
        @overload
        def __matmul__(
            self: Acc[Array[tuple[*Ix, int, int], G]], other: Acc[Array[tuple[*Ix, int, int], G]]
        ) -> Acc[Array[tuple[*Ix, int, int], G]]: ...
        @overload
        def __matmul__(
            self: Acc[Array[tuple[*Ix, int, int], G]], other: Acc[Array[tuple[int, int], G]]
        ) -> Acc[Array[tuple[*Ix, int, int], G]]: ...
        @overload
        def __matmul__(
            self: Acc[Array[tuple[int, int], G]], other: Acc[Array[tuple[*Ix, int, int], G]]
        ) -> Acc[Array[tuple[*Ix, int, int], G]]: ...
        def __matmul__(self, other: object) -> Acc[Any]:
            """`A.matmul(self, other)`, which takes batches of different ranks as well."""

    if not TYPE_CHECKING:  # for mypy there are no other operators; at run time they say what to write

        def _refuse(self, *others: object) -> NoReturn:
            """Raise what tells a user of NumPy how to write it."""
            hint = "element by element: `A.map(lambda x: x + 1, xs)`, `A.zipWith(A.add, xs, ys)`; one element: `xs[i]`"
            raise AccelTypeError("an Acc has no operators", here(), hint=hint)

        def __matmul__(self, other: object) -> Acc[Any]:
            # By name, when it is used: the function is made of combinators, which know handles.
            matmul: Callable[[object, object], Acc[Any]] = import_module(_PRODUCTS).matmul
            return matmul(self, other)

        def __rmatmul__(self, other: object) -> Acc[Any]:
            matmul: Callable[[object, object], Acc[Any]] = import_module(_PRODUCTS).matmul
            return matmul(other, self)

        __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _refuse
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = _refuse
        __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = __rand__ = __ror__ = __rxor__ = _refuse
        __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __pos__ = __abs__ = __invert__ = _refuse
        __divmod__ = __rdivmod__ = __round__ = _refuse
        __hash__ = object.__hash__

        def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: object, **_: object) -> NoReturn:
            """Without it NumPy would make `array * acc` and `np.sqrt(acc)` arrays of objects."""
            if method == "__call__" and ufunc is np.matmul:
                self.__rmatmul__(operands[0])  # which says how an array of NumPy enters a program
            if method == "__call__" and len(operands) == 2:
                self._refuse()
            hint = "write accel's: `A.map(A.exp, xs)` for `np.exp(xs)`, `A.sum(xs)` for `np.sum(xs)`"
            raise AccelTypeError(NUMPY_FUNCTION, here(), hint=hint)

        def __setitem__(self, index: object, value: object) -> NoReturn:
            hint = (
                "a new array has it: `A.imap(lambda ix, x: A.cond(ix[0] == i, value, x), xs)`, `A.scatter`, `A.permute`"
            )
            raise AccelTypeError("an Acc is not changed", here(), hint=hint)

        def __getattr__(self, name: str) -> NoReturn:
            raise attributes.of_an_acc(name, self.type)

    def __repr__(self) -> str:
        return f"Acc[{self.type}]\n{text((self.node,))}"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """Itself, too: nothing changes it, and what is one node is computed once."""
        return self

    # What needs a value. Each says what to write instead.

    def __bool__(self) -> NoReturn:
        raise _no_value(
            "has no truth value while the program is built", "write `A.acond(c, a, b)`; emptiness is `A.null(xs)`"
        )

    def __len__(self) -> NoReturn:
        raise _no_value("has no length yet", "write `A.length(xs)`, or `xs.rank` for the number of dimensions")

    def __iter__(self) -> NoReturn:
        raise _no_value(
            "cannot be iterated over", "write `A.map(f, xs)`; an array of tuples is taken apart by `A.unzip`"
        )

    def __contains__(self, item: object) -> NoReturn:
        raise _no_value("does not support `in`", "write `A.the(A.any(lambda x: x == item, A.flatten(xs)))`")

    def __format__(self, specification: str) -> str:
        if specification:
            raise _no_value("has no value to format yet", "an empty format shows its program; `A.run(xs)` is its value")
        return repr(self)

    def __float__(self) -> NoReturn:
        raise _no_value("has no value yet", "write `float(A.run(xs))`, or `A.the(xs)` inside of a program")

    def __int__(self) -> NoReturn:
        raise _no_value("has no value yet", "write `int(A.run(xs))`, or `A.the(xs)` inside of a program")

    def __index__(self) -> NoReturn:
        raise _no_value("has no value yet", "write `int(A.run(xs))`, or `A.the(xs)` inside of a program")

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        raise _no_value("is not computed yet", "write `A.run(xs)`")


def index_node(value: object, rank: int, where: Where | None) -> ScalarNode:
    """An index into `rank` dimensions from what users write: a tuple of ints and `Exp`s, for rank 1 one alone."""
    kind = index_type(rank)
    scalar = not (is_node(value) and isinstance(value.type, TupleType)) and not isinstance(value, tuple)
    if scalar and rank == 1:
        value = (value,)
    if any(isinstance(item, (Acc, np.ndarray)) for item in (value if isinstance(value, tuple) else (value,))):
        hint = "many elements are read by `A.gather(indices, xs)`, those where a mask holds by `A.compact(mask, xs)[0]`"
        raise AccelTypeError("an array is indexed by ints and Exps, not by arrays", where, hint=hint)
    if isinstance(value, tuple) and len(value) != rank:
        hint = "an element has one place for each dimension; rows and columns are taken by `A.slice(xs, (i, A.All))`"
        raise AccelTypeError(f"an index of {len(value)} into an array of rank {rank}", where, hint=hint)
    if isinstance(value, slice) or (isinstance(value, tuple) and any(isinstance(item, slice) for item in value)):
        hint = "parts of arrays are taken by `A.take`, `A.drop`, `A.slit` and `A.slice(xs, (A.All, i))`"
        raise AccelTypeError("an array is indexed by ints and Exps, not by Python slices", where, hint=hint)
    if scalar and rank != 1:
        hint = (
            f"give all {rank}: `xs[{', '.join('ij'[k] if k < 2 else 'k' for k in range(rank))}]`"
            if rank
            else "write `A.the(xs)`"
        )
        raise AccelTypeError(f"one index, {describe(value)}, into an array of rank {rank}", where, hint=hint)
    return typed(whole_number(value), kind, "the index", where)


def _dtype(element: ElementType) -> DType:
    match element:
        case ScalarType() | ComplexType():
            return element.dtype
        case TupleType(items):
            return tuple(_dtype(item) for item in items)
        case MaybeType(value):
            return (np.dtype(np.bool_), _dtype(value))
        case _:
            assert_never(element)


def result_of(
    node: Filter | Scan | ScanSegments | HostCall | Acond | Awhile, position: int, extents: Extents
) -> Acc[Any]:
    """The handle of one of several results."""
    return Acc(Result(node, position, (node.types[position],), node.where), extents)


def _no_value(what: str, hint: str) -> AccelStagingError:
    return AccelStagingError(f"an Acc {what}", here(), hint=hint)
