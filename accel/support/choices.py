"""What settings may be, by name, and how a value is judged that is none of these.

Settings are checked where they are given, also in a process that needs no planner: nothing is imported here that knows what
they mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from accel.errors import AccelValueError, here
from accel.support.shown import shown

Strategy: TypeAlias = Literal[
    "ilp", "none", "linear", "greedy", "greedy_top_down", "greedy_bottom_up", "unintrusive", "branch_and_bound"
]
CostName: TypeAlias = Literal[
    "default", "memory", "clusters", "edges", "intermediates", "reads", "reads_writes", "bytes", "max_contract",
    "max_locality", "robinson",
]  # fmt: skip
SolverName: TypeAlias = Literal["cbc", "highs", "gurobi"]
Sizes: TypeAlias = Literal["nominal", "actual"]
Duplicate: TypeAlias = bool | Literal["stencils", "gathers", "published"]
FormulationName: TypeAlias = Literal["accel", "published", "robinson"]
Rounding: TypeAlias = Literal["fused", "rounded"]
"""How sums of floats add products: in one rounding, or rounded first."""
Checks: TypeAlias = Literal["bounds", "all", "none"]
"""What is checked while a program runs, beside shapes. `none` asks for nothing, and gets what safety needs: `bounds`."""
Rearrange: TypeAlias = Literal["model", "measure"]

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

DUPLICATE: Duplicate = "stencils"
"""The default of `duplicate`."""

RECOMPUTED_BY_READERS: frozenset[Duplicate] = frozenset({True, "stencils"})
"""The values of `duplicate` with which readers may recompute what they read."""

CHOICES: Mapping[str, tuple[object, ...]] = MappingProxyType(
    {
        "strategy": STRATEGIES,
        "solver": get_args(SolverName),
        "sizes": get_args(Sizes),
        "duplicate": (True, False, "stencils", "gathers", "published"),
        "formulation": get_args(FormulationName),
        "products": get_args(Rounding),
        "rearrange": get_args(Rearrange),
        "checks": get_args(Checks),
        "contract": (True, False),
        "deterministic": (True, False),
    }
)
"""The settings that have few values."""


def check_choice(name: str, value: object) -> None:
    """Raise `AccelValueError` unless `value` is one of the few of the setting `name`."""
    choices: Sequence[object] = CHOICES[name]
    # 1 == True, but a number is no answer to `duplicate`; arrays compare element by element.
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        hint = "one of " + ", ".join(map(repr, choices))
        raise AccelValueError(f"{name}={shown(value)} is no setting", here(), hint=hint)


def check_seconds(name: str, value: object) -> None:
    """Raise `AccelValueError` unless `value` is a time."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        raise AccelValueError(f"{name}={shown(value)} is no number of seconds", here(), hint="more than 0")
