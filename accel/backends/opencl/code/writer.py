"""Writes C: lines, indented by the blocks that are open, and fresh names.

Types, functions, parameters and variables of C share their names. Those of fresh variables have a form that no other name has:
a word, an underscore and a number. A `Writer` writes none of that form that it has not given, and a `Prelude` none at all.
Others are told apart by their words: `state3` and what begins so are types and their functions, `nest0_…` and `series0_…`
kernels, `array1_0`, `n2`, `temporary0_…` and `error` parameters, `v_…` and `s_v_…` streams and states; other words, which may
end in numbers, variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from accel.errors import AccelInternalError

_FRESH = re.compile(r"\b(?!v_)[a-z]+_[0-9]+\b", re.ASCII)

SCALAR_LOOP = "#pragma clang loop vectorize(disable)"
"""Before every loop. Vectors come from neighbouring work-items; the loop vectoriser of Intel's CPU runtime crashes, and the
process with it, on some loops of conversions (2026.2)."""

ROLLED_LOOP = f"{SCALAR_LOOP} unroll(disable)"
"""Before loops that gain nothing by being written out, which takes Intel's compiler long: those of whole blocks, and those that
join partial results, which run once for many elements. One of a greatest integer beside floats that is written out ends the
process in its code generator for AVX-512 (2026.2)."""

WRITTEN_OUT = f"{SCALAR_LOOP}\n#pragma unroll"
"""Before loops that compilers are to write out, however large they become: arrays that are indexed by their counters are then
registers."""

ZEROS = "{0}"
"""What states are before they have an element. No value at all must not reach a check that fails and goes on: PoCL's compiler
concludes that there is an element, and forgets the bounds of the loop around."""


def fresh_names(text: str) -> list[str]:
    """The names in a text that have the form of fresh ones, as they occur."""
    return _FRESH.findall(text)


class Writer:
    """Collects the lines of one function body."""

    def __init__(self, depth: int = 1) -> None:
        self._lines: list[str] = []
        self._depth = depth
        self._given: set[str] = set()

    def line(self, text: str) -> None:
        """One statement, or any other whole line. Raises `AccelInternalError` if it has a name of the form of fresh ones that
        is none of this function's."""
        for name in fresh_names(text):
            if name not in self._given:
                raise AccelInternalError(f"{name} is no fresh name of this function: {text}")
        self._lines.append("  " * self._depth + text)

    def open(self, head: str, *, rolled: bool = False, written_out: bool = False) -> None:
        """Begin a block: `head {`. `rolled`: the compiler is not to write a loop out; `written_out`: it is."""
        if written_out:
            self._lines.append(WRITTEN_OUT)
        elif head.startswith("for"):
            self._lines.append(ROLLED_LOOP if rolled else SCALAR_LOOP)
        self.line(f"{head} {{" if head else "{")
        self._depth += 1

    def otherwise(self) -> None:
        """Go over from the block of an `if` to its `else`."""
        self.close()
        self.open("else")

    def close(self) -> None:
        """End the block that was opened last."""
        self._depth -= 1
        self.line("}")

    @contextmanager
    def block(self, head: str, *, rolled: bool = False, written_out: bool = False) -> Iterator[None]:
        """A block around what is written meanwhile."""
        self.open(head, rolled=rolled, written_out=written_out)
        yield
        self.close()

    def fresh(self, word: str = "t") -> str:
        """A name that nothing else has in this function, nor outside it: the word, in small letters, with a number."""
        name = f"{word}_{len(self._given) + 1}"
        if fresh_names(name) != [name]:
            raise AccelInternalError(f"no word for fresh names: {word}")
        self._given.add(name)
        return name

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(self._lines)
