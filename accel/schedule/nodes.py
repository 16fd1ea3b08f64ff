"""A schedule: how a nest runs, as data beside it. It never says what the nest means, and no schedule changes a bit of a result.

A nest is visited iteration by iteration. A schedule cuts its axes into pieces, puts the pieces into an order, and says of each
how its iterations run: one after the other, on threads, written out, or in lanes. Every schedule is the nest's own order and
some rules (`rules.py`), which it lists. [Ber] has rules that rewrite programs; here they rewrite the visit, not the tree in
which elements are combined (docs/order.md), which stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from enum import Enum
from typing import TypeAlias, Union

from accel.errors import AccelError
from accel.ir.nodes import LoopDirection, ManyToOne, Nest, OneToOne, Operand, State, Stream
from accel.labelled.array import Array, Extent
from accel.support.dataclass import dataclass


class AccelScheduleError(AccelError, ValueError):
    """A rule is not allowed for this schedule; the message says why."""


class Template(Enum):
    """The shapes of code that backends have for nests; `LITERAL` is loops as the pieces stand."""

    ROWS = "rows"
    MERGED = "merged rows"
    COLUMNS = "columns"
    COLUMN_SCANS = "column scans"
    BLOCKS = "blocks"
    SHORT_ROWS = "short rows"
    POSITIONS = "positions"
    INTERLEAVED = "interleaved rows"
    ROW_GROUPS = "row groups"
    TILE = "tile"
    CHAIN = "chain"
    GROUP_CHAIN = "chain in groups"
    COPIES = "copies"
    ITEMS = "work-items"
    GROUPS = "work-groups"
    BLOCK_GROUPS = "groups of blocks"
    LANE_ROWS = "rows in lanes"
    COLUMN_GROUPS = "groups of columns"
    SEGMENTS = "segments in lanes"
    FEW_ITEMS = "some to a work-item"
    TURNED_BLOCKS = "turned blocks"
    PATCHES = "patches"
    STRIPS = "strips"
    LINES = "lines"
    ITEM_TILES = "tiles in work-items"
    PACKED_TILES = "packed tiles in work-items"
    LITERAL = "literal"


class Role(Enum):
    """What an axis carries from one iteration to the next: of several things, the one that stands furthest down here.

    map: nothing. exact: folds and scatters that give the same bits in any order. ordered: folds in the order of docs/order.md,
    whose elements are numbered by iterations. products: such folds of products, by `fma`. chain: scans, filters' positions,
    other scatters, folds behind a filter.
    """

    MAP = "map"
    EXACT = "exact"
    ORDERED = "ordered"
    PRODUCTS = "products"
    CHAIN = "chain"


class Kind(Enum):
    """How the iterations of a piece run.

    parallel: in any order, on any thread. serial: one after the other. register: written out, each with accumulators of its
    own. vector: in the lanes of registers. item: in the work-items of a group, which then join what they have.
    """

    PARALLEL = "parallel"
    SERIAL = "serial"
    REGISTER = "register"
    VECTOR = "vector"
    ITEM = "item"


class Part(Enum):
    """Which part of its axis a piece is: all of it, or one of those into which it was subdivided.

    outer, inner: of an axis whose elements may be combined in any order, or whose iterations need those before, which then run
    in order in each part. block, step, lane: of an ordered one, where of L lanes step `s` of lane `l` of block `b` is element
    `4096 b + L s + l`, or `4096 b + 4096/L l + s` if its folds do not commute. The lanes of those that commute run in the order
    of their reversed bits where they stand outside of steps, so that those that join follow each other.
    """

    WHOLE = "whole"
    OUTER = "outer"
    INNER = "inner"
    BLOCK = "block"
    STEP = "step"
    LANE = "lane"


class Accumulation(Enum):
    """How a state is kept while its loop runs.

    value: one value, which takes elements as they come: exact states, and scans in the lanes of a register. blocks: a vector
    for each group of the order's lanes; whole blocks join. lanes: elements go one by one to the lanes of the open block. runs:
    the same for states that do not commute: to the open run. scan: the same for scans. staged: elements are stored until they
    fill a block.
    """

    VALUE = "value"
    BLOCKS = "blocks"
    LANES = "lanes"
    RUNS = "runs"
    SCAN = "scan"
    STAGED = "staged"


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop of a nest. `depth`: how many stand around it. Its iterations are numbered from 0 as they run in the nest."""

    depth: int
    index: Stream
    extent: Operand
    direction: LoopDirection


@dataclass(frozen=True, slots=True)
class Axis:
    """A loop, or several that stand directly inside of each other and run as one (`flatten`), outermost first.

    `reverse`: whether it runs from its last iteration to its first.
    """

    loops: tuple[Loop, ...]
    role: Role
    reverse: bool = False

    @property
    def name(self) -> str:
        """`i0`; `i0*i1` of several."""
        return "*".join(loop.index.name for loop in self.loops)

    @property
    def depths(self) -> frozenset[int]:
        """The depths of its loops."""
        return frozenset(loop.depth for loop in self.loops)


