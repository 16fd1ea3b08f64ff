"""What fails on a device fails with the reference's error: class, message and the user's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.opencl import backend as module
from accel.backends.opencl.machine.features import Features
from accel.backends.protocol import HostArray, compiled
from accel.errors import AccelDeviceError, AccelError, AccelIndexError, AccelValueError
from accel.ir.meaning.interpret import interpret
from tests.opencl.check import STRATEGIES, loops, same
from tests.opencl.platforms import backend, each_platform, fresh
from tests.opencl.programs import halving, zeros

N = 5000


def bad_indices() -> HostArray:
    indices = np.arange(N)
    indices[[4321, 1234, 4999]] = [N, N + 7, -1]
    return indices


BAD: dict[str, tuple[Callable[..., tuple[A.Acc[Any], ...]], type[AccelError]]] = {
    "gather": (lambda ix, xs: (A.gather(ix, xs),), AccelIndexError),
    "load": (lambda ix, xs: (A.map(lambda i: xs[A.index(i)], ix),), AccelIndexError),
    "load_in_fold": (lambda ix, xs: (A.fold(A.add, 0, A.map(lambda i: xs[A.index(i)], ix)),), AccelIndexError),
    "load_in_scan": (lambda ix, xs: (A.scanl1(A.add, A.map(lambda i: xs[A.index(i)], ix)),), AccelIndexError),
    "load_in_merge": (
        lambda ix, xs: (A.fold(lambda a, b: a + xs[A.index(b)], 0, ix),),
        AccelIndexError,
    ),
    "load_in_loop": (
        lambda ix, xs: (A.map(lambda i: A.while_(lambda j: xs[A.index(j)] >= 0, lambda j: j + 1, i), ix),),
        AccelIndexError,
    ),
    "backpermute": (lambda ix, xs: (A.backpermute(A.shape(xs), lambda i: A.index(A.unindex(i)[0] + 1), xs),), AccelIndexError),
    "scatter": (lambda ix, xs: (A.scatterWith(A.add, zeros(N, np.int64), A.zip(ix, xs)),), AccelIndexError),
    "scatter_inexact": (lambda ix, xs: (A.scatterWith(halving, zeros(N, np.float64), A.zip(ix, A.map(
        lambda x: A.toFloating(x, np.float64), xs))),), AccelIndexError),
    "fold1": (lambda ix, xs: (A.fold1(A.add, A.take(0, xs)),), AccelValueError),
    "fold1_inexact": (lambda ix, xs: (A.fold1(halving, A.map(
        lambda x: A.toFloating(x, np.float64), A.take(0, xs))),), AccelValueError),
    "fold1_rows": (lambda ix, xs: (A.fold1(A.add, A.reshape(A.index(3, 0), A.take(0, xs))),), AccelValueError),
}  # fmt: skip


@each_platform
@pytest.mark.parametrize("name", BAD)
def test_errors_are_the_references(platform: str, name: str) -> None:
    program, kind = BAD[name]
    for strategy in STRATEGIES:
        planned, arguments = loops(strategy, program(A.use(bad_indices()), A.use(np.arange(N))))
        with pytest.raises(kind) as wanted:
            interpret(planned, arguments)
        executable = compiled(backend(platform), planned)
        with pytest.raises(kind) as got:
            executable(arguments)
        message, place = str(got.value).split("\n", 1)
        wanted_message, wanted_place = str(wanted.value).split("\n", 1)
        assert place == wanted_place
        assert "test_errors.py" in place
        # Merges happen at other moments here, so another of their indices may be the first to fail.
        assert message == wanted_message or name == "load_in_merge"


@each_platform
def test_a_program_that_failed_runs_again(platform: str) -> None:
    planned, _ = loops("greedy", (A.gather(A.use(np.arange(3)), A.use(np.arange(3.0))),))
    executable = compiled(backend(platform), planned)
    for _ in range(3):
        with pytest.raises(AccelIndexError):
            executable([np.array([0, 3, 1]), np.arange(3.0)])
        same(executable([np.array([2, 0, 1]), np.arange(3.0)]), [np.array([2.0, 0.0, 1.0])])


@each_platform
def test_64_bit_floats_are_refused_before_anything_runs(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    poor = Features(fp64=False, rounded_division=False, atomics64=False)
    monkeypatch.setattr(module, "features", lambda device: poor)
    on = fresh(platform)
    kinds: tuple[tuple[Any, bool], ...] = ((np.float32, True), (np.float64, False))
    for kind, fine in kinds:
        planned, arguments = loops("greedy", (A.map(lambda x: x / 3, A.use(np.ones(3, kind))),))
        if fine:
            assert compiled(on, planned)(arguments)[0].dtype == kind
            continue
        with pytest.raises(AccelDeviceError, match="has no 64-bit floats, but the program uses them"):
            compiled(on, planned)
