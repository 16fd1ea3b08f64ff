"""Rows whose columns share values, on threads, against the interpreter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.loops import schedule
from accel.backends.llvm.loops.vectors import loop as vector_loop
from accel.backends.protocol import HostArray
from tests.llvm.processors import changed, compile_again, processor
from tests.marks import long, one_in

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time

SHAPES = ((3, 10), (40, 31), (5, 64), (5, 65), (2, 700), (2, 3, 2, 16))

BOUNDARIES = {"wrap": A.boundary.wrap, "clamp": A.boundary.clamp, "mirror": A.boundary.mirror}


def across(n: Any, rank: int, k: int) -> Any:  # Any: a neighbourhood, an expression
    outer = [0] * (rank - 2)
    return n(*outer, -2, k) + n(*outer, -1, k) * 0.7 + n(*outer, 1, k) - n(*outer, 2, k)


def blurred(xs: Handle, shape: tuple[int, ...], boundary: str = "wrap", far: int = 1) -> Handle:
    """Of an array whose extents are known."""
    rank, count = len(shape), A.length(xs)
    every: Any = A.index(*shape)  # Any: of any rank
    ys = A.compute(A.generate(every, lambda ix: xs[A.toIndex(every, ix) % count]))

    def point(n: Any, m: Any) -> Any:  # Any: neighbourhoods
        own = [0] * rank
        sums = across(n, rank, 0) - across(n, rank, -far) + across(n, rank, far) * 0.3
        return m(*own) - A.max(sums, n(*own))

    return A.stencil2(point, BOUNDARIES[boundary], ys, BOUNDARIES[boundary], ys)


def in_numpy(data: HostArray, shape: tuple[int, ...], far: int = 1) -> HostArray:
    """The same, wrapped."""
    ys: Any = np.resize(data, shape)  # Any: of one of two types
    kind = data.dtype.type

    def sums(k: int) -> Any:  # Any: as above
        def near(row: int) -> Any:  # Any: as above
            return np.roll(ys, (-row, -k), (-2, -1))

        return near(-2) + near(-1) * kind(0.7) + near(1) - near(2)

    result: HostArray = ys - np.maximum(sums(0) - sums(-far) + sums(far) * kind(0.3), ys)
    return result


def check(shape: tuple[int, ...], kind: type = np.float64, far: int = 1, threads: Sequence[int] = (2,)) -> None:
    """NumPy's bits on one thread and on several, and they are made in lines."""
    data: HostArray = np.random.default_rng(1).normal(size=997).astype(kind)

    def program(xs: Handle) -> Handle:
        return blurred(xs, shape, "wrap", far)

    for count in threads:
        np.testing.assert_array_equal(A.runN(program, threads=count)(data), in_numpy(data, shape, far))
    assert "\n  lines " in A.explain(program, data).stages["schedule"]


@pytest.fixture(params=[True, False], ids=["by masks", "in scalars"])
def edges(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on processors that store under masks as fast as without, and on those that do not."""
    compile_again(monkeypatch)
    monkeypatch.setattr(vector_loop, "host", lambda: SimpleNamespace(processor=changed(has_avx512=request.param)))


@pytest.mark.parametrize("boundary", one_in(3, ["clamp", "mirror", "wrap"]))
def test_boundaries(boundary: str) -> None:
    shape, data = (4, 14), np.random.default_rng(1).normal(size=56)

    def program(xs: Handle) -> Handle:
        return blurred(xs, shape, boundary)

    np.testing.assert_array_equal(A.runN(program)(data), A.runN(program, backend="interpreter")(data))
    assert "\n  lines " in A.explain(program, data).stages["schedule"]


@pytest.mark.usefixtures("edges")
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 4, 13), *(pytest.param(each, marks=long) for each in SHAPES)])
def test_shapes(shape: tuple[int, ...], kind: type) -> None:
    check(shape, kind)


def test_elements_that_are_no_floats() -> None:
    shape, data = (7, 40), np.arange(50) * 7 % 23

    def program(xs: Handle) -> Handle:
        every = A.index(*shape)
        ys = A.compute(A.generate(every, lambda ix: xs[A.toIndex(every, ix) % 50]))

        def rows(n: Any, k: int) -> Any:  # Any: a neighbourhood, an expression
            return A.max(n(-1, k) - n(-2, k), n(1, k))

        return A.stencil(lambda n: A.min(rows(n, -1), rows(n, 0)) - rows(n, 1), A.boundary.clamp, ys)

    np.testing.assert_array_equal(A.runN(program)(data), A.runN(program, backend="interpreter")(data))
    assert "\n  lines i64[40]" in A.explain(program, data).stages["schedule"]


def test_edges_wider_than_vectors() -> None:
    check((4, 40), far=14)
    check((4, 80), far=14)


def test_chunks_are_rows() -> None:
    """Enough work for several threads."""
    check((300, 200), np.float32, threads=(1, 3))
    check((20, 30, 50))


@pytest.mark.usefixtures("edges")
def test_past_the_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are stored so, as if everything was large, whether they are aligned or not; lines never are."""
    small = processor(cached_bytes=1)
    monkeypatch.setattr(schedule, "host", lambda: SimpleNamespace(processor=small))
    for columns, kind in ((128, np.float64), (77, np.float32)):
        check((6, columns), kind)


def test_lines_are_not_stored_past_the_caches() -> None:
    """What is made of them may be."""
    text = str(A.explain(lambda xs: blurred(xs, (6, 128)), np.ones(5)).stages["llvm"])
    body = text.split("define void @nest1_body")[1].split("\n}\n")[0]
    (line,) = re.findall(r"(%v\d+) = alloca \[128 x double\]", body)
    places = set(re.findall(rf"(%v\d+) = getelementptr i8, ptr {line},", body))
    past = set(re.findall(r"ptr (%v\d+), .*!nontemporal", body))
    stored = set(re.findall(r"store .*, ptr (%v\d+)", body))
    assert past
    assert places & stored
    assert not places & past
