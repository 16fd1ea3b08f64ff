"""Integers and addresses that a loop's turns share, written once before it.

In: instructions, as they are written in a loop. Out: those that stand before it instead, and their registers. LLVM moves
nothing out of loops here (`machine/target.py`). Only what can neither fail nor trap, and takes a register that addresses need.
"""

from __future__ import annotations

import re
from collections.abc import Set

_KINDS = ("getelementptr i8, ptr ", "mul i64 ", "add i64 ", "sub i64 ")
_REGISTER = re.compile(r"%([a-z]+)(\d*)")


class Ahead:
    """What stands before one loop. Registers with numbers are steady in it if they are less than `first`."""

    def __init__(self, first: int, entered: Set[str]) -> None:
        """`entered`: registers of the function's entry block, which grows."""
        self.lines: list[str] = []
        self._first = first
        self._entered = entered
        self._made: dict[str, str] = {}
        self._registers: set[str] = set()

    def takes(self, text: str) -> bool:
        """Whether an instruction may stand before the loop."""
        return text.startswith(_KINDS) and all(map(self._is_steady, _REGISTER.finditer(text)))

    def _is_steady(self, found: re.Match[str]) -> bool:
        register, number = found.group(), found.group(2)
        return not number or int(number) < self._first or register in self._entered or register in self._registers

    def made(self, text: str) -> str | None:
        """The register of an instruction that stands there already."""
        return self._made.get(text)

    def add(self, register: str, text: str) -> None:
        """Puts an instruction there."""
        self.lines.append(f"{register} = {text}")
        self._made[text] = register
        self._registers.add(register)
