"""The iteration space of one cluster, and where in it each array lives.

In: which arrays a cluster touches, at which orders. Out: for each of them a `Point`: how many loops stand around it, by
which operands it is indexed there, and under which guard. There is one loop for each depth, so that operations which
are lowered apart agree on it, and their nests can be put together statement by statement ([vB20 section 5.2]).

* Root arrays of rank r live inside of r loops, at their indices. Where a loop runs longer than an array (an exclusive
  scan makes n+1 of n), the array is aligned with the loop's start and guarded: an upward loop by `i < n`; in a downward
  loop the index is `i - 1`, under `i >= 1`, so that the last result of a right scan, its seed, comes first.
* What a filter makes lives at the filter's own point, at the running position, under the filter's guard.
* Arrays at the order of gather l live at the gather's own point, at the mapped index; further dimensions (a fold's
  input) get loops below it. At the order of an exclusive scan of segments, arrays of its results' shape live where these are
  stored, those of its sources' shape at the mapped index, under the guard of iterations that have an element.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TypeAlias

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64
from accel.errors import AccelInternalError
from accel.fusedast.nodes import LeafOfCluster
from accel.ilp.problem.clustering import Traversal
from accel.ir.lowering import names
from accel.ir.nodes import Guard, LoopBody, LoopDirection, OneToOne, Operand, Stream, Within
from accel.labelled.array import Array, Extent, Label, SegmentLength, Shape, SizeVariable
from accel.labelled.nodes import Binding
from accel.labelled.operations import GATHERS, Kind, Role, describe
from accel.labelled.scalar import Block, Compute, Function, Variable, constant
from accel.labelled.scalar_text import extent_text
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """Where an array lives in the nest: `depth` loops around it, its index there, and when it exists.

    `needs`: the statements that make the index and the guard, each with its depth.
    """

    depth: int
    index: tuple[Operand, ...]
    guard: Guard
    needs: tuple[tuple[int, LoopBody], ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """The only loop between depth and depth + 1."""

    index: Stream
    extent: Extent
    direction: LoopDirection

    @property
    def turns(self) -> Operand:
        """How many iterations there are: of a loop over a segment, what the loop around it finds out."""
        length = self.extent.variable
        return names.turns(length) if isinstance(length, SegmentLength) else self.extent


@dataclass(frozen=True, slots=True)
class Demand:
    """A demand on the loops around arrays of shape `inner`, those around `outer` apart: they must run this way."""

    direction: LoopDirection
    inner: Shape
    outer: Shape
    traversal: Traversal


@dataclass(frozen=True, slots=True)
class _Base:
    """Arrays whose first `rank` dimensions are indexed by `index`, `depth` loops deep; the others get loops below."""

    rank: int
    depth: int
    index: tuple[Operand, ...]
    guard: Guard
    needs: tuple[tuple[int, LoopBody], ...]


_ROOT = _Base(0, 0, (), None, ())


@dataclass(frozen=True, slots=True)
class _Results:
    """The family of what has the shape of what exclusive scans of segments make, at their order."""

    label: Label


_Family: TypeAlias = Label | _Results | SizeVariable


_A, _B, _DIFFERENCE = Variable(0, I64), Variable(1, I64), Variable(2, I64)
_MINUS = Function((_A, _B), Block((Compute(_DIFFERENCE, Operator.SUB, (_A, _B)),), (_DIFFERENCE,)))


class Frame:
    """The canonical iteration space of one cluster; `loops` from the outermost on.

    Raises `AccelInternalError` where no single nest serves all its arrays.
    """

    def __init__(
        self,
        members: Iterable[LeafOfCluster],
        arrays: Iterable[tuple[Array, Traversal]],
        demands: Iterable[Demand],
    ) -> None:
        self._filters: dict[SizeVariable, tuple[Binding, Traversal]] = {}
        self._gathers: dict[
            Label, tuple[Binding, Traversal]
        ] = {}  # by the order in which they read: one of those that have it
        self._placed: dict[Label, set[Shape]] = {}
        for each in members:
            binding, traversal = each.binding, each.traversal
            kind = describe(binding.operation).kind
            if kind is Kind.FILTER:
                variable = binding.arrays[0].shape[0].variable
                assert variable is not None
                self._filters[variable] = (binding, traversal)
            elif kind in GATHERS:
                self._gathers[each.own] = (binding, traversal)
                self._placed.setdefault(each.own, set()).update(
                    [binding.arrays[0].shape] if _is_longer(binding) else []
                )
        self._depths: dict[_Family | None, tuple[int, int]] = {None: (0, 0)}
        self._bases: dict[_Family | None, _Base] = {None: _ROOT}
        self._points: dict[tuple[Shape, Traversal], Point] = {}
        self._guards: dict[tuple[Guard, int, Extent], tuple[Stream, LoopBody]] = {}
        self.loops: tuple[Loop, ...] = ()
        self.loops = self._make_loops(arrays, demands)

    def depth(self, shape: Shape, traversal: Traversal) -> int:
        """How many loops stand around an array of that shape at that order."""
        rank, depth = self._family_depth(self._family(shape, traversal))
        return depth + len(shape) - rank

    def point(self, shape: Shape, traversal: Traversal) -> Point:
        """Where an array of that shape lives at that order."""
        key = (shape, traversal)
        if key not in self._points:
            self._points[key] = self._make_point(shape, self._base(self._family(shape, traversal)))
        return self._points[key]

    def capacity(self, extent: Extent) -> tuple[Extent, ...]:
        """Extents, known before the nest runs, whose product is at least `extent`."""
        pending, done = [extent], list[Extent]()
        while pending:
            each = pending.pop()
            inner = self._filters.get(each.variable) if each.variable is not None else None
            if inner is None:
                done.append(each)
            else:
                pending += reversed(_input_shape(inner[0]))
        return tuple(done)

    # Families: what shares a base. None is the root; a label a gather's order, where that does not make other elements than it
    # reads; a size variable what its filter makes.

    def _family(self, shape: Shape, traversal: Traversal) -> _Family | None:
        if traversal.gather is not None:
            is_result = shape in self._placed.get(traversal.gather, ())
            return _Results(traversal.gather) if is_result else traversal.gather
        if shape and shape[0].variable is not None and shape[0].variable in self._filters:
            if shape[0].offset:
                raise AccelInternalError(f"a scan to {extent_text(shape[0])} has more elements than its filter's nest")
            return shape[0].variable
        return None

    def _owner(self, family: _Family) -> tuple[Binding, Traversal]:
        if isinstance(family, SizeVariable):
            found = self._filters.get(family)
        else:
            found = self._gathers.get(family.label if isinstance(family, _Results) else family)
        if found is None:
            raise AccelInternalError(f"gather {family}, at whose order an array is read, is not in the cluster")
        return found

    def _chain(self, family: _Family | None, known: Container[_Family | None]) -> list[_Family]:
        """`family` and those that it lives in, innermost first, up to one that is known."""
        chain: list[_Family] = []
        while family not in known:
            assert family is not None
            chain.append(family)
            binding, traversal = self._owner(family)
            family = self._family(_host_shape(binding), traversal)
            if family in chain:
                raise AccelInternalError(f"the orders of {chain} depend on each other")
        return chain

    def _family_depth(self, family: _Family | None) -> tuple[int, int]:
        for each in reversed(self._chain(family, self._depths)):
            binding, traversal = self._owner(each)
            rank = 1 if isinstance(each, SizeVariable) else len(_input_shape(binding))
            host = _host_shape(binding)
            outer_rank, outer = self._depths[self._family(host, traversal)]
            self._depths[each] = (rank, outer + len(host) - outer_rank)
        return self._depths[family]

    def _base(self, family: _Family | None) -> _Base:
        for each in reversed(self._chain(family, self._bases)):
            binding, traversal = self._owner(each)
            at = self.point(_host_shape(binding), traversal)
            if isinstance(each, SizeVariable):
                label = binding.label
                self._bases[each] = _Base(1, at.depth, (names.position(label),), names.kept(label), ())
            elif isinstance(each, _Results):
                index = names.place(binding.arrays[0], each.label)
                self._bases[each] = _Base(len(index), at.depth, index, at.guard, at.needs)
            else:
                index = names.mapped_index(_inputs(binding)[0], each)
                guard = names.kept(each) if _is_longer(binding) else at.guard
                self._bases[each] = _Base(len(index), at.depth, index, guard, at.needs)
        return self._bases[family]

    # Loops.

    def _make_loops(self, arrays: Iterable[tuple[Array, Traversal]], demands: Iterable[Demand]) -> tuple[Loop, ...]:
        extents: dict[int, Extent] = {}
        directions: dict[int, LoopDirection] = {}
        for array, traversal in arrays:
            rank, depth = self._family_depth(self._family(array.shape, traversal))
            for level, extent in enumerate(array.shape[rank:], depth):
                self._widen(extents, level, extent)
        for binding, traversal in self._gathers.values():
            rank, depth = self._family_depth(self._family(_host_shape(binding), traversal))
            for level, extent in enumerate(_host_shape(binding)[rank:], depth):
                self._widen(extents, level, extent)
        for demand in demands:
            inner = self.depth(demand.inner, demand.traversal)
            for level in range(self.depth(demand.outer, demand.traversal), inner):
                if directions.setdefault(level, demand.direction) is not demand.direction:
                    raise AccelInternalError(f"the loop at depth {level} would have to run both ways")
        return tuple(
            Loop(Stream(f"i{level}", I64), extents[level], directions.get(level, LoopDirection.UP))
            for level in sorted(extents)
        )

    def _widen(self, extents: dict[int, Extent], level: int, extent: Extent) -> None:
        if extent.variable in self._filters:
            raise AccelInternalError(f"a loop over {extent_text(extent)} would stand in the nest that finds it out")
        known = extents.setdefault(level, extent)
        if known.variable != extent.variable:
            raise AccelInternalError(f"two loops at depth {level}: over {extent_text(known)} and {extent_text(extent)}")
        if extent.offset > known.offset:
            extents[level] = extent

    # Points.

    def _make_point(self, shape: Shape, base: _Base) -> Point:
        index, guard, needs = list(base.index), base.guard, list(base.needs)
        for level, extent in enumerate(shape[base.rank :], base.depth):
            loop = self.loops[level]
            if extent == loop.extent:
                index.append(loop.index)
                continue
            guard, made = self._bound(guard, level, extent)
            needs.append((level + 1, made))
            place, moved = self._aligned(loop, level, extent)
            index.append(place)
            needs += moved
        return Point(base.depth + len(shape) - base.rank, tuple(index), guard, tuple(needs))

    def _bound(self, outer: Guard, level: int, extent: Extent) -> tuple[Stream, LoopBody]:
        """The guard that keeps an index of the loop at `level` inside of `extent`, and what makes it."""
        key = (outer, level, extent)
        if key not in self._guards:
            loop, out = self.loops[level], Stream(f"g{len(self._guards)}", BOOL)
            first = 0 if loop.direction is LoopDirection.UP else loop.extent.offset - extent.offset
            self._guards[key] = (out, Within(out, loop.index, first, extent, outer))
        return self._guards[key]

    def _aligned(self, loop: Loop, level: int, extent: Extent) -> tuple[Stream, list[tuple[int, LoopBody]]]:
        if loop.direction is LoopDirection.UP:
            return loop.index, []
        shift = loop.extent.offset - extent.offset
        out = Stream(f"{loop.index.name}_{shift}", I64)
        return out, [(level + 1, OneToOne((out,), _MINUS, (loop.index, constant(I64, shift))))]


def _is_longer(binding: Binding) -> bool:
    """Whether it is an exclusive scan of segments, whose loop runs once more than there are elements."""
    shape = _host_shape(binding)
    length = shape[-1].variable if shape else None
    return isinstance(length, SegmentLength) and length.longer


def _inputs(binding: Binding) -> tuple[Array, ...]:
    """What a gather gathers from, what a filter filters."""
    described = describe(binding.operation)
    return described.arrays if described.kind is Kind.FILTER else described.read(Role.SOURCE)


def _input_shape(binding: Binding) -> Shape:
    return _inputs(binding)[0].shape


def _host_shape(binding: Binding) -> Shape:
    """The shape at whose point the operation runs: what a filter reads, what a gather makes."""
    visited = describe(binding.operation).iteration
    return binding.arrays[0].shape if visited is None else visited
