"""A program and the programs within its control flow: what an explanation goes through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from accel.errors import AccelInternalError
from accel.explanation.naming.turns import is_iterate
from accel.explanation.why.reasons import operation_name
from accel.fusedast import nodes as fusedast
from accel.fusedast.nodes import RootOfCluster, Unfused, UnfusedAcond, UnfusedAwhile
from accel.ilp.problem.clustering import Plan
from accel.labelled import nodes as labelled
from accel.labelled.array import Array, Label
from accel.labelled.nodes import Binding
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A program or sub-program in three forms. around: the control flow that it is in, such as `awhile %4, do`.

    carried: of a half of an `awhile`, the arrays of that; its parameters are these, one turn earlier. counts: it is the half of
    an `iterate` that asks whether to go on.
    """

    program: labelled.Program
    fused: fusedast.Program
    plan: Plan
    around: tuple[str, ...] = ()
    carried: tuple[Array, ...] = ()
    counts: bool = False

    def roots(self) -> Iterator[RootOfCluster]:
        """The clusters of this part alone."""
        return (node for node in self.fused.nodes if isinstance(node, RootOfCluster))


def parts(whole: Part, turns: Mapping[Label, str]) -> Iterator[Part]:
    """The program, then its sub-programs in order, each before its own. turns: how many a loop makes, where that is told."""
    pending = [whole]
    while pending:
        part = pending.pop()
        yield part
        plans = dict(part.plan.inner)
        inner: list[Part] = []
        for node in part.fused.nodes:
            match node:
                case UnfusedAcond(binding, _, first, second) | UnfusedAwhile(binding, first, second):
                    halves = zip(_halves(binding), (first, second), plans[binding.label], strict=True)
                    for (title, program), fused, plan in halves:
                        around = (*part.around, _title(binding, title, turns))
                        carried = binding.arrays if isinstance(node, UnfusedAwhile) else ()
                        counts = is_iterate(binding) and title == "while"
                        inner.append(Part(program, fused, plan, around, carried, counts))
                case RootOfCluster() | Unfused():
                    pass
                case _:
                    assert_never(node)
        pending += reversed(inner)


def _title(binding: Binding, half: str, turns: Mapping[Label, str]) -> str:
    """`awhile %4, do`, `iterate %4 x 50 turns`."""
    if not is_iterate(binding):
        return f"{operation_name(binding)}, {half}"
    number = turns.get(binding.label)
    return (
        f"{operation_name(binding)} x {number} turn{'' if number == '1' else 's'}"
        if number
        else operation_name(binding)
    )


def _halves(binding: Binding) -> tuple[tuple[str, labelled.Program], tuple[str, labelled.Program]]:
    match binding.operation:
        case labelled.Acond(_, then, orelse):
            return ("then", then), ("else", orelse)
        case labelled.Awhile(condition, body):
            return ("while", condition), ("do", body)
        case other:
            raise AccelInternalError(f"{type(other).__name__} has no sub-programs")


def plans(whole: Plan) -> Iterator[Plan]:
    """The plan of a program and those of its sub-programs."""
    pending = [whole]
    while pending:
        plan = pending.pop()
        yield plan
        pending += (half for _, halves in plan.inner for half in halves)
