"""Faults of the stage `schedule`: roles of axes, legality, the rules, rows, the tree of partial results, the verifier."""

from __future__ import annotations

from tests.mutation.fault import Fault

_RULES = ("tests/schedule/test_rules.py",)
_INTERPRET = ("tests/schedule/test_interpret.py",)
_MACHINES = ("tests/schedule/test_machines.py",)
_INSIDE = ("tests/schedule/test_inside.py",)
_CUTS = ("tests/llvm/test_cuts.py",)
_TEXT = ("tests/schedule/test_schedule_text.py",)

FAULTS = (
    Fault(
        "a scan carries nothing",
        "schedule/nodes.py",
        "return Role.CHAIN\n        if self.state.monoid.exact",
        "return Role.MAP\n        if self.state.monoid.exact",
        _RULES,
    ),
    Fault(
        "a stream does not depend on its guard and operands",
        "schedule/axes.py",
        "needs = _of(flow.needed(statement), found)",
        "needs = _of(flow.needed(statement)[:1], found)",
        _RULES,
    ),
    Fault(
        "two loops of one ordered fold change places",
        "schedule/legality.py",
        "if each.by(inner.axis.depths) and each.role is not Role.EXACT:",
        "if each.by(inner.axis.depths) and each.role is Role.EXACT:",
        _RULES,
    ),
    Fault(
        "a lane takes its elements in any order",
        "schedule/legality.py",
        "if outer.part is Part.STEP and inner.part is Part.STEP:",
        "if False:",
        _RULES,
    ),
    Fault(
        "tails stand anywhere",
        "schedule/legality.py",
        'return None if divides(size, piece.size) else "tails',
        'return None if True else "tails',
        _RULES,
    ),
    Fault(
        "a piece of a subdivided axis keeps its old stride",
        "schedule/rules.py",
        "return replace(each, inside=(*each.inside[:place], *sizes, *each.inside[place + 1 :]))",
        "return each",
        (*_RULES, *_TEXT),
    ),
    Fault(
        "scatters run on all threads",
        "schedule/templates/rows.py",
        "if not scatters and any(isinstance(statement, Scatter) for statement in mentions.statements(nest)):",
        "if scatters and any(isinstance(statement, Scatter) for statement in mentions.statements(nest)):",
        ("tests/llvm/test_scalar_loops.py::test_scatters_stay_in_order", *_TEXT),
    ),
    Fault(
        "folds that do not commute have a slice with those that do",
        "schedule/templates/slices.py",
        "kinds.setdefault((lanes(each.state.types), each.state.monoid.commutes), [])",
        "kinds.setdefault((lanes(each.state.types), True), [])",
        _MACHINES,
    ),
    Fault(
        "scans in an order are carried by parts of any size",
        "schedule/legality.py",
        "if ordered and not _fills_blocks(size):",
        "if ordered and size == 0:",
        _RULES,
    ),
    Fault(
        "a scan of a scan is totalled in the same round",
        "schedule/rounds.py",
        "if name not in known and needs[name] <= known)",
        "if name not in known)",
        _MACHINES,
    ),
    Fault(
        "lanes join with their neighbours",
        "schedule/meaning/tree.py",
        "left, right, last = lane % half, lane % half + half, present",
        "left, right, last = lane & ~1, lane | 1, present",
        _INTERPRET,
    ),
    Fault(
        "lanes outside of steps run as they are numbered",
        "schedule/meaning/interpret.py",
        'int(f"{number:0{bits}b}"[::-1], 2)',
        'int(f"{number:0{bits}b}", 2)',
        _INTERPRET,
    ),
    Fault(
        "what is packed is computed again",
        "schedule/meaning/interpret.py",
        "if place not in self._memory:",
        "if place:",
        _INTERPRET,
    ),
    Fault(
        "schedules are not derived again",
        "schedule/verify.py",
        "if named(made, schedule.template) != schedule:",
        "if named(made, schedule.template) is None:",
        _TEXT,
    ),
    Fault(
        "a series reads rows that are not made yet",
        "schedule/templates/series.py",
        "if array in way.made and not (by_rows and way.made[array]):",
        "if array in way.made and not way.made[array]:",
        ("tests/schedule/test_series.py", "tests/llvm/test_series.py"),
    ),
    Fault(
        "results are passed within a series",
        "schedule/templates/series.py",
        "found = {array for part in parts for array in part.results}",
        "found: set[Array] = set()",
        ("tests/schedule/test_series.py::test_results_are_not_passed", "tests/llvm/test_series.py"),
    ),
    Fault(
        "the edge at an end is one iteration too narrow",
        "schedule/splitting/conditions.py",
        "// slope - 1)), truth",
        "// slope - 2)), truth",
        _INSIDE,
    ),
    Fault(
        "the edge at a beginning is that of numbers that may be equal",
        "schedule/splitting/conditions.py",
        "least = int(strict and not equal)",
        "least = 0",
        _INSIDE,
    ),
    Fault(
        "indices within margins begin one earlier",
        "ir/indices.py",
        "Range((Linear(low),), (last,))",
        "Range((Linear(low + 1),), (last,))",
        _INSIDE,
    ),
    Fault(
        "margins of outer loops are not asked in lanes",
        "backends/llvm/loops/vectors/parts.py",
        "i64 {end}, i64 0",
        "i64 {end}, i64 {end}",
        ("tests/llvm/test_split_loops.py",),
    ),
    Fault(
        "an inside in lanes begins at the loop's beginning",
        "backends/llvm/loops/vectors/parts.py",
        "first = str(margin.low)",
        'first = "0"',
        ("tests/llvm/test_split_loops.py",),
    ),
    Fault(
        "the vectors behind the first of a long inside leave a gap",
        "backends/llvm/loops/vectors/edges.py",
        "str((first + lanes) // quarter * quarter)",
        "str(first + 2 * lanes)",
        ("tests/llvm/test_split_loops.py::test_edges_of_wide_elements",),
    ),
    Fault(
        "the last vectors of a long inside end a vector before it",
        "backends/llvm/loops/vectors/parts.py",
        "code.emit(f'add i64 {left}, {lanes - 1}')",
        "left",
        ("tests/llvm/test_split_loops.py::test_edges_of_wide_elements",),
    ),
    Fault(
        "an edge in scalar code has no iterations",
        "backends/llvm/loops/vectors/edges.py",
        "self._vectors.one_by_one(part, position, routine.least(first, part.high))",
        'self._vectors.one_by_one(part, position, "0")',
        ("tests/llvm/test_split_loops.py::test_edges_of_wide_elements",),
    ),
    Fault(
        "a remainder is found one step too early",
        "labelled/scalars/ranges.py",
        "bounds = [bound.plus(step) for bound in bounds]",
        "bounds = [bound.plus(step).plus(step) for bound in bounds]",
        _INSIDE,
    ),
    Fault(
        "a cut of what is not greater is one iteration early",
        "schedule/splitting/pieces.py",
        "Operator.LE: (True, 1)",
        "Operator.LE: (True, 0)",
        _CUTS,
    ),
    Fault(
        "a cut is made however many extents are added to the index",
        "schedule/splitting/pieces.py",
        "if summands <= SUMMANDS:",
        "if summands > 0:",
        _CUTS,
    ),
    Fault(
        "a cut wraps around where a number from data is large",
        "schedule/splitting/pieces.py",
        "(Operator.MIN, _FAR), (Operator.MAX, _BEFORE)",
        "(Operator.MIN, constant(I64, (1 << 63) - 1)), (Operator.MAX, constant(I64, -(1 << 63)))",
        _CUTS,
    ),
    Fault(
        "a piece begins with a whole vector",
        "backends/llvm/loops/vectors/pieces.py",
        "writer.without(some, writer.first_lanes(before))",
        "some",
        _CUTS,
    ),
    Fault(
        "a cut is taken where the piece before has not begun",
        "backends/llvm/loops/vectors/pieces.py",
        "icmp slt i64 {at}, {low}')}, i64 {low}",
        "icmp slt i64 {at}, {low}')}, i64 {at}",
        _CUTS,
    ),
)
