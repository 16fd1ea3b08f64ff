"""Rows whose columns share values, as CPU devices run them, against the interpreter."""

from __future__ import annotations

from math import prod
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.code.kernel import Strips
from accel.backends.opencl.program import PLAIN, translate
from accel.backends.protocol import HostArray
from accel.schedule.templates.choose import program_schedules
from tests.opencl.check import compiled_on, loops, same
from tests.opencl.platforms import each_platform, fresh

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time

BOUNDARIES = {
    "wrap": A.boundary.wrap,
    "clamp": A.boundary.clamp,
    "mirror": A.boundary.mirror,
    "constant": A.boundary.constant(3),
}


def grid(xs: Handle, shape: tuple[int, ...]) -> Handle:
    """Numbers in an array whose extents are known."""
    count = A.length(xs)
    every: Any = A.index(*shape)  # Any: of any rank
    return A.compute(A.generate(every, lambda ix: xs[A.toIndex(every, ix) % count]))


def across(n: Any, rank: int, k: int) -> Any:  # Any: a neighbourhood, an expression
    outer = [0] * (rank - 2)
    return n(*outer, -2, k) + n(*outer, -1, k) * 0.7 + n(*outer, 1, k) - n(*outer, 2, k)


def blurred(xs: Handle, shape: tuple[int, ...], boundary: str, far: int = 1) -> Handle:
    rank = len(shape)

    def point(n: Any, m: Any) -> Any:  # Any: neighbourhoods
        own = [0] * rank
        sums = across(n, rank, 0) - across(n, rank, -far) + across(n, rank, far) * 0.3
        return m(*own) - sums * n(*own)

    ys = grid(xs, shape)
    return A.stencil2(point, BOUNDARIES[boundary], ys, BOUNDARIES[boundary], ys)


def check(platform: str, shape: tuple[int, ...], boundary: str, kind: type, far: int = 1) -> None:
    data: HostArray = np.random.default_rng(1).normal(size=997).astype(kind)
    given: Any = data  # Any: `use` wants to know of what
    expected = A.run(blurred(A.use(given), shape, boundary, far), backend="interpreter")
    same(compiled_on(fresh(platform), lambda xs: blurred(xs, shape, boundary, far), data)((data,)), [expected])


def text(shape: tuple[int, ...], boundary: str = "wrap", kind: type = np.float64) -> str:
    data: HostArray = np.ones(5, kind)
    return str(A.explain(lambda xs: blurred(xs, shape, boundary), data, backend="opencl").stages["opencl"])


@each_platform
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_boundaries(platform: str, boundary: str) -> None:
    check(platform, (5, 30), boundary, np.float64)


@each_platform
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 10), (40, 31), (2, 700), (3, 4, 13), (2, 3, 2, 16)])
def test_shapes(platform: str, shape: tuple[int, ...], kind: type) -> None:
    check(platform, shape, "wrap", kind)


@each_platform
def test_columns_that_are_all_in_margins(platform: str) -> None:
    check(platform, (4, 12), "wrap", np.float64, far=4)
    check(platform, (4, 7), "wrap", np.float64, far=3)


def test_which_kernels_there_are() -> None:
    for shape, boundary, lines in (((5, 30), "wrap", True), ((5, 5000), "wrap", False), ((3, 5), "wrap", False)):
        assert ("lines(" in text(shape, boundary)) is lines, shape


@each_platform
def test_strips_where_lines_are_no_sums_and_products(platform: str) -> None:
    def program(xs: Handle) -> Handle:
        ys = grid(xs, (6, 40))
        return A.stencil(
            lambda n: A.max(across(n, 2, -1), n(0, 0)) - across(n, 2, 0) * across(n, 2, 1), A.boundary.wrap, ys
        )

    data: HostArray = np.random.default_rng(1).normal(size=997)
    given: Any = data  # Any: `use` wants to know of what
    expected = A.run(program(A.use(given)), backend="interpreter")
    same(compiled_on(fresh(platform), program, data)((data,)), [expected])
    stages = A.explain(program, data, backend="opencl").stages
    assert "lines f64[40]" in stages["schedule"]
    assert "_lines(" not in stages["opencl"]


def test_no_row_is_made_twice() -> None:
    shape = (64, 700)
    planned, _ = loops("greedy", [blurred(use(np.ones(5)), shape, "wrap")])
    found = translate(program_schedules(planned, PLAIN.machine), PLAIN)
    items = [each.items for nest in found.nests for each in nest.kernels if each.name.endswith("_lines")]
    assert [prod(each.value(lambda _: 5)[0]) for each in items if isinstance(each, Strips)] == [prod(shape[:-1])]


def test_a_row_in_lines() -> None:
    """Lines first, then the edges, then vectors of columns; no load of rows above and below but for the lines."""
    (kernel,) = [each for each in text((5, 30)).split("__kernel ") if "nest1_lines(" in each]
    made, edges, columns = kernel.split("for (long ")[1:]
    assert made.startswith("from = 0; from < 30; from += 4)")
    assert columns.startswith("from = 1; from < 29; from += 4)")
    assert "min(from, 26L)" in made
    assert "min(from, 25L)" in columns
    assert "edge < 2" in edges
    assert made.count("vload4(") == 4
    assert columns.count("vload4(") == 1 + 3
