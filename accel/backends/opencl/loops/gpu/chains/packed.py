"""What a filter keeps of a block, one behind the other in local memory, before it is known where it goes.

In: a nest whose only running state tallies whole blocks. Out: lines that pack what is stored where the tally stands, and that
copy it, neighbours beside neighbours. What is packed is computed while the memory that the tally has read is still near; and
where a group looks back (`look_back.py`), it has done that before it waits for others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.types import I64
from accel.backends.opencl.code.naming import array_name
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.tally import Tally
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.gpu.places import WAIT
from accel.ir.flow import needed, state_needs
from accel.ir.nodes import LoopBody, ManyToOne, State, Stream, Write
from accel.labelled.array import Array
from accel.labelled.meaning.order import BLOCK
from accel.schedule.templates.gpu.folds import GROUP_BYTES
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Packed:
    """The stores that are packed: all that ask what their tally is."""

    writes: tuple[Write, ...]

    @property
    def _numbered(self) -> list[tuple[str, Write]]:
        return [(f"packed{number}", write) for number, write in enumerate(self.writes)]

    def declare(self, writer: Writer) -> None:
        """Declare what the group shares."""
        for name, write in self._numbered:
            writer.line(f"__local {c_type(write.array.element)} {name}[{BLOCK}];")

    def near(self, tally: Tally) -> Mapping[Array, str]:
        """Where element `at` of the block is stored instead."""
        return {write.array: f"{name}[{tally.earlier('at')}]" for name, write in self._numbered}

    def copy(self, writer: Writer, tally: Tally) -> None:
        """Once it is known what stands before the block: store what is packed."""
        writer.line(WAIT)
        with writer.block(f"for (int at = lane; at < {tally.counted}; at += {tally.items})"):
            for name, write in self._numbered:
                writer.line(f"{array_name(write.array)}[(position_t){tally.before}.f0 + at] = {name}[at];")


def packed(step: ManyToOne, state: State, statements: Sequence[LoopBody], states: Sequence[State]) -> Packed | None:
    """Those among the statements that write, if they have room and nothing else asks what the state was before its step.
    states: those that the statements need."""
    writes = [s for s in statements if isinstance(s, Write) and s.index == step.before and s.when == step.when]
    asked = {each for s in statements if s not in writes for each in needed(s)}
    asked.update(each for other in states for each in state_needs(other))
    asked.update(write.value for write in writes if isinstance(write.value, Stream))
    room = BLOCK * sum(write.array.element.bytes for write in writes) <= GROUP_BYTES
    return Packed(tuple(writes)) if writes and room and state.types == [I64] and asked.isdisjoint(step.before) else None
