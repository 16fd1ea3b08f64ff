"""One element of a tile's folds: from what the two sides give to what each state takes.

Its statements have no guards, and no names for what states are before and after them (`schedule/templates/tile.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.values import Value
from accel.backends.llvm.templates.tile.units import Inside
from accel.schedule.templates.tile import Tile


def brought(
    tile: Tile, inside: Inside, functions: Functions, memory: Memory, made: dict[str, Value]
) -> Iterator[tuple[str, list[Value]]]:
    """The states by name, and what each takes of the element; `made`: what the sides give, to which `inside` adds."""
    streams = Streams(memory, made)
    for statement in inside:
        streams.bind(statement.outs, functions.apply(statement.function, streams.values(statement.arguments), None))
    for step in tile.steps:
        yield step.state, streams.values(step.values)
