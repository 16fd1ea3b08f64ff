"""How long a nest takes on one thread, as an estimate in nanoseconds: by that it is shared among threads, or is not.

An iteration takes as long as its instructions or as its bytes, whichever is longer: instructions in vectors as wide as
registers, bytes from the level of memory where all that the nest visits has room. In: a nest and its plan. Out: numbers, and
LLVM text of doubles. docs/llvm/threads.md has the estimates beside what was measured. No result depends on them.
"""

from __future__ import annotations

from itertools import pairwise

from accel.backends.llvm.machine.processor import LINE, REGISTER_BYTES
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.states.analysis import NestPlan, visited_work
from accel.backends.llvm.text.code import Code
from accel.ir import mentions
from accel.ir.nodes import ManyToOne, Nest, OneToOne, Read, Remap, Scatter, Write
from accel.labelled.work import TIME
from accel.schedule.nodes import Accumulation
from accel.schedule.splitting.phases import read_at_data
from accel.support.dataclass import dataclass

ALONE = 5_000.0
"""Nanoseconds below which a nest is one call on the calling thread, holding the GIL."""

CHUNK_TIME = 2_000.0
"""The least nanoseconds of a chunk."""

INSTRUCTION = 0.25
"""Nanoseconds of an instruction, as `work` counts them, on vectors of 64 bytes in registers that are as wide."""

SCALAR_INSTRUCTION = 0.15
"""The same on one element."""

SCAN_STEPS = 4
"""Instructions of a scan in an order, beyond one."""

STAGED_STEPS = 16
"""Instructions of a step of a fold whose elements are stored until they fill a block, beyond one. In short rows it is more."""

NEAR_BYTES = 1 << 20
"""Of all that a nest visits: so much stays in a core's own caches."""

NEAR, FAR = 64.0, 25.0
"""Bytes a nanosecond from a core's own caches, and from what is further away."""


@dataclass(frozen=True, slots=True)
class Duration:
    """Of an iteration of the innermost loop: the nanoseconds of its instructions, and the bytes that it moves."""

    instructions: float
    bytes: float

    @property
    def least(self) -> float:
        """Its nanoseconds, with all bytes near."""
        return max(self.instructions, self.bytes / NEAR)

    def light(self, fewest: int, most: int) -> int:
        """The fewest iterations that take as long as a chunk has to, by halves between two powers of two."""
        while most > fewest and most // 2 * self.least >= CHUNK_TIME:
            most //= 2
        return most

    def of(self, code: Code, iterations: str) -> str:
        """The nanoseconds of so many iterations; both are doubles."""
        computing = code.emit(f"fmul double {iterations}, {self.instructions:e}")
        if self.bytes <= self.instructions * FAR:
            return computing
        moved = code.emit(f"fmul double {iterations}, {self.bytes:e}")
        near = code.emit(f"fcmp ole double {moved}, {NEAR_BYTES:e}")
        each = code.emit(f"select i1 {near}, double {1 / NEAR:e}, double {1 / FAR:e}")
        moving = code.emit(f"fmul double {moved}, {each}")
        longer = code.emit(f"fcmp ogt double {moving}, {computing}")
        return code.emit(f"select i1 {longer}, double {moving}, double {computing}")


def duration(nest: Nest, plan: NestPlan) -> Duration:
    """Of an iteration of the nest's innermost loop."""
    vector = plan.vector
    scans = {state.name for state in mentions.states(nest) if state.running and not state.monoid.exact}
    stepped = [statement.state for statement in mentions.statements(nest) if isinstance(statement, ManyToOne)]
    staged = [name for name in stepped if plan.schedule.accumulation(name) is Accumulation.STAGED]
    states = SCAN_STEPS * sum(name in scans for name in stepped) + STAGED_STEPS * len(staged)
    instructions = visited_work(plan.schedule, TIME) + states
    if vector is None:
        each = SCALAR_INSTRUCTION
    else:
        each = INSTRUCTION * max(1.0, REGISTER_BYTES / host().processor.registers.bytes) / vector.lanes
    return Duration(instructions * each, float(_bytes(nest)))


def _bytes(nest: Nest) -> int:
    """That an iteration of the innermost loop moves."""
    *_, innermost = mentions.levels(nest)
    at_data = {id(statement) for statement in read_at_data(nest)} - _elements_of_segments(nest)
    total = 0
    for statement in (*innermost.before, *innermost.after):
        if id(statement) in at_data or isinstance(statement, Scatter):
            total += LINE
        elif isinstance(statement, Read | Write):
            total += statement.array.element.bytes
    return total


def _elements_of_segments(nest: Nest) -> set[int]:
    """The reads of what stands in a segment at the index of the loop over it, by identity: one segment follows the other."""
    statements = tuple(mentions.statements(nest))
    starts = {s.outs[0] for s in statements if isinstance(s, Remap) and s.segment is not None}
    indices = {level.loop.index for level in mentions.levels(nest) if level.loop is not None}
    places = {
        s.outs[-1]
        for s in statements
        if isinstance(s, OneToOne) and any(a in starts and b in indices for a, b in pairwise(s.arguments))
    }
    return {id(s) for s in statements if isinstance(s, Read) and s.index and s.index[-1] in places}
