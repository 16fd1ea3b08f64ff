"""Nests that visit the same rows in one kernel, as GPUs run them, forced on every platform: the bits of the reference, for rows
that fit into local memory, and one nest after the other for those that do not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.code.kernel import Amount
from accel.backends.opencl.loops.gpu.row_series import ROWS_BYTES, SeriesKernels
from accel.backends.opencl.program import Translation, translate
from accel.backends.protocol import HostArray, compiled
from accel.errors import AccelIndexError, AccelInternalError, AccelValueError
from accel.ir import mentions
from accel.ir.meaning.interpret import interpret
from accel.labelled.array import SizeVariable
from accel.schedule.machine import WorkItems
from accel.schedule.nodes import Role
from accel.schedule.templates.choose import program_schedules
from accel.schedule.templates.gpu.row_series import in_groups, in_row_groups
from accel.schedule.templates.series import verify_series
from accel.schedule.verify import verify
from tests.marks import one_in
from tests.opencl.check import loops, same
from tests.opencl.platforms import as_gpu, each_platform
from tests.opencl.programs import halving

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time
Rows: TypeAlias = Callable[[Handle], "tuple[Handle, ...]"]

GPU = WorkItems(gpu=True)


def along(of_rows: Handle, xs: Handle) -> Handle:
    *outer, columns = A.unlift(xs.shape)
    return A.replicate((*(A.All for _ in outer), columns), of_rows)


def softmax(xs: Handle) -> tuple[Handle, ...]:
    """With squares in place of exponentials, whose bits belong to devices."""
    powers = A.zipWith(lambda x, y: (x - y) * (x - y) + 1, xs, along(A.fold1(A.max, xs), xs))
    return (A.zipWith(A.div, powers, along(A.sum(powers), xs)),)


def normalised(xs: Handle) -> tuple[Handle, ...]:
    """Three folds and a map, and what the first two come to besides."""
    mean = A.map(lambda x: x * 0.125, A.sum(xs))
    centred = A.zipWith(A.sub, xs, along(mean, xs))
    deviation = A.map(lambda x: A.sqrt(x * 0.125), A.sum(A.map(lambda x: x * x, centred)))
    scaled = A.zipWith(A.div, centred, along(deviation, xs))
    return scaled, mean, A.fold(A.max, 0, scaled)


def kept_as_well(xs: Handle) -> tuple[Handle, ...]:
    """What one nest makes for the next is a result, too."""
    powers = A.zipWith(lambda x, y: x * y, xs, along(A.fold1(A.max, xs), xs))
    return powers, A.zipWith(A.div, powers, along(A.sum(powers), xs))


def in_runs(xs: Handle) -> tuple[Handle, ...]:
    """Folds that do not commute."""
    less = A.zipWith(A.sub, xs, along(A.fold(halving, 1, xs), xs))
    return (A.zipWith(A.mul, less, along(A.fold1(halving, less), xs)),)


PROGRAMS: dict[str, Rows] = {each.__name__: each for each in (softmax, normalised, kept_as_well, in_runs)}

SHAPES = [(5, 7), (1, 1), (3, 2), (9, 31), (5, 33), (300, 3), (6, 63), (5, 64), (4, 65), (5, 255), (3, 1023), (5, 1024),
          (2, 1025), (3, 2047), (3, 2048), (2, 2049), (2, 4095), (3, 4096), (2, 4097), (0, 5), (3, 0)]  # fmt: skip


def agrees(on: OpenCLBackend, program: Rows, xs: HostArray) -> Translation:
    """Run a program as on a GPU, and by the reference; gives its text."""
    planned, arguments = loops("greedy", program(use(xs)))
    same(compiled(on, planned)(arguments), interpret(planned, arguments))
    return translate(program_schedules(planned, on.machine), on.features)


def numbers(shape: tuple[int, ...], kind: type[np.floating[Any]]) -> HostArray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(kind)


@each_platform
@pytest.mark.parametrize("kind", one_in(2, (np.float32, np.float64)))
@pytest.mark.parametrize("shape", one_in(11, map(pytest.param, SHAPES)))
@pytest.mark.parametrize("name", one_in(3, PROGRAMS))
def test_bits_are_the_references(
    platform: str, name: str, shape: tuple[int, int], kind: type[np.floating[Any]]
) -> None:
    if shape[1] == 0 and name != "normalised":
        pytest.skip("a fold of nothing, which has no seed, is an error")
    found = agrees(as_gpu(platform), PROGRAMS[name], numbers(shape, kind))
    assert found.series


@each_platform
@pytest.mark.parametrize(
    "shape", one_in(3, map(pytest.param, [(2, 3, 70), (5, 1, 4096), (0, 3, 9), (3, 0, 9), (2, 2, 3, 33)]))
)
@pytest.mark.parametrize("name", one_in(2, PROGRAMS))
def test_rows_that_several_loops_number(platform: str, name: str, shape: tuple[int, ...]) -> None:
    """Each row has its place in a group's memory, whatever the loops are that it stands in."""
    found = agrees(as_gpu(platform), PROGRAMS[name], numbers(shape, np.float32))
    (series,) = found.series
    assert len(series.series.extents) == len(shape) - 1
    assert len(series.row) == 1
    assert series.local or name == "kept_as_well"


