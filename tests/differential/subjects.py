"""What runs random programs, and how results are compared with the reference interpreter's.

The rule (docs/testing.md): if the reference succeeds, everything succeeds with the same bits (of a NaN, only that it is
one). If the reference raises, anything may raise an `AccelError`, or succeed if what failed was not demanded. Programs
with elementary functions are compared with the reference by interpreters only, and among themselves on a backend.
The reference itself must give what NumPy gives for the program's text (`oracle/`), wherever that gives something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, partial
from itertools import combinations
from typing import TypeAlias

import numpy as np

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.ast.tree.leaves import to_host
from accel.ast.tree.operators import ELEMENTARY
from accel.backends import protocol
from accel.backends.choose import AnyBackend, backend
from accel.backends.interpreter.backend import InterpreterBackend
from accel.backends.protocol import Backend
from accel.errors import AccelError, AccelInternalError, AccelShapeError
from accel.fusedast.interpret import interpret as interpret_fused
from accel.ir.meaning.interpret import interpret as interpret_loops
from accel.labelled.construction.build import build
from accel.labelled.meaning.interpret import interpret as interpret_labelled
from accel.labelled.nodes import Program
from accel.labelled.scalar import Compute
from accel.support.choices import Rounding
from tests.differential.data import HostArray
from tests.differential.oracle.arrays import LARGEST_EXTENT
from tests.differential.oracle.run import is_refused, may_fail, outcomes
from tests.differential.oracle.values import Fault
from tests.differential.programs import MOST_ELEMENTS
from tests.differential.trials import EVERYTHING, Device, Planned, Trial, Way, planned

LARGE = 4096
"""From here on an array is cut into blocks; every number of threads is tried."""


COMPILED = ("llvm", "opencl", "gpu")
"""What makes code, and may round elementary functions in its own way."""

Run: TypeAlias = Callable[[], list[HostArray]]
Function: TypeAlias = Callable[..., tuple[A.Acc[object], ...]]


@dataclass(frozen=True, slots=True)
class Case:
    """A program with its arguments, one per leaf, and what it runs through.

    `function` is what built it, of one array per parameter, if it was built by one.
    """

    program: Program
    arguments: list[HostArray]
    trial: Trial = EVERYTHING
    function: Function | None = None
    given: Sequence[HostArray] = ()

    @property
    def is_large(self) -> bool:
        return any(argument.size >= LARGE for argument in self.arguments)

    @property
    def is_hollow(self) -> bool:
        """An argument has more elements than memory; OpenCL needs all of them."""
        return any(argument.size > MOST_ELEMENTS for argument in self.arguments)

    @property
    def is_refused(self) -> bool:
        """An argument has an extent that nothing takes."""
        return is_refused(self.arguments)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Results, or the error that was raised instead."""

    arrays: list[HostArray]
    error: AccelError | None = None


def case(function: Function, arrays: Sequence[HostArray], products: Rounding = "fused") -> Case:
    """The function at these arrays. What is not even taken by `use` is put in afterwards."""
    fitting = [taken(array) for array in arrays]
    joined = join([function(*[use(one) for one in fitting])], products)
    meant = {id(one): array for one, array in zip(fitting, arrays, strict=True)}
    return replace(joined, arguments=[meant[id(one)] for one in joined.arguments], function=function, given=arrays)


def taken(array: HostArray) -> HostArray:
    """The array, with extents that `use` takes; each time an object of its own."""
    if not is_refused([array]):
        return array.view()
    shape = tuple(min(extent, LARGEST_EXTENT) for extent in array.shape)
    return np.lib.stride_tricks.as_strided(array, shape, array.strides, writeable=False)


def join(programs: Sequence[tuple[A.Acc[object], ...]], products: Rounding = "fused") -> Case:
    """Several programs as one."""
    built = build([result.node for results in programs for result in results], (), products)
    return Case(built.program, [to_host(leaf) for constant in built.constants for leaf in constant.data])


