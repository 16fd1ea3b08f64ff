"""A running state in the local memory of a work-group, which scans some elements at once: a stretch, eight for each work-item.

In: the state's C side and the group's size. Out: lines that declare the memory, scan what stands in it by the order of
docs/order.md, and read the state before or after an element. Vectors of eight are nine apart, so that work-items that walk
through neighbouring vectors meet in no bank of memory. Where something is neutral to the state, it stands in all places that
have no element, so that full vectors and others are scanned alike.
"""

from __future__ import annotations

from accel.backends.opencl.code.functions import Context
from accel.backends.opencl.code.spelling import constant
from accel.backends.opencl.code.states import StateType
from accel.backends.opencl.code.writer import ZEROS, Writer
from accel.labelled.meaning.order import SCAN_VECTOR
from accel.support.dataclass import dataclass

PITCH = SCAN_VECTOR + 1
"""Places from a vector to the next."""

ALIGNED = " __attribute__((aligned(16)))"
"""Of local memory from which a GPU's work-item has several values in one operation."""

AHEAD = 16
"""Vectors whose values a work-item of a GPU has in registers. Groups have as many work-items, or a multiple."""

SHIFT = SCAN_VECTOR.bit_length() - 1


def place(at: str) -> str:
    """Where element `at` of a stretch stands."""
    return f"((({at}) >> {SHIFT}) * {PITCH} + (({at}) & {SCAN_VECTOR - 1}))"


def neutral(made: StateType) -> str | None:
    """A struct that changes nothing; None if none is known."""
    found = made.state.monoid.neutral
    return None if found is None else f"({made.name}){{{', '.join(map(constant, found))}}}"


