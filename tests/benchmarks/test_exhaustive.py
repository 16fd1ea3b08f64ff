"""All legal clusterings as code: as many as there are by hand, which all give the same bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.clusterings import TooManyError, codes
from benchmarks.exhaustive import inputs, measure
from benchmarks.exhaustive_programs import PROGRAMS, diamond, two_maps, two_scans
from benchmarks.peers.programs.with_accel import mapchain
from tests.marks import one_in

pytestmark = pytest.mark.llvm


@pytest.mark.parametrize("program", one_in(5, PROGRAMS))
def test_every_code_gives_the_same_bits(program: Callable[..., object]) -> None:
    found = codes(program, inputs(program, 3000), 100)
    assert 1 < len(found.codes) <= found.clusterings
    first, *others = (code.run(found.arguments) for code in found.codes)
    for other in others:
        for one, two in zip(first, other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_the_chosen_code_is_the_first_and_the_cheapest() -> None:
    found = codes(diamond, inputs(diamond, 100), 100)
    assert found.codes[0].cost == min(code.cost for code in found.codes)


@pytest.mark.parametrize(("program", "clusterings"), [(two_maps, 2), (two_scans, 2), (mapchain, 32)])
def test_clusterings_are_counted(program: Callable[..., object], clusterings: int) -> None:
    """Two loops share their input or not; of six maps in a row each of five seams is closed or open."""
    assert codes(program, inputs(program, 10), 100).clusterings == clusterings


def test_too_many_are_refused() -> None:
    with pytest.raises(TooManyError):
        codes(mapchain, inputs(mapchain, 10), 31)


def test_times_are_of_the_chosen_and_of_the_best() -> None:
    result = measure("two_maps", codes(two_maps, inputs(two_maps, 100), 100), rounds=2)
    assert (result.clusterings, result.codes) == (2, 2)
    assert 0 < result.best <= result.chosen
