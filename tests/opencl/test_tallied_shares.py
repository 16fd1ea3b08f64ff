"""Filters as a processor runs what GPUs are given: work-items count a share of a block each. The bits of the reference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.protocol import HostArray, compiled
from accel.errors import AccelIndexError
from tests.marks import one_in
from tests.opencl.check import loops
from tests.opencl.platforms import as_gpu, each_platform
from tests.opencl.test_gpu_states import agrees

Handle = A.Acc[Any]


def as_gpu_together(platform: str) -> OpenCLBackend:
    """A device that is taken for a GPU, whose work-items go through what lies together."""
    on = as_gpu(platform)
    on.features = replace(on.features, together=True)
    return on


def half(xs: Handle) -> Any:
    return (A.filter(lambda x: x > 0.5, xs)[0],)


def computed(xs: Handle) -> Any:
    """Of what is kept alone."""
    return (A.map(lambda x: x * x + 1, A.filter(lambda x: x > 0.5, xs)[0]),)


def positions(xs: Handle) -> Any:
    """Where what is kept is read and where it goes."""
    kept = A.filter(lambda x: x > 0.5, xs)[0]
    return kept, A.imap(lambda ix, x: A.cast(ix[0], np.float32) - x, kept)


def both(xs: Handle) -> Any:
    """Two tallies of one loop, and folds that any order serves."""
    kept, dropped = (A.filter(test, xs)[0] for test in (lambda x: x > 0.5, lambda x: x <= 0.25))
    return kept, dropped, A.fold(A.max, 0, xs), A.fold(A.add, 0, A.map(lambda x: A.cast(x > 0.1, np.int32), xs))


def backwards(xs: Handle) -> Any:
    return (A.filter(lambda x: x > 0.5, A.reverse(xs))[0],)


def pairs(xs: Handle) -> Any:
    """Of which local memory has room for one only."""
    doubled = A.map(lambda x: A.lift(x, x * 2, x + 1), xs)
    return tuple(A.unzip3(A.filter(lambda p: p[0] > 0.5, doubled)[0]))


PROGRAMS = {each.__name__: each for each in (half, computed, positions, both, backwards, pairs)}


@each_platform
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("size", one_in(9, (3 * 4096 + 777, 0, 1, 31, 33, 4095, 4096, 4097), kept=2))
def test_bits_are_the_references(platform: str, size: int, name: str) -> None:
    xs = np.random.default_rng(size).random(size).astype(np.float32)
    assert "[j] ? place0 + 1 : 0] = " in agrees(as_gpu_together(platform), PROGRAMS[name], xs)


@each_platform
@pytest.mark.parametrize("share", [0.0, 0.01, 1.0])
def test_few_all_or_none_are_kept(platform: str, share: float) -> None:
    xs = (np.random.default_rng(1).random(9000) < share).astype(np.float32)
    agrees(as_gpu_together(platform), half, xs)


@each_platform
@pytest.mark.parametrize("kind", [np.int8, np.bool_, np.float16, np.float64])
def test_elements_of_every_size(platform: str, kind: type[np.generic]) -> None:
    """Blocks of eight bytes each do not fit: these go where they belong at once."""
    xs = np.random.default_rng(1).integers(0, 2, 5000).astype(kind)
    text = agrees(as_gpu_together(platform), lambda xs: (A.filter(lambda x: A.cast(x, np.int32) == 1, xs)[0],), xs)
    assert "shares[place * 128 + lane]" in text
    assert ("packed0[" in text) == (xs.itemsize < 8)


@each_platform
def test_matrices(platform: str) -> None:
    """What is kept of all elements, and of rows."""
    xs = np.random.default_rng(1).random((70, 130)).astype(np.float32)
    agrees(as_gpu_together(platform), lambda m: (A.filter(lambda x: x > 0.5, A.flatten(m))[0],), xs)
    agrees(as_gpu_together(platform), lambda m: tuple(A.filter(lambda x: x > 0.5, m)), xs)


@each_platform
def test_a_check_that_fails_is_an_error(platform: str) -> None:
    at: HostArray = np.arange(9000)
    at[8999] = 9000

    def program(at: Handle) -> Handle:
        return A.filter(lambda x: x > 3, A.map(lambda i: at[i], at))[0]

    planned, arguments = loops("greedy", [program(use(at))])
    with pytest.raises(AccelIndexError, match="9000"):
        compiled(as_gpu_together(platform), planned)(arguments)
