"""Check programs by their seeds, and say of a failure how to run it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from accel.errors import AccelError, AccelShapeError
from accel.support.choices import STRATEGIES
from tests.differential.data import HostArray, inputs
from tests.differential.generate import generate
from tests.differential.oracle.run import is_refused, outcomes
from tests.differential.oracle.values import Fault
from tests.differential.programs import Program
from tests.differential.shrink import shrink
from tests.differential.source import HEAD, file_source, function_source
from tests.differential.subjects import (
    Function,
    attempt,
    case,
    difference,
    failures,
    has_elementary,
    on_opencl,
    reference,
    shared,
    together,
)
from tests.differential.trials import Device, Trial, Trials, Way, thorough


def loaded(program: Program) -> Function:
    """The printed program, as Python reads it."""
    names: dict[str, Function] = {}
    # The program that is checked is the program that is printed: nothing can differ between them.
    exec(compile(HEAD + function_source(program), "<random program>", "exec"), names)
    return names["program"]


def failing(program: Program, trial: Trial, device: Device | None = None) -> list[str]:
    """What breaks the rule; a program that cannot even be built breaks it too."""
    function, arrays = loaded(program), inputs(program)
    try:
        given = replace(case(function, arrays), trial=trial)
    except Exception as error:  # whatever else the front end raises on a well-typed program is a bug
        return [] if _is_right(error, function, arrays) else [f"building: {type(error).__name__}: {error}"]
    return failures(given, device)


def _is_right(error: Exception, function: Function, arrays: Sequence[HostArray]) -> bool:
    """Whether a program may fail when it is built: for extents that are known then and cannot be, also of what nobody needs.

    Of arrays that accel does not take, shorter ones are built with, in which places may be missing.
    """
    if is_refused(arrays):
        return isinstance(error, AccelError)
    if not isinstance(error, AccelShapeError):
        return False
    return "an extent is too large" in str(error) or isinstance(next(outcomes(function, arrays)), Fault)


def complaint(seed: int, program: Program, trial: Trial, device: Device | None = None) -> str:
    """A shrunk program that can be run, and what fails in it."""
    smallest = shrink(program, lambda candidate: bool(failing(candidate, trial, device)))
    found = failing(smallest, trial, device)
    messages = "\n".join(f"# {line}" for message in found for line in message.splitlines())
    head = f"# seed {seed}, shrunk from {len(program.nodes)} to {len(smallest.nodes)} nodes, {trial}:"
    return f"{head}\n{messages}\n{file_source(smallest)}"


def check(seeds: Sequence[int], trials: Trials = thorough) -> Iterator[str]:
    """One complaint per failing seed, with the interpreters and llvm."""
    for seed in seeds:
        program, trial = generate(seed), trials(seed)
        if failing(program, trial):
            yield complaint(seed, program, trial)


def check_opencl(
    seeds: Sequence[int], strategies: Sequence[Way], trials: Trials = thorough, device: Device = "opencl"
) -> Iterator[str]:
    """One complaint per failing seed on OpenCL. Those that succeed are one build; one by one only if that fails. Then one for
    all of them, if none fails alone.

    Where there are elementary functions, strategies are compared with each other: at least two.
    """
    programs = [(seed, generate(seed)) for seed in seeds]
    sound, elementary, raising = _sorted([(loaded(program), inputs(program)) for _, program in programs])
    others = [strategy for strategy in STRATEGIES if strategy not in strategies]
    several = [*strategies, *others][: max(2, len(strategies))]
    reason = (
        _disagreement(sound, strategies, device, True)
        or _disagreement(elementary, several, device, False)
        or _misbehaviour(raising, device)
    )
    if reason is None:
        return
    alone = 0
    for seed, program in programs:
        trial = trials(seed)
        if failing(program, trial, device):
            alone += 1
            yield complaint(seed, program, trial, device)
    if not alone:
        yield f"# seeds {seeds[0]} to {seeds[-1]} on {device}, though none alone: {reason}"


Given: TypeAlias = tuple[Function, list[HostArray]]


def _sorted(programs: Sequence[Given]) -> tuple[list[Given], list[Given], list[Given]]:
    """Programs whose results must be the reference's, those with elementary functions, those that the reference fails in."""
    sound: list[Given] = []
    elementary: list[Given] = []
    raising: list[Given] = []
    for function, arrays in programs:
        try:
            given = case(function, arrays)
        except Exception:  # judged with the interpreters
            continue
        if given.is_hollow and not given.is_refused:
            continue
        if given.is_refused or reference(given).error is not None:
            raising.append((function, arrays))
        else:
            (elementary if has_elementary(given.program) else sound).append((function, arrays))
    return sound, elementary, raising


def _disagreement(
    programs: Sequence[Given], strategies: Sequence[Way], device: Device, to_reference: bool
) -> str | None:
    """What is wrong if the strategies do not give one result for these programs as one: the reference's, or that of the first
    strategy."""
    if not programs:
        return None
    joined = together(programs)
    expected = reference(joined) if to_reference else None
    for strategy in strategies:
        try:
            found = attempt(partial(on_opencl, joined, strategy, device))
        except Exception as error:  # found again for one program alone, if it is not what they are together
            return f"{type(error).__name__}: {error}"
        expected = expected or found
        wrong = difference(expected, found) or shared(found.arrays, joined.arguments)
        if wrong is not None:
            return wrong
    return None


def _misbehaviour(programs: Sequence[Given], device: Device) -> str | None:
    """What comes out of programs in which the reference fails, each alone, if that is not one of accel's errors."""
    for number, (function, arrays) in enumerate(programs):
        given, strategy = case(function, arrays), STRATEGIES[number % len(STRATEGIES)]
        try:
            outcome = attempt(partial(on_opencl, given, strategy, device))
        except Exception as error:  # found again below, with its program
            return f"{type(error).__name__}: {error}"
        if given.is_refused and not isinstance(outcome.error, AccelShapeError):
            return f"is not refused: {outcome.error}"
    return None
