"""Producers computed again where they are read: a labelled program and what is to be copied, to a labelled program.

Which copies pay is decided in `accel/ilp/recompute/copying.py`; here they are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from accel.labelled import programs, rewrite
from accel.labelled.array import Array, Extent, Label
from accel.labelled.nodes import Binding, Program
from accel.labelled.passes.inline import inlined


@dataclass(frozen=True, slots=True)
class Copied:
    """A run of generates and maps that `readers` compute by themselves.

    run: in rising order; each is read by the next one alone, and the last makes what `readers` read. Readers that stream or
    gather it share one copy of the run, which stands before the first of them; where it is loaded by index, the run becomes
    a part of the reader's scalar function.
    """

    run: tuple[Label, ...]
    readers: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Duplicated:
    """`program`: labels as before, but for copies, which have fresh ones, in no order: number it.

    copies: for each `Copied`, the labels of its copy of the run; none if it was only loaded by index.
    """

    program: Program
    copies: tuple[tuple[Label, ...], ...]


def duplicate(program: Program, copied: Sequence[Copied], fresh: Iterator[Label]) -> Duplicated:
    """The program with copies of its own bindings, and without the originals that nobody reads any more."""
    original = {binding.label: binding for binding in program.bindings}
    made = dict(original)
    for each in copied:
        for reader in each.readers:
            for label in reversed(each.run):
                made[reader] = inlined(made[reader], original[label])
    inserted: dict[Label, list[Binding]] = {}
    copies: list[tuple[Label, ...]] = []
    for each in copied:
        last = each.run[-1]
        readers = [label for label in each.readers if _reads_in_bulk(made[label], last)]
        labels = {label: next(fresh) for label in each.run} if readers else {}
        copies.append(tuple(labels.values()))
        if not readers:
            continue
        position = min(readers)
        inserted.setdefault(position, []).extend(_relabelled(original[label], labels) for label in each.run)
        for label in readers:
            made[label] = _reading(made[label], {last: labels[last]})
    bindings: list[Binding] = []
    for binding in program.bindings:
        bindings += inserted.get(binding.label, ())
        bindings.append(made[binding.label])
    gone = {label for each in copied for label in each.run}
    return Duplicated(_without(replace(program, bindings=tuple(bindings)), gone), tuple(copies))


def _reads_in_bulk(binding: Binding, label: Label) -> bool:
    return any(array.label == label for array in programs.inputs(binding.operation))


def _same(extent: Extent) -> Extent:
    return extent


def _reading(binding: Binding, labels: Mapping[Label, Label]) -> Binding:
    """The binding, reading other arrays in place of those whose labels are keys."""

    def array(old: Array) -> Array:
        return replace(old, label=labels.get(old.label, old.label))

    return replace(binding, operation=rewrite.operation(binding.operation, rewrite.Substitution(array, _same)))


def _relabelled(binding: Binding, labels: Mapping[Label, Label]) -> Binding:
    """A copy of a binding of a run."""
    label = labels[binding.label]
    arrays = tuple([replace(array, label=label) for array in binding.arrays])
    return replace(_reading(binding, labels), label=label, arrays=arrays)


def _without(program: Program, gone: set[Label]) -> Program:
    """The program without those bindings of `gone` whose arrays nobody uses."""
    used = {array.label for array in program.results}
    kept: list[Binding] = []
    for binding in reversed(program.bindings):
        if binding.label in gone and binding.label not in used:
            continue
        kept.append(binding)
        used.update(array.label for array in programs.reads(binding.operation))
        for part in programs.parts(binding.operation):
            for inner in programs.programs(part):
                used.update(array.label for array in inner.results)
                used.update(array.label for b in inner.bindings for array in programs.reads(b.operation))
    return replace(program, bindings=tuple(reversed(kept)))
