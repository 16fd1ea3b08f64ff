"""What an executable may offer beside being called: a shorter way, and its code for other processes.

Whoever finds a program on disk needs this and no other stage, so nothing of them is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, Union, runtime_checkable

from accel.ast.tree.types import ComplexType, ScalarType
from accel.support.dataclass import dataclass

if TYPE_CHECKING:
    from accel.ast.tree.leaves import Leaf
    from accel.backends.protocol import HostArray

Form: TypeAlias = Union[ScalarType, ComplexType, tuple["Form", ...]]
"""A number's array, or a tuple of such forms, of the class that the user's tuples are of."""


@dataclass(frozen=True, slots=True)
class Forms:
    """How the arguments of a function are nested, and its results, where they are not just the arrays of a program."""

    arguments: tuple[Form, ...]
    result: Form


@runtime_checkable
class Direct(Protocol):
    """An executable that can be called with less between the caller and the kernels."""

    def function(
        self, otherwise: Callable[..., object], constants: Sequence[HostArray], forms: Forms | None = None
    ) -> Callable[..., object] | None:
        """The program as a function of the arrays that come before `constants`; None if it has no such form.

        It gives the array, or a tuple of as many as there are results; with `forms` it takes and gives what these say. Where
        something is not as usual (an argument that is no plain array of the right type and rank, extents that do not fit, a
        check that fails) it gives what `otherwise` gives for the same arguments, and keeps nothing of what it has done.
        """
        ...

    def spread(
        self, arguments: Sequence[HostArray], forms: Forms | None = None, *, now: bool = False
    ) -> Callable[[Callable[..., object], Sequence[HostArray]], Callable[..., object]] | None:
        """What makes, as `function` does, the function for arrays that lie in memory as these do, constants among them.

        None if all have rows of adjacent elements, and until there is code for others: it is compiled `now`, or when copies of
        such arrays have taken as long. Equal for arrays that lie alike.
        """
        ...

    def taking(self, given: frozenset[int]) -> Callable[[Sequence[Leaf]], list[HostArray]] | None:
        """The program, called with all its arrays, where results may take the memory of those with these numbers.

        These are C-contiguous, aligned, writable, and share memory with no other array of the call. None if no result can take
        any of them. Raises `AccelDeviceError` where something is not as usual after an array has been written to.
        """
        ...

    def into(self, count: int) -> Callable[[Sequence[Leaf]], list[HostArray]] | None:
        """The program, called with all its arrays, and then one for each of `count` results, which may be written to.

        These are C-contiguous, aligned, writable, and share memory with no other array of the call. A result lies in its array
        only if all do, and all are of the right types and shapes; else nothing is written. None if none ever does, or there
        are not so many.
        """
        ...

    @property
    def code(self) -> Callable[[], bytes] | None:
        """What gives all that another process of this machine needs to run the program (`accel/calling/kept_programs.py`)."""
        ...
