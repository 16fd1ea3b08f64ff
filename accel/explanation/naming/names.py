"""What the user calls the arrays and operations of a program.

In: the program as it was written and as it is labelled, and what the files say. Out: variables by array and by label, as far
as they are known. A combinator that is several operations gives its name to what the last of them makes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from accel.ast.tree.nodes import Acond as AcondNode
from accel.ast.tree.nodes import ArrayNode, Map, Project, ScanForm
from accel.ast.tree.nodes import Awhile as AwhileNode
from accel.ast.tree.types import TupleType, leaves
from accel.ast.tree.walk import arrays_of, postorder
from accel.explanation.naming.turns import Counters, Place, is_iterate, place_of
from accel.explanation.naming.variables import Variables
from accel.labelled.array import Array, Label
from accel.labelled.nodes import Acond, Awhile, Binding, Filter, Force, Program, Scan, Use
from accel.labelled.places import name as combinator
from accel.labelled.programs import programs
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Names:
    """Variables of the user's: of arrays, and of what operations give; nothing is known of the others."""

    arrays: dict[Array, str] = field(default_factory=dict)
    operations: dict[Label, str] = field(default_factory=dict)


def named(
    program: Program, nodes: Sequence[ArrayNode], parameters: Sequence[str], counters: Counters, variables: Variables
) -> Names:
    """The names in a program that these nodes were labelled as; `parameters` are the names of the function's."""
    bindings = [each for part in programs(program) for each in part.bindings if each.label not in counters.operations]
    finder = _Finder(bindings, _Written(nodes, variables), parameters, variables)
    names = Names()
    for binding in bindings:
        finder.into(names, binding)
    for binding in reversed(bindings):
        _through(names, binding)
    return names


class _Written:
    """What labelled programs do not tell: how many results control flow had, and what was unzipped."""

    def __init__(self, nodes: Sequence[ArrayNode], variables: Variables) -> None:
        self.loops: dict[Place | None, AwhileNode] = {}
        self.branches: dict[Place | None, AcondNode] = {}
        self.unzipped: dict[Place | None, dict[int, str]] = {}
        for node in postorder(nodes, arrays_of):
            match node:
                case AwhileNode(where=where):
                    self.loops[place_of(where)] = node
                case AcondNode(where=where):
                    self.branches[place_of(where)] = node
                case Map(name="unzip"):
                    self._unzip(node, variables)
                case _:
                    pass

    def _unzip(self, node: Map, variables: Variables) -> None:
        """`a, b = A.unzip(ab)`: the leaves of `ab` are `a`'s, then `b`'s."""
        (source,), item, target = node.arrays, node.function.body, variables.assigned(node.where)
        element = source.types[0].element
        if isinstance(item, Project) and isinstance(element, TupleType) and target is not None and target.unpacked:
            first = sum(len(leaves(each)) for each in element.items[: item.position])
            name = target.of(item.position, len(element.items))
            count = len(leaves(element.items[item.position]))
            found = {first + leaf: _leaf(name, leaf) for leaf in range(count) if name}
            self.unzipped.setdefault(place_of(source.where), {}).update(found)


