"""The variables of the model, by meaning; constants stand in where the analysis knows the answer.

x(u,v) = 0 puts two operations into one cluster. pushed(v,l) = 1: v runs in the order of gather l. backward(v). recompute(p,c)
= 1: c computes by itself what p makes. gone(p) = 1: all readers of p do, so that p is not there. beside(u,v) = 1: u and v lose
time to each other in one cluster.
"""

from __future__ import annotations

from accel.ilp.facts.analysis import Analysis, Arc, Bundle
from accel.ilp.solvers.linear import Linear, Model, total
from accel.labelled.array import Label

Pair = tuple[Label, Label]
"""Two operations, the lower label first."""


def pair(u: Label, v: Label) -> Pair:
    """The unordered pair of two labels."""
    return (u, v) if u < v else (v, u)


class Variables:
    """The model under construction and its variables that say which operations are together, and in which order."""

    def __init__(self, facts: Analysis) -> None:
        self.facts = facts
        self.model = Model()
        self.alone: set[int] = set()
        self._some: dict[tuple[Arc, ...], Linear] = {}
        self._held_apart = {(each.label, each.reader, each.only_if) for each in facts.loose if not each.fusible}
        pairs = {pair(u, v) for u, v in facts.arcs if (u, v) not in facts.infusible}
        pairs |= {pair(each.label, each.reader) for each in facts.loose if each.fusible}
        for number, i, j in facts.shares:
            readers = facts.bundles[number].readers
            pairs.add(pair(readers[i][0], readers[j][0]))
        self.x = {(u, v): self.new(f"x_{u}_{v}", alone=True) for u, v in sorted(pairs)}
        self._pushed = {
            (v, gather): self.new(f"pushed_{v}_{gather}")
            for v, gathers in sorted(facts.pushable.items())
            for gather in gathers
        }
        free = [v for v in facts.operations if v not in facts.direction]
        self._backward = {v: self.new(f"backward_{v}") for v in free}
        self.recomputed = {(p, c): self.new(f"recompute_{p}_{c}") for p, c in facts.candidates.pairs}
        self.beside: dict[Pair, Linear] = {}
        self._gone = {p: self.new(f"gone_{p}", integer=False) for p in sorted(facts.candidates.removable)}

    def new(self, name: str, integer: bool = True, alone: bool = False) -> Linear:
        """A new variable; `alone`: it is 1, not 0, when all operations are clusters of their own."""
        if alone:
            self.alone.add(len(self.model.variables))
        return self.model.variable(name, integer)

    def apart(self, u: Label, v: Label) -> Linear:
        """x(u,v), constantly 1 where the two are never in one cluster."""
        return self.x.get(pair(u, v), Linear(1))

    def unfused(self, bundle: Bundle, number: int) -> Linear:
        """1 where reader `number` of a bundle reads it, and not as it is made.

        It may be less than 0 for a reader that reads only if something is recomputed: it says "at least".
        """
        reader, _ = bundle.readers[number]
        arc = (bundle.label, reader)
        apart = self.apart(*arc) if self.is_fusible(bundle, number) else Linear(1)
        if bundle.only_if[number]:
            return apart + self.reads(bundle, number) - 1
        return apart - self.recomputed.get(arc, Linear(0)) - self.gone(reader)

    def reads(self, bundle: Bundle, number: int) -> Linear:
        """Whether reader `number` of a bundle reads it at all."""
        key = bundle.only_if[number]
        if not key:
            return 1 - self.recomputed.get((bundle.label, bundle.readers[number][0]), Linear(0))
        return self.some(key)

    def is_fusible(self, bundle: Bundle, number: int) -> bool:
        """Whether reader `number` of a bundle may be where it is made, and read it as it is."""
        maker, reader = bundle.label, bundle.readers[number][0]
        if not bundle.made_here or (maker, reader) in self.facts.infusible:
            return False
        return (maker, reader, bundle.only_if[number]) not in self._held_apart

    def some(self, key: tuple[Arc, ...]) -> Linear:
        """Whether one of these recomputations is chosen."""
        if len(key) == 1:
            return self.recomputed[key[0]]
        if key not in self._some:
            some = self._some[key] = self.new("some_" + "_".join(f"{p}_{c}" for p, c in key), integer=False)
            each = [self.recomputed[arc] for arc in key]
            self.model.require(total(each) - some)
            for one in each:
                self.model.require(some - one)
        return self._some[key]

    def gone(self, p: Label) -> Linear:
        """gone(p), constantly 0 where somebody needs it."""
        return self._gone.get(p, Linear(0))

    def pushed(self, v: Label, gather: Label) -> Linear:
        """pushed(v,l), constantly 0 where v cannot be."""
        return self._pushed.get((v, gather), Linear(0))

    def moved(self, v: Label) -> Linear:
        """Whether v is pushed at all."""
        return total(self.pushed(v, gather) for gather in self.facts.pushable.get(v, ()))

    def backward(self, v: Label) -> Linear:
        """backward(v), a constant where it is known."""
        known = self.facts.direction.get(v)
        return self._backward[v] if known is None else Linear(int(known))
