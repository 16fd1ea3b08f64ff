"""A product, or distances, and what folds its rows: some rows at a time, with the bits that both have one after the other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import accel as A
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.machine import late_code
from accel.backends.protocol import compiled
from accel.errors import AccelIndexError
from accel.ir.meaning.interpret import interpret
from accel.ir.nodes import Program
from tests.llvm import nests
from tests.llvm.test_series import along, lowered, series_of
from tests.marks import one_in, slow

Numbers: TypeAlias = npt.NDArray[Any]  # of any element type and rank
Handle: TypeAlias = A.Acc[Any]  # types are known at run time
Function: TypeAlias = Callable[[Handle, Handle], object]


def distances(xs: Handle, ys: Handle) -> Handle:
    """Squares of those between rows."""
    (n, _), (m, _) = A.unlift(xs.shape), A.unlift(ys.shape)
    pairs = A.zipWith(A.sub, A.replicate((A.All, m, A.All), xs), A.replicate((n, A.All, A.All), ys))
    return A.fold(A.add, 0, A.map(lambda v: v * v, pairs))


def products(xs: Handle, ys: Handle) -> Handle:
    return A.matmul(xs, A.transpose(ys))


def of_columns(xs: Handle, ys: Handle) -> Handle:
    return A.matmul(A.transpose(xs), ys)


def nearest(xs: Handle, ys: Handle) -> Handle:
    return A.argmin(distances(xs, ys))


def sums(xs: Handle, ys: Handle) -> Handle:
    return A.fold(A.add, 0, products(xs, ys))


def greatest(xs: Handle, ys: Handle) -> Handle:
    return A.fold1(A.max, A.map(lambda x: x * 0.5, products(xs, ys)))


def shares(xs: Handle, ys: Handle) -> Handle:
    """Of each row in three nests behind the product, as in a softmax."""
    scores = products(xs, ys)
    lifted = A.map(lambda x: x * x + 0.5, A.zipWith(A.sub, scores, along(A.fold1(A.max, scores), scores)))
    return A.zipWith(lambda x, total: x / total, lifted, along(A.fold(A.add, 0, lifted), scores))


def both(xs: Handle, ys: Handle) -> tuple[Handle, Handle]:
    """The distances are a result, too: they are not passed."""
    found = distances(xs, ys)
    return found, A.scanl1(A.add, found)


PROGRAMS: tuple[Function, ...] = (nearest, sums, greatest, shares, both)


def numbers(shape: tuple[int, ...], kind: str, seed: int) -> Numbers:
    """Few of them, so that some rows have the least more than once."""
    return (np.random.default_rng(seed).integers(-6, 7, shape) / 4).astype(kind)


def sides(rows: int, columns: int, count: int, kind: str) -> list[Numbers]:
    return [numbers((rows, count), kind, 1), numbers((columns, count), kind, 2)]


def bits(found: Sequence[Numbers]) -> list[bytes]:
    """All but the sign and payload of NaNs, which are not part of a value."""
    return [(np.where(each == each, each, np.nan) if each.dtype.kind == "f" else each).tobytes() for each in found]


def agrees(loops: Program, arguments: list[Numbers], threads: tuple[int, ...] = (1, 2, 3, 8)) -> None:
    """The interpreter's bits."""
    expected = bits(interpret(loops, list(arguments)))
    for number in threads:
        for block_bytes in (1, 1 << 18):
            executable = compiled(LLVMBackend(number, block_bytes=block_bytes), loops)
            for _ in range(2):
                assert bits(executable(list(arguments))) == expected, (number, block_bytes)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("kind", one_in(2, ["float32", "float64"]))
@pytest.mark.parametrize(
    ("rows", "columns", "count"),
    one_in(3, [(77, 61, 5), (1, 300, 8), (130, 16, 3), (65, 33, 1), (40, 257, 13), (33, 100, 16), (70, 9, 8)], kept=2),
)
def test_bits(program: Function, kind: str, rows: int, columns: int, count: int) -> None:
    arguments = sides(rows, columns, count, kind)
    loops = lowered(program, *arguments)
    assert series_of(loops)
    agrees(loops, arguments)


@pytest.mark.parametrize("program", [nearest, sums])
def test_the_product_is_never_whole(program: Function) -> None:
    """Two threads, and 32 rows at once."""
    arguments = sides(300, 400, 8, "float32")
    asked = nests.taken(lowered(program, *arguments), arguments, 2)
    assert (64, 400) in asked
    assert (300, 400) not in asked


@pytest.mark.parametrize("count", [17, 65, 300])
def test_what_is_packed_is_made_before(count: int) -> None:
    """Then the nests behind it are a series of their own."""
    arguments = sides(90, 70, count, "float32")
    loops = lowered(shares, *arguments)
    assert len(series_of(loops)) == 2
    agrees(loops, arguments, (1, 3))
    assert (90, 70) in nests.taken(loops, arguments, 2)


def test_columns_that_lie_across() -> None:
    """Of matrices as they lie tiles read more elements in place."""
    for count in (20, 64, 65, 130):
        xs, ys = numbers((count, 70), "float32", 1), numbers((count, 45), "float32", 2)
        loops = lowered(lambda xs, ys: A.fold1(A.max, of_columns(xs, ys)), xs, ys)
        agrees(loops, [xs, ys], (2,))


