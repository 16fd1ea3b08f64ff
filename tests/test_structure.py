"""Nested tuples and flat lists."""

from __future__ import annotations

import numpy as np

from accel.ast.tree.types import F32, I64, ElementType, MaybeType, TupleType
from accel.structure import Nested, element_arrays, flatten


def test_flatten_keeps_the_order() -> None:
    assert flatten(((1, 2), (), 3, ((4,),))) == [1, 2, 3, 4]


def test_flatten_does_not_recurse() -> None:
    deep: Nested[int] = 1
    for _ in range(100_000):
        deep = (deep,)
    assert flatten(deep) == [1]


def test_arrays_of_an_element() -> None:
    element: ElementType = TupleType((F32, TupleType(()), MaybeType(TupleType((I64, F32)))))
    a, b, c, d = (np.zeros(n) for n in range(4))
    assert element_arrays(element, iter([a, b, c, d])) == (a, (), (b, (c, d)))
