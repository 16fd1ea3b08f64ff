"""Settings: how programs are planned and run. Given to a call, to a block (`using`), or to the process (environment).

Precedence: argument, then the innermost `using`, then `ACCEL_BACKEND` and `ACCEL_THREADS`, then the defaults. Names and values
are checked where they are given. A compiled function that knows its arguments' kinds asks for the innermost `using` alone: to
read the environment takes longer than such a call.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, TypeAlias, TypedDict, Unpack, get_args

from accel.errors import AccelValueError, here
from accel.support.cache import Cache
from accel.support.choices import (
    CHOICES,
    DUPLICATE,
    Checks,
    CostName,
    Duplicate,
    FormulationName,
    Rearrange,
    Rounding,
    Sizes,
    SolverName,
    Strategy,
    check_choice,
    check_seconds,
)
from accel.support.dataclass import dataclass
from accel.support.forks import load
from accel.support.shown import shown

if TYPE_CHECKING:
    from contextlib import _GeneratorContextManager

    from accel.ilp.problem.function_key import FunctionKey
    from accel.ilp.problem.options import CostGiven


class Given(TypedDict, total=False):
    """The settings that a user may give, by name."""

    backend: str
    threads: int
    strategy: Strategy
    cost: CostGiven
    solver: SolverName
    sizes: Sizes
    duplicate: Duplicate
    time_limit: float
    formulation: FormulationName
    products: Rounding
    rearrange: Rearrange
    checks: Checks
    contract: bool
    deterministic: bool


@dataclass(frozen=True, slots=True)
class Settings:
    """How to plan and run: `using` says what each setting means."""

    backend: str = "llvm"
    threads: int = 0
    strategy: Strategy = "ilp"
    cost: CostGiven = "default"
    solver: SolverName = "cbc"
    sizes: Sizes = "nominal"
    duplicate: Duplicate = DUPLICATE
    time_limit: float = 10.0
    formulation: FormulationName = "accel"
    products: Rounding = "fused"
    rearrange: Rearrange = "model"
    checks: Checks = "bounds"
    contract: bool = True
    deterministic: bool = True
    """Every program is: nothing would be gained by one that is not."""

    @property
    def rounding(self) -> Rounding:
        """How folds add products: to find out who made a NaN, a product must be somebody's."""
        return "rounded" if self.checks == "all" or not self.contract else self.products

    @property
    def host_calls(self) -> bool:
        """Whether programs call foreign functions, rather than computing their fallbacks."""
        return not self.backend.startswith("opencl")


_BACKEND = re.compile(r"llvm|interpreter|opencl(:[0-9]+)?")


def _wrong(message: str, hint: str) -> AccelValueError:
    return AccelValueError(message, here(), hint=hint)


def _check(name: str, value: object, given_as: str | None = None) -> None:
    if name in CHOICES:
        check_choice(name, value)
    elif name == "time_limit":
        check_seconds(name, value)
    elif name == "cost":
        if not isinstance(value, str) or value not in get_args(CostName):
            load("accel.ilp.problem.options")
            from accel.ilp.problem.options import check_cost

            check_cost(value)
    elif name == "backend":
        if not isinstance(value, str) or not _BACKEND.fullmatch(value):
            message = f"{given_as or name}={shown(value)} is unknown"
            raise _wrong(message, "'llvm', 'interpreter', 'opencl' or 'opencl:1'; see devices()")
    elif name == "threads":
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 1024:
            raise _wrong(f"threads={shown(value)} is no number of threads", "0 (all) to 1024")
    else:
        known = ", ".join(field.name for field in fields(Settings))
        if name in ("out", "donate", "keep"):
            raise _wrong(f"there is no setting {name!r}", f"it is given with a call of the function: `f(xs, {name}=…)`")
        raise _wrong(f"there is no setting {name!r}", f"the settings are {known}")


@cache
def _from_environment(backend: str | None, threads: str | None) -> Settings:
    settings = Settings()
    if backend:
        _check("backend", backend, "ACCEL_BACKEND")
        settings = replace(settings, backend=backend)
    if threads:
        if not threads.isdecimal():
            raise _wrong(f"ACCEL_THREADS={threads!r} is no number of threads", "0 (all) to 1024")
        _check("threads", int(threads))
        settings = replace(settings, threads=int(threads))
    return settings


