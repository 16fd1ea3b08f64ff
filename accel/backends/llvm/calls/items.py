"""LLVM text of the items of a call, one after the other: what `accel.backends.executor` does for each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import nullcontext
from typing import assert_never

from accel.ast.handles.extents import LARGEST_EXTENT
from accel.backends.linear.items import (
    Assign,
    Drop,
    Enter,
    Item,
    Jump,
    JumpUnless,
    Mark,
    copies,
    dropped_behind,
    moves,
    series_parts,
)
from accel.backends.linear.loops import loops
from accel.backends.linear.turn_buffers import Turns, turn_buffers
from accel.backends.llvm.calls.in_place import InPlace
from accel.backends.llvm.calls.names import sorter_symbol
from accel.backends.llvm.calls.series_text import write_series
from accel.backends.llvm.calls.turns_text import TurnsText
from accel.backends.llvm.calls.writer import FAIL, Writer, kind_of
from accel.backends.llvm.machine.arrays_text import DATA, EXTENTS
from accel.backends.llvm.series import Together
from accel.backends.llvm.sorting.order import Order
from accel.backends.llvm.text.frame import Frame
from accel.errors import AccelInternalError
from accel.ir.copies import Copy
from accel.ir.divisions import MOST_ROWS, divides
from accel.ir.nodes import HostCall, HostSizes, Launch, Nest, Output, Require, Sort, View
from accel.labelled.array import Array, Shape
from accel.support.dataclass import dataclass

MOST_SPARES = 8
"""Arrays of a kind that are kept for the next ones, at most."""


@dataclass(frozen=True, slots=True)
class Functions:
    """Compiled functions by their symbols: of each nest, with its frame, and of series. `threads` work on each.

    `extents`: the nests among them that compute extents. `taken`: results, and the arguments whose memory they take. `rooms`:
    those of these arguments that are there for that alone; results are written to all of them, or to none. `in_place`: the
    program, if it reads arguments whose rows' elements are not adjacent.
    """

    nests: Mapping[Nest, tuple[str, Frame]]
    series: Sequence[tuple[str, Together]]
    threads: int
    extents: Mapping[HostSizes, Nest]
    taken: Mapping[Array, Array]
    rooms: Sequence[Array] = ()
    in_place: InPlace | None = None


def write_items(writer: Writer, functions: Functions, items: Sequence[Item]) -> None:
    """All of them."""
    routine = writer.routine
    marks = {item.number: f"mark{item.number}" for item in items if isinstance(item, Mark)}
    passed: set[int] = set()
    parts = {part.start: part for part in series_parts(items, [each.series for _, each in functions.series])}
    ends = {part.end: f"behind{part.end}" for part in parts.values()}
    moved, movable = moves(items), copies(items)
    writer.spares = _spares(items)
    apart = {output.array for _, each in functions.series for nest in each.series.nests for output in nest.outputs}
    regular = turn_buffers(items, apart | set(functions.taken), functions.extents)
    for position, item in enumerate((*items, None)):
        if position in ends:
            routine.jump(ends[position])
            routine.place(ends[position])
        if position in parts:
            part = parts[position]
            ((symbol, together),) = (each for each in functions.series if each[1].series is part.series)
            write_series(writer, part, symbol, together, functions.threads, ends[part.end])
        match item:
            case Launch() if position in moved:
                _assign(writer, moved[position])
            case Assign():
                _assign(writer, item, dropped_behind(items, position))
            case Launch(nest) if position in movable:
                _copy(writer, functions, nest, movable[position])
            case Launch(nest):
                _launch(writer, functions, nest)
            case View() | Require() | Drop() | HostSizes() | Sort():
                _write_item(writer, functions, item)
            case Mark(number):
                passed.add(number)
                if position in regular:
                    _turns(writer, functions, regular[position], marks[regular[position].end], marks[number])
                else:
                    routine.jump(marks[number])
                routine.place(marks[number])
            case Jump(mark):
                if mark in passed:
                    _poll(writer)
                routine.jump(marks[mark])
                routine.place(routine.label())
            case JumpUnless(condition, mark):
                value = routine.load("i8", writer.data(writer.buffer(condition), DATA))
                writer.unless(writer.code.emit(f"icmp ne i8 {value}, 0"), marks[mark])
            case Enter() | None:
                pass
            case HostCall():
                raise AccelInternalError("a program that calls the host has no compiled call")
            case _:
                assert_never(item)


def _write_item(writer: Writer, functions: Functions, item: View | Require | Drop | HostSizes | Sort) -> None:
    """One that is written the same wherever it stands."""
    match item:
        case View():
            _view(writer, item)
        case Require(left, right):
            _require_equal(writer, left, right)
        case Drop(arrays):
            writer.drop(arrays)
        case HostSizes(variables):
            nest = functions.extents[item]
            _launch(writer, functions, nest)
            for variable in variables:
                in_range = writer.code.emit(f"icmp ule i64 {writer.sized(variable)}, {LARGEST_EXTENT}")
                writer.unless(in_range, FAIL)
            writer.drop([output.array for output in nest.outputs])
        case Sort():
            _sort(writer, item)
        case _:
            assert_never(item)


def _launch(writer: Writer, functions: Functions, nest: Nest) -> None:
    routine = writer.routine
    for old, new in nest.in_place:
        writer.share(new, writer.buffer(old))
    work = [_allocate(writer, functions, output) for output in nest.outputs]
    some = _has_work(writer, nest, work)
    with nullcontext() if some is None else routine.when(some):
        _run(writer, functions, nest)
    _counts(writer, nest)


def _has_work(writer: Writer, nest: Nest, work: Sequence[str]) -> str | None:
    """Whether the nest is to run, which makes arrays of so many elements: there may be many rows without any. None: always."""
    code, some = writer.code, "false"
    if nest.in_place or "1" in work:
        return None
    for elements in work:
        some = code.emit(f"or i1 {some}, {code.emit(f'icmp ne i64 {elements}, 0')}")
    for output in nest.outputs if divides(nest) else ():
        rows = writer.product([writer.room(dimension) for dimension in output.capacity[:-1]])
        some = code.emit(f"or i1 {some}, {code.emit(f'icmp ule i64 {rows}, {MOST_ROWS}')}")
    return some


def _turns(writer: Writer, functions: Functions, loop: Turns, end: str, turn: str) -> None:
    """A loop whose turns only launch nests, to its end. Where shapes change, or one of these is not to run, since there are no
    elements, it goes to `turn`, which is written as turns of any loop are."""
    routine, code = writer.routine, writer.code
    for variable, extent in loop.sizes:
        routine.store("i64", writer.extent(extent), writer.size(writer.slots.size(variable)))
    for one, other in loop.equal:
        writer.unless(code.emit(f"icmp eq i64 {writer.extent(one)}, {writer.extent(other)}"), turn)
    for nest in sorted(loop.nests, key=lambda nest: nest.label):
        work = [writer.product([writer.room(dimension) for dimension in output.capacity]) for output in nest.outputs]
        some = _has_work(writer, nest, work)
        if some is not None:
            writer.unless(some, turn)
    text = TurnsText(writer, functions.nests, lambda nest, buffer: _words(writer, functions, nest, buffer), loop)
    text.write(end, lambda: _poll(writer))


def _copy(writer: Writer, functions: Functions, nest: Nest, copy: Copy) -> None:
    """A copy of what is dropped then: where nothing else refers to the array object, it is the copy."""
    routine, code = writer.routine, writer.code
    source = writer.buffer(copy.source)
    references = routine.load("i32", source)  # an object begins with their count
    alone = code.emit(f"icmp eq i32 {references}, 1")
    keep, run, after = routine.label(), routine.label(), routine.label()
    routine.branch(alone, keep, run)
    routine.place(keep)
    routine.store("ptr", "null", writer.place(copy.source))
    writer.set(copy.target, source)
    routine.jump(after)
    routine.place(run)
    _launch(writer, functions, nest)
    routine.jump(after)
    routine.place(after)


def _allocate(writer: Writer, functions: Functions, output: Output) -> str:
    """Takes memory for what a nest makes, or that of an argument; gives how many elements there is room for."""
    capacity = [writer.room(dimension) for dimension in output.capacity]
    elements = writer.product(capacity)
    given = functions.taken.get(output.array)
    if given is None:
        _set_fresh(writer, output.array, capacity)
        return elements
    routine = writer.routine
    if given in functions.rooms:
        fits = _all_fit(writer, functions.rooms)
    else:
        fits = writer.code.emit(f"icmp eq i64 {elements}, {writer.product(writer.shape(given.shape))}")
    take, fresh, after = routine.label(), routine.label(), routine.label()
    routine.branch(fits, take, fresh)
    routine.place(take)
    _set_view(writer, output.array, given)
    routine.store("i64", "1", writer.spoilt())
    routine.jump(after)
    routine.place(fresh)
    _set_fresh(writer, output.array, capacity)
    routine.jump(after)
    routine.place(after)
    return elements


def _all_fit(writer: Writer, rooms: Sequence[Array]) -> str:
    """Whether these arguments have the extents of the results that they are for."""
    routine, code, fits = writer.routine, writer.code, "true"
    for room in rooms:
        extents = writer.data(writer.buffer(room), EXTENTS)
        for axis, wanted in enumerate(writer.shape(room.shape)):
            same = code.emit(f"icmp eq i64 {routine.load('i64', routine.offset(extents, axis))}, {wanted}")
            fits = code.emit(f"and i1 {fits}, {same}")
    return fits


def _spares(items: Sequence[Item]) -> Mapping[Array, int]:
    """The kinds of arrays that turns of loops make again and again, and how many a turn makes: NumPy takes long to make one."""
    found: Counter[Array] = Counter()
    for loop in loops(items):
        turn = (each for position in loop.turn if isinstance(each := items[position], Launch))
        outputs = (output for each in turn for output in each.nest.outputs)
        found |= Counter(kind_of(output.array) for output in outputs if output.is_whole)
    return {kind: min(count, MOST_SPARES) for kind, count in found.items()}


def _set_fresh(writer: Writer, array: Array, extents: Sequence[str]) -> None:
    """Makes new memory the array's, or a spare one."""
    taken = writer.taken_or_spare(array, extents)
    writer.require_reference(taken)
    writer.set(array, taken)


