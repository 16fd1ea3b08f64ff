"""A tiled nest, or what is left of one, by the templates for other nests: a function that is compiled when it is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.backends.llvm.loops import schedule
from accel.backends.llvm.loops.alternatives import Alternatives, written
from accel.backends.llvm.loops.nest import NestText
from accel.backends.llvm.text.frame import Frame
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import Nest
from accel.labelled.array import Array
from accel.schedule.templates.choose import without_tiles


def untiled(name: str, text: NestText, nest: Nest, others: Mapping[Array, Array], alternatives: Alternatives) -> Late:
    """`@<name>(frame)`, which runs a nest with a frame of its own. others: the arrays that stand for some of `text`'s."""

    def functions(number: int) -> Sequence[Routine]:
        frame = text.frame.standing_for(others)
        own, found = written(f"{name}_nest", without_tiles(nest), frame, text.read, alternatives)
        schedule.write_run(own, found)
        assert not own.late, "what is compiled late has all that it needs"
        routine = Routine(f"i64 @{name}(ptr %frame)", hot=False)
        block = own_frame(routine, text.frame, frame)
        ended = routine.code.emit(f"call i64 @{own.name}_run(ptr {block})")
        routine.code.line(f"ret i64 {ended}")
        return [routine, *own.routines]

    return Late(name, 1, functions)


def own_frame(routine: Routine, given: Frame, frame: Frame) -> str:
    """The function's own frame, which begins with the words of the one that it is given."""
    block = routine.slot("i64", frame.words)
    for word in range(given.words):
        routine.store("i64", routine.load("i64", routine.offset("%frame", word)), routine.offset(block, word))
    return block
