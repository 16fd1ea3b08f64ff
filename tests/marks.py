"""The marks of tests, by which `pytest -m` chooses: `slow`, `llvm`, `opencl`, `solver`, `browser`.

Slow cases are marked where they stand. What a test needs follows from its folder, its parameters and its fixtures, and from
marks of its own where these do not say it; a test that reaches a backend or a solver without the mark fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

import accel.compile
import accel.ilp.optimise
from accel.backends.choose import AnyBackend, backend
from accel.ilp.solvers import find
from accel.ilp.solvers.protocol import Solver

slow = pytest.mark.slow

FOLDERS = {
    "llvm": (
        "llvm",
        "run",
        "issues",
        "papers",
        "examples",
        "commands",
        "differential",
        "profiling",
        "rearrange",
        "test_endurance.py",
    ),
    "opencl": ("opencl",),
    "solver": ("ilp", "papers", "explanation", "benchmarks", "commands", "differential", "llvm", "issues", "rearrange"),
}
"""What tests of a folder, or a file, of `tests` may use, by mark."""

VALUES = {"llvm": "llvm", "opencl": "opencl", "cbc": "solver", "highs": "solver", "gurobi": "solver"}
"""The marks of those whose parameters have such a value."""


def one_in(count: int, values: Iterable[object]) -> list[ParameterSet]:
    """Values for `parametrize`, tuples of them for several names: the first of every `count` is quick, the others are slow."""
    cases = [value if isinstance(value, ParameterSet) else _case(value) for value in values]
    return [case if position % count == 0 else _slow(case) for position, case in enumerate(cases)]


def _case(value: object) -> ParameterSet:
    return pytest.param(*value) if isinstance(value, tuple) else pytest.param(value)


def _slow(case: ParameterSet) -> ParameterSet:
    return pytest.param(*case.values, marks=[*case.marks, slow], id=case.id)


def needs(item: pytest.Function) -> Iterator[str]:
    """The marks that follow from where a test stands, and from what it is given."""
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    yield from (mark for mark, folders in FOLDERS.items() if folder in folders)
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    names = (value.partition(":")[0] for value in given if isinstance(value, str))
    yield from (VALUES[name] for name in names if name in VALUES)
    if "browser" in item.fixturenames:
        yield "browser"


def hold(item: pytest.Item, patch: pytest.MonkeyPatch) -> None:
    """Have a test fail that reaches what it has no mark for, and skip it where there is no such device."""

    def checked_backend(name: str, threads: int) -> AnyBackend:
        kind = name.partition(":")[0]
        _require(item, kind)
        if kind == "opencl":
            require_device()
        return backend(name, threads)

    def checked_solver(name: str) -> Solver:
        _require(item, "solver")
        return find(name)

    patch.setattr(accel.compile, "backend", checked_backend)
    patch.setattr(accel.ilp.optimise, "find", checked_solver)


def _require(item: pytest.Item, mark: str) -> None:
    if mark != "interpreter" and item.get_closest_marker(mark) is None:
        pytest.fail(f"this test needs the mark {mark!r}: see tests/marks.py")


def require_device() -> None:
    """Skip the test that runs now if there is no OpenCL device."""
    from tests.opencl.platforms import MISSING, ROWS  # looks for devices

    if not ROWS:
        pytest.skip(MISSING)
