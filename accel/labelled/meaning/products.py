"""Folds of products: how an element of two factors joins a partial result, `fma(x, y, partial)`, rounded once (docs/order.md).

In: the components of a fold's element and which of them are products. Out: scalar functions, for every stage that steps a fold.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import ScalarType
from accel.errors import AccelInternalError
from accel.labelled.algebra import Monoid, Products, by_component, element_types, may_be_products
from accel.labelled.scalar import Block, Compute, Function, Operand, Variable
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Steps:
    """How elements become a partial result.

    first: of an element's leaves, what a lane begins with: `x * y`. following: of a partial result's leaves and an element's,
    the next partial result: `fma(x, y, partial)`.
    """

    first: Function
    following: Function


def steps(combine: Function, monoid: Monoid, kinds: Sequence[ScalarType], products: Products) -> Steps:
    """The functions of a fold by `combine`. Raises `AccelInternalError` if a component cannot be a product."""
    held = tuple([Variable(k, kind) for k, kind in enumerate(kinds)])
    if not products:
        return Steps(Function(held, Block((), held)), combine)
    if monoid.operators is None or not set(products) <= set(may_be_products(monoid, kinds)):
        raise AccelInternalError(f"components {products} of a fold are no sums of floats")
    element = tuple([Variable(len(held) + k, kind) for k, kind in enumerate(element_types(kinds, products))])
    outs = tuple([Variable(len(held) + len(element) + k, kind) for k, kind in enumerate(kinds)])
    multiplied: list[Compute] = []
    added: list[Compute] = []
    begun: list[Operand] = []
    parts = zip(by_component(element, products), held, outs, monoid.operators, strict=True)
    for leaves, partial, out, operator in parts:
        if len(leaves) == 2:
            multiplied.append(Compute(out, Operator.MUL, leaves))
            added.append(Compute(out, Operator.FMA, (*leaves, partial)))
            begun.append(out)
        else:
            added.append(Compute(out, operator, (partial, *leaves)))
            begun.append(leaves[0])
    return Steps(
        Function(element, Block(tuple(multiplied), tuple(begun))),
        Function((*held, *element), Block(tuple(added), outs)),
    )