def _run(writer: Writer, functions: Functions, nest: Nest) -> None:
    outcome = writer.call(functions.nests[nest][0], _words(writer, functions, nest, writer.buffer))
    writer.unless(writer.code.emit(f"icmp eq i64 {outcome}, 0"), FAIL)


def _words(writer: Writer, functions: Functions, nest: Nest, buffer: Callable[[Array], str]) -> list[tuple[str, str]]:
    """A nest's block of arguments, given the object of each array."""
    _, frame = functions.nests[nest]
    words = [("i64", str(functions.threads)), ("i64", "0")]
    words += [("ptr", buffer(array)) for array in frame.arrays]
    return words + [("i64", writer.sized(variable)) for variable in frame.sizes]


def _counts(writer: Writer, nest: Nest) -> None:
    """Binds the sizes that a nest found out, and trims what it made to them."""
    routine = writer.routine
    for count in nest.counts:
        found = routine.load("i64", writer.data(writer.buffer(count.array), DATA))
        routine.store("i64", found, writer.size(writer.slots.size(count.variable)))
    variables = {count.variable for count in nest.counts}
    for output in nest.outputs:
        if any(extent.variable in variables for extent in output.array.shape):
            _set_view(writer, output.array, output.array)


def _set_view(writer: Writer, array: Array, source: Array) -> None:
    """Makes the source's first elements the array, under the array's shape."""
    passed = writer.pass_extents(writer.shape(array.shape))
    of = f"ptr {writer.buffer(source)}, {writer.element(array.element)}, i64 {array.element.bytes}"
    view = writer.code.emit(f"call ptr @accel_view({of}, {passed})")
    writer.require_reference(view)
    writer.set(array, view)


