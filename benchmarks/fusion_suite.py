"""The graphs of a default run."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import fusion_families as families
from benchmarks.fusion_drawing import Drawing
from benchmarks.fusion_random import fanning, gathering, random_drawing, stress, weighted

SIZES = (25, 50, 100, 150, 200)
"""Operations of the random graphs; their seed is the same number."""

HARD = range(4)
"""Seeds of the graphs that are out to be hard."""


def program_like() -> Iterator[Drawing]:
    """Graphs like those of programs."""
    yield families.attention()
    yield families.hydrodynamics()
    yield families.multigrid()
    yield families.chain()
    yield families.diamonds()
    yield families.ladder()


def random_ones() -> Iterator[Drawing]:
    """Random graphs."""
    for count in SIZES:
        yield random_drawing(count, count)
    yield gathering()
    yield weighted()
    yield fanning()


def hard_ones() -> Iterator[Drawing]:
    """Random graphs that are out to be hard."""
    for seed in HARD:
        yield stress(100, seed)
