"""Bodies that pull each other: the planets of the Benchmarks Game, whose energies are known, and a cluster of stars.

Every body feels all others, but no n by n array is ever made: the loop that computes pulls adds them up, and moves the body.
NumPy makes eleven of them. Its text is shorter, because its operators act on all coordinates at once; here these are the
fields of a record, and the loop is one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.lib.recfunctions import structured_to_unstructured, unstructured_to_structured

import accel as A

Host: TypeAlias = np.ndarray[tuple[int], np.dtype[np.void]]
Number: TypeAlias = A.Exp[np.float64]
E = TypeVar("E", bound=A.Record | np.float64)

VECTOR = np.dtype([(axis, np.float64) for axis in "xyz"])
BODY = np.dtype([("mass", np.float64), ("place", VECTOR), ("speed", VECTOR)])

PLANETS = (
    (1.0, 0, 0, 0, 0, 0, 0),
    (9.54791938424326609e-4, 4.84143144246472090, -1.16032004402742839, -1.03622044471123109e-1,
     1.66007664274403694e-3, 7.69901118419740425e-3, -6.90460016972063023e-5),
    (2.85885980666130812e-4, 8.34336671824457987, 4.12479856412430479, -4.03523417114321381e-1,
     -2.76742510726411899e-3, 4.99852801234917238e-3, 2.30417297573763929e-5),
    (4.36624404335156298e-5, 1.28943695621391310e1, -1.51111514016986312e1, -2.23307578892655734e-1,
     2.96460137564761618e-3, 2.37847173959480950e-3, -2.96589568540237556e-5),
    (5.15138902046611451e-5, 1.53796971148509165e1, -2.59193146099879641e1, 1.79258772950371181e-1,
     2.68067772490389322e-3, 1.62824170038242295e-3, -9.51592254519715870e-5),
)  # fmt: skip
"""Sun, Jupiter, Saturn, Uranus, Neptune: mass in suns, place in the earth's distances from the sun, speed in these a day."""


class Vector(A.Record):
    """A place, a speed, or how a speed changes."""

    x: A.Field[np.float64]
    y: A.Field[np.float64]
    z: A.Field[np.float64]


class Body(A.Record):
    """Where a body is, and how fast."""

    mass: A.Field[np.float64]
    place: A.Field[Vector]
    speed: A.Field[Vector]


Bodies: TypeAlias = A.Acc[A.Vector[Body]]


def plus(a: A.Exp[Vector], b: A.Exp[Vector]) -> A.Exp[Vector]:
    """The sum of two vectors."""
    return Vector(Vector.x(a) + Vector.x(b), Vector.y(a) + Vector.y(b), Vector.z(a) + Vector.z(b))


def scaled(a: A.Exp[Vector], factor: Number | float) -> A.Exp[Vector]:
    """A vector times a number."""
    return Vector(Vector.x(a) * factor, Vector.y(a) * factor, Vector.z(a) * factor)


def dot(a: A.Exp[Vector], b: A.Exp[Vector]) -> Number:
    """The sum of products."""
    return Vector.x(a) * Vector.x(b) + Vector.y(a) * Vector.y(b) + Vector.z(a) * Vector.z(b)


def pull(here: A.Exp[Body], there: A.Exp[Body]) -> A.Exp[Vector]:
    """How one body changes the speed of another; of itself not at all."""
    way = plus(Body.place(there), scaled(Body.place(here), -1))
    square = dot(way, way)
    return scaled(way, A.cond(square > 0, Body.mass(there) / (square * A.sqrt(square)), 0))


def potential(here: A.Exp[Body], there: A.Exp[Body]) -> Number:
    """Of one body near another."""
    way = plus(Body.place(there), scaled(Body.place(here), -1))
    return A.cond(dot(way, way) > 0, -Body.mass(there) / A.sqrt(dot(way, way)), 0)


def pairs(f: Callable[[A.Exp[Body], A.Exp[Body]], A.Exp[E]], bodies: Bodies) -> A.Acc[A.Matrix[E]]:
    """`f` of all pairs."""
    n = A.length(bodies)
    return A.generate(A.index(n, n), lambda ix: f(bodies[ix[0]], bodies[ix[1]]))


