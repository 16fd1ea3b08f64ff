"""Folds of segments as GPUs run them, forced on every platform: short and long ones beside each other, around the edges of
lanes, blocks, places and groups, against NumPy in the order of docs/order.md, and against the reference."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.loops.gpu import segments
from accel.backends.protocol import HostArray, compiled
from accel.errors import AccelValueError
from accel.ir import mentions
from accel.ir.meaning.interpret import interpret
from accel.schedule.machine import WorkItems
from accel.schedule.nodes import Template
from accel.schedule.templates.choose import schedules
from tests.marks import one_in
from tests.opencl.check import compiled_on, loops, same
from tests.opencl.platforms import each_platform
from tests.opencl.test_gpu_folds import FLOATS, folded, gpu, numbers

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time

EDGES = [0, 1, 2, 3, 5, 8, 31, 32, 33, 63, 64, 65, 66, 100, 128, 129, 2047, 2048, 2049, 4095, 4096, 4097, 8192, 8193]
LENGTHS = {
    "edges": [*EDGES, *reversed(EDGES)],
    "one": [20_000],
    "short": [k % 7 for k in range(1000)],
    "middle": [64 - k % 9 for k in range(300)],
    "long": [4096 * 9 + 1, 0, 4096 * 4, 4096 * 3, 70, 4096 * 5 - 1],
    "empty": [0] * 300,
    "none": [],
}


def offsets(lengths: list[int]) -> HostArray:
    return np.cumsum([0, *lengths], dtype=np.int64)


@each_platform
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("groups", [1, 2048])
@pytest.mark.parametrize("which", LENGTHS)
def test_sums_of_segments(
    platform: str, which: str, groups: int, kind: type[np.floating[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With several segments in a group, and with one."""
    monkeypatch.setattr(segments, "GROUPS", groups)
    bounds = offsets(LENGTHS[which])
    data = numbers((int(bounds[-1]),), kind)
    wanted = np.array([folded(data[begin:end], 3) for begin, end in pairwise(bounds)], kind)
    run = compiled_on(gpu(platform), lambda xs, at: A.foldSegOffsets(A.add, 3, xs, at), data, bounds)
    same(run([data, bounds]), [wanted])


def products(xs: Handle, at: Handle) -> Handle:
    """A sparse matrix times a vector."""
    columns = A.map(lambda x: A.truncate(A.abs(x) * 1000, np.int64) % A.size(xs), xs)
    return A.foldSegOffsets(A.add, 0, A.zipWith(A.mul, xs, A.gather(columns, xs)), at)


def complex_products(xs: Handle, at: Handle) -> Handle:
    return A.foldSegOffsets(A.mul, 1, A.map(turn, xs), at)


def padded(xs: Handle, at: Handle) -> tuple[Handle, ...]:
    """Two folds of states whose structs have 24 bytes each, of which ten are numbers."""

    def extremes(a: Any, b: Any) -> Any:  # Any: expressions of tuples
        return A.lift(A.max(a[0], b[0]), A.min(a[1], b[1]), A.max(a[2], b[2]))

    made = A.map(lambda x: A.lift(A.truncate(x, np.int8), x, A.truncate(x * 2, np.int8)), xs)
    seed = A.lift(A.constant(0, np.int8), A.constant(9.0), A.constant(0, np.int8))
    more = A.map(lambda x: A.lift(x[2], x[1] + 1, x[0]), made)
    return tuple(A.foldSegOffsets(extremes, seed, each, at) for each in (made, more))


def turn(x: A.Exp[Any]) -> A.Exp[Any]:
    """A complex number of modulus 1."""
    return A.mkComplex((1 - x * x) / (1 + x * x), 2 * x / (1 + x * x))


def pairs(xs: Handle, at: Handle) -> Handle:
    """Of one kind of lanes."""
    fold = lambda x, y: A.lift(A.min(x[0], y[0]), x[1] + y[1])  # noqa: E731
    return A.foldSegOffsets(fold, A.lift(A.constant(9.0), A.constant(0.0)), A.map(lambda x: A.lift(x, x * 2), xs), at)


CASES: dict[str, Callable[[Handle, Handle], Handle]] = {
    "products": products,
    "pairs": pairs,
    "extremes": lambda xs, at: A.foldSegOffsets(A.max, -1.0, xs, at),
    "integers": lambda xs, at: A.foldSegOffsets(A.add, 1, A.map(lambda x: A.truncate(x * 100, np.int64), xs), at),
    "bytes": lambda xs, at: A.foldSegOffsets(A.xor, 0, A.map(lambda x: A.truncate(x * 20, np.int8), xs), at),
    "after": lambda xs, at: A.map(lambda x: A.sqrt(A.abs(x)), A.foldSegOffsets(A.add, 0, A.map(lambda x: x / 3, xs), at)),
}  # fmt: skip


def scaled(xs: Handle, lengths: Handle) -> Handle:
    """What is folded beside where it begins."""
    begins = A.prescanl(A.add, 0, lengths)
    return A.zipWith(lambda x, at: x + A.fromIntegral(at, np.float64), A.foldSeg(A.add, 0, xs, lengths), begins)


