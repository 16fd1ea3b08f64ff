"""The explicit fusion tree [vB20 section 4.4, Listing 1]: what fuses with what, and how.

A program is a list of nodes in dependency order. A cluster is a `RootOfCluster` over a binary tree of `Vertical`, `Diagonal`,
`Horizontal`, whose leaves are single operations. Vertical and Diagonal bind arrays of their first half for the second; Vertical
discards them, Diagonal keeps some. Trees are built by `rules.py` only, which applies the inference rules of [vB24 Fig. 2].

A tree may be as deep as its cluster is large: nodes compare by identity, and no walk recurses.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias, Union

from accel.ilp.problem.clustering import Traversal
from accel.labelled.array import Array, Label, Shape
from accel.labelled.nodes import Binding, Equality
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Port:
    """An array that a cluster consumes or produces, `x:d` in [vB24 section 3.1]; `traversal` None: in no known order."""

    array: Array
    traversal: Traversal | None


@dataclass(frozen=True, slots=True)
class Signature:
    """`[I | O]` of [vB24 section 3.1]: what a cluster reads from memory, and what it leaves there."""

    inputs: frozenset[Port]
    outputs: frozenset[Port]


@dataclass(frozen=True, slots=True, eq=False)
class LeafOfCluster:
    """One operation, the order in which it visits its result, and the label of that in which it reads what it gathers from."""

    binding: Binding
    traversal: Traversal
    own: Label
    signature: Signature


@dataclass(frozen=True, slots=True, eq=False)
class Vertical:
    """`second` consumes `arrays`, which `first` makes, element by element; nothing else needs them: they are never stored."""

    first: Tree = field(repr=False)
    second: Tree = field(repr=False)
    arrays: tuple[Array, ...]
    signature: Signature


@dataclass(frozen=True, slots=True, eq=False)
class Diagonal:
    """As `Vertical`, but of the arrays that `second` consumes, `kept` are stored as well; `discarded` (may be none) are not."""

    first: Tree = field(repr=False)
    second: Tree = field(repr=False)
    kept: tuple[Array, ...]
    discarded: tuple[Array, ...]
    signature: Signature


@dataclass(frozen=True, slots=True, eq=False)
class Horizontal:
    """Neither half consumes what the other makes; both read `shared`, which are read once."""

    first: Tree = field(repr=False)
    second: Tree = field(repr=False)
    shared: tuple[Port, ...]
    signature: Signature


Tree: TypeAlias = Union[LeafOfCluster, Vertical, Diagonal, Horizontal]


@dataclass(frozen=True, slots=True, eq=False)
class RootOfCluster:
    """A cluster, which becomes one loop nest. `results`: those of its arrays that are needed once it has run."""

    tree: Tree
    results: tuple[Array, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Unfused:
    """An operation that is no loop, or that nothing fuses with: `Use`, `Reshape`, `Force`, `BindSizes`, `RequireEqual`."""

    binding: Binding


@dataclass(frozen=True, slots=True, eq=False)
class UnfusedAcond:
    """An `Acond`, whose branches are fused programs."""

    binding: Binding
    condition: Array
    then: Program
    orelse: Program


@dataclass(frozen=True, slots=True, eq=False)
class UnfusedAwhile:
    """An `Awhile`, whose condition and body are fused programs."""

    binding: Binding
    condition: Program
    body: Program
    initial: tuple[Array, ...]


Node: TypeAlias = Union[RootOfCluster, Unfused, UnfusedAcond, UnfusedAwhile]


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Nodes in dependency order, then results; the rest as in `accel.labelled.nodes.Program`."""

    parameters: tuple[tuple[Array, ...], ...]
    nodes: tuple[Node, ...]
    results: tuple[Array, ...]
    own_shapes: tuple[Shape, ...] = ()
    equalities: tuple[Equality, ...] = ()
