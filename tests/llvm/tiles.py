"""Some of the ways to run a tiled nest, for all sizes that they can run, whatever they are worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from accel.backends.llvm.loops.alternatives import Alternative
from accel.backends.llvm.loops.nest import NestText
from accel.backends.llvm.templates.choose import in_one_module
from accel.backends.llvm.templates.tile.ways.alternative import Tiles
from accel.backends.llvm.templates.tile.ways.choice import Code, TiledNest, Way, ways
from accel.backends.llvm.templates.tile.ways.conditions import ALWAYS
from accel.schedule.templates.cpu.interleaved import Interleaved
from accel.schedule.templates.tile import Tile
from accel.schedule.templates.ways import Finding


def by(text: NestText, found: Finding, kept: Callable[[Way], bool]) -> Sequence[Alternative]:
    """Those of them that are kept; the nest must be such that there are some."""

    def some(nest: TiledNest) -> Sequence[Way]:
        return [replace(way, worth=ALWAYS) for way in ways(nest) if kept(way)]

    if isinstance(found, Interleaved):
        return []
    assert isinstance(found, Tile)
    return [Tiles(text, found, in_one_module, some, least=1.0)]


def tiled(text: NestText, found: Finding) -> Sequence[Alternative]:
    """Tiles."""
    return by(text, found, lambda way: way.code is Code.TILE)


def packed(text: NestText, found: Finding) -> Sequence[Alternative]:
    """The same, of which none is read where it lies."""
    return by(text, found, lambda way: way.code is Code.TILE and way.columns is None)


def turned(text: NestText, found: Finding) -> Sequence[Alternative]:
    """Tiles whose rows are the nest's columns."""
    return by(text, found, lambda way: way.code is Code.TURNED)


def turned_and_packed(text: NestText, found: Finding) -> Sequence[Alternative]:
    """The same, of which none is read where it lies."""
    return by(text, found, lambda way: way.code is Code.TURNED and way.columns is None)


def along(text: NestText, found: Finding) -> Sequence[Alternative]:
    """By other templates, from a copy of the columns, if they are a matrix that can be copied."""
    return by(text, found, lambda way: way.code is Code.ALONG)


def alone(text: NestText, found: Finding) -> Sequence[Alternative]:
    """By other templates, without the loop of a single column."""
    return by(text, found, lambda way: way.code in (Code.COLUMN, Code.OTHERS))
