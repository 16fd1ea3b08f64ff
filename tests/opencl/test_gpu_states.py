"""What groups of a GPU do with scans, filters and scatters, on every platform as if it were one: the bits of the reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.loops.gpu import block_groups, copies
from accel.backends.opencl.loops.gpu.radix import VALUES
from accel.backends.opencl.program import PLAIN, opencl_text, translate
from accel.backends.protocol import HostArray, compiled
from accel.ir.meaning.interpret import interpret
from accel.schedule.machine import WorkItems
from accel.schedule.templates.choose import program_schedules
from tests.marks import one_in
from tests.opencl.check import loops, on_device, same
from tests.opencl.platforms import as_gpu, each_platform
from tests.opencl.programs import ALL, halving


@each_platform
@pytest.mark.parametrize("name", one_in(16, ALL, kept=8))
def test_bits_are_the_references(platform: str, name: str) -> None:
    on_device(as_gpu(platform), name)


def agrees(on: OpenCLBackend, program: Callable[..., Any], *arrays: HostArray) -> str:
    """Run a program of some arrays as on a GPU, and by the reference; gives its text."""
    planned, arguments = loops("greedy", program(*map(use, arrays)))
    same(compiled(on, planned)(arguments), interpret(planned, arguments))
    return opencl_text(program_schedules(planned, on.machine), on.features)


def counted(kind: type[np.number[Any]], targets: int) -> Callable[..., Any]:
    """How often each of so many places occurs."""

    def program(places: A.Acc[Any]) -> Any:
        zeros = A.fill((targets,), A.constant(0, kind))
        return (
            A.permute(
                A.add, zeros, lambda ix: A.just(A.index(places[ix])), A.map(lambda _: A.constant(1, kind), places)
            ),
        )

    return program


@each_platform
@pytest.mark.parametrize(("kind", "targets"), [(np.int32, 8192), (np.int32, 8193), (np.int64, 4096), (np.int8, 8191)])
def test_copies_are_taken_where_they_fit(platform: str, kind: type[np.number[Any]], targets: int) -> None:
    """The first and the last place are hit, on both sides of what fits."""
    places = np.random.default_rng(targets).integers(0, targets, 20_000)
    places[:2] = 0, targets - 1
    text = agrees(as_gpu(platform), counted(kind, targets), places)
    assert ("_copies(" in text) == (targets * max(np.dtype(kind).itemsize, 4) <= copies.MOST_BYTES)
    assert copies.MOST_BYTES == 4 * 8192 == 8 * 4096


@pytest.mark.parametrize(
    ("kind", "targets", "fit"),
    [(np.int32, 8192, True), (np.int32, 8193, False), (np.int64, 4096, True), (np.int64, 4097, False)],
)
def test_targets_that_do_not_fit_have_no_copies(kind: type[np.number[Any]], targets: int, fit: bool) -> None:
    """Either the kernel with copies is launched or the other: a copy has no place for one target more."""
    planned, _ = loops("greedy", counted(kind, targets)(use(np.zeros(9, np.int64))))
    every = translate(program_schedules(planned, WorkItems(gpu=True)), replace(PLAIN, gpu=True)).nests
    (made,) = (each for each in every if any(kernel.when for kernel in each.kernels))
    launched = [k.name.rpartition("_")[2] for k in made.kernels if k.when and k.runs(lambda _: 9)]
    assert launched == (["copies"] if fit else ["map"])


@each_platform
def test_copies_of_pairs(platform: str) -> None:
    """Sums of one component and greatest elements of another, in two copies."""

    def program(places: A.Acc[Any], xs: A.Acc[Any]) -> Any:
        zeros = A.zip(A.fill((50,), A.constant(0, np.int64)), A.fill((50,), A.constant(-9.0, np.float32)))
        ys = A.map(lambda x: A.fromIntegral(x, np.float32), xs)

        def both(new: Any, old: Any) -> Any:
            return A.lift(A.fst(new) + A.fst(old), A.max(A.snd(new), A.snd(old)))

        return A.unzip(A.permute(both, zeros, lambda ix: A.just(A.index(places[ix])), A.zip(xs, ys)))

    draw = np.random.default_rng(5)
    assert "_copies(" in agrees(as_gpu(platform), program, draw.integers(0, 50, 9000), draw.integers(-99, 99, 9000))


def every_kind(xs: A.Acc[Any]) -> Any:
    """Scans in an order, exact ones and such as commute with nothing, and folds of each."""
    sums, greatest = A.scanl1(A.add, xs), A.scanl1(A.max, xs)
    return (
        A.zipWith(lambda s, g: s - g, sums, greatest),
        A.scanl1(halving, sums),
        A.fold(A.add, 0, sums),
        A.fold(halving, 0, greatest),
        A.fold(A.max, -9, sums),
    )


@each_platform
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("size", one_in(4, (1023, 1024, 1025, 4095, 4096, 4097, 8193)))
def test_scans_of_every_kind_in_one_loop(platform: str, size: int, together: bool) -> None:
    """In the stretches of one block; what work-items bring lies beside what their neighbours bring, or together."""
    on = as_gpu(platform)
    on.features = replace(on.features, together=together)
    xs = np.random.default_rng(size).standard_normal(size).astype(np.float32)
    text = agrees(on, every_kind, xs)
    assert "each scanned by a work-group" in text
    assert ("int at = lane * 8" in text) == together


@each_platform
@pytest.mark.parametrize("least", [-9.0, 0.0, 0.99, 9.0])
@pytest.mark.parametrize("size", one_in(9, (12_289, 0, 1, 7, 9, 1023, 4095, 4096, 4097), kept=4))
def test_tallies(platform: str, size: int, least: float) -> None:
    """All of a block counts, half, few or none; alone, and beside scans, which come in shorter stretches."""
    xs = np.random.default_rng(size).random(size).astype(np.float32)

    def kept(xs: A.Acc[Any]) -> Any:
        return A.filter(lambda x: x > least, xs)[0]

    for together in (False, True):
        on = as_gpu(platform)
        on.features = replace(on.features, together=together)
        text = agrees(on, lambda xs: (kept(xs),), xs)
        assert "ulong eights0[512]" in text, "4096 bytes"
        assert "int at = lane * 8" not in text, "what is left out would be guessed"
        text = agrees(on, lambda xs: (kept(xs), A.scanl1(A.add, xs), A.filter(lambda x: x < 0.5, xs)[0]), xs)
        assert "ulong eights" in text
        assert "[512]" not in text


@each_platform
@pytest.mark.parametrize("size", one_in(2, (4096 + 13, 3, 8, 1024 + 1)))
def test_totals_where_nothing_is_neutral(platform: str, size: int) -> None:
    """What stands behind the last element comes of a vector that is not full."""
    xs = np.random.default_rng(size).standard_normal(size).astype(np.float32)
    agrees(as_gpu(platform), lambda xs: A.scanlTotal(halving, 1, xs), xs)


@each_platform
@pytest.mark.parametrize("rows", one_in(2, (1, 3)))
@pytest.mark.parametrize("columns", one_in(5, (0, 255, 256, 4097, 9000)))
def test_scans_of_rows(platform: str, rows: int, columns: int) -> None:
    """Long rows are cut into blocks; totals are what stands behind each row."""
    xs = np.random.default_rng(columns).standard_normal((rows, columns)).astype(np.float32)
    for program in (
        lambda xs: (A.scanl(A.add, 1, xs),),
        lambda xs: (A.scanr1(A.max, xs),),
        lambda xs: A.scanlTotal(A.mul, 1, xs),
    ):
        assert "work-groups scan rows" in agrees(as_gpu(platform), program, xs)


@each_platform
@pytest.mark.parametrize("shape", [(4096 * 5 + 9,), (2, 4096 * 3 + 1)])
@pytest.mark.parametrize("chunk", one_in(2, [2, 1024]))
def test_folds_beside_scans_join_in_local_memory(
    platform: str, chunk: int, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What blocks have left, some at a time: of several kinds, and what a scan comes to besides."""
    monkeypatch.setattr(block_groups, "CHUNK", chunk)

    def program(xs: A.Acc[Any]) -> Any:
        sums, total = A.scanlTotal(A.add, 0, xs)
        return A.fold(A.add, 1, sums), A.fold(halving, 2, xs), A.fold1(A.max, xs), sums, A.map(lambda x: x + 1, total)

    xs = np.random.default_rng(chunk).standard_normal(shape).astype(np.float32)
    text = agrees(as_gpu(platform), program, xs)
    assert "reqd_work_group_size(256, 1, 1))) void nest0_join" in text
    assert "void nest0_some" in text


