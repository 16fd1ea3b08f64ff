"""Records come back as they went in: structured arrays with their field names, named tuples of arrays. Maybes; high ranks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import accel as A
from tests import untyped

BACKENDS = ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)]
POINTS = np.array(
    [(1.0, 2, (True, 3)), (3.0, 4, (False, 5))], [("x", "f4"), ("n", "i8"), ("p", [("b", "?"), ("k", "u1")])]
)


class Pair(NamedTuple):
    """Two arrays."""

    left: np.ndarray[tuple[int], np.dtype[np.float64]]
    right: np.ndarray[tuple[int], np.dtype[np.int64]]


class Particle(A.Record):
    """Two fields."""

    x: A.Field[np.float32]
    n: A.Field[np.int64]


PARTICLES = np.array([(1.5, 2), (-2.5, 7), (0.5, 4)], [("x", np.float32), ("n", np.int64)])
PAIR = Pair(np.array([1.0, -2.0, 3.0]), np.array([4, 5, 6]))


@pytest.mark.parametrize("backend", BACKENDS)
def test_structured_arrays(backend: Any) -> None:
    points: A.Acc[Any] = A.use(POINTS)
    kept, _ = A.filter(lambda p: p[0] > 2, points)
    chosen = A.map(lambda p: A.cond(p[2][0], p, points[1]), points)
    found: Any = untyped.run((points, A.reverse(points), kept, chosen, A.map(lambda p: p[2], points)), backend=backend)
    for got, expected in zip(found, (POINTS, POINTS[::-1], POINTS[1:], POINTS, POINTS["p"]), strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_named_tuples(backend: Any) -> None:
    pairs = A.use(PAIR)
    turned = untyped.run(A.reverse(pairs), backend=backend)
    assert isinstance(turned, Pair)
    np.testing.assert_array_equal(turned.left, PAIR.left[::-1])
    np.testing.assert_array_equal(turned.right, PAIR.right[::-1])
    swap = A.map(lambda p: A.lift(p[1], p[0]), pairs)
    swapped = untyped.run(swap, backend=backend)
    assert type(swapped) is tuple


class State(NamedTuple):
    """The state of a loop."""

    xs: A.Acc[A.Vector[np.float64]]
    turns: A.Acc[A.Scalar[np.int64]]


def test_named_tuples_of_arrays_stay_what_they_are() -> None:
    """As states of loops, branches, arguments of the user's functions, and results."""

    def more(s: State) -> State:
        return State(A.map(lambda x: x + 1, s.xs), A.map(lambda k: k + 1, s.turns))

    def host(s: Any) -> Any:
        return s._replace(xs=s.xs * 2)

    start = State(A.use(np.zeros(2)), A.unit(A.constant(0)))
    looped = A.awhile(lambda s: A.map(lambda k: k < 3, s.turns), more, start)
    chosen = A.acond(A.constant(True), A.compute(looped), start)
    assert type(chosen) is State
    again = A.iterate(2, more, chosen)
    doubled = A.foreign_acc(host, lambda s: State(A.map(lambda x: x * 2, s.xs), s.turns), again)
    plain = A.foreign_acc(lambda s: (s[0] * 3, s[1]), lambda s: s, (again.xs, again.turns))
    found: Any = untyped.run((doubled, start, (start.turns,), plain))
    assert type(found) is type(found[2]) is type(found[3]) is tuple
    assert [type(each) for each in found[:2]] == [State, State]
    assert (found[0].xs.tolist(), found[0].turns, found[3][0].tolist()) == ([10.0, 10.0], 5, [15.0, 15.0])
    run = untyped.runN(lambda xs: State(xs, A.sum(xs)))
    for _ in range(3):  # later calls have a way of their own
        assert type(run(np.ones(2))) is State
    kept = run(np.ones(2), keep=True)
    assert type(kept) is State
    assert untyped.run(A.use(kept.turns)) == 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_records(backend: Any) -> None:
    particles: A.Acc[A.Vector[Particle]] = A.use(PARTICLES)

    class Both(A.Record):
        inner: A.Field[Particle]
        n: A.Field[np.int64]

    def join(p: A.Exp[Particle], q: A.Exp[Particle]) -> A.Exp[Particle]:
        return Particle(n=A.max(Particle.n(p), Particle.n(q)), x=Particle.x(p) + Particle.x(q))

    twice = A.map(lambda p: Both(Particle(Particle.x(p) * 2, Particle.n(p)), n=1), particles)
    found: Any = untyped.run(
        (
            A.map(Particle.x, particles),
            A.fold(join, Particle(0, 0), particles),
            A.sort(A.map(lambda p: Particle.n(p), particles)),
            twice,
            A.map(lambda b: Particle.x(Both.inner(b)) + A.cast(Both.n(b), np.float32), twice),
        ),
        backend=backend,
    )
    np.testing.assert_array_equal(found[0], PARTICLES["x"])
    assert found[1].dtype == PARTICLES.dtype
    assert found[1] == np.array((-0.5, 7), PARTICLES.dtype)
    np.testing.assert_array_equal(found[2], [2, 4, 7])
    assert found[3].dtype == np.dtype([("inner", PARTICLES.dtype), ("n", np.int64)])
    np.testing.assert_array_equal(found[3]["inner"]["x"], PARTICLES["x"] * 2)
    np.testing.assert_array_equal(found[3]["n"], [1, 1, 1])
    np.testing.assert_array_equal(found[4], PARTICLES["x"] * 2 + 1)