@dataclass(frozen=True, slots=True)
class Shared:
    """State number `number` of a kernel whose groups have `items` work-items.

    While a kernel writes, `lane` is the work-item's number, `begin` the first element of the block, `base` that of the stretch.
    """

    made: StateType
    number: int
    items: int
    context: Context

    @property
    def elements(self) -> str:
        """The memory of the elements, which become results within their vectors."""
        return f"elements{self.number}"

    @property
    def vectors(self) -> str:
        """The memory of what vectors come to, which becomes what all before them come to."""
        return f"vectors{self.number}"

    @property
    def before(self) -> str:
        """The variable with what stands before the block; of exact states, before the stretch."""
        return f"before{self.number}"

    @property
    def total(self) -> str:
        """The variable of work-item 0 with what the block comes to so far; of exact states no such thing."""
        return f"total{self.number}"

    def declare(self, writer: Writer, *, summed: bool = False) -> None:
        """Declare what the group shares. `summed`: it is only asked what a block comes to."""
        name = self.made.name
        aligned = ALIGNED if summed and not self.context.features.together else ""
        writer.line(f"__local {name} {self.elements}[{self.items * PITCH}], {self.vectors}[{self.items}]{aligned};")

    def begin(self, writer: Writer, before: str, some: str | None) -> None:
        """Begin a block. `before`: what stands before it, if `some`, or always."""
        name, nothing = self.made.name, neutral(self.made)
        if nothing is None:
            writer.line(f"const int {self.before}_some = {some};")
        value = before if nothing is None or some is None else f"{some} ? {before} : {nothing}"
        writer.line(f"{name} {self.before} = {value};")
        if not self.made.state.monoid.exact:
            writer.line(f"{name} {self.total} = {nothing or f'({name}){ZEROS}'};")

    def begin_sum(self, writer: Writer) -> None:
        """Begin a block of which only the total is found."""
        name = self.made.name
        writer.line(f"{name} {self.total} = {neutral(self.made) or f'({name}){ZEROS}'};")
        writer.line(f"int {self.total}_some = 0;")

    def clear(self, writer: Writer, at: str) -> None:
        """Have no element at `at` yet."""
        if (nothing := neutral(self.made)) is not None:
            writer.line(f"{self.elements}[{place(at)}] = {nothing};")

    def put(self, writer: Writer, at: str, value: str) -> None:
        """Leave element `at`."""
        writer.line(f"{self.elements}[{place(at)}] = {value};")

    def settle(self, writer: Writer, at: str) -> None:
        """Element `at` has been left, or there is none."""

    def scan(self, writer: Writer, present: str) -> None:
        """Scan the `present` elements that all work-items have written: `at` reads results from then on."""
        made, passed = self.made, self.made.passed
        own = f"{self.elements} + lane * {PITCH}"
        here = writer.fresh("here")
        writer.line(f"const int {here} = clamp((int){present} - lane * {SCAN_VECTOR}, 0, {SCAN_VECTOR});")
        self._define("scan_vector", _scan_vector(made))
        if made.state.monoid.exact:
            writer.line(f"{self.vectors}[lane] = {made.name}_scan_vector({own}, {here}{passed});")
            writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
            self._reach(writer)
            return
        writer.line(f"if ({here} > 0) {self.vectors}[lane] = {made.name}_scan_vector({own}, {here}{passed});")
        self._follow(writer, present)
        writer.line("barrier(CLK_LOCAL_MEM_FENCE);")

    def sum(self, writer: Writer, present: str) -> None:
        """Only find what the block comes to: work-item 0 knows it then, while others may be ahead."""
        made = self.made
        own = f"{self.elements} + lane * {PITCH}"
        here = writer.fresh("here")
        writer.line(f"const int {here} = clamp((int){present} - lane * {SCAN_VECTOR}, 0, {SCAN_VECTOR});")
        self._define("scan_vector", _scan_vector(made))
        self._define("sum_vector", _sum_vector(made))
        writer.line(f"if ({here} > 0) {self.vectors}[lane] = {made.name}_sum_vector({own}, {here}{made.passed});")
        ahead = neutral(made) is not None and not self.context.features.together
        if ahead:
            writer.line(f"else {self.vectors}[lane] = {neutral(made)};")
        writer.line(f"{self.total}_some |= {present} > 0;")
        (self._add_up if ahead else self._follow)(writer, present)

    def _follow(self, writer: Writer, present: str) -> None:
        """One work-item goes through the vectors, in their order: a left fold."""
        made, own = self.made, writer.fresh("own")
        writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
        vector = f"{self.vectors}[j]"
        with writer.block("if (lane == 0)"):
            writer.line(f"const int vectors = ({present} + {SCAN_VECTOR - 1}) / {SCAN_VECTOR};")
            with writer.block("for (int j = 0; j < vectors; ++j)"):
                writer.line(f"const {made.name} {own} = {vector};")
                writer.line(f"{vector} = {self.total};")
                merged = made.merge(self.total, own)
                first = f"base == begin && j == 0 ? {own} : " if neutral(made) is None else ""
                writer.line(f"{self.total} = {first}{merged};")
            # Where nothing follows, what is asked for before the next element stands here.
            writer.line(f"if (vectors == 0) {self.vectors}[0] = {self.total};")

    def _add_up(self, writer: Writer, present: str) -> None:
        """The same on a GPU, where nobody reads what was before each: some are in registers before the first of them is added,
        since memory answers late. Behind the last vector stands what is neutral."""
        own, every = writer.fresh("own"), f"for (int k = 0; k < {AHEAD}; ++k)"
        writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
        walk = f"for (int j = 0; j * {SCAN_VECTOR} < {present}; j += {AHEAD})"
        with writer.block("if (lane == 0)"), writer.block(walk):
            writer.line(f"{self.made.name} {own}[{AHEAD}];")
            with writer.block(every):
                writer.line(f"{own}[k] = {self.vectors}[j + k];")
            with writer.block(every):
                writer.line(f"{self.total} = {self.made.merge(self.total, f'{own}[k]')};")

    def _reach(self, writer: Writer) -> None:
        """All work-items go through the vectors, twice as far each time: of exact states. On a processor, one does."""
        made, left = self.made, writer.fresh("left")
        if self.context.features.together:
            with writer.block("if (lane == 0)"):
                writer.line(f"{made.name} {left} = {neutral(made)};")
                with writer.block(f"for (int j = 0; j < {self.items}; ++j)"):
                    writer.line(f"{left} = {made.merge(left, f'{self.vectors}[j]')};")
                    writer.line(f"{self.vectors}[j] = {left};")
            writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
            return
        with writer.block(f"for (int reach = 1; reach < {self.items}; reach *= 2)"):
            writer.line(f"{made.name} {left} = {neutral(made)};")
            writer.line(f"if (lane >= reach) {left} = {self.vectors}[lane - reach];")
            writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
            writer.line(f"{self.vectors}[lane] = {made.merge(left, f'{self.vectors}[lane]')};")
            writer.line("barrier(CLK_LOCAL_MEM_FENCE);")

    def end_sum(self, writer: Writer, values: str, some: str) -> None:
        """Leave what the block `place` comes to."""
        with writer.block("if (lane == 0)"):
            writer.line(f"{values}[place] = {self.total};")
            writer.line(f"{some}[place] = {self.total}_some;")

    def leave(self, writer: Writer) -> None:
        """Go on to the next stretch, when this one has been read."""
        if self.made.state.monoid.exact:
            merged = self.made.merge(self.before, f"{self.vectors}[{self.items - 1}]")
            writer.line(f"{self.before} = {merged};")

    def after(self, at: str) -> str:
        """The state after element `at` of the stretch."""
        self._define("after", _after(self.made))
        return f"{self.made.name}_after({self._given(at)})"

    def ahead(self, at: str) -> str:
        """The state before element `at`."""
        self._define("after", _after(self.made))
        self._define("ahead", _ahead(self.made))
        return f"{self.made.name}_ahead({self._given(at)})"

    def _given(self, at: str) -> str:
        flags = f", {self.before}_some, base == begin" if neutral(self.made) is None else ""
        return f"{self.elements}, {self.vectors}, {at}, {self.before}{flags}{self.made.passed}"

    def _define(self, purpose: str, text: str) -> None:
        self.context.prelude.function(f"{self.made.name}_{purpose}", text)


