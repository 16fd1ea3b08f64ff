"""Looks at what is packed for floats that are not plain, and says so in a word: see `plain.py`."""

from __future__ import annotations

from accel.ast.tree.types import F16, ScalarType
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.templates.tile.layout import Parameters, Word
from accel.backends.llvm.templates.tile.plain import Odd, Odds
from accel.backends.llvm.text.code import Code
from accel.backends.llvm.text.routine import Routine


class OddFloats:
    """Whether a function packed an odd float that is not `allowed`. Without `allowed` nobody asks."""

    def __init__(self, routine: Routine, writer: Writer, allowed: Odds | None) -> None:
        self._routine = routine
        self._writer = writer
        self._allowed = allowed
        self._mask = writer.code.vector("i1")
        self._found = ""
        if allowed is not None:
            self._found = routine.slot(self._mask, align=64)
            routine.store(self._mask, "zeroinitializer", self._found)

    def look(self, kind: ScalarType, vector: str, mask: str | None) -> None:
        """At a vector, where the mask is set."""
        if self._allowed is None or not kind.is_float or kind is F16:
            return
        odd = self._writer.both(mask, _are_odd(self._writer.code, kind, vector, self._allowed))
        before = self._routine.load(self._mask, self._found)
        self._routine.store(self._mask, self._routine.code.emit(f"or {self._mask} {before}, {odd}"), self._found)

    def close(self, words: Parameters) -> None:
        """Says it, where any was found. Other threads may say the same."""
        if self._allowed is None:
            return
        found = self._writer.any(self._routine.load(self._mask, self._found))
        with self._routine.when(found):
            word = self._routine.offset(words.pointer, int(Word.ODD))
            self._routine.code.line(f"store atomic i64 1, ptr {word} monotonic, align 8")


def _are_odd(code: Code, kind: ScalarType, vector: str, allowed: Odds) -> str:
    type_, high, low = code.type(kind), *(code.literal(kind, float(odd.value)) for odd in (Odd.HIGH, Odd.LOW))
    if Odd.HIGH in allowed:
        unlike = code.emit(f"fcmp ule {type_} {vector}, {low}")
    elif Odd.LOW in allowed:
        unlike = code.emit(f"fcmp uge {type_} {vector}, {high}")
    else:
        unlike = code.emit(f"fcmp uge {type_} {code.intrinsic('fabs', kind, [vector])}, {high}")
    bits = code.vector(f"i{kind.bits}")
    pattern = code.splat(f"i{kind.bits}", str(-(1 << (kind.bits - 1))))
    zero = code.emit(f"icmp eq {bits} {code.emit(f'bitcast {type_} {vector} to {bits}')}, {pattern}")
    return code.emit(f"or {code.vector('i1')} {unlike}, {zero}")