@each_platform
def test_many_blocks_are_carried(platform: str) -> None:
    """More totals than a group brings into its memory at once."""
    xs = np.random.default_rng(0).integers(0, 9, 4096 * 1100 + 7)
    planned, arguments = loops("greedy", [A.scanl1(A.add, use(xs)), A.filter(lambda x: x > 4, use(xs))[0]])
    sums, kept = compiled(as_gpu(platform), planned)(arguments)
    np.testing.assert_array_equal(sums, np.cumsum(xs))
    np.testing.assert_array_equal(kept, xs[xs > 4])


@each_platform
def test_states_too_large_for_local_memory_run_in_parts(platform: str) -> None:
    """A tuple of sixteen doubles: a work-item carries it through each part."""

    def program(xs: A.Acc[Any]) -> Any:
        many = A.map(lambda x: A.lift(*(x * k for k in range(16))), xs)

        def sums(a: Any, b: Any) -> Any:
            return A.lift(*(p + q for p, q in zip(A.unlift(a), A.unlift(b), strict=True)))

        return (A.map(lambda t: A.unlift(t)[15], A.scanl1(sums, many)),)

    agrees(as_gpu(platform), program, np.random.default_rng(1).standard_normal(5000))


def with_targets(
    combine: Callable[[Any, Any], Any], kind: type[np.number[Any]], targets: int, few: bool
) -> Callable[..., Any]:
    """What a target becomes of all elements that come to it; with `few`, every third element comes to none."""

    def program(places: A.Acc[Any], xs: A.Acc[Any]) -> Any:
        start = A.fill((targets,), A.constant(2, kind))

        def target(ix: Any) -> Any:
            there = A.just(A.index(places[ix]))
            return A.cond(places[ix] % 3 != 0, there, A.nothing()) if few else there

        return (A.permute(combine, start, target, A.map(lambda x: A.cast(x, kind), xs)), A.map(lambda x: x + 1, xs))

    return program


