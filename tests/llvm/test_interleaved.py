"""Maps of rows of a few elements, in lanes over the rows: the interpreter's bits for every length, type and way to choose."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import BOOL, F16, F32, F64, I8, I64, ScalarType
from accel.backends.llvm.machine.processor import Registers
from accel.errors import AccelIndexError
from tests import untyped
from tests.llvm import nests
from tests.llvm.lanes import Numbers, Program, check, has_interleaved, however_few
from tests.llvm.processors import changed, compile_for
from tests.marks import one_in

Index: TypeAlias = Any

pytestmark = pytest.mark.solver


@pytest.fixture(autouse=True)
def _however_few(monkeypatch: pytest.MonkeyPatch) -> None:
    however_few(monkeypatch)


def numbers(kind: ScalarType, *shape: int) -> Numbers:
    return nests.numbers(kind, int(np.prod(shape)), sum(shape)).reshape(shape)


def chosen(p: Any) -> Any:
    """By the column, of what stands in others."""

    def element(ix: Index) -> Any:
        i, c = A.unindex(ix)
        return A.cond(c == 0, p[i, 0], A.cond(c == 1, p[i, 1] + p[i, 0], p[i, c]))

    return A.generate(p.shape, element)


def turned(p: Any) -> Any:
    """Each takes what its neighbours hold, around the row; and one row its neighbour's."""

    def element(ix: Index) -> Any:
        i, c = A.unindex(ix)
        n = A.unlift(p.shape)[1]
        return A.lift(p[i, (c + 1) % n] - p[i, (c + n - 1) % n], p[A.max(i - 1, 0), 0])

    return A.generate(p.shape, element)


def pictures(p: Any) -> Any:
    """Of pixels, two loops around their channels."""

    def element(ix: Index) -> Any:
        i, j, c = A.unindex(ix)
        return A.match(c, (0, p[i, j, 0]), (1, A.max(p[i, j, 0], p[i, j, 1])), p[i, j, c])

    return A.generate(p.shape, element)


def beside(p: Any) -> Any:
    """A map of such an array, into which it is fused."""
    return A.map(lambda x: A.lift(x + x, x > 0), chosen(p))