def test_records_cost_nothing() -> None:
    def moved(particles: A.Acc[A.Vector[Particle]]) -> A.Acc[A.Scalar[np.float32]]:
        changed = A.map(lambda p: Particle(Particle.x(p) + 1, Particle.n(p)), particles)
        return A.sum(A.map(Particle.x, changed))

    explanation = A.explain(moved, PARTICLES)
    assert explanation.loops == 1
    assert sum(explanation.reads.values()) == 1  # the other field is not read


def test_fields_of_tuples_and_maybes() -> None:
    class Charged(A.Record):
        charge: A.Field[tuple[np.int8, np.bool_]]
        at: A.Field[A.Maybe[np.int64]]

    given = Charged(charge=A.lift(A.constant(3, np.int8), A.constant(True)), at=A.just(A.constant(7)))
    at = A.fromMaybe(0, Charged.at(given))
    found: Any = untyped.run((A.unit(given), A.unit(at)), backend="interpreter")
    assert found[0].dtype.names == ("charge", "at")
    assert found[0]["charge"]["f0"] == 3
    assert found[1] == 7
    assert repr(Charged.charge) == "<the field Charged.charge>"


def test_plain_tuples_are_read_as_records_and_annotations_hold() -> None:
    @A.runN(backend="interpreter")
    def counts(particles: A.Acc[A.Vector[Particle]]) -> A.Acc[A.Vector[np.int64]]:
        return A.map(Particle.n, particles)

    np.testing.assert_array_equal(counts((PARTICLES["x"], PARTICLES["n"])), PARTICLES["n"])
    with pytest.raises(A.AccelTypeError, match="annotated with rank 1 and"):
        counts((PARTICLES["n"], PARTICLES["x"]))
    with pytest.raises(A.AccelTypeError, match="of the fields x, n, got one of n, x"):
        A.map(Particle.x, A.use(np.zeros(2, [("n", np.float32), ("x", np.int64)])))


def test_a_compiled_function_gives_what_each_call_gave() -> None:
    """Equal element types, other records."""
    function: Any = untyped.runN(lambda xs: A.reverse(xs), backend="interpreter")
    structured = np.array([(1.0, 2), (3.0, 4)], [("a", "f8"), ("b", "i8")])
    for _ in range(3):
        assert function(structured).dtype.names == ("a", "b")
        assert isinstance(function(PAIR), Pair)
        assert type(function(tuple(PAIR))) is tuple
        assert function(structured.astype([("c", "f8"), ("d", "i8")])).dtype.names == ("c", "d")


def test_empty_and_of_rank_0() -> None:
    programs: Any = A.use(POINTS[:0]), A.unit(A.use(POINTS)[1])
    found = untyped.run(programs, backend="interpreter")
    assert found[0].shape == (0,)
    assert found[1].shape == ()
    assert found[1] == POINTS[1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_maybes_are_stored(backend: Any) -> None:
    def first(p: A.Exp[Any], q: A.Exp[Any]) -> A.Exp[Any]:
        return A.cond(A.isJust(p), p, q)

    made = A.map(lambda v: A.cond(v > 100, A.just(v), A.nothing()), A.use(np.array([1, 200, 3, 300])))
    stored: A.Acc[Any] = A.compute(made)
    filled = A.map(lambda m: A.fromMaybe(-1, m), A.reverse(stored))
    found: Any = untyped.run((stored, filled, A.fold(first, A.nothing(), stored)), backend=backend)
    np.testing.assert_array_equal(found[0][0], [False, True, False, True])
    np.testing.assert_array_equal(found[0][1], [0, 200, 0, 300])
    np.testing.assert_array_equal(found[1], [300, -1, 200, -1])
    assert found[2] == (True, 200)


@pytest.mark.parametrize("backend", BACKENDS)
def test_arrays_of_rank_8(backend: Any) -> None:
    x = np.arange(384).reshape(2, 1, 2, 3, 2, 2, 2, 4)
    xs: Any = A.use(x)
    whole = (A.sum(xs), A.transposeOn(0, 7, xs), A.foldAll(A.add, 0, xs), A.scanl1(A.add, A.map(lambda v: v + 1, xs)))
    found: Any = untyped.run(whole, backend=backend)
    expected = (x.sum(-1), x.swapaxes(0, 7), x.sum(), np.cumsum(x + 1, -1))
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