def together(programs: Sequence[tuple[Function, Sequence[HostArray]]]) -> Case:
    """Several programs at arrays of their own as one. What `use` does not take may be among these if no result needs it."""
    return join([function(*[use(taken(array)) for array in arrays]) for function, arrays in programs])


def attempt(run: Callable[[], list[HostArray]]) -> Outcome:
    """Run; an error that a user may see is an outcome, any other is a bug and passes through."""
    try:
        return Outcome(run())
    except AccelInternalError:
        raise
    except AccelError as error:
        return Outcome([], error)


def difference(expected: Outcome, found: Outcome) -> str | None:
    """What breaks the rule, or None."""
    if expected.error is not None:
        return None
    if found.error is not None:
        return f"raised {found.error!r}"
    if len(expected.arrays) != len(found.arrays):
        return f"{len(found.arrays)} results instead of {len(expected.arrays)}"
    for position, (right, got) in enumerate(zip(expected.arrays, found.arrays, strict=True)):
        if right.dtype != got.dtype or right.shape != got.shape:
            return f"result {position} is {got.dtype}{got.shape} instead of {right.dtype}{right.shape}"
        wrong = unequal(right, got)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            return f"result {position} differs at {wrong.sum()} places, first at {at}: {got[at]!r} instead of {right[at]!r}"
    return None