def _view(writer: Writer, item: View) -> None:
    for new, old in zip(item.arrays, item.sources, strict=True):
        wanted, given = (writer.product(writer.shape(array.shape)) for array in (new, old))
        writer.unless(writer.code.emit(f"icmp eq i64 {wanted}, {given}"), FAIL)
        # Without elements an extent may be larger than NumPy allows; products of others may be more than a word holds.
        writer.unless(writer.code.emit(f"icmp sgt i64 {wanted}, 0"), FAIL)
        _set_view(writer, new, old)


def _sort(writer: Writer, item: Sort) -> None:
    """Calls a function of Python's, which may be interrupted; where it gives no array, the call begins again."""
    routine, code = writer.routine, writer.code
    number = len(writer.sorts)
    writer.sorts.append(Order(tuple([key.element for key in item.sources]), item.places, item.descending, item.first))
    keys = routine.slot("ptr", len(item.sources))
    for place, key in enumerate(item.sources):
        routine.store("ptr", writer.buffer(key), routine.offset(keys, place))
    passed = f"ptr @{sorter_symbol(number)}, ptr {keys}, i64 {len(item.sources)}, ptr null"
    found = code.emit(f"call ptr @PyObject_Vectorcall({passed})")
    writer.unless(code.emit(f"icmp ne ptr {found}, null"), FAIL)
    writer.set(item.array, found)
    kind = f"{writer.element(item.array.element)}, i64 {len(item.array.shape)}"
    writer.unless(code.emit(f"call i1 @accel_is_of(ptr {found}, {kind})"), FAIL)