def _scan_vector(made: StateType) -> str:
    """The steps of a vector of `here` elements, in place; gives what it comes to."""
    name, last = made.name, SCAN_VECTOR - 1
    lines = [f"{name} a{at} = v[{at}];" for at in range(SCAN_VECTOR)]
    if made.state.monoid.exact:
        lines += [f"a{at} = {made.merge(f'a{at - 1}', f'a{at}')};" for at in range(1, SCAN_VECTOR)]
    else:
        guarded = neutral(made) is None
        for reach in (1, 2, 4):
            for at in range(last, reach - 1, -1):
                held = f"if ({at} < here) " if guarded else ""
                lines.append(f"{held}a{at} = {made.merge(f'a{at - reach}', f'a{at}')};")
    lines += [f"v[{at}] = a{at};" for at in range(1, SCAN_VECTOR)]
    lines.append(f"return a{last};" if made.state.monoid.exact else "return v[here - 1];")
    return _text(name, f"{name}_scan_vector(__local {name}* v, int here{made.taken})", lines)


def _sum_vector(made: StateType) -> str:
    """What a vector comes to: its last lane after the three steps."""
    name = made.name
    pairs = [f"v[{at}]" for at in range(SCAN_VECTOR)]
    while len(pairs) > 1:
        pairs = [made.merge(left, right) for left, right in zip(pairs[::2], pairs[1::2], strict=True)]
    whole, part = pairs[0], f"{name}_scan_vector(v, here{made.passed})"
    lines = [f"if (here == {SCAN_VECTOR}) return {whole};", f"return {part};"]
    return _text(name, f"{name}_sum_vector(__local {name}* v, int here{made.taken})", lines)


def _after(made: StateType) -> str:
    """In an order, what is neutral, if anything, stands before the first vector; `first`: whether nothing does, since the
    stretch begins the block. Of exact states each vector has what it and those before it come to."""
    vector = f"vectors[at >> {SHIFT}]"
    lines = [f"{made.name} found = v[{place('at')}];"]
    if made.state.monoid.exact:
        lines += [
            f"if (at >= {SCAN_VECTOR}) found = {made.merge(f'vectors[(at >> {SHIFT}) - 1]', 'found')};",
            f"return {made.merge('before', 'found')};",
        ]
    elif neutral(made) is not None:
        lines += [f"found = {made.merge(vector, 'found')};", f"return {made.merge('before', 'found')};"]
    else:
        lines += [
            f"if (at >= {SCAN_VECTOR} || !first) found = {made.merge(vector, 'found')};",
            f"return some ? {made.merge('before', 'found')} : found;",
        ]
    return _text(made.name, f"{made.name}_after({_taken(made)})", lines)


def _ahead(made: StateType) -> str:
    """Before the first element stands what stretches before this one come to."""
    name, vector = made.name, made.merge("before", "vectors[0]")
    flags = "" if neutral(made) is not None else ", some, first"
    inside = f"{name}_after(v, vectors, at - 1, before{flags}{made.passed})"
    if made.state.monoid.exact:
        lines = [f"return at > 0 ? {inside} : before;"]
    elif neutral(made) is not None:
        lines = [f"return at > 0 ? {inside} : {vector};"]
    else:
        lines = [
            f"if (at > 0) return {inside};",
            "if (first) return before;",
            f"return some ? {vector} : vectors[0];",
        ]
    return _text(name, f"{name}_ahead({_taken(made)})", lines)


def _taken(made: StateType) -> str:
    name = made.name
    flags = "" if neutral(made) is not None else ", int some, int first"
    return f"__local const {name}* v, __local const {name}* vectors, int at, {name} before{flags}{made.taken}"


def _text(name: str, head: str, lines: list[str]) -> str:
    return "\n".join([f"static {name} {head} {{", *(f"  {line}" for line in lines), "}"])
