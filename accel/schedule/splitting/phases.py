"""Phases: the innermost loop some iterations at a time, first one part of its statements for all of these, then the next.

In: a nest whose innermost loop runs in lanes. Out: which statements run together, and which streams are kept from phase to
phase: they are packed, and stay in the cache. Processors hide the latency of random reads behind each other if little stands
between them, and run scans and elementary functions faster if nothing else fills their registers: one loop then does as well as
several that store what they make. So a phase has one random read and nothing else of the kind, or one elementary function, or
scans, of which none needs another of these. Where loops are split into an inside and edges, neighbours are vectors in the
inside, which is worth more: such loops have no phases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from enum import Enum, IntEnum
from typing import assert_never

from accel.errors import AccelInternalError
from accel.ir import flow, mentions
from accel.ir.mentions import loops
from accel.ir.nodes import (
    For,
    LoopBody,
    ManyToOne,
    Nest,
    OneToMaybe,
    OneToOne,
    Read,
    Remap,
    Scatter,
    Stream,
    Within,
)
from accel.ir.work import element_function, element_work
from accel.labelled import scalar
from accel.labelled.work import OPERATIONS
from accel.schedule.axes import dependence
from accel.schedule.legality import is_repeatable
from accel.schedule.nodes import Schedule
from accel.schedule.splitting.inside import inside
from accel.schedule.splitting.inside import statements as statements_inside
from accel.support.dataclass import dataclass

STRIP = 512
"""Iterations of a phase: what is kept of them fits into the first level of the cache."""

MOST_KEPT = 6
"""Streams that are kept at most."""


class Loud(Enum):
    """What does not run well beside others."""

    RANDOM = "random"
    """Reads at indices that are data."""
    HEAVY = "heavy"
    """As much as an elementary function, or more, is computed for each element."""
    SCAN = "scan"
    FILTER = "filter"
    FOLD = "fold"
    """One that has an order."""

    def disturbs(self, other: Loud) -> bool:
        """Whether the two share no phase."""
        pair = {self, other}
        return Loud.RANDOM in pair or (pair <= {Loud.HEAVY, Loud.SCAN} and Loud.HEAVY in pair)


@dataclass(frozen=True, slots=True)
class Phase:
    """Statements in order; those that only compute indices and guards stand in every phase that needs them.

    loads: the streams that an earlier phase kept. keeps: those that a later one needs.
    """

    statements: tuple[LoopBody, ...]
    loads: tuple[Stream, ...]
    keeps: tuple[Stream, ...]


def phases(nest: Nest, loop: For) -> tuple[Phase, ...]:
    """Those of the innermost loop; none if it runs well as one."""
    statements = (*loop.body.before, *loop.body.after)
    data, fixed = _data(statements), _fixed(nest, statements)
    loud = {id(s): found for s in statements if id(s) not in fixed and (found := _loud(s, nest, data)) is not None}
    if len(loud) > 1 and Loud.HEAVY in loud.values() and (margins := inside(nest)):
        # Conditions on indices, which most iterations do without, make nothing heavy.
        eased = {
            id(s)
            for s, within in zip(statements, statements_inside(nest, margins), strict=True)
            if not _is_heavy(within)
        }
        loud = {key: found for key, found in loud.items() if not (found is Loud.HEAVY and key in eased)}
    free = fixed | {id(s) for s in statements if id(s) not in loud and _is_free(s, data)}
    placed = _placed(statements, free, loud)
    if not max(placed.values(), default=0) or _has_neighbours(nest, statements):
        return ()
    made = _phases(statements, placed)
    kept = {stream for phase in made for stream in phase.keeps}
    prefixes = flow.prefixes(loop)
    guards = [s.when for s in statements if any(stream in kept for stream in flow.made(s))]
    guarded = any(guard is not None and guard.name not in prefixes for guard in guards)
    waits = _stateful(statements) & {stream.name for stream in kept}
    if guarded or waits or not 0 < len(kept) <= MOST_KEPT:
        return ()
    verify(made, statements)
    return made


def _has_neighbours(nest: Nest, statements: Sequence[LoopBody]) -> bool:
    """Whether the nest is split, and something that loads costs less in the inside: vectors of neighbours without branches,
    which save more than phases do, but for scans of several components, which fill the registers."""
    scatters = any(isinstance(statement, Scatter) for statement in mentions.statements(nest))
    if scatters or any(state.running and len(state.finals) > 1 for state in mentions.states(nest)):
        return False
    if not (margins := inside(nest)):
        return False
    pairs = zip(statements, statements_inside(nest, margins), strict=True)
    return any(_loads(s) and element_work([within], OPERATIONS) < element_work([s], OPERATIONS) for s, within in pairs)


def verify(made: Sequence[Phase], statements: Sequence[LoopBody]) -> None:
    """Raises `AccelInternalError` unless phases do what a loop's statements do, one after the other.

    1. Each statement stands in a phase, and one that may not be repeated in one only; phases keep their order.
    2. Each stream that a statement needs comes from outside the loop, or is made before it in its phase, or loaded there.
    3. What a phase loads, an earlier one keeps; what it keeps, it makes.
    """
    inside = {stream for statement in statements for stream in flow.made(statement)}
    order = {id(statement): number for number, statement in enumerate(statements)}
    kept: set[Stream] = set()
    met: list[int] = []
    for phase in made:
        found = set(phase.loads)
        if not found <= kept:
            raise _wrong("a phase loads what none before it keeps", made)
        for statement in phase.statements:
            if any(stream in inside and stream not in found for stream in flow.needed(statement)):
                raise _wrong("a phase has a statement before what it needs", made)
            found.update(flow.made(statement))
        numbers = [order[id(statement)] for statement in phase.statements]
        if numbers != sorted(numbers):
            raise _wrong("a phase has statements in another order", made)
        if not found.issuperset(phase.keeps):
            raise _wrong("a phase keeps what it does not make", made)
        kept.update(phase.keeps)
        met += numbers
    once = [number for number, statement in enumerate(statements) if not is_repeatable(statement)]
    if set(met) != set(order.values()) or any(met.count(number) != 1 for number in once):
        raise _wrong("phases do not run each statement once", made)


def _wrong(what: str, made: Sequence[Phase]) -> AccelInternalError:
    listed = [f"phase {number}: {statement}" for number, phase in enumerate(made) for statement in phase.statements]
    return AccelInternalError("\n".join([f"{what}:", *listed]))


def read_at_data(nest: Nest) -> list[LoopBody]:
    """The statements that read arrays at indices that are data."""
    statements = tuple(mentions.statements(nest))
    data = _data(statements)
    return [statement for statement in statements if _loud(statement, nest, data) is Loud.RANDOM]


def _stateful(statements: Sequence[LoopBody]) -> frozenset[str]:
    """The streams that depend on a state while it runs: these come one after the other, so they cannot be packed."""
    found: set[str] = set()
    for statement in statements:
        if isinstance(statement, ManyToOne) or any(stream.name in found for stream in flow.needed(statement)):
            found.update(stream.name for stream in flow.made(statement))
    return frozenset(found)


def phases_of(schedule: Schedule) -> tuple[Phase, ...]:
    """Those in which a nest runs by this schedule by rows."""
    return phases(schedule.nest, loops(schedule.nest)[-1]) if schedule.packs else ()


def _data(statements: Sequence[LoopBody]) -> frozenset[str]:
    """The streams that depend on what is folded, or is read or loaded elsewhere in other iterations: the number of a loop's
    turn, which all iterations read, makes no index random."""
    found: set[str] = set()
    for statement in statements:
        if _reads_apart(statement) or any(stream.name in found for stream in flow.needed(statement)):
            found.update(stream.name for stream in flow.made(statement))
    return frozenset(found)


def _reads_apart(statement: LoopBody) -> bool:
    """Whether a statement gives what is folded, or is read or loaded at places that are not the same for the whole nest."""
    if isinstance(statement, Read):
        return any(isinstance(operand, Stream) for operand in statement.index)
    if element_function(statement) is None:
        return isinstance(statement, ManyToOne)
    return _loaded_at(statement, frozenset()) is not _Place.ONE


def _fixed(nest: Nest, statements: Sequence[LoopBody]) -> frozenset[int]:
    """Statements that make the same in every iteration of the innermost loop, by identity."""
    innermost, found = len(loops(nest)) - 1, dependence(nest)
    return frozenset(
        id(s)
        for s in statements
        if is_repeatable(s) and not any(innermost in found[stream.name] for stream in flow.made(s))
    )


def _loads(statement: LoopBody) -> bool:
    function = element_function(statement)
    return function is not None and any(isinstance(s, scalar.Load) for s in mentions.function_statements(function))


def _loud(statement: LoopBody, nest: Nest, data: frozenset[str]) -> Loud | None:
    if isinstance(statement, Read):
        random = any(isinstance(operand, Stream) and operand.name in data for operand in statement.index)
        return Loud.RANDOM if random else None
    if isinstance(statement, OneToMaybe):
        return Loud.FILTER
    if isinstance(statement, ManyToOne):
        state = next(state for state in mentions.states(nest) if state.name == statement.state)
        if not state.running:
            return None if state.monoid.exact else Loud.FOLD
        return Loud.SCAN if any(isinstance(value, Stream) for value in statement.values) else None
    if _loaded_at(statement, data) is _Place.DATA:
        return Loud.RANDOM
    return Loud.HEAVY if _is_heavy(statement) else None


def _is_heavy(statement: LoopBody) -> bool:
    return element_work([statement], OPERATIONS) >= OPERATIONS.elementary


class _Place(IntEnum):
    """What a value is made of, by which it is known what is loaded at it."""

    ONE = 0
    """Nothing that changes in the nest: constants, extents, and what is loaded at such places, as the number of a turn."""
    INDEX = 1
    """Indices of loops."""
    DATA = 2


def _loaded_at(statement: LoopBody, data: frozenset[str]) -> _Place:
    """The worst place at which a statement's function loads; what it chooses and repeats counts as data."""
    function, worst = element_function(statement), _Place.ONE
    if function is None:
        return worst
    found: dict[scalar.Operand, _Place] = {}
    for variable, operand in zip(function.parameters, flow.operands(statement), strict=True):
        if isinstance(operand, Stream):
            found[variable] = _Place.DATA if operand.name in data else _Place.INDEX
        else:
            found[variable] = _Place.ONE

    def made_of(operands: Iterable[scalar.Operand]) -> _Place:
        # Variables that are not there are those of a loop in the function.
        places = (found.get(each, _Place.INDEX) for each in operands if isinstance(each, scalar.Variable))
        return max(places, default=_Place.ONE)

    for each in mentions.function_statements(function):
        match each:
            case scalar.Compute(out, _, operands):
                found[out] = made_of(operands)
            case scalar.Load(out, _, index):
                place = made_of(index)
                worst = max(worst, place)
                found[out] = _Place.ONE if place is _Place.ONE else _Place.DATA
            case scalar.If() | scalar.While():
                found.update(dict.fromkeys(each.outs, _Place.DATA))
            case _:
                assert_never(each)
    return worst


