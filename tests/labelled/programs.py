"""Programs of the labelled stage for tests: built from the language, run by the reference interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import accel as A
from accel.ast.tree.leaves import to_host
from accel.ast.tree.nodes import ArrayParameter
from accel.ast.tree.types import ArrayType, ElementType
from accel.labelled.construction.build import Built, build
from accel.labelled.meaning.interpret import interpret
from accel.labelled.nodes import Program
from accel.labelled.text import text
from accel.support.choices import Rounding

# Tests of one stage go through handles of any rank and element; static types are tests/typing's concern.
AnyAcc = A.Acc[Any]
AnyExp = A.Exp[Any]
AnyArray = np.ndarray[Any, np.dtype[Any]]


def use(array: object) -> AnyAcc:
    """An input."""
    return A.use(array)


def integers(shape: tuple[int, ...], kind: type[np.generic] = np.int64) -> AnyArray:
    """Small integers of both signs, in no order."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 7919 + 3) % 101 - 50).reshape(shape).astype(kind)


def parameter(rank: int, element: ElementType) -> AnyAcc:
    """An array that is given later."""
    return A.Acc(ArrayParameter((ArrayType(rank, element),), None), (None,) * rank)


def built(results: Sequence[AnyAcc], parameters: Sequence[AnyAcc] = (), products: Rounding = "fused") -> Built:
    nodes = [parameter.node for parameter in parameters]
    assert all(isinstance(node, ArrayParameter) for node in nodes)
    given = [node for node in nodes if isinstance(node, ArrayParameter)]
    return build([result.node for result in results], given, products)


def program(results: Sequence[AnyAcc], parameters: Sequence[AnyAcc] = (), products: Rounding = "fused") -> Program:
    return built(results, parameters, products).program


def program_text(*results: AnyAcc, of: Sequence[AnyAcc] = ()) -> str:
    return text(program(results, of))


def run_all(*results: AnyAcc) -> list[AnyArray]:
    """The leaves of all results, as the reference interpreter computes them."""
    found = built(results)
    return interpret(found.program, [to_host(leaf) for constant in found.constants for leaf in constant.data])


def run(result: AnyAcc) -> AnyArray:
    """The only leaf of one result."""
    (leaf,) = run_all(result)
    return leaf


def same(found: AnyArray, expected: object) -> None:
    """Equal shape and equal elements; NaN equals NaN. Types are compared where `expected` is an array."""
    right = np.asarray(expected)
    assert found.shape == right.shape
    if isinstance(expected, np.ndarray | np.generic):
        assert found.dtype == right.dtype
    np.testing.assert_array_equal(found, right)
