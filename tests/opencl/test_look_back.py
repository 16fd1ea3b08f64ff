"""Filters in one pass, as on GPUs whose groups go on while others wait: the same results, whoever waits for whom."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.loops.gpu.chains import look_back
from accel.backends.opencl.program import opencl_text
from accel.backends.protocol import HostArray, compiled
from accel.ir.meaning.interpret import interpret
from accel.schedule.templates.choose import program_schedules
from tests.marks import one_in
from tests.opencl.check import loops, same
from tests.opencl.platforms import as_gpu, each_platform

if TYPE_CHECKING:
    import pyopencl

PATIENCE = pytest.mark.parametrize("spins", [look_back.SPINS, 0])
"""Words are asked for, or never found: then each group counts all blocks before its own."""


def looking_back(platform: str) -> OpenCLBackend:
    on = as_gpu(platform)
    on.features = replace(on.features, look_back=True)
    return on


def runs(on: OpenCLBackend, program: Any, *arrays: HostArray) -> tuple[list[HostArray], str]:
    """Its results, twice in the same memory, and its text."""
    planned, arguments = loops("greedy", program(*map(use, arrays)))
    executable = compiled(on, planned)
    first = [np.array(each) for each in executable(arguments)]
    same(executable(arguments), first)
    return first, opencl_text(program_schedules(planned, on.machine), on.features)


@each_platform
@PATIENCE
@pytest.mark.parametrize("size", one_in(3, (4096 * 9 + 5, 0, 1, 4096, 4097)))
def test_filters(platform: str, size: int, spins: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_back, "SPINS", spins)
    xs = np.random.default_rng(size).standard_normal(size)
    (found, count), text = runs(looking_back(platform), lambda xs: A.filter(lambda x: x > 0, xs), xs)
    assert "looks back" in text
    np.testing.assert_array_equal(found, xs[xs > 0])
    assert count == (xs > 0).sum()


@each_platform
@pytest.mark.parametrize("quiet", [False, True])
def test_more_blocks_than_a_group_asks_for_at_once(platform: str, quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if no group but the first says what all up to its block come to (`quiet`)."""
    original = OpenCLBackend.build

    def build(self: OpenCLBackend, text: str) -> pyopencl.Program:
        said = re.compile(r"if \(lane == 0 && block\) atom_xchg.*")
        assert said.search(text)
        return original(self, said.sub("", text))

    if quiet:
        monkeypatch.setattr(OpenCLBackend, "build", build)
    xs = np.arange(4096 * 300 + 77, dtype=np.int32)
    (found, _), _ = runs(looking_back(platform), lambda xs: A.filter(lambda x: x % 3 != 1, xs), xs)
    np.testing.assert_array_equal(found, xs[xs % 3 != 1])


@each_platform
@PATIENCE
def test_filters_beside_folds(platform: str, spins: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of all elements, and those of what is kept; several loops are one."""
    monkeypatch.setattr(look_back, "SPINS", spins)

    def program(xs: A.Acc[Any]) -> Any:
        some = A.filter(lambda x: x > 10, A.flatten(xs))[0]
        return some, A.fold(A.add, 0, some), A.fold1(A.max, A.flatten(xs))

    xs = np.random.default_rng(5).integers(0, 100, (30, 413))
    planned, arguments = loops("greedy", program(use(xs)))
    found, text = runs(looking_back(platform), program, xs)
    assert "looks back" in text
    same(found, interpret(planned, arguments))


@each_platform
def test_counts_alone_ask_for_nothing(platform: str) -> None:
    """Where nobody wants to know what stands before an element, groups have nothing to look back for."""
    xs = np.arange(9000) % 7
    (count,), text = runs(looking_back(platform), lambda xs: (A.filter(lambda x: x > 2, xs)[1],), xs)
    assert "looks back" not in text
    assert count == (xs > 2).sum()


@each_platform
def test_scans_take_three_passes(platform: str) -> None:
    """Blocks that are not tallied as a whole know too late what they come to."""
    _, text = runs(
        looking_back(platform), lambda xs: (A.scanl1(A.add, xs), A.filter(lambda x: x > 0, xs)[0]), np.arange(9)
    )
    assert "looks back" not in text
