"""What stands before a block of a filter, in the pass that also writes: each group asks what those before it have found.

In: a nest whose running states are all tallies of whole blocks. Out: lines of the only kernel that reads elements, and the
kernel that runs before it. As in [Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016], blocks
are taken by a ticket, so those before a group's own have been taken by groups that run or have run. Each leaves a word for its
block: how many count in it, as soon as it knows, then how many count in all up to it. The work-items of a group ask for the
words of as many blocks before it at once, and add up counts back to the nearest word that knows all.

A word holds its kind in its two lowest bits and its number above. Atomics read and write it whole, so nothing need be known of
the order in which memory changes. Nor need groups go on while others wait: a word is asked for a bounded number of times, and
where it is not there then, the group counts that block's elements itself, and leaves the word in the other's place [Smith,
Levien and Owens, Decoupled Fallback, 2025].
"""

from __future__ import annotations

from collections.abc import Callable

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, Scaffold
from accel.backends.opencl.code.shared import Shared
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.tally import Tally
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat
from accel.backends.opencl.loops.gpu.places import WAIT
from accel.backends.opencl.loops.rows import Rows
from accel.ir.nodes import State
from accel.ir.slices import needed_for
from accel.labelled.meaning.order import BLOCK
from accel.support.dataclass import dataclass

SPINS = 1 << 12
"""How many times a word is asked for: some milliseconds, which no group that runs takes for a block."""

COUNT, ALL = 1, 2
"""Kinds of words: how many elements of the block count, and how many of all up to it. 0 is none yet."""


@dataclass(frozen=True, slots=True)
class LookBack:
    """words: of the state's blocks. final: where it is left what the state comes to, seed included."""

    scaffold: Scaffold
    rows: Rows
    flat: Flat
    state: State
    words: str
    final: str
    ticket: str

    def prepare(self) -> None:
        """Add the kernel that clears words and ticket, and leaves what the state is without elements."""
        only = needed_for(self.scaffold.nest, [self.state])
        body = Body(Writer(), self.scaffold.context, dict(self.scaffold.types), only=only)
        writer, blocks = body.writer, f"({self.flat.total} + {BLOCK - 1}) / {BLOCK}"
        writer.line("const position_t item = get_global_id(0);")
        writer.line(f"if (item < {blocks}) {self.words}[item] = 0;")
        with writer.block("if (item == 0)"):
            self.rows.enter(body)
            writer.line(f"{self.ticket}[0] = 0;")
            writer.line(f"{self.final}[0] = {self._seed(body)};")
        self.scaffold.kernel("before", writer.text, Amount(self.flat.extents, BLOCK, least=1, needed=self.flat.needed))

    def _seed(self, body: Body) -> str:
        seed = body.seed(self.state)
        assert seed is not None, "what is read before it has an element has a seed"
        return seed

    def place(self, writer: Writer) -> None:
        """Take a block."""
        writer.line("__local ulong known;")
        writer.line("__local int together, nearest, missing, counted;")
        writer.line("__local long taken;")
        writer.line("const int lane = get_local_id(0);")
        writer.line(f"if (lane == 0) taken = atom_inc({self.ticket});")
        writer.line(WAIT)
        writer.line("const position_t place = taken, block = place;")

    def begin(self, body: Body, tally: Shared) -> None:
        """Begin a block with what stands before all."""
        body.writer.line(f"{tally.made.name} {tally.before} = {self._seed(body)};")

    def leave(self, writer: Writer, tally: Tally) -> None:
        """Once the block has been counted: say how many count in it."""
        word = f"(ulong){tally.counted} << 2 | (block ? {COUNT} : {ALL})"
        writer.line(f"if (lane == 0) atom_xchg(&((volatile __global ulong*){self.words})[block], {word});")

    def find(self, writer: Writer, tally: Tally, count: Callable[[str], str]) -> None:
        """What stands before a block that has left its word, for all work-items. `count` writes the state's steps for the
        elements of a block that are this work-item's, and gives the variable that then holds how many count."""
        made, items, kind = tally.made, tally.items, c_type(self.state.types[0])
        with writer.block(""):
            writer.line(f"volatile __global ulong* words = {self.words};")
            writer.line(f"const ulong own = (ulong){tally.counted};")
            writer.line("ulong carry = 0;")
            with writer.block("for (position_t last = block - 1; last >= 0;)"):
                self._ask(writer, items)
                with writer.block(f"if (near < gap || gap == {items})"):
                    writer.line(f"last = near < gap ? -1 : last - {items};")
                with writer.block("else"):
                    # The group that has taken this block may wait for this one to end: so its elements are counted here.
                    writer.line("const position_t lost = last - gap;")
                    writer.line(f"atomic_add(&counted, (int){count('lost')});")
                    writer.line(WAIT)
                    left = f"(ulong)counted << 2 | (lost ? {COUNT} : {ALL})"
                    writer.line(f"if (lane == 0) atom_cmpxchg(&words[lost], 0UL, {left});")
                    writer.line("carry += counted;")
                    writer.line("last = lost - 1;")
                writer.line(WAIT)
            writer.line(f"if (lane == 0 && block) atom_xchg(&words[block], (carry + own) << 2 | {ALL});")
            writer.line(f"{tally.before} = {made.merge(tally.before, f'({made.name}){{({kind})carry}}')};")
            ends = made.merge(tally.before, f"({made.name}){{({kind})own}}")
            writer.line(f"if (lane == 0 && stop == {self.flat.total}) {self.final}[0] = {ends};")

    def _ask(self, writer: Writer, items: int) -> None:
        """Add up the words of the `items` blocks up to `last`, as far back as the nearest that knows all, `near` of them away,
        or as the first that is missing, `gap` away."""
        writer.line(f"if (lane == 0) known = 0, together = 0, nearest = missing = {items}, counted = 0;")
        writer.line(WAIT)
        writer.line("const position_t asked = last - lane;")
        writer.line("ulong seen = 0;")
        with writer.block(f"for (int spin = 0; spin < {SPINS} && asked >= 0 && !seen; ++spin)"):
            writer.line("seen = atom_add(&words[asked], 0UL);")
        writer.line(f"if (seen & {ALL}) atomic_min(&nearest, lane);")
        writer.line("if (!seen && asked >= 0) atomic_min(&missing, lane);")
        writer.line(WAIT)
        writer.line("const int near = nearest, gap = missing;")
        # What all come to is one work-item's; adding numbers of 64 bits in local memory would take a GPU longer.
        with writer.block("if (asked >= 0 && lane <= near && lane < gap)"):
            writer.line("if (lane == near) known = seen >> 2;")
            writer.line("else atomic_add(&together, (int)(seen >> 2));")
        writer.line(WAIT)
        writer.line("carry += known + together;")


def looking_back(scaffold: Scaffold, rows: Rows, flat: Flat, state: State, blocks: Amount) -> LookBack:
    """With new buffers for the state."""
    kind, one = scaffold.types[state.name], Amount(least=1)
    words, ticket = scaffold.temporary("words", "ulong", 8, blocks), scaffold.temporary("ticket", "long", 8, one)
    final = scaffold.temporary("final", kind.name, kind.bytes, one)
    return LookBack(scaffold, rows, flat, state, words, final, ticket)
