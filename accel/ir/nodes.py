"""The loop program: one cluster is one nest in which no two loops stand at the same depth [vB20 section 5.2].

The data types make anything else unrepresentable: a `Level` is statements, at most one `For`, statements. Nothing here
knows about threads, vectors or devices; the order in which folds and scans combine is `docs/order.md`'s, whatever the
loop that feeds them.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import TypeAlias, TypeGuard, Union

from accel.ast.tree.host_functions import HostFunction
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64, ScalarType
from accel.errors import Where
from accel.labelled.algebra import Monoid, Products, element_types
from accel.labelled.array import Array, Extent, Shape, SizeVariable
from accel.labelled.nodes import Equality
from accel.labelled.scalar import Block, Compute, Constant, Function, Variable, constant
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Stream:
    """One scalar in flight: an element, a loop index, a guard or a state's value. Named once in a nest."""

    name: str
    type: ScalarType


Operand: TypeAlias = Union[Stream, Constant, Extent]
Guard: TypeAlias = Union[Stream, None]
"""The statement runs, and what it makes exists, only where this bool is true; None is always."""


def _comparison(operator: Operator) -> Function:
    left, right, result = Variable(0, I64), Variable(1, I64), Variable(2, BOOL)
    return Function((left, right), Block((Compute(result, operator, (left, right)),), (result,)))


_LESS, _AT_LEAST = _comparison(Operator.LT), _comparison(Operator.GE)


class LoopDirection(Enum):
    """Which way a loop runs."""

    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class State:
    """What a fold or scan carries; reset when the `For` that lists it is entered, final (`finals`) after it.

    `merge` takes the leaves of two partial results, the one visited earlier first. `initial` is combined once, before
    everything (None: none; then no element at all is the error of `combinator` at `where`). The k-th `ManyToOne` step that runs
    is element k of `docs/order.md`. `running`: read while the loop runs (a scan, a filter's position): scan order; else fold
    order. `monoid`: what is known of `merge`. `when`: the state exists only where this holds, which is known before its loop;
    elsewhere nothing is stepped, no error is raised and nothing is final. `over`: the shape of what is folded, for the error,
    as are `combinator`, the user's name for a fold, `where`, and `segment`, the number of the one that is folded, if it is one.
    `products`: the leaves, rising, of which an element holds two factors instead: a step adds their product in one rounding.
    """

    finals: tuple[Stream, ...]
    initial: tuple[Operand, ...] | None
    merge: Function
    monoid: Monoid
    running: bool
    when: Guard = None
    over: Shape = ()
    products: Products = ()
    combinator: str = field(default="fold1", compare=False, repr=False)
    where: Where | None = field(default=None, compare=False, repr=False)
    segment: Operand | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """How statements refer to the state: its first final's name."""
        return self.finals[0].name

    @property
    def types(self) -> list[ScalarType]:
        """The types of a partial result's leaves."""
        return [final.type for final in self.finals]

    @property
    def element(self) -> list[ScalarType]:
        """The types of an element's leaves: the values of a step."""
        return element_types(self.types, self.products)


@dataclass(frozen=True, slots=True)
class OneToOne:
    """`outs := function(arguments)`: map, generate, index arithmetic, seeds."""

    outs: tuple[Stream, ...]
    function: Function
    arguments: tuple[Operand, ...]
    when: Guard = None


@dataclass(frozen=True, slots=True)
class ManyToOne:
    """One step of a state: `before` := its value; `state := merge(state, values)`; `after` := its value.

    Of a leaf that is a sum of products the values are the two factors, see `accel/labelled/meaning/products.py`.
    `before` exists even where the guard is false (then no step is made); it needs a seed or an earlier step.
    Both are empty unless the state is `running`.
    """

    state: str
    values: tuple[Operand, ...]
    before: tuple[Stream, ...] = ()
    after: tuple[Stream, ...] = ()
    when: Guard = None


@dataclass(frozen=True, slots=True)
class OneToMaybe:
    """`out := when and function(arguments)`, a new guard: filter."""

    out: Stream
    function: Function
    arguments: tuple[Operand, ...]
    when: Guard = None


@dataclass(frozen=True, slots=True)
class Within:
    """`out := when and first <= index < first + count`, a new guard: an array that is shorter than its loop has an element.

    It holds in the first iterations and in no later ones: in a loop that runs upwards `first` is 0, one that runs downwards
    is `first + count` long. So one comparison is made. A `count` that an outer level finds out is a stream.
    `loops`: if not only one runs, their indices, whose iterations `index` numbers.
    """

    out: Stream
    index: Stream
    first: int
    count: Extent | Stream
    when: Guard = None
    loops: tuple[Stream, ...] = ()

    @property
    def function(self) -> Function:
        """The comparison."""
        return _AT_LEAST if self.first else _LESS

    @property
    def arguments(self) -> tuple[Operand, Operand]:
        """What is compared."""
        return self.index, constant(I64, self.first) if self.first else self.count


@dataclass(frozen=True, slots=True)
class Segment:
    """For errors: the segment `number` of a fold or scan of segments that the user knows as `combinator`."""

    combinator: str
    number: Operand


@dataclass(frozen=True, slots=True)
class Remap:
    """`outs := arguments`, an index into something of shape `bounds`, checked (an error at `where`).

    `segment`: of which segment it is the start, the end and the length; None for an index.
    """

    outs: tuple[Stream, ...]
    arguments: tuple[Operand, ...]
    bounds: Shape
    when: Guard = None
    where: Where | None = field(default=None, compare=False, repr=False)
    segment: Segment | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Read:
    """`out := array[index]`, known to be in bounds."""

    out: Stream
    array: Array
    index: tuple[Operand, ...]
    when: Guard = None