def unequal(right: HostArray, got: HostArray) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Where bits differ, except between NaNs."""
    if right.dtype.kind != "f":
        return np.asarray(right != got)
    bits = np.dtype(f"u{right.dtype.itemsize}")
    differ = np.ascontiguousarray(right).view(bits) != np.ascontiguousarray(got).view(bits)
    return np.asarray(differ & ~(np.isnan(right) & np.isnan(got))).reshape(right.shape)


def has_elementary(tree: object) -> bool:
    """Whether a float function occurs that backends may round differently."""
    pending, seen = [tree], set[int]()
    while pending:
        node = pending.pop()
        if isinstance(node, Compute) and node.operator in ELEMENTARY and node.out.type.is_float:
            return True
        if isinstance(node, tuple):
            pending += node
        elif is_dataclass(node) and not isinstance(node, type) and id(node) not in seen:
            seen.add(id(node))
            pending += [getattr(node, item.name) for item in fields(node)]
    return False


def interpreters(given: Case, made: Planned, way: Way) -> Iterator[tuple[str, Run]]:
    """The evaluators of the stages after planning."""
    yield f"fusedast {way}", lambda: interpret_fused(made.fused, given.arguments)
    yield f"ir {way}", lambda: interpret_loops(made.loops, given.arguments)


def compiled(given: Case, made: Planned, target: Backend, again: bool = False) -> list[HostArray]:
    """The results on a backend; `again`: of the second call, which may be another code than the first."""
    run = protocol.compiled(target, made.loops)
    if again:
        attempt(lambda: run(given.arguments))
    return run(given.arguments)


def subjects(given: Case) -> Iterator[tuple[str, Run]]:
    """All that must agree with the reference, by name; OpenCL apart, whose builds are slow."""
    trial = given.trial
    for number, way in enumerate(trial.ways):
        made = planned(given.program, way, trial)
        if trial.interpreted:
            yield from interpreters(given, made, way)
        again = trial.again and not number
        for threads in (1, 2, 3) if given.is_large else (trial.threads[number % len(trial.threads)],):
            yield f"llvm {way} {threads}", partial(compiled, given, made, on_llvm(threads), again)


def on_llvm(threads: int) -> Backend:
    """The backend for that many threads."""
    return _compiling(backend("llvm", threads))


@cache
def on_device(device: Device) -> Backend:
    """The backend for an OpenCL device."""
    if device == "opencl":
        return _compiling(backend("opencl", 0))
    from tests.opencl.platforms import ROWS, as_gpu  # looks for devices

    return as_gpu(sorted(ROWS)[0])


def _compiling(target: AnyBackend) -> Backend:
    assert not isinstance(target, InterpreterBackend), "the reference runs by itself"
    return target


def reference(given: Case) -> Outcome:
    """What the program means."""
    return attempt(lambda: interpret_labelled(given.program, given.arguments))


def unlike_numpy(given: Case, expected: Outcome) -> str | None:
    """What the reference has that NumPy does not give for the same text, whatever order it takes where several are right.

    NumPy rounds products before it adds them. Where that makes a difference, the reference is held against it with products
    that are rounded, too. Of what no result needs the reference may raise an error.
    """
    message = _unlike_numpy(given, expected)
    if message is None:
        return None
    assert given.function is not None
    if expected.error is not None and may_fail(given.function, given.given):
        return None
    return _unlike_numpy(given, reference(case(given.function, given.given, "rounded")))


def _unlike_numpy(given: Case, expected: Outcome) -> str | None:
    assert given.function is not None
    message: str | None = None
    for outcome in outcomes(given.function, given.given):
        if isinstance(outcome, Fault):
            return None
        found = difference(Outcome(outcome), expected)
        if found is None:
            return None
        message = message or found
    return message


def refusals(given: Case, device: Device | None) -> list[str]:
    """Everything that takes an argument whose extents are too large."""
    found = []
    runs = [("labelled", lambda: interpret_labelled(given.program, given.arguments)), *_runs(given, device)]
    for name, run in runs:
        try:
            outcome = attempt(run)
        except Exception as error:  # a bug of any kind is what we look for
            found.append(f"{name}: {type(error).__name__}: {error}")
            continue
        if not isinstance(outcome.error, AccelShapeError):
            found.append(f"{name}: {outcome.error!r} instead of an AccelShapeError for an extent that is too large")
    return found


def shared(results: Sequence[HostArray], arguments: Sequence[HostArray]) -> str | None:
    """Which results lie in the memory of another one or of an argument: whoever writes to one would change both."""
    for (first, one), (second, other) in combinations(enumerate(results), 2):
        if np.may_share_memory(one, other):
            return f"results {first} and {second} share memory"
    for position, result in enumerate(results):
        if any(np.may_share_memory(result, argument) for argument in arguments):
            return f"result {position} shares memory with an argument"
    return None


def _runs(given: Case, device: Device | None) -> list[tuple[str, Run]]:
    runs = list(subjects(given))
    if device is not None and (given.is_refused or not given.is_hollow):
        runs += [(f"{device} {way}", partial(on_opencl, given, way, device)) for way in given.trial.ways]
    return runs


def failures(given: Case, device: Device | None = None) -> list[str]:
    """Every subject that breaks the rule, and how."""
    if given.is_refused:
        return refusals(given, device)
    expected = reference(given)
    found = []
    try:
        message = unlike_numpy(given, expected)
    except Exception as error:  # a bug of the second reference
        message = f"{type(error).__name__}: {error}"
    if message is not None:
        found.append(f"labelled: {message} by NumPy")
    elementary = has_elementary(given.program)
    if elementary:  # code is compared with other code
        given = replace(given, trial=given.trial.of_two())
    first: dict[str, Outcome] = {}
    for name, run in _runs(given, device):
        try:
            outcome = attempt(run)
        except Exception as error:  # a bug of any kind is what we look for
            found.append(f"{name}: {type(error).__name__}: {error}")
            continue
        family = name.split()[0]
        against = first.setdefault(family, outcome) if elementary and family in COMPILED else expected
        message = difference(against, outcome)
        if message is None and family in COMPILED:
            message = shared(outcome.arrays, given.arguments)
        if message is not None:
            found.append(f"{name}: {message}")
    return found


def on_opencl(given: Case, way: Way, device: Device) -> list[HostArray]:
    """The results on the default OpenCL device."""
    return compiled(given, planned(given.program, way, given.trial), on_device(device))


def report(function: Function, arrays: Sequence[HostArray]) -> None:
    """Print what differs: what a printed program calls."""
    for message in failures(case(function, arrays), "opencl") or ["everything agrees"]:
        print(message)