COMBINATIONS: dict[str, tuple[Callable[[Any, Any], Any], type[np.number[Any]]]] = {
    "sum": (lambda new, old: new + old, np.float32),
    "product": (lambda new, old: new * old, np.float64),
    "neither": (lambda new, old: old * 0.5 - new, np.float32),
    "last": (lambda new, old: new, np.int64),
    "last doubled": (lambda new, old: new * 2, np.float32),
    "first": (lambda new, old: old, np.int32),
}


@each_platform
@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("targets", one_in(4, (7, 1, 300, 70_000)))
@pytest.mark.parametrize("name", one_in(3, COMBINATIONS))
def test_scatters_keep_their_order(platform: str, name: str, targets: int, few: bool) -> None:
    combine, kind = COMBINATIONS[name]
    draw = np.random.default_rng(targets)
    places, xs = draw.integers(0, targets, 9000), draw.integers(-99, 99, 9000)
    assert "one work-item\n" not in agrees(as_gpu(platform), with_targets(combine, kind, targets, few), places, xs)


@pytest.mark.parametrize("targets", [1, 7, 255, 256, 65_535, 65_536, 70_000])
def test_sorts_have_a_pass_for_each_eight_bits(targets: int) -> None:
    """Keys are targets, and the number of them for elements that come to none. A sort with too few passes leaves equal keys
    apart, which only shows where work-items do not run one after the other."""
    program = with_targets(lambda new, old: new + old, np.float32, targets, True)
    planned, _ = loops("greedy", program(use(np.zeros(9, np.int64)), use(np.zeros(9, np.int64))))
    every = translate(program_schedules(planned, WorkItems(gpu=True)), replace(PLAIN, gpu=True)).nests
    moves = [kernel for made in every for kernel in made.kernels if kernel.name.endswith("_move")]
    passes = sum(kernel.runs(lambda _: 9) for kernel in moves)
    assert VALUES**passes > targets
    assert VALUES ** (passes - 1) <= max(targets, 1)


@each_platform
def test_scatters_of_a_matrix_from_a_matrix(platform: str) -> None:
    """Elements are numbered over both loops, and targets by row and column."""
    draw = np.random.default_rng(3)
    rows, xs = draw.integers(0, 5, (70, 90)), draw.standard_normal((70, 90)).astype(np.float32)
    for combine in (lambda new, old: new + old, lambda new, old: new):

        def program(rows: A.Acc[Any], xs: A.Acc[Any], combine: Any = combine) -> Any:
            start = A.fill((5, 90), A.constant(0, np.float32))
            return (A.permute(combine, start, lambda ix: A.just(A.index(rows[ix], A.unindex(ix)[1] // 2)), xs),)

        assert "one work-item\n" not in agrees(as_gpu(platform), program, rows, xs)


@each_platform
@pytest.mark.parametrize("size", one_in(3, (0, 5000, 12_345)))
def test_folds_and_scans_behind_filters(platform: str, size: int) -> None:
    """Several of them in one loop, behind one filter and behind another, beside what is not behind any."""

    def program(xs: A.Acc[Any]) -> Any:
        some = A.filter(lambda x: x > 0, xs)[0]
        fewer = A.filter(lambda x: x < 1, some)[0]
        sums = A.scanl1(A.add, some)
        return (
            A.fold(A.add, 1, some), A.fold(halving, 1, fewer), sums, A.scanl(A.mul, 1, fewer), A.fold(A.add, 0, sums),
            A.fold(A.add, 0, xs), A.fold(A.max, -1, fewer),
        )  # fmt: skip

    xs = np.random.default_rng(size).standard_normal(size).astype(np.float32)
    assert "one work-item\n" not in agrees(as_gpu(platform), program, xs).replace("then one work-item\n", "")


@each_platform
def test_folds_of_what_a_matrix_keeps(platform: str) -> None:
    """Two loops, one after the other in the order of what is kept; and all of a matrix whose rows are scanned on the way."""

    def program(xs: A.Acc[Any]) -> Any:
        some = A.filter(lambda x: x > 0, A.flatten(xs))[0]
        return A.fold(A.add, 1, some), A.foldAll(A.add, 0, A.scanl1(A.add, xs))

    xs = np.random.default_rng(8).standard_normal((70, 130)).astype(np.float32)
    agrees(as_gpu(platform), program, xs)
