"""Python code on whole arrays while a program runs: `atrace` prints them, `foreign_acc` calls NumPy functions.

In: handles, or nested tuples of them, and functions. Out: handles that hold a `HostCall` node.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, assert_never

from accel.ast.combinators.control import flatten_structure, rebuild_structure
from accel.ast.combinators.host.arrays import taken
from accel.ast.handles.acc import Acc, result_of
from accel.ast.handles.function import apply
from accel.ast.handles.habits.values import is_function
from accel.ast.handles.literals import describe
from accel.ast.tree.host_functions import HostArray
from accel.ast.tree.leaves import to_host
from accel.ast.tree.nodes import ArrayNode, HostCall
from accel.ast.tree.types import BOOL, ArrayType, ComplexType, ElementType, MaybeType, RecordType, ScalarType, TupleType
from accel.ast.tree.types import leaves as leaf_types
from accel.ast.tree.walk import arrays_of
from accel.errors import AccelShapeError, AccelTypeError, Where, here
from accel.structure import Nested, element_arrays, flatten, like, records_of
from accel.support.dataclass import dataclass

S = TypeVar("S")
T = TypeVar("T")


def atrace(message: str, xs: S) -> S:
    """`xs` itself, an array or nested tuple of arrays; on standard error `message: array` is printed when it is computed.

    It is printed once for each time that the result is asked for: in a loop at every turn if it depends on what the loop
    changes, else once before; in a branch if that is taken; not if no result of the program stands on it. What is printed
    is in memory, for which loops may be split; results stay the same. Several traces may print in another order than they
    are written in. Raises `AccelTypeError` for other types. Accelerate's `atraceArray`.

    >>> _ = A.run(A.sum(A.atrace("squares", A.map(lambda x: x * x, A.use(np.arange(3))))))  # prints: squares: [0 1 4]
    """
    where = here()
    if not isinstance(message, str):
        hint = 'the order is `A.atrace("what it is", xs)`'
        raise AccelTypeError(f"the message of atrace must be a str, got {describe(message)}", where, hint=hint)
    arrays = flatten_structure("what atrace prints", xs, where)
    if not arrays:
        raise AccelTypeError(
            "atrace has no array to print", where, hint="give it one, which it gives back, and use that"
        )
    form = _form(xs)
    function = _Trace("atrace", message, form, _records(form))
    nodes = tuple(array.node for array in arrays)
    call = HostCall(function, nodes, nodes, tuple(array.type for array in arrays), where)
    traced: S = rebuild_structure(xs, [result_of(call, k, array.extents) for k, array in enumerate(arrays)])
    return traced


# Any: what NumPy has for a structure of arrays depends on each of them.
def foreign_acc(numpy_function: Callable[[Any], object], fallback: Callable[[S], T], xs: S) -> T:
    """What `numpy_function` makes of `xs`, an array or nested tuple of arrays, which it gets as `run` gives them.

    `fallback` does the same in accel, from `xs` to an array or nested tuple of arrays. It says which shapes and element types
    come out. It also computes the result where NumPy's arrays are not at hand: on `opencl`; on `llvm` and `interpreter` the
    function is called, between the loops. Nothing fuses with it. Its arguments cannot be written, its results are copied. If
    nothing uses them it is not called. Where shapes of the fallback depend on data, as those of `filter`, it computes these.

    Raises what `numpy_function` raises; `AccelTypeError` for results of other element types, `AccelShapeError` for results of
    other shapes. Accelerate's `foreignAcc`.

    >>> def cumulated(x): return np.cumsum(x)
    >>> xs = A.use(np.array([1, 2, 3]))
    >>> A.run(A.foreign_acc(cumulated, lambda v: A.scanl1(A.add, v), xs))
    array([1, 3, 6])
    """
    where = here()
    if not is_function(numpy_function):
        message = f"foreign_acc takes a function of NumPy arrays, got {describe(numpy_function)}"
        raise AccelTypeError(message, where, hint="the order is `A.foreign_acc(numpy_function, fallback, xs)`")
    arrays = flatten_structure("what foreign_acc takes", xs, where)
    made = apply(fallback, [xs], "the fallback of foreign_acc", where)
    results = flatten_structure("the result of foreign_acc's fallback", made, where)
    if not results:
        hint = "it gives an array, or a tuple of them, which says what comes out"
        raise AccelTypeError("the fallback of foreign_acc gives no array", where, hint=hint)
    _forbid_traces(results, arrays, where)
    given, wanted = _form(xs), _form(made)
    function = _Foreign("foreign_acc", _hashable(numpy_function), given, _records(given), wanted)
    nodes = tuple(array.node for array in arrays)
    kinds = tuple(result.type for result in results)
    call = HostCall(function, nodes, tuple(result.node for result in results), kinds, where)
    found: T = rebuild_structure(made, [result_of(call, k, result.extents) for k, result in enumerate(results)])
    return found


@dataclass(frozen=True, slots=True)
class _Trace:
    """Prints; gives nothing. `records`: those of the arrays' types, by which types are not compared."""

    name: str
    message: str
    form: Nested[ArrayType]
    records: object

    @property
    def prints(self) -> bool:
        """It is there for that."""
        return True

    def __call__(
        self, arrays: Sequence[HostArray], shapes: Sequence[tuple[int, ...]], where: Where | None
    ) -> list[HostArray]:
        """See `HostFunction`."""
        shown = str(_arranged(self.form, list(arrays)))
        between = "\n" if "\n" in shown else " "
        print(f"{self.message}:{between}{shown}", file=sys.stderr, flush=True)
        return []


