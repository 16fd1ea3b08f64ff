"""Rows: every nest, in its own order, the innermost loop in lanes and the outermost on threads where that gives the same bits.

In: a nest. Out: its schedule. Loops that stand directly inside of each other run as one (`accel/schedule/flat.py`). The
innermost loop runs in lanes unless something of it needs one iteration after the other: merges that load or repeat, states in
an order that is not that of its iterations, and scatters, which lanes do one after the other where much else is computed. The
outermost one runs on threads if nothing goes from one iteration to the next but folds of what all iterations make.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from accel.ir import flow, mentions
from accel.ir.mentions import loops
from accel.ir.nodes import For, LoopBody, LoopDirection, ManyToOne, Nest, Scatter, State
from accel.ir.positions import merging
from accel.ir.work import element_work
from accel.labelled.meaning.order import BLOCK
from accel.labelled.work import IN_LANES
from accel.schedule import rules
from accel.schedule.flat import flat_loops
from accel.schedule.legality import (
    ORDERS,
    against_subdividing,
    any_order,
    lone_scatters,
    most_lanes,
    scatters,
    straight,
)
from accel.schedule.nodes import Accumulation, Kind, Parameter, Part, Schedule, Template
from accel.schedule.splitting.inside import inside
from accel.schedule.splitting.lines import lined
from accel.schedule.splitting.phases import STRIP, Phase, phases

CHUNK = Parameter("chunk", BLOCK)
"""How many iterations a thread takes at once."""


def rows(nest: Nest, lanes: bool = True) -> Schedule:
    """The nest row by row; without `lanes` one iteration of the innermost loop after the other."""
    return _rows(nest, in_lanes(nest) if lanes else None, on_threads(nest))


def lined_rows(nest: Nest) -> Schedule | None:
    """The same, but each row begins with what its columns share; None where they share nothing, or no rows run in lanes."""
    every = flat_loops(nest)
    if every is None or every[-1].body.loop is not None or in_lanes(nest) is None or phases(nest, every[-1]):
        return None
    found = lined(rules.original(nest))
    if found is None:
        return None
    for _ in every[1:-1]:
        found = rules.flatten(found, 0)
    return rules.named(_on_threads(_by_lanes(found, threads=True, in_strips=False)), Template.ROWS)


def merged_rows(by_rows: Schedule) -> Schedule | None:
    """The same where memory lies so that all loops are one, the innermost, which then counts all elements; None if it never
    does, or if nothing is staged for want of it."""
    if Accumulation.STAGED not in dict(by_rows.accumulations).values():
        return None
    kept = merged_in_lanes(by_rows.nest)
    return None if kept is None else rules.named(_rows(by_rows.nest, kept, on_threads(by_rows.nest)), Template.MERGED)


def copied_rows(nest: Nest) -> Schedule:
    """The nest row by row, on threads although it scatters: each into copies of its own."""
    return rules.named(_rows(nest, in_lanes(nest), threads=True), Template.COPIES)


def carried_rows(nest: Nest) -> Schedule:
    """The nest row by row, on threads although states run: parts of the outermost loop are carried from one to the next."""
    return rules.named(_rows(nest, in_lanes(nest), threads=True, carried=True), Template.CHAIN)


def _rows(nest: Nest, kept: Mapping[str, Accumulation] | None, threads: bool, carried: bool = False) -> Schedule:
    """`kept`: how states are kept in lanes; None without lanes."""
    schedule = rules.original(nest)
    for _ in (flat_loops(nest) or [])[1:]:
        schedule = rules.flatten(schedule, 0)
    for state, accumulation in (kept or {}).items():
        if schedule.accumulation(state) is not accumulation:
            schedule = rules.keep(schedule, state, accumulation)
    if kept is not None and rows_run_down(nest):
        for at in range(len(schedule.pieces) - 1):
            schedule = rules.reverse(schedule, at)
    if carried:
        schedule = rules.carry(schedule, 0, CHUNK)
    found = phases(nest, loops(nest)[-1]) if kept is not None and not carried else ()
    if kept is not None:
        schedule = _by_lanes(schedule, threads, in_strips=bool(found))
    if threads:
        schedule = _on_threads(schedule)
    if found:
        schedule = _packed(schedule, found)
    elif kept is not None and not (carried or any(scatters(nest, -1))) and (margins := inside(nest)):
        schedule = rules.split(schedule, margins)
    return rules.named(schedule, Template.ROWS)


def _packed(schedule: Schedule, found: Sequence[Phase]) -> Schedule:
    """What phases keep, for the innermost strip, if the axis has strips."""
    parts = schedule.pieces[-1].part in (Part.LANE, Part.STEP)
    strip = len(schedule.pieces) - (2 if parts else 1)
    if schedule.pieces[strip].size is None:
        return schedule
    for phase in found:
        if phase.keeps:
            schedule = rules.pack(schedule, [stream.name for stream in phase.keeps], strip)
    return schedule


def _by_lanes(schedule: Schedule, threads: bool, *, in_strips: bool) -> Schedule:
    """The innermost axis in lanes: those of the order, if its elements have one; else any, of parts that one thread takes."""
    last = len(schedule.pieces) - 1
    piece = schedule.pieces[last]
    if piece.axis.role in ORDERS:
        most = most_lanes(schedule, piece.axis)
        if against_subdividing(schedule, piece, most) is None:
            schedule = rules.subdivide(schedule, last, most)
    elif last == 0 and threads:
        schedule = rules.subdivide(schedule, last, CHUNK)
    if in_strips:
        last = len(schedule.pieces) - 1
        lanes = schedule.pieces[last]
        parts = lanes.part in (Part.LANE, Part.STEP)
        size = STRIP // lanes.size if parts and isinstance(lanes.size, int) else STRIP
        if against_subdividing(schedule, schedule.pieces[last - parts], size) is None:
            schedule = rules.subdivide(schedule, last - parts, size)
    return rules.kind(schedule, len(schedule.pieces) - 1, Kind.VECTOR)


def _on_threads(schedule: Schedule) -> Schedule:
    """The outermost axis on threads, by blocks of the order, if its elements have one."""
    first = schedule.pieces[0]
    if first.axis.role in ORDERS and first.part is Part.WHOLE:
        schedule = rules.subdivide(schedule, 0, most_lanes(schedule, first.axis))
    return rules.kind(schedule, 0, Kind.PARALLEL)


def in_lanes(nest: Nest) -> Mapping[str, Accumulation] | None:
    """How the states that step in the innermost loop are kept while it runs in lanes; None if it cannot."""
    every = loops(nest)
    return kept_in_lanes(nest, every[-1], every[-1].states) if every else None


def merged_in_lanes(nest: Nest) -> Mapping[str, Accumulation] | None:
    """The same where memory lies so that all loops are one, the innermost, which then counts all their elements; None if it
    never does."""
    every = flat_loops(nest)
    if every is None or every[-1].body.loop is not None or merging(nest, every):
        return None
    return kept_in_lanes(nest, every[-1], every[0].states)


def kept_in_lanes(nest: Nest, loop: For, own: Collection[State]) -> Mapping[str, Accumulation] | None:
    """The same where the elements of the states `own` are the iterations of the innermost loop."""
    found = _kept_states(nest, loop, own)
    return None if isinstance(found, str) else found


def against_lanes(nest: Nest) -> str | None:
    """Why the innermost loop runs one iteration after the other; None if it may run in lanes, or if there is no loop."""
    every = loops(nest)
    found = _kept_states(nest, every[-1], every[-1].states) if every else {}
    return found if isinstance(found, str) else None


def _kept_states(nest: Nest, loop: For, own: Collection[State]) -> Mapping[str, Accumulation] | str:
    """How each state is kept, or why lanes cannot run."""
    statements = [*loop.body.before, *loop.body.after]
    prefixes = flow.prefixes(loop)
    states = {state.name: state for state in mentions.states(nest)}
    steps = [statement for statement in statements if isinstance(statement, ManyToOne)]
    if len({step.state for step in steps}) < len(steps):
        return "a state takes elements in two places"
    if any(isinstance(s, Scatter) for s in statements):
        if not lone_scatters(nest):
            return "it scatters into what it reads, or writes besides"
        if not _saves(statements):
            return "lanes would scatter one after the other, and save little else"
    kept: dict[str, Accumulation] = {}
    for step in steps:
        state = states[step.state]
        whole = step.when is None or step.when == state.when or step.when.name in prefixes
        found = _kept(state, state in own, whole)
        if isinstance(found, str):
            return found
        kept[state.name] = found
    return kept


def _saves(statements: Sequence[LoopBody]) -> bool:
    """Whether lanes save much of what iterations that scatter take: as much as an elementary function."""
    return element_work(statements, IN_LANES) >= IN_LANES.elementary


def _kept(state: State, own: bool, whole: bool) -> Accumulation | str:
    """How lanes keep a state, or why they cannot. `own`: its elements are those of the loop; `whole`: of every iteration."""
    if not straight(state.merge):
        return "the function that combines elements loads from an array, or loops"
    if any_order(state):
        return Accumulation.VALUE
    if state.running:
        return Accumulation.VALUE if own and whole else "a scan goes on through several rows, or skips elements"
    in_blocks = own and whole and state.monoid.commutes
    return Accumulation.BLOCKS if in_blocks else Accumulation.STAGED


def rows_run_down(nest: Nest) -> bool:
    """Whether the innermost loop runs downwards, and nothing depends on the order of those around it: then these run downwards
    as well, so that memory is visited in one direction."""
    innermost = loops(nest)[-1]
    alone = all(state in innermost.states for state in mentions.states(nest))
    scatters = any(isinstance(statement, Scatter) for statement in mentions.statements(nest))
    return innermost.direction is LoopDirection.DOWN and alone and not scatters


def on_threads(nest: Nest, *, scatters: bool = False) -> bool:
    """Whether chunks of the outermost axis may run in any order: of all loops that run as one with the outermost loop.

    `scatters`: whether they may scatter at the same time.
    """
    every = loops(nest)
    if not every or any(state.running for state in every[0].states):
        return False
    if not scatters and any(isinstance(statement, Scatter) for statement in mentions.statements(nest)):
        return False
    last = (flat_loops(nest) or every[:1])[-1]
    ordered = {state.name for state in every[0].states if not state.monoid.exact}
    return all(
        not (isinstance(s, ManyToOne) and s.state in ordered) or _aligned(s, last) for s in mentions.statements(nest)
    )


def _aligned(step: ManyToOne, loop: For) -> bool:
    """Whether each iteration makes a step."""
    return step.when is None and step in (*loop.body.before, *loop.body.after)
