"""Choices: all randomness of the generator comes from here, as a sequence of numbers below a bound."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Choices from one seed: the same seed makes the same program."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, bound: int) -> int:
        """A number in 0 .. bound-1."""
        return self._random.randrange(bound)

    def chance(self, percent: int) -> bool:
        """True in `percent` of 100 cases."""
        return self.below(100) < percent

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, which must not be empty."""
        return options[self.below(len(options))]

    def subset(self, options: Sequence[T], percent: int) -> list[T]:
        """Each option with the given chance; at least one."""
        return [option for option in options if self.chance(percent)] or [self.pick(options)]