@dataclass(frozen=True, slots=True)
class Write:
    """`array[index] := value`; every index is written once."""

    array: Array
    index: tuple[Operand, ...]
    value: Operand
    when: Guard = None


@dataclass(frozen=True, slots=True)
class Scatter:
    """`arrays[index] := combine(values, arrays[index])` (new leaves, then old), the index checked (an error at `where`).

    `arrays` are the results, which begin as their destinations' contents (`Nest.in_place`).
    Combined in the order in which the loop visits, unless `monoid` is exact. `capacity`: extents whose product, known at
    launch, bounds how many elements come.
    """

    arrays: tuple[Array, ...]
    index: tuple[Operand, ...]
    values: tuple[Operand, ...]
    combine: Function
    monoid: Monoid
    capacity: tuple[Extent, ...]
    when: Guard = None
    where: Where | None = field(default=None, compare=False, repr=False)


LoopBody: TypeAlias = Union[OneToOne, ManyToOne, OneToMaybe, Within, Remap, Read, Write, Scatter]


@dataclass(frozen=True, slots=True)
class Level:
    """One depth: statements, at most one loop, statements."""

    before: tuple[LoopBody, ...]
    loop: For | None
    after: tuple[LoopBody, ...]


@dataclass(frozen=True, slots=True)
class For:
    """`index` = 0 .. extent-1 (UP) or extent-1 .. 0 (DOWN). `extent` may be a stream of an outer level."""

    index: Stream
    extent: Operand
    direction: LoopDirection
    states: tuple[State, ...]
    body: Level

    @property
    def counts_up(self) -> bool:
        """Whether it runs upwards, as often as is known at launch."""
        return self.direction is LoopDirection.UP and is_known(self.extent)


def is_known(extent: Operand) -> TypeGuard[Extent | Constant]:
    """Whether an extent is known at launch: no loop around finds it out."""
    return isinstance(extent, Extent | Constant)


@dataclass(frozen=True, slots=True)
class Output:
    """An array that a nest makes. `capacity`: per dimension, extents whose product bounds it and is known at launch.

    Usually the extent itself; behind a filter, what the filter reads. What is written may be less: see `Count`.
    More than an address can count is an error at `where`.
    """

    array: Array
    capacity: tuple[tuple[Extent, ...], ...]
    where: Where | None = field(default=None, compare=False, repr=False)

    @property
    def is_whole(self) -> bool:
        """Whether all that there is room for is written."""
        return self.capacity == tuple([(extent,) for extent in self.array.shape])


@dataclass(frozen=True, slots=True)
class Count:
    """A size variable that a nest finds out: the element of the rank-0 i64 array `array` once the nest has run."""

    variable: SizeVariable
    array: Array


@dataclass(frozen=True, slots=True)
class Nest:
    """One fused loop nest. `label` is the first label of its cluster.

    `in_place`: (destination, result) pairs of scatters, which share a buffer; results are not in `outputs`.
    """

    label: int
    body: Level
    outputs: tuple[Output, ...]
    in_place: tuple[tuple[Array, Array], ...]
    counts: tuple[Count, ...]


@dataclass(frozen=True, slots=True)
class Launch:
    """Run a nest."""

    nest: Nest


@dataclass(frozen=True, slots=True)
class View:
    """`arrays` are the buffers of `sources` under their own shape; sizes must be equal (an error at `where`)."""

    arrays: tuple[Array, ...]
    sources: tuple[Array, ...]
    where: Where | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sort:
    """`array` := each row of the one of `sources` in order, or, if `places`, where its elements stand.

    first: how many places of each row are read, if these are not all; what stands behind them may be anything. See
    `accel.labelled.nodes.Sort`. A result that is too large is an error at `where`.
    """

    array: Array
    sources: tuple[Array, ...]
    places: bool
    descending: bool
    where: Where | None = field(default=None, compare=False, repr=False)
    first: int | None = None


@dataclass(frozen=True, slots=True)
class HostCall:
    """`arrays := function(sources)`: see `accel.labelled.nodes.HostCall`. What it should not give is an error at `where`."""

    arrays: tuple[Array, ...]
    function: HostFunction
    sources: tuple[Array, ...]
    where: Where | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HostSizes:
    """`variables := function()`, evaluated on the host; a negative extent is an error at `where`, of the combinator `name`."""

    variables: tuple[SizeVariable, ...]
    function: Function
    where: Where | None = field(default=None, compare=False, repr=False)
    name: str = field(default="generate", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Require:
    """An error at `where` unless the shapes are equal, which the combinator `name` needs; with the user's `message`, if any."""

    left: Shape
    right: Shape
    name: str = field(compare=False)
    where: Where | None = field(default=None, compare=False, repr=False)
    left_where: Where | None = field(default=None, compare=False, repr=False)
    right_where: Where | None = field(default=None, compare=False, repr=False)
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """`arrays` := the results of `then` or `orelse`; fresh size variables in their shapes are bound by what comes out."""

    condition: Array
    then: Program
    orelse: Program
    arrays: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`arrays` := `initial`; while `condition(arrays)` holds, `arrays := body(arrays)`. Sizes as for `Branch`."""

    condition: Program
    body: Program
    initial: tuple[Array, ...]
    arrays: tuple[Array, ...]


Step: TypeAlias = Union[Launch, View, Sort, HostCall, HostSizes, Require, Branch, Repeat]


@dataclass(frozen=True, slots=True)
class Program:
    """Steps in order, then results; parameters as in `accel.labelled.nodes.Program`."""

    parameters: tuple[tuple[Array, ...], ...]
    steps: tuple[Step, ...]
    results: tuple[Array, ...]
    own_shapes: tuple[Shape, ...] = ()
    equalities: tuple[Equality, ...] = ()
