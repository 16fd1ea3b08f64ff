"""What stands before each block of a running state, on a GPU, where something is neutral to it: a work-group for each row.

In: what blocks come to, in global memory; what is neutral, of those without elements. Out: lines of a kernel. In an order one
work-item adds, which takes as long as its operations follow one another: what it adds lies in its registers by then. Meanwhile
others write what it had before, and bring what it adds next. In any order each work-item has some blocks that lie together; and
where there is one row alone, groups have some of its blocks each, and add up for themselves what all before those come to.
"""

from __future__ import annotations

from accel.backends.opencl.code.shared import ALIGNED, neutral
from accel.backends.opencl.code.states import StateType
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.gpu.places import GROUP, WAIT, fitting
from accel.backends.opencl.machine.features import Features
from accel.schedule.templates.gpu.folds import GROUP_BYTES
from accel.support.dataclass import dataclass

BRINGING = GROUP // 2
"""Work-items that bring and write while the first one adds, at most: the last ones, which do not run in step with it."""

STAGED = 1024
"""Blocks whose totals are in local memory at once, at most. As many are brought meanwhile."""

HELD = 16
"""Values that a work-item has in registers, at most."""

HELD_BYTES = 128
"""What they take, at most."""


def always_carried(made: StateType, features: Features) -> bool:
    """Whether something stands before every block, be it what is neutral: on a GPU, where it is known."""
    return neutral(made) is not None and not features.together


