"""The spine: from a labelled program to something callable, one stage after the other. Read this first.

    user's Python -> ast -> labelled -> ilp -> fusedast -> ir -> schedule -> backends

`accel/ast` builds nodes as the user's calls run; `accel/labelled/construction/build.py` makes the let-bound program; the rest
is here.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace

from accel.backends.checks import Checks
from accel.backends.choose import backend
from accel.backends.device import Around, nothing_around
from accel.backends.interpreter.backend import InterpreterBackend
from accel.backends.measure.measuring import measured
from accel.backends.protocol import Executable
from accel.errors import AccelDeviceError, here
from accel.fusedast import nodes as fusedast
from accel.fusedast.build import build as fuse
from accel.fusedast.text import text as fused_text
from accel.fusedast.verify import verify as verify_fused
from accel.ilp.problem.clustering import Plan
from accel.ilp.problem.options import Options
from accel.ilp.realise import Realised
from accel.ilp.views import best_realised
from accel.ir import nodes as ir
from accel.ir.lowering.lower import lower
from accel.ir.mentions import nests
from accel.ir.passes.contractions import merged
from accel.ir.text import text as loops_text
from accel.ir.verify import verify as verify_loops
from accel.labelled import nodes as labelled
from accel.labelled.passes.absorb import absorb
from accel.labelled.programs import programs
from accel.labelled.text import text as labelled_text
from accel.labelled.verify import verify as verify_labelled
from accel.passes import Listener, Pass, log, through
from accel.schedule.machine import PROCESSOR, Machine
from accel.schedule.templates.choose import program_schedules, verify_schedules
from accel.schedule.templates.ways import ProgramSchedules
from accel.schedule.templates.ways import text as schedules_text
from accel.settings import Settings
from accel.support.dataclass import dataclass
from accel.support.progress import progress

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Stages:
    """One program in every form that it takes.

    `labelled` is with the recomputations that `plan.recomputations` tells of. `lowered` has each cluster as its operations say;
    `loops` is what runs, in which some of these are merged. `schedules` are those of the nests of `loops`.
    """

    labelled: labelled.Program
    plan: Plan
    fused: fusedast.Program
    lowered: ir.Program
    loops: ir.Program
    schedules: ProgramSchedules


def _planning(options: Options) -> Pass[labelled.Program, Realised]:
    return Pass(
        "plan",
        lambda program: best_realised(program, options),
        lambda found: verify_labelled(found.program),
        lambda found: labelled_text(found.program),
    )


_ABSORPTION: Pass[labelled.Program, labelled.Program] = Pass("absorb", absorb, verify_labelled, labelled_text)

_FUSION: Pass[Realised, fusedast.Program] = Pass(
    "fusedast", lambda found: fuse(found.program, found.plan), verify_fused, fused_text
)


def _lowering(layouts: bool) -> Pass[fusedast.Program, ir.Program]:
    return Pass("lowered", lambda program: lower(program, layouts=layouts), verify_loops, loops_text)


def _merging(machine: Machine) -> Pass[ir.Program, ir.Program]:
    return Pass("ir", lambda loops: merged(loops, tiles=machine.has_tiles), verify_loops, loops_text)


def _scheduling(machine: Machine) -> Pass[ir.Program, ProgramSchedules]:
    return Pass("schedule", lambda loops: program_schedules(loops, machine), verify_schedules, schedules_text)


def stages(
    program: labelled.Program,
    options: Options,
    listen: Listener = log,
    machine: Machine = PROCESSOR,
    *,
    layouts: bool = True,
) -> Stages:
    """Cluster, fuse, lower and schedule for a machine; `listen` hears of each step. `layouts`: see `lower`."""
    count = sum(len(each.bindings) for each in programs(program))
    with progress(f"planning {count} operation{'s' * (count != 1)}"):
        given = program if options.strategy == "none" else through(_ABSORPTION, program, listen)
        planned = through(_planning(options), given, listen)
        fused = through(_FUSION, planned, listen)
        lowered = through(_lowering(layouts), fused, listen)
        loops = through(_merging(machine), lowered, listen)
        schedules = through(_scheduling(machine), loops, listen)
    return Stages(planned.program, planned.plan, fused, lowered, loops, schedules)


@dataclass(frozen=True, slots=True)
class Compilation:
    """An executable. `settled`: its plan is what another hour would find, too."""

    executable: Executable
    settled: bool


def compile(program: labelled.Program, options: Options, settings: Settings) -> Compilation:
    """The program on the backend that the settings name.

    Raises `AccelDeviceError`, which names the user's call, if that backend is missing or cannot run the program.
    """
    try:
        return _compiled(program, options, settings)
    except AccelDeviceError as error:
        raise AccelDeviceError(error.message, here(), hint=error.hint) from error


def _compiled(program: labelled.Program, options: Options, settings: Settings) -> Compilation:
    target = backend(settings.backend, settings.threads)
    if isinstance(target, InterpreterBackend):
        return Compilation(target.compile_labelled(program, settings.checks), settled=True)
    around: Around = nothing_around
    is_checked = settings.checks == "all"
    if is_checked:
        options = replace(options, strategy="none", duplicate=False)
        around = Checks(program)
    start = time.perf_counter()
    # The checks look at arrays as they are.
    staged = stages(program, options, machine=target.machine, layouts=not is_checked)
    planned = time.perf_counter()
    count = sum(1 for _ in nests(staged.loops))
    with progress(f"compiling {count} loop{'s' * (count != 1)} for {target.name}"):
        if settings.rearrange == "measure" and not is_checked:
            executable = measured(target, staged.loops, staged.schedules)
        else:
            executable = target.compile(staged.loops, staged.schedules, around)
    _LOG.debug(
        "%d operations in %d clusters by %s, cost %s%s, in %.1f ms; compiled for %s in %.1f ms",
        len(program.bindings), len(staged.plan.clustering.clusters), staged.plan.strategy, staged.plan.cost,
        " (proved)" if staged.plan.proved else "", (planned - start) * 1e3, target.name,
        (time.perf_counter() - planned) * 1e3,
    )  # fmt: skip
    return Compilation(executable, staged.plan.proved or not staged.plan.strategy.startswith("ilp"))
