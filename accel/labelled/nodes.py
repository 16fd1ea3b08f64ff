"""The labelled program: let-bound, struct-of-arrays, sized [vB20 section 5.1; Rob section 1.3].

Every operation has a label and works on variables only. `array.py` says what an array is.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias, Union

from accel.ast.tree.host_functions import HostFunction
from accel.ast.tree.nodes import Direction, ScanForm
from accel.errors import Where
from accel.labelled.algebra import Monoid, Products
from accel.labelled.array import Array, Extent, Label, Shape, SizeVariable, segment_length
from accel.labelled.scalar import Function
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Use:
    """The program's parameter number `parameter`: arrays that the caller gives. Never written."""

    parameter: int


@dataclass(frozen=True, slots=True)
class Generate:
    """`arrays[ix] := function(ix)` for every index of their shape."""

    function: Function
    name: str = field(default="generate", compare=False)


@dataclass(frozen=True, slots=True)
class Map:
    """`arrays[ix] := function(ix, inputs[ix])`: first the index (as many i64 as dimensions), then one per input."""

    function: Function
    inputs: tuple[Array, ...]
    name: str = field(default="map", compare=False)


@dataclass(frozen=True, slots=True)
class Backpermute:
    """`arrays[ix] := inputs[function(ix)]`, checked.

    shrinking: known to have at most as many elements as the inputs.
    inside: all indices are known to be in bounds by a check that comes before, of extents that have two names.
    """

    function: Function
    inputs: tuple[Array, ...]
    shrinking: bool
    inside: bool = False
    name: str = field(default="backpermute", compare=False)


@dataclass(frozen=True, slots=True)
class Gather:
    """`arrays[ix] := inputs[indices[ix]]`, checked; one i64 index array per dimension of the inputs."""

    indices: tuple[Array, ...]
    inputs: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Scatter:
    """In source order, where `keep` (if any) is true: `destination[indices[i]] := combine(values[i], destination[...])`.

    Destroys `destinations`, whose buffers become the results' [vB24 section 2]; no other use may follow. `combine` takes
    the new leaves, then the old ones. `monoid`: what is known of `combine`, as in folds and scans. `unique`: no two values go
    to one place, and `combine` gives the new one, so that any order will do.
    """

    combine: Function
    destinations: tuple[Array, ...]
    keep: Array | None
    indices: tuple[Array, ...]
    values: tuple[Array, ...]
    monoid: Monoid
    unique: bool = False


@dataclass(frozen=True, slots=True)
class Copy:
    """A fresh copy, so that a scatter may destroy it.

    `last`: nothing reads the inputs later in their program, whose parameters they are, the state of a loop. The copy then fuses
    with nothing, and comes after all that reads them, so that a backend may take the buffer where nothing else refers to it.
    """

    inputs: tuple[Array, ...]
    last: bool = False


@dataclass(frozen=True, slots=True)
class Fold:
    """Reduction of the innermost `dimensions`, at least one, in row-major order. `combine` takes the left leaves, then the
    right ones.

    `initial` (no parameters) is combined once, on the left; None is `fold1`. `products`: the components, rising, whose
    elements are products. Each has two of the `inputs`, its factors; all others have one.
    """

    combine: Function
    initial: Function | None
    inputs: tuple[Array, ...]
    monoid: Monoid
    name: str = field(default="fold", compare=False)
    dimensions: int = 1
    products: Products = ()

    @property
    def folded(self) -> Shape:
        """The extents of the dimensions that are folded."""
        return self.inputs[0].shape[-self.dimensions :]


@dataclass(frozen=True, slots=True)
class FoldSegments:
    """`arrays[o, s] := fold(inputs[o, starts[o, s]], ..., inputs[o, ends[o, s] - 1])`: a fold of each segment, as of a row.

    It is an operation of its own since no other can say it without an array in between: a fold visits rows of one length, and
    lanes and blocks of `docs/order.md` are counted within each segment, which a scan of all elements would not do. Starts and
    ends are i64. Where `0 <= start <= end <= n` does not hold is an error. The rest is as in `Fold`.
    """

    combine: Function
    initial: Function | None
    starts: Array
    ends: Array
    inputs: tuple[Array, ...]
    monoid: Monoid
    name: str = field(default="foldSeg", compare=False)
    products: Products = ()

    @property
    def length(self) -> Extent:
        """How long each segment is."""
        return Extent(segment_length(self.starts, self.ends, self.inputs[0].shape[-1]), 0)


