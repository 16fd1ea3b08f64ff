"""Positions of 32 and of 64 bits on GPUs: which of them a launch takes, and the bits of the reference with both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.machine.features import NARROW_POSITIONS
from accel.backends.opencl.machine.positions import is_narrow
from accel.backends.opencl.program import PLAIN, opencl_text, translate, unit
from accel.backends.protocol import HostArray, compiled
from accel.errors import AccelIndexError
from accel.ir.meaning.interpret import interpret
from accel.labelled.array import Extent, SizeVariable
from accel.schedule.templates.choose import program_schedules
from accel.support.choices import STRATEGIES
from tests.differential import subjects
from tests.differential.check import check_opencl
from tests.marks import one_in
from tests.opencl.check import loops, on_device, same
from tests.opencl.platforms import as_gpu, each_platform
from tests.opencl.programs import ALL
from tests.untyped import accel as U

GPU = replace(PLAIN, gpu=True, narrow_positions=NARROW_POSITIONS)

LIMIT = 1 << 10
"""Up to which kernels count in 32 bits, in these tests."""


@pytest.fixture
def built() -> list[str]:
    """Which programs have been built: `narrow` ones, and `wide` ones."""
    return []


def limited(platform: str, limit: int, built: list[str] | None = None) -> OpenCLBackend:
    """A device that is taken for a GPU whose kernels count so far in 32 bits."""
    on = as_gpu(platform)
    on.features = replace(on.features, narrow_positions=limit)
    original = on.build

    def build(text: str) -> Any:
        if built is not None:
            built.append("narrow" if "typedef int position_t;" in text else "wide")
        return original(text)

    on.build = build  # type: ignore[method-assign]  # what is built is counted
    return on


def hashed(xs: A.Acc[A.Matrix[np.float32]]) -> Any:
    """What a program computes with indices has 64 bits; and sums of rows."""

    def number(ix: A.Exp[tuple[int, int]]) -> A.Exp[np.int64]:
        return (ix[0] * 1000003 + ix[1]) * 1000003 % 777777777777

    wide = A.generate(xs.shape, number)
    return A.zipWith(lambda x, k: x * A.toFloating(k, np.float32), A.transpose(A.transpose(xs)), wide)


def test_both_programs_are_one_text(golden: Callable[[str], None]) -> None:
    planned, _ = loops("greedy", [hashed(A.use(np.ones((3, 4), np.float32)))])
    scheduled = program_schedules(planned, GPU.machine)
    narrow = opencl_text(scheduled, GPU)
    golden(narrow)
    wide = unit([translate(scheduled, GPU).text], GPU)
    assert wide == narrow.replace("typedef int position_t;", "typedef long position_t;") != narrow


def test_cpus_know_nothing_of_positions() -> None:
    planned, _ = loops("greedy", [hashed(A.use(np.ones((3, 4), np.float32)))])
    text = opencl_text(program_schedules(planned, PLAIN.machine))
    assert "_t" not in text.replace("size_t", "")


def test_what_is_narrow() -> None:
    first, second = SizeVariable(0), SizeVariable(1)
    sizes = {first: 10, second: 100}.__getitem__
    matrix = (Extent(first, 0), Extent(second, 1))
    for limit, expected in ((1010, True), (1009, False)):
        features = replace(GPU, narrow_positions=limit)
        assert is_narrow([matrix, (Extent(None, 7),)], [3], sizes, features) is expected
        assert is_narrow([], [3, 1010], sizes, features) is expected
        assert not is_narrow([matrix], [3], sizes, replace(features, narrow_positions=None))


def pairs(size: int) -> HostArray:
    return np.arange(2 * size, dtype=np.float32).reshape(2, size)


def numbers(size: int) -> HostArray:
    return np.arange(size, dtype=np.int64) * 3 % 1000


def ones(_: int) -> HostArray:
    return np.arange(9, dtype=np.int64)


def product(ix: A.Exp[tuple[int, int]]) -> A.Exp[np.int64]:
    return ix[0] * ix[1]


def weighed(ix: A.Exp[tuple[int, int]]) -> A.Exp[np.int64]:
    return ix[0] * 7 + ix[1]


def total(ix: A.Exp[tuple[int, int]]) -> A.Exp[np.int64]:
    return ix[0] + ix[1]


def histogram(xs: Any) -> Any:
    places = A.generate((9,), lambda ix: A.lift(ix[0] * 100, ix[0]))
    return A.scatterWith(A.add, A.fill((A.length(xs),), A.constant(0, np.int64)), places)


COUNTED: dict[str, tuple[Callable[[Any], Any], Callable[[int], HostArray], int, int]] = {
    "elements of an array that is read here and there": (
        lambda xs: A.generate((9,), lambda ix: xs[A.index(ix[0] * 100)]), numbers, LIMIT, LIMIT + 1,
    ),
    "elements of rows": (lambda xs: A.generate((9,), lambda ix: xs[A.index(1, ix[0])]), pairs, LIMIT // 2, LIMIT // 2 + 1),
    "iterations of a fold without arrays": (
        lambda xs: A.foldAll(A.add, 0, A.generate((A.length(xs), 8), product)), numbers, 128, 129,
    ),
    "work-items of short rows": (
        lambda xs: A.fold(A.add, 0, A.generate((A.length(xs), 60), weighed)), numbers, 128, 129,
    ),
    "elements that a filter may keep": (
        lambda xs: A.filter(lambda x: x < 10, A.generate((A.length(xs), 4), total))[0],
        numbers, LIMIT // 4, LIMIT // 4 + 1,
    ),
    "places of a histogram": (histogram, numbers, LIMIT, LIMIT + 1),
    "elements of a scan": (lambda xs: A.scanl(A.add, 0, xs), numbers, LIMIT // 2, LIMIT + 1),
}  # fmt: skip
"""What is counted: a program, its argument by its size, a size that is narrow and one that is not."""


@each_platform
@pytest.mark.parametrize("what", COUNTED)
def test_the_wide_program_is_built_where_sizes_demand_it(platform: str, what: str, built: list[str]) -> None:
    program, argument, small, large = COUNTED[what]
    planned, _ = loops("greedy", [program(A.use(argument(small)))])
    executable = compiled(limited(platform, LIMIT, built), planned)
    assert built == []
    for size, expected in ((small, ["narrow"]), (large, ["narrow", "wide"]), (small, ["narrow", "wide"])):
        data = [argument(size)]
        same(executable(data), interpret(planned, data))
        assert built == expected


@each_platform
@pytest.mark.parametrize("limit", [1 << 30, 0])
def test_numbers_of_the_program_have_64_bits(platform: str, limit: int) -> None:
    data = np.random.default_rng(1).normal(size=(70, 50)).astype(np.float32)
    planned, arguments = loops("greedy", [hashed(A.use(data))])
    same(compiled(limited(platform, limit), planned)(arguments), interpret(planned, arguments))


@each_platform
@pytest.mark.parametrize("limit", [1 << 30, 0])
def test_an_index_is_not_cut_off_before_it_is_checked(platform: str, limit: int) -> None:
    """The lower half of each of them is an index that is there."""
    xs, where = A.use(np.arange(10)), A.use(np.array([1, 3, (1 << 32) + 2]))
    for program in (
        U.gather(where, xs),
        U.map(lambda i: xs[U.index(i)], where),
        U.scatterWith(U.add, xs, U.zip(where, where)),
    ):
        planned, arguments = loops("greedy", [program])
        with pytest.raises(AccelIndexError, match="4294967298"):
            compiled(limited(platform, limit), planned)(arguments)


@each_platform
def test_turns_of_a_loop_grow_wide(platform: str, built: list[str]) -> None:
    xs = A.use(np.arange(5))
    grown = A.awhile(lambda s: A.unit(A.length(s) < 3000), lambda s: A.append(A.map(lambda x: x + 1, s), s), xs)
    planned, arguments = loops("greedy", [grown])
    same(compiled(limited(platform, LIMIT, built), planned)(arguments), interpret(planned, arguments))
    assert built == ["narrow", "wide"]


@each_platform
@pytest.mark.parametrize("limit", [1 << 30, 0])
@pytest.mark.parametrize("folds", [True, False])
def test_lengths_that_are_found_out(platform: str, limit: int, folds: bool) -> None:
    """Of segments, whose loops are no longer than what they divide; and of what each element expands to, which has no bound.

    Folds and scans apart: of both in one loop a pass of Intel's compiler for barriers ends the process (docs/opencl.md).
    """
    lengths = A.use(np.array([3, 0, 70, 1], np.int64))
    values = A.use(np.arange(74, dtype=np.float32))
    results: list[A.Acc[Any]] = [
        A.foldSeg(A.add, 0, values, lengths) if folds else A.scanlSeg(A.add, 0, values, lengths),
        A.expand(lambda x: x, lambda x, i: x * i, lengths),
    ]
    planned, arguments = loops("greedy", results)
    same(compiled(limited(platform, limit), planned)(arguments), interpret(planned, arguments))


@each_platform
@pytest.mark.parametrize("name", one_in(20, ALL, kept=3))
def test_bits_are_the_references(platform: str, name: str) -> None:
    """In 64 bits: all other tests of GPUs' schedules count in 32."""
    on_device(limited(platform, 0), name)


@pytest.mark.solver
@each_platform
@pytest.mark.parametrize("first", one_in(20, range(40), kept=20))
def test_both_in_one_program(platform: str, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random programs, of whose nests some count as far as that and others do not."""
    on = limited(platform, 300)
    monkeypatch.setattr(subjects, "on_device", lambda _: on)
    strategy = STRATEGIES[first % len(STRATEGIES)]
    assert next(check_opencl(range(first, first + 1), [strategy], device="gpu"), None) is None
