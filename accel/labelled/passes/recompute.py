"""Producers recomputed where they are read: a labelled program and what is to be recomputed, to a labelled program.

What may be recomputed is decided in `accel/ilp/recompute/candidates.py`, and what pays by the solver; here it is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from accel.labelled import programs, rewrite
from accel.labelled.array import Label
from accel.labelled.nodes import Binding, Program
from accel.labelled.passes.inline import inlined
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A run of generates and maps that `readers` compute by themselves.

    run: in rising order; each is read by the next one alone, and the last makes what `readers` read. Readers that stream or
    gather it share one run of their own, which stands before the first of them; where it is loaded by index, the run becomes
    a part of the reader's scalar function.
    """

    run: tuple[Label, ...]
    readers: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """`program`: labels as before, but for what is recomputed, which has fresh ones, in no order: number it.

    made: for each `Recomputed`, the labels of the readers' run; none if it was only loaded by index.
    """

    program: Program
    made: tuple[tuple[Label, ...], ...]


def recompute(program: Program, recomputed: Sequence[Recomputed], fresh: Iterator[Label]) -> Rebuilt:
    """The program in which readers recompute its own bindings, without those bindings that nobody reads any more.

    What is recomputed reads what the original was written to read, also where the original now recomputes that.
    """
    original = {binding.label: binding for binding in program.bindings}
    changed = dict(original)
    for each in recomputed:
        for reader in each.readers:
            for label in reversed(each.run):
                changed[reader] = inlined(changed[reader], original[label])
    inserted: dict[Label, list[Binding]] = {}
    made: list[tuple[Label, ...]] = []
    for each in recomputed:
        last = each.run[-1]
        readers = [label for label in each.readers if _reads_in_bulk(changed[label], last)]
        labels = {label: next(fresh) for label in each.run} if readers else {}
        made.append(tuple(labels.values()))
        if not readers:
            continue
        inserted.setdefault(min(readers), []).extend(_relabelled(original[label], labels) for label in each.run)
        for label in readers:
            changed[label] = _reading(changed[label], {last: labels[last]})
    bindings: list[Binding] = []
    for binding in program.bindings:
        bindings += inserted.get(binding.label, ())
        bindings.append(changed[binding.label])
    gone = {label for each in recomputed for label in each.run}
    return Rebuilt(_without(replace(program, bindings=tuple(bindings)), gone), tuple(made))


def _reads_in_bulk(binding: Binding, label: Label) -> bool:
    return any(array.label == label for array in programs.inputs(binding.operation))


def _reading(binding: Binding, labels: Mapping[Label, Label]) -> Binding:
    """The binding, reading other arrays in place of those whose labels are keys."""
    return replace(binding, operation=rewrite.reading(binding.operation, labels))


def _relabelled(binding: Binding, labels: Mapping[Label, Label]) -> Binding:
    """A binding of a run, once more."""
    label = labels[binding.label]
    arrays = tuple([replace(array, label=label) for array in binding.arrays])
    return replace(_reading(binding, labels), label=label, arrays=arrays)


def _without(program: Program, gone: set[Label]) -> Program:
    """The program without those bindings of `gone` whose arrays are unused."""
    used = {array.label for array in program.results}
    kept: list[Binding] = []
    for binding in reversed(program.bindings):
        if binding.label in gone and binding.label not in used:
            continue
        kept.append(binding)
        used.update(array.label for array in programs.consumed(binding.operation))
    return replace(program, bindings=tuple(reversed(kept)))
