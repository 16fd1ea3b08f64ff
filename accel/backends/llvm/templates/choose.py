"""Which templates suit a nest, the best first; rows always stand behind them."""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.llvm.loops.alternatives import Alternative
from accel.backends.llvm.loops.nest import NestText
from accel.backends.llvm.templates.blocks import BlockLoops
from accel.backends.llvm.templates.chain import chained
from accel.backends.llvm.templates.columns import ColumnStrips
from accel.backends.llvm.templates.copies import copied
from accel.backends.llvm.templates.short_rows import RowLoops
from accel.backends.llvm.templates.tile.alternative import Tiles
from accel.schedule.templates.blocks import blocks
from accel.schedule.templates.columns import columns
from accel.schedule.templates.short_rows import short_rows
from accel.schedule.templates.tile import tile


def alternatives(text: NestText) -> Sequence[Alternative]:
    """The templates whose code stands beside the nest's rows. What can be tiled has no other."""
    if (in_tiles := tile(text.nest)) is not None:
        return [Tiles(text, in_tiles)]
    found: list[Alternative] = []
    if text.plan.vector is not None and (blocked := blocks(text.nest)) is not None:
        found.append(BlockLoops(text, blocked, text.plan.vector.lanes))
    if (rows := short_rows(text.nest)) is not None:
        found.append(RowLoops(text, rows))
    if (by_columns := columns(text.nest)) is not None:
        found += [ColumnStrips(text, by_columns, narrow=True), ColumnStrips(text, by_columns, narrow=False)]
    return found


def on_several_threads(text: NestText) -> Sequence[Alternative]:
    """Those, and behind them what brings more threads to loops whose rows run on one."""
    several = [chained(text), copied(text)]
    return [*alternatives(text), *(each for each in several if each is not None)]
