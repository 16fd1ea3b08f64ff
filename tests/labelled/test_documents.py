"""The documents of this stage say what happens."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest

from accel.ast.tree.types import F64
from accel.labelled.meaning import order

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["order.md", "labelled.md"])
def test_examples(name: str) -> None:
    found = doctest.testfile(str(DOCS / name), module_relative=False)
    assert found.attempted > 5
    assert not found.failed


def straightforward_fold(elements: list[float], commutes: bool) -> float:
    """The order of docs/order.md in terms of arrays, written apart from the reference."""
    width = order.lanes([F64])
    blocks = []
    for start in range(0, len(elements), order.BLOCK):
        block = elements[start : start + order.BLOCK]
        if commutes:
            lane = np.array([sum_in_order(block[i::width]) for i in range(min(width, len(block)))])
            while len(lane) > 1:
                half = 1 << (len(lane) - 1).bit_length() - 1
                lane[: len(lane) - half] += lane[half:]
                lane = lane[:half]
            blocks.append(float(lane[0]))
        else:
            run = order.BLOCK // width
            blocks.append(in_pairs([sum_in_order(block[i : i + run]) for i in range(0, len(block), run)]))
    return in_pairs(blocks)


def sum_in_order(elements: list[float]) -> float:
    total = elements[0]
    for element in elements[1:]:
        total = total + element
    return total


def in_pairs(parts: list[float]) -> float:
    if len(parts) == 1:
        return parts[0]
    pairs = [sum_in_order(parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return in_pairs(pairs)


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 63, 100, 4095, 4096, 4097, 12289, 20000])
@pytest.mark.parametrize("commutes", [True, False])
def test_the_order_of_folds(count: int, commutes: bool) -> None:
    elements = np.random.default_rng(count).normal(size=count).tolist()
    found = order.fold(elements, lambda a, b: a + b, commutes, order.lanes([F64]))
    assert found == straightforward_fold(elements, commutes)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 4096, 4097, 9000])
def test_the_order_of_scans(count: int) -> None:
    """Vectors by three shifted additions, then carries: as a vector machine would."""
    elements = np.random.default_rng(count).normal(size=count)
    expected = np.empty(count)
    block_carry = 0.5
    for start in range(0, count, order.BLOCK):
        vector_carry = None
        for first in range(start, min(start + order.BLOCK, count), 8):
            vector = elements[first : min(first + 8, start + order.BLOCK)].copy()
            for distance in (1, 2, 4):
                vector[distance:] = vector[:-distance] + vector[distance:]
            in_block = vector if vector_carry is None else vector_carry + vector
            vector_carry = in_block[-1]
            expected[first : first + len(vector)] = block_carry + in_block
        block_carry = expected[min(start + order.BLOCK, count) - 1]
    found = list(order.scan(elements.tolist(), lambda a, b: a + b, 0.5))
    assert found == expected.tolist()
