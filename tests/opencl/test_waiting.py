"""When a program waits for its device: for what it reads there, and never for a check that cannot fail.

What fails is what the reference says all the same, though nests that come after it have been launched by then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import ScalarType
from accel.backends.linear.conditions import value_of
from accel.backends.opencl import scores
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.machine.records import Records
from accel.backends.opencl.program import PLAIN, opencl_text
from accel.backends.protocol import compiled
from accel.ir.nodes import Launch, Repeat
from accel.schedule.templates.choose import program_schedules
from tests.opencl.check import loops, same
from tests.opencl.platforms import ROWS, backend, each_platform, fresh
from tests.opencl.test_errors import N, bad_indices

Ints = A.Acc[A.Vector[np.int64]]
Floats = A.Acc[A.Vector[np.float64]]
Counted = tuple[A.Acc[A.Scalar[np.int64]], Ints]
"""The state of a loop that counts."""


def stencil(xs: Floats) -> Floats:
    return A.stencil(lambda n: (n(-1) + n(0) + n(1)) / 3, A.boundary.clamp, xs)


def blurred(xs: Floats) -> Any:
    """Twenty stencils, in a loop that counts."""
    return A.awhile(
        lambda s: A.map(lambda i: i < 20, s[0]),
        lambda s: (A.map(lambda i: i + 1, s[0]), stencil(s[1])),
        (A.unit(A.constant(0, np.int64)), xs),
    )[1]


def interior(xs: Floats) -> Floats:
    def point(ix: A.Exp[tuple[int]], x: A.Exp[np.float64]) -> A.Exp[np.float64]:
        return A.cond(ix[0] > 0, x - xs[A.max(ix[0] - 1, 0)], x)

    return A.imap(point, xs)


PROVED: dict[str, Callable[[Floats], Any]] = {
    "stencil": stencil,
    "reverse": A.reverse,
    "rank 0": lambda xs: A.map(lambda x: x / A.the(A.sum(xs)), xs),
    "interior": interior,
}


@pytest.mark.parametrize("name", PROVED)
def test_proved_loads_have_no_checks(name: str) -> None:
    planned, _ = loops("greedy", (PROVED[name](A.use(np.arange(10.0))),))
    assert "error" not in opencl_text(program_schedules(planned, PLAIN.machine), PLAIN)


def test_an_index_that_was_checked_before_is_checked_where_that_may_have_failed() -> None:
    """The check does not stop the kernel, so what relies on it looks again."""

    def at(indices: Ints) -> Ints:
        doubled = A.map(lambda x: x * 2, A.generate(A.index(10), lambda i: A.unindex(i)[0]))
        return A.gather(indices, doubled)

    planned, _ = loops("greedy", (at(A.use(np.arange(3))),))
    assert "error[0] = 1" in opencl_text(program_schedules(planned, PLAIN.machine), PLAIN)


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Every copy between the host and a device, none of which the host makes by itself: which way, and how many bytes."""
    pyopencl = pytest.importorskip("pyopencl")
    for platform in ROWS:
        monkeypatch.setattr(backend(platform).memory, "reaches", False)
    seen: list[tuple[str, int]] = []
    original = pyopencl.enqueue_copy

    def copy(queue: Any, to: Any, source: Any, **given: Any) -> Any:  # Any: pyopencl's
        if isinstance(to, np.ndarray):
            seen.append(("read", to.nbytes))
        elif isinstance(source, np.ndarray):
            seen.append(("written", source.nbytes))
        return original(queue, to, source, **given)

    monkeypatch.setattr(pyopencl, "enqueue_copy", copy)
    return seen


@each_platform
@pytest.mark.parametrize("name", PROVED)
def test_a_proved_nest_makes_no_copy_but_of_its_results(
    platform: str, name: str, copies: list[tuple[str, int]]
) -> None:
    planned, arguments = loops("greedy", (PROVED[name](A.use(np.arange(1000.0))),))
    executable = compiled(backend(platform), planned)
    executable(arguments)
    copies.clear()
    results = executable(arguments)
    uploads = [("written", array.nbytes) for array in arguments]
    assert [each for each in copies if each not in uploads] == [("read", result.nbytes) for result in results]