@pytest.mark.parametrize("columns", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", one_in(2, [F32, F64, I8, I64, F16]), ids=str)
def test_rows(kind: ScalarType, columns: int) -> None:
    for program in (chosen, turned, beside):
        for rows in (1, 15, 64, 131):
            check(program, numbers(kind, rows, columns))


@pytest.mark.parametrize("registers", [(16, 16), (32, 16), (64, 32)])
def test_pictures(registers: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    compile_for(monkeypatch, changed(registers=Registers(*registers)))
    for shape in ((3, 70, 3), (5, 16, 2), (70, 3, 3), (2, 33, 4)):
        check(pictures, numbers(F32, *shape))
        check(pictures, numbers(I8, *shape))


def test_pairs_of_what_is_computed() -> None:
    """Of two vectors; of bools; and of what divides."""

    def pairs(x: Any, y: Any) -> Any:
        def element(ix: Index) -> Any:
            i, c = A.unindex(ix)
            return A.cond(c == 0, A.sqrt(abs(x[i])), A.recip(y[i]) * x[i])

        return A.generate(A.index(A.length(x), 2), element)

    def signs(x: Any, y: Any) -> Any:
        return A.generate(A.index(A.length(x), 2), lambda ix: A.cond(ix[1] == 0, x[ix[0]] > y[ix[0]], y[ix[0]] > 0))

    for program in (pairs, signs):
        check(program, numbers(F32, 77), numbers(F32, 77)[::-1].copy())
    assert untyped.run(signs(A.use(np.ones(3)), A.use(np.zeros(3)))).dtype == BOOL.dtype


def products(p: Any) -> Any:
    """A matrix of two by two for each row, of all pairs of its elements."""
    rows = A.unlift(p.shape)[0]
    return A.generate(A.index(rows, 2, 2), lambda ix: p[ix[0], ix[1]] * p[ix[0], ix[2]])


def crosses(p: Any) -> Any:
    """The matrix of three by three that multiplies as a vector does, and one more; taken from both ends."""
    rows = A.unlift(p.shape)[0]

    def element(ix: Index) -> Any:
        n, i, j = A.unindex(ix)
        x, y, z = (p[n, c] for c in range(3))
        return A.match(3 * i + j, (1, -z), (2, y), (3, z), (5, -x), (6, -y), (7, x), p[rows - 1 - n, i] - p[n, j])

    return A.generate(A.index(rows, 3, 3), element)


def boxes(p: Any) -> Any:
    """Six numbers for each row, within groups of rows."""
    groups, rows, _ = A.unlift(p.shape)

    def element(ix: Index) -> Any:
        g, n, c = A.unindex(ix)
        return A.cond(c < 3, A.min(p[g, n, c % 3], 0), p[g, n, 0] + A.cond(c == 4, p[g, n, 1], p[g, n, c % 3]))

    return A.generate(A.index(groups, rows, 6), element)


def test_several_dimensions_of_columns() -> None:
    for rows in (16, 37, 130):
        for kind in (F32, F64, I8):
            check(products, numbers(kind, rows, 2))
            check(crosses, numbers(kind, rows, 3))
            check(boxes, numbers(kind, 3, rows, 3))
            check(lambda m: A.map(lambda x: x + x, A.reverseOn(0, crosses(m))), numbers(kind, rows, 3))


def digits(x: Any) -> Any:
    """Two for each byte, one behind the other."""

    def element(ix: Index) -> Any:
        (i,) = A.unindex(ix)
        digit = A.cond(i % 2 == 0, x[i // 2] >> 4, x[i // 2] & 15)
        return A.cond(digit < 10, digit + 48, digit + 87)

    return A.generate(A.index(2 * A.length(x)), element)


def thirds(x: Any) -> Any:
    """Three of two neighbours each, of which the last is its own; and their places."""

    def element(ix: Index) -> Any:
        (i,) = A.unindex(ix)
        near, far = x[i // 3], x[A.min(i // 3 + 1, A.length(x) - 1)]
        return A.lift(A.select(i % 3 == 2, near, A.max(near, far)), A.quot(i, 3) * 10 + A.rem(i, 3) + i % 4)

    return A.generate(A.index(3 * A.length(x)), element)


def every_second(x: Any) -> Any:
    """What stands at its own index, too."""

    def element(ix: Index, own: Any) -> Any:
        (i,) = A.unindex(ix)
        return A.cond(i % 2 == 0, own + x[i // 2], own)

    return A.imap(element, x)


def test_one_behind_the_other() -> None:
    """Rows without a dimension of theirs, where the index is divided; also of a length that is no multiple of theirs."""
    for count in (1, 15, 16, 63, 64, 257):
        check(digits, numbers(I8, count).view(np.uint8))
        for kind in (F32, I8, F64):
            check(thirds, numbers(kind, count))
            check(every_second, numbers(kind, count))
    x = numbers(F32, 40)
    assert not has_interleaved(lambda x: A.imap(lambda ix, own: A.cond(ix[0] % 2 == 0, own, -own), x), x)
    assert not has_interleaved(lambda x: A.generate((40,), lambda ix: A.cond(ix[0] % 10 == 0, x[ix[0] // 10], 0)), x)


def bits(x: Any) -> Any:
    """Eight of each byte."""
    return A.generate((8 * A.length(x),), lambda ix: A.shiftR(x[ix[0] // 8], 7 - ix[0] % 8) & 1)


def enlarged(by: int) -> Program:
    """A picture each of whose elements becomes a square."""

    def program(x: Any) -> Any:
        rows, columns = A.unlift(x.shape)
        return A.generate((rows * by, columns * by), lambda ix: x[ix[0] // by, ix[1] // by])

    return program


@pytest.mark.parametrize("by", [2, *one_in(3, range(3, 10))])
def test_indices_that_are_divided(by: int) -> None:
    """Quotients alone, also behind other loops, and of lengths that are no multiples."""
    for count in (1, 16, 65, 130):
        check(bits, numbers(I8, count).view(np.uint8))
        for kind in (F32, I8, F64):
            x = numbers(kind, count)
            check(lambda x: A.generate((by * A.length(x),), lambda ix: x[ix[0] // by]), x)
            check(lambda x: A.generate((by * A.length(x) - 1,), lambda ix: x[ix[0] // by]), x)
            check(lambda x: A.imap(lambda ix, own: own - x[ix[0] // by * by], x), x)
            check(enlarged(by), numbers(kind, 3, count))


@pytest.mark.parametrize("columns", [2, *one_in(3, range(3, 10))])
def test_columns_that_read_one_element(columns: int) -> None:
    """Their number may be known or not."""
    for rows in (1, 16, 37, 130):
        for kind in (F32, I8, F64):
            x, y, z = numbers(kind, rows, columns), numbers(kind, rows), numbers(kind, columns)
            check(lambda x, y: A.imap(lambda ix, own: own * y[ix[0]], x), x, y)
            check(lambda y, z: A.generate((A.length(y), A.length(z)), lambda ix: y[ix[0]] - z[ix[1]]), y, z)
            check(lambda y: A.flatten(A.replicate((A.All, columns), y)), y)
            check(lambda x: A.transpose(x), numbers(kind, columns, rows))


def test_columns_of_much_work_are_left_alone() -> None:
    x, y = numbers(F32, 40, 5), numbers(F32, 40)
    assert not has_interleaved(lambda x, y: A.imap(lambda ix, own: A.exp(A.sin(A.log(own * y[ix[0]]))), x), x, y)


def test_rows_that_do_not_lie_behind_each_other() -> None:
    """Arguments with gaps, or from the last to the first, run as before."""
    whole = numbers(F32, 90, 7)
    fast = untyped.runN(chosen)
    for part in (
        whole[:, :3],
        whole[::2, 1:4],
        whole[::-1, 3:6],
        whole.T[:4].T,
        np.broadcast_to(whole[0, :3], (50, 3)),
    ):
        expected = untyped.run(chosen(untyped.accel.use(part)), backend="interpreter")
        for _ in range(3):
            assert fast(part).tobytes() == expected.tobytes()


def test_results_past_the_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_for(monkeypatch, changed(cached_bytes=64, keeps_stores=False))
    for columns in (2, 3, 4):
        check(chosen, numbers(F32, 333, columns))
        check(chosen, numbers(F64, 67, columns))
    check(digits, numbers(I8, 500).view(np.uint8))


def test_results_that_take_an_argument() -> None:
    p = numbers(F32, 400, 3)
    expected = untyped.run(chosen(untyped.accel.use(p)), backend="interpreter")
    assert untyped.runN(chosen)(p.copy(), donate=(0,)).tobytes() == expected.tobytes()
    out = np.empty_like(p)
    untyped.runN(chosen)(p, out=out)
    assert out.tobytes() == expected.tobytes()


def test_an_index_outside_is_said() -> None:
    def outside(p: Any) -> Any:
        return A.generate(p.shape, lambda ix: A.cond(ix[1] == 0, p[ix[0] + 1, 0], p[ix]))

    with pytest.raises(AccelIndexError, match="40"):
        untyped.run(outside(untyped.accel.use(numbers(F32, 40, 3))))


def test_what_chooses_by_no_column_is_left_alone() -> None:
    p = numbers(F32, 40, 3)
    assert not has_interleaved(lambda x: A.map(lambda e: e * 2, x), p)
    assert not has_interleaved(lambda x: A.generate(A.index(40, 12), lambda ix: A.cond(ix[1] == 0, x[ix[0], 0], 1)), p)
