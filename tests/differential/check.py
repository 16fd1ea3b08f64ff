"""Check programs by their seeds, and say of a failure how to run it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import accel as A
from accel.compile import stages
from accel.ilp.options import STRATEGIES, Duplicate, Options, Strategy
from tests.differential.data import inputs
from tests.differential.generate import generate
from tests.differential.programs import Program
from tests.differential.shrink import shrink
from tests.differential.source import HEAD, file_source, function_source
from tests.differential.subjects import (
    Case,
    attempt,
    case,
    compiled,
    difference,
    failures,
    has_elementary,
    join,
    reference,
)

Function = Callable[..., tuple[A.Acc[object], ...]]


def loaded(program: Program) -> Function:
    """The printed program, as Python reads it."""
    names: dict[str, Function] = {}
    # The program that is checked is the program that is printed: nothing can differ between them.
    exec(compile(HEAD + function_source(program), "<random program>", "exec"), names)
    return names["program"]


def drawn(seed: int) -> tuple[Strategy, ...]:
    """The strategies for one seed: the default, none, and each of the others in turn."""
    others = [strategy for strategy in STRATEGIES if strategy not in ("ilp", "none")]
    return ("ilp", "none", others[seed % len(others)])


def rule(seed: int) -> Duplicate:
    """Which work may be done again: more often anything than nothing."""
    return (True, "gathers", True, False)[seed % 4]


def failing(program: Program, seed: int, opencl: bool = False) -> list[str]:
    """What breaks the rule; a program that cannot even be built breaks it too."""
    try:
        given = replace(case(loaded(program), inputs(program)), strategies=drawn(seed), duplicate=rule(seed))
    except Exception as error:  # whatever the front end raises on a well-typed program is a bug
        return [f"building: {type(error).__name__}: {error}"]
    return failures(given, opencl)


def complaint(seed: int, program: Program, opencl: bool = False) -> str:
    """A shrunk program that can be run, and what fails in it."""
    smallest = shrink(program, lambda candidate: bool(failing(candidate, seed, opencl)))
    messages = "\n".join(f"# {line}" for message in failing(smallest, seed, opencl) for line in message.splitlines())
    head = f"# seed {seed}, shrunk from {len(program.nodes)} to {len(smallest.nodes)} nodes:"
    return f"{head}\n{messages}\n{file_source(smallest)}"


def check(seeds: Sequence[int]) -> Iterator[str]:
    """One complaint per failing seed, with the interpreters and llvm."""
    for seed in seeds:
        program = generate(seed)
        if failing(program, seed):
            yield complaint(seed, program)


def check_opencl(seeds: Sequence[int], strategy_number: int) -> Iterator[str]:
    """One complaint per failing seed on OpenCL. All programs are one build; one by one only if that fails."""
    programs = [(seed, generate(seed)) for seed in seeds]
    together = [(loaded(program), inputs(program)) for _, program in programs]
    sound = [(function, arrays) for function, arrays in together if _comparable(case(function, arrays))]
    joined = join([function(*map(A.use, arrays)) for function, arrays in sound])
    options = Options(strategy=STRATEGIES[strategy_number % len(STRATEGIES)])
    try:
        found = attempt(lambda: compiled(joined, stages(joined.program, options), "opencl", 0))
        if difference(reference(joined), found) is None:
            return
    except Exception:  # found again below, for one program alone
        pass
    for seed, program in programs:
        if failing(program, seed, opencl=True):
            yield complaint(seed, program, opencl=True)


def _comparable(given: Case) -> bool:
    """Its results on OpenCL must be those of the reference."""
    return not has_elementary(given.program) and reference(given).error is None
