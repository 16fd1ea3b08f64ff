"""Solvers of 0-1 programs. Each is imported when it is first used."""

from __future__ import annotations

from accel.ilp.solvers.protocol import Solver

NAMES = ("cbc", "highs")


def find(name: str) -> Solver:
    """The solver of that name. Raises ImportError if it is not installed, ValueError if nobody knows it."""
    if name not in NAMES:
        raise ValueError(f"there is no solver {name!r}; there are {', '.join(NAMES)}")
    from accel.ilp.solvers.python_mip import PythonMip

    return PythonMip(name)
