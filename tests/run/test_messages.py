"""Errors of running programs: every backend and strategy raises the same whole message, of its class, at the user's line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A

AnyAcc = A.Acc[Any]  # programs of many types, one to a function

XS = np.arange(4.0)


def index_out_of_bounds() -> AnyAcc:
    xs = A.use(XS)
    return A.map(lambda i: xs[i], A.use(np.array([1, 9, -7])))


def gather_out_of_bounds() -> AnyAcc:
    return A.gather(A.use(np.array([1, -1, 9])), A.use(XS))


def backpermute_out_of_bounds() -> AnyAcc:
    return A.backpermute((3,), lambda ix: A.index(ix[0] + 2), A.use(XS))


def scatter_out_of_bounds() -> AnyAcc:
    pairs = A.zip(A.use(np.array([1, 5])), A.use(np.ones(2)))
    return A.scatterWith(A.add, A.fill((3,), 0.0), pairs)


def permute_out_of_bounds() -> AnyAcc:
    return A.permute(A.add, A.fill((3,), 0.0), lambda ix: A.just(A.index(ix[0])), A.use(XS))


def fold1_of_nothing() -> AnyAcc:
    return A.fold1(A.add, A.use(np.ones((2, 0))))


def negative_extent() -> AnyAcc:
    return A.fill((A.the(A.use(np.array(-3))),), 1.0)


def reshape_to_another_size() -> AnyAcc:
    return A.reshape((A.the(A.use(np.array(3))),), A.use(XS))


def shapes_found_out_late() -> AnyAcc:
    kept, _ = A.filter(lambda x: x > 1, A.use(XS))
    return A.zipWith(A.add, kept, A.use(XS))


def inside_of_a_loop() -> AnyAcc:
    def step(state: AnyAcc) -> AnyAcc:
        return A.gather(A.use(np.array([7, 0, 0, 0])), state)

    return A.awhile(lambda state: A.unit(A.constant(True)), step, A.use(XS))


def too_large() -> AnyAcc:
    return A.fill((A.the(A.use(np.array(2**62))),), 1.0)


def without_a_dimension() -> AnyAcc:
    xs = A.use(XS)
    return A.map(lambda i: xs[i], A.unit(A.constant(11)))


PROGRAMS = [
    index_out_of_bounds, gather_out_of_bounds, backpermute_out_of_bounds, scatter_out_of_bounds, permute_out_of_bounds,
    fold1_of_nothing, negative_extent, reshape_to_another_size, shapes_found_out_late, inside_of_a_loop,
    without_a_dimension,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_message(program: Callable[[], AnyAcc], golden: Callable[[str], None]) -> None:
    messages = set()
    for backend in ("interpreter", "llvm", "opencl"):
        for strategy in ("ilp", "none", "greedy"):
            with pytest.raises(A.AccelError) as caught, A.using(backend=backend, strategy=strategy):
                A.run(program())
            messages.add(f"{caught.type.__name__}: {caught.value}")
    (message,) = messages
    golden(re.sub(r"  \S+/(test_messages\.py):\d+", r"  \1", message))


def test_a_missing_device(golden: Callable[[str], None]) -> None:
    with pytest.raises(A.AccelDeviceError) as caught:
        A.run(A.sum(A.use(XS)), backend="opencl:99")
    message = re.sub(r"  \S+/(test_messages\.py):\d+", r"  \1", str(caught.value))
    golden(re.sub(r"hint: .*", "hint: (the devices that there are)", message))


@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
def test_an_array_beyond_all_memory(backend: str) -> None:
    with pytest.raises(A.AccelShapeError) as caught:
        A.run(too_large(), backend=backend)
    assert caught.value.message == f"an array of f64 of shape ({2**62},) is too large for the address space"
    assert "test_messages.py" in str(caught.value)
