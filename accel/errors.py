"""Every error that accel raises, and the place in the user's program that it points at.

In: a `Where`, captured when the user's call builds a node. Out: exceptions whose text names the user's file and
line with a caret under the expression, says what was expected and what to do (docs/errors.md).
Each class also derives from the Python class that a user would catch.
"""

from __future__ import annotations

import contextlib
import copy
import linecache
import os.path  # `pathlib` takes longer to import
import sys
import typing
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType
from typing import Self

import numpy as np

from accel.support.dataclass import dataclass, frozen

NUMPY = os.path.dirname(np.__file__) + "/"
"""Where NumPy's files are."""

_NOT_THE_USERS = (
    os.path.dirname(os.path.realpath(__file__)) + "/",
    NUMPY,
    contextlib.__file__,
    typing.__file__,
    "<frozen ",
)
"""Where the files start whose frames are never the user's call: accel's own, those of NumPy, which asks arrays what they are,
what stands between `with` and `using`, what takes the items of generic types, and what starts Python."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a reader sees of a place, as plain data: it needs neither the code nor the file.

    text: the line, empty if the file could not be read. start, stop: from which character to which the call stands on it, 0
    and 0 if that is not known.
    """

    file: str
    line: int
    function: str
    text: str
    start: int
    stop: int


