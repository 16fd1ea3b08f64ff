"""Filters of a GPU that pack what a block keeps before it is written: the bits of the reference, and when they do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import accel as A
from tests.opencl.platforms import as_gpu, each_platform
from tests.opencl.test_gpu_states import agrees
from tests.opencl.test_tallied_shares import backwards, both, computed, half, positions


def beside(xs: A.Acc[Any]) -> Any:
    """What is kept, what becomes of every element, and a fold that any order serves."""
    return A.filter(lambda x: x > 0.5, xs)[0], A.map(lambda x: x + 1, xs), A.fold(A.max, 0, xs)


def numbered(xs: A.Acc[Any]) -> Any:
    """What asks where it goes."""
    return (A.imap(lambda ix, x: A.cast(ix[0], np.float32) - x, A.filter(lambda x: x > 0.5, xs)[0]),)


def two(xs: A.Acc[Any]) -> Any:
    """Which have no room together."""
    kept = A.filter(lambda p: p[0] > 0.5, A.map(lambda x: A.lift(x, x * 2), xs))[0]
    return tuple(A.unzip(kept))


@each_platform
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize(
    ("program", "packs"),
    [
        (half, True),
        (computed, True),
        (backwards, True),
        (beside, True),
        (positions, False),
        (numbered, False),
        (two, False),
        (both, False),
    ],
)
def test_what_is_kept_is_packed(platform: str, program: Any, back: bool, packs: bool) -> None:
    on = as_gpu(platform)
    on.features = replace(on.features, look_back=back)
    xs = np.random.default_rng(3).random(4096 * 2 + 9).astype(np.float32)
    assert ("packed0" in agrees(on, program, xs)) == packs


@each_platform
@pytest.mark.parametrize("kind", [np.int8, np.float64])
def test_only_what_has_room_is_packed(platform: str, kind: Any) -> None:
    xs = (np.arange(5000) % 100).astype(kind)
    assert ("packed0" in agrees(as_gpu(platform), lambda xs: (A.filter(lambda x: x > 40, xs)[0],), xs)) == (
        kind is np.int8
    )
