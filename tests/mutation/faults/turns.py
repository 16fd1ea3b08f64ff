"""Faults of loops whose turns only launch nests: their memory and their text; and of the memory that launches work in."""

from __future__ import annotations

from tests.mutation.fault import Fault

_BUFFERS = "backends/linear/turn_buffers.py"
_TEXT = "backends/llvm/calls/turns_text.py"
_SCRATCH = "backends/llvm/threads/scratch_text.py"
_TURNS = "tests/llvm/test_turn_buffers.py"
_KEPT = "tests/llvm/test_scratch.py"

_LOOPS = "backends/linear/loops.py"
_LINEAR = "tests/backends/test_linear.py::test_loops_whose_turns_only_launch_nests"

FAULTS = (
    Fault(
        "turns are played in which the host compares shapes",
        _LOOPS,
        "if not on_host and not any(",
        "if not any(",
        (_LINEAR,),
    ),
    Fault(
        "turns are played that launch nests before they ask",
        _LOOPS,
        "for item in turn[:asks]",
        "for item in turn[:0]",
        (_LINEAR,),
    ),
    Fault(
        "what a turn makes lies where something lies that is still to be read",
        _BUFFERS,
        "if each == kind and number not in used:",
        "if each == kind:",
        (_TURNS,),
    ),
    Fault(
        "a buffer holds arrays of other shapes",
        _BUFFERS,
        "kind = (array.element, array.shape)",
        "kind = (array.element, self.kinds[0][1] if self.kinds else array.shape)",
        (_TURNS,),
    ),
    Fault(
        "a turn writes to a state that it also keeps as it was",
        _BUFFERS,
        "if place is None or any(found == place for array, found in self.now.items() if array != copy.source):",
        "if place is None:",
        (_TURNS,),
    ),
    Fault(
        "what a turn computed before it asked is launched twice",
        _BUFFERS,
        "asked = self.now[condition], tuple(launches)\n                    launches = []",
        "asked = self.now[condition], tuple(launches)",
        (_TURNS,),
    ),
    Fault(
        "places come again after the first turn",
        _BUFFERS,
        "tuple(turns), known[before], tuple(places.kinds)",
        "tuple(turns), 0, tuple(places.kinds)",
        (_TURNS,),
    ),
    Fault(
        "extents that a turn computes are as long as anything",
        _BUFFERS,
        "        else:\n            equal.append((one, other))",
        "        else:\n            pass",
        (f"{_TURNS}::test_an_extent_that_is_another_in_a_later_turn", _TURNS),
    ),
    Fault(
        "states keep the shapes that they have before the first turn, whatever turns give them",
        _BUFFERS,
        "if extent.variable is None or extent.variable in known or extent.variable in assigned:\n"
        "                equal.append((extent, found))",
        "if extent.variable is None or extent.variable in known or extent.variable in assigned:\n                pass",
        (_TURNS,),
    ),
    Fault(
        "an extent that is found out is taken for another one",
        _BUFFERS,
        "sizes[extent.variable] = Extent(found.variable, found.offset - extent.offset)",
        "sizes[extent.variable] = Extent(found.variable, found.offset - extent.offset + 1)",
        (_TURNS,),
    ),
    Fault(
        "what nests of a series make has memory for all turns",
        _BUFFERS,
        "if not output.is_whole or output.array in self.apart:",
        "if not output.is_whole:",
        (_TURNS,),
    ),
    Fault(
        "turns write to what was given to the loop",
        _TEXT,
        "f\"icmp eq i32 {routine.load('i32', source)}, 1\"",
        "f\"icmp sge i32 {routine.load('i32', source)}, 1\"",
        (_TURNS,),
    ),
    Fault(
        "what a loop begins with is not copied for its turns",
        _TEXT,
        "outcome = writer.call(self._nests[nest][0], self._words(nest, lambda array: writer.buffer(places[array])))\n"
        '        writer.unless(code.emit(f"icmp eq i64 {outcome}, 0"), FAIL)\n',
        "places.clear()\n",
        (_TURNS,),
    ),
    Fault(
        "launches at other places have the same frame",
        _TEXT,
        "for each in frame.arrays if each in started.places]",
        "for each in frame.arrays[:1] if each in started.places]",
        (_TURNS,),
    ),
    Fault(
        "frames lie over each other",
        _TEXT,
        "self._room += frame.words",
        "self._room += 1",
        (_TURNS,),
    ),
    Fault(
        "the last of the first turns goes on with the first one",
        _TEXT,
        "labels[loop.again if number + 1 == len(labels) else number + 1]",
        "labels[0 if number + 1 == len(labels) else number + 1]",
        (_TURNS,),
    ),
    Fault(
        "what the first turn begins with is dropped though a later one reads it",
        _TEXT,
        "if Given(k) not in needed])",
        "if k not in needed])",
        (_TURNS,),
    ),
    Fault(
        "a loop gives what it does not refer to",
        _TEXT,
        '            writer.code.line(f"call void @Py_IncRef(ptr {buffer})")\n',
        '            writer.code.line(f"; {buffer}")\n',
        (_TURNS,),
    ),
    Fault(
        "states are given one after the other",
        _TEXT,
        "for array, at in pairs if array != at]",
        "for array, at in pairs[:1] if array != at]",
        (_TURNS,),
    ),
    Fault(
        "turns that never end are not interrupted",
        _TEXT,
        "            if number == loop.again:\n                self._poll(poll)",
        "            if number == len(loop.turns):\n                self._poll(poll)",
        ("tests/llvm/test_interrupts.py::test_turns_of_hours_are_interrupted",),
    ),
    Fault(
        "what counts found in a turn is not compared",
        _TEXT,
        'writer.unless(code.emit(f"icmp eq i64 {found}, {writer.sized(count.variable)}"), FAIL)',
        "assert found",
        (_TURNS,),
    ),
    Fault(
        "several launches work in the same memory",
        _SCRATCH,
        "%kept = atomicrmw xchg ptr %slot, i64 0 acquire",
        "%kept = load i64, ptr %slot",
        (_KEPT,),
    ),
    Fault(
        "a launch works in a piece that is too small",
        _SCRATCH,
        "%fits = icmp uge i64 %its, %all",
        "%fits = icmp uge i64 %its, {_HEAD}",
        (_KEPT,),
    ),
    Fault(
        "pieces of any size are kept",
        _SCRATCH,
        "%much = icmp ugt i64 %its, {KEPT}",
        "%much = icmp ugt i64 %its, {KEPT << 20}",
        (_KEPT,),
    ),
    Fault(
        "nothing that launches have worked in is kept",
        _SCRATCH,
        "br i1 %much, label %drop, label %keep",
        "br i1 %much, label %drop, label %drop",
        (_KEPT,),
    ),
    Fault(
        "memory that cannot be had is worked in",
        _SCRATCH,
        "br i1 %none, label %nothing, label %size",
        "br i1 %none, label %size, label %size",
        (_KEPT,),
    ),
    Fault(
        "the head of a piece is what launches work in",
        _SCRATCH,
        "%memory = getelementptr i8, ptr %found, i64 {_HEAD}",
        "%memory = getelementptr i8, ptr %found, i64 0",
        (_KEPT,),
    ),
    Fault(
        "a piece that another one takes the place of is lost",
        _SCRATCH,
        "%dropped = phi ptr [ %piece, %entry ], [ %other, %keep ]",
        "%dropped = phi ptr [ %piece, %entry ], [ null, %keep ]",
        (_KEPT,),
    ),
)
