"""The marks of tests, by which `pytest -m` chooses: `slow`, `long`, `llvm`, `opencl`, `solver`, `browser`.

Slow cases are marked where they stand. What a test needs follows from its folder, its parameters and its fixtures, and from
marks of its own where these do not say it; a test that reaches a backend or a solver without the mark fails.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from zlib import crc32

import pytest
from _pytest.mark import ParameterSet

import accel.compile
import accel.ilp.optimise
from accel.backends.choose import AnyBackend, backend
from accel.ilp.solvers import find
from accel.ilp.solvers.protocol import Solver

slow = pytest.mark.slow
long = pytest.mark.long
"""What is long is slow as well, and of the slow cases of families most are long: see `families`."""

FOLDERS = {
    "llvm": (
        "llvm",
        "run",
        "issues",
        "papers",
        "examples",
        "commands",
        "differential",
        "mistakes",
        "profiling",
        "rearrange",
        "test_endurance.py",
    ),
    "opencl": ("opencl",),
    "solver": (
        "ilp",
        "papers",
        "explanation",
        "benchmarks",
        "commands",
        "differential",
        "llvm",
        "issues",
        "mistakes",
        "rearrange",
    ),
}
"""What tests of a folder, or a file, of `tests` may use, by mark."""

COSTLY = {*FOLDERS["llvm"], *FOLDERS["opencl"], *FOLDERS["solver"], "schedule"}
"""Folders of which most tests compile, solve or interpret programs."""

NOT_OF_CODE = {"ast", "commands", "errors", "explanation", "labelled", "profiling", "test_docs.py", "test_reference.py"}
"""Folders and files whose tests ask what programs mean, and what is said of them: only the long run optimises their code."""

QUICK = 16
"""One case of so many of a family there is quick."""

KEPT = 256
"""Of the slow cases of families, by their names one of so many is not long; and one of each family that has no other."""

VALUES = {"llvm": "llvm", "opencl": "opencl", "cbc": "solver", "highs": "solver", "gurobi": "solver"}
"""The marks of those whose parameters have such a value."""


def one_in(count: int, values: Iterable[object], kept: int = 1) -> list[ParameterSet]:
    """Values for `parametrize`, tuples of them for several names: the first of every `count` is quick, the others are slow.

    Of these, all but the first of every `kept` are long as well.
    """
    cases = [value if isinstance(value, ParameterSet) else _case(value) for value in values]
    return [_marked(case, position, count, kept) for position, case in enumerate(cases)]


def _marked(case: ParameterSet, position: int, count: int, kept: int) -> ParameterSet:
    if position % count == 0:
        return case
    return pytest.param(*case.values, marks=[*case.marks, slow if position % kept == 0 else long], id=case.id)


def _case(value: object) -> ParameterSet:
    return pytest.param(*value) if isinstance(value, tuple) else pytest.param(value)


def numbers_of_threads() -> tuple[int, ...]:
    """On which results must be the same: alone, and in halves and thirds; where only some tests run, without halves."""
    return (1, 2, 3) if os.environ["ACCEL_TESTS"] == "all" else (1, 3)


def families(items: Iterable[pytest.Function]) -> None:
    """Mark as slow all cases of each family in a costly folder but the first of every few; of slow cases all but few as long.

    One case of each family at least is not long, unless all of them stand there as long.
    """
    cases = [item for item in items if hasattr(item, "callspec")]
    seen: Counter[str] = Counter()
    for item in cases:
        if _folder(item) in COSTLY:
            if seen[_family(item)] % QUICK and not _has(item, "slow"):
                item.add_marker(slow)
            seen[_family(item)] += 1
    tested = {
        _family(item) for item in cases if not _has(item, "slow") or not (_has(item, "long") or _is_left_out(item))
    }
    for item in cases:
        if _has(item, "slow") and not _has(item, "long"):
            if _is_left_out(item) and _family(item) in tested:
                item.add_marker(long)
            tested.add(_family(item))


def _family(item: pytest.Function) -> str:
    return item.nodeid.partition("[")[0]


def _has(item: pytest.Function, mark: str) -> bool:
    return item.get_closest_marker(mark) is not None


def needs(item: pytest.Function) -> Iterator[str]:
    """The marks that follow from where a test stands, and from what it is given."""
    here = _folder(item)
    if _has(item, "long"):
        yield "slow"
    yield from (mark for mark, folders in FOLDERS.items() if here in folders)
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    names = (value.partition(":")[0] for value in given if isinstance(value, str))
    yield from (VALUES[name] for name in names if name in VALUES)
    if "browser" in item.fixturenames:
        yield "browser"


def _folder(item: pytest.Function) -> str:
    return folder(item.path)


@cache
def folder(path: Path) -> str:
    """The folder of `tests` that a file stands in, or the file's own name."""
    return path.relative_to(Path(__file__).parent).parts[0]


def _is_left_out(item: pytest.Function) -> bool:
    """Whether a plain `pytest` leaves out a slow case of a family, of which it takes one in so many: by its name."""
    return crc32(item.name.encode()) % KEPT != 0


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
    patch.setattr(import_module("accel.entrances.put"), "backend_of", checked_backend)
    patch.setattr(accel.ilp.optimise, "find", checked_solver)


def _require(item: pytest.Item, mark: str) -> None:
    if mark != "interpreter" and item.get_closest_marker(mark) is None:
        pytest.fail(f"this test needs the mark {mark!r}: see tests/marks.py")


def require_device() -> None:
    """Skip the test that runs now if there is no OpenCL device."""
    from tests.opencl.platforms import MISSING, ROWS  # looks for devices

    if not ROWS:
        pytest.skip(MISSING)
