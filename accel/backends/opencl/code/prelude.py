"""What expressions in OpenCL C call: helper functions, collected while the expressions are written."""

from __future__ import annotations

from accel.backends.opencl.code.writer import fresh_names
from accel.errors import AccelInternalError


class Prelude:
    """The helper functions that expressions call, each once, in order of first use."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def function(self, name: str, text: str) -> str:
        """Make sure that the function is there; gives its name. Raises `AccelInternalError` if it has the form of a fresh
        variable's, or another text has it."""
        if fresh_names(name) or self._texts.setdefault(name, text) != text:
            raise AccelInternalError(f"the name {name} is taken: {text}")
        return name

    def __contains__(self, name: str) -> bool:
        return name in self._texts

    @property
    def text(self) -> str:
        """The functions' definitions."""
        return "\n".join(self._texts.values())
