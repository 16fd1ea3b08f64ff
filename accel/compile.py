"""The spine: from a labelled program to something callable, one stage after the other. Read this first.

    user's Python -> ast -> labelled -> ilp -> fusedast -> ir -> backends

`accel/ast` builds nodes as the user's calls run; `accel/labelled/construction/build.py` makes the let-bound program; the rest
is here.
"""

from __future__ import annotations

import logging
import os
import time
from dataclasses import dataclass

from accel.backends.choose import backend
from accel.backends.interpreter.backend import InterpreterBackend
from accel.backends.protocol import Executable
from accel.errors import AccelDeviceError, here
from accel.fusedast import nodes as fusedast
from accel.fusedast.build import build as fuse
from accel.fusedast.verify import verify as verify_fused
from accel.ilp.plan import plan
from accel.ilp.problem.clustering import Plan
from accel.ilp.problem.options import Options
from accel.ilp.realise import realised
from accel.ir import nodes as ir
from accel.ir.lower import lower
from accel.ir.verify import verify as verify_loops
from accel.labelled import nodes as labelled
from accel.labelled.verify import verify as verify_labelled
from accel.settings import Settings

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Stages:
    """One program in every form that it takes; `labelled` is with the recomputations that `plan.recomputations` tells of."""

    labelled: labelled.Program
    plan: Plan
    fused: fusedast.Program
    loops: ir.Program


def stages(program: labelled.Program, options: Options) -> Stages:
    """Cluster, fuse and lower. With `ACCEL_VERIFY=1` each stage's verifier runs on what it got."""
    verify = os.environ.get("ACCEL_VERIFY") == "1"
    if verify:
        verify_labelled(program)
    program, planned = _planned(program, options, verify)
    fused = fuse(program, planned)
    if verify:
        verify_fused(fused)
    loops = lower(fused)
    if verify:
        verify_loops(loops)
    return Stages(program, planned, fused, loops)


def _planned(program: labelled.Program, options: Options, verify: bool) -> tuple[labelled.Program, Plan]:
    """The plan, and the program with the recomputations that it asks for."""
    found = realised(program, plan(program, options), options)
    if verify and found.program is not program:
        verify_labelled(found.program)
    return found.program, found.plan


def compile(program: labelled.Program, options: Options, settings: Settings) -> Executable:
    """The program on the backend that the settings name.

    Raises `AccelDeviceError`, which names the user's call, if that backend is missing or cannot run the program.
    """
    try:
        return _compiled(program, options, settings)
    except AccelDeviceError as error:
        raise AccelDeviceError(error.message, here(), hint=error.hint) from error


def _compiled(program: labelled.Program, options: Options, settings: Settings) -> Executable:
    target = backend(settings.backend, settings.threads)
    if isinstance(target, InterpreterBackend):
        return target.compile_labelled(program)
    start = time.perf_counter()
    staged = stages(program, options)
    planned = time.perf_counter()
    executable = target.compile(staged.loops)
    _LOG.debug(
        "%d operations in %d clusters by %s, cost %s%s, in %.1f ms; compiled for %s in %.1f ms",
        len(program.bindings), len(staged.plan.clustering.clusters), staged.plan.strategy, staged.plan.cost,
        " (proved)" if staged.plan.proved else "", (planned - start) * 1e3, target.name,
        (time.perf_counter() - planned) * 1e3,
    )  # fmt: skip
    return executable