@each_platform
def test_what_reads_other_rows_stands_in_no_series(platform: str) -> None:
    """Those of the same number in the outermost loop alone: another group has them."""

    def program(xs: Handle) -> tuple[Handle, ...]:
        less = A.zipWith(A.sub, xs, along(A.fold1(A.max, xs), xs))
        _, rows, _ = A.unlift(xs.shape)

        def turned(ix: Any) -> Any:  # Any: an expression
            i, j, k = A.unindex(ix)
            return less[A.index(i, rows - 1 - j, k)]

        return less, A.sum(A.generate(xs.shape, turned))

    found = agrees(as_gpu(platform), program, numbers((2, 90, 64), np.float32))
    assert [len(each.series.nests) for each in found.series] == [2]


@each_platform
def test_rows_of_several_dimensions(platform: str) -> None:
    """One loop numbers them where folds visit two others, or where that is enough for maps."""

    def program(xs: Handle) -> tuple[Handle, ...]:
        _, rows, columns = A.unlift(xs.shape)
        most: Handle = A.fold(A.max, 0, A.fold(A.max, 0, xs))
        less: Handle = A.zipWith(A.sub, xs, A.replicate((A.All, rows, columns), most))
        return (A.zipWith(A.mul, less, A.replicate((A.All, rows, columns), A.sum(A.sum(less)))),)

    agrees(as_gpu(platform), program, numbers((5, 3, 20), np.float32))


def series_of(on: OpenCLBackend, program: Rows, kind: type[np.floating[Any]]) -> SeriesKernels:
    planned, _ = loops("greedy", program(use(numbers((3, 5), kind))))
    (found,) = translate(program_schedules(planned, on.machine), on.features).series
    return found


@each_platform
def test_what_is_passed_lies_where_rows_were(platform: str) -> None:
    """Elements are read before their own place is written to, so one memory serves both arrays."""
    found = series_of(as_gpu(platform), softmax, np.float32)
    (kernel,) = found.made.kernels
    assert "row0[4352]" in kernel.text
    assert "row1" not in kernel.text
    assert len(found.local) == 1
    assert found.local.isdisjoint(found.made.parameters.arrays)


@each_platform
def test_nests_wait_for_each_other(platform: str) -> None:
    """Devices whose work-items take turns between barriers would not show it."""
    found = series_of(as_gpu(platform), softmax, np.float32)
    (kernel,) = found.made.kernels
    assert kernel.text.count("CLK_GLOBAL_MEM_FENCE") == len(found.series.nests) == 3


@each_platform
@pytest.mark.parametrize(("name", "kind", "longest"), [("softmax", np.float32, 4096), ("softmax", np.float64, 2048),
                                                       ("kept_as_well", np.float32, 4096)])  # fmt: skip
def test_rows_fit(platform: str, name: str, kind: type[np.floating[Any]], longest: int) -> None:
    found = series_of(as_gpu(platform), PROGRAMS[name], kind)
    assert found.longest == longest
    assert longest * np.dtype(kind).itemsize <= ROWS_BYTES
    (kernel,) = found.made.kernels
    declared = re.findall(r"__local (long|float|double) \w+\[(\d+)\];", kernel.text)
    assert len(declared) == 2
    assert sum(int(count) * (4 if element == "float" else 8) for element, count in declared) <= 32 * 1024


@each_platform
def test_what_is_read_later_keeps_its_place(platform: str) -> None:
    """The row that was fetched is read once more by the last nest: what is passed lies beside it."""

    def program(xs: Handle) -> tuple[Handle, ...]:
        powers = A.zipWith(lambda x, y: (x - y) * (x - y) + 1, xs, along(A.fold1(A.max, xs), xs))
        return (A.zipWith3(lambda p, t, x: p / t - x, powers, along(A.sum(powers), xs), xs),)

    found = agrees(as_gpu(platform), program, numbers((5, 70), np.float32))
    assert "row1[2304]" in found.text


@each_platform
def test_rows_of_other_lengths_stand_in_no_series(platform: str) -> None:
    def program(xs: Handle, ys: Handle) -> tuple[Handle, ...]:
        less = A.zipWith(A.sub, xs, along(A.fold1(A.max, xs), xs))
        return A.zipWith(A.div, less, along(A.sum(less), xs)), A.zipWith(A.div, ys, along(A.sum(less), ys))

    on = as_gpu(platform)
    planned, arguments = loops("greedy", program(use(numbers((3, 9), np.float32)), use(numbers((3, 4), np.float32))))
    same(compiled(on, planned)(arguments), interpret(planned, arguments))
    series = program_schedules(planned, GPU).series
    lengths = [{in_groups(nest, GPU)[1] for nest in each.nests} for each in series]
    assert series
    assert all(len(each) == 1 for each in lengths)
    with pytest.raises(AccelInternalError, match="has rows of another length"):
        verify_series(replace(series[0], nests=tuple(mentions.nests(planned))), lambda nest, _: in_groups(nest, GPU))