@pytest.mark.parametrize("program", [nearest, greatest, sums])
def test_odd_floats(program: Function) -> None:
    xs, ys = sides(70, 50, 6, "float32")
    for place, value in enumerate((np.nan, np.inf, -np.inf, -0.0, 0.0)):
        xs[7 * place, place], ys[5 * place + 1, place] = value, value
    xs[50:] = -0.0
    ys[30:] = 0.0
    agrees(lowered(program, xs, ys), [xs, ys], (1, 3))


def test_the_first_of_equal_distances() -> None:
    xs = np.zeros((80, 4), np.float32)
    ys = np.repeat(numbers((6, 4), "float32", 3), 20, 0)
    ys[40:60] = 0.0
    loops = lowered(nearest, xs, ys)
    (found,) = compiled(LLVMBackend(2), loops)([xs, ys])
    assert found.tolist() == [int(np.argmin((ys * ys).sum(1)))] * 80


@pytest.mark.parametrize(("rows", "columns", "count"), [(0, 5, 3), (4, 0, 3), (5, 6, 0), (0, 0, 0), (1, 1, 1)])
def test_without_elements(rows: int, columns: int, count: int) -> None:
    arguments = sides(rows, columns, count, "float32")
    agrees(lowered(sums, *arguments), arguments, (1, 2))


def test_strides() -> None:
    wide, ys = numbers((90, 40), "float32", 1), numbers((50, 16), "float32", 2)[::-1, ::2]
    for xs in (wide[::2, 3:11], wide[::-1, :8], np.broadcast_to(wide[0, :8], (45, 8))):
        agrees(lowered(nearest, xs, ys), [xs, ys], (2,))


def test_one_array_on_both_sides() -> None:
    xs = numbers((70, 5), "float64", 4)
    agrees(lowered(lambda xs: A.argmin(distances(xs, xs)), xs), [xs], (1, 2))


def test_a_series_in_a_loop() -> None:
    """Products that follow each other, one of them in the turns of a loop."""
    xs, ys = sides(60, 60, 8, "float32")

    def program(xs: Handle, ys: Handle) -> Handle:
        def turn(zs: Handle) -> Handle:
            return A.zipWith(lambda z, s: z + s * 0.001, zs, A.replicate((A.All, 8), sums(zs, ys)))

        return A.iterate(3, turn, xs)

    loops = lowered(program, xs, ys)
    assert series_of(loops)
    agrees(loops, [xs, ys], (1, 2))


def test_checks_fail_as_they_do_one_after_the_other() -> None:
    xs, ys = sides(80, 40, 6, "float32")
    places = np.arange(80, dtype=np.int64)[::-1].copy()

    def program(xs: Handle, ys: Handle, places: Handle) -> Handle:
        picked = A.generate(A.index(80, 6), lambda ix: xs[A.index(places[A.unindex(ix)[0]], A.unindex(ix)[1])])
        return nearest(picked, ys)

    run = A.runN(program, backend="llvm", threads=2)
    expected = run(xs[::-1].copy(), ys, np.arange(80, dtype=np.int64)).tobytes()
    assert run(xs, ys, places).tobytes() == expected
    places[41] = 80
    for _ in range(2):
        with pytest.raises(AccelIndexError):
            run(xs, ys, places)
    places[41] = 38
    assert run(xs, ys, places).tobytes() == expected


def test_many_numbers_of_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no more functions are compiled, nests run one after the other."""
    monkeypatch.setenv("ACCEL_CACHE_DIR", "")
    monkeypatch.setattr(late_code, "MOST", 2)
    run = compiled(LLVMBackend(2), lowered(nearest, *sides(70, 40, 3, "float32")))
    for count in (3, 4, 5, 6, 3):
        arguments = sides(70, 40, count, "float32")
        expected = interpret(lowered(nearest, *arguments), list(arguments))[0].tobytes()
        assert run(arguments)[0].tobytes() == expected


def test_what_cannot_be_compiled_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of the function that was asked for; the next call asks again."""
    arguments = sides(70, 40, 7, "float32")
    run = A.runN(nearest, backend="llvm", threads=2)
    some = sides(2, 3, 7, "float32")
    run(*some)
    error = MemoryError("no room")

    def failing(*_: object, **__: object) -> bytes:
        raise error

    with monkeypatch.context() as patch:
        patch.setenv("ACCEL_CACHE_DIR", "")
        patch.setattr("accel.backends.llvm.machine.target.Host.compile", failing)
        for _ in range(2):
            with pytest.raises(MemoryError, match="no room"):
                run(*arguments)
    loops = lowered(nearest, *arguments)
    assert run(*arguments).tobytes() == interpret(loops, list(arguments))[0].tobytes()


PROGRAM = """
import sys
import numpy as np
import accel as A
from tests.llvm.test_series_in_tiles import nearest, sides

run = A.runN(nearest, threads=2)
for count in map(int, sys.argv[1:]):
    arguments = sides(200, 300, count, "float32")
    print(*{int(run(*arguments).sum()) for _ in range(3)})
"""


@slow
def test_a_program_found_on_disk_compiles_what_it_lacks(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCEL_CACHE_DIR", str(tmp_path))

    def lines(*counts: int) -> list[str]:
        command = [sys.executable, "-c", PROGRAM, *map(str, counts)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    first = lines(5)
    both_counts = lines(5, 6)
    assert both_counts[0] == first[0]
    assert lines(6, 5) == both_counts[::-1]
