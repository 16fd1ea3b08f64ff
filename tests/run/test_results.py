"""Results are the caller's: C-contiguous, writable, apart from each other and from arguments, no large block behind them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.calls.compiled import Compiled
from tests import untyped

BACKENDS = ["interpreter", "llvm", "opencl"]
HostArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[Any]]
Vector = A.Acc[A.Vector[np.int64]]
Program: TypeAlias = Callable[[Vector], Any]
"""Any: a nested tuple of arrays of any rank."""


def flat(results: object) -> list[HostArray]:
    if isinstance(results, tuple):
        return [array for part in results for array in flat(part)]
    assert isinstance(results, np.ndarray)
    return [results]


def held(array: HostArray) -> int:
    """The bytes of the largest array that this one keeps alive."""
    sizes = []
    each: object = array
    while isinstance(each, np.ndarray):
        sizes.append(each.nbytes)
        each = each.base
    return max(sizes)


def incremented(xs: Vector) -> Vector:
    return A.map(lambda x: x + 1, xs)


def twice(xs: Vector) -> Any:
    ys = incremented(xs)
    return ys, ys, (xs, xs)


def other_shapes(xs: Vector) -> Any:
    ys = incremented(xs)
    rows = A.reshape(A.index(1, A.length(ys)), ys)
    return rows, ys, A.flatten(rows), A.reshape(A.index(A.length(xs), 1), xs), A.compute(ys)


def in_place(xs: Vector) -> Any:
    """The defaults of a scatter may be overwritten, but not where they are a result, too."""
    defaults = A.compute(incremented(xs))
    first = A.scatter(A.generate(A.index(1), lambda _: A.constant(0)), defaults, A.take(1, xs))
    return first, defaults, A.scatter(A.map(lambda _: A.constant(0), A.take(1, xs)), first, A.take(1, xs))


def chosen(xs: Vector) -> Any:
    ys = incremented(xs)
    positive = A.the(A.sum(xs)) > 0
    return A.acond(positive, xs, ys), A.acond(positive, ys, xs), ys, xs


def repeated(xs: Vector) -> Any:
    ys = incremented(xs)
    never = A.awhile(lambda _: A.unit(A.constant(False)), incremented, ys)
    once = A.awhile(lambda zs: A.unit(A.the(A.sum(zs)) < 0), incremented, ys)
    return never, once, ys


def kept(xs: Vector) -> Any:
    few, counts = A.filter(lambda x: x == 3, xs)
    return few, counts, few, A.filter(lambda x: x > 3, xs)


def pairs(xs: Vector) -> Any:
    return A.unzip(A.zip(xs, xs)), A.zip(incremented(xs), incremented(xs))


def constants(xs: Vector) -> Any:
    fixed = A.use(np.arange(5))
    return fixed, A.take(3, fixed), fixed, xs


def beside_the_host(xs: Vector) -> Any:
    """A program that calls the host is none that llvm compiles as a whole: the executor gives its results."""
    ys = incremented(xs)
    return ys, ys, xs, A.foreign_acc(lambda each: each, lambda each: each, ys)


def sized(*sizes: int) -> list[tuple[str, int]]:
    """Backends with sizes; the interpreter, which is slow and copies all results, gets the first ones."""
    return [(backend, size) for backend in BACKENDS for size in sizes if backend != "interpreter" or size <= 1000]


PROGRAMS = [twice, other_shapes, in_place, chosen, repeated, kept, pairs, constants, beside_the_host]


@pytest.mark.parametrize(("backend", "size"), sized(5, 600, 200_000))
@pytest.mark.parametrize("program", PROGRAMS)
def test_results_share_no_memory(program: Program, size: int, backend: str) -> None:
    argument = np.arange(size)
    function: Any = A.runN(program, backend=backend)
    every: list[HostArray] = [argument]
    for results in (function(argument), function(argument), A.run(program(A.use(argument)), backend=backend)):
        every += flat(results)
    for one, other in combinations(every, 2):
        assert not np.may_share_memory(one, other)
    for result in every[1:]:
        assert result.flags.c_contiguous
        assert result.flags.writeable
        assert result.flags.aligned


@pytest.mark.parametrize(("backend", "size"), sized(500, 20_000, 1_000_000))
@pytest.mark.parametrize("part", [0.0, 0.001, 0.4, 0.6, 1.0])
def test_what_a_filter_keeps_is_all_that_stays(size: int, part: float, backend: str) -> None:
    """Once: one of 2^24 numbers kept the 144 MB of all of them alive."""
    xs = np.arange(size)
    expected = xs[: int(part * size)]
    found, _ = untyped.run(A.filter(lambda x: x < expected.size, A.use(xs)), backend=backend)
    np.testing.assert_array_equal(found, expected)
    assert held(found) <= 2 * expected.nbytes + 64


def few(xs: Vector) -> Vector:
    return A.filter(lambda x: x % 100_000 == 3, xs)[0]


SMALL: dict[str, Program] = {
    "scattered into": lambda xs: A.scatter(A.use(np.array([0])), few(xs), A.use(np.array([7]))),
    "scanned": lambda xs: A.scanl1(A.add, few(xs)),
    "reshaped": lambda xs: A.reshape(A.index(A.length(few(xs)), 1), few(xs)),
    "taken": lambda xs: A.take(2, A.compute(incremented(xs))),
    "sliced": lambda xs: A.slit(2, 3, A.compute(incremented(xs))),
    "by index": lambda xs: A.backpermute(A.index(2), lambda i: i, A.compute(incremented(xs))),
    "an argument's": lambda xs: A.take(2, xs),
    "a row": lambda xs: A.slice(A.reshape(A.index(1000, 1000), xs), (3, A.All)),
    "chosen": lambda xs: A.acond(A.constant(True), few(xs), A.take(1, xs)),
    "repeated": lambda xs: A.awhile(lambda zs: A.unit(A.the(A.sum(zs)) < 0), incremented, few(xs)),
}


@pytest.mark.parametrize("backend", ["llvm", "opencl"])
@pytest.mark.parametrize("name", SMALL)
def test_small_parts_of_large_arrays_keep_only_themselves(name: str, backend: str) -> None:
    function: Any = A.runN(SMALL[name], backend=backend)
    for result in flat(function(np.arange(1_000_000))):
        assert held(result) <= 2 * result.nbytes + 64


@pytest.mark.parametrize("name", SMALL)
def test_so_it_is_where_programs_run_item_by_item(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they do where a compiled call does not take the arguments."""
    monkeypatch.setattr(Compiled, "function", lambda self, otherwise, constants, forms=None: None)
    monkeypatch.setattr(Compiled, "__call__", lambda self, arguments: self._execute(arguments))
    test_small_parts_of_large_arrays_keep_only_themselves(name, "llvm")