@dataclass(frozen=True, slots=True)
class _Foreign:
    """Calls the user's function, and checks what it gives."""

    name: str
    function: Callable[[Any], object]
    form: Nested[ArrayType]
    records: object
    results: Nested[ArrayType]

    @property
    def prints(self) -> bool:
        """No."""
        return False

    def __call__(
        self, arrays: Sequence[HostArray], shapes: Sequence[tuple[int, ...]], where: Where | None
    ) -> list[HostArray]:
        """See `HostFunction`."""
        try:
            given = self.function(_arranged(self.form, list(arrays)))
        except Exception as error:
            note = "raised by the function of foreign_acc" + (f" at {where}" if where is not None else "")
            if note not in getattr(error, "__notes__", ()):  # one exception may be raised many times
                error.add_note(note)
            raise
        leaves = _checked(given, self.results, where)
        kinds = [kind for kind in flatten(self.results) for _ in leaf_types(kind.element)]
        for leaf, shape, kind in zip(leaves, shapes, kinds, strict=True):
            if leaf.shape != shape:
                message = f"the function of foreign_acc gave an array of shape {leaf.shape}, its fallback gives {shape}"
                raise AccelShapeError(message, where, hint=f"both must give the same array of type {kind}")
        return leaves


def _hashable(function: Callable[[Any], object]) -> Callable[[Any], object]:
    """The function, or one that does the same and has a hash: programs are compared by it."""
    try:
        hash(function)
    except TypeError:
        return partial(function)
    return function


def _form(structure: object) -> Nested[ArrayType]:
    """The types of a structure of handles."""
    if isinstance(structure, tuple):
        return like(structure, [_form(item) for item in structure])
    assert isinstance(structure, Acc)
    return structure.type


def _records(form: Nested[ArrayType]) -> object:
    """What forms do not compare by: named tuples of arrays, and the records of elements."""
    if isinstance(form, tuple):
        return (type(form), *map(_records, form))
    return records_of(form.element)


def _arranged(form: Nested[ArrayType], leaves: list[HostArray]) -> object:
    """The leaves, which are consumed, as the user sees them."""
    if isinstance(form, tuple):
        return like(form, [_arranged(item, leaves) for item in form])
    count = len(leaf_types(form.element))
    own = iter(leaves[:count])
    del leaves[:count]
    return element_arrays(form.element, own)


def _checked(given: object, form: Nested[ArrayType], where: Where | None) -> list[HostArray]:
    """The leaves of what a function gave. Raises `AccelTypeError` for what is not of that form, with these elements."""
    if isinstance(form, tuple):
        if not isinstance(given, tuple) or len(given) != len(form):
            message = f"the function of foreign_acc gave {describe(given)}, its fallback a tuple of {len(form)} arrays"
            raise AccelTypeError(message, where, hint="both must give the same arrays, in one order")
        return [leaf for part, kind in zip(given, form, strict=True) for leaf in _checked(part, kind, where)]
    try:
        element, leaves = taken(given, where)
    except AccelTypeError as error:
        message = f"the function of foreign_acc must give arrays of {form}, but: {error.message}"
        raise AccelTypeError(message, where, hint=error.hint) from error
    if element not in (form.element, _of_arrays(form.element)):
        message = f"the function of foreign_acc gave elements of type {element}, its fallback gives {form.element}"
        kind = form.element
        hint = f"convert its result: `.astype(np.{kind.dtype})`" if isinstance(kind, ScalarType) else None
        raise AccelTypeError(message, where, hint=hint)
    return [to_host(leaf) for leaf in leaves]


def _of_arrays(element: ElementType) -> ElementType:
    """The type of elements as the user sees their arrays: a maybe is whether it is there, and its value."""
    match element:
        case ScalarType() | ComplexType():
            return element
        case MaybeType(value):
            return TupleType((BOOL, _of_arrays(value)))
        case RecordType(items, record):
            return RecordType(tuple([_of_arrays(item) for item in items]), record)
        case TupleType(items):
            return TupleType(tuple([_of_arrays(item) for item in items]))
        case _:
            assert_never(element)


def _forbid_traces(results: Sequence[Acc[Any]], arguments: Sequence[Acc[Any]], where: Where | None) -> None:
    """Raises `AccelTypeError` if a fallback prints: that would depend on who computes it."""
    met: set[ArrayNode] = {argument.node for argument in arguments}
    work = [result.node for result in results if result.node not in met]
    while work:
        node = work.pop()
        if isinstance(node, HostCall) and node.function.prints:
            hint = 'trace what goes in or comes out: `A.atrace("result", A.foreign_acc(…))`'
            raise AccelTypeError("the fallback of foreign_acc cannot atrace", node.where, hint=hint)
        inner = [each for each in arrays_of(node) if each not in met]
        met.update(inner)
        work += inner
