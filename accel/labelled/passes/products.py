"""Folds by `+` of floats whose elements are products read the factors: they add each product in one rounding (docs/order.md).

In: a simplified program. Out: one in which a fold of an array of products that nothing else reads has the factors' arrays as
inputs, and says so (`Fold.products`). So its bits are its own, whatever shares a loop with it, on every backend.
The product itself is computed nowhere. Factors that are inputs of the map that made it are read as they are; the others
that map makes. What is left over is for `simplify`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace
from typing import TypeAlias

from accel.ast.tree.operators import Operator
from accel.labelled import programs
from accel.labelled.algebra import may_be_products
from accel.labelled.array import Array, Label, SizeVariable
from accel.labelled.nodes import Binding, Fold, FoldSegments, Program
from accel.labelled.operations import Described, Flag, Kind, describe, rebuild, with_parts
from accel.labelled.scalar import Block, Compute, Function, Operand, operand_type
from accel.support.dataclass import dataclass

Leaf: TypeAlias = tuple[Label, int]


def fuse_products(program: Program) -> Program:
    """The program with its folds of products, those in sub-programs as well; itself if there are none."""
    found = _Found(_readers(program), _found_by_filters(program))
    made = found.program(program)
    return made if found.any else program


def _readers(program: Program) -> Counter[Leaf]:
    """How many operations read each array, or give it as a result of a program."""
    count: Counter[Leaf] = Counter()
    for part in programs.programs(program):
        count.update((array.label, array.leaf) for array in part.results)
        for binding in part.bindings:
            count.update((array.label, array.leaf) for array in programs.reads(binding.operation))
    return count


def _found_by_filters(program: Program) -> frozenset[SizeVariable]:
    found: set[SizeVariable] = set()
    for part in programs.programs(program):
        for binding in part.bindings:
            if describe(binding.operation).kind is Kind.FILTER:
                found |= programs.sizes_bound(binding)
    return frozenset(found)


@dataclass(slots=True)
class _Maker:
    """A map, or a generate, of whose results some may be products; `fresh` are factors that it makes besides."""

    binding: Binding
    described: Described
    fresh: dict[Operand, Array] = field(default_factory=dict)

    @property
    def function(self) -> Function:
        """Of the index, then of one leaf per input."""
        (function,) = self.described.functions
        return function

    def factors(self, array: Array) -> tuple[Array, Array] | None:
        """The two arrays whose product `array` is, if it is one."""
        place = next(k for k, each in enumerate(self.binding.arrays) if each.leaf == array.leaf)
        result = self.function.body.results[place]
        for statement in self.function.body.statements:
            if isinstance(statement, Compute) and statement.out == result and statement.operator is Operator.MUL:
                x, y = statement.arguments
                return self._factor(x), self._factor(y)
        return None

    def _factor(self, operand: Operand) -> Array:
        rank = len(self.binding.arrays[0].shape)
        for parameter, array in zip(self.function.parameters[rank:], self.described.arrays, strict=True):
            if parameter == operand:
                return array
        found = self.fresh.get(operand)
        if found is None:
            last = self.binding.arrays[-1]
            leaf = 1 + last.leaf + len(self.fresh)
            found = self.fresh[operand] = replace(last, leaf=leaf, element=operand_type(operand))
        return found

    def made(self) -> Binding:
        """The binding with the factors that it makes."""
        if not self.fresh:
            return self.binding
        body = self.function.body
        function = Function(self.function.parameters, Block(body.statements, (*body.results, *self.fresh)))
        operation = rebuild(self.binding.operation, self.described.arrays, (function,), ())
        return replace(self.binding, operation=operation, arrays=(*self.binding.arrays, *self.fresh.values()))


@dataclass(slots=True)
class _Found:
    readers: Counter[Leaf]
    filtered: frozenset[SizeVariable]
    any: bool = False

    def program(self, program: Program) -> Program:
        """It recurses on nested control flow only."""
        makers: dict[Label, _Maker] = {}
        bindings: list[Binding] = []
        for binding in program.bindings:
            operation = binding.operation
            described = describe(operation)
            if Flag.TAKES_INDEX in described.flags and described.kind in (Kind.MAP, Kind.GENERATE):
                makers[binding.label] = _Maker(binding, described)
            elif isinstance(operation, Fold | FoldSegments):
                binding = replace(binding, operation=self._fold(operation, binding.arrays, makers))
            elif described.parts:
                binding = replace(binding, operation=with_parts(operation, self.program))
            bindings.append(binding)
        return replace(
            program,
            bindings=tuple([makers[each.label].made() if each.label in makers else each for each in bindings]),
        )

    def _fold(
        self, fold: Fold | FoldSegments, arrays: tuple[Array, ...], makers: dict[Label, _Maker]
    ) -> Fold | FoldSegments:
        folded = fold.folded if isinstance(fold, Fold) else fold.inputs[0].shape[-1:]
        if any(extent.variable in self.filtered for extent in folded):
            return fold
        sums = may_be_products(fold.monoid, [array.element for array in arrays])
        inputs: list[Array] = []
        products: list[int] = []
        for component, array in enumerate(fold.inputs):
            maker = makers.get(array.label)
            alone = self.readers[array.label, array.leaf] == 1
            factors = maker.factors(array) if maker and alone and component in sums else None
            inputs += factors or (array,)
            products += [component] * (factors is not None)
        if not products:
            return fold
        self.any = True
        return replace(fold, inputs=tuple(inputs), products=tuple(products))
