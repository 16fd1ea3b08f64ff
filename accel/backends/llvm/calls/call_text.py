"""LLVM text of a program's call: one function that Python calls with arrays, and that runs all of its nests.

In: the flat list of items that `accel.backends.executor` runs, too, and the nests' compiled functions. Out: the module with
`@call(self, arguments, number)`. It binds extents, allocates, launches, loops and gives results, without any Python in
between, but where rows are sorted. Whatever is not as usual (an argument of another kind, extents that do not fit, no memory, a
check that fails) makes it drop all and hand the call to `self[0]`, which begins again and says what is wrong. So it says of
nothing what is wrong. If a result has taken the memory of an argument, nobody can begin again: then it gives an empty tuple.

A call keeps its buffers and extents in two lists on its stack, at the places that `Slots` gives them; a place of a buffer holds
a reference of its own to an array object, or null.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from accel.ast.handles.extents import LARGEST_EXTENT
from accel.ast.tree.types import ScalarType
from accel.backends.linear.items import Item, viewed
from accel.backends.llvm.calls.in_place import InPlace
from accel.backends.llvm.calls.items import Functions, write_items
from accel.backends.llvm.calls.names import element_symbol, sorter_symbol
from accel.backends.llvm.calls.writer import BUFFERS, FAIL, NO_ARRAY, Writer
from accel.backends.llvm.machine.arrays_text import DATA, EXTENTS, STRIDES
from accel.backends.llvm.machine.rows import ANY, Spread
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES
from accel.backends.llvm.sorting.order import Order
from accel.backends.parameters import bindings, leaves
from accel.ir.nodes import Program
from accel.labelled.array import Array
from accel.support.dataclass import dataclass

_DECLARATIONS = """declare ptr @accel_take(ptr, i64, i64, ptr)
declare ptr @accel_take_line(ptr, i64, i64, ptr)
declare i1 @accel_arguments(ptr, ptr, i64, i64, ptr)
declare i1 @accel_is(ptr, ptr, i64, i64)
declare i1 @accel_is_of(ptr, ptr, i64)
declare ptr @accel_view(ptr, ptr, i64, i64, ptr)
declare ptr @accel_result(ptr, i1, ptr, i64, i64, ptr)
declare void @accel_set(ptr, ptr)
declare void @accel_keep(ptr, ptr, i64)
declare ptr @accel_spare(ptr, i64, i64, ptr)
declare void @accel_release(ptr, i64)
declare ptr @accel_otherwise(ptr, ptr, i64)
declare i64 @accel_poll(ptr)
declare i64 @accel_copy(ptr, ptr, i64, i64)
declare void @Py_IncRef(ptr)
declare ptr @PyErr_Occurred()
declare void @PyErr_Clear()
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare {i64, i1} @llvm.umul.with.overflow.i64(i64, i64)
"""


@dataclass(frozen=True, slots=True)
class CallText:
    """The module's text, the element types whose NumPy descriptors it imports, and what the functions that it imports sort."""

    text: str
    elements: Sequence[ScalarType]
    sorts: Sequence[Order]


def call_text(program: Program, items: Sequence[Item], functions: Functions) -> CallText:
    """The module, for a program that is this list of items."""
    writer = Writer()
    given = [*leaves(program), *functions.rooms]
    for leaf in given:
        writer.slots.array(leaf)  # the first places, in order
    _arguments(writer, program, given, functions.in_place)
    write_items(writer, functions, items)
    _results(writer, program, viewed(items), functions.threads)
    writer.routine.place(NO_ARRAY)
    writer.code.line("call void @PyErr_Clear()")
    writer.routine.jump(FAIL)
    writer.routine.place(FAIL)
    _release(writer, len(program.results))
    if writer.spoils:
        _end_where_spoilt(writer)
    writer.code.line(f"ret ptr {writer.code.emit('call ptr @accel_otherwise(ptr %self, ptr %arguments, i64 %number)')}")
    symbols = dict.fromkeys(
        [*(symbol for symbol, _ in functions.nests.values()), *(name for name, _ in functions.series)]
    )
    text = writer.text(len(program.results))
    elements = sorted(writer.elements, key=lambda element: element.value)
    head = [f"declare i64 @{symbol}(ptr)" for symbol in symbols]
    for symbol in symbols:
        if f"@{symbol}_frame(" in text:
            head += [f"declare void @{symbol}_frame(ptr, ptr)", f"declare i64 @{symbol}_run(ptr)"]
    head += [f"@{element_symbol(element)} = external global i8" for element in elements]
    if writer.sorts:
        head.append("declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)")
        head += [f"@{sorter_symbol(number)} = external global i8" for number in range(len(writer.sorts))]
    return CallText("\n".join([_DECLARATIONS, *head, text, HOST_ATTRIBUTES]), elements, writer.sorts)