Key: TypeAlias = "tuple[Settings, FunctionKey | None]"


def key(settings: Settings) -> Key:
    """By what caches find things made under some settings: a cost function counts by identity, and may die."""
    if isinstance(settings.cost, str):
        return settings, None
    load("accel.ilp.problem.function_key")
    from accel.ilp.problem.cost import CostModel
    from accel.ilp.problem.function_key import FunctionKey

    if isinstance(settings.cost, CostModel):
        return settings, None
    return replace(settings, cost="default"), FunctionKey(settings.cost)


_CURRENT: ContextVar[Settings | None] = ContextVar("accel settings", default=None)


def current() -> Settings:
    """The settings in force here."""
    return _CURRENT.get() or _from_environment(os.environ.get("ACCEL_BACKEND"), os.environ.get("ACCEL_THREADS"))


def innermost() -> Settings | None:
    """The settings of the innermost `using` block, if there is one: cheap to ask and to compare by identity.

    Blocks with equal settings have the same object, unless a cost function is among them.
    """
    return _CURRENT.get()


_SAME: Cache[Settings, Settings] = Cache(64)


def _same(settings: Settings) -> Settings:
    """One object for equal settings, so that whoever compares them by identity finds those of an earlier block again."""
    return _SAME.get(settings, lambda: settings) if may_be_kept(settings) else settings


def may_be_kept(settings: Settings | None) -> bool:
    """Whether whoever remembers something by these settings may hold them: a cost function of the user's may die."""
    return settings is None or isinstance(settings.cost, str)


def changed(given: Given) -> Settings:
    """The settings in force with some changed; raises `AccelValueError` on an unknown name or value."""
    if not given:
        return current()
    check(given)
    return _with(given)


def _with(given: Given) -> Settings:
    """The settings in force with some changed, which were checked."""
    return replace(current(), **given)


def check(given: Given) -> None:
    """Raise `AccelValueError` on an unknown name or value."""
    for name, value in given.items():
        _check(name, value)


def using(**given: Unpack[Given]) -> _GeneratorContextManager[Settings]:
    """Settings for a block: `with using(backend="opencl"): ...`. Raises `AccelValueError` on an unknown name or value.

    backend: `llvm`, `interpreter`, `opencl`, or `opencl:1` (the device's number in `devices()`). threads: CPU threads, 0
    for as many as the process may use. strategy, solver, time_limit (seconds): of the clustering. cost: what it has least
    of, by name, as a `CostModel`, or as a function over one `CostCluster`. sizes: what the cost takes an extent for, 1024
    each (`nominal`) or the call's (`actual`). duplicate: whether work may be repeated to save memory traffic: `True`, cheap
    producers are recomputed by their readers; `stencils`, by those that load them by index; `gathers`, only for the
    elements of a gather; `False`, never; `published`, [vB24]'s free rule for gathers. formulation: of the integer linear
    program, for comparison: ours (`accel`), that of [vB24] (`published`), or that of [Rob] (`robinson`, for programs
    without gathers). products: how sums of floats add products: in one rounding (`fused`), or rounded first as all else
    (`rounded`): docs/order.md. contract: `False` says `rounded`, too. deterministic: every run is, whatever is said here.
    rearrange: which of several ways to run a loop is taken, the one that suits its extents (`model`), or the one that was
    fastest when the first arguments of that size came (`measure`): docs/schedule/measuring.md. checks: what is checked
    beside shapes: indices (`bounds`), or for debugging `all`, so that also the first combinator that makes a NaN of
    operands without one is an `AccelNaNError`, an integer divided by zero an `AccelZeroDivisionError`, and a target that
    `permuteUnique` is given twice an `AccelValueError`; nothing is fused then, no products either, and programs are slow.
    `none` is as `bounds`: memory outside of an array is never read or written.

    >>> with A.using(backend='interpreter'):
    ...     A.run(A.sum(A.use(np.arange(4))))
    array(6)
    """
    check(given)
    return _in_force(given)


@contextmanager
def _in_force(given: Given) -> Iterator[Settings]:
    token = _CURRENT.set(_same(_with(given)))
    try:
        yield current()
    finally:
        _CURRENT.reset(token)