@each_platform
def test_twenty_stencils_in_a_loop_read_a_byte_a_turn(platform: str, copies: list[tuple[str, int]]) -> None:
    planned, arguments = loops("greedy", (blurred(A.use(np.arange(1000.0))),))
    executable = compiled(backend(platform), planned)
    executable(arguments)
    copies.clear()
    executable(arguments)
    read = [size for way, size in copies if way == "read"]
    assert read == [1] * 20 + [8000], "that there is a first turn is known"


@each_platform
def test_checks_are_looked_at_once_in_a_call(platform: str, copies: list[tuple[str, int]]) -> None:
    """Ten gathers, one after the other, wait together. Their record is zero, and stays so."""
    xs = A.use(np.arange(100))
    for _ in range(10):
        xs = A.compute(A.gather(A.compute(A.map(lambda i: 99 - i, xs)), xs))
    planned, arguments = loops("none", (xs,))
    executable = compiled(backend(platform), planned)
    wanted = executable(arguments)
    copies.clear()
    same(executable(arguments), wanted)
    assert [size for way, size in copies if way == "read"] == [128, 800]
    assert [size for way, size in copies if way == "written"] in ([], [800])


def far(indices: Ints) -> Ints:
    """What is not there, as a number that would end no loop and be no index."""
    return A.compute(A.gather(indices, A.use(np.arange(N) + 1)))


def endless(indices: Ints, xs: Ints) -> Any:
    """Another nest, which never ends where it gets a zero."""
    return A.map(lambda i: A.while_(lambda j: j < 100_000, lambda j: j * 2, i), far(indices))


def endless_in_the_nest(indices: Ints, xs: Ints) -> Any:
    return A.map(
        lambda i: A.while_(lambda j: j < 100_000, lambda j: j * 2, i), A.gather(indices, A.use(np.arange(N) + 1))
    )


def endless_turns(indices: Ints, xs: Ints) -> Any:
    """A loop over arrays that never ends where an element is zero."""
    return A.awhile(
        lambda s: A.map(lambda least: least < 1000, A.fold1(A.min, s)),
        lambda s: A.map(lambda x: x * 2, s),
        far(indices),
    )


