"""The report as plain text: a line per graph, below it one per formulation, solver and cost model."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.fusion_measure import Measured
from benchmarks.fusion_suite import Subject

Cost = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Published:
    """A line of [vB24 Table 2]: Gurobi 9.1.2 on the paper's machine, cost model (e), "reads and writes"."""

    benchmark: str
    combinators: int
    seconds: float


TABLE_2 = (Published("FlashAttention", 66, 9.77), Published("LULESH", 51, 0.42), Published("Multigrid", 99, 0.29))

_UNITS = (("E", 10**18), ("P", 10**15), ("T", 10**12), ("G", 10**9), ("M", 10**6))


def number(count: int) -> str:
    """A count; four digits of it from a million on."""
    for letter, size in _UNITS:
        if count >= size:
            return f"{count / size:.4g}{letter}"
    return str(count)


def printable(text: str) -> str:
    """A line; what cannot be printed in the names of a file is escaped."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def cost_text(cost: Cost) -> str:
    """The levels of a cost."""
    return "/".join(map(number, cost))


def gap_text(cost: Cost, best: Cost) -> str:
    """By how much greedy's cost is above the best one, in the first level in which they differ."""
    for level, (ours, theirs) in enumerate(zip(cost, best, strict=True), 1):
        if ours != theirs:
            gap = f"{100 * (ours - theirs) / theirs:.2g} %" if theirs else str(ours)
            return f"greedy is {gap} above it" + (f" in level {level}" if level > 1 else "")
    return "greedy reaches it"


def seconds_text(seconds: float | None) -> str:
    """Seconds, or that nobody knows them."""
    return "n/a" if seconds is None else f"{seconds:.3f}"


def head(subject: Subject) -> str:
    """What is said of a graph once."""
    return f"{subject.name}: {subject.operations} operations, {subject.edges} edges"


def reference(model: str, unfused: Cost, greedy: Cost, best: Cost) -> str:
    """What is said once of a graph and a cost model."""
    costs = f"unfused {cost_text(unfused)}, greedy {cost_text(greedy)}, best {cost_text(best)}"
    return f"  {model}: {costs}; {gap_text(greedy, best)}"


COLUMNS = f"    {'formulation':12} {'solver':7} {'cost':>20} {'rows':>6} {'columns':>7} {'first':>8} {'proof':>8}"


def line(formulation: str, solver: str, found: Measured) -> str:
    """What one formulation and solver made of a graph."""
    cost = cost_text(found.answer.cost)
    proof = seconds_text(found.seconds) if found.answer.proved else f">{found.seconds:.3f}"
    sizes = f"{found.rows or '-':>6} {found.columns or '-':>7}"
    numbers = f"{cost:>20} {sizes} {seconds_text(found.first):>8} {proof:>8}"
    return f"    {formulation:12} {solver:7} {numbers}{_remark(found)}".rstrip()


def _remark(found: Measured) -> str:
    """Why there is no proof."""
    answer = found.answer
    if answer.proved:
        return ""
    if answer.strategy != "ilp":
        return f"  {found.trouble}"
    levels = [cost == bound for cost, bound in zip(answer.cost, answer.bound, strict=True)]
    proved = levels.index(False)
    return (
        f"  {proved} of {len(levels)} levels proved; the bound is {cost_text(answer.bound)}"
        if proved
        else (f"  not proved; the bound is {cost_text(answer.bound)}")
    )


LEGEND = """\
Times are processor seconds of one thread; time limits are by the clock on the wall. cost: of the plan, level by level.
rows, columns: of the integer programs that the solver was given, with all rows that were added; "-" where none was needed:
what greedy found reaches a bound that is plain to see. first: to a plan of this cost, at most: under the shortest of the time
limits T, T/2, T/4, ... that was enough, T being what the proof took, or greedy's time if it costs the same; n/a without a
proof. proof: from the graph to the checked plan that is proved optimal; with ">", to the plan without a proof."""


def published_text() -> str:
    """The paper's figures."""
    rows = [f"    {row.benchmark:16} {row.combinators:>11} {row.seconds:>8.2f} s" for row in TABLE_2]
    return "\n".join(
        [
            "For comparison, [vB24 Table 2]: seconds to the proof for `reads_writes` on the paper's machine, by Gurobi 9.1.2.",
            "CBC 2.10.7 found the optima of all three in minutes there, and proved none within an hour. The paper's graphs are",
            "not public: those of the files above are other transcriptions of these programs, with a tuple as one array.",
            f"    {'benchmark':16} {'combinators':>11} {'Gurobi':>10}",
            *rows,
        ]
    )
