"""What an explanation says about clusters, arrays and operations: plain data, names as they are printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from accel.errors import Where
from accel.explanation.facts.measured import Measured
from accel.explanation.facts.ways import WayReport
from accel.explanation.naming.source import short_place
from accel.explanation.why.reasons import WhyNot
from accel.labelled.array import Label
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PassReport:
    """One pass of a loop over an array: its name, how many elements it visits (`n0`), how many bytes these are.

    An array that is read by index has no more bytes than itself, however often it is read.
    """

    array: str
    size: str
    bytes: int


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What a scatter writes into: `array`, which is `becomes` from then on."""

    array: str
    becomes: str


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """One loop. operations: in order, such as `fold %3`. over: what it visits. fused, kept, stored: names of arrays.

    number: from 1, in the order of the report. part: the control flow around it, outermost first, such as `awhile %4, do` or
    `iterate %4 x 50 turns`. read_arrays, written_arrays: the passes that `reads` and `writes` count. updates: what its scatters
    write into. counter: it does nothing but count the turns of an `iterate`, so it is in no report, and moves nothing that
    counts. nest: the label of its nest in the stage `ir`. code: the loop's text as `ir`, `llvm` and `opencl`, made when it is
    asked for. in_turn: why its innermost loop runs one iteration after the other on `llvm`; empty if it runs in lanes, or if
    another backend's schedules are explained. measured: what it took, in the explanation of a profile. ways: how it may run,
    in the model's order, where `rearrange` chooses by measurement and there are several.
    """

    operations: tuple[str, ...]
    over: str
    reads: Mapping[str, int]
    writes: Mapping[str, int]
    fused: tuple[str, ...]
    kept: tuple[str, ...]
    stored: tuple[str, ...]
    tree: str
    number: int
    part: tuple[str, ...]
    read_arrays: tuple[PassReport, ...]
    written_arrays: tuple[PassReport, ...]
    updates: tuple[UpdateReport, ...]
    counter: bool
    nest: Label
    code: Mapping[str, str] = field(repr=False, compare=False)
    in_turn: str = ""
    measured: Measured | None = None
    ways: tuple[WayReport, ...] = ()

    @property
    def title(self) -> str:
        """`loop 2 over n0`, or `step 2` for what is no loop over anything."""
        return f"loop {self.number} over {self.over}" if self.over != "1" else f"step {self.number}"

    @property
    def heading(self) -> str:
        """The title, and what was measured: `loop 2 over n0: 1.250 ms, 12.3 GB/s, 80% of the bandwidth`."""
        return self.title if self.measured is None else f"{self.title}: {self.measured}"


@dataclass(frozen=True, slots=True)
class ArrayReport:
    """One array. status: `input`, `fused` (never written), `kept` (written and consumed in its own loop), `stored`.

    variable: what the user's program calls it, empty if that is not known; `xs.1` is a part of `xs`. producer: such as
    `fold %3`. where: the user's call. why_not: for each reader in another loop, why it is there. why_not_again: for each of
    these, where work may be recomputed, why it does not compute the array by itself. readers: the operations that read it.
    cluster: the number of the loop that makes it, if one does. result: the program (or the part of it in which the array
    stands) returns it. bytes: what it takes in memory if it is stored. counter: it counts the turns of an `iterate`, so it
    is in no report.
    """

    name: str
    variable: str
    type: str
    status: str
    producer: str
    where: Where | None
    why_not: tuple[WhyNot, ...]
    why_not_again: tuple[WhyNot, ...]
    readers: tuple[str, ...]
    cluster: int | None
    part: tuple[str, ...]
    result: bool
    bytes: int
    counter: bool


@dataclass(frozen=True, slots=True)
class ViewReport:
    """A name for another array: the same memory under another shape, or what a repetition carries from turn to turn.

    variable, counter: as of an array. of: the array's name. by: such as `reshape %4` or `awhile %4, do`. carried: `of` is the
    array of the turn before.
    """

    name: str
    variable: str
    of: str
    by: str
    carried: bool
    counter: bool


@dataclass(frozen=True, slots=True)
class CopyReport:
    """Cheap work that is recomputed where it is read, because that moves fewer bytes than what it makes would.

    what: the combinators, in order; several are a chain. where: the last one's call. original: the operation itself, such as
    `map %1`, if it is still there. copies: one for each combinator; none if the readers compute it in their scalar functions.
    loops: how many loops compute it, all of its copies together. saves: what it would cost more to store it and to read it in
    these loops, such as `moves 8,192 bytes less`; empty if they could not, or if
    there are more than 32 such reports.
    """

    what: tuple[str, ...]
    where: Where | None
    original: str | None
    copies: tuple[str, ...]
    readers: tuple[str, ...]
    loops: int
    saves: str

    def __str__(self) -> str:
        place = short_place(self.where)
        what = f"{self.original or ', '.join(self.what)}{place and f' ({place})'}"
        how = f"recomputed as {', '.join(self.copies)} for" if self.copies else "computed inside of"
        text = f"{what} is {how} {', '.join(self.readers)}{'' if self.original else ', and stored nowhere'}"
        often = "1 loop makes it" if self.loops == 1 else f"{self.loops} loops make it"
        return f"{text}; {often}{self.saves and f', which {self.saves}'}"


@dataclass(frozen=True, slots=True)
class OperationReport:
    """One operation, such as `fold %3`: the number of its loop (None: it is no loop), the user's call.

    variable: what the user's program calls what it gives, empty if that is not known. copy: it does again what another
    operation does (see `CopyReport`). counter: it counts the turns of an `iterate`, so it is in no report.
    """

    name: str
    variable: str
    cluster: int | None
    part: tuple[str, ...]
    where: Where | None
    copy: bool
    counter: bool


@dataclass(frozen=True, slots=True)
class Flow:
    """`reader` reads `array`, which `producer` makes. fused: in one loop, so not through memory.

    way: `stream` (in the loop's order), `source` (of a gather), `index` (wherever its scalar function likes), `destination`
    (of a scatter). view: the array is another array under another shape, so it has no report of its own.
    """

    array: str
    producer: str
    reader: str
    way: str
    fused: bool
    view: bool
