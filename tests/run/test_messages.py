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


def zipped_shapes_found_out_late() -> AnyAcc:
    kept, _ = A.filter(lambda x: x > 1, A.use(XS))
    return A.zip3(A.use(XS), A.use(XS), kept)


def maximum_of_nothing() -> AnyAcc:
    return A.maximum(A.use(np.ones((2, 0))))


def fold1All_of_nothing() -> AnyAcc:
    return A.fold1All(A.max, A.filter(lambda x: x > 9, A.use(XS))[0])


def inside_of_a_loop() -> AnyAcc:
    def step(state: AnyAcc) -> AnyAcc:
        return A.gather(A.use(np.array([7, 0, 0, 0])), state)

    return A.awhile(lambda state: A.unit(A.constant(True)), step, A.use(XS))


def too_large() -> AnyAcc:
    return A.fill((A.the(A.use(np.array(2**62))),), 1.0)


def too_large_though_empty() -> AnyAcc:
    """NumPy cannot hold such a shape."""
    n = A.the(A.use(np.array(2**40)))
    return A.fill((n, 0, n), 1.0)


def too_large_a_shape_of_nothing() -> AnyAcc:
    n = A.the(A.use(np.array(2**40)))
    return A.reshape((n, 0, n), A.use(np.zeros(0)))


def more_than_there_is() -> AnyAcc:
    """512 TiB: processes of today have no addresses for it."""
    return A.generate((A.the(A.use(np.array(2**46))),), lambda ix: A.cast(ix[0], np.float64))


def too_large_in_every_leaf() -> AnyAcc:
    n = A.the(A.use(np.array(2**62)))
    return A.fill((n,), A.lift(np.float32(2), 1.0))


def too_large_between_others() -> AnyAcc:
    """Only the second of three arrays is too large, and no loop but its own makes it."""
    n = A.the(A.use(np.array(2**40)))
    doubled = A.map(lambda x: x * 2, A.compute(A.use(XS)))
    table = A.generate((n, n), lambda ix: A.toIndex(A.index(n, n), ix))
    return A.zipWith(A.add, doubled, A.map(lambda x: A.cast(table[0, 0], np.float64) + x, A.compute(doubled)))


def choices_nested_too_deep() -> AnyAcc:
    xs = A.use(XS)

    def body(i: A.Exp[np.int64]) -> A.Exp[np.float64]:
        found = A.constant(0.0)
        for number in range(100):
            found = A.cond(i == number, xs[i], found + 1)
        return found

    return A.map(body, A.use(np.array([0])))


def without_a_dimension() -> AnyAcc:
    xs = A.use(XS)
    return A.map(lambda i: xs[i], A.unit(A.constant(11)))


PROGRAMS = [
    index_out_of_bounds, gather_out_of_bounds, backpermute_out_of_bounds, scatter_out_of_bounds, permute_out_of_bounds,
    fold1_of_nothing, maximum_of_nothing, fold1All_of_nothing, negative_extent, reshape_to_another_size,
    shapes_found_out_late, zipped_shapes_found_out_late, inside_of_a_loop, more_than_there_is, too_large,
    too_large_though_empty, too_large_a_shape_of_nothing, too_large_in_every_leaf, too_large_between_others,
    without_a_dimension, choices_nested_too_deep,
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
