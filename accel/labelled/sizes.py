"""Size inference by unification [Rob section 1.3.3].

A size variable is flexible (the extent of a parameter: the caller can make it what the program requires) or rigid (found
out while the program runs). `Sizes` holds a substitution of flexible variables; extents are `variable + offset`, and
the offsets of what is substituted never fall below zero.
"""

from __future__ import annotations

from dataclasses import field, replace
from enum import Enum

from accel.labelled.array import Extent, Shape, SizeVariable
from accel.support.dataclass import dataclass


class Verdict(Enum):
    """What a required equality of two extents comes to."""

    EQUAL = "equal"  # known to hold, perhaps because a flexible variable was substituted
    UNKNOWN = "unknown"  # found out at run time
    DIFFERENT = "different"  # cannot hold


@dataclass(slots=True)
class Sizes:
    """The size variables of a program under construction, and what is known of them."""

    count: int = 0
    flexible: frozenset[SizeVariable] = frozenset()
    solution: dict[SizeVariable, Extent] = field(default_factory=dict)

    def fresh(self) -> SizeVariable:
        """A rigid variable."""
        self.count += 1
        return SizeVariable(self.count - 1)

    def parameter(self, rank: int) -> Shape:
        """A shape of fresh flexible variables."""
        variables = [self.fresh() for _ in range(rank)]
        self.flexible |= frozenset(variables)
        return tuple(Extent(variable, 0) for variable in variables)

    def snapshot(self) -> Sizes:
        """A copy, to go back to with `restore`."""
        return replace(self, solution=dict(self.solution))

    def restore(self, before: Sizes) -> None:
        """Forget what was learned since `before`; the numbers of variables are not used again."""
        self.flexible, self.solution = before.flexible, dict(before.solution)

    def resolve(self, extent: Extent) -> Extent:
        """The extent under the substitution."""
        variable, offset = extent.variable, extent.offset
        while variable is not None and variable in self.solution:
            found = self.solution[variable]
            variable, offset = found.variable, offset + found.offset
        return Extent(variable, offset)

    def resolve_shape(self, shape: Shape) -> Shape:
        """The shape under the substitution."""
        return tuple([self.resolve(extent) for extent in shape])

    def compare(self, left: Extent, right: Extent) -> Verdict:
        """Whether two extents are equal by what is known, without learning anything."""
        left, right = self.resolve(left), self.resolve(right)
        if left == right:
            return Verdict.EQUAL
        if left.variable == right.variable or _too_small(left, right) or _too_small(right, left):
            return Verdict.DIFFERENT
        return Verdict.UNKNOWN

    def unify(self, left: Extent, right: Extent) -> Verdict:
        """Make two extents equal by substituting a flexible variable, if that is possible."""
        verdict = self.compare(left, right)
        if verdict is not Verdict.UNKNOWN:
            return verdict
        left, right = self.resolve(left), self.resolve(right)
        for kept, gone in _preferences(left, right):
            offset = kept.offset - gone.offset
            if gone.variable in self.flexible and gone.variable is not None and offset >= 0 and self._settled(kept):
                self.solution[gone.variable] = Extent(kept.variable, offset)
                return Verdict.EQUAL
        return Verdict.UNKNOWN

    def _settled(self, extent: Extent) -> bool:
        """Known when arguments are bound: a constant, or a flexible variable."""
        return extent.variable is None or extent.variable in self.flexible


def _too_small(constant: Extent, other: Extent) -> bool:
    return constant.variable is None and other.variable is not None and constant.offset < other.offset


def _preferences(left: Extent, right: Extent) -> tuple[tuple[Extent, Extent], tuple[Extent, Extent]]:
    """(kept, substituted) pairs, best first: the variable that came first is kept."""
    if right.variable is None or (left.variable is not None and right.variable < left.variable):
        return (right, left), (left, right)
    return (left, right), (right, left)
