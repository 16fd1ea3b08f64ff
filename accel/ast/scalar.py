"""The nodes of scalar expressions: plain data under the `Exp` handle.

In: built by `accel/ast/exp.py` and the combinators. Out: read by `accel/labelled/`. Sharing is Python's object identity,
so nodes compare by identity and every walk memoises by node (design section 2). A node's `type` is an element type,
so tuples are still whole here; `labelled` flattens them. Nodes have no `repr` of their own, which would unfold all sharing:
`accel/ast/text.py` prints them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, Union

from accel.ast.operators import Operator
from accel.ast.types import ElementType, MaybeType, ScalarType, TupleType
from accel.errors import Where

if TYPE_CHECKING:  # the two levels of the language refer to each other
    from accel.ast.arrays import ArrayNode


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Literal:
    """A constant that has its type."""

    type: ScalarType
    value: bool | int | float
    where: Where | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Parameter:
    """The bound variable of a scalar function, or of a scalar loop."""

    type: ElementType
    where: Where | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Operation:
    """A scalar operator applied to scalars."""

    operator: Operator
    arguments: tuple[ScalarNode, ...]
    type: ScalarType
    where: Where | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MakeTuple:
    """A tuple of elements; of a `MaybeType`, the flag (bool) and the value."""

    items: tuple[ScalarNode, ...]
    type: TupleType | MaybeType
    where: Where | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Project:
    """One item of a tuple; of a maybe, 0 is the flag and 1 the value."""

    source: ScalarNode
    position: int
    type: ElementType
    where: Where | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Conditional:
    """Lazy choice: only the branch that is taken is evaluated. `&` and `|` on bools are this too."""

    condition: ScalarNode
    then: ScalarNode
    orelse: ScalarNode
    type: ElementType
    where: Where | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class While:
    """From `initial`, `parameter := body` as long as `condition` holds."""

    parameter: Parameter
    condition: ScalarNode
    body: ScalarNode
    initial: ScalarNode
    type: ElementType
    where: Where | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Index:
    """An element of an array; out of bounds is an error. `index` has the array's `index_type`."""

    array: ArrayNode
    index: ScalarNode
    type: ElementType
    where: Where | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ShapeOf:
    """The shape of an array: a tuple of i64."""

    array: ArrayNode
    type: TupleType
    where: Where | None


ScalarNode: TypeAlias = Union[Literal, Parameter, Operation, MakeTuple, Project, Conditional, While, Index, ShapeOf]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Function:
    """A scalar function: what a combinator was given, traced once on fresh parameters."""

    parameters: tuple[Parameter, ...]
    body: ScalarNode