@dataclass(frozen=True, slots=True)
class ScanSegments:
    """Running reductions of segments that follow each other from the first element to the last, each as of a row; with
    `ScanForm.TOTAL` the arrays are the scans' leaves, then those of a total for each segment.

    It is an operation of its own for the reasons of `FoldSegments`, whose `starts` and `ends` these are. The results stand
    where the elements do; those of an exclusive scan one place further for each segment before: there are as many more.
    """

    combine: Function
    initial: Function | None
    starts: Array
    ends: Array
    inputs: tuple[Array, ...]
    direction: Direction
    form: ScanForm
    monoid: Monoid
    name: str = field(default="scanlSeg", compare=False)

    @property
    def length(self) -> Extent:
        """How many results each segment has."""
        longer, backward = self.form is ScanForm.EXCLUSIVE, self.direction is Direction.RIGHT
        return Extent(segment_length(self.starts, self.ends, self.inputs[0].shape[-1], longer, backward), 0)


@dataclass(frozen=True, slots=True)
class Scan:
    """Running reduction of the innermost dimension. With `ScanForm.TOTAL` the arrays are the scan's leaves, then the totals'.

    `combine` takes the left leaves, then the right ones, whatever the direction.
    """

    combine: Function
    initial: Function | None
    inputs: tuple[Array, ...]
    direction: Direction
    form: ScanForm
    monoid: Monoid
    name: str = field(default="scan", compare=False)


@dataclass(frozen=True, slots=True)
class Filter:
    """The elements that satisfy `predicate` (of the leaves), as vectors; the last array counts them per outer row.

    The vectors' extent is a rigid size variable that exists once the filter has run [Rob section 1.3].
    """

    predicate: Function
    inputs: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Sort:
    """The elements of each row of the innermost dimension in order (of the one input), or, if `places`, where they stand.

    Several inputs are compared from the first to the last. Only places may be `descending`. For the order see
    `accel/labelled/meaning/sorting.py`. It is an operation of its own, and fuses with nothing: a sort is no loop over elements,
    but several, whose number and kind a backend chooses by what it sorts; each element of the result depends on all of its row.
    """

    inputs: tuple[Array, ...]
    places: bool
    descending: bool
    name: str = field(default="sort", compare=False)


@dataclass(frozen=True, slots=True)
class HostCall:
    """`arrays := function(inputs)`, Python code on the host. Without arrays it is there for what it does, and always stays.

    It is an operation of its own since no other has an effect, and it is none that loops could do.
    """

    function: HostFunction
    inputs: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Reshape:
    """The same buffers under another shape of equal size (checked when run): costs nothing."""

    inputs: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Force:
    """The same buffers, with a fusion barrier between."""

    inputs: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class BindSizes:
    """Size variables, evaluated on the host: `variables := function()`, for the combinator `name`. Negative extents are errors.

    Has no arrays.
    """

    variables: tuple[SizeVariable, ...]
    function: Function
    name: str = field(default="generate", compare=False)


@dataclass(frozen=True, slots=True)
class RequireEqual:
    """An error unless two shapes are equal, which the combinator `name` needs; has no arrays.

    The bindings that need it name it in `after`. message: what the user said to that, of an `assert_`.
    """

    left: Shape
    right: Shape
    name: str = field(compare=False)
    left_where: Where | None = field(default=None, compare=False, repr=False)
    right_where: Where | None = field(default=None, compare=False, repr=False)
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Acond:
    """The results of one sub-program. `condition` is a rank-0 bool array. Extents of results may be fresh size variables."""

    condition: Array
    then: Program
    orelse: Program


@dataclass(frozen=True, slots=True)
class Awhile:
    """`condition` and `body` are sub-programs of the same number of parameters; see `accel.ast.tree.nodes.Awhile`."""

    condition: Program
    body: Program
    initial: tuple[Array, ...]


Operation: TypeAlias = Union[
    Use, Generate, Map, Backpermute, Gather, Scatter, Copy, Fold, FoldSegments, Scan, ScanSegments, Filter, Reshape, Force,
    BindSizes, RequireEqual, Acond, Awhile,
    Sort, HostCall,
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Binding:
    """`arrays := operation`. `after`: labels that must have run before though no array or size tells so (`RequireEqual`)."""

    label: Label
    operation: Operation
    arrays: tuple[Array, ...]
    after: tuple[Label, ...] = ()
    where: Where | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Equality:
    """Two shapes over the parameters' own extents that the combinator `name` needs to be equal: how unification came about.

    Checked when arguments are bound: the first that fails is reported, naming `where` and the operands' lines.
    """

    left: Shape
    right: Shape
    name: str = field(compare=False)
    where: Where | None = field(default=None, compare=False, repr=False)
    left_where: Where | None = field(default=None, compare=False, repr=False)
    right_where: Where | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Program:
    """Bindings in order, then results.

    `parameters[k]` are the arrays of parameter k (of the `Use` with that number; of an awhile, the loop's state; of an
    acond's branches, none). Their shapes use unified size variables. `own_shapes[k]` is the same parameter's shape with a
    variable of its own for each extent, in which `equalities` are stated. Sub-programs refer to outer arrays directly.
    """

    parameters: tuple[tuple[Array, ...], ...]
    bindings: tuple[Binding, ...]
    results: tuple[Array, ...]
    own_shapes: tuple[Shape, ...] = ()
    equalities: tuple[Equality, ...] = ()
