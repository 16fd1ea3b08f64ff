"""The nodes of programs: plain data under the handles `Exp` (scalars) and `Acc` (arrays).

In: built by the combinators. Out: read by `accel/labelled/`. Sharing is Python's object identity, so nodes compare by
identity and every walk memoises by node. A `repr` would unfold all sharing: `text.py` prints them.

A scalar node's `type` is an element type, so tuples are still whole here; `labelled` flattens them. An array node has `types`,
one for each result; nodes with several (`Filter`, `Scan` with totals, `Acond`, `Awhile`) are seen through `Result`.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias, Union

from accel.ast.tree.host_functions import HostFunction
from accel.ast.tree.inputs import ArrayParameter as ArrayParameter
from accel.ast.tree.inputs import Use as Use
from accel.ast.tree.operators import Direction as Direction
from accel.ast.tree.operators import Operator
from accel.ast.tree.operators import ScanForm as ScanForm
from accel.ast.tree.types import ArrayType, ComplexType, ElementType, MaybeType, ScalarType, TupleType
from accel.errors import Where
from accel.support.dataclass import frozen


@frozen
class Literal:
    """A constant that has its type."""

    type: ScalarType
    value: bool | int | float
    where: Where | None


@frozen
class Parameter:
    """The bound variable of a scalar function, or of a scalar loop."""

    type: ElementType
    where: Where | None


@frozen
class Operation:
    """A scalar operator applied to scalars."""

    operator: Operator
    arguments: tuple[ScalarNode, ...]
    type: ScalarType
    where: Where | None


@frozen
class MakeTuple:
    """A tuple of elements; of a `MaybeType`, the flag (bool) and the value; of a `ComplexType`, the two parts."""

    items: tuple[ScalarNode, ...]
    type: TupleType | MaybeType | ComplexType
    where: Where | None


@frozen
class Project:
    """One item of a tuple; of a maybe, 0 is the flag and 1 the value; of a complex number, 0 is the real part."""

    source: ScalarNode
    position: int
    type: ElementType
    where: Where | None


@frozen
class Conditional:
    """Lazy choice: only the branch that is taken is evaluated. `&` and `|` on bools are this too."""

    condition: ScalarNode
    then: ScalarNode
    orelse: ScalarNode
    type: ElementType
    where: Where | None


@frozen
class While:
    """From `initial`, `parameter := body` as long as `condition` holds."""

    parameter: Parameter
    condition: ScalarNode
    body: ScalarNode
    initial: ScalarNode
    type: ElementType
    where: Where | None


@frozen
class Index:
    """An element of an array; out of bounds is an error. `index` has the array's `index_type`."""

    array: ArrayNode
    index: ScalarNode
    type: ElementType
    where: Where | None


@frozen
class ShapeOf:
    """The shape of an array: a tuple of i64."""

    array: ArrayNode
    type: TupleType
    where: Where | None


Key: TypeAlias = tuple[Hashable, ...]
"""What nodes are compared by: see `structure.py`."""

ScalarNode: TypeAlias = Union[Literal, Parameter, Operation, MakeTuple, Project, Conditional, While, Index, ShapeOf]


@frozen
class Function:
    """A scalar function, traced on fresh parameters. key: what it computes, if it is closed and simple (`structure.py`)."""

    parameters: tuple[Parameter, ...]
    body: ScalarNode
    key: Key | None


@frozen
class Generate:
    """`function` at every index of `shape`. `unit` is rank 0, `fill` a constant function."""

    shape: ScalarNode
    function: Function
    name: str
    types: tuple[ArrayType]
    where: Where | None


@frozen
class Map:
    """`function` at the elements of arrays of equal shape; `indexed` puts the index before them."""

    function: Function
    arrays: tuple[ArrayNode, ...]
    indexed: bool
    name: str
    types: tuple[ArrayType]
    where: Where | None


@frozen
class Backpermute:
    """`result[ix] = array[function(ix)]`. `shrinking`: known to have at most as many elements as `array`."""

    shape: ScalarNode
    function: Function
    array: ArrayNode
    shrinking: bool
    name: str
    types: tuple[ArrayType]
    where: Where | None


@frozen
class Gather:
    """`result[ix] = array[indices[ix]]`; indices are i64 for a vector, else tuples."""

    indices: ArrayNode
    array: ArrayNode
    types: tuple[ArrayType]
    where: Where | None


@frozen
class Append:
    """The elements of `left`, then those of `right`, along dimension `axis`; `extent` (i64) counts both."""

    extent: ScalarNode
    axis: int
    left: ArrayNode
    right: ArrayNode
    name: str
    types: tuple[ArrayType]
    where: Where | None


@frozen
class Permute:
    """`result[j] = combine(array[i], result[j])` in source order, where `function(i)` is just `j`; starts from `defaults`.

    `unique`: no two `i` have one `j`, and `combine` gives the new element.
    """

    combine: Function
    defaults: ArrayNode
    function: Function
    array: ArrayNode
    unique: bool
    types: tuple[ArrayType]
    where: Where | None


