"""Reshapes move up, through what gives the same elements in another shape, towards inputs, where they are views for nothing.

A reshape between two loops forces the array between them into memory. Moved above a map, the views are of the map's inputs, and
one loop remains. An operation moves if nothing but reshapes to one shape uses it and it

* does not look at its index, or gathers from where arrays of indices say; or
* finds its old index from the new one by additions and products (`renamed_index.py`): extents were split, or dimensions of one
  element came or went. Where extents were joined it would have to divide, which takes longer than storing and loading an
  element, so that such an operation is stored, and seen through the reshape.

What remains of a moved reshape keeps its shape and is removed by `simplify.py`. A reshape whose size is checked when it is made
stays where there is no input to check.

A reshape that comes after a check (`after`) is of another kind: it says that extents of two names were found equal, as in
`zipWith(sub, drop(5, xs), take(length(xs) - 5, xs))`. Every element keeps its index, so it moves through whatever knows its
index, too, and ends at a backpermute, whose shape is free. What it moved through comes after the check. An assertion
makes a reshape to the same shape.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from accel.errors import AccelInternalError
from accel.labelled import programs
from accel.labelled.array import Array, Label
from accel.labelled.nodes import Backpermute, Binding, Gather, Generate, Map, Program, Reshape
from accel.labelled.operations import with_parts
from accel.labelled.passes.shapes.bounds import reads_inside
from accel.labelled.passes.shapes.factors import Sizes, computed_sizes, factors
from accel.labelled.passes.shapes.renamed_index import parts, renamed
from accel.labelled.passes.shapes.whole_folds import fold_whole_arrays, is_blind, with_rank
from accel.labelled.scalar import Function

Leaf: TypeAlias = tuple[Label, int]

_ELSEWHERE: Label = -1
"""Stands for users that are no bindings of the program: its results, its sub-programs."""


def push_reshapes(program: Program) -> Program:
    """The program with reshapes as far up as they go, and without those that only folds of all elements read."""
    sizes = computed_sizes(program)
    return _push(fold_whole_arrays(program, sizes), _Labels(1 + programs.highest_label(program)), sizes)


class _Labels:
    """A supply of labels that nothing has yet."""

    def __init__(self, first: Label) -> None:
        self._next = first

    def fresh(self) -> Label:
        self._next += 1
        return self._next - 1


def _push(program: Program, labels: _Labels, sizes: Sizes) -> Program:
    """From the last binding to the first; what is put before a binding is visited after it."""
    uses = _Uses(program, sizes)
    pending = list(program.bindings)
    moved: set[Label] = set()
    reverse: list[Binding] = []
    while pending:
        binding = pending.pop()
        if binding.label in moved:
            continue
        source = uses.movable(binding)
        if source is None:
            inner = with_parts(binding.operation, lambda part: _push(part, labels, sizes))
            reverse.append(replace(binding, operation=inner))
            continue
        (wanted,) = binding.arrays
        shaped = tuple([replace(array, shape=wanted.shape) for array in source.arrays])
        product = replace(source, arrays=shaped, after=tuple(dict.fromkeys((*source.after, *binding.after))))
        position = uses.detach(binding)
        reverse.append(replace(binding, operation=Reshape((product.arrays[position],)), after=()))
        if not uses.used(source):
            moved.add(source.label)
            views = uses.views(source, binding, labels)
            reverse.append(replace(product, operation=_on_views(source, views, binding, sizes)))
            pending += views
    return replace(program, bindings=tuple(reversed(reverse)))


def _on_views(
    source: Binding, views: list[Binding], reshape: Binding, sizes: Sizes
) -> Map | Generate | Backpermute | Gather:
    """The operation over views of its inputs, with the shape of `reshape`."""
    inputs = tuple([view.arrays[0] for view in views])
    match source.operation:
        case Map(function) as mapped:
            return replace(mapped, function=_reindexed(function, source, reshape, sizes), inputs=inputs)
        case Generate(function) as made:
            return replace(made, function=_reindexed(function, source, reshape, sizes))
        case Backpermute(function) as moved:
            inside = moved.inside or (bool(reshape.after) and reads_inside(source))
            return replace(moved, function=_reindexed(function, source, reshape, sizes), inside=inside)
        case Gather() as gathered:
            return replace(gathered, indices=inputs)
        case _:
            raise AccelInternalError("nothing else moves")


def _reindexed(function: Function, source: Binding, reshape: Binding, sizes: Sizes) -> Function:
    """A function of an index and elements, with an index into the new shape."""
    if reshape.after:
        return function
    old, new = source.arrays[0].shape, reshape.arrays[0].shape
    if is_blind(function, len(old)):
        return with_rank(function, len(old), len(new))
    groups = parts(old, new, sizes)
    assert groups is not None, "it moves because its index is known"
    return renamed(function, new, groups)


def _read_at_own_index(binding: Binding) -> tuple[Array, ...]:
    match binding.operation:
        case Map(inputs=inputs):
            return inputs
        case Gather(indices):
            return indices
        case _:
            return ()


def _read_elsewhere(binding: Binding) -> set[Array]:
    """What an operation reads at other indices than its own."""
    loaded = {array for function in programs.functions(binding.operation) for array in programs.loaded(function)}
    return loaded.union(binding.operation.inputs if isinstance(binding.operation, Gather) else ())


class _Uses:
    """Who makes and who uses each array of a program, kept up to date while reshapes move."""

    def __init__(self, program: Program, sizes: Sizes) -> None:
        self._sizes = sizes
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
        """Whether a binding can give the same elements in the shape of `reshape`."""
        old, new = source.arrays[0].shape, reshape.arrays[0].shape
        match source.operation:
            case Generate(function) if is_blind(function, len(old)):
                return bool(reshape.after) or factors(old, self._sizes) == factors(new, self._sizes)
            case Map(function) if is_blind(function, len(old)):
                return True
            case Map() | Generate() | Backpermute():
                return bool(reshape.after) or parts(old, new, self._sizes) is not None
            case Gather(indices):
                return bool(indices)
            case _:
                return False

    def _is_like(self, user: Binding | None, reshape: Binding) -> bool:
        if user is None or not isinstance(user.operation, Reshape) or user.after != reshape.after:
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
        """A view of each array that an operation that moves reads at its own index, like `reshape`."""
        views: list[Binding] = []
        kept = _read_elsewhere(source)
        for array in _read_at_own_index(source):
            label = labels.fresh()
            view = Array(label, 0, array.element, reshape.arrays[0].shape)
            views.append(Binding(label, Reshape((array,)), (view,), reshape.after, reshape.where))
            self._bindings[label] = views[-1]
            if array not in kept:
                self._users[array.label, array.leaf].discard(source.label)
            self._users[array.label, array.leaf].add(label)
        return views