@dataclass(frozen=True, slots=True)
class GPUCarry:
    """`value`: the variable with what stands before the row, where something always does, and in the end before what comes
    behind it. The row has `blocks` blocks, from `first` on. `ends`: what these come to. `before`, `final`: where it is left."""

    kind: StateType
    ends: str
    before: str
    final: str
    value: str = "value"

    @property
    def share(self) -> int | None:
        """How many blocks a group may have, where several groups may serve a row."""
        return GROUP * self._scanned if self.kind.state.monoid.exact else None

    def write(self, writer: Writer, *, shared: bool) -> None:
        """All lines, of which the first ones end the kernel where a row has no two blocks. `shared`: group number `group` has
        its share of the blocks, else all."""
        with writer.block("if (blocks <= 1)"):
            with writer.block("if (lane == 0 && blocks == 1)"):
                writer.line(f"{self.before}[first] = {self.value};")
                writer.line(f"{self.value} = {self.kind.merge(self.value, f'{self.ends}[first]')};")
            writer.line(f"if (lane == 0) {self.final}[row] = {self.value};")
            writer.line(WAIT)  # without it PoCL gives others the value of work-item 0: docs/opencl.md, Drivers
            writer.line("return;")
        if self.kind.state.monoid.exact:
            self._scan(writer, shared)
        else:
            self._follow(writer)
        writer.line(f"if (lane == 0{' && end == blocks' if shared else ''}) {self.final}[row] = {self.value};")

    @property
    def _held(self) -> int:
        return fitting(HELD, self.kind.bytes, HELD_BYTES)

    @property
    def _scanned(self) -> int:
        return max(self._held // 2, 1)

    @property
    def _nothing(self) -> str:
        nothing = neutral(self.kind)
        assert nothing is not None, "a GPU carries other states block by block"
        return nothing

    def _bring(self, writer: Writer, count: int, block: str, end: str = "blocks") -> None:
        """Load what `count` blocks come to, all at once: `block` is number `k` of them in the row, of which none count from
        `end` on."""
        with writer.block(f"for (int k = 0; k < {count}; ++k)"):
            writer.line(f"const position_t block = {block};")
            writer.line(f"come[k] = {self.ends}[first + min(block, {end} - 1)];")
            writer.line(f"if (block >= {end}) come[k] = {self._nothing};")

    # In an order.

    def _follow(self, writer: Writer) -> None:
        name, staged = self.kind.name, fitting(STAGED, 2 * self.kind.bytes, GROUP_BYTES)
        bringing = min(BRINGING, staged)
        each, behind = staged // bringing, GROUP - bringing
        writer.line(f"__local {name} totals[2][{staged}]{ALIGNED};")
        with writer.block(f"for (int at = lane; at < {staged}; at += {GROUP})"):
            writer.line(f"totals[0][at] = {self._nothing};")
            writer.line(f"if (at < blocks) totals[0][at] = {self.ends}[first + at];")
        writer.line(WAIT)
        writer.line("int now = 0;")
        with writer.block(f"for (position_t base = 0; base < blocks; base += {staged}, now = 1 - now)"):
            with writer.block("if (lane == 0)"):
                self._add(writer, staged)
            with writer.block(f"else if (lane >= {behind} && blocks > {staged})"):
                writer.line(f"__local {name}* other = totals[1 - now];")
                writer.line(f"{name} come[{each}];")
                place = f"k * {bringing} + lane - {behind}"
                self._bring(writer, each, f"base + {staged} + {place}")
                with writer.block(f"for (int k = 0; k < {each}; ++k)"):
                    writer.line(f"const int at = {place};")
                    with writer.block("if (base > 0)"):
                        writer.line(f"{self.before}[first + base - {staged} + at] = other[at];")
                    writer.line("other[at] = come[k];")
            writer.line(WAIT)
        writer.line(f"const position_t last = (blocks - 1) / {staged} * {staged};")
        with writer.block(f"for (int at = lane; at < blocks - last; at += {GROUP})"):
            writer.line(f"{self.before}[first + last + at] = totals[1 - now][at];")

    def _add(self, writer: Writer, staged: int) -> None:
        """One work-item replaces totals by what stands before each. It loads those that it adds next before it adds: behind the
        last ones some that nobody asks for."""
        name, held = self.kind.name, self._held
        every = f"for (int k = 0; k < {held}; ++k)"
        writer.line(f"const int count = (int)min((position_t){staged}, blocks - base);")
        writer.line(f"__local {name}* mine = totals[now];")
        writer.line(f"{name} own[{held}];")
        with writer.block(every):
            writer.line("own[k] = mine[k];")
        with writer.block(f"for (int at = 0; at < count; at += {held})"):
            writer.line(f"const int ahead = (at + {held}) % {staged};")
            writer.line(f"{name} next[{held}], held[{held}];")
            with writer.block(every):
                writer.line("next[k] = mine[ahead + k];")
            with writer.block(every):
                writer.line(f"held[k] = {self.value};")
                writer.line(f"{self.value} = {self.kind.merge(self.value, 'own[k]')};")
            with writer.block(every):
                writer.line("mine[at + k] = held[k];")
            with writer.block(every):
                writer.line("own[k] = next[k];")

    # In any order.

    def _scan(self, writer: Writer, shared: bool) -> None:
        name, held, merge = self.kind.name, self._scanned, self.kind.merge
        every, share = f"for (int k = 0; k < {held}; ++k)", GROUP * held
        writer.line(f"__local {name} sums[2][{GROUP}];")
        writer.line("int now = 0;")
        begin, end = (f"group * {share}", f"min(blocks, begin + {share})") if shared else ("0", "blocks")
        writer.line(f"const position_t begin = {begin}, end = {end};")
        if shared:
            self._before_share(writer)
        writer.line(f"{name} come[{held}];")
        self._bring(writer, held, f"begin + lane * {held} + k")
        with writer.block(f"for (position_t base = begin; base < end; base += {share})"):
            writer.line(f"{name} own[{held}], sum = {self._nothing};")
            with writer.block(every):
                writer.line("own[k] = sum;")
                writer.line(f"sum = {merge('sum', 'come[k]')};")
            if not shared:
                with writer.block(f"if (base + {share} < blocks)"):
                    self._bring(writer, held, f"base + {share} + lane * {held} + k")
            self._reach(writer)
            writer.line(f"{name} earlier = {self.value};")
            writer.line(f"if (lane > 0) earlier = {merge(self.value, 'sums[now][lane - 1]')};")
            with writer.block(every):
                writer.line(f"const position_t block = base + lane * {held} + k;")
                writer.line(f"if (block < end) {self.before}[first + block] = {merge('earlier', 'own[k]')};")
            writer.line(f"{self.value} = {merge(self.value, f'sums[now][{GROUP - 1}]')};")
            writer.line(WAIT)

    def _before_share(self, writer: Writer) -> None:
        """Add up what all blocks before the group's share come to: neighbours load beside each other."""
        name, held = self.kind.name, self._held
        writer.line(f"{name} sum = {self._nothing};")
        with writer.block(f"for (position_t base = 0; base < begin; base += {GROUP * held})"):
            writer.line(f"{name} come[{held}];")
            self._bring(writer, held, f"base + k * {GROUP} + lane", "begin")
            with writer.block(f"for (int k = 0; k < {held}; ++k)"):
                writer.line(f"sum = {self.kind.merge('sum', 'come[k]')};")
        self._reach(writer)
        writer.line(f"{self.value} = {self.kind.merge(self.value, f'sums[now][{GROUP - 1}]')};")
        writer.line(WAIT)

    def _reach(self, writer: Writer) -> None:
        """What `sum` and those of all work-items before come to: `sums[now][lane]`."""
        writer.line("sums[now][lane] = sum;")
        writer.line(WAIT)
        with writer.block(f"for (int reach = 1; reach < {GROUP}; reach *= 2)"):
            writer.line(f"if (lane >= reach) sum = {self.kind.merge('sums[now][lane - reach]', 'sum')};")
            writer.line("now = 1 - now;")
            writer.line("sums[now][lane] = sum;")
            writer.line(WAIT)
