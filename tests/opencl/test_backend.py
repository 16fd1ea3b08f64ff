"""How nests run, what the text holds, and that one executable serves many callers."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.code.writer import SCALAR_LOOP
from accel.backends.opencl.machine.features import Features
from accel.backends.opencl.machine.sizes import size_class
from accel.backends.opencl.program import PLAIN, opencl_text, translate
from accel.backends.protocol import compiled
from accel.ir.nodes import Program
from accel.schedule.nodes import Kind, Template
from accel.schedule.templates.choose import program_schedules
from tests.opencl.check import loops, same
from tests.opencl.platforms import backend, each_platform
from tests.opencl.programs import ALL, FILTERS, FOLDS, MAPS, SCANS, SCATTERS, Case, floats, halving


def schedules(case: Case, features: Features = PLAIN) -> list[str]:
    planned, _ = loops("greedy", case.program(*map(use, case.data(100))))
    return [made.schedule for made in translate(program_schedules(planned, features.machine), features).nests]


def text_of(planned: Program) -> str:
    return opencl_text(program_schedules(planned, PLAIN.machine))


@pytest.mark.parametrize("name", FOLDS)
def test_folds_run_in_lanes(name: str) -> None:
    assert "a work-group per block of a fold" in schedules(FOLDS[name])


@pytest.mark.parametrize("name", ["fold_rows", "fold_long_rows", "fold_columns", "several_per_row"])
def test_rows_fold_in_groups_on_a_gpu(name: str) -> None:
    assert "one work-item per index" in schedules(MAPS[name])
    columns, rows = "a work-group for a block of some columns", "some rows in a work-group, or some blocks of a row"
    assert (columns if name == "fold_columns" else rows) in schedules(MAPS[name], replace(PLAIN, gpu=True))


@pytest.mark.parametrize("name", SCANS)
def test_scans_run_in_chain(name: str) -> None:
    assert "blocks in chain" in schedules(SCANS[name])


@pytest.mark.parametrize("name", ["filter", "filter_rows", "filter_of_scan", "filter_of_filter"])
def test_filters_run_in_chain(name: str) -> None:
    assert schedules(FILTERS[name]) == ["blocks in chain"]


@pytest.mark.parametrize("name", ["histogram", "histogram_i32", "histogram_i8", "greatest_f32", "bools"])
def test_exact_scatters_use_atomics(name: str) -> None:
    assert set(schedules(SCATTERS[name])) <= {"one work-item per index", "a work-group for a strip of a row"}
    assert schedules(SCATTERS[name])[-1] == "one work-item per index"


@pytest.mark.parametrize("name", ["sums_f32", "last_wins"])
def test_scatters_whose_order_shows_keep_it(name: str) -> None:
    assert schedules(SCATTERS[name])[-1] == "one work-item"


@pytest.mark.parametrize("name", ALL)
def test_kernels_are_what_is_scheduled(name: str) -> None:
    """Those of folds have the lanes of their slices, those of totals the rounds of scans."""
    planned, _ = loops("greedy", ALL[name].program(*map(use, ALL[name].data(100))))
    scheduled = program_schedules(planned, PLAIN.machine)
    for made, nest in zip(translate(scheduled, PLAIN).nests, scheduled.nests, strict=True):
        way, templates = nest.ways[0], [each.template for each in nest.schedules]
        purposes = [re.sub(r"nest\d+_", "", kernel.name).rstrip("0123456789") for kernel in made.kernels]
        folds = [each for each in way.schedules if each.template is Template.GROUPS]
        lanes = [piece.size for each in folds for piece in each.pieces if piece.kind is Kind.ITEM]
        assert [kernel.group for kernel, what in zip(made.kernels, purposes, strict=True) if what == "fold"] == lanes
        assert purposes.count("totals") == purposes.count("carry") == len(way.schedules[0].rounds)
        assert ("sequential" in purposes) == (way.schedules[0].template is Template.LITERAL)
        assert ("map" in purposes) == (Template.ITEMS in templates)
        assert ("strips" in purposes) == (Template.STRIPS in templates)
        assert ("patches" in purposes) == (Template.PATCHES in templates)


def test_the_dot_products_text(golden: Callable[[str], None]) -> None:
    golden(text_of(loops("greedy", ALL["fold-dot_product"].program(*map(use, floats(10))))[0]))


def test_texts_do_not_depend_on_the_process() -> None:
    case = ALL["fold-several_kinds"]
    first, second = (text_of(loops("greedy", case.program(*map(use, case.data(9))))[0]) for _ in range(2))
    assert first == second


def test_nothing_that_the_user_wrote_is_in_the_text() -> None:
    hostile = 'evil */ " \\ \n __kernel name'
    functions: dict[str, Callable[[A.Acc[A.Vector[np.float32]]], A.Acc[A.Scalar[np.float32]]]] = {}
    code = "def f(xs):\n    return A.fold(lambda malicious, named: malicious + named, 0, xs)"
    exec(compile(code, hostile, "exec"), {"A": A}, functions)
    text = text_of(loops("greedy", (functions["f"](A.use(np.ones(3, np.float32))),))[0])
    for word in ("evil", "malicious", "named", "lambda"):
        assert word not in text
    comments = [line for line in text.splitlines() if line.startswith("//")]
    assert comments == ["// nest0: a work-group per block of a fold"]
    assert not re.search(r"[\"\\']|/\*|//", text.replace(comments[0], ""))


@each_platform
def test_one_executable_serves_many_threads(platform: str) -> None:
    xs = A.use(np.zeros(1, np.float32))
    planned, _ = loops("greedy", (A.scanl(A.add, 0, xs), A.fold(halving, 0, xs), A.map(lambda x: x * 2, xs)))
    executable = compiled(backend(platform), planned)
    inputs = [np.full(1000 + 500 * k, k, np.float32) for k in range(8)]
    alone = [executable([x]) for x in inputs]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for got, wanted in zip(pool.map(lambda x: executable([x]), inputs), alone, strict=True):
                same(got, wanted)


@each_platform
def test_buffers_are_used_again(platform: str) -> None:
    memory = backend(platform).memory
    first = memory.take(100_000)
    address = first.buffer
    del first
    assert memory.take(100_000 - 64).buffer is address


@each_platform
def test_inputs_of_any_strides_are_not_written(platform: str) -> None:
    planned, _ = loops("greedy", (A.map(lambda x: x + 1, A.use(np.zeros((2, 2)))),))
    executable = compiled(backend(platform), planned)
    whole = np.arange(48.0).reshape(6, 8)
    for part in (whole[::2, 1::3], whole.T, whole[::-1, ::-1], whole[:0], np.broadcast_to(whole[0], (4, 8))):
        part.flags.writeable = False
        same(executable([part]), [part + 1])
    np.testing.assert_array_equal(whole, np.arange(48.0).reshape(6, 8))


def test_size_classes_waste_at_most_an_eighth() -> None:
    assert size_class(0) == size_class(64) == 64
    for size in range(64, 100_000, 37):
        assert size <= size_class(size) <= size + max(size // 8, 64)
        assert size_class(size_class(size)) == size_class(size)


def test_equal_nests_share_a_kernel() -> None:
    xs = A.use(np.ones(10, np.float32))
    for _ in range(20):
        xs = A.compute(A.map(lambda x: x * 1.5 + 1, xs))
    planned, _ = loops("none", (xs, A.fold(A.add, 0, xs), A.fold(A.add, 2, A.compute(A.map(lambda x: x - 1, xs)))))
    found = translate(program_schedules(planned, PLAIN.machine), PLAIN)
    text = found.text
    assert len(found.nests) >= 23
    assert text.count("__kernel") == 2 + 2 + 2  # two maps, the blocks of both folds, two joins
    assert text.count("typedef struct") == 1


@pytest.mark.parametrize("name", ALL)
def test_no_loop_is_left_to_the_loop_vectoriser(name: str) -> None:
    case = ALL[name]
    text = text_of(loops("greedy", case.program(*map(use, case.data(100))))[0])
    before = ["", *text.splitlines()]
    heads = [
        number for number, line in enumerate(before) if line.lstrip().startswith("for (") and "rest >>= 1" not in line
    ]
    assert all(before[number - 1].startswith(SCALAR_LOOP) for number in heads)