@dataclass(frozen=True, slots=True)
class Carried:
    """A state: listed by the loop at depth `first`, stepped inside of that at depth `last` and of all between.

    `numbered`: element k is what iteration k of these loops makes, for all iterations or the first ones.
    """

    state: State
    step: ManyToOne
    first: int
    last: int
    numbered: bool

    @property
    def role(self) -> Role:
        """What the state makes of the loops that carry it."""
        if self.state.running:
            return Role.CHAIN
        if self.state.monoid.exact:
            return Role.EXACT
        if not self.numbered:
            return Role.CHAIN
        return Role.PRODUCTS if self.state.products else Role.ORDERED

    def each(self, axis: Axis) -> bool:
        """Whether every iteration of the axis makes exactly one element."""
        return self.step.when is None and self.state.when is None and self.last == max(axis.depths)

    def by(self, depths: Iterable[int]) -> bool:
        """Whether one of these loops carries it."""
        return any(self.first <= depth <= self.last for depth in depths)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A size that is chosen when code is written, or at launch.

    It is the number `name`, a multiple of `multiple`, divided by `over`.
    """

    name: str
    multiple: int = 1
    over: int = 1


Size: TypeAlias = Union[int, Parameter]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an axis that runs as one loop.

    `size`: how many iterations it has; None: as many as the axis needs. `inside`: the sizes of the pieces over which one
    iteration of this one runs; their product is its stride. An iteration of the nest exists where the sum of all pieces'
    numbers, times their strides, is less than the axis's extent.
    """

    axis: Axis
    part: Part = Part.WHOLE
    size: Size | None = None
    inside: tuple[Size, ...] = ()
    kind: Kind = Kind.SERIAL


@dataclass(frozen=True, slots=True)
class Pack:
    """Streams that are computed at once for all pieces from number `at` on, into memory in the order in which these read them.

    `layout`: those of these pieces on which the streams depend, as they follow each other in that memory.
    """

    streams: tuple[Stream, ...]
    at: int
    layout: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Margin:
    """The edges of the loop at a depth: in its inside the index is at least `low`, and less than the extent without `high`."""

    depth: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Line:
    """Values for every column of a row: an array of one dimension, and what makes its element, as the loop's index goes on."""

    array: Array
    element: OneToOne


@dataclass(frozen=True, slots=True)
class Lines:
    """What is made first of each row, an entry of the innermost loop, and the nest whose innermost loop reads it there."""

    lines: tuple[Line, ...]
    nest: Nest = field(repr=False)

    @property
    def columns(self) -> int:
        """How many a row has."""
        return self.lines[0].array.shape[0].offset


@dataclass(frozen=True, slots=True)
class Subdivide:
    """Piece `at` becomes two, the inner one with `size` iterations; an ordered axis becomes blocks, steps and `size` lanes."""

    at: int
    size: Size


@dataclass(frozen=True, slots=True)
class Carry:
    """Piece `at`, a whole axis of running states, becomes parts of `size` iterations, for each of which it is found first what
    all before it come to."""

    at: int
    size: Size


@dataclass(frozen=True, slots=True)
class Flip:
    """Pieces `at` and `at + 1` change places."""

    at: int


@dataclass(frozen=True, slots=True)
class Flatten:
    """Pieces `at` and `at + 1`, whole axes, become one axis."""

    at: int


@dataclass(frozen=True, slots=True)
class Reverse:
    """Piece `at`, a whole axis, runs from its last iteration to its first."""

    at: int


@dataclass(frozen=True, slots=True)
class Run:
    """Piece `at` runs as `kind` says."""

    at: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Keep:
    """The state `state` is kept as `accumulation` says."""

    state: str
    accumulation: Accumulation


@dataclass(frozen=True, slots=True)
class Packed:
    """The streams with these names are packed for all pieces from number `at` on."""

    streams: tuple[str, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Split:
    """Within these margins the innermost loop runs without the conditions that are decided there."""

    margins: tuple[Margin, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """What columns of the innermost loop share is made first, for a whole row."""


Rule: TypeAlias = Union[Subdivide, Carry, Flip, Flatten, Reverse, Run, Keep, Packed, Split, Share]
"""One step of a derivation; `rules.py` has a function for each."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """How `nest` runs: all `pieces`, outermost first, of the `axes`, which stand as the nest's loops do.

    `accumulations`: by the names of states, outermost first. `rounds`: the states whose totals or counts of parts are found
    before all else runs, those of a later round with those of earlier ones. `steps`: the rules that made this of the nest's own
    order. `inside`: where the innermost loop runs without the conditions that are decided there (`splitting/inside.py`), as
    margins of loops, outermost first; empty if it runs as it stands everywhere. `shared`: what is made first of each row, if
    anything is (`splitting/alike.py`). `carried`: the nest's states.
    """

    nest: Nest = field(repr=False)
    template: Template
    axes: tuple[Axis, ...]
    pieces: tuple[Piece, ...]
    packs: tuple[Pack, ...]
    accumulations: tuple[tuple[str, Accumulation], ...]
    rounds: tuple[tuple[str, ...], ...]
    steps: tuple[Rule, ...]
    inside: tuple[Margin, ...]
    shared: Lines | None
    carried: tuple[Carried, ...] = field(compare=False, repr=False)

    @property
    def visited(self) -> Nest:
        """The nest whose innermost loop runs: it reads what is shared, if anything is."""
        return self.nest if self.shared is None else self.shared.nest

    def of(self, axis: Axis) -> tuple[Piece, ...]:
        """The pieces of an axis, as they run."""
        return tuple(piece for piece in self.pieces if piece.axis == axis)

    def accumulation(self, state: str) -> Accumulation:
        """How the state of this name is kept."""
        return dict(self.accumulations)[state]


@dataclass(frozen=True, slots=True)
class Series:
    """Nests that follow each other and run together, some iterations of their outermost loops at a time: some *rows*.

    extents: of the outermost loops whose iterations are rows: of one, on GPUs also of several. rows: the arrays of which each
    nest visits only the rows of its own iterations. passed: those of them that one of the nests makes and that nothing else
    needs, so that only the rows in work need memory.
    """

    nests: tuple[Nest, ...] = field(repr=False)
    extents: tuple[Extent, ...]
    rows: tuple[Array, ...]
    passed: tuple[Array, ...]