class _Finder:
    def __init__(
        self, bindings: Sequence[Binding], written: _Written, parameters: Sequence[str], variables: Variables
    ) -> None:
        self._written, self._parameters, self._variables = written, parameters, variables
        self._last: dict[Place | None, str] = {}
        self._made: dict[Array, Place | None] = {}
        for binding in sorted(bindings, key=lambda each: each.label):
            self._made |= dict.fromkeys(binding.arrays, place_of(binding.where))
            if isinstance(binding.operation, Awhile):
                for part in (binding.operation.condition, binding.operation.body):
                    self._made |= {leaf: place_of(binding.where) for each in part.parameters for leaf in each}
            if binding.arrays:
                self._last[place_of(binding.where)] = _kind(binding)

    def into(self, names: Names, binding: Binding) -> None:
        """Adds the names of what one operation makes, and of the arrays that a loop carries."""
        results = [(name, arrays) for name, arrays in self._results(binding) if name and arrays]
        for name, arrays in results:
            names.arrays.update({array: _leaf(name, number) for number, array in enumerate(arrays)})
        if results:
            names.operations[binding.label] = ", ".join(name for name, _ in results)
        elif len(binding.arrays) > 1 and (parts := self._written.unzipped.get(place_of(binding.where))):
            names.arrays.update({array: parts[array.leaf] for array in binding.arrays if array.leaf in parts})
            names.operations[binding.label] = ", ".join(parts[leaf] for leaf in sorted(parts))
        if isinstance(binding.operation, Awhile):
            names.arrays.update(self._carried(binding, binding.operation))

    def _results(self, binding: Binding) -> Iterator[tuple[str, tuple[Array, ...]]]:
        """The arrays of each result, and its name."""
        match binding.operation:
            case Use(number) if number < len(self._parameters):
                yield self._parameters[number], binding.arrays
                return
            case Use():
                given = self._variables.argument(binding.where, 0)
                otherwise = given if given.isidentifier() else ""
            case _:
                otherwise = ""
        target = self._variables.assigned(binding.where)
        if target is None or self._last.get(place_of(binding.where)) != _kind(binding):
            yield otherwise, binding.arrays
            return
        groups = self._groups(binding)
        for position, arrays in enumerate(groups):
            yield target.of(position, len(groups)), arrays

    def _groups(self, binding: Binding) -> Sequence[tuple[Array, ...]]:
        """The arrays of each result that the user's call gave; none of what became of nothing."""
        arrays, place = binding.arrays, place_of(binding.where)
        match binding.operation:
            case Filter():
                return arrays[:-1], arrays[-1:]
            case Scan(form=ScanForm.TOTAL):
                return arrays[: len(arrays) // 2], arrays[len(arrays) // 2 :]
            case Awhile() as loop:
                found = self._positions(binding, loop)
                own = _grouped(arrays, [len(each) for each in loop.body.parameters])
                return [own[found[k]] if k in found else () for k in range(self._carries(binding))]
            case Acond():
                node = self._written.branches.get(place)
                counts = [] if node is None else [len(leaves(kind.element)) for kind in node.types]
                return _grouped(arrays, counts) if sum(counts) == len(arrays) else ()
            case _:
                return (arrays,)

    def _carries(self, binding: Binding) -> int:
        """How many arrays the user's loop carries from turn to turn."""
        node = self._written.loops.get(place_of(binding.where))
        return 0 if node is None else len(node.body) - is_iterate(binding)

    def _positions(self, binding: Binding, loop: Awhile) -> Mapping[int, int]:
        """Which part of a loop's state each array of the user's became: the one that the same call makes in the step.

        Some may be gone, and accel may have added one. If all are there, they are in the user's order.
        """
        node = self._written.loops.get(place_of(binding.where))
        if node is None:
            return {}
        first = int(is_iterate(binding))
        ends = _grouped(loop.body.results, [len(each) for each in loop.body.parameters])
        made = [self._made.get(end[0]) for end in ends]
        asked = [place_of(each.where) for each in node.body[first:]]
        found: dict[int, int] = {}
        for place in dict.fromkeys(asked):
            theirs = [number for number, each in enumerate(asked) if each == place]
            ours = [number for number, each in enumerate(made) if each == place and each is not None]
            if len(theirs) == len(ours):
                found.update(zip(theirs, ours, strict=True))
        whole = {number: number + first for number in range(len(asked))}
        kinds = [(kind.rank, leaves(kind.element)) for kind in node.types]
        own = [(len(end[0].shape), tuple(array.element for array in end)) for end in ends]
        return whole if own[: len(kinds)] == kinds and found.items() <= whole.items() else found

    def _carried(self, binding: Binding, loop: Awhile) -> Iterator[tuple[Array, str]]:
        """What the step calls the arrays that it is given."""
        names = self._variables.state(binding.where, self._carries(binding))
        found = self._positions(binding, loop)
        for position, name in enumerate(names):
            if name and position in found:
                for part in (loop.condition, loop.body):
                    leaf = part.parameters[found[position]]
                    yield from ((array, _leaf(name, number)) for number, array in enumerate(leaf))


def _through(names: Names, binding: Binding) -> None:
    """What `compute` is asked for has its name, and a branch that accel put around a loop has the loop's."""
    match binding.operation:
        case Force(inputs):
            pairs = list(zip(inputs, binding.arrays, strict=True))
        case Acond(then=then) if binding.label not in names.operations:
            pairs = list(zip(binding.arrays, then.results, strict=True))
        case _:
            return
    for array, known in pairs:
        if known in names.arrays and array not in names.arrays:
            names.arrays[array] = names.arrays[known]
            names.operations.setdefault(array.label, names.arrays[known])


def _kind(binding: Binding) -> str:
    """Operations of one call that are of one kind are what it makes in several turns of the user's loop."""
    return "control" if isinstance(binding.operation, Acond | Awhile) else combinator(binding)


def _grouped(arrays: Sequence[Array], counts: Sequence[int]) -> list[tuple[Array, ...]]:
    """The arrays in groups of these sizes."""
    ends = [sum(counts[: number + 1]) for number in range(len(counts))]
    return [tuple(arrays[end - count : end]) for end, count in zip(ends, counts, strict=True)]


def _leaf(name: str, number: int) -> str:
    """What a part of an array of tuples is called: the first as the whole is."""
    return f"{name}.{number}" if number else name
