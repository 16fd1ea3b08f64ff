"""What a loop does not change is computed before it, once.

A binding in the step (or the condition) of an `awhile` that depends neither on its state nor on what stays inside moves out;
from the step only what cannot fail (`may_fail.py`), since the step may never run. For what may fail, the loop gets a guard,

    loop from s    becomes    if condition(s) then {what may fail; loop from s} else {s}

where `what may fail` is certain to be wanted. Branches of an `acond` in a step may not run either: from them, too, only
what cannot fail moves. Inner loops come first, so that what they do not change moves on, out of the outer ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from accel.labelled.array import Array, Extent, Label, Shape, SizeVariable
from accel.labelled.nodes import Acond, Awhile, Binding, HostCall, Program, Sort
from accel.labelled.operations import Kind, describe
from accel.labelled.passes.dependence import Names
from accel.labelled.passes.loops.rotation import rotated
from accel.labelled.passes.may_fail import may_fail
from accel.labelled.passes.shapes.factors import Sizes, computed_sizes
from accel.support.dataclass import dataclass


def hoist_invariants(program: Program) -> Program:
    """The program with invariants of its loops before them. Labels no longer rise."""
    return _Hoist(Names(program), computed_sizes(program)).program(program, frozenset())


@dataclass(frozen=True, slots=True)
class _Hoist:
    names: Names
    sizes: Sizes

    def program(self, program: Program, around: frozenset[Label]) -> Program:
        """`around`: labels known where the program stands. It recurses on nested control flow only."""
        known = set(around).union(leaf.label for parameter in program.parameters for leaf in parameter)
        bindings: list[Binding] = []
        for binding in program.bindings:
            match binding.operation:
                case Acond(condition, then, orelse):
                    outside = frozenset(known)
                    choice = Acond(condition, self.program(then, outside), self.program(orelse, outside))
                    bindings.append(replace(binding, operation=choice))
                case Awhile(condition, body, initial):
                    outside = frozenset(known)
                    loop = Awhile(self.program(condition, outside), self.program(body, outside), initial)
                    bindings += self._loop(binding, loop, known)
                case _:
                    bindings.append(binding)
            known.update(b.label for b in bindings[-1:])
        return replace(program, bindings=tuple(bindings))

    def _loop(self, binding: Binding, loop: Awhile, known: set[Label]) -> list[Binding]:
        """The loop, after what it does not change. `known`: labels before it; what moves is added."""
        condition, asked = self._split(loop.condition, known, loop.initial, certain=True)
        body, moved = self._split(loop.body, known, loop.initial, certain=False)
        before = [*asked, *moved]
        rest, wanted = self._split(body, set(known), loop.initial, certain=True)
        if all(map(_is_free, wanted)):
            return [*before, replace(binding, operation=replace(loop, condition=condition, body=body))]
        return [*before, *self._guarded(binding, replace(loop, condition=condition, body=rest), wanted)]

    def _split(
        self, part: Program, known: set[Label], there: Sequence[Array], certain: bool
    ) -> tuple[Program, list[Binding]]:
        """What remains of a part of a loop, and what leaves it, which is added to `known`. `certain`: the part will run.

        It recurses on branches only.
        """
        remaining: list[Binding] = []
        moved: list[Binding] = []
        for binding in part.bindings:
            if self.names.needs(binding) <= known and (certain or not may_fail(binding, there, self.sizes)):
                known.add(binding.label)
                moved.append(binding)
                continue
            if isinstance(binding.operation, Acond):
                binding = replace(binding, operation=self._branches(binding.operation, known, there, moved))
            remaining.append(binding)
        return replace(part, bindings=tuple(remaining)), moved

    def _branches(self, choice: Acond, known: set[Label], there: Sequence[Array], moved: list[Binding]) -> Acond:
        """An `acond` of a loop's part without what leaves its branches."""
        then, left = self._split(choice.then, known, there, certain=False)
        orelse, right = self._split(choice.orelse, known, there, certain=False)
        moved += left + right
        return Acond(choice.condition, then, orelse)

    def _guarded(self, binding: Binding, loop: Awhile, wanted: list[Binding]) -> list[Binding]:
        """The loop in a branch, after what is wanted only if it runs."""
        asked, (holds,) = self.names.instance(loop.condition, loop.initial)
        label = self.names.label()
        again = self._results(binding.arrays, loop.initial, label)
        inner = rotated(replace(binding, label=label, arrays=again, operation=loop), loop, holds, self.names)
        then = Program((), (*wanted, inner), again)
        return [*asked, replace(binding, operation=Acond(holds, then, Program((), (), loop.initial)))]

    def _results(self, arrays: Sequence[Array], initial: Sequence[Array], label: Label) -> tuple[Array, ...]:
        """Results like `arrays` for a loop that is called `label`, with sizes of its own for those that change."""
        fresh: dict[SizeVariable, SizeVariable] = {}

        def extent(result: Extent, start: Extent) -> Extent:
            if result.variable is None or result == start:
                return result
            if result.variable not in fresh:
                fresh[result.variable] = self.names.size(label)
            return Extent(fresh[result.variable], result.offset)

        def shape(result: Array, start: Array) -> Shape:
            return tuple([extent(*pair) for pair in zip(result.shape, start.shape, strict=True)])

        pairs = zip(arrays, initial, strict=True)
        return tuple([replace(result, label=label, shape=shape(result, start)) for result, start in pairs])


def _is_free(binding: Binding) -> bool:
    """Whether no loop runs for a binding: it is not worth a guard."""
    described = describe(binding.operation)
    is_loop = bool(described.parts) or isinstance(binding.operation, Sort | HostCall)
    return described.kind is Kind.BARRIER and not is_loop
