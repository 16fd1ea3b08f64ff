"""What turns of a vector loop share is written once, before it."""

from __future__ import annotations

import re

import numpy as np

import accel as A
from accel.backends.llvm.text.code import Code
from accel.backends.llvm.text.routine import Routine

Table = A.Acc[A.Matrix[np.float32]]


def test_addresses_of_steady_rows_are_written_before_the_loop() -> None:
    code = Code(8)
    row, stride = code.emit("load i64, ptr %row"), code.at_entry().emit("load i64, ptr %stride")
    with code.loop():
        column = code.emit("load i64, ptr %column")
        places = [code.at(1).emit(f"mul i64 {row}, {stride}") for _ in range(2)]
        rows = [code.emit(f"getelementptr i8, ptr %base, i64 {place}") for place in places]
        here = code.emit(f"getelementptr i8, ptr {rows[0]}, i64 {column}")
    assert places[0] == places[1]
    assert rows[0] == rows[1]
    assert code.lines == [
        f"{row} = load i64, ptr %row",
        f"{places[0]} = mul i64 {row}, {stride}",
        f"{rows[0]} = getelementptr i8, ptr %base, i64 {places[0]}",
        f"{column} = load i64, ptr %column",
        f"{here} = getelementptr i8, ptr {rows[0]}, i64 {column}",
    ]


def test_what_may_trap_and_floats_stay_in_the_loop() -> None:
    code = Code(1)
    row = code.emit("load i64, ptr %row")
    with code.loop():
        code.emit(f"load i64, ptr {row}")
        code.emit(f"sdiv i64 {row}, %low")
        code.emit("fadd float %x, %y")
        inside = len(code.lines)
    assert inside == len(code.lines) == 4


def test_what_is_in_a_loop_is_not_taken_out_of_the_loop_around() -> None:
    code = Code(1)
    with code.loop():
        row = code.emit("load i64, ptr %row")
        with code.loop():
            column = code.emit("load i64, ptr %column")
            moved = code.emit(f"add i64 {row}, 1")
            code.emit(f"add i64 {column}, 1")
    assert code.lines[1] == f"{moved} = add i64 {row}, 1"
    assert len(code.lines) == 4


def test_a_loop_that_is_left_does_not_lend_its_registers() -> None:
    routine = Routine("void @f(ptr %frame, i64 %low)")
    with routine.when("true"), routine.code.loop():
        first = routine.code.emit("add i64 %low, 1")
    assert routine.code.emit("add i64 %low, 1") != first


def test_a_stencil_computes_where_a_row_begins_once_for_each_row() -> None:
    def around(xs: Table) -> Table:
        rows, columns = A.unlift(xs.shape)

        def point(place: A.Exp[tuple[int, int]]) -> A.Exp[np.float32]:
            i, j = A.unindex(place)
            inner = (i > 0) & (i < rows - 1) & (j > 0) & (j < columns - 1)
            return A.cond(inner, xs[A.index(i - 1, j)] + xs[A.index(i + 1, j)] + xs[A.index(i, j - 1)], xs[place])

        return A.generate(xs.shape, point)

    text = A.explain(around, np.zeros((9, 40), np.float32)).stages["llvm"]
    strides = re.findall(r"= (mul i64 %\w+, %\w+)", text[text.index("@nest0_body") :].partition("\n}")[0])
    assert len(strides) == len(set(strides)) == 4


def test_what_all_iterations_compute_alike_is_computed_at_the_entry() -> None:
    """The reciprocal of a divisor that is made of a number which a function loads there, with a shift."""
    text = A.explain(lambda k: A.generate((1000,), lambda ix: ix[0] // (1 << A.the(k))), np.array(3)).stages["llvm"]
    body = text[text.index("define void @nest0_body") :].partition("}")[0]
    entry, _, loops = body.partition("start:")
    assert "shl i64 1, " in entry
    assert "fdiv double" in entry
    assert "shl i64 1, " not in loops
    assert "fdiv double" not in loops
