"""Reshapes move up through maps and constants, towards inputs, where they are views and cost nothing.

A reshape between two loops forces the array between them into memory. `foldAll(add, 0, zipWith(mul, m1, m2))` flattens a
product: moved above the product, the views are of the inputs, and one loop remains. A map moves if it does not look
at its index and nothing but reshapes to one shape uses it; so does a generate, which then has the new shape. (One that
looks at its index would have to divide to find it again, which takes longer than storing and loading an element.) What
remains of a moved reshape keeps its shape and is removed by `simplify.py`.

A reshape that comes after a check (`after`) is of another kind: it says that extents of two names were found equal, as in
`zipWith(sub, drop(5, xs), take(length(xs) - 5, xs))`. Every element keeps its index, so it moves through whatever knows its
index, too, and ends at a backpermute, whose shape is free. What it moved through comes after the check.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from accel.ast.tree.types import I64
from accel.labelled import programs
from accel.labelled.array import Array, Label
from accel.labelled.nodes import Backpermute, Binding, Generate, Map, Program, Reshape
from accel.labelled.operations import with_parts
from accel.labelled.scalar import Function, Variable
from accel.labelled.scalar_text import variables_used
from accel.labelled.scalars.simplify import simplify

Leaf: TypeAlias = tuple[Label, int]

_ELSEWHERE: Label = -1
"""Stands for users that are no bindings of the program: its results, its sub-programs."""


def push_reshapes(program: Program) -> Program:
    """The program with reshapes as far up as they go."""
    return _push(program, _Labels(1 + programs.highest_label(program)))


class _Labels:
    """A supply of labels that nothing has yet."""

    def __init__(self, first: Label) -> None:
        self._next = first

    def fresh(self) -> Label:
        self._next += 1
        return self._next - 1


def _push(program: Program, labels: _Labels) -> Program:
    """From the last binding to the first; what is put before a binding is visited after it."""
    uses = _Uses(program)
    pending = list(program.bindings)
    moved: set[Label] = set()
    reverse: list[Binding] = []
    while pending:
        binding = pending.pop()
        if binding.label in moved:
            continue
        source = uses.movable(binding)
        if source is None:
            inner = with_parts(binding.operation, lambda part: _push(part, labels))
            reverse.append(replace(binding, operation=inner))
            continue
        (wanted,) = binding.arrays
        shaped = tuple([replace(array, shape=wanted.shape) for array in source.arrays])
        product = replace(source, arrays=shaped, after=tuple(dict.fromkeys((*source.after, *binding.after))))
        position = uses.detach(binding)
        reverse.append(replace(binding, operation=Reshape((product.arrays[position],))))
        if not uses.used(source):
            moved.add(source.label)
            views = uses.views(source, binding, labels)
            reverse.append(replace(product, operation=_on_views(source, views, binding)))
            pending += views
    return replace(program, bindings=tuple(reversed(reverse)))


def _on_views(source: Binding, views: list[Binding], reshape: Binding) -> Map | Generate | Backpermute:
    """The operation over views of its inputs, with the shape of `reshape`."""
    match source.operation:
        case Map() as mapped:
            inputs = tuple([view.arrays[0] for view in views])
            return replace(mapped, function=_reindexed(mapped.function, source, reshape), inputs=inputs)
        case Generate() as generated:
            return replace(generated, function=_reindexed(generated.function, source, reshape))
        case Backpermute() as moved:
            return moved
        case _:
            raise AssertionError("nothing else moves")


def _reindexed(function: Function, source: Binding, reshape: Binding) -> Function:
    """A function of an index and elements, with an index of the new rank, which it does not look at unless it is the same."""
    if reshape.after:
        return function
    old, rank = len(source.arrays[0].shape), len(reshape.arrays[0].shape)
    ignored = tuple([Variable(-1 - axis, I64) for axis in range(rank)])
    return simplify(Function(ignored + function.parameters[old:], function.body))


class _Uses:
    """Who makes and who uses each array of a program, kept up to date while reshapes move."""

    def __init__(self, program: Program) -> None:
        self._bindings = {binding.label: binding for binding in program.bindings}
        self._users: dict[Leaf, set[Label]] = {}
        for binding in program.bindings:
            self._add(programs.reads(binding.operation), binding.label)
            self._add(programs.used_inside(binding.operation), _ELSEWHERE)
        self._add(program.results, _ELSEWHERE)

    def _add(self, arrays: Iterable[Array], user: Label) -> None:
        for array in arrays:
            self._users.setdefault((array.label, array.leaf), set()).add(user)

    def _of(self, binding: Binding) -> set[Label]:
        return set().union(*(self._users.get((array.label, array.leaf), set()) for array in binding.arrays))

    def movable(self, binding: Binding) -> Binding | None:
        """The operation that may run after `binding`, a reshape of its result, instead of before it."""
        if not isinstance(binding.operation, Reshape) or len(binding.arrays) > 1:
            return None
        source = self._bindings.get(binding.operation.inputs[0].label)
        if source is None or not self._is_indifferent(source, binding):
            return None
        alike = [self._is_like(self._bindings.get(user), binding) for user in self._of(source)]
        return source if all(alike) else None

    def _is_indifferent(self, source: Binding, reshape: Binding) -> bool:
        """Whether a binding gives the same elements if its shape is that of `reshape`."""
        match source.operation:
            case Map(function) | Generate(function):
                index = function.parameters[: len(source.arrays[0].shape)]
                return bool(reshape.after) or variables_used(function.body).isdisjoint(index)
            case Backpermute():
                return bool(reshape.after)
            case _:
                return False

    def _is_like(self, user: Binding | None, reshape: Binding) -> bool:
        if user is None or not isinstance(user.operation, Reshape) or bool(user.after) != bool(reshape.after):
            return False
        return len(user.arrays) == 1 and user.arrays[0].shape == reshape.arrays[0].shape

    def detach(self, reshape: Binding) -> int:
        """Forget that `reshape` uses its source; gives which leaf of it that is."""
        assert isinstance(reshape.operation, Reshape), "only reshapes are detached"
        (array,) = reshape.operation.inputs
        self._users[array.label, array.leaf].discard(reshape.label)
        source = self._bindings[array.label]
        return [leaf.leaf for leaf in source.arrays].index(array.leaf)

    def used(self, source: Binding) -> bool:
        """Whether anything still uses a binding."""
        return bool(self._of(source))

    def views(self, source: Binding, reshape: Binding, labels: _Labels) -> list[Binding]:
        """A view of each input of a map that moves, like `reshape`."""
        views: list[Binding] = []
        for array in source.operation.inputs if isinstance(source.operation, Map) else ():
            label = labels.fresh()
            view = Array(label, 0, array.element, reshape.arrays[0].shape)
            views.append(Binding(label, Reshape((array,)), (view,), reshape.after, reshape.where))
            self._bindings[label] = views[-1]
            self._users[array.label, array.leaf].discard(source.label)
            self._users[array.label, array.leaf].add(label)
        return views
