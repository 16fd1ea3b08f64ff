"""Loops whose turns do the same are launched from lists: the reference's bits and errors, whatever the turns pass on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.opencl import scores
from accel.backends.opencl.backend import memory
from accel.backends.opencl.launch import NestLauncher
from accel.backends.opencl.scores import Player
from tests.marks import require_device

Floats: TypeAlias = A.Acc[A.Vector[np.float64]]
Pair: TypeAlias = tuple[Floats, Floats]

TURNS = 17


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the host does: to run a nest by its instructions, to tell players their buffers, to have them play."""
    seen: list[str] = []

    def watched(kind: type[object], name: str) -> None:
        done = getattr(kind, name)

        def doing(*given: Any) -> Any:
            seen.append(name)
            return done(*given)

        monkeypatch.setattr(kind, name, doing)

    watched(NestLauncher, "run")
    watched(Player, "begin")
    watched(Player, "play")
    return seen


@pytest.fixture(params=[False, True], ids=["queue", "caller"])
def by_the_caller(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the calling thread does the work of turns, where the device can have it so."""
    require_device()
    monkeypatch.setattr(scores, "NEAR", scores.NEAR if request.param else -1)
    if not request.param:
        monkeypatch.setattr(memory(0), "alone", False)


def near(xs: Floats) -> Floats:
    return A.stencil(lambda n: n(-1) * 0.25 + n(0) * 0.5 + n(1) * 0.25, A.boundary.clamp, xs)


def smoothed(xs: Floats) -> Floats:
    return A.iterate(TURNS, near, xs)


def until(xs: Floats) -> Pair:
    """The condition is found on the device, in a state with another beside it."""

    def turn(state: Pair) -> Pair:
        ys = A.map(lambda y: y * 0.97, near(state[0]))
        return ys, A.zipWith(A.add, ys, state[1])

    def again(state: Pair) -> A.Acc[A.Scalar[np.bool_]]:
        return A.map(lambda x: x > 0.5, A.maximum(state[0]))

    return A.awhile(again, turn, (xs, xs))


def exchanged(xs: Floats) -> Pair:
    """One state is what the other was: buffers are passed on."""
    return A.iterate(TURNS, lambda state: (state[1], near(state[0])), (xs, A.map(lambda x: -x, xs)))


def unchanged(xs: Floats) -> Pair:
    return A.iterate(TURNS, lambda state: (near(state[0]), state[1]), (xs, A.map(lambda x: -x, xs)))


def shorter(xs: Floats) -> Floats:
    """Extents change."""
    return A.iterate(TURNS, lambda ys: A.init(near(ys)), xs)


def nested(xs: Floats) -> Floats:
    return A.iterate(6, lambda ys: A.iterate(7, near, A.map(lambda y: y + 1, ys)), xs)


def counted(xs: Floats) -> A.Acc[A.Vector[np.int64]]:
    """A scatter into the state, in place from the second turn on."""
    start = A.fill(A.index(4), A.constant(0, np.int64))

    def turn(counts: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
        total = A.the(A.sum(counts))
        ones = A.map(lambda _: A.constant(1, np.int64), xs)
        return A.permute(A.add, counts, lambda ix: A.just(A.index((ix[0] * ix[0] + total) % 4)), ones)

    return A.iterate(TURNS, turn, start)


def folded(xs: Floats) -> Floats:
    """Folds and scans, which have temporaries."""
    return A.iterate(TURNS, lambda ys: A.map(lambda y: y / (A.the(A.sum(ys)) + 3), A.scanl1(A.add, near(ys))), xs)


PROGRAMS: list[Callable[[Floats], Any]] = [
    smoothed, until, exchanged, unchanged, shorter, nested, counted, folded
]  # fmt: skip


def on_device(program: Callable[..., Any]) -> Any:
    return A.runN(program, backend="opencl", strategy="greedy")


def reference(program: Callable[..., Any]) -> Any:
    return A.runN(program, backend="interpreter", strategy="greedy")


def same(found: Any, wanted: Any) -> None:
    several = isinstance(wanted, tuple)
    for each, other in zip(found if several else [found], wanted if several else [wanted], strict=True):
        np.testing.assert_array_equal(each, other)


@pytest.mark.usefixtures("by_the_caller")
@pytest.mark.parametrize("program", PROGRAMS)
def test_bits_are_the_references(program: Callable[[Floats], Any]) -> None:
    """Also those of other calls, of other extents in between, and of calls at once."""
    run, want = on_device(program), reference(program)
    random = np.random.default_rng(1)
    given = [
        random.random(count) for count in (52, 52, 53, 52)
    ]  # more than the lanes of a vector, which reads all before it writes
    found = [run(xs) for xs in given]
    with ThreadPoolExecutor(4) as threads:
        found += threads.map(run, given)
    for each, wanted in zip(found, [want(xs) for xs in given] * 2, strict=True):
        same(each, wanted)


@pytest.mark.parametrize("program", [smoothed, until, unchanged, folded])
def test_most_turns_are_lists(program: Callable[[Floats], Any], launched: list[str]) -> None:
    """Of a first call, and of one that is like it: then even the first turn is no more than what kernels are told."""
    run, given = on_device(program), np.random.default_rng(2).random(100)
    run(given)
    assert launched.count("play") > 5
    assert launched.count("begin") < 5
    launched.clear()
    run(given)
    assert "run" not in launched
    assert launched.count("begin") < launched.count("play")


def test_turns_of_other_extents_are_not(launched: list[str]) -> None:
    on_device(shorter)(np.random.default_rng(2).random(100))
    assert launched.count("run") >= TURNS


def test_turns_that_pass_states_on_are_told_where_these_are(launched: list[str]) -> None:
    on_device(exchanged)(np.random.default_rng(2).random(100))
    assert launched.count("begin") == launched.count("play") > 5


def test_large_turns_are_not(launched: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "MOST", 0)
    run, given = on_device(smoothed), np.random.default_rng(2).random(200)
    for _ in range(3):
        same(run(given), reference(smoothed)(given))
    assert launched.count("run") > 2 * TURNS
    assert "play" not in launched


def pairs(xs: Floats) -> tuple[Floats, A.Acc[A.Scalar[np.float64]], Floats]:
    """No loop, but several nests, one after the other."""
    ys = A.compute(near(xs))
    return A.compute(near(ys)), A.sum(ys), A.scanl1(A.add, ys)


@pytest.mark.usefixtures("by_the_caller")
def test_other_calls_are_lists_as_well(launched: list[str]) -> None:
    """Also of other extents, of which several are known; with results that stay; and of calls at once."""
    run = on_device(pairs)
    random = np.random.default_rng(3)
    given = [random.random(count) for count in (0, 1, 50, 51, 70)]
    wanted = [reference(pairs)(xs) for xs in given]
    for _ in range(3):
        launched.clear()
        for xs, want in zip(given, wanted, strict=True):
            same(run(xs), want)
    assert "play" in launched
    assert "run" not in launched
    kept = [run(A.put(xs, backend="opencl"), keep=True) for xs in given]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(run, given * 20))
    for each, want in zip(found, wanted * 20, strict=True):
        same(each, want)
    for results, want in zip(kept, wanted, strict=True):
        same(tuple(each.get() for each in results), want)


def test_results_of_the_same_buffers_are_told_apart(launched: list[str]) -> None:
    """What is done depends on which arguments are one array, where a copy is left out that nobody would see."""

    def both(xs: Floats, ys: Floats) -> Pair:
        return A.iterate(3, lambda state: (near(state[0]), near(state[1])), (xs, ys))

    run, random = on_device(both), np.random.default_rng(4)
    for _ in range(3):
        ones, others = (A.put(random.random(9), backend="opencl") for _ in range(2))
        for given in ((ones, ones), (ones, others), (others, ones)):
            same(run(*given, keep=True), reference(both)(*(each.get() for each in given)))


def test_memory_is_flat() -> None:
    """No more buffers stay with a score than the first time."""
    require_device()
    (device,) = [each for each in A.devices() if each.backend == "opencl:0"]
    run, given = on_device(smoothed), np.random.default_rng(5).random(1000)
    run(given)
    before = device.memory
    for _ in range(20):
        run(given)
    after = device.memory
    assert before is not None
    assert after is not None
    assert after.used == before.used
    assert after.unused <= before.unused + (1 << 16)


def walked(xs: A.Acc[A.Vector[np.int64]], limit: A.Acc[A.Scalar[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
    """Each turn takes a step along `xs` from its beginning, and may leave it."""

    def turn(state: tuple[A.Acc[A.Vector[np.int64]], A.Acc[A.Scalar[np.int64]]]) -> Any:
        return A.map(lambda x: xs[A.index(x)], state[0]), A.map(lambda n: n + 1, state[1])

    start = A.take(1, xs), A.unit(A.constant(0, np.int64))
    return A.awhile(lambda state: A.zipWith(A.lt, state[1], limit), turn, start)[0]


@pytest.mark.usefixtures("by_the_caller")
@pytest.mark.parametrize("turn", [1, 3, 4, 10, 21])
def test_checks_that_fail_in_a_turn(turn: int) -> None:
    """The error is the reference's; and a call after it is as good as ever."""
    run, want = on_device(walked), reference(walked)
    right = np.arange(1, 26)
    right[-1] = 0
    wrong = right.copy()
    wrong[turn] = 77
    limit = np.int64(24)
    for xs in (right, wrong, right):
        if xs is right:
            same(run(xs, limit), want(xs, limit))
            continue
        with pytest.raises(A.AccelIndexError) as found:
            run(xs, limit)
        with pytest.raises(A.AccelIndexError) as expected:
            want(xs, limit)
        assert str(found.value) == str(expected.value)


def test_results_that_stay_on_the_device_are_not_written_again() -> None:
    run = on_device(smoothed)
    given = [np.random.default_rng(seed).random(20) for seed in range(3)]
    kept = [run(A.put(xs, backend="opencl"), keep=True) for xs in given]
    for each, xs in zip(kept, given, strict=True):
        same(each.get(), reference(smoothed)(xs))
