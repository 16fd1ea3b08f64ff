"""From nodes to an executable through all stages: for programs that nothing is known of yet.

A program is found again by its text, not by its sizes. `execution.py`, which users call, imports this when it needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from accel import settings as setting
from accel.ast.tree.host_functions import HostFunction
from accel.ast.tree.leaves import Leaf
from accel.ast.tree.nodes import ArrayNode, ArrayParameter, Use
from accel.backends.protocol import Executable
from accel.calling.relocation import Relocated
from accel.compile import Compilation, compile
from accel.ilp.problem.options import Options
from accel.labelled.array import SizeVariable
from accel.labelled.construction.build import build
from accel.labelled.meaning import bind
from accel.labelled.nodes import Program
from accel.labelled.places import host_functions, names
from accel.labelled.text import text
from accel.settings import Settings
from accel.support.cache import Cache
from accel.support.dataclass import dataclass

Key: TypeAlias = tuple[
    str, tuple[str, ...], tuple[HostFunction, ...], setting.Key, tuple[tuple[SizeVariable, int], ...]
]
"""What an executable is found by: the program's text, names that its errors give, functions of the host, settings, sizes it is
planned for."""


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A compilation, and the first program of its text."""

    compilation: Compilation
    program: Program


_COMPILED: Cache[Key, _Compiled] = Cache(512)
"""One per process, so that equal programs are compiled once."""


def options(settings: Settings, sizes: Mapping[SizeVariable, int]) -> Options:
    """What the planner is told; `sizes` are the call's, if it is to plan for them."""
    return Options(
        strategy=settings.strategy,
        cost=settings.cost,
        solver=settings.solver,
        sizes=sizes if settings.sizes == "actual" else "nominal",
        duplicate=settings.duplicate,
        time_limit=settings.time_limit,
        formulation=settings.formulation,
    )


@dataclass(frozen=True, slots=True)
class Built:
    """A program, its executable, and the nodes whose arrays the program takes behind its parameters.

    `settled`: its plan is what another hour would find, too.
    """

    program: Program
    executable: Executable
    constants: tuple[Use, ...]
    settled: bool


def built(
    nodes: Sequence[ArrayNode],
    parameters: Sequence[ArrayParameter],
    settings: Settings,
    given: Sequence[Leaf] = (),
) -> Built:
    """The program that computes `nodes`, compiled. `given`: arrays for its parameters, if it is planned for their sizes."""
    found = build(nodes, parameters, settings.rounding, settings.host_calls)
    arguments = [*given, *(leaf for constant in found.constants for leaf in constant.data)]
    executable, settled = compiled(found.program, settings, arguments)
    return Built(found.program, executable, found.constants, settled)


def compiled(program: Program, settings: Settings, arguments: Sequence[Leaf]) -> tuple[Executable, bool]:
    """The compiled program, and whether its plan is settled; the arguments matter only if it is planned for their sizes."""
    actual: dict[SizeVariable, int] = {}
    if settings.sizes == "actual":
        actual = bind.sizes(program.parameters, program.own_shapes, program.equalities, arguments)
    key = (
        text(program),
        names(program, every=settings.checks == "all"),
        host_functions(program),
        setting.key(settings),
        tuple(sorted(actual.items())),
    )
    found = _COMPILED.get(key, lambda: _Compiled(compile(program, options(settings, actual), settings), program))
    executable = found.compilation.executable
    if found.program is not program:
        executable = Relocated(executable, found.program, lambda: program)
    return executable, found.compilation.settled