def _placed(statements: Sequence[LoopBody], free: Set[int], loud: Mapping[int, Loud]) -> Mapping[int, int]:
    """The phase of each statement, by identity; `free` ones, which stand in every phase that needs them, have none.

    A loud statement comes after all that it needs and after the phases that have something else that is loud.
    """
    makers = {stream.name: id(s) for s in statements for stream in flow.made(s)}
    placed: dict[int, int] = {}
    made_in: dict[int, int] = {}  # the phase from which on a statement's streams are there, of free ones as well
    has: dict[int, set[Loud]] = {}
    for statement in statements:
        needs = [makers[stream.name] for stream in flow.needed(statement) if stream.name in makers]
        phase = max((made_in[maker] for maker in needs if maker in made_in), default=0)
        if id(statement) in free:
            made_in[id(statement)] = phase
            continue
        own = loud.get(id(statement))
        if own is not None:
            while any(map(own.disturbs, has.get(phase, ()))):
                phase += 1
            has.setdefault(phase, set()).add(own)
        placed[id(statement)] = made_in[id(statement)] = phase
    return placed


def _is_free(statement: LoopBody, data: frozenset[str]) -> bool:
    """Whether a statement depends on indices and sizes alone, and costs little to run again."""
    made = flow.made(statement)
    return isinstance(statement, OneToOne | Within | Remap) and not any(stream.name in data for stream in made)


