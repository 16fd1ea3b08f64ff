"""What is written for what templates find in a nest (`accel/schedule/templates/choose.py`); rows always stand behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from accel.backends.llvm.loops.alternatives import Alternative
from accel.backends.llvm.loops.nest import NestText
from accel.backends.llvm.templates.bands.loops import BandLoops, runs_in_bands
from accel.backends.llvm.templates.blocks import BlockLoops
from accel.backends.llvm.templates.chain import chained
from accel.backends.llvm.templates.column_scans import ScanStrips
from accel.backends.llvm.templates.columns import ColumnStrips
from accel.backends.llvm.templates.copies import copied
from accel.backends.llvm.templates.interleaved import InterleavedLoops
from accel.backends.llvm.templates.positions import PositionLoops
from accel.backends.llvm.templates.row_groups import RowsAtOnce
from accel.backends.llvm.templates.short_rows import RowLoops
from accel.backends.llvm.templates.strips.segments import SegmentStrips
from accel.backends.llvm.templates.strips.windows import WindowStrips
from accel.backends.llvm.templates.tile.ways.alternative import Tiles
from accel.errors import AccelInternalError
from accel.schedule.legality import in_order
from accel.schedule.templates.blocks import Blocks
from accel.schedule.templates.chain import Chain
from accel.schedule.templates.column_scans import ColumnScans
from accel.schedule.templates.columns import Columns
from accel.schedule.templates.copies import Copies
from accel.schedule.templates.cpu.interleaved import Interleaved
from accel.schedule.templates.cpu.positions import Positions
from accel.schedule.templates.row_groups import RowGroups
from accel.schedule.templates.short_rows import ShortRows
from accel.schedule.templates.tile import Tile
from accel.schedule.templates.ways import Finding, Parts


def alternatives(text: NestText, finding: Finding) -> Sequence[Alternative]:
    """The code that stands beside the nest's rows."""
    match finding:
        case Tile():
            return [Tiles(text, finding, in_one_module)]
        case Blocks():
            assert text.plan.vector is not None
            loops = BandLoops if runs_in_bands(finding) else BlockLoops
            return [loops(text, finding, text.plan.vector.lanes)]
        case Interleaved():
            assert text.plan.vector is not None
            return [InterleavedLoops(text, finding, text.plan.vector.lanes)]
        case Positions():
            assert text.plan.vector is not None
            return [PositionLoops(text, finding, text.plan.vector.lanes)]
        case RowGroups():
            return [RowsAtOnce(text, finding, alone=alone) for alone in ((False, True) if finding.shares else (False,))]
        case ShortRows():
            return [RowLoops(text, finding)]
        case Columns():
            if finding.segments:
                return [SegmentStrips(text, finding)]
            if finding.lanes.states:
                return [WindowStrips(text, finding)]
            strips = [ColumnStrips(text, finding, narrow=narrow) for narrow in (True, False)]
            if any(map(in_order, finding.folds[-1].states)):
                return strips
            return [WindowStrips(text, finding), *(strips if finding.across else ())]
        case ColumnScans():
            return [ScanStrips(text, finding, few=few) for few in (False, True)]
        case Chain() | Copies():
            return []
        case Parts():
            raise AccelInternalError("a nest that runs on threads is split")
        case _:
            assert_never(finding)


def in_one_module(text: NestText, finding: Finding) -> Sequence[Alternative]:
    """The same for code that is compiled late itself: without what is compiled later than that."""
    late = InterleavedLoops | WindowStrips | SegmentStrips
    return [each for each in alternatives(text, finding) if not isinstance(each, late)]


def on_several_threads(text: NestText, finding: Finding) -> Sequence[Alternative]:
    """The same, and what brings more threads to loops whose rows run on one."""
    match finding:
        case Chain():
            return [chained(text, finding)]
        case Copies():
            return [copied(text, finding)]
        case (
            Tile()
            | Blocks()
            | Interleaved()
            | Positions()
            | RowGroups()
            | ShortRows()
            | Columns()
            | ColumnScans()
            | Parts()
        ):
            return alternatives(text, finding)
        case _:
            assert_never(finding)
