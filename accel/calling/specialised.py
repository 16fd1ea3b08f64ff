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
    from accel.backends.protocol import Executable
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

    def run(self, arguments: Sequence[Leaf], executable: Executable | None = None) -> object:
        """Run, and give the results as the user gets them. Errors name this call as the place of the arguments.

        executable: what `taking` or `writing` gave, if it is to run on what that takes.
        """
        return self.result.assemble(self._run(fetched_results, executable or self.executable, arguments))

    def taking(self, given: frozenset[int]) -> Executable:
        """What may take the memory of arguments with these numbers where the program can: see `Direct.taking`."""
        built = self.built().executable if given else self.executable
        return (given and isinstance(built, Direct) and built.taking(given)) or self.executable

    def writing(self, count: int) -> Executable | None:
        """What may write so many results to arrays of the caller's: see `Direct.into`."""
        built = self.built().executable
        return built.into(count) if isinstance(built, Direct) else None

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
