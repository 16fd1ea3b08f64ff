"""Arrays live as long as somebody refers to them, not until Python looks for cycles: large ones are used again at once."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

import accel as A
from tests import untyped

BACKENDS = ["interpreter", "llvm", "opencl"]
Vector = A.Acc[A.Vector[np.float64]]


@pytest.fixture(autouse=True)
def _no_collections() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def both(xs: Vector) -> tuple[Vector, Vector]:
    return A.map(lambda x: x + 1, xs), A.scanl1(A.add, xs)


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_of_a_compiled_function_go_with_their_last_reference(backend: str) -> None:
    call = A.runN(both, backend=backend)
    argument = np.arange(10.0)
    first, second = call(argument)
    first, second = call(argument)  # the first call compiles
    alive = [weakref.ref(first), weakref.ref(second), weakref.ref(argument)]
    del first, second, argument
    assert all(each() is None for each in alive)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_run_goes_with_its_last_reference(backend: str) -> None:
    argument = np.arange(10.0)
    first, second = A.run(both(A.use(argument)), backend=backend)
    alive = [weakref.ref(first), weakref.ref(second), weakref.ref(argument)]
    del first, second, argument
    assert all(each() is None for each in alive)


def test_an_explained_program_goes_with_its_last_reference() -> None:
    argument = np.arange(10.0)
    explanation = A.explain(both(A.use(argument)))
    assert explanation.stages["ast"]
    alive = weakref.ref(argument)
    del explanation, argument
    assert alive() is None


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_error_keeps_nothing(backend: str) -> None:
    argument = np.arange(10.0)
    alive = weakref.ref(argument)
    with pytest.raises(A.AccelIndexError):
        untyped.run(A.gather(A.use(np.array([99])), A.use(argument)), backend=backend)
    del argument
    gc.collect()  # tracebacks are cycles
    assert alive() is None
