"""LLVM text of a selection: where the first few elements of each row stand, in order, as `topK` wants them.

The best so far of a row are kept in order. A block of elements is divided into groups, a lane for each, of which the best are
found without a branch. If none of these comes before the last that is kept, the block is done. Otherwise nothing is wanted that
comes behind as many of these as are wanted; the few others go to their places among those that are kept, from the first to the
last, so that of equal ones none goes before an earlier one.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, ScalarType
from accel.backends.llvm.emit.hits import first_hit, first_lane
from accel.backends.llvm.emit.lanes.pairs import joined
from accel.backends.llvm.emit.values import Lanes, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.processor import REGISTER_BYTES
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES
from accel.backends.llvm.sorting.kept import Kept
from accel.backends.llvm.sorting.selection_frame import Word
from accel.backends.llvm.states.row_places import compared_as
from accel.backends.llvm.text.code import METADATA, from_memory, memory_type
from accel.backends.llvm.text.routine import Routine

MOST_LANES = 16

GROUPS = 64
"""Into which a block is divided, of which each has a lane: several times as many as are wanted, or as many at least."""

BLOCK_BYTES = 8192
"""Elements of a block, which is read twice."""


STEP = 4096
"""Blocks after which it looks whether the user has interrupted: some milliseconds."""


def selection_text(kind: ScalarType, descending: bool) -> str:
    """The module of `@select`, from a frame to 0, or something else if it was interrupted; for elements of `kind`."""
    whole = Routine("i64 @select(ptr %frame)")
    rows, chunk, threads = (_word(whole, word) for word in (Word.ROWS, Word.CHUNK, Word.THREADS))
    # Some nanosecond for each element.
    time = whole.code.emit(f"sitofp i64 {whole.code.emit(f'mul i64 {rows}, {_word(whole, Word.COUNT)}')} to double")
    whole.code.declare("i64", "accel_run", "ptr, ptr, i64, i64, i64, double")
    whole.code.line(f"ret i64 {whole.run_chunks('@select_rows', '%frame', rows, chunk, threads, time)}")
    some = Routine("internal void @select_rows(ptr %frame, i64 %low, i64 %high)")
    _Selection(some, kind, descending).write()
    declarations = {**whole.code.declarations, **some.code.declarations}
    return "\n".join([some.text(), whole.text(), *declarations.values(), HOST_ATTRIBUTES, METADATA])


def _word(routine: Routine, word: Word) -> str:
    return routine.load("i64", routine.offset("%frame", int(word)))


class _Selection:
    """The rows low .. high-1."""

    def __init__(self, routine: Routine, kind: ScalarType, descending: bool) -> None:
        self._routine, self._kind, self._descending = routine, kind, descending
        self._key = compared_as(kind)
        self._one = Writer(routine.code, 1)
        self._vectors = Writer(routine.code, min(MOST_LANES, REGISTER_BYTES // max(self._key.bytes, kind.bytes)))
        self._type, self._vector = self._one.code.type(self._key), self._vectors.code.type(self._key)
        self._groups = routine.slot(f"[{GROUPS} x {self._type}]", align=64)
        self._ranks = self._vectors.code.vector("i32")
        self._count, self._first = _word(routine, Word.COUNT), _word(routine, Word.FIRST)
        self._kept = Kept(routine, self._key, self._before, self._first)
        self._bound, self._limit = routine.slot(self._type), routine.slot(self._type)
        self._equal = routine.slot("i1")

    def write(self) -> None:
        """All of them, one after the other; of rows of fewer elements than groups the first are kept before all else."""
        routine, code, size = self._routine, self._routine.code, BLOCK_BYTES // self._key.bytes
        code.declare("i64", "accel_poll", "ptr", "cold")
        source, result = (
            code.emit(f"inttoptr i64 {_word(routine, word)} to ptr") for word in (Word.SOURCE, Word.RESULT)
        )
        few = code.emit(f"icmp slt i64 {self._count}, {GROUPS}")
        begin = code.emit(f"select i1 {few}, i64 {self._first}, i64 0")
        with routine.count("%low", "%high") as number:
            before = code.emit(f"mul i64 {number}, {self._count}")
            row = code.emit(f"getelementptr {memory_type(self._kind)}, ptr {source}, i64 {before}")
            places = code.emit(f"getelementptr i64, ptr {result}, i64 {before}")
            self._kept.begin()
            with routine.count("0", begin) as place:
                self._kept.take(self._load_one(row, place), place)
            with routine.count(begin, self._count, size) as start:
                end = routine.least(code.emit(f"add i64 {start}, {size}"), self._count)
                self._block(row, start, end)
                number_of_block = code.emit(f"udiv i64 {start}, {size}")
                due = code.emit(f"icmp eq i64 {code.emit(f'and i64 {number_of_block}, {STEP - 1}')}, {STEP - 1}")
                with routine.when(due):
                    stopped = code.emit("call i64 @accel_poll(ptr %frame)")
                    routine.leave(code.emit(f"icmp ne i64 {stopped}, 0"), "void")
            self._kept.write(places)
        code.line("ret void")

    def _block(self, row: str, start: str, end: str) -> None:
        """Elements start .. end-1 of a row; fewer than groups only where as many are kept as are wanted."""
        routine, code = self._routine, self._routine.code
        many, few, bounded, scan, after = (routine.label() for _ in range(5))
        routine.branch(code.emit(f"icmp sge i64 {code.emit(f'sub i64 {end}, {start}')}, {GROUPS}"), many, few)
        routine.place(many)
        some = self._divide(row, start, end)
        routine.branch(code.emit(f"select i1 {self._kept.enough()}, i1 {some}, i1 true"), bounded, after)
        routine.place(bounded)
        self._find_bound()
        routine.jump(scan)
        routine.place(few)
        routine.store(self._type, self._one.one(self._kept.last()), self._bound)
        routine.jump(scan)
        routine.place(scan)
        self._scan(row, start, end)
        routine.jump(after)
        routine.place(after)

    def _divide(self, row: str, start: str, end: str) -> str:
        """The best of each group of elements; whether one of them comes before the last that is kept: an i1."""
        routine, code, lanes = self._routine, self._routine.code, self._vectors.lanes
        slots = [routine.slot(self._vector, align=64) for _ in range(GROUPS // lanes)]
        position = routine.slot("i64")

        def elements(at: str, number: int) -> str:
            return code.emit(f"add i64 {at}, {number * lanes}")

        for number, slot in enumerate(slots):
            routine.store(self._vector, self._vectors.every(self._load(row, elements(start, number), None)), slot)
        routine.store("i64", code.emit(f"add i64 {start}, {GROUPS}"), position)
        with routine.advance(position, code.emit(f"sub i64 {end}, {GROUPS - 1}"), GROUPS) as at:
            for number, slot in enumerate(slots):
                self._improve(slot, self._load(row, elements(at, number), None), None)
        rest = routine.load("i64", position)
        for number, slot in enumerate(slots):
            at = elements(rest, number)
            left = code.emit(f"sub i64 {end}, {at}")
            with routine.when(code.emit(f"icmp sgt i64 {left}, 0")):
                active = self._vectors.first_lanes(left)
                self._improve(slot, self._load(row, at, active), active)
        last, masks = self._kept.last(), list[str]()
        for number, slot in enumerate(slots):
            best = routine.load(self._vector, slot)
            routine.store(self._vector, best, self._group(number * lanes))
            masks.append(self._vectors.every(self._before(self._vectors, Lanes(best, self._key), last)))
        bits = self._vectors.code.vector("i1")
        return self._vectors.any(joined(masks, lambda one, other: code.emit(f"or {bits} {one}, {other}")))

    def _improve(self, slot: str, element: Value, active: str | None) -> None:
        """In each lane that is active the better one of what is in the slot and an element."""
        held: Value = Lanes(self._routine.load(self._vector, slot), self._key)
        better = self._vectors.every(self._before(self._vectors, element, held))
        taken = self._vectors.select(self._vectors.both(active, better) or better, element, held)
        self._routine.store(self._vector, self._vectors.every(taken), slot)

    def _find_bound(self) -> None:
        """The worst of those of the groups that fewer others come before than are wanted: nothing behind it is wanted."""
        routine, code, lanes = self._routine, self._routine.code, self._vectors.lanes
        ranks = [routine.slot(self._ranks, align=64) for _ in range(GROUPS // lanes)]
        for slot in ranks:
            routine.store(self._ranks, "zeroinitializer", slot)
        with routine.count("0", str(GROUPS)) as number:
            other: Value = Uniform(routine.load(self._type, self._group(number)), self._key)
            for place, slot in enumerate(ranks):
                before = self._vectors.every(self._before(self._vectors, other, self._vector_of(place)))
                one = code.emit(f"zext {self._vectors.code.vector('i1')} {before} to {self._ranks}")
                routine.store(
                    self._ranks, code.emit(f"add {self._ranks} {routine.load(self._ranks, slot)}, {one}"), slot
                )
        wanted = self._vectors.splat(code.emit(f"trunc i64 {self._first} to i32"), "i32")
        kept, none, masks = list[str](), self._vectors.code.splat("i32", "-1"), self._vectors.code.vector("i1")
        for slot in ranks:
            rank = routine.load(self._ranks, slot)
            inside = code.emit(f"icmp slt {self._ranks} {rank}, {wanted}")
            kept.append(code.emit(f"select {masks} {inside}, {self._ranks} {rank}, {self._ranks} {none}"))
        greatest = self._vectors.splat(self._greatest(kept), "i32")
        for place, rank in enumerate(kept):
            stands = code.emit(f"icmp eq {self._ranks} {rank}, {greatest}")
            with routine.when(self._vectors.any(stands)):
                number = code.emit(f"add i64 {first_lane(self._vectors, stands)}, {place * lanes}")
                bound = routine.load(self._type, self._group(number))
                routine.store(self._type, bound, self._bound)

    def _greatest(self, ranks: Sequence[str]) -> str:
        """The greatest of all lanes."""
        code, found = self._routine.code, list[str]()
        for rank in ranks:
            name = f"llvm.vector.reduce.smax.v{self._vectors.lanes}i32"
            found.append(code.call(name, "i32", [self._ranks], [f"{self._ranks} {rank}"]))
        return joined(
            found, lambda one, other: code.call("llvm.smax.i32", "i32", ["i32", "i32"], [f"i32 {one}", f"i32 {other}"])
        )

    def _vector_of(self, place: int) -> Value:
        """The best of some groups."""
        where = self._group(place * self._vectors.lanes)
        return Lanes(self._routine.load(self._vector, where), self._key)

    def _scan(self, row: str, start: str, end: str) -> None:
        """Keeps those of elements start .. end-1 that are wanted, as far as is known when they are reached."""
        routine, code = self._routine, self._routine.code
        position, hit = routine.slot("i64"), routine.slot("i64")
        routine.store("i64", start, position)
        seek, found, after = (routine.label() for _ in range(3))
        routine.jump(seek)
        routine.place(seek)
        self._set_limit()
        limit: Value = Uniform(routine.load(self._type, self._limit), self._key)
        equal = self._vectors.splat(routine.load("i1", self._equal), "i1")

        def wanted(at: str, active: str | None) -> str:
            element = self._load(row, at, active)
            behind = self._vectors.every(self._before(self._vectors, limit, element))
            masks = self._vectors.code.vector("i1")
            level = code.emit(f"xor {masks} {behind}, {self._vectors.code.splat('i1', 'true')}")
            level = code.emit(f"and {masks} {level}, {equal}")
            return code.emit(f"or {masks} {level}, {self._vectors.every(self._before(self._vectors, element, limit))}")

        routine.store("i64", end, hit)
        first_hit(routine, self._vectors, wanted, position, end, hit)
        place = routine.load("i64", hit)
        routine.branch(code.emit(f"icmp slt i64 {place}, {end}"), found, after)
        routine.place(found)
        self._kept.take(self._load_one(row, place), place)
        routine.store("i64", code.emit(f"add i64 {place}, 1"), position)
        routine.jump(seek)
        routine.place(after)

    def _set_limit(self) -> None:
        """Wanted is what comes before the last that is kept, or, as long as the bound comes before that, also what is equal to
        the bound."""
        routine, code = self._routine, self._routine.code
        bound: Value = Uniform(routine.load(self._type, self._bound), self._key)
        last, enough = self._kept.last(), self._kept.enough()
        worse = self._one.one(self._before(self._one, bound, last))
        equal = code.emit(f"select i1 {enough}, i1 {worse}, i1 true")
        limit = code.emit(f"select i1 {equal}, {self._type} {self._one.one(bound)}, {self._type} {self._one.one(last)}")
        routine.store(self._type, limit, self._limit)
        routine.store("i1", equal, self._equal)

    def _group(self, number: str | int) -> str:
        """Where the best of the group of that number stands."""
        return self._routine.code.emit(f"getelementptr {self._type}, ptr {self._groups}, i64 {number}")

    def _before(self, writer: Writer, element: Value, held: Value) -> Value:
        """Whether an element comes before one that is held: NaNs are greater than all else, and equal to each other."""
        beats = writer.operator(Operator.GT if self._descending else Operator.LT, BOOL, [element, held])
        if not self._key.is_float:
            return beats
        greater, less = (element, held) if self._descending else (held, element)
        nan = writer.operator(Operator.NE, BOOL, [greater, greater])
        number = writer.operator(Operator.EQ, BOOL, [less, less])
        return writer.operator(Operator.OR, BOOL, [beats, writer.operator(Operator.AND, BOOL, [nan, number])])

    def _address(self, row: str, place: str) -> str:
        return self._routine.code.emit(f"getelementptr {memory_type(self._kind)}, ptr {row}, i64 {place}")

    def _load_one(self, row: str, place: str) -> Value:
        """The element at a place, as it is compared."""
        loaded = self._routine.load(memory_type(self._kind), self._address(row, place))
        element = Uniform(from_memory(self._one.code, self._kind, loaded), self._kind)
        return self._one.operator(Operator.CAST, self._key, [element])

    def _load(self, row: str, place: str, active: str | None) -> Value:
        """The elements from a place on, where the mask is set, as they are compared."""
        code, address = self._vectors.code, self._address(row, place)
        vector, mask = code.vector(memory_type(self._kind)), code.vector("i1")
        if active is None:
            text = code.emit(f"load {vector}, ptr {address}, align {self._kind.bytes}")
        else:
            scalar = {"float": "f32", "double": "f64"}.get(memory_type(self._kind), memory_type(self._kind))
            name = f"llvm.masked.load.v{code.lanes}{scalar}.p0"
            code.declare(vector, name, f"ptr, {mask}, {vector}")
            where = f"ptr align {self._kind.bytes} {address}"
            text = code.emit(f"call {vector} @{name}({where}, {mask} {active}, {vector} zeroinitializer)")
        return self._vectors.operator(
            Operator.CAST, self._key, [Lanes(from_memory(code, self._kind, text), self._kind)]
        )
