"""Conditions on the extents of a launch, as data: said in words, and written into the code of a launch.

In: sizes and conditions. Out: text, or LLVM code that answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeAlias, Union, assert_never

from accel.backends.llvm.loops.nest import Levels
from accel.labelled.array import Array
from accel.labelled.scalar_text import plain_name
from accel.support.dataclass import dataclass


class Extent(Enum):
    """Of a tiled nest, as it stands in the program: of the rows' loop, of the columns', and of the fold's."""

    ROWS = "rows"
    COLUMNS = "columns"
    ELEMENTS = "elements"


@dataclass(frozen=True, slots=True)
class Times:
    """A product."""

    left: Size
    right: Size


@dataclass(frozen=True, slots=True)
class Plus:
    """A sum."""

    left: Size
    right: Size


@dataclass(frozen=True, slots=True)
class Parts:
    """How many parts of some size there are, the last of which may be smaller."""

    size: Size
    each: int


Size: TypeAlias = Union[int, Extent, Times, Plus, Parts]


@dataclass(frozen=True, slots=True)
class AtMost:
    """The left size is no more than the right one."""

    left: Size
    right: Size


@dataclass(frozen=True, slots=True)
class MultipleOf:
    """The size is a multiple of the number, a power of two."""

    size: Size
    number: int


@dataclass(frozen=True, slots=True)
class Adjacent:
    """In memory the rows of the array, each of one element, follow each other."""

    array: Array


@dataclass(frozen=True, slots=True)
class Not:
    """The condition does not hold."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class All:
    """All of these hold; there may be none."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """One of the two holds, or both."""

    left: Condition
    right: Condition


Condition: TypeAlias = Union[AtMost, MultipleOf, Adjacent, Not, All, Either]

ALWAYS = All(())
"""What holds for all extents."""


def every(*conditions: Condition) -> Condition:
    """All of these, each once; without a number that a size is at least, if it is at least a greater one."""
    found: list[Condition] = []
    for each in conditions:
        found += each.conditions if isinstance(each, All) else (each,)
    least = [(each.right, each.left) for each in found if isinstance(each, AtMost) and isinstance(each.left, int)]

    def is_implied(condition: Condition) -> bool:
        if not isinstance(condition, AtMost) or not isinstance(condition.left, int):
            return False
        return any(size == condition.right and number > condition.left for size, number in least)

    return All(tuple(dict.fromkeys(each for each in found if not is_implied(each))))


def said(condition: Condition) -> str:
    """The condition in words: `columns <= 16 and rows >= 32`."""
    match condition:
        case AtMost(int(least), right):
            return f"{_size(right)} >= {least}"
        case AtMost(left, right):
            return f"{_size(left)} <= {_size(right)}"
        case MultipleOf(size, number):
            return f"{_size(size)} a multiple of {number}"
        case Adjacent(array):
            return f"rows of {plain_name(array)} adjacent"
        case Not(inner):
            return f"not ({said(inner)})"
        case All(conditions):
            return " and ".join(map(said, conditions)) or "always"
        case Either(left, right):
            return f"({said(left)} or {said(right)})"
        case _:
            assert_never(condition)


def _size(size: Size) -> str:
    match size:
        case int():
            return str(size)
        case Extent():
            return size.value
        case Times(left, right):
            return " * ".join(f"({_size(each)})" if isinstance(each, Plus) else _size(each) for each in (left, right))
        case Plus(left, right):
            return f"{_size(left)} + {_size(right)}"
        case Parts(inner, each):
            return f"parts({_size(inner)}, {each})"
        case _:
            assert_never(size)


class Asked:
    """Answers conditions in the code of a launch; each is written once."""

    def __init__(self, levels: Levels, extents: Mapping[Extent, str]) -> None:
        self._levels = levels
        self._code = levels.routine.code
        self._extents = extents
        self._known: dict[Condition, str] = {}

    def holds(self, condition: Condition) -> str:
        """Whether the condition holds: an i1."""
        if condition not in self._known:
            self._known[condition] = self._holds(condition)
        return self._known[condition]

    def _holds(self, condition: Condition) -> str:
        code = self._code
        match condition:
            case AtMost(left, right):
                return code.emit(f"icmp sle i64 {self._size(left)}, {self._size(right)}")
            case MultipleOf(size, number):
                return code.emit(f"icmp eq i64 {code.emit(f'and i64 {self._size(size)}, {number - 1}')}, 0")
            case Adjacent(array):
                stride = self._levels.view.stride(array, len(array.shape) - 2)
                return code.emit(f"icmp eq i64 {stride}, {array.element.bytes}")
            case Not(inner):
                return code.emit(f"xor i1 {self.holds(inner)}, true")
            case All(conditions):
                found = "true"
                for each in conditions:
                    found = self._with("and", found, self.holds(each))
                return found
            case Either(left, right):
                return self._with("or", self.holds(left), self.holds(right))
            case _:
                assert_never(condition)

    def _with(self, operator: str, left: str, right: str) -> str:
        return right if left == "true" and operator == "and" else self._code.emit(f"{operator} i1 {left}, {right}")

    def _size(self, size: Size) -> str:
        code = self._code
        match size:
            case int():
                return str(size)
            case Extent():
                return self._extents[size]
            case Times(left, right):
                return code.emit(f"mul i64 {self._size(left)}, {self._size(right)}")
            case Plus(left, right):
                return code.emit(f"add i64 {self._size(left)}, {self._size(right)}")
            case Parts(inner, each):
                return code.parts(self._size(inner), str(each))
            case _:
                assert_never(size)
