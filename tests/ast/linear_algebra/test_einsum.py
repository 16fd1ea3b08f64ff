"""`einsum` is `np.einsum`, along every path; of several arrays it multiplies first what needs no loops of its own."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import accel as A
from accel import settings
from accel.ast.combinators.linear_algebra.subscripts import subscripts_of
from accel.explanation.explain import subject
from accel.ir.mentions import levels, nests
from tests import untyped
from tests.marks import one_in

Host = npt.NDArray[np.float64]
EXTENTS = {"i": 2, "j": 3, "k": 1, "l": 4, "m": 0}
UNTYPED: Any = A


def drawn(*shape: int) -> Host:
    """Small whole numbers: their sums are exact in every order."""
    return np.random.default_rng(sum(shape) + 7 * len(shape)).integers(-3, 4, shape).astype(float)


def evaluated(program: A.Acc[Any]) -> Any:
    return A.run(program, backend="interpreter")


def agrees(subscripts: str, *arrays: Host, path: Any = None) -> None:
    found = evaluated(A.einsum(subscripts, *map(A.use, arrays), path=path))
    np.testing.assert_array_equal(found, np.einsum(subscripts, *arrays))


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk", [(2, 3), (3, 4)]), ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk->ki", [(2, 3), (3, 4)]),
        ("ba", [(2, 3)]), ("ii", [(3, 3)]), ("ii->i", [(3, 3)]), ("iij->j", [(3, 3, 2)]), ("iii", [(2, 2, 2)]),
        ("ij->", [(2, 3)]), ("ij->ji", [(2, 3)]), ("ij->j", [(2, 3)]), ("i,i", [(3,), (3,)]), ("i,j", [(3,), (2,)]),
        ("i,j->ji", [(3,), (2,)]), ("ij,k->k", [(2, 3), (4,)]), (",ij->ij", [(), (2, 3)]), ("->", [()]),
        ("ij,ij,ij->ij", [(2, 3)] * 3), ("ij,jk,j->ik", [(2, 3), (3, 4), (3,)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
        ("ij,jk,ki->", [(2, 3), (3, 4), (4, 2)]), ("ijk,jp,kq,j,k->ipq", [(2, 3, 4), (3, 2), (4, 3), (3,), (4,)]),
        ("...ij,...jk->...ik", [(5, 2, 3), (5, 3, 4)]), ("...ij,...jk->...ik", [(2, 3), (5, 3, 4)]),
        ("...ij,...jk", [(1, 2, 3), (5, 3, 4)]), ("...i->...", [(2, 3, 4)]), ("i...->...i", [(2, 3, 4)]),
        ("...,...", [(4, 1, 3), (2, 3)]), ("...ii->...i", [(2, 3, 3)]), ("ij,j", [(0, 3), (3,)]), ("ij,j", [(3, 0), (0,)]),
        (" i j , j k -> i k ", [(2, 3), (3, 4)]), ("Aa,aB", [(2, 3), (3, 2)]), ("ij,kl,jk->il", [(2, 3), (4, 2), (3, 4)]),
    ],
)  # fmt: skip
def test_subscripts(subscripts: str, shapes: list[tuple[int, ...]]) -> None:
    agrees(subscripts, *(drawn(*shape) for shape in shapes))


@pytest.mark.parametrize("seed", one_in(4, range(200)))
def test_random_subscripts(seed: int) -> None:
    choice = random.Random(seed)
    letters = "ijkl" if seed % 5 else "ijklm"
    operands = ["".join(choice.choices(letters, k=choice.randint(0, 3))) for _ in range(choice.randint(1, 4))]
    known = sorted(set("".join(operands)))
    result = "".join(choice.sample(known, choice.randint(0, min(3, len(known)))))
    subscripts = ",".join(operands) + ("->" + result) * (choice.random() < 0.8)
    arrays = [drawn(*(EXTENTS[axis] for axis in operand)) for operand in operands]
    agrees(subscripts, *arrays)
    agrees(
        subscripts, *arrays, path=np.einsum_path(subscripts, *arrays, optimize=choice.choice(["greedy", "optimal"]))[0]
    )


@pytest.mark.llvm
@pytest.mark.solver
@pytest.mark.parametrize("path", [None, [(0, 1), (0, 1)], [(1, 2), (0, 1)], [(0, 1, 2)], [(0, 2)], []])
def test_paths(path: Any) -> None:
    arrays = drawn(5, 7), drawn(7, 9), drawn(7)
    agrees("ij,jk,j->ik", *arrays, path=path)
    found = untyped.runN(lambda a, b, g: A.einsum("ij,jk,j->ik", a, b, g, path=path))(*arrays)
    np.testing.assert_array_equal(found, np.einsum("ij,jk,j->ik", *arrays))


def ranks(subscripts: str, *shapes: tuple[int, ...], path: Any = None) -> list[int]:
    """How many loops stand around each other in each of the program's nests, before loops are merged."""
    program = A.einsum(subscripts, *(A.use(drawn(*shape)) for shape in shapes), path=path)
    lowered = subject(program, (), settings.changed({"strategy": "greedy"})).staged.lowered
    return [sum(level.loop is not None for level in levels(nest)) for nest in nests(lowered)]