def step(bodies: Bodies, time: Number) -> Bodies:
    """The bodies some time later: speeds change first, then places."""

    def moved(body: A.Exp[Body], change: A.Exp[Vector]) -> A.Exp[Body]:
        speed = plus(Body.speed(body), scaled(change, time))
        return Body(Body.mass(body), plus(Body.place(body), scaled(speed, time)), speed)

    return A.zipWith(moved, bodies, A.fold(plus, Vector(0.0, 0.0, 0.0), pairs(pull, bodies)))


def energy(bodies: Bodies) -> A.Acc[A.Scalar[np.float64]]:
    """Kinetic and potential, of all."""

    def of(body: A.Exp[Body], depth: Number) -> Number:
        return Body.mass(body) * (dot(Body.speed(body), Body.speed(body)) + depth) / 2

    return A.sum(A.zipWith(of, bodies, A.sum(pairs(potential, bodies))))


def simulated(bodies: Bodies, steps: A.Acc[A.Scalar[np.int64]], time: A.Acc[A.Scalar[np.float64]]) -> Bodies:
    """The bodies after some steps, each of such a time."""
    return A.iterate(A.the(steps), lambda bodies: step(bodies, A.the(time)), bodies)


def simulated_numpy(bodies: Host, steps: int, time: float) -> Host:
    """The same in NumPy."""
    place, speed = (structured_to_unstructured(bodies[name]) for name in ("place", "speed"))
    mass = bodies["mass"]
    for _ in range(steps):
        way = place[None, :, :] - place[:, None, :]
        square = (way**2).sum(axis=2)
        np.fill_diagonal(square, np.inf)
        speed = speed + ((mass / (square * np.sqrt(square)))[:, :, None] * way).sum(axis=1) * time
        place = place + speed * time
    return unstructured_to_structured(np.column_stack([mass, place, speed]), BODY)


def planets() -> Host:
    """The sun and its large planets, in years and with such masses that the gravitational constant is 1; all of them rest."""
    table = np.array(PLANETS)
    table[:, 0] *= 4 * np.pi**2
    table[:, 4:] *= 365.24
    table[0, 4:] = -(table[1:, :1] * table[1:, 4:]).sum(axis=0) / table[0, 0]
    return unstructured_to_structured(table, BODY)


def stars(size: int = 1000) -> Host:
    """Of equal masses, in a ball, without speed."""
    random = np.random.default_rng(2026)
    table = np.zeros((size, 7))
    table[:, 0] = 1 / size
    places = random.standard_normal((size, 3))
    table[:, 1:4] = places / np.linalg.norm(places, axis=1, keepdims=True) * random.random((size, 1)) ** (1 / 3)
    return unstructured_to_structured(table, BODY)


def main() -> None:
    """Move the planets, whose energies are those of the Benchmarks Game, and stars; show what was fused."""
    run, energy_of = A.runN(simulated), A.runN(energy)
    start = planets()
    end = run(start, np.int64(1000), np.float64(0.01))
    said = [f"{float(energy_of(bodies)):.9f}" for bodies in (start, end)]
    assert said == ["-0.169075164", "-0.169087605"], said
    print(f"planets: energy {said[0]}, after 1000 steps {said[1]}, as in the Benchmarks Game")
    start = stars()
    end = run(start, np.int64(10), np.float64(0.001))
    expected = simulated_numpy(start, 10, 0.001)
    np.testing.assert_allclose(end["place"]["x"], expected["place"]["x"], rtol=1e-12)
    before, after = float(energy_of(start)), float(energy_of(end))
    assert abs(after - before) < 1e-4 * abs(before)
    written, fused = (A.explain(simulated, strategy=strategy).loops for strategy in ("none", "ilp"))
    print(f"{len(start)} stars: energy {before:.9f}, after 10 steps {after:.9f}")
    print(f"a step, loops: {written} as written, {fused} fused")


if __name__ == "__main__":
    main()
