"""What every stage has to know of an operation, said once: what it reads and how, what it computes, what it may do.

In: an operation. Out: its description (`describe`), or one like it of other arrays, functions and programs (`rebuild`).
Passes, dependency graphs, signatures and keys ask here, so that they serve operations that are added later as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import NamedTuple, assert_never

from accel.ast.tree.nodes import Direction, ScanForm
from accel.labelled.array import Array, Extent, Shape, SizeVariable
from accel.labelled.nodes import (
    Acond,
    Awhile,
    Backpermute,
    BindSizes,
    Copy,
    Filter,
    Fold,
    FoldSegments,
    Force,
    Gather,
    Generate,
    HostCall,
    Map,
    Operation,
    Program,
    RequireEqual,
    Reshape,
    Scan,
    ScanSegments,
    Scatter,
    Sort,
    Use,
)
from accel.labelled.scalar import Function


class Kind(Enum):
    """What an operation may do when it is fused; `copy` is a map, `backpermute` is a gather. A barrier never fuses.

    A fold of segments is a gather, whose sources are read at the places of the segments, and folds what it gathers.
    """

    BARRIER = "barrier"
    GENERATE = "generate"
    MAP = "map"
    GATHER = "gather"
    SCATTER = "scatter"
    FOLD = "fold"
    SEGMENTS = "segments"
    SCAN = "scan"
    FILTER = "filter"


class Role(Enum):
    """How an array is read: in the reader's own order, in a gather's order, in no order, to be overwritten."""

    STREAM = "stream"
    SOURCE = "source"
    INDEX = "index"
    DESTINATION = "destination"


GATHERS = frozenset({Kind.GATHER, Kind.SEGMENTS})
"""What others may be pushed to."""

ORDERED = frozenset({Role.STREAM, Role.SOURCE})


class Flag(Enum):
    """What holds of an operation besides its kind."""

    TAKES_INDEX = "takes index"
    """The first parameters of its functions are the index of the result, one per dimension."""
    CHOOSES_SHAPE = "chooses shape"
    """The shape of its results is its own: it does not follow from what it reads."""
    FINDS_SIZES = "finds sizes"
    """Size variables in the shapes of its results are known once it has run, unless they were known before."""
    MOVES = "moves"
    """Result k has elements of the k-th of as many last reads as there are results, and of no other array."""
    VIEW = "view"
    """Its results are the buffers of what it reads."""
    BACKWARD = "backward"
    """A scan from the right."""
    EXCLUSIVE = "exclusive"
    """A scan from n elements to n+1."""
    INEXACT = "inexact"
    """A fold or scan whose order of combination decides the bits."""
    ORDERED = "ordered"
    """A fold whose sides may not change places."""
    PLACES = "places"
    """Its first results, one for each source, are made in its own order: stored at other indices than those of its loops.
    In that order all elements of its sources are visited, and all that it places."""
    INSIDE = "inside"
    """A gather whose indices are known to be in bounds by a check that comes before it."""
    SHRINKING = "shrinking"
    """A gather, or fold of segments, that is known to visit at most as many elements as each source."""


class Described(NamedTuple):
    """One operation as all stages see it, without what only its own meaning needs.

    It is made whenever an operation is looked at; a frozen dataclass of so many fields would take four times as long.

    name: what texts and errors call it.
    reads: the arrays that it takes, without those that its functions load from or its parts use. Barriers read in no order.
    parts: its sub-programs.
    iteration: the shape that its loops visit; None: that of its results.
    extents: those that it mentions besides those in its functions.
    binds: the size variables that it computes on the host.
    """

    kind: Kind
    name: str
    reads: tuple[tuple[Array, Role], ...] = ()
    functions: tuple[Function, ...] = ()
    flags: frozenset[Flag] = frozenset()
    iteration: Shape | None = None
    parts: tuple[Program, ...] = ()
    extents: tuple[Extent, ...] = ()
    binds: tuple[SizeVariable, ...] = ()

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The arrays that it takes."""
        return tuple([array for array, _ in self.reads])

    def placed(self, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        """Those of its arrays that are made in its own order."""
        count = len(self.functions[0].body.results) if Flag.PLACES in self.flags else 0
        return arrays[:count]

    def read(self, *roles: Role) -> tuple[Array, ...]:
        """The arrays that it takes in one of `roles`."""
        return tuple([array for array, role in self.reads if role in roles])


_NONE: frozenset[Flag] = frozenset()
_MAPS = frozenset({Flag.TAKES_INDEX})
_GENERATES = frozenset({Flag.TAKES_INDEX, Flag.CHOOSES_SHAPE})
_BACKPERMUTES = _GENERATES | {Flag.MOVES}
_SHRINKS = _BACKPERMUTES | {Flag.SHRINKING}
_MOVES = frozenset({Flag.MOVES})
_VIEWS = frozenset({Flag.MOVES, Flag.VIEW})
_RESHAPES = _VIEWS | {Flag.CHOOSES_SHAPE}
_FINDS = frozenset({Flag.FINDS_SIZES})
_INEXACT = frozenset({Flag.INEXACT})
_ORDERED = frozenset({Flag.ORDERED})
_SHRINKING = frozenset({Flag.SHRINKING})
_INSIDE = frozenset({Flag.INSIDE})
_PLACES = frozenset({Flag.PLACES})
_BACKWARD = frozenset({Flag.BACKWARD})
_CHOOSES = frozenset({Flag.CHOOSES_SHAPE})


def parts(operation: Operation) -> tuple[Program, ...]:
    """The sub-programs of an operation, from left to right."""
    match operation:
        case Acond(_, then, orelse):
            return (then, orelse)
        case Awhile(condition, body):
            return (condition, body)
        case _:
            return ()


def describe(operation: Operation) -> Described:
    """What `operation` is. A new operation has its case here and in `rebuild`."""
    match operation:
        case Map(function, inputs, name):
            return Described(Kind.MAP, name, _as(Role.STREAM, inputs), (function,), _MAPS)
        case Use():
            return Described(Kind.BARRIER, "use")
        case Generate(function, name):
            return Described(Kind.GENERATE, name, (), (function,), _GENERATES)
        case Backpermute(function, inputs, shrinking, inside, name):
            flags = _SHRINKS if shrinking else _BACKPERMUTES
            flags = flags | _INSIDE if inside else flags
            return Described(Kind.GATHER, name, _as(Role.SOURCE, inputs), (function,), flags)
        case Gather(indices, inputs):
            reads = _as(Role.STREAM, indices) + _as(Role.SOURCE, inputs)
            return Described(Kind.GATHER, "gather", reads, (), _MOVES)
        case Scatter(combine, destinations, keep, indices, values):
            streams = (() if keep is None else (keep,)) + indices + values
            reads = _as(Role.DESTINATION, destinations) + _as(Role.STREAM, streams)
            return Described(Kind.SCATTER, "scatter", reads, (combine,), _NONE, values[0].shape)
        case Copy(inputs, last):
            return Described(Kind.BARRIER if last else Kind.MAP, "copy", _as(Role.STREAM, inputs), (), _MOVES)
        case Fold(combine, initial, inputs):
            reads, functions = _as(Role.STREAM, inputs), _combining(combine, initial)
            flags = _NONE if operation.monoid.exact else _INEXACT
            flags = flags if operation.monoid.commutes else flags | _ORDERED
            return Described(Kind.FOLD, operation.name, reads, functions, flags, inputs[0].shape)
        case FoldSegments(combine, initial, starts, ends, inputs):
            reads = _as(Role.STREAM, (starts, ends)) + _as(Role.SOURCE, inputs)
            functions, turns = _combining(combine, initial), (*starts.shape, operation.length)
            return Described(Kind.SEGMENTS, operation.name, reads, functions, _of_segments(operation), turns)
        case ScanSegments(combine, initial, starts, ends, inputs):
            reads = _as(Role.STREAM, (starts, ends)) + _as(Role.SOURCE, inputs)
            functions, turns = _combining(combine, initial), (*starts.shape, operation.length)
            flags = _of_segments(operation) | _PLACES
            flags = flags | _CHOOSES if operation.form is ScanForm.EXCLUSIVE else flags
            flags = flags | _BACKWARD if operation.direction is Direction.RIGHT else flags
            return Described(Kind.SEGMENTS, operation.name, reads, functions, flags, turns)
        case Scan(combine, initial, inputs):
            reads, functions = _as(Role.STREAM, inputs), _combining(combine, initial)
            visited = None if operation.form is ScanForm.EXCLUSIVE else inputs[0].shape
            return Described(Kind.SCAN, operation.name, reads, functions, _of_scan(operation), visited)
        case Filter(predicate, inputs):
            return Described(Kind.FILTER, "filter", _as(Role.STREAM, inputs), (predicate,), _FINDS, inputs[0].shape)
        case Sort(inputs, name=name):
            return Described(Kind.BARRIER, name, _as(Role.INDEX, inputs))
        case HostCall(function, inputs):
            return Described(Kind.BARRIER, function.name, _as(Role.INDEX, inputs), (), _CHOOSES)
        case Reshape(inputs):
            return Described(Kind.BARRIER, "reshape", _as(Role.INDEX, inputs), (), _RESHAPES)
        case Force(inputs):
            return Described(Kind.BARRIER, "force", _as(Role.INDEX, inputs), (), _VIEWS)
        case BindSizes(variables, function):
            return Described(Kind.BARRIER, "bindSizes", (), (function,), binds=variables)
        case RequireEqual(left, right):
            return Described(Kind.BARRIER, "requireEqual", extents=left + right)
        case Acond(condition):
            return Described(Kind.BARRIER, "acond", _as(Role.INDEX, (condition,)), (), _FINDS, parts=parts(operation))
        case Awhile(initial=initial):
            return Described(Kind.BARRIER, "awhile", _as(Role.INDEX, initial), (), _FINDS, parts=parts(operation))
        case _:
            assert_never(operation)


def has_unique_targets(operation: Operation) -> bool:
    """Whether it writes to places that its user says are different: that may be wrong."""
    return isinstance(operation, Scatter) and operation.unique


def _of_segments(fold: FoldSegments | ScanSegments) -> frozenset[Flag]:
    """What holds of folds and scans of segments: each element is in one of them or in none."""
    flags = _SHRINKING if fold.monoid.exact else _SHRINKING | _INEXACT
    return flags if fold.monoid.commutes else flags | _ORDERED


def _of_scan(scan: Scan) -> frozenset[Flag]:
    """What holds of a scan."""
    holds = (
        (Flag.BACKWARD, scan.direction is Direction.RIGHT),
        (Flag.EXCLUSIVE, scan.form is ScanForm.EXCLUSIVE),
        (Flag.INEXACT, not scan.monoid.exact),
    )
    return frozenset([flag for flag, does in holds if does])


def _as(role: Role, arrays: tuple[Array, ...]) -> tuple[tuple[Array, Role], ...]:
    return tuple([(array, role) for array in arrays])


def _combining(combine: Function, initial: Function | None) -> tuple[Function, ...]:
    return (combine,) if initial is None else (combine, initial)


def rebuild(
    operation: Operation, arrays: tuple[Array, ...], functions: tuple[Function, ...], inner: tuple[Program, ...]
) -> Operation:
    """The operation with other arrays, functions and sub-programs, in the order in which `describe` gives them.

    There may be fewer arrays at the end of an operation with `Flag.MOVES`.
    """
    match operation:
        case Use() | RequireEqual():
            return operation
        case Generate():
            return replace(operation, function=functions[0])
        case Map() | Backpermute():
            return replace(operation, function=functions[0], inputs=arrays)
        case Gather(indices):
            return Gather(arrays[: len(indices)], arrays[len(indices) :])
        case Scatter(_, destinations, keep, indices):
            first = len(destinations)
            second = first + (keep is not None)
            third = second + len(indices)
            return replace(
                operation, combine=functions[0], destinations=arrays[:first],
                keep=None if keep is None else arrays[first], indices=arrays[second:third], values=arrays[third:],
            )  # fmt: skip
        case Copy() | Reshape() | Force() | Sort() | HostCall():
            return replace(operation, inputs=arrays)
        case Fold() | Scan():
            initial = functions[1] if len(functions) > 1 else None
            return replace(operation, combine=functions[0], initial=initial, inputs=arrays)
        case FoldSegments() | ScanSegments():
            initial, (starts, ends, *inputs) = functions[1] if len(functions) > 1 else None, arrays
            return replace(
                operation, combine=functions[0], initial=initial, starts=starts, ends=ends, inputs=tuple(inputs)
            )
        case Filter():
            return Filter(functions[0], arrays)
        case BindSizes(variables, _, name):
            return BindSizes(variables, functions[0], name)
        case Acond():
            return Acond(arrays[0], inner[0], inner[1])
        case Awhile():
            return Awhile(inner[0], inner[1], arrays)
        case _:
            assert_never(operation)


def with_functions(operation: Operation, change: Callable[[Function], Function]) -> Operation:
    """The operation with each of its scalar functions changed."""
    described = describe(operation)
    return rebuild(operation, described.arrays, tuple(map(change, described.functions)), described.parts)


def with_parts(operation: Operation, change: Callable[[Program], Program]) -> Operation:
    """The operation with each of its sub-programs changed, from left to right."""
    inner = parts(operation)
    if not inner:
        return operation
    described = describe(operation)
    return rebuild(operation, described.arrays, described.functions, tuple(map(change, inner)))
