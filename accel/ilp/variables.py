"""The variables of the model, by meaning; constants stand in where the analysis knows the answer.

x(u,v) = 0 puts two operations into one cluster. pushed(v) = 1: v runs in the order of its gather. backward(v).
"""

from __future__ import annotations

from accel.ilp.analysis import Analysis
from accel.ilp.linear import Linear, Model
from accel.labelled.nodes import Label

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
        pairs = {pair(u, v) for u, v in facts.arcs if (u, v) not in facts.infusible}
        for number, i, j in facts.shares:
            readers = facts.bundles[number].readers
            pairs.add(pair(readers[i][0], readers[j][0]))
        self.x = {(u, v): self.new(f"x_{u}_{v}", alone=True) for u, v in sorted(pairs)}
        self._pushed = {v: self.new(f"pushed_{v}_{gather}") for v, gather in sorted(facts.pushable.items())}
        free = [v for v in facts.operations if v not in facts.direction]
        self._backward = {v: self.new(f"backward_{v}") for v in free}

    def new(self, name: str, integer: bool = True, alone: bool = False) -> Linear:
        """A new variable; `alone`: it is 1, not 0, when all operations are clusters of their own."""
        if alone:
            self.alone.add(len(self.model.variables))
        return self.model.variable(name, integer)

    def apart(self, u: Label, v: Label) -> Linear:
        """x(u,v), constantly 1 where the two are never in one cluster."""
        return self.x.get(pair(u, v), Linear(1))

    def pushed(self, v: Label) -> Linear:
        """pushed(v), constantly 0 where v cannot be."""
        return self._pushed.get(v, Linear(0))

    def backward(self, v: Label) -> Linear:
        """backward(v), a constant where it is known."""
        known = self.facts.direction.get(v)
        return self._backward[v] if known is None else Linear(int(known))

    def differ_at_most(self, first: Linear, second: Linear, allowed: Linear) -> None:
        """|first - second| <= allowed."""
        self.model.require(allowed - (first - second))
        self.model.require(allowed - (second - first))
