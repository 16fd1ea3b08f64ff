"""Every error that accel raises, and the place in the user's program that it points at.

In: a `Where`, captured when the user's call builds a node. Out: exceptions whose text names the user's file and
line with a caret under the expression, says what was expected and what to do (design section 8, "Errors").
Each class also derives from the Python class that a user would catch.
"""

from __future__ import annotations

import contextlib
import linecache
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType
from typing import Self

import numpy as np

NUMPY = str(Path(np.__file__).parent) + "/"
"""Where NumPy's files are."""

_NOT_THE_USERS = (str(Path(__file__).resolve().parent) + "/", NUMPY, contextlib.__file__, "<frozen ")
"""Where the files start whose frames are never the user's call: accel's own, those of NumPy, which asks arrays what they are,
what stands between `with` and `using`, and what starts Python."""


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """A place in the user's program: a code object and an instruction in it. Columns are computed only when asked."""

    code: CodeType
    instruction: int

    @property
    def file(self) -> str:
        """The file's path as Python knows it."""
        return self.code.co_filename

    @property
    def line(self) -> int:
        """The line, counted from 1."""
        start, _ = self._span()
        return start[0]

    @property
    def function(self) -> str:
        """The name of the enclosing function, `<module>` at the top level."""
        return self.code.co_name

    def _span(self) -> tuple[tuple[int, int | None], tuple[int | None, int | None]]:
        positions = islice(self.code.co_positions(), self.instruction // 2, None)
        line, end_line, column, end_column = next(positions, (None, None, None, None))
        return (line or self.code.co_firstlineno, column), (end_line, end_column)

    def _marked(self) -> tuple[str, int, int]:
        """The line, and from which character to which the call stands on it; nothing is marked if that is not known."""
        (line, column), (end_line, end_column) = self._span()
        text = linecache.getline(self.file, line).rstrip("\n")
        if column is None or end_column is None:
            return text, 0, 0
        # co_positions counts bytes; the caret stands under characters.
        raw = text.encode()
        start = len(raw[:column].decode(errors="replace"))
        return text, start, len(raw[:end_column].decode(errors="replace")) if end_line == line else len(text)

    def call(self) -> str:
        """The call as it is written, as far as it reaches on its first line; empty if the file cannot be read."""
        text, start, stop = self._marked()
        return text[start:stop] or text.strip()

    def excerpt(self) -> str:
        """`file:line in function`, the line itself, and a caret under the call."""
        head = f"  {self.file}:{self.line} in {self.function}"
        text, start, stop = self._marked()
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


def here() -> Where | None:
    """The innermost frame that is the user's."""
    frame = sys._getframe(1)
    while _is_ours(frame):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return Where(frame.f_code, frame.f_lasti)


def _is_ours(frame: FrameType) -> bool:
    """Whether this is no frame of the user's; what dataclasses generate has no file, but the names of our module."""
    file = frame.f_code.co_filename
    return file.startswith(_NOT_THE_USERS) or (
        file == "<string>" and str(frame.f_globals.get("__name__")).startswith("accel.")
    )


class AccelError(Exception):
    """The base of all errors that accel raises.

    `where` is the user's call; `others` are further places with what happened there; `hint` says what to do.
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
        return type(self)(self.message, where, others=others, hint=self.hint)


class AccelTypeError(AccelError, TypeError):
    """Element types or ranks do not fit."""


class AccelShapeError(AccelError, ValueError):
    """Extents do not fit: unequal, negative, or too large."""


class AccelIndexError(AccelError, IndexError):
    """An index lies outside of its array."""


class AccelMemoryError(AccelError, MemoryError):
    """The machine or the device has no room for an array, or for what a loop needs beside it."""


class AccelValueError(AccelError, ValueError):
    """A value is outside of what is allowed: a setting, an empty `fold1`."""


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
