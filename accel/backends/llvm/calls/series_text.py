"""LLVM text of nests that run together, some rows at a time: whether a call has them do so, with what memory, and what then."""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.linear.items import Part
from accel.backends.llvm.calls.writer import FAIL, Writer
from accel.backends.llvm.series import LONGEST_BYTES, Together
from accel.backends.llvm.templates.series import DONE, INTERRUPTED
from accel.labelled.array import Array


def write_series(writer: Writer, part: Part, symbol: str, together: Together, threads: int, end: str) -> None:
    """Runs the nests of a series by a function and goes to `end`; where that is not to be, they follow one by one."""
    routine, code, series, text = writer.routine, writer.code, part.series, together.text
    working = together.threads(threads)
    behind = routine.label()
    (extent,) = series.extents
    count = writer.extent(extent)
    width = _row_bytes(writer, series.rows)
    _require_suited(writer, together, count, width, working, behind)
    at_once = _rows_at_once(writer, together, count, width)
    _allocate(writer, together, code.emit(f"mul i64 {at_once}, {working}"), behind)
    words = [("i64", str(working)), ("i64", "0"), ("i64", count), ("i64", at_once)]
    words += [("ptr", writer.buffer(array)) for array in text.arrays]
    words += [("i64", writer.sized(variable)) for variable in text.sizes]
    outcome = writer.call(symbol, words)
    for array in series.passed:  # shorter than others of the kind
        writer.set(array, "null")
    # A check that failed is found again, by the nest that it stands in; an exception ends the call.
    wrong = code.emit(f"icmp eq i64 {outcome}, {INTERRUPTED}")
    error = code.emit(f"icmp ne ptr {code.emit('call ptr @PyErr_Occurred()')}, null")
    writer.unless(code.emit(f"xor i1 {code.emit(f'or i1 {wrong}, {error}')}, true"), FAIL)
    writer.unless(code.emit(f"icmp eq i64 {outcome}, {DONE}"), behind)
    writer.drop(part.dropped)
    routine.jump(end)
    routine.place(behind)


def _row_bytes(writer: Writer, arrays: Sequence[Array]) -> str:
    """The bytes of a row of all of them."""
    width = "0"
    for array in arrays:
        row = writer.product(writer.shape(array.shape[1:]), str(array.element.bytes))
        width = writer.code.emit(f"add i64 {width}, {row}")
    return width


def _require_suited(writer: Writer, together: Together, count: str, width: str, threads: int, otherwise: str) -> None:
    """Goes to `otherwise` where rows are empty or too long, or few of many bytes."""
    code = writer.code
    all_bytes = code.emit(f"mul i64 {count}, {width}")
    few = code.emit(f"icmp slt i64 {count}, {together.enough_rows * threads}")
    much = code.emit(f"icmp sgt i64 {all_bytes}, {LONGEST_BYTES}")
    uneven = code.emit(f"and i1 {few}, {much}")
    too_long = f"icmp sgt i64 {width}, {together.longest_bytes}"
    for wrong in (f"icmp slt i64 {width}, 1", too_long, f"icmp ne i1 {uneven}, false"):
        writer.unless(code.emit(f"xor i1 {code.emit(wrong)}, true"), otherwise)


def _rows_at_once(writer: Writer, together: Together, count: str, width: str) -> str:
    """How many rows a thread has in work, at most."""
    code, least = writer.code, together.rows_at_least
    fitting = code.emit(f"and i64 {code.emit(f'sdiv i64 {together.block_bytes}, {width}')}, {-least}")
    fitting = code.emit(f"select i1 {code.emit(f'icmp slt i64 {fitting}, {least}')}, i64 {least}, i64 {fitting}")
    return writer.routine.least(fitting, count)


def _allocate(writer: Writer, together: Together, places: str, otherwise: str) -> None:
    """Takes memory for what the nests make: for what only they pass to each other, of so many rows. Goes to `otherwise` where
    something of that has no elements."""
    series = together.series
    for nest in series.nests:
        for output in nest.outputs:
            extents = writer.shape(output.array.shape)
            writer.unless(writer.code.emit(f"icmp ne i64 {writer.product(extents)}, 0"), otherwise)
            if output.array in series.passed:
                extents[0] = places
            taken = writer.taken(output.array.element, extents)
            writer.require_reference(taken)
            writer.set(output.array, taken)
