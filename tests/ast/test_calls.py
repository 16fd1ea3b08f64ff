"""Every public function answers to a wrong number of arguments and to names that it does not have, at the user's line."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import accel as A

PUBLIC: dict[str, Callable[..., object]] = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (A, A.random)
    for name in module.__all__
    if isinstance(getattr(module, name), FunctionType)
}
OF_ANY_NUMBER = frozenset({"accel.index", "accel.lift"})

vector = A.use(np.array([3.0, 1.0, 2.0]))


@pytest.mark.parametrize("name", PUBLIC)
def test_calls_that_do_not_fit(name: str) -> None:
    function = PUBLIC[name]
    with pytest.raises(A.AccelError) as caught:
        function(no_such_name=1)
    assert caught.value.where is not None
    assert caught.value.where.file == __file__
    assert caught.value.hint is not None
    if name not in OF_ANY_NUMBER:
        with pytest.raises(A.AccelError):
            function(*[vector] * 30)


def test_they_are_many() -> None:
    assert len(PUBLIC) > 250
    assert {"accel.run", "accel.explain", "accel.random.uniform", "accel.zipWith9", "accel.sqrt"} <= set(PUBLIC)


@pytest.mark.parametrize("name", ["accel.add", "accel.fold", "accel.run", "accel.random.uniform"])
def test_functions_can_be_sent_to_another_process(name: str) -> None:
    assert pickle.loads(pickle.dumps(PUBLIC[name])) is PUBLIC[name]


def test_what_is_written_instead_of_a_missing_seed_runs() -> None:
    fold: Any = A.fold
    with pytest.raises(A.AccelTypeError, match=r"without a seed write `A.fold1\(A.add, vector\)`; with one it is "):
        fold(A.add, vector)
    assert A.run(A.fold1(A.add, vector), backend="interpreter") == 6.0


def test_an_error_within_a_call_stays_what_it_is() -> None:
    def wrong(x: object) -> Any:
        raise TypeError("the user's own")

    with pytest.raises(TypeError, match=r"^the user's own$"):
        A.map(wrong, vector)
