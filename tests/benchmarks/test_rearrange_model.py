"""The benchmark of the model of orders: its nests are nests, and its table can be made."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from benchmarks.rearrange import Product, apart
from benchmarks.rearrange_model import look, nests
from tests import untyped

pytestmark = pytest.mark.llvm


def test_there_are_twelve_nests_that_can_be_rearranged() -> None:
    every = list(nests(16))
    assert len({nest.name for nest in every}) == 12
    for nest in every:
        found = A.rearrangements(nest.function, *nest.arguments)
        assert len(found[0].extents) == len(nest.axes)


def test_orders_of_one_are_looked_at() -> None:
    (nest,) = (each for each in nests(8) if each.name == "outer")
    found = look(nest)
    assert found.orders == 8
    assert found.chosen >= 1
    assert -1 <= found.correlation <= 1
    assert found.own > 0


def test_products_of_several_threads() -> None:
    turned = Product(1, 5, 7, 3, (True, False))
    x, y = turned.arguments("f4")
    assert x.shape == (7, 5)
    np.testing.assert_allclose(untyped.runN(turned.own)(x, y), turned.numpy(x, y), rtol=1e-5)
    assert all(seconds > 0 for pair in apart([turned], "f4", 2) for seconds in pair)