def _arguments(writer: Writer, program: Program, given: Sequence[Array], in_place: InPlace | None) -> None:
    """Takes the arrays if they are what was compiled for, and binds their extents."""
    routine, code = writer.routine, writer.code
    # Borrowed at first: a call that ends here must not drop them.
    borrowed = routine.slot("ptr", max(1, len(given)))
    passed = f"ptr %self, ptr %arguments, i64 %number, i64 {len(given)}, ptr {borrowed}"
    writer.unless(code.emit(f"call i1 @accel_arguments({passed})"), FAIL)
    arrays = [routine.load("ptr", routine.offset(borrowed, position)) for position in range(len(given))]
    for array, leaf in zip(arrays, given, strict=True):
        if in_place is not None and leaf in in_place.layouts:
            _require_spread(writer, leaf, array, in_place.spreads[in_place.layouts[leaf].array])
            continue
        kind = f"{writer.element(leaf.element)}, i64 {leaf.element.bytes}, i64 {len(leaf.shape)}"
        writer.unless(code.emit(f"call i1 @accel_is(ptr {array}, {kind})"), FAIL)
    known = bindings(program, writer.slots)
    for each in (*known.stored, *known.checked):
        extents = writer.data(arrays[each.position], EXTENTS)
        extent = routine.load("i64", routine.offset(extents, each.axis))
        size = code.emit(f"sub i64 {extent}, {each.offset}") if each.offset else extent
        if each in known.stored and each.slot is not None:
            writer.unless(code.emit(f"icmp ule i64 {size}, {LARGEST_EXTENT}"), FAIL)
            routine.store("i64", size, writer.size(each.slot))
        else:
            wanted = "0" if each.slot is None else routine.load("i64", writer.size(each.slot))
            writer.unless(code.emit(f"icmp eq i64 {size}, {wanted}"), FAIL)
    for array, leaf in zip(arrays, given, strict=True):
        if in_place is None or leaf not in in_place.copied:
            writer.share(leaf, array)
        if in_place is not None and leaf in in_place.layouts:
            writer.share(in_place.layouts[leaf].array, array)


def _require_spread(writer: Writer, leaf: Array, array: str, spread: Spread) -> None:
    """Begins again unless an array lies in memory as it was compiled for."""
    routine, code = writer.routine, writer.code
    kind = f"{writer.element(leaf.element)}, i64 {len(leaf.shape)}"
    writer.unless(code.emit(f"call i1 @accel_is_of(ptr {array}, {kind})"), FAIL)
    strides = writer.data(array, STRIDES)
    extents = writer.data(array, EXTENTS)
    for axis in range(len(leaf.shape)):
        its = routine.load("i64", routine.offset(strides, axis))
        if axis not in spread.order:  # what it repeats is there only if something is repeated
            some = code.emit(f"icmp ne i64 {routine.load('i64', routine.offset(extents, axis))}, 0")
            good = code.emit(f"and i1 {some}, {code.emit(f'icmp eq i64 {its}, 0')}")
        elif axis == spread.order[-1] and spread.step != ANY:
            good = code.emit(f"icmp eq i64 {its}, {spread.step * leaf.element.bytes}")
        else:
            good = code.emit(f"icmp ne i64 {its}, 0")
        writer.unless(good, FAIL)


def _results(writer: Writer, program: Program, shared: Set[Array], threads: int) -> None:
    """Gives one array, or a tuple of several."""
    routine, code = writer.routine, writer.code
    for number, array in enumerate(program.results):
        last = array not in program.results[number + 1 :]
        owned = "true" if array not in shared else "false"
        extents = writer.shape(array.shape)
        passed = writer.pass_extents(extents)
        kind = f"{writer.element(array.element)}, i64 {array.element.bytes}, {passed}"
        made = writer.buffer(array)
        result = code.emit(f"call ptr @accel_result(ptr {made}, i1 {owned if last else 'false'}, {kind})")
        writer.require_reference(result)
        routine.store("ptr", result, routine.offset("%given", number))
        another = code.emit(f"icmp ne ptr {result}, {made}")
        with routine.when(another):
            size = writer.product(extents, str(array.element.bytes))
            places = f"ptr {writer.data(result, DATA)}, ptr {writer.data(made, DATA)}"
            stopped = code.emit(f"call i64 @accel_copy({places}, i64 {size}, i64 {threads})")
            writer.unless(code.emit(f"icmp eq i64 {stopped}, 0"), FAIL)
        if last:
            writer.drop([array])
    count = len(program.results)
    if count == 1:
        answer = routine.load("ptr", "%given")
        routine.store("ptr", "null", "%given")
    else:
        answer = code.emit(f"call ptr @PyTuple_New(i64 {count})")
        writer.require_reference(answer)
        for number in range(count):
            place = routine.offset("%given", number)
            code.emit(f"call i32 @PyTuple_SetItem(ptr {answer}, i64 {number}, ptr {routine.load('ptr', place)})")
            routine.store("ptr", "null", place)
    _release(writer, count)
    code.line(f"ret ptr {answer}")


def _end_where_spoilt(writer: Writer) -> None:
    """Gives an empty tuple where an argument's memory has been given away: what is computed again would be wrong."""
    routine, code = writer.routine, writer.code
    with routine.when(code.emit(f"icmp ne i64 {routine.load('i64', writer.spoilt())}, 0")):
        raised = code.emit(f"icmp ne ptr {code.emit('call ptr @PyErr_Occurred()')}, null")
        routine.leave(raised, "ptr null")
        code.line(f"ret ptr {code.emit('call ptr @PyTuple_New(i64 0)')}")
        routine.place(routine.label())


def _release(writer: Writer, results: int) -> None:
    """Drops everything that the call holds."""
    writer.code.line(f"call void @accel_release(ptr %buffers, i64 {BUFFERS})")
    writer.code.line(f"call void @accel_release(ptr %given, i64 {results})")
