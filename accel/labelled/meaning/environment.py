"""What the reference interpreters know while they run: the sizes and arrays that are bound so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Protocol, TypeAlias, TypeVar

import numpy as np

from accel.ast.meaning.semantics import Value
from accel.errors import Where
from accel.labelled.array import Array, Shape, SizeVariable
from accel.labelled.meaning import bind, faults
from accel.labelled.meaning.evaluate import HostArray, Prepared, prepare
from accel.labelled.scalar import Function
from accel.support.choices import Checks
from accel.support.dataclass import dataclass

Element: TypeAlias = tuple[Value, ...]
"""The leaves of one element."""


class Part(Protocol):
    """A program of any stage that is part of another, as far as its parameters and results are bound."""

    @property
    def parameters(self) -> tuple[tuple[Array, ...], ...]:
        """The leaves of each."""
        ...

    @property
    def results(self) -> tuple[Array, ...]:
        """What it makes."""
        ...


P = TypeVar("P", bound=Part)


@dataclass(slots=True)
class Environment:
    """What is known so far. Labels are unique, so sub-programs share it; a loop overwrites what it bound before."""

    sizes: dict[SizeVariable, int] = field(default_factory=dict)
    arrays: dict[Array, HostArray] = field(default_factory=dict)
    checks: Checks = "bounds"

    @classmethod
    def of_call(cls, program: bind.Called, arguments: Sequence[HostArray]) -> Environment:
        """What a call's arguments, one per leaf of each parameter, say. Raises `AccelShapeError` if they do not fit."""
        sizes = bind.sizes(program.parameters, program.own_shapes, program.equalities, arguments)
        leaves = [leaf for parameter in program.parameters for leaf in parameter]
        return cls(sizes, dict(zip(leaves, arguments, strict=True)))

    def results(self, arrays: Sequence[Array]) -> list[HostArray]:
        """Fresh arrays for the caller."""
        return [np.array(self.arrays[array], order="C") for array in arrays]

    def shape(self, shape: Shape) -> tuple[int, ...]:
        """The shape as numbers."""
        return faults.extents(shape, self.sizes)

    def function(self, function: Function) -> Prepared:
        """A scalar function, ready to call."""
        return prepare(function, self.sizes.__getitem__, self.arrays, divisions=self.checks == "all")

    def elements(self, arrays: Sequence[Array]) -> list[Element]:
        """The elements of arrays of one shape, row-major."""
        columns: list[list[Value]] = [self.arrays[array].ravel().tolist() for array in arrays]
        return list(zip(*columns, strict=True))

    def store(self, arrays: Sequence[Array], elements: Iterable[Element], where: Where | None = None) -> None:
        """Bind arrays to elements, given row-major."""
        columns = list(zip(*elements, strict=True)) or [()] * len(arrays)
        for array, column in zip(arrays, columns, strict=True):
            flat = np.array(column, array.element.dtype)
            self.arrays[array] = flat.reshape(self.shape(array.shape))

    def learn(self, arrays: Sequence[Array], values: Sequence[HostArray]) -> None:
        """Bind arrays, and the size variables of their shapes, to values."""
        for array, value in zip(arrays, values, strict=True):
            for extent, actual in zip(array.shape, value.shape, strict=True):
                if extent.variable is not None:
                    self.sizes[extent.variable] = actual - extent.offset
            self.arrays[array] = value

    def repeat(
        self, condition: P, body: P, initial: Sequence[Array], arrays: Sequence[Array], run: Callable[[P], None]
    ) -> None:
        """Binds `arrays` to what becomes of `initial`: the body's results, over and over while that of the condition holds."""
        asked = [leaf for parameter in condition.parameters for leaf in parameter]
        changed = [leaf for parameter in body.parameters for leaf in parameter]
        state = [self.arrays[array] for array in initial]
        while True:
            self.learn(asked, state)
            run(condition)
            if not self.arrays[condition.results[0]].item():
                break
            self.learn(changed, state)
            run(body)
            state = [self.arrays[result] for result in body.results]
        self.learn(arrays, state)
