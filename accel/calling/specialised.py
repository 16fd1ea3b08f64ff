"""A `runN` function for arguments of certain types: what it was compiled to, and how results come back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from accel.ast.tree.leaves import Leaf
from accel.backends.direct import Direct
from accel.backends.residence import fetched_results, kept_results
from accel.calling.forms import Shaped
from accel.errors import AccelError, Where, here
from accel.support.dataclass import frozen

if TYPE_CHECKING:
    from accel.backends.protocol import Executable, HostArray
    from accel.calling.building import Built

L = TypeVar("L")


@frozen
class Specialised:
    """A `runN` function for arguments of certain ranks and dtypes.

    built: the program with all that is known of it, made when somebody asks if `executable` comes from another process.
    """

    executable: Executable
    built: Callable[[], Built]
    constants: tuple[Leaf, ...]
    result: Shaped
    where: Where | None
    """The call that it was made for, where its parameters stand."""

    def run(self, arguments: Sequence[Leaf], given: frozenset[int] = frozenset()) -> object:
        """Run, and give the results as the user gets them. Errors name this call as the place of the arguments.

        `given`: which arguments' memory results may take.
        """
        return self.of((self.taking(given) if given else None) or self.executable, arguments)

    def taking(self, given: frozenset[int]) -> Executable | None:
        """What may take the memory of arguments with these numbers: see `Direct.taking`."""
        built = self.built().executable
        return built.taking(given) if isinstance(built, Direct) else None

    def into(self, arguments: Sequence[Leaf], rooms: Sequence[HostArray], out: object) -> object:
        """The same; results may be written to these arrays, which `out` consists of, if it is nested as they are."""
        into = self.writing(len(rooms))
        if into is None or not self.result.is_nested_as(out):
            return self.run(arguments)
        return self.of(into, [*arguments, *rooms])

    def writing(self, count: int) -> Executable | None:
        """What may write so many results to arrays of the caller's: see `Direct.into`."""
        built = self.built().executable
        return built.into(count) if isinstance(built, Direct) else None

    def of(self, executable: Executable, arguments: Sequence[Leaf]) -> object:
        """Run this one, which may be what `taking` or `writing` gave, on all its arrays."""
        return self.result.assemble(self._run(fetched_results, executable, arguments))

    def keep(self, arguments: Sequence[Leaf], place: str) -> object:
        """The same, but the results stay on the device of the backend of that name."""
        return self.result.left_there(self._run(kept_results, self.executable, arguments), place)

    def _run(
        self,
        run: Callable[[Executable, Sequence[Leaf]], list[L]],
        executable: Executable,
        arguments: Sequence[Leaf],
    ) -> list[L]:
        try:
            return run(executable, arguments)
        except AccelError as error:
            raise error.moved({self.where: here()} if self.where else {}) from error.__cause__
