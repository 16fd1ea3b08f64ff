"""A module's text for the nests of one program, and the program made callable."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from accel.backends.llvm.loops import schedule
from accel.backends.llvm.loops.alternatives import Alternative, Alternatives, written
from accel.backends.llvm.loops.nest import NestText
from accel.backends.llvm.machine import loading
from accel.backends.llvm.machine.late_code import LateCode, LateNames, Texts
from accel.backends.llvm.machine.rows import Spread
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES, host
from accel.backends.llvm.states.analysis import plan
from accel.backends.llvm.templates.choose import alternatives as chosen
from accel.backends.llvm.templates.row_groups import RowsAtOnce
from accel.backends.llvm.templates.series import Member, SeriesText
from accel.backends.llvm.templates.tile.ways.alternative import Tiles
from accel.backends.llvm.text.code import METADATA
from accel.backends.llvm.text.frame import Frame
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.threads.pool import pool
from accel.backends.sites import Site
from accel.ir.nodes import Nest
from accel.labelled.array import Array
from accel.schedule.nodes import Series
from accel.schedule.templates.rows import rows
from accel.schedule.templates.ways import NestSchedules
from accel.support.dataclass import dataclass

_HEADER = "declare i64 @accel_run(ptr, ptr, i64, i64, i64, double)\n"


@dataclass(frozen=True, slots=True)
class Modules:
    """LLVM text of a program. `cold` holds what runs once in a launch and is compiled in a hurry; `hot` the rest, and all of
    nests that short turns of loops run.

    `names`: the function of each nest, then that of each series; nests that do the same to other arrays have one. `late`: what
    is compiled when it is first needed.
    """

    hot: str
    cold: str
    names: Sequence[str]
    series: Sequence[SeriesText] = ()
    late: Sequence[Late] = ()

    @property
    def exports(self) -> tuple[str, ...]:
        """The functions that others call: those, and of each nest what fills a frame, and what runs with one."""
        nests = dict.fromkeys(self.names[: len(self.names) - len(self.series)])
        apart = [f"{name}_{what}" for name in nests for what in ("frame", "run")]
        return (*dict.fromkeys(self.names), *apart)

    def __str__(self) -> str:
        return f"{self.hot}\n; Once in a launch:\n\n{self.cold}"


def module_text(
    some: Sequence[NestSchedules],
    alternatives: Alternatives = chosen,
    series: Sequence[Series] = (),
    read: Set[Array] = frozenset(),
    spreads: Mapping[Array, Spread] = MappingProxyType({}),
    repeated: Set[Nest] = frozenset(),
) -> tuple[Modules, list[Frame]]:
    """The fast forms of nests, `@nest0`, `@nest1`, …, and their frames. Of those that are alike the first one is written.

    Then series of them, `@series0`, `@series1`, …. `read`: arrays that are to be in caches once they are made. `spreads`: how
    arrays lie in memory that stand for arguments. `repeated`: nests that short turns of loops run.
    """
    found = [
        written(f"nest{number}", each, Frame(each.nest, spreads), read, alternatives)
        for number, each in enumerate(some)
    ]
    return _modules([each.nest for each in some], found, series, repeated), [text.frame for text, _ in found]


def recording_text(nest: Nest) -> tuple[Modules, list[Site]]:
    """A nest's recording form `@nest0`, in scalar code, which says what failed first; and its checks."""
    sites: list[Site] = []
    return _modules(
        [nest], [(NestText("nest0", nest, plan(rows(nest, lanes=False)), sites), ())], (), frozenset()
    ), sites


def _modules(
    nests: Sequence[Nest],
    written: Sequence[tuple[NestText, Sequence[Alternative]]],
    series: Sequence[Series],
    repeated: Set[Nest],
) -> Modules:
    first: dict[str, NestText] = {}
    members: dict[Nest, Member] = {}
    leading = {each.nests[0] for each in series}
    for nest, (text, others) in zip(nests, written, strict=True):
        schedule.write(text, others)
        apart = [each for each in others if not isinstance(each, RowsAtOnce)]
        tiles = [each for each in others if isinstance(each, Tiles)] if nest in leading else []
        in_tiles = next((found for found in (each.rows() for each in tiles) if found is not None), None)
        if in_tiles is not None:
            in_tiles.write()
            apart = [each for each in apart if each not in tiles]
        alike = ""
        if len(written) > 1:
            alike = "".join(routine.text() for routine in text.routines).replace(f"@{text.name}", "@nest")
        members[nest] = Member(text, first.setdefault(alike, text).name, apart, in_tiles)
    together = [
        SeriesText(f"series{number}", each, [members[nest] for nest in each.nests])
        for number, each in enumerate(series)
    ]
    names = [member.body for member in members.values()]
    routines = [routine for text in first.values() for routine in text.routines]
    routines += [routine for each in together for routine in each.routines()]
    late = [each for text in first.values() for each in text.late]
    often = {members[nest].body for nest in nests if nest in repeated}
    turned = {id(routine) for text in first.values() if text.name in often for routine in text.routines}
    return Modules(*_texts(routines, turned), [*names, *(each.name for each in together)], together, late)


def _texts(routines: Sequence[Routine], turned: Set[int] = frozenset()) -> Texts:
    """Two modules: what is hot, or among `turned` by identity, and the rest."""
    hot = [routine for routine in routines if routine.hot or id(routine) in turned]
    cold = [routine for routine in routines if not routine.hot and id(routine) not in turned]
    known = [_HEADER, *(routine.declaration() for routine in hot)]
    return _module([_HEADER] if turned else [], hot), _module(known, cold)


def _module(head: Sequence[str], routines: Sequence[Routine]) -> str:
    declarations: dict[str, str] = {}
    for routine in routines:
        declarations.update(routine.code.declarations)
    parts = [*head, *(routine.text() for routine in routines)]
    return "\n".join([*parts, *declarations.values(), HOST_ATTRIBUTES, METADATA])


Kernel: TypeAlias = Callable[[bytes], int]
"""From a block of arguments to 0 (done), 1 (a check failed) or 2 (interrupted).

Then a Python exception is set, or a signal handler has forked, and this is the child.
"""


@dataclass(frozen=True, slots=True)
class Kernels:
    """Loaded nests and series; callable as long as the library lives. `objects`: what it was linked from. `late`: what
    is compiled when it is first needed."""

    library: loading.Library
    functions: Sequence[Kernel]
    objects: tuple[bytes, ...]
    late: tuple[LateNames, ...]


def compiled(modules: Modules) -> tuple[bytes, ...]:
    """The object code of a program's nests."""
    return host().compile(modules.hot), host().compile(modules.cold, quick=True)


def late_texts(late: Late, number: int) -> Texts:
    """The module of a function that is compiled when it is first needed."""
    return _texts(late.routines(number))


def load(modules: Modules) -> Kernels:
    """Compiles and loads a program's nests."""
    objects = compiled(modules)
    digest = hashlib.blake2b(str(modules).encode(), digest_size=16).hexdigest()
    late = tuple([LateNames(each.name, each.count, digest) for each in modules.late])
    held = [
        LateCode(names, partial(late_texts, each), pool().symbols)
        for names, each in zip(late, modules.late, strict=True)
    ]
    imports = {name: address for each in held for name, address in each.symbols().items()}
    library = loading.load(objects, sorted(modules.exports), {**pool().symbols, **imports}, held)
    prototype = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)
    return Kernels(library, [prototype(library.addresses[name]) for name in modules.names], objects, late)
