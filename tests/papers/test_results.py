"""The papers' programs give the interpreter's results: on both backends, with every strategy, at all sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.protocol import HostArray
from accel.support.choices import STRATEGIES, Strategy
from tests.marks import numbers_of_threads, one_in, slow
from tests.papers import programs

SIZES = (0, 1, 2, 1000, 10_000)


def ints(size: int) -> HostArray:
    """Small and large numbers of both signs, never adding up to 0."""
    return np.random.default_rng(size).integers(-50, 1000, size)


def indices(size: int, bound: int) -> HostArray:
    """Indices into an array of `bound` elements."""
    return np.random.default_rng(size + 1).integers(0, max(bound, 1), size)


def arguments(name: str, size: int) -> list[HostArray]:
    """What the program of that name is run on."""
    if name == "filterMax":
        random = np.random.default_rng(size)
        return [random.standard_normal(size), random.standard_normal(size)]
    if name == "simple2":
        return [indices(size, size), indices(size // 2, size), ints(size)]
    if name == "simple4":
        return [indices(size // 10, size // 10), ints(size // 10 * 10).reshape(size // 10, 10)]
    if name == "simple5":
        return [indices(size, size), ints(size)]
    if name.startswith("simple"):
        return [indices(2 * size if size else 0, size), ints(size)]
    if name == "scatterExample":
        return [ints(size) % max(size // 2, 1)]
    if name == "greedyBottomUpBad":
        return [ints(size % 400)]
    return [ints(size)]


PROGRAMS: dict[str, Callable[..., object]] = {
    function.__name__: function
    for function in (
        programs.normalise2, programs.expanded_normalise2, programs.normalize2, programs.normalizeInc, programs.filterMax,
        programs.singleLoop, programs.simple1, programs.simple2, programs.simple3, programs.simple4, programs.simple5,
        programs.scatterExample, programs.greedyTopDownBad, programs.contraction,
    )
}  # fmt: skip
PROGRAMS["greedyBottomUpBad"] = partial(programs.greedyBottomUpBad, width=20)


def outcome(name: str, size: int, **given: object) -> list[bytes] | type[A.AccelError]:
    """The results' bits, or the class of the error that was raised."""
    handles = [use(argument) for argument in arguments(name, size)]
    try:
        results: object = A.run(PROGRAMS[name](*handles), **given)  # type: ignore[call-overload]  # any program, any settings
    except A.AccelError as error:
        return type(error)
    return [leaf.tobytes() for leaf in flat(results)]


def flat(result: object) -> list[HostArray]:
    """The arrays of a nested tuple."""
    return [leaf for part in result for leaf in flat(part)] if isinstance(result, tuple) else [np.asarray(result)]


EXPECTED: dict[tuple[str, int], list[bytes] | type[A.AccelError]] = {}


def expected(name: str, size: int) -> list[bytes] | type[A.AccelError]:
    """What the interpreter gives."""
    if (name, size) not in EXPECTED:
        EXPECTED[name, size] = outcome(name, size, backend="interpreter")
    return EXPECTED[name, size]


@pytest.mark.parametrize("strategy", one_in(8, STRATEGIES))
@pytest.mark.parametrize("name", PROGRAMS)
def test_llvm(name: str, strategy: Strategy) -> None:
    for size in SIZES:
        for threads in numbers_of_threads():
            found = outcome(name, size, backend="llvm", strategy=strategy, threads=threads)
            assert found == expected(name, size), (size, threads)


@pytest.mark.opencl
@pytest.mark.parametrize("strategy", one_in(8, STRATEGIES))
@pytest.mark.parametrize("name", PROGRAMS)
def test_opencl(name: str, strategy: Strategy) -> None:
    for size in SIZES:
        assert outcome(name, size, backend="opencl", strategy=strategy) == expected(name, size), size


@pytest.mark.opencl
@pytest.mark.parametrize(
    "name", ["singleLoop", "simple1", "simple2", "simple3", "simple4", "simple5", "scatterExample"]
)
def test_the_published_rule_changes_loops_not_results(name: str) -> None:
    for backend in ("llvm", "opencl"):
        for size in SIZES:
            assert outcome(name, size, backend=backend, duplicate="published") == expected(name, size), (backend, size)


@slow
@pytest.mark.opencl
@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - {"greedyBottomUpBad"}))
def test_a_million_elements(name: str) -> None:
    """Beyond what the interpreter can do, `none` is the reference."""
    reference = outcome(name, 1_000_000, backend="llvm", strategy="none", threads=1)
    assert isinstance(reference, list)
    for threads in (1, 3):
        assert outcome(name, 1_000_000, backend="llvm", strategy="ilp", threads=threads) == reference
    assert outcome(name, 1_000_000, backend="opencl") == reference


def test_row_softmax_does_not_repeat_its_folds() -> None:
    """The sums and maxima of rows are loops of their own: nothing is folded once per element."""

    def softmax(xs: A.Acc[A.Matrix[np.float64]]) -> A.Acc[A.Matrix[np.float64]]:
        _, columns = A.unlift(xs.shape)
        largest = A.replicate((A.All, columns), A.fold1(A.max, xs))
        powers = A.map(A.exp, A.zipWith(A.sub, xs, largest))
        return A.zipWith(lambda x, y: x / y, powers, A.replicate((A.All, columns), A.fold(A.add, 0, powers)))

    explanation = A.explain(softmax, duplicate=False)
    assert explanation.loops >= 3
    for cluster in explanation.clusters:
        kinds = [operation.split()[0] for operation in cluster.operations]
        assert not ({"fold", "fold1"} & set(kinds) and "replicate" in kinds and kinds.index("replicate") > 0)
    xs = np.random.default_rng(7).standard_normal((300, 200))
    shifted = np.exp(xs - xs.max(axis=1, keepdims=True))
    np.testing.assert_allclose(A.run(softmax(A.use(xs))), shifted / shifted.sum(axis=1, keepdims=True), rtol=1e-13)
