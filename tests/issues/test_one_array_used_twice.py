"""An array that entered a program by two calls of `use` was two inputs, and was read twice by each loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.nodes import ArrayNode
from accel.labelled.construction.build import build
from tests import untyped

BACKENDS = ("interpreter", "llvm", "opencl")


def inputs(*results: A.Acc[Any]) -> int:
    """How many arrays of the host a program takes."""
    nodes: list[ArrayNode] = [result.node for result in results]
    return len(build(nodes, ()).constants)


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_is_read_once(backend: str) -> None:
    x = np.arange(5, dtype=np.float32)
    program = A.zipWith(A.add, A.use(x), A.use(x))
    assert A.explain(program).reads == {"n0": 1}
    np.testing.assert_array_equal(untyped.run(program, backend=backend), x + x)


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_is_source_and_default_of_a_scatter(backend: str) -> None:
    x = np.arange(1, 6)
    program = A.permute(A.add, A.use(x), lambda ix: A.just(A.index(0)), A.use(x))
    assert inputs(program) == 1
    np.testing.assert_array_equal(untyped.run(program, backend=backend), [16, 2, 3, 4, 5])
    np.testing.assert_array_equal(x, [1, 2, 3, 4, 5])


@pytest.mark.parametrize("backend", BACKENDS)
def test_in_loops_and_branches_it_is_the_same_too(backend: str) -> None:
    x = np.arange(1, 6)
    loop = A.iterate(2, lambda xs: A.zipWith(A.add, xs, A.use(x)), A.use(x))
    chosen = A.acond(A.the(A.sum(A.use(x))) > 0, A.use(x), A.map(lambda e: -e, A.use(x)))
    assert inputs(loop, chosen) == 1
    tripled, same = untyped.run((loop, chosen), backend=backend)
    np.testing.assert_array_equal(tripled, 3 * x)
    np.testing.assert_array_equal(same, x)


def test_results_are_fresh_each() -> None:
    x = np.arange(5)
    left, right = untyped.run((A.use(x), A.use(x)))
    left[0] = 7
    np.testing.assert_array_equal(right, x)
    np.testing.assert_array_equal(x, np.arange(5))


def test_constants_of_a_compiled_function_are_one_input_and_no_argument() -> None:
    x = np.arange(5)
    f: Any = untyped.runN(lambda xs: A.zipWith3(lambda a, b, c: a * 100 + b * 10 + c, xs, A.use(x), A.use(x)))
    np.testing.assert_array_equal(f(x), 111 * x)
    np.testing.assert_array_equal(f(x + 1), 100 * (x + 1) + 11 * x)


def test_other_memory_and_other_views_are_kept_apart() -> None:
    x = np.arange(4.0)
    m = np.arange(9.0).reshape(3, 3)
    for left, right in ((x, x.copy()), (x, x[::-1]), (m, m.T), (x[:3], x[1:]), (x, x.view(np.int64))):
        assert inputs(A.use(left), A.use(right)) == 2
    swapped = x.astype(">f8")  # each call converts it
    np.testing.assert_array_equal(untyped.run(A.zipWith(A.add, A.use(swapped), A.use(swapped))), x + x)


def test_pairs_are_the_same_if_their_arrays_are() -> None:
    x, y = np.arange(4.0), np.arange(4)
    assert inputs(A.use((x, y)), A.use((x, y))) == 1
    assert inputs(A.use((x, x)), A.use((x, y))) == 2
    left, right = untyped.run((A.use((x, y)), A.use((x, y))))
    np.testing.assert_array_equal(left, [x, y])
    np.testing.assert_array_equal(right, [x, y])


def test_errors_name_the_line_of_each() -> None:
    x, short = np.arange(5), np.arange(4)
    first = A.use(x)
    second = A.use(x)
    other = A.use(short)
    with pytest.raises(A.AccelShapeError) as caught:
        untyped.run((first, A.zipWith(A.add, second, other)))
    line = test_errors_name_the_line_of_each.__code__.co_firstlineno
    assert f":{line + 3}" in str(caught.value)
    assert f":{line + 4}" in str(caught.value)
    assert f":{line + 2}" not in str(caught.value)