def failing_turns(indices: Ints, xs: Ints) -> Any:
    """A check fails in the third turn, and then in all others."""

    def turn(s: Counted) -> Counted:
        places = A.map(lambda i: i + A.the(s[0]) - N // 2, indices)
        return A.map(lambda i: i + 1, s[0]), A.gather(places, s[1])

    return A.awhile(lambda s: A.map(lambda i: i < 1000, s[0]), turn, (A.unit(A.constant(0, np.int64)), xs))[1]


def sizes(indices: Ints, xs: Ints) -> Any:
    """An array with as many elements as one that is not there says."""
    return A.generate((A.the(A.fold(A.min, 10, A.map(lambda x: x - 2, far(indices)))),), lambda i: A.unindex(i)[0])


def filtered(indices: Ints, xs: Ints) -> Any:
    return A.filter(lambda x: x > 3, far(indices))[0]


def sorted_after(indices: Ints, xs: Ints) -> Any:
    return A.sort(far(indices))


def two_failures(indices: Ints, xs: Ints) -> Any:
    first = A.compute(A.gather(A.map(lambda i: i + 1, indices), xs))
    return A.zipWith(A.add, first, A.gather(A.map(lambda i: i - 1, first), xs))


def moved_far(indices: Ints, xs: Ints) -> Any:
    """An index that is far outside, under work that takes it for one inside."""
    made = A.imap(lambda ix, x: x + xs[N - 1 - ix[0]], xs)
    return A.map(lambda i: made[A.index(i * (1 << 40))], indices)


AFTERWARDS: dict[str, Callable[[Ints, Ints], Any]] = {
    each.__name__: each
    for each in (
        endless, endless_in_the_nest, endless_turns, failing_turns, sizes, filtered, sorted_after, two_failures, moved_far,
    )
}  # fmt: skip


@each_platform
@pytest.mark.parametrize("name", AFTERWARDS)
@pytest.mark.parametrize("strategy", ["greedy", "none"])
def test_what_comes_after_a_failure_does_no_harm(platform: str, name: str, strategy: Any) -> None:
    def program() -> Any:
        indices: Any = A.use(bad_indices())  # Any: an array of any rank, for mypy
        return AFTERWARDS[name](indices, A.use(np.arange(N)))

    with pytest.raises(A.AccelError) as wanted:
        A.run(program(), backend="interpreter")
    planned, arguments = loops(strategy, (program(),))
    executable = compiled(backend(platform), planned)
    for _ in range(2):
        with pytest.raises(type(wanted.value)) as got:
            executable(arguments)
        assert got.value.message == wanted.value.message


@each_platform
def test_a_requirement_that_fails_later_is_not_the_error(platform: str) -> None:
    """A shape that does not fit is found at once, by the host; what failed before is said all the same."""

    def program(indices: Ints, ys: Ints) -> Any:
        found = A.compute(A.gather(indices, A.use(np.arange(10))))
        return A.reshape(A.index(A.length(ys), 1), found)

    indices, ys = np.array([3, 99]), np.arange(7)
    with pytest.raises(A.AccelIndexError) as wanted:
        A.run(program(A.use(indices), A.use(ys)), backend="interpreter")
    planned, arguments = loops("none", (program(A.use(indices), A.use(ys)),))
    with pytest.raises(A.AccelIndexError) as got:
        compiled(backend(platform), planned)(arguments)
    assert got.value.message == wanted.value.message


@each_platform
def test_what_is_traced_is_printed_once_and_not_after_a_failure(
    platform: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def program(indices: Ints) -> Ints:
        before = A.atrace("before", A.map(lambda i: i, indices))
        between = A.atrace("between", A.gather(before, A.use(np.arange(10))))
        return A.gather(A.map(lambda i: i + 1, between), A.use(np.arange(10)))

    planned, (_, *rest) = loops("greedy", (program(A.use(np.arange(2))),))
    executable = compiled(backend(platform), planned)
    for given, said in (([3, 10], ["before"]), ([3, 9], ["before", "between"])):
        with pytest.raises(A.AccelIndexError, match=r"index \(10,\)"):
            executable([np.array(given), *rest])
        assert [line.split(":")[0] for line in capsys.readouterr().err.splitlines()] == said
    same(executable([np.array([3, 8]), *rest]), [np.array([4, 9])])


@each_platform
def test_a_loop_scatters_into_its_state_in_place(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns after the first copy nothing, and an argument is left as it was."""

    def turn(s: Counted) -> Counted:
        pairs = A.map(lambda k: A.lift(k * 3 + A.the(s[0]), k), A.use(np.arange(5)))
        return A.map(lambda i: i + 1, s[0]), A.scatterWith(A.add, s[1], pairs)

    def program(xs: Ints) -> Any:
        return A.awhile(lambda s: A.map(lambda i: i < 50, s[0]), turn, (A.unit(A.constant(0, np.int64)), xs))[1]

    given = np.arange(1000)
    wanted = A.run(program(A.use(given)), backend="interpreter")
    planned, arguments = loops("greedy", (program(A.use(given)),))
    on = backend(platform)
    executable = compiled(on, planned)
    same(executable(arguments), [wanted])
    taken: list[int] = []
    original = on.memory.take_all

    def take_all(sizes: Sequence[int]) -> list[Held]:
        taken.extend(sizes)
        return original(sizes)

    monkeypatch.setattr(on.memory, "take_all", take_all)
    same(executable(arguments), [wanted])
    assert sum(size >= given.nbytes for size in taken) <= 2
    np.testing.assert_array_equal(given, np.arange(1000))


@each_platform
def test_what_a_loop_began_with_is_a_result_as_it_was(platform: str) -> None:
    """Its first turn copies what the program has made, since that is given, too."""

    def program(xs: Ints) -> Any:
        made = A.map(lambda x: x + 1, xs)

        def turn(k: Any, state: Any) -> Any:
            return A.update(state, (slice(k, k + 1),), A.fill((1,), state[k] + 1))

        return made, A.iiterate(9, turn, made)

    planned, arguments = loops("greedy", program(A.use(np.arange(10))))
    wanted = [np.arange(1, 11), np.arange(1, 11) + (np.arange(10) < 9)]
    executable = compiled(backend(platform), planned)
    for _ in range(2):
        same(executable(arguments), wanted)


@each_platform
def test_a_condition_is_fetched_before_the_turn_is_done(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of a loop that counts: its copy is enqueued before the stencil, and nothing else makes the host wait."""
    pyopencl = pytest.importorskip("pyopencl")
    seen: list[str] = []
    launch, again, copy = pyopencl.Kernel.__call__, pyopencl.enqueue_nd_range_kernel, pyopencl.enqueue_copy

    def launching(kernel: Any, *given: Any) -> Any:  # Any: pyopencl's
        seen.append("kernel")
        return launch(kernel, *given)

    def launching_again(*given: Any) -> Any:
        seen.append("kernel")
        return again(*given)

    def copying(queue: Any, to: Any, source: Any, **given: Any) -> Any:
        if isinstance(to, np.ndarray):
            seen.append("fetches" if to.nbytes == 1 and not given.get("is_blocking", True) else "waits")
        return copy(queue, to, source, **given)

    planned, arguments = loops("greedy", (blurred(A.use(np.arange(1000.0))),))
    executable = compiled(backend(platform), planned)
    monkeypatch.setattr(pyopencl.Kernel, "__call__", launching)
    monkeypatch.setattr(
        pyopencl, "enqueue_nd_range_kernel", launching_again
    )  # players keep the one that they find first
    monkeypatch.setattr(pyopencl, "enqueue_copy", copying)
    for name in ("reaches", "alone"):
        monkeypatch.setattr(backend(platform).memory, name, False)
    monkeypatch.setattr(scores, "NEAR", -1)  # where the caller does a turn's work, it waits for it
    wanted = executable(arguments)
    seen.clear()
    same(executable(arguments), wanted)
    launched = "".join(each[0] for each in seen if each != "waits")
    assert launched.endswith("kfk" * 20)
    assert seen.count("waits") == 1, "for the result"


@each_platform
def test_fetched_conditions_lie_where_a_device_with_its_own_memory_reaches(platform: str) -> None:
    on = fresh(platform)
    on.memory = Memory(on.device, unified=False)
    on.records = Records(on.memory)
    held = [on.memory.filled(np.array([each])) for each in (True, False, True)]
    for each in held:
        on.records.fetch(each, None)
    assert [on.records.scalar(each, ScalarType.BOOL, None) for each in held] == [True, False, True]
    planned, arguments = loops("greedy", (blurred(A.use(np.arange(1000.0))),))
    same(compiled(on, planned)(arguments), compiled(backend(platform), planned)(arguments))


def test_what_depends_on_nothing_is_known() -> None:
    planned, _ = loops("greedy", (blurred(A.use(np.arange(10.0))),))
    nests = [step.nest for step in planned.steps if isinstance(step, Launch)]
    made = {output.array.element: (nest, output.array) for nest in nests for output in nest.outputs}
    assert value_of(*made[ScalarType.BOOL]) is True
    (repeat,) = (step for step in planned.steps if isinstance(step, Repeat))
    inner = [step.nest for step in repeat.body.steps if isinstance(step, Launch)]
    flags = [(nest, o.array) for nest in inner for o in nest.outputs if o.array.element is ScalarType.BOOL]
    assert [value_of(*each) for each in flags] == [None]
