"""Run LULESH: `python -m examples.lulesh --size N [--iterations K]`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

import accel as A
from examples.lulesh.mesh import Floats, Mesh, sedov
from examples.lulesh.step import sedov_program, time_step

ALL = 9_999_999

COST: Final = "memory"
"""Fewest bytes: gathers along the tables of this mesh are nearly in order, so they do not disturb each other in a loop."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is left of a run: the number of time steps, the time at its end, and the energy of every element."""

    iterations: int
    time: float
    energies: Floats


def arguments_of(mesh: Mesh, iterations: int = ALL) -> tuple[object, ...]:
    """What `sedov_program` is called with."""
    energies = np.zeros(mesh.size**3)
    energies[0] = mesh.energy
    limit = np.array(iterations, dtype=np.int64)
    return limit, mesh.corners, mesh.around, mesh.neighbours, mesh.moves, mesh.nodes, energies


def run(mesh: Mesh, iterations: int = ALL) -> Outcome:
    """The problem on a mesh; a `ValueError` if it leaves what LULESH takes for possible."""
    _, _, elements, clock = A.runN(sedov_program, cost=COST)(*arguments_of(mesh, iterations))
    moment, _, _, _, cycle, possible = clock
    if not possible:
        raise ValueError(f"a volume is not positive, or a viscosity too large, in time step {int(cycle)}")
    return Outcome(int(cycle), float(moment), elements[0])


def differences(size: int, energies: Floats) -> tuple[float, float, float]:
    """How far the lowest layer of elements is from its own mirror image: at most, in sum, and at most relatively."""
    layer = energies[: size * size].reshape(size, size)
    upper = np.triu_indices(size, 1)
    apart = np.abs(layer - layer.T)[upper]
    if apart.size == 0:
        return 0.0, 0.0, 0.0
    # As in LULESH, what does not differ does not count, also where there is no energy.
    relative = np.divide(apart, layer.T[upper], out=np.zeros_like(apart), where=apart > 0)
    return float(apart.max()), float(apart.sum()), float(relative.max())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the problem, say what the C++ program says at its end, and what was fused."""
    parser = argparse.ArgumentParser(prog="python -m examples.lulesh", description=main.__doc__)
    parser.add_argument("--size", type=int, default=10, help="elements to a side of the cube")
    parser.add_argument("--iterations", type=int, default=ALL, help="at most so many time steps")
    given = parser.parse_args(arguments)
    start = time.perf_counter()
    outcome = run(sedov(given.size), given.iterations)
    seconds = time.perf_counter() - start
    largest, summed, relative = differences(given.size, outcome.energies)
    print(f"size {given.size}: {outcome.iterations} iterations, final origin energy {outcome.energies[0]:.6e}")
    print(f"symmetry: {largest:.6e} at most, {summed:.6e} in sum, {relative:.6e} relatively")
    print(f"{seconds:.2f} s, of which some go into compiling")
    explanation = A.explain(time_step, cost=COST)
    print(f"a time step: {explanation.loops} loops over {dict(explanation.extents)}")
    print(f"it reads {dict(explanation.reads)} and writes {dict(explanation.writes)} passes over arrays")
    moved = explanation.bytes_read + explanation.bytes_written
    print(f"{moved:,} bytes for extents of 1,024, unfused {explanation.unfused[0]:,}")


if __name__ == "__main__":
    main()
