"""`profile`: what each loop of a program takes, in milliseconds, GB/s and as a share of the machine's bandwidth.

In: a program, or a function with its arrays. Out: a `Profile`. The program is planned as `run` would plan it, and run several
times, with a clock around every launch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Unpack

from accel import settings as setting
from accel.ast.handles.habits.values import is_function
from accel.backends.choose import backend
from accel.backends.interpreter.backend import InterpreterBackend
from accel.backends.protocol import Backend
from accel.calling.annotations import parameters_of
from accel.errors import AccelDeviceError, AccelTypeError, here
from accel.explanation.explain import Subject, explanation, subject, with_ways
from accel.explanation.explanation import Explanation
from accel.explanation.ways import chosen
from accel.profiling.profiled import LoopProfile, Profile
from accel.profiling.runs import Timing, bandwidth, timed
from accel.settings import Given, Settings


def profile(program: object, *arrays: object, **given: Unpack[Given]) -> Profile:
    """Run a program several times, and say what each of its loops takes.

    program: an `Acc`, a tuple of them, or a function (a `runN` one too) with the arrays to run it on. Raises what `run` raises,
    `AccelTypeError` for a function without its arrays, and `AccelDeviceError` for the interpreter, which has no loops.

    >>> measured = A.profile(A.sum, np.ones(1000))
    >>> len(measured.loops)
    1
    """
    settings = setting.changed(given)
    _require_arrays(program, arrays)
    try:
        return _profiled(subject(program, arrays, settings), _target(settings), settings)
    except AccelDeviceError as error:
        raise AccelDeviceError(error.message, here(), hint=error.hint) from error


def _require_arrays(program: object, arrays: tuple[object, ...]) -> None:
    if arrays or not is_function(program) or parameters_of(program) == []:
        return
    hint = f"write profile({getattr(program, '__name__', 'function')}, …)"
    raise AccelTypeError("a function is profiled with the arrays that it is to run on", here(), hint=hint)


def _target(settings: Settings) -> Backend:
    found = backend(settings.backend, settings.threads)
    if isinstance(found, InterpreterBackend):
        raise AccelDeviceError("the interpreter has no loops to measure", hint="use backend='llvm' or backend='opencl'")
    return found


def _profiled(found: Subject, target: Backend, settings: Settings) -> Profile:
    assert found.data is not None, "only a function without arrays has none"
    ways = chosen(found.staged, found.data, found.sizes, settings)
    timing = timed(found.staged.loops, found.data, target, ways.schedules)
    limit = bandwidth(target, settings.threads)
    explained = with_ways(explanation(found), ways)
    loops = tuple(_loops(found, explained, timing, limit))
    pairs = zip(explained.clusters, loops, strict=True)
    measured = replace(explained, clusters=tuple(replace(cluster, measured=loop) for cluster, loop in pairs))
    return Profile(found.name, target.name, timing.runs, timing.seconds * 1e3, limit, loops, measured)


def _loops(found: Subject, explained: Explanation, timing: Timing, limit: float) -> Iterator[LoopProfile]:
    """The loops in the order of the explanation, which numbers them."""
    operations = {operation.name: operation for operation in explained.operations}
    for cluster in explained.clusters:
        tally = timing.loops[cluster.nest]
        yield LoopProfile(
            times=tally.times,
            milliseconds=tally.seconds * 1e3,
            bytes_read=tally.bytes_read,
            bytes_written=tally.bytes_written,
            bandwidth=limit,
            number=cluster.number,
            title=cluster.title,
            operations=tuple(operations[name] for name in cluster.operations),
            part=cluster.part,
            ways=cluster.ways,
        )