def constantly(width: int) -> Callable[[SizeVariable], int]:
    return lambda variable: width


@each_platform
def test_work_items_of_all_rows_of_a_group_fit(platform: str) -> None:
    """A group has no more rows than its memory has room for, also apart from each other, and room for the lanes of each."""
    found = series_of(as_gpu(platform), softmax, np.float32)
    (kernel,) = found.made.kernels
    assert isinstance(kernel.items, Amount)
    for width in range(1, found.longest + 1):
        items = prod(sharing.value(constantly(width)) for sharing in kernel.items.times)
        assert min(width, 8) <= items <= 256
        assert 256 // items * (width | (items if items < 32 else 0)) <= found.longest + 256
        lanes = min(64, 1 << (width - 1).bit_length())
        assert 256 // items * (lanes + items if items < lanes else lanes) <= 32 * 72
    assert f"memory[{32 * 72 * 4 // 8}]" in kernel.text


@each_platform
@pytest.mark.parametrize(("columns", "together"), [(4096, True), (4097, False)])
def test_longer_rows_run_nest_by_nest(
    platform: str, columns: int, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyopencl

    names: list[str] = []
    launched = pyopencl.Kernel.__call__

    def named(kernel: pyopencl.Kernel, *given: Any) -> pyopencl.Event:  # Any: what the launcher gives
        names.append(kernel.function_name)
        return launched(kernel, *given)

    planned, arguments = loops("greedy", softmax(use(numbers((2, columns), np.float32))))
    run = compiled(as_gpu(platform), planned)
    monkeypatch.setattr(pyopencl.Kernel, "__call__", named)
    run(arguments)
    assert (names == ["series0_rows"]) == together
    assert ("series0_rows" in names) == together


@each_platform
def test_series_in_a_loop(platform: str) -> None:
    """Three turns of it: each finds what the one before has made."""

    def program(xs: Handle) -> tuple[Handle, ...]:
        start = A.unit(A.constant(0, np.int64)), xs
        turns = A.awhile(
            lambda s: A.map(lambda i: i < 3, s[0]), lambda s: (A.map(lambda i: i + 1, s[0]), softmax(s[1])[0]), start
        )
        return (turns[1],)

    assert agrees(as_gpu(platform), program, numbers((5, 70), np.float32)).series


@each_platform
def test_equal_series_are_one_kernel(platform: str) -> None:
    found = agrees(as_gpu(platform), lambda xs: softmax(A.compute(softmax(xs)[0])), numbers((5, 70), np.float32))
    first, second = found.series
    assert first.made.kernels[0].name == second.made.kernels[0].name
    assert found.text.count("void series") == 1


@each_platform
def test_checks_name_the_line(platform: str) -> None:
    """A row without elements, and an index that is out of bounds, in nests of a series."""

    def gathered(xs: Handle) -> tuple[Handle, ...]:
        less = A.zipWith(A.sub, xs, along(A.fold(A.max, 0, xs), xs))

        def further(ix: Any) -> Any:
            i, j = A.unindex(ix)
            return A.index(i, j + 1)

        return (A.backpermute(xs.shape, further, less),)

    with pytest.raises(AccelIndexError) as expected:
        interpret(*loops("greedy", gathered(use(numbers((2, 3), np.float32)))))
    with pytest.raises(AccelIndexError) as found:
        agrees(as_gpu(platform), gathered, numbers((2, 3), np.float32))
    assert str(found.value) == str(expected.value)
    with pytest.raises(AccelValueError):
        agrees(as_gpu(platform), softmax, numbers((2, 0), np.float32))


def test_the_schedules_of_its_nests_hold() -> None:
    """Each is derived by rules; nests of one loop, maps and folds are among them."""
    roles = set()
    for program in PROGRAMS.values():
        planned, _ = loops("greedy", program(use(numbers((3, 5), np.float32))))
        (series,) = program_schedules(planned, GPU).series
        for nest in series.nests:
            schedule = in_row_groups(nest, GPU, 1)
            assert schedule is not None
            verify(schedule)
            roles.add(schedule.axes[-1].role)
    assert roles == {Role.EXACT, Role.ORDERED, Role.PRODUCTS, Role.MAP}


def test_what_is_better_done_across_rows_stands_in_no_series() -> None:
    """A transpose is turned in blocks, before the series of what reads it."""
    planned, _ = loops("greedy", softmax(A.compute(A.transpose(use(numbers((3, 5), np.float32))))))
    (series,) = program_schedules(planned, GPU).series
    first, *others = mentions.nests(planned)
    assert series.nests == tuple(others)
    assert in_row_groups(first, GPU, 1) is None


def test_other_devices_have_none() -> None:
    planned, _ = loops("greedy", softmax(use(numbers((3, 5), np.float32))))
    assert not program_schedules(planned, WorkItems()).series
