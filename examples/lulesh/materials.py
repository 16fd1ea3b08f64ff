"""The second half of a time step, within elements: artificial viscosity, the equation of state of a gas, and the next dt.

LULESH divides its elements into regions, evaluates the equation of state region by region, and does so again, up to
twenty times, in some regions, for the load of codes with many materials. All its regions hold the same gas, each evaluation
begins with the same energies, and each element is in one region: neither the order nor the repetition changes a bit of
the result. Here every element is evaluated once.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

import accel as A
from examples.lulesh.elements import TINY, Change
from examples.lulesh.geometry import Number
from examples.lulesh.nodes import Matter
from examples.lulesh.tables import Numbers, Six, gathered, point

Around: TypeAlias = tuple[np.float64, np.float64, np.float64, np.float64, np.float64, np.float64]
"""What the six neighbours of an element have."""

STEEPEST, LIMIT = 1.0, 2.0
LINEAR, QUADRATIC = 0.5, 2.0 / 3.0
LEAST = 1e-7
"""Energies, pressures and viscosities below it are 0."""
LEAST_ENERGY, LEAST_PRESSURE = -1e15, 0.0
LEAST_VOLUME, LARGEST_VOLUME, SAME_VOLUME = 1e-9, 1e9, 1e-10
MOST_VISCOSITY = 1e12
COURANT, GROWTH = 64.0 * 2.0 * 2.0, 0.1
NEVER = 1e20


def cut(x: Number) -> Number:
    """`x`, or 0 if it is small."""
    return A.select(A.abs(x) < LEAST, 0.0, x)


def limiter(here: Number, before: Number, behind: Number) -> Number:
    """How smooth the speed is along an axis, from 0 to 1; where it is smooth there is no shock."""
    norm = 1.0 / (here + TINY)
    a, b = before * norm, behind * norm
    return A.min(A.max(A.min(A.min(0.5 * (a + b), a * LIMIT), b * LIMIT), 0.0), STEEPEST)


def viscosities(change: A.Exp[Change], around: A.Exp[Around], initial: Number) -> tuple[Number, Number]:
    """The linear and the quadratic term of the artificial viscosity, which spreads a shock over some elements."""
    relative, _, _, growth, slopes, lengths = A.unlift(change)
    sides = A.unlift(around)
    density = initial / (initial * relative)
    linear, quadratic = [], []
    for k, (slope, length) in enumerate(zip(point(slopes), point(lengths), strict=True)):
        smooth = limiter(slope, sides[2 * k], sides[2 * k + 1])
        jump = A.min(slope * length, 0.0)
        linear.append(jump * (1.0 - smooth))
        quadratic.append(jump * jump * (1.0 - smooth * smooth))
    expands = growth > 0
    return (
        A.select(expands, 0.0, -LINEAR * density * (linear[0] + linear[1] + linear[2])),
        A.select(expands, 0.0, QUADRATIC * density * (quadratic[0] + quadratic[1] + quadratic[2])),
    )


def pressure(energy: Number, compression: Number, volume: Number) -> Number:
    """The pressure of the gas."""
    p = cut(2.0 / 3.0 * (compression + 1.0) * energy)
    return A.max(A.select(volume >= LARGEST_VOLUME, 0.0, p), LEAST_PRESSURE)


def sound_speed(energy: Number, p: Number, compression: Number, volume: Number) -> Number:
    """The speed of sound in the gas."""
    square = 2.0 / 3.0 * energy + volume * volume * (2.0 / 3.0 * (compression + 1.0)) * p
    return A.select(square <= 0.1111111e-36, 0.3333333e-18, A.sqrt(square))


def evaluated(matter: A.Exp[Matter], change: A.Exp[Change], linear: Number, quadratic: Number) -> A.Exp[Matter]:
    """An element's state after its volume changed: a predictor, and two correctors of its energy."""
    old_energy, p_given, q_old, _, _ = A.unlift(matter)
    relative, delta, *_ = A.unlift(change)
    v = A.min(A.max(relative, LEAST_VOLUME), LARGEST_VOLUME)
    expands, empty = delta > 0, v >= LARGEST_VOLUME
    p_old = A.select(empty, 0.0, p_given)
    compression = A.select(empty, 0.0, 1.0 / v - 1.0)
    half = A.select(v <= LEAST_VOLUME, compression, 1.0 / (v - delta * 0.5) - 1.0)
    half = A.select(empty, 0.0, half)

    def viscosity(energy: Number, p: Number, ratio: Number, size: Number) -> Number:
        return A.select(expands, 0.0, sound_speed(energy, p, ratio, size) * linear + quadratic)

    energy = A.max(old_energy - 0.5 * delta * (p_old + q_old), LEAST_ENERGY)
    p_half = pressure(energy, half, v)
    q_half = viscosity(energy, p_half, half, 1.0 / (1.0 + half))
    energy = energy + 0.5 * delta * (3.0 * (p_old + q_old) - 4.0 * (p_half + q_half))
    energy = A.max(cut(energy), LEAST_ENERGY)
    p = pressure(energy, compression, v)
    q = viscosity(energy, p, compression, v)
    energy = energy - (7.0 * (p_old + q_old) - 8.0 * (p_half + q_half) + (p + q)) * delta * (1 / 6)
    energy = A.max(cut(energy), LEAST_ENERGY)
    p = pressure(energy, compression, v)
    q = cut(viscosity(energy, p, compression, v))
    kept = A.select(A.abs(relative - 1.0) < SAME_VOLUME, 1.0, relative)
    return A.lift(energy, p, q, kept, sound_speed(energy, p, compression, v))


def material(
    matter: A.Exp[Matter], change: A.Exp[Change], around: A.Exp[Around], initial: Number
) -> A.Exp[tuple[Matter, np.bool_]]:
    """An element's state after the time step, and whether its volume and its viscosity until now are possible."""
    _, _, q_old, _, _ = A.unlift(matter)
    linear, quadratic = viscosities(change, around, initial)
    possible = (A.unlift(change)[0] > 0) & (q_old <= MOST_VISCOSITY)
    return A.lift(evaluated(matter, change, linear, quadratic), possible)


def neighbours(tables: A.Acc[A.Vector[Six]], changes: A.Acc[A.Vector[Change]]) -> A.Acc[A.Vector[Around]]:
    """For every element how the speed changes in the elements before and behind, along xi, eta and zeta."""

    def slope(axis: int) -> Numbers:
        return A.map(lambda change: point(A.unlift(change)[4])[axis], changes)

    def beside(side: int) -> Numbers:
        return gathered(A.map(lambda row: A.unlift(row)[side], tables), slope(side // 2))

    return A.zip6(*[beside(side) for side in range(6)])


def courant(matter: A.Exp[Matter], change: A.Exp[Change]) -> Number:
    """The time in which sound, or a shock, crosses an element."""
    _, _, length, growth, _, _ = A.unlift(change)
    sound = A.unlift(matter)[4]
    square = sound * sound + A.select(growth < 0, COURANT * length * length * growth * growth, 0.0)
    return A.select(growth != 0, length / A.sqrt(square), NEVER)


def hydro(change: A.Exp[Change]) -> Number:
    """The time in which an element's volume changes by as much as is allowed."""
    growth = A.unlift(change)[3]
    return A.select(growth != 0, GROWTH / (A.abs(growth) + 1e-20), NEVER)
