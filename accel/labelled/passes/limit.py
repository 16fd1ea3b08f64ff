"""Barriers that keep loops of a size that compilers like: no chain of fusible operations grows beyond a limit.

Compiling a loop takes time quadratic in its operations. Where producers and consumers together would reach more than
`LIMIT` scalar operations, the arrays between them go through `force`, which nothing fuses with.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TypeAlias

from accel.labelled import programs, rewrite
from accel.labelled.array import Array, Label
from accel.labelled.nodes import Binding, Force, Operation, Program
from accel.labelled.operations import with_parts
from accel.labelled.work import SIZE, work
from accel.support.union_find import UnionFind

LIMIT = 1000
"""Scalar operations of one connected piece."""

SPARE = 4
"""An operation that is large by itself still takes this part of the limit from its sources: to store what a few gathers bring
would make its loop no smaller."""

Leaf: TypeAlias = tuple[Label, int]


def limit_components(program: Program, limit: int = LIMIT) -> Program:
    """The program with `force` wherever a connected piece would have more than `limit` scalar operations."""
    return _Cuts(limit, 1 + programs.highest_label(program)).program(program)


def cost(operation: Operation) -> int:
    """Scalar operations of one step."""
    blocks = chain.from_iterable(map(programs.blocks, programs.functions(operation)))
    return 1 + sum(work(block.statements, SIZE) for block in blocks)


class _Cuts:
    def __init__(self, limit: int, fresh: Label) -> None:
        self._limit = limit
        self._fresh = fresh
        self._forced: dict[Leaf, Array] = {}
        self._to = rewrite.Substitution(self._array, lambda extent: extent)

    def _array(self, array: Array) -> Array:
        return self._forced.get((array.label, array.leaf), array)

    def program(self, program: Program) -> Program:
        """It recurses on nested control flow only. Results of the program stay what they were."""
        pieces = _Pieces()
        bindings: list[Binding] = []
        for binding in program.bindings:
            operation = rewrite.operation(binding.operation, self._to) if self._forced else binding.operation
            binding = replace(binding, operation=with_parts(operation, self._part))
            sources = [array for array in programs.streams(binding.operation) if pieces.has(array)]
            own = cost(binding.operation)
            room = max(self._limit - own, self._limit // SPARE)
            too_many = pieces.beyond(sources, room)
            if too_many:
                bindings += [self._force(array, binding) for array in too_many]
                binding = replace(binding, operation=rewrite.operation(binding.operation, self._to))
            bindings.append(binding)
            pieces.add(binding, own, [array for array in sources if array not in too_many])
        return replace(program, bindings=tuple(bindings))

    def _part(self, part: Program) -> Program:
        outer = dict(self._forced)
        part = self.program(part)
        self._forced = outer
        return part

    def _force(self, array: Array, consumer: Binding) -> Binding:
        label, self._fresh = self._fresh, self._fresh + 1
        forced = self._forced[array.label, array.leaf] = replace(array, label=label, leaf=0)
        return Binding(label, Force((array,)), (forced,), (), consumer.where)


class _Pieces:
    """Connected pieces of fusible operations, each with its cost."""

    def __init__(self) -> None:
        self._joined = UnionFind[Label]()
        self._cost: dict[Label, int] = {}
        self._streams: set[Label] = set()

    def has(self, array: Array) -> bool:
        """Whether an array can be consumed where it is made."""
        return array.label in self._streams

    def beyond(self, sources: list[Array], room: int) -> list[Array]:
        """The sources whose pieces find no room, the costliest first to go."""
        roots = sorted({self._joined.find(array.label) for array in sources}, key=lambda root: (self._cost[root], root))
        kept: set[Label] = set()
        for root in roots:
            if self._cost[root] <= room:
                kept.add(root)
                room -= self._cost[root]
        return [array for array in dict.fromkeys(sources) if self._joined.find(array.label) not in kept]

    def add(self, binding: Binding, own: int, sources: list[Array]) -> None:
        """Join a binding, with its own cost, to the pieces of its sources."""
        label = binding.label
        self._cost[label] = own
        if programs.makes_streams(binding.operation):
            self._streams.add(label)
        for array in sources:
            root = self._joined.find(array.label)
            if self._joined.unite(root, label):
                self._cost[label] += self._cost[root]
