"""Exact scatters by many work-items at once: the order does not matter, so every update is one atomic operation.

In: a `Scatter`. Out: the update in C, of places that all work-items share, or those of a group. Additions and the like on
32-bit integers (64-bit where the device has such atomics) are single instructions; everything else compares and exchanges the
word that holds the leaf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import ScalarType
from accel.backends.opencl.code.functions import Context, inline
from accel.backends.opencl.code.spelling import c_type, unsigned
from accel.backends.opencl.code.writer import Writer
from accel.ir.nodes import Scatter

_NATIVE: Mapping[Operator, str] = {
    Operator.ADD: "add",
    Operator.MIN: "min",
    Operator.MAX: "max",
    Operator.AND: "and",
    Operator.OR: "or",
    Operator.XOR: "xor",
}


def combine_atomically(
    scatter: Scatter,
    places: Sequence[str],
    values: Sequence[str],
    writer: Writer,
    context: Context,
    space: str = "__global",
) -> None:
    """Update the leaves in memory at `places`, in the address space `space`, with `values`."""
    for leaf, (array, place) in enumerate(zip(scatter.arrays, places, strict=True)):
        native = _native(scatter, array.element)
        if native is not None:
            writer.line(f"{native}((volatile {space} {c_type(array.element)}*)&{place}, {values[leaf]});")
        else:
            _exchange(scatter, leaf, place, values, writer, context, space)


def _native(scatter: Scatter, kind: ScalarType) -> str | None:
    """The language's function for a one-leaf combination that is a single operator of both operands."""
    operators = scatter.monoid.operators
    if operators is None or len(operators) > 1 or not kind.is_integer or kind.bytes < 4:
        return None
    name = _NATIVE.get(operators[0])
    return None if name is None else f"{'atom' if kind.bytes == 8 else 'atomic'}_{name}"


def _exchange(
    scatter: Scatter, leaf: int, place: str, values: Sequence[str], writer: Writer, context: Context, space: str
) -> None:
    kind = scatter.arrays[leaf].element
    word, function = ("ulong", "atom_cmpxchg") if kind.bytes == 8 else ("uint", "atomic_cmpxchg")
    address, seen, expected, next_ = (writer.fresh(name) for name in ("word", "seen", "expected", "next"))
    shift = _address(kind, place, address, word, writer, space)
    writer.line(f"{word} {seen} = *{address}, {expected};")
    with writer.block("for (;;)"):
        writer.line(f"{expected} = {seen};")
        old = writer.fresh("old")
        writer.line(f"{c_type(kind)} {old} = as_{c_type(kind)}(({unsigned(kind)})({expected} >> {shift}));")
        olds = [old if other == leaf else "0" for other in range(len(values))]
        new = inline(scatter.combine, [*values, *olds], writer, context)[leaf]
        bits = f"({word})as_{unsigned(kind)}(({c_type(kind)}){new})"
        mask = f"({word})({unsigned(kind)})~({unsigned(kind)})0"
        writer.line(f"{word} {next_} = ({expected} & ~({mask} << {shift})) | ({bits} << {shift});")
        writer.line(f"if ({next_} == {expected}) break;")
        writer.line(f"{seen} = {function}({address}, {expected}, {next_});")
        writer.line(f"if ({seen} == {expected}) break;")


def _address(kind: ScalarType, place: str, address: str, word: str, writer: Writer, space: str) -> str:
    """Point `address` at the aligned word that holds the element; gives by how many bits the element is shifted in it.

    Buffers, and copies of a group, are padded to whole words, and devices are little-endian.
    """
    if kind.bytes >= 4:
        writer.line(f"volatile {space} {word}* {address} = (volatile {space} {word}*)&{place};")
        return "0"
    byte, shift = writer.fresh("byte"), writer.fresh("shift")
    writer.line(f"{space} uchar* {byte} = ({space} uchar*)&{place};")
    writer.line(f"const uint {shift} = (uint)((size_t){byte} & 3) * 8;")
    writer.line(f"volatile {space} uint* {address} = (volatile {space} uint*)({byte} - ((size_t){byte} & 3));")
    return shift
