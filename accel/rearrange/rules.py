"""[Ber]'s rules as functions from one order of loops to another, each checked, each written down.

In: an `Order`. Out: another one, which has one step more. Raises `AccelRearrangeError` where a rule does not hold, so whatever
an order's steps lead to computes what the nest computes. An order's pieces are loops, outermost first; several pieces of one
axis are its subdivisions, from the largest steps to the smallest.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from accel.errors import AccelRearrangeError, here
from accel.rearrange.nest import Axis, LinearNest, Role
from accel.support.dataclass import dataclass


class Rule(Enum):
    """A rule, and the paper's equations."""

    EXCHANGE_MAPS = "exchange of maps (36, 37)"
    EXCHANGE_MAP_AND_REDUCTION = "exchange of map and rnz (42)"
    EXCHANGE_REDUCTIONS = "exchange of rnz and rnz (43)"
    SUBDIVIDE_MAP = "subdivision of map (44)"
    SUBDIVIDE_REDUCTION = "subdivision of rnz (44, 47)"


@dataclass(frozen=True, slots=True)
class Step:
    """A rule applied at a depth; `block` is the inner extent of a subdivision."""

    rule: Rule
    depth: int
    block: int | None = None

    def __str__(self) -> str:
        return f"{self.rule.value} at {self.depth}" + (f" by {self.block}" if self.block is not None else "")


@dataclass(frozen=True, slots=True)
class Piece:
    """One loop: `extent` steps of `stride` indices of an axis."""

    axis: Axis
    extent: int
    stride: int


@dataclass(frozen=True, slots=True)
class Order:
    """Loops, outermost first, and the steps that lead to them from the nest's own order."""

    pieces: tuple[Piece, ...]
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        """The higher-order functions from left to right, as the paper's tables have them."""
        return " ".join(piece.axis.name for piece in self.pieces)


def own_order(nest: LinearNest) -> Order:
    """The order in which the program has the loops."""
    return Order(tuple(Piece(axis, axis.extent, 1) for axis in nest.axes), ())


def subdivide(order: Order, depth: int, block: int) -> Order:
    """The loop at `depth` as two, the inner one of `block` steps. A block that does not divide the extent is refused."""
    piece = order.pieces[depth]
    if block < 1 or piece.extent % block:
        message = f"blocks of {block} do not divide the extent {piece.extent} of {piece.axis.name}"
        raise AccelRearrangeError(message, here(), hint="the paper's rules have no rest: choose a divisor")
    outer = replace(piece, extent=piece.extent // block, stride=piece.stride * block)
    inner = replace(piece, extent=block)
    rule = Rule.SUBDIVIDE_MAP if piece.axis.role is Role.MAP else Rule.SUBDIVIDE_REDUCTION
    pieces = (*order.pieces[:depth], outer, inner, *order.pieces[depth + 1 :])
    return Order(pieces, (*order.steps, Step(rule, depth, block)))


def exchange(nest: LinearNest, order: Order, depth: int, *, free: bool) -> Order:
    """The loops at `depth` and below it exchanged.

    `free`: floats may be combined in another order; else only operators to which that makes no difference. A map and a
    reduction always change places: each result is made of its elements in the order in which it was.
    """
    outer, inner = order.pieces[depth : depth + 2]
    if outer.axis == inner.axis:
        hint = "the pieces of one axis go from the largest to the smallest; exchange them with other axes"
        raise AccelRearrangeError(f"two subdivisions of {outer.axis.name} stay in their order", here(), hint=hint)
    roles = {outer.axis.role, inner.axis.role}
    if roles == {Role.MAP}:
        rule = Rule.EXCHANGE_MAPS
    elif len(roles) == 2:
        rule = Rule.EXCHANGE_MAP_AND_REDUCTION
    else:
        rule = Rule.EXCHANGE_REDUCTIONS
        _require_commuting(nest, free)
    pieces = (*order.pieces[:depth], inner, outer, *order.pieces[depth + 2 :])
    return Order(pieces, (*order.steps, Step(rule, depth)))


def _require_commuting(nest: LinearNest, free: bool) -> None:
    assert nest.reduction is not None
    monoid = nest.reduction.monoid
    if not monoid.commutes:
        message = "two axes of a reduction change places only if it commutes (eq. 43)"
        raise AccelRearrangeError(message, nest.where, hint="the maps outside of it may change places")
    if not (free or monoid.exact):
        message = "two axes of a reduction of floats would be combined in another order"
        raise AccelRearrangeError(message, nest.where, hint='`association="free"` allows it')