@frozen
class Where:
    """A place in the user's program: a code object and an instruction in it. Lines and columns are computed only when asked.

    A pickle holds what is written there instead, so that the place reads the same in a process that lacks the code. Copies are
    the place itself.
    """

    code: CodeType | Written
    instruction: int

    @property
    def file(self) -> str:
        """The file's path as Python knows it."""
        return self.code.file if isinstance(self.code, Written) else self.code.co_filename

    @property
    def line(self) -> int:
        """The line, counted from 1."""
        return self.code.line if isinstance(self.code, Written) else _span(self.code, self.instruction)[0][0]

    @property
    def function(self) -> str:
        """The name of the enclosing function, `<module>` at the top level."""
        return self.code.function if isinstance(self.code, Written) else self.code.co_name

    def written(self) -> Written:
        """The place as plain data."""
        return self.code if isinstance(self.code, Written) else _written(self.code, self.instruction)

    def __reduce__(self) -> tuple[type[Where], tuple[Written, int]]:
        return Where, (self.written(), 0)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def span(self) -> tuple[int, int | None, int | None, int | None] | None:
        """The first line and column of the expression and its last ones, columns counted in bytes; None without the code."""
        if isinstance(self.code, Written):
            return None
        (line, column), (end_line, end_column) = _span(self.code, self.instruction)
        return line, column, end_line, end_column

    def call(self) -> str:
        """The call as it is written, as far as it reaches on its first line; empty if the file cannot be read."""
        written = self.written()
        return written.text[written.start : written.stop] or written.text.strip()

    def excerpt(self) -> str:
        """`file:line in function`, the line itself, and a caret under the call."""
        written = self.written()
        head = f"  {written.file}:{written.line} in {written.function}"
        text, start, stop = written.text, written.start, written.stop
        body = text.lstrip()
        if not body:
            return head
        lines = [head, f"    {body}"]
        indent = len(text) - len(body)
        if (start, stop) != (0, 0):
            lines.append("    " + " " * (start - indent) + "^" * max(1, stop - start))
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def _span(code: CodeType, instruction: int) -> tuple[tuple[int, int | None], tuple[int | None, int | None]]:
    """Where an instruction's expression begins and ends: lines, and columns if they are known."""
    positions = islice(code.co_positions(), instruction // 2, None)
    line, end_line, column, end_column = next(positions, (None, None, None, None))
    return (line or code.co_firstlineno, column), (end_line, end_column)


def _written(code: CodeType, instruction: int) -> Written:
    (line, column), (end_line, end_column) = _span(code, instruction)
    text = linecache.getline(code.co_filename, line).rstrip("\n")
    start = stop = 0
    if column is not None and end_column is not None:
        # co_positions counts bytes; the caret stands under characters.
        raw = text.encode()
        start = len(raw[:column].decode(errors="replace"))
        stop = len(raw[:end_column].decode(errors="replace")) if end_line == line else len(text)
    return Written(code.co_filename, line, code.co_name, text, start, stop)


def here(skip: int = 0) -> Where | None:
    """The innermost frame that is the user's. `skip`: how many callers of the caller are known to be accel's."""
    frame: FrameType | None = sys._getframe(1 + skip)
    while frame is not None:
        code = frame.f_code
        if _may_be_the_users(code.co_filename) and not (code.co_filename == "<string>" and _is_generated(frame)):
            return Where(code, frame.f_lasti)
        frame = frame.f_back
    return None


@lru_cache(maxsize=1024)
def _may_be_the_users(file: str) -> bool:
    """Whether code of a file is not that of accel, NumPy or Python. Most frames are accel's, and of few files."""
    return not file.startswith(_NOT_THE_USERS)


def _is_generated(frame: FrameType) -> bool:
    """Whether code without a file is what dataclasses generate for us: it has the names of our module."""
    return str(frame.f_globals.get("__name__")).startswith("accel.")


class AccelError(Exception):
    """The base of all errors that accel raises.

    `where` is the user's call; `others` are further places with what happened there; `hint` says what to do. Copies and pickles
    are errors of the same class with the same text, places included.
    """

    def __init__(
        self,
        message: str,
        where: Where | None = None,
        *,
        others: tuple[tuple[str, Where | None], ...] = (),
        hint: str | None = None,
    ) -> None:
        parts = [message]
        if where is not None:
            parts.append(where.excerpt())
        for what, place in others:
            if place is not None:
                parts += [f"  {what}", place.excerpt()]
        if hint is not None:
            parts.append(f"  hint: {hint}")
        super().__init__("\n".join(parts))
        self.message = message
        self.where = where
        self.others = others
        self.hint = hint

    def moved(self, places: Mapping[Where, Where | None]) -> Self:
        """The same error at other places: `places` says for each what stands in its stead; others stay."""
        others = tuple((what, place and places.get(place, place)) for what, place in self.others)
        where = self.where and places.get(self.where, self.where)
        moved = copy.copy(self)
        AccelError.__init__(moved, self.message, where, others=others, hint=self.hint)
        return moved

    def __reduce__(self) -> tuple[Callable[..., AccelError], tuple[object, ...], dict[str, object]]:
        return _made_again, (type(self), *self.args), self.__dict__


def _made_again(kind: type[AccelError], *args: object) -> AccelError:
    """An error out of a copy or a pickle. Not by its constructor: the text is made already, and each class may have its own."""
    # The one that gives the object its layout: Python refuses another's, and `__bases__` may list that first.
    layout: type[object] = kind
    while "__new__" not in vars(layout):
        layout = layout.__base__ or object
    made = layout.__new__(kind)
    assert isinstance(made, AccelError)
    made.args = args
    return made


class AccelTypeError(AccelError, TypeError):
    """Element types or ranks do not fit."""


class AccelAttributeError(AccelError, AttributeError):
    """An `Acc`, an `Exp`, a record or accel itself has nothing of that name; `hasattr` is False."""


class AccelShapeError(AccelError, ValueError):
    """Extents do not fit: unequal, negative, or too large."""


class AccelIndexError(AccelError, IndexError):
    """An index lies outside of its array."""


class AccelMemoryError(AccelError, MemoryError):
    """The machine or the device has no room for an array, or for what a loop needs beside it."""


class AccelValueError(AccelError, ValueError):
    """A value is outside of what is allowed: a setting, an empty `fold1`."""


class AccelAssertionError(AccelError, AssertionError):
    """A condition does not hold that the user wrote by `assert_`."""


class AccelNaNError(AccelError, FloatingPointError):
    """A combinator made a NaN of operands that have none: only with `using(checks="all")`."""


class AccelZeroDivisionError(AccelError, ZeroDivisionError):
    """A combinator divides an integer by zero: only with `using(checks="all")`."""


class AccelRearrangeError(AccelError, ValueError):
    """A program is no linear nest of maps and reductions, or a rule of rearrangement does not hold."""


class AccelStagingError(AccelError, TypeError):
    """Something that needs a value was done to an expression that has none yet; or nested parallelism."""


class AccelDeviceError(AccelError, RuntimeError):
    """A backend or device is missing or refused its work."""


class AccelInternalError(AccelError, AssertionError):
    """A stage received a malformed tree: a bug in accel. The text shows the tree."""


class AccelWarning(UserWarning):
    """The base of all warnings that accel gives."""


class AccelSolverWarning(AccelWarning):
    """The solver was late, wrong or missing; a heuristic's answer was used. Results do not change."""


def warn(message: str, category: type[AccelWarning]) -> None:
    """Warn of something at the user's call."""
    where = here()
    if where is None:
        warnings.warn(message, category, stacklevel=2)
    else:
        warnings.warn_explicit(message, category, where.file, where.line)