def _require_equal(writer: Writer, left: Shape, right: Shape) -> None:
    for one, other in zip(writer.shape(left), writer.shape(right), strict=True):
        writer.unless(writer.code.emit(f"icmp eq i64 {one}, {other}"), FAIL)


def _assign(writer: Writer, item: Assign, dropped: Set[Array] = frozenset()) -> None:
    """All at once: first everything is read. `dropped`: what is dropped next, so that targets among them get nothing, and what
    sources among them refer to is moved."""
    routine, code = writer.routine, writer.code
    shapes = [writer.shape(source.shape) for source in item.sources]
    for target, extents in zip(item.targets, shapes, strict=True):
        for extent, found in zip(target.shape, extents, strict=True):
            if extent.variable is not None:
                size = code.emit(f"sub i64 {found}, {extent.offset}")
                routine.store("i64", size, writer.size(writer.slots.size(extent.variable)))
    pairs = [(new, old) for new, old in zip(item.targets, item.sources, strict=True) if new not in dropped]
    held = [writer.buffer(source) for _, source in pairs]
    targets, uses = {target for target, _ in pairs}, Counter(source for _, source in pairs)
    for (_, source), buffer in zip(pairs, held, strict=True):
        if source in dropped and uses[source] == 1 and source not in targets:
            routine.store("ptr", "null", writer.place(source))
        else:
            code.line(f"call void @Py_IncRef(ptr {buffer})")
    for (target, _), buffer in zip(pairs, held, strict=True):
        writer.set(target, buffer)


def _poll(writer: Writer) -> None:
    """Ends the call if the user has interrupted it."""
    stopped = writer.code.emit("call i64 @accel_poll(ptr %flag)")
    writer.unless(writer.code.emit(f"icmp eq i64 {stopped}, 0"), FAIL)