def _phases(statements: Sequence[LoopBody], placed: Mapping[int, int]) -> tuple[Phase, ...]:
    makers = {stream.name: s for s in statements for stream in flow.made(s)}
    found: list[Phase] = []
    needs: list[dict[Stream, None]] = []
    for phase in range(max(placed.values()) + 1):
        own = [s for s in statements if placed.get(id(s)) == phase]
        free: set[int] = set()
        loads: dict[Stream, None] = {}
        pending = [stream for s in own for stream in flow.needed(s)]
        while pending:
            stream = pending.pop()
            maker = makers.get(stream.name)
            if maker is None:
                continue
            if id(maker) not in placed:
                if id(maker) not in free:
                    free.add(id(maker))
                    pending += flow.needed(maker)
            elif placed[id(maker)] < phase:
                loads[stream] = None
        found.append(
            Phase(tuple(s for s in statements if placed.get(id(s)) == phase or id(s) in free), tuple(loads), ())
        )
        needs.append(loads)
    kept = [
        tuple(s for s in _made_in(found[at]) if any(s in later for later in needs[at + 1 :]))
        for at in range(len(found))
    ]
    return tuple(Phase(each.statements, each.loads, keeps) for each, keeps in zip(found, kept, strict=True))


def _made_in(phase: Phase) -> list[Stream]:
    return [stream for statement in phase.statements for stream in flow.made(statement)]