def test_pairs_are_multiplied_first_where_that_takes_fewer_loops() -> None:
    chain = (20, 30), (30, 40), (40, 20)
    assert ranks("ij,jk,kl->il", *chain) == [3, 3]
    assert ranks("ij,jk,kl->il", *chain, path=[(0, 1, 2)]) == [4]
    assert ranks("ij,jk,ki->", *chain) == [3]  # a pair would take three loops as well, and store what it gives
    assert ranks("ij,jk,j->ik", (20, 30), (30, 40), (30,)) == [3]


def test_an_axis_of_one_array_is_summed_first() -> None:
    assert ranks("ij,k->k", (20, 30), (40,)) == [2, 1]


@pytest.mark.solver
def test_factors_with_the_axes_of_another_multiply_it_outside_of_the_innermost_loop() -> None:
    """The statement that multiplies a and g does not depend on k: it stands there once for each i and j."""
    a, b, g = A.use(drawn(5, 7)), A.use(drawn(7, 9)), A.use(drawn(7))
    grouped = A.explain(A.einsum("ij,jk,j->ik", a, b, g)).stages["labelled"]
    written = A.explain(A.einsum("ij,jk->ik", A.einsum("ij,j->ij", a, g), b)).stages["labelled"]
    assert grouped.count("mul") == written.count("mul") == 1  # the other is the fold's
    assert "fold[products" in grouped
    shape_of_first = next(line for line in grouped.splitlines() if "mul" in line).rpartition(":")[2]
    assert shape_of_first.count(",") == 1


@pytest.mark.llvm
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (1, 4)])
@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_a_diagonal_of_a_matrix_that_is_not_square(shape: tuple[int, int], backend: str) -> None:
    with pytest.raises(A.AccelShapeError, match="einsum of"):
        A.einsum("ii", A.use(drawn(*shape)))
    with pytest.raises(A.AccelShapeError, match="einsum needs arrays of equal shape"):
        untyped.runN(lambda m: A.einsum("ii", m), backend=backend)(drawn(*shape))


@pytest.mark.llvm
def test_a_diagonal_of_an_argument() -> None:
    m = drawn(2, 3, 3)
    np.testing.assert_array_equal(untyped.runN(lambda x: A.einsum("ijj->ij", x))(m), np.einsum("ijj->ij", m))


@pytest.mark.parametrize(
    ("subscripts", "shapes", "kind", "said"),
    [
        (
            "ij,jk",
            [(2, 3), (4, 2)],
            A.AccelShapeError,
            "einsum of (2, 3) and (4, 2) needs equal extents where it has 3 and 4",
        ),
        ("ij,jk", [(2, 1), (4, 2)], A.AccelShapeError, "1 and 4"),
        ("...i,...i", [(2, 3), (4, 3)], A.AccelShapeError, "2 and 4"),
        ("ij", [(2, 3, 4)], A.AccelTypeError, "write `ij...`"),
        ("ijk", [(2, 3)], A.AccelTypeError, "for rank 3, but the array has rank 2"),
        ("ij,jk", [(2, 3)], A.AccelTypeError, "for 2 arrays, got 1"),
        ("ij->ijk", [(2, 3)], A.AccelValueError, "an axis 'k' that no array has"),
        ("ij->ii", [(2, 3)], A.AccelValueError, "the axis 'i' twice"),
        ("i1", [(2, 3)], A.AccelValueError, "'1' that means nothing"),
        ("ij-i", [(2, 3)], A.AccelValueError, "'-' that means nothing"),
        ("...i->i", [(2, 3)], A.AccelValueError, "lacks the axes of the ellipsis"),
    ],
)
def test_what_is_refused(subscripts: str, shapes: list[tuple[int, ...]], kind: type[A.AccelError], said: str) -> None:
    with pytest.raises(kind) as caught:
        A.einsum(subscripts, *(A.use(drawn(*shape)) for shape in shapes))
    assert said in str(caught.value)


@pytest.mark.parametrize("path", [[(0, 5)], [(0, 0)], ["ij", "jk"], [()], [(0, 1), (0, 1)]])
def test_paths_that_are_refused(path: Any) -> None:
    with pytest.raises(A.AccelValueError, match="einsum's path"):
        A.einsum("ij,jk", A.use(drawn(2, 3)), A.use(drawn(3, 4)), path=path)


def test_calls_that_are_refused() -> None:
    with pytest.raises(A.AccelTypeError, match=r'write `A\.einsum\("ij,jk->ik", xs, ys\)`'):
        UNTYPED.einsum(A.use(drawn(2, 3)), "ij")
    with pytest.raises(A.AccelTypeError, match="one array at least"):
        UNTYPED.einsum("ij")


def test_names_of_axes() -> None:
    found = subscripts_of("...ij,jk...", [4, 3], None)
    assert found.operands == (("...1", "...0", "i", "j"), ("j", "k", "...0"))
    assert found.result == ("...1", "...0", "i", "k")
