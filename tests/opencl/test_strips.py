"""Maps in strips, as CPU devices run them, against the interpreter: boundaries, edges apart, folds of stencils."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.opencl.code.kernel import Choice, Strips
from accel.backends.protocol import HostArray
from accel.labelled.array import Extent, SizeVariable
from accel.schedule.gathers import Gathers, gathers
from accel.schedule.machine import WorkItems
from accel.schedule.nodes import Margin, Template
from accel.schedule.templates.choose import schedules
from tests.marks import one_in
from tests.opencl.check import compiled_on, same
from tests.opencl.platforms import each_platform, fresh
from tests.schedule import programs

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time

CPU = WorkItems()

N = SizeVariable(0)


def nest(function: Callable[..., object], *data: HostArray) -> Any:  # Any: the only nest, or a test fails
    (only,) = programs.lowered(function, *data).nests
    return only


def check(platform: str, function: Callable[..., Handle], *data: HostArray) -> None:
    arrays: list[Any] = [*data]  # Any: `use` wants to know of what
    expected = A.run(function(*map(A.use, arrays)), backend="interpreter")
    same(compiled_on(fresh(platform), function, *data)(data), [expected])


@pytest.mark.parametrize("columns", [*range(1, 40), 63, 64, 65, 255, 256, 257, 300, 511, 513, 1000, 1001])
@pytest.mark.parametrize("rows", [1, 3, 33])
def test_groups_cover_all_columns_and_rows_and_no_others(columns: int, rows: int) -> None:
    strips = Strips((Extent(N, -1),), (Extent(None, rows),), (Extent(None, 2),))
    items, groups = strips.value(lambda _: columns + 1)
    assert (items[2], groups[2]) == (2, 1)
    assert groups[0] * groups[1] <= 256
    for count, across, group, few in zip((columns, rows), items, groups, (strips.vector, 2), strict=False):
        assert across % group == 0
        begins = [min(number * group, count - group) for number in range(across // group)]
        assert begins[0] == 0
        assert {begin + item for begin in begins for item in range(group)} == set(range(count))
        assert across - count < few * len(begins), "few are visited twice"


def test_nothing_is_launched_for_no_columns_or_rows() -> None:
    for shape in ((0, 3, 2), (-1, 3, 2), (3, 0, 2), (3, 3, 0)):
        columns, rows, others = ((Extent(None, extent),) for extent in shape)
        assert 0 in Strips(columns, rows, others).value(lambda _: 0)[0]


def test_choices_that_never_hold_and_always() -> None:
    known, unknown = (Extent(None, 20),), (Extent(N, 0),)
    assert Choice(known, 21, below=False).never
    assert not Choice(known, 20, below=False).never
    assert Choice(known, 20, below=False).always
    assert not Choice(unknown, 21, below=False).never
    assert not Choice(unknown, 0, below=False).always


BOUNDARIES = {
    "wrap": A.boundary.wrap,
    "clamp": A.boundary.clamp,
    "mirror": A.boundary.mirror,
    "constant": A.boundary.constant(3),
}

SHAPES = [
    (5000,),
    (9, 3),
    (4, 300),
    (64, 70),
    (70, 64),
    (1, 4200),
    (300, 17),
    (9, 30, 40),
    (2, 3, 4, 257),
    (16, 16, 18),
]


@each_platform
@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("shape", one_in(5, map(pytest.param, SHAPES), kept=2))
def test_stencils(platform: str, shape: tuple[int, ...], boundary: str) -> None:
    data = np.random.default_rng(1).normal(size=shape)
    rank = len(shape)

    def point(n: Any) -> Any:  # Any: a neighbourhood of some rank
        ahead, behind = ([step] * rank for step in (1, -1))
        return n(*ahead) * 2 - n(*behind) + n(*[0] * (rank - 1), 2) * 3

    check(platform, lambda xs: A.stencil(point, BOUNDARIES[boundary], xs), data)


@each_platform
@pytest.mark.parametrize("shape", [(70, 80), (5, 900), (4, 20)])
def test_branches_at_edges_of_rows_and_columns(platform: str, shape: tuple[int, int]) -> None:
    """Loads beyond the ends stand in branches, so that the margins of rows are needed, too."""
    data = np.random.default_rng(2).normal(size=shape).astype(np.float32)

    def function(xs: Handle) -> Handle:
        rows, columns = A.unlift(xs.shape)

        def point(ix: Any) -> Any:  # Any: an index
            i, j = A.unindex(ix)
            inner = (i > 0) & (i < rows - 2) & (j > 1) & (j < columns - 1)
            return A.cond(inner, xs[i - 1, j] + xs[i + 2, j] + xs[i, j - 2] + xs[i, j + 1], xs[ix])

        return A.generate(xs.shape, point)

    first = schedules(nest(function, data), CPU).ways[0].schedule
    assert first.template is Template.STRIPS
    assert first.inside == (Margin(0, 1, 2), Margin(1, 2, 1))
    check(platform, function, data)


@each_platform
def test_every_second_element_needs_no_checks_within(platform: str) -> None:
    """Indices that are multiplied or halved are proved to be in bounds where the condition at the edge is decided."""
    data = np.random.default_rng(3).normal(size=16)

    def grid(xs: Handle) -> Handle:
        return A.compute(
            A.generate((16, 1024), lambda ix: xs[A.unindex(ix)[0]] * A.toFloating(A.unindex(ix)[1], np.float64))
        )

    def doubled(xs: Handle) -> Handle:
        ys = grid(xs)

        def point(ix: Any) -> Any:  # Any: an index
            i, j = A.unindex(ix)
            return ys[i, j * 2] + ys[i, A.cond(j == 511, 0, j * 2 + 2)]

        return A.generate((16, 512), point)

    def halved(xs: Handle) -> Handle:
        ys = grid(xs)

        def point(ix: Any) -> Any:  # Any: an index
            i, j = A.unindex(ix)
            return ys[i, A.cond(j == 0, 1023, (j - 1) >> 1)] - ys[i, j >> 1]

        return A.generate((16, 2048), point)

    for function in (doubled, halved):
        check(platform, function, data)
        text = str(A.explain(function, data, backend="opencl").stages["opencl"])
        (strips,) = [kernel for kernel in text.split("__kernel ") if "nest1_strips" in kernel]
        assert "inside" not in strips


@each_platform
@pytest.mark.parametrize("shape", [(70, 80), (3, 5, 300), (2, 3)])
def test_folds_of_stencils_are_two_nests(platform: str, shape: tuple[int, ...]) -> None:
    data = np.random.default_rng(4).normal(size=shape).astype(np.float32)

    def point(n: Any) -> Any:  # Any: a neighbourhood of some rank
        last = [0] * (len(shape) - 1)
        return n(*last, -1) + n(*last, 1)

    def function(xs: Handle) -> Handle:
        sums = A.stencil(point, A.boundary.wrap, xs)
        return A.foldAll(A.add, 1, A.map(lambda x: x * x, sums))

    (way,) = schedules(nest(function, data), CPU).ways
    assert [each.template for each in way.schedules][:1] == [Template.STRIPS]
    assert Template.GROUPS in [each.template for each in way.schedules]
    check(platform, function, data)


def test_indices_out_of_bounds_are_errors_also_at_edges() -> None:
    places = np.tile(np.arange(100), (50, 1))
    places[7, 0] = 100

    def function(xs: Handle, places: Handle) -> Handle:
        def point(ix: Any) -> Any:  # Any: an index
            i, j = A.unindex(ix)
            return xs[places[i, A.max(j - 1, 0)]] + xs[places[i, A.min(j + 1, 99)]]

        return A.generate((50, 100), point)

    with pytest.raises(A.AccelIndexError, match="100"):
        A.run(function(A.use(np.ones(100)), A.use(places)), backend="opencl")


def test_loads_that_lie_apart_are_counted() -> None:
    data = np.ones((8, 100))
    assert gathers(nest(lambda xs: A.map(lambda x: x * 2, xs), data)) == Gathers(0, 1)
    near = nest(lambda xs: A.imap(lambda ix, x: x + xs[A.unindex(ix)[0], 99 - A.unindex(ix)[1]], xs), data)
    assert gathers(near).apart == 0
    far = nest(
        lambda xs: A.generate((50,), lambda ix: xs[0, 2 * A.unindex(ix)[0]] + xs[A.unindex(ix)[0] // 8, 3]), data
    )
    assert gathers(far) == Gathers(2, 1)
    assert gathers(nest(lambda xs: A.generate((50,), lambda ix: xs[3, 7]), data)).apart == 0
