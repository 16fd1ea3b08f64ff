"""Solvers of 0-1 programs. Each is imported when it is first used."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import assert_never, get_args

from accel.ilp.solvers.protocol import Solver
from accel.support.choices import SolverName
from accel.support.distribution import pip_install
from accel.support.forks import load

NAMES: tuple[SolverName, ...] = get_args(SolverName)
TITLES: Mapping[SolverName, str] = MappingProxyType({"cbc": "CBC", "highs": "HiGHS", "gurobi": "Gurobi"})


def is_installed(name: SolverName) -> bool:
    """Whether the packages of a solver are there; what they need beyond that, a licence for instance, is not looked at."""
    match name:
        case "cbc":
            return find_spec("mip") is not None
        case "highs":
            return "PMIP_HIGHS_LIBRARY" in os.environ or any(map(find_spec, ("highspy", "highsbox")))
        case "gurobi":
            return find_spec("gurobipy") is not None
        case _:
            assert_never(name)


def find(name: str) -> Solver:
    """The solver of that name. Raises ImportError if it is not installed, ValueError if it is unknown."""
    known = next((one for one in NAMES if one == name), None)
    if known is None:
        raise ValueError(f"there is no solver {name!r}; there are {', '.join(NAMES)}")
    if not is_installed(known):
        command = "pip install mip" if known == "cbc" else pip_install(known)
        raise ImportError(f"{TITLES[known]} is not installed: {command}")
    match known:
        case "gurobi":
            load("accel.ilp.solvers.gurobi")
            from accel.ilp.solvers.gurobi import Gurobi

            return Gurobi()
        case "cbc" | "highs":
            load("accel.ilp.solvers.python_mip")
            from accel.ilp.solvers.python_mip import PythonMip

            return PythonMip(known)
        case _:
            assert_never(known)