@frozen
class ScatterWith:
    """Like `Permute`, with the indices beside the values: `pairs` of (index, value), or maybes of them [vB24 section 2]."""

    combine: Function
    defaults: ArrayNode
    pairs: ArrayNode
    unique: bool
    name: str
    types: tuple[ArrayType]
    where: Where | None


@frozen
class Fold:
    """Reduction of the innermost `dimensions` in row-major order; `initial` comes first. Without it no row may be empty."""

    function: Function
    initial: ScalarNode | None
    array: ArrayNode
    dimensions: int
    name: str
    types: tuple[ArrayType]
    where: Where | None


@frozen
class FoldSegments:
    """Reductions of segments of the innermost dimension, those in which `starts <= i < ends` (vectors of i64), as `Fold`."""

    function: Function
    initial: ScalarNode | None
    array: ArrayNode
    starts: ArrayNode
    ends: ArrayNode
    name: str
    types: tuple[ArrayType]
    where: Where | None


@frozen
class ScanSegments:
    """Running reductions of segments of the innermost dimension, which follow each other from the first element to the last.

    `starts`, `ends`: see `FoldSegments`. `extent` (i64): of the results; None: `array`'s. With `ScanForm.TOTAL` totals as well.
    """

    function: Function
    initial: ScalarNode | None
    array: ArrayNode
    starts: ArrayNode
    ends: ArrayNode
    direction: Direction
    form: ScanForm
    extent: ScalarNode | None
    name: str
    types: tuple[ArrayType, ...]
    where: Where | None


@frozen
class Scan:
    """Running reduction of the innermost dimension. With `ScanForm.TOTAL` two results: the scan, the totals."""

    function: Function
    initial: ScalarNode | None
    array: ArrayNode
    direction: Direction
    form: ScanForm
    name: str
    types: tuple[ArrayType, ...]
    where: Where | None


@frozen
class Filter:
    """The elements that satisfy `predicate`, in order, as a vector; and how many there were in each outer row (i64)."""

    predicate: Function
    array: ArrayNode
    types: tuple[ArrayType, ArrayType]
    where: Where | None


@frozen
class Sort:
    """Each row of the innermost dimension in order (`accel/labelled/meaning/sorting.py`), or the `places` (i64) in it."""

    array: ArrayNode
    places: bool
    descending: bool
    name: str
    types: tuple[ArrayType]
    where: Where | None


@frozen
class Replicate:
    """`array` repeated along new dimensions: in `spec`, None keeps a dimension of `array`, a scalar (i64) is a new extent."""

    spec: tuple[ScalarNode | None, ...]
    array: ArrayNode
    types: tuple[ArrayType]
    where: Where | None


@frozen
class Slice:
    """A part of `array` with fewer dimensions: in `spec`, None keeps a dimension, a scalar (i64) picks one index of it."""

    array: ArrayNode
    spec: tuple[ScalarNode | None, ...]
    types: tuple[ArrayType]
    where: Where | None


@frozen
class Reshape:
    """The same elements in row-major order under another shape of equal size; `flatten` is one."""

    shape: ScalarNode
    array: ArrayNode
    name: str
    types: tuple[ArrayType]
    where: Where | None


@frozen
class Compute:
    """`array`, with a fusion barrier after it."""

    array: ArrayNode
    types: tuple[ArrayType]
    where: Where | None


@frozen
class Require:
    """`array`, and an error unless the extents `found` are those `needed` by `name`, which says an `assert_`'s `message`."""

    found: tuple[ScalarNode, ...]
    needed: tuple[ScalarNode, ...]
    name: str
    message: str | None
    array: ArrayNode
    types: tuple[ArrayType]
    where: Where | None


@frozen
class HostCall:
    """What `function` makes of `arguments` when it runs, which is `fallback`; for one that prints, these are one."""

    function: HostFunction
    arguments: tuple[ArrayNode, ...]
    fallback: tuple[ArrayNode, ...]
    types: tuple[ArrayType, ...]
    where: Where | None


@frozen
class Acond:
    """The arrays of one branch; the other branch is not evaluated."""

    condition: ScalarNode
    then: tuple[ArrayNode, ...]
    orelse: tuple[ArrayNode, ...]
    types: tuple[ArrayType, ...]
    where: Where | None


@frozen
class Awhile:
    """From `initial`, `parameters := body` as long as `condition` (a scalar array of bool) holds."""

    parameters: tuple[ArrayParameter, ...]
    condition: ArrayNode
    body: tuple[ArrayNode, ...]
    initial: tuple[ArrayNode, ...]
    types: tuple[ArrayType, ...]
    where: Where | None


@frozen
class Result:
    """One result of a node that has several."""

    node: Filter | Scan | ScanSegments | HostCall | Acond | Awhile
    position: int
    types: tuple[ArrayType]
    where: Where | None


ArrayNode: TypeAlias = Union[
    Use, ArrayParameter, Generate, Map, Backpermute, Gather, Append, Permute, ScatterWith, Fold, FoldSegments, Scan,
    ScanSegments, Filter, Replicate, Slice, Reshape, Compute, Require, Acond, Awhile, Result, Sort, HostCall,
]  # fmt: skip
