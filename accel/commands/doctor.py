"""`python -m accel doctor`: what accel needs, whether it works here, and what to do if not."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

import numpy as np

import accel as A
from accel.backends.llvm.machine.target import host
from accel.backends.opencl.machine.devices import device as opencl_device
from accel.commands.cache import summary
from accel.errors import AccelDeviceError, AccelError
from accel.ilp.cache.plan_cache import PLANS
from accel.ilp.solvers import NAMES, TITLES, find, is_installed
from accel.ilp.solvers.linear import Linear, Variable
from accel.support.choices import SolverName
from accel.support.distribution import pip_install


def doctor() -> int:
    """Print one line per thing; the exit status is 1 if something that every program needs does not work."""
    print(f"ok    Python {platform.python_version()} on {platform.machine()} {sys.platform}")
    required = [_installed(name) for name in ("numpy", "llvmlite", "mip")]
    required += [_works("the solver CBC", lambda: _solves("cbc")), _works("clustering", _clusters)]
    required += [_works("the llvm backend", lambda: _runs("llvm"))]
    if required[-1] and not host().processor.has_fma:
        print("none  this processor has no fma: sums of products are slow; products='rounded' does without")
    for name in NAMES:
        if name != "cbc":
            _optional_solver(name)
    _installed("pyopencl")
    for device in A.devices():
        if device.backend.startswith("opencl"):
            _works(str(device), lambda name=device.backend: _runs(name))  # type: ignore[misc]  # a default in a lambda
    any_opencl_device()
    print(f"ok    {summary()}" if PLANS.trouble() is None else f"none  {summary()}")
    return int(not all(required))


def any_opencl_device() -> None:
    """Why there is none, if so."""
    try:
        opencl_device()
    except AccelDeviceError as error:
        print(f"none  {error.message}; {error.hint}")


def _installed(name: str) -> bool:
    try:
        print(f"ok    {name} {version(name)}")
    except PackageNotFoundError:
        print(f"none  {name} is not installed")
        return False
    return True


def _works(what: str, check: Callable[[], None]) -> bool:
    try:
        check()
    except (AccelError, ImportError, OSError) as error:
        print(f"FAIL  {what}: {error}")
        return False
    print(f"ok    {what}")
    return True


def _program() -> A.Acc[A.Scalar[np.int64]]:
    return A.fold(A.add, 0, A.map(lambda x: x * x, A.use(np.arange(10_000))))


def _optional_solver(name: SolverName) -> None:
    title = TITLES[name]
    if is_installed(name):
        _works(f"the solver {title}", lambda: _solves(name))
    else:
        print(f"none  the solver {title} is not installed; {pip_install(name)} brings it")


def _solves(name: SolverName) -> None:
    """x + y >= 1, 2 x + y as little as can be."""
    variables = (Variable(0, "x", True), Variable(1, "y", True))
    try:
        session = find(name).session(variables, [Linear(-1, {0: 1, 1: 1})], relaxed=False)
        solution = session.minimise(Linear(0, {0: 2, 1: 1}), 10.0)
    except Exception as error:  # of whatever kind the solver raises: no licence, for instance
        raise AccelError(f"{type(error).__name__}: {error}") from error
    if solution is None or [round(value) for value in solution.values.values()] != [0, 1]:
        raise AccelError(f"a program of two variables came out as {solution}")


def _clusters() -> None:
    explanation = A.explain(_program())
    if not explanation.proved or explanation.loops != 1:
        raise AccelError(f"the clustering was not proved optimal: {explanation.strategy}")


def _runs(backend: str) -> None:
    result = A.run(_program(), backend=backend)
    if int(result) != sum(i * i for i in range(10_000)):
        raise AccelError(f"a sum of squares came out as {result}")