@each_platform
@pytest.mark.parametrize("groups", [1, 2048])
@pytest.mark.parametrize("function", [lambda xs, lengths: A.foldSeg(A.add, 3, xs, lengths), scaled])
@pytest.mark.parametrize("which", one_in(3, ["edges", "short", "long", "empty", "none"]))
def test_where_segments_begin_is_found_before(
    platform: str, which: str, function: Callable[..., Handle], groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "GROUPS", groups)
    lengths = np.array(LENGTHS[which], np.int64)
    data = numbers((int(lengths.sum()),), np.float64)
    planned, arguments = loops("greedy", [function(use(data), use(lengths))])
    same(compiled(gpu(platform), planned)(arguments), interpret(planned, arguments))


@each_platform
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("which", one_in(3, ["edges", "short", "long"]))
def test_all_kinds_of_folds(platform: str, which: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "GROUPS", 4)
    bounds = offsets(LENGTHS[which])
    data = numbers((int(bounds[-1]),), np.float64)
    planned, arguments = loops("greedy", [CASES[name](use(data), use(bounds))])
    assert Template.SEGMENTS in [
        way.template for nest in mentions.nests(planned) for way in schedules(nest, MACHINE).schedules
    ]
    same(compiled(gpu(platform), planned)(arguments), interpret(planned, arguments))


def with_dot(xs: Handle, at: Handle) -> tuple[Handle, Handle]:
    """A sparse matrix times a vector, and that times the vector: a step of conjugate gradients."""
    found = products(xs, at)
    return found, A.sum(A.imap(lambda ix, x: x * xs[A.lift(ix[0] % A.size(xs))], found))


def placed(xs: Handle, at: Handle) -> Handle:
    ends = A.map(lambda k: k % 7, A.tail(at))
    return A.scatterWith(A.add, A.fill(A.index(7), 0.0), A.zip(ends, A.foldSegOffsets(A.add, 0, xs, at)))


def with_counts(xs: Handle, lengths: Handle) -> tuple[Handle, Handle, Handle]:
    return A.sum(A.foldSeg(A.max, 0, xs, lengths)), A.sum(lengths), A.scanl1(A.add, lengths)


TAKEN: dict[str, tuple[Callable[[Handle, Handle], Any], list[Template]]] = {
    "dot": (with_dot, [Template.SEGMENTS, Template.BLOCK_GROUPS]),
    "placed": (placed, [Template.FEW_ITEMS, Template.SEGMENTS, Template.FEW_ITEMS]),
    "counts": (with_counts, [Template.GROUP_CHAIN, Template.SEGMENTS, Template.BLOCK_GROUPS, Template.GROUP_CHAIN]),
    "kept": (
        lambda xs, lengths: A.filter(lambda x: x > 0, A.foldSeg(A.add, 0, xs, lengths))[0],
        [Template.GROUP_CHAIN, Template.SEGMENTS, Template.GROUP_CHAIN],
    ),
}


@each_platform
@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("which", one_in(2, ["edges", "short", "none"]))
def test_what_segments_come_to_is_taken_by_other_groups(
    platform: str, which: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "GROUPS", 4)
    function, templates = TAKEN[name]
    lengths = np.array(LENGTHS[which], np.int64)
    data = numbers((int(lengths.sum()),), np.float64)
    bounds = offsets(LENGTHS[which]) if name in ("dot", "placed") else lengths
    found = function(use(data), use(bounds))
    planned, arguments = loops("greedy", list(found) if isinstance(found, tuple) else [found])
    every = [way.template for nest in mentions.nests(planned) for way in schedules(nest, MACHINE).schedules]
    assert every == templates
    same(compiled(gpu(platform), planned)(arguments), interpret(planned, arguments))


@each_platform
def test_an_empty_segment_of_a_fold_without_a_seed_is_an_error(platform: str) -> None:
    data, bounds = np.arange(5.0), offsets([2, 0, 3])
    run = compiled_on(gpu(platform), lambda xs, at: A.fold1SegOffsets(A.add, xs, at), data, bounds)
    with pytest.raises(AccelValueError, match="empty"):
        run([data, bounds])
    same(run([data, offsets([2, 1, 2])]), [np.array([1.0, 2.0, 7.0])])


def test_what_does_not_join_in_lanes_stays_with_one_work_item() -> None:
    def templates(function: Callable[[Handle, Handle], Any], with_offsets: bool = True) -> list[Template]:
        bounds = offsets([2, 3]) if with_offsets else np.array([2, 3])
        found = function(use(np.arange(5.0)), use(bounds))
        planned, _ = loops("greedy", list(found) if isinstance(found, tuple) else [found])
        return [way.template for nest in mentions.nests(planned) for way in schedules(nest, MACHINE).schedules]

    assert templates(products) == [Template.SEGMENTS]
    assert templates(lambda xs, at: A.foldSegOffsets(lambda x, y: x - y * 2, 0, xs, at)) == [Template.ITEMS]
    assert templates(complex_products) == [Template.ITEMS]
    assert templates(padded) == [Template.ITEMS]
    assert templates(scaled, False) == [Template.GROUP_CHAIN, Template.SEGMENTS]
    assert templates(lambda xs, lengths: A.foldSeg(lambda x, y: x - y * 2, 0, xs, lengths), False) == [
        Template.GROUP_CHAIN
    ]


MACHINE = WorkItems(gpu=True)
