"""A whole time step, and the loop over them, as one program over arrays."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

import accel as A
from examples.lulesh.elements import kinematics
from examples.lulesh.geometry import Number
from examples.lulesh.materials import NEVER, courant, hydro, material, neighbours
from examples.lulesh.nodes import Elements, Matter, corner_forces, masses, moved, summed, volumes
from examples.lulesh.tables import Eight, Flags, Node, Numbers, Points, Six, at_corners

Time: TypeAlias = tuple[np.float64, np.float64, np.float64, np.float64, np.int64, np.bool_]
"""The time, the last time step, the next by Courant's condition and by change of volume, the number of steps, and whether all
was possible until now."""
Clock: TypeAlias = A.Acc[A.Scalar[Time]]
State: TypeAlias = tuple[Points, Points, Elements, Clock]
"""Places and speeds of nodes, what elements hold, and the clock."""

STOP = 1e-2
LONGEST = 1e-2
SAME, FASTER = 1.1, 1.2


def advanced(clock: A.Exp[Time]) -> A.Exp[Time]:
    """The clock at the end of the next time step, whose length is neither much longer than before nor leaves a short rest."""
    time, old, by_courant, by_hydro, cycle, possible = A.unlift(clock)
    allowed = A.select(by_courant < NEVER, by_courant / 2.0, NEVER)
    allowed = A.select(by_hydro < allowed, by_hydro * 2.0 / 3.0, allowed)
    ratio = allowed / old
    grown = A.select(ratio < SAME, old, A.select(ratio > FASTER, old * FASTER, allowed))
    dt = A.select(cycle == 0, old, A.min(A.select(ratio >= 1.0, grown, allowed), LONGEST))
    rest = STOP - time
    rest = A.select((rest > dt) & (rest < 4.0 * dt / 3.0), 2.0 * dt / 3.0, rest)
    dt = A.min(dt, rest)
    return A.lift(time + dt, dt, by_courant, by_hydro, cycle + 1, possible)


def time_step(
    corners: A.Acc[A.Vector[Eight]],
    around: A.Acc[A.Vector[Eight]],
    tables: A.Acc[A.Vector[Six]],
    initial: Numbers,
    nodes: A.Acc[A.Vector[Node]],
    places: Points,
    speeds: Points,
    elements: Elements,
    clock: Clock,
) -> State:
    """One time step: the mesh's tables and what does not change, and the state; the state after it."""
    ticked = A.compute(A.map(advanced, clock))
    time, dt, _, _, cycle, possible = A.unlift(A.the(ticked))
    forces, solid = A.unzip(
        A.zipWith4(corner_forces, at_corners(corners, places), at_corners(corners, speeds), elements, initial)
    )
    new_places, new_speeds = A.unzip(
        A.zipWith3(
            lambda place, node, acting: moved(place, node, acting, dt),
            A.zip(places, speeds),
            nodes,
            summed(around, forces),
        )
    )
    # Neighbours look at each other's changes, so these are in memory in any case.
    changes = A.compute(
        A.zipWith4(
            lambda cell, speed, size, matter: kinematics(cell, speed, size, A.unlift(matter)[3], dt),
            at_corners(corners, new_places),
            at_corners(corners, new_speeds),
            initial,
            elements,
        )
    )
    new_elements, sane = A.unzip(A.zipWith4(material, elements, changes, neighbours(tables, changes), initial))
    by_courant = A.fold(A.min, NEVER, A.zipWith(courant, new_elements, changes))
    by_hydro = A.fold(A.min, NEVER, A.map(hydro, changes))
    well = A.and_(A.zipWith(lambda a, b: a & b, solid, sane))
    later = A.zipWith3(lambda c, h, good: A.lift(time, dt, c, h, cycle, possible & good), by_courant, by_hydro, well)
    return new_places, new_speeds, new_elements, later


def sedov_program(
    limit: A.Acc[A.Scalar[np.int64]],
    corners: A.Acc[A.Vector[Eight]],
    around: A.Acc[A.Vector[Eight]],
    tables: A.Acc[A.Vector[Six]],
    moves: A.Acc[A.Vector[Flags]],
    positions: Points,
    energies: Numbers,
) -> State:
    """The state at the end, or after `limit` time steps: the mesh's tables, places of nodes, energies of elements."""
    initial = A.compute(volumes(corners, positions))
    nodes = A.compute(A.zip(masses(around, initial), moves))
    return A.awhile(
        lambda state: A.zipWith(unfinished, state[3], limit),
        lambda state: time_step(corners, around, tables, initial, nodes, *state),
        beginning(positions, energies, initial),
    )


def unfinished(clock: A.Exp[Time], limit: A.Exp[np.int64]) -> A.Exp[np.bool_]:
    """Whether there is another time step."""
    time, _, _, _, cycle, possible = A.unlift(clock)
    return (time < STOP) & (cycle < limit) & possible


def beginning(positions: Points, energies: Numbers, initial: Numbers) -> State:
    """The state at time 0: nothing moves; the first time step lets sound cross half of element 0."""
    zero, one = A.constant(0, np.float64), A.constant(1, np.float64)

    def filled(energy: Number) -> A.Exp[Matter]:
        return A.lift(energy, zero, zero, one, zero)

    dt = 0.5 * A.cbrt(initial[0]) / A.sqrt(2.0 * energies[0])
    never = A.constant(NEVER, np.float64)
    clock = A.unit(A.lift(zero, dt, never, never, A.constant(0, np.int64), A.constant(True, np.bool_)))
    speeds = A.map(lambda _: A.lift(zero, zero, zero), positions)
    return positions, speeds, A.map(filled, energies), clock
