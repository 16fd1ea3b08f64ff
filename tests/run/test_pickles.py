"""Compiled functions and arrays of devices as pickles, as pools of processes send them."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

import accel as A

BACKENDS = ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)]


@A.runN
def doubled(xs: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Vector[np.float64]]:
    return A.map(lambda x: x * 2, xs)


def negated(xs: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Vector[np.float64]]:
    return A.map(lambda x: -x, xs)


class Functions:
    """Names in another name."""

    @staticmethod
    @A.runN
    def halved(xs: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Vector[np.float64]]:
        return A.map(lambda x: x / 2, xs)


@pytest.mark.llvm
def test_a_decorated_function_is_itself_again() -> None:
    for function in (doubled, Functions.halved):
        function(np.ones(3))  # what it has compiled is no part of the pickle
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_keeps_its_settings(backend: Any) -> None:
    function: Any = A.runN(negated, backend=backend)
    function(np.ones(3))
    again: Any = pickle.loads(pickle.dumps(function))
    assert again(np.ones(3), keep=True).backend.split(":")[0] == backend
    assert again(np.arange(3.0)).tolist() == [0.0, -1.0, -2.0]
    assert repr(again) == "runN(negated)"


def test_a_lambda_has_no_pickle() -> None:
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(A.runN(lambda xs: xs))


@pytest.mark.llvm
def test_a_pool_of_processes_calls_compiled_functions() -> None:
    functions: list[Any] = [doubled, A.runN(negated)]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        results = [pool.submit(function, np.arange(3.0)).result().tolist() for function in functions]
    assert results == [[0.0, 2.0, 4.0], [0.0, -1.0, -2.0]]


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_an_array_in_the_hosts_memory_is_pickled(backend: Any) -> None:
    again = pickle.loads(pickle.dumps(A.put(np.arange(3.0), backend=backend)))
    assert again.backend == backend
    assert again.get().tolist() == [0.0, 1.0, 2.0]


@pytest.mark.opencl
def test_an_array_in_a_devices_memory_is_not() -> None:
    array = A.put(np.arange(3.0), backend="opencl")
    with pytest.raises(A.AccelTypeError, match=r"(?s)memory of opencl cannot be pickled.*hint: pickle what it holds"):
        pickle.dumps(array)
