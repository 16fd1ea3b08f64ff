"""Solvers of 0-1 programs. Each is imported when it is first used."""

from __future__ import annotations

import os
from importlib.util import find_spec

from accel.ilp.solvers.protocol import Solver

NAMES = ("cbc", "highs")


def find(name: str) -> Solver:
    """The solver of that name. Raises ImportError if it is not installed, ValueError if nobody knows it."""
    if name not in NAMES:
        raise ValueError(f"there is no solver {name!r}; there are {', '.join(NAMES)}")
    if name == "highs" and "PMIP_HIGHS_LIBRARY" not in os.environ and not any(map(find_spec, ("highspy", "highsbox"))):
        raise ImportError("HiGHS is not installed: pip install 'accel[highs]'")  # python-mip would log an error
    from accel.ilp.solvers.python_mip import PythonMip

    return PythonMip(name)
