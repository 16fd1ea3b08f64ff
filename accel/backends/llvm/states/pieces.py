"""Parts of a staged fold that begin within a block of the order: what chunks leave to be put together in order.

A chunk knows how many elements come before its own, so it fills its first tile from there on. Its *piece* has that tile's
elements, whose block others began; the results of the blocks that are all its own; and the elements of the tile that it leaves
open. Whoever takes the pieces in, one after the other, folds the tiles that they share.

The words of a piece: how its first tile stands, where that begins, how many results there are, where the last tile ends; the
first tile and the last one, for each leaf of the element; the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.states.records import Record, tile_words
from accel.backends.llvm.text.code import memory_type
from accel.backends.llvm.text.routine import Routine
from accel.labelled.meaning.order import BLOCK

_STANDS, _BEGINS, _RESULTS, _ENDS, _HEADER = range(5)
"""Words."""

_OPEN, _OWN, _SAVED = range(3)
"""The first tile: it is not full yet; it is the chunk's alone, as it begins a block; it was full, and is saved."""


def tiles_at(routine: Routine, kinds: Sequence[ScalarType], pointer: str, word: int) -> list[str]:
    """Where the leaves' tiles begin that stand one after the other from that word on."""
    starts = []
    for kind in kinds:
        starts.append(routine.offset(pointer, word))
        word += tile_words(kind)
    return starts


class Pieces:
    """Those of one fold."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._element = record.state.element
        self._tiles = sum(map(tile_words, self._element))
        self._fixed = _HEADER + 2 * self._tiles

    def words(self, routine: Routine, chunk: str) -> str:
        """Of the piece of so many elements, whole blocks."""
        code, leaves = routine.code, self._record.leaves
        blocks = code.emit(f"sdiv i64 {chunk}, {BLOCK}")
        return code.emit(f"add i64 {code.emit(f'mul i64 {blocks}, {leaves}')}, {self._fixed + leaves}")

    # A chunk.

    def begin(self, routine: Routine, pointer: str, piece: str, before: str) -> None:
        """The record begins a chunk, in whose first block so many elements come before its own."""
        record, code = self._record, routine.code
        record.reset(routine, pointer, None)
        routine.store("i64", before, self._counter(routine, pointer))
        routine.store("ptr", piece, self._where(routine, pointer))
        own = code.emit(f"icmp eq i64 {before}, 0")
        words = {_STANDS: code.emit(f"select i1 {own}, i64 {_OWN}, i64 {_OPEN}"), _BEGINS: before, _RESULTS: "0"}
        for word, value in words.items():
            routine.store("i64", value, routine.offset(piece, word))

    def end(self, routine: Routine, pointer: str, piece: str) -> str:
        """The chunk is done; gives how many elements come before the next one's in their block."""
        count = routine.load("i64", self._counter(routine, pointer))
        routine.store("i64", count, routine.offset(piece, _ENDS))
        self._copy(routine, self._own(routine, pointer), self._last(routine, piece), self._open(routine, piece), count)
        return count

    # A full tile.

    @contextmanager
    def folding(self, routine: Routine) -> Iterator[None]:
        """Around what folds the tile in `%record` to a result on its empty stack: a piece has it instead of the stack."""
        code = routine.code
        piece = routine.load("ptr", self._where(routine, "%record"))
        is_chunk = code.emit(f"icmp ne ptr {piece}, null")
        look, save, fold, keep, after = (routine.label() for _ in range(5))
        routine.branch(is_chunk, look, fold)
        routine.place(look)
        stands = routine.offset(piece, _STANDS)
        routine.branch(code.emit(f"icmp eq i64 {routine.load('i64', stands)}, {_OPEN}"), save, fold)
        routine.place(save)
        begins = routine.load("i64", routine.offset(piece, _BEGINS))
        self._copy(routine, self._own(routine, "%record"), self._first(routine, piece), begins, str(BLOCK))
        routine.store("i64", str(_SAVED), stands)
        routine.jump(after)
        routine.place(fold)
        yield
        routine.branch(is_chunk, keep, after)
        routine.place(keep)
        results = routine.offset(piece, _RESULTS)
        number = routine.load("i64", results)
        self._record.store(
            routine,
            [str(routine.load(type_, routine.offset("%record", 1 + leaf))) for leaf, type_ in self._leaves()],
            self._result(routine, piece, number),
            0,
        )
        routine.store("i64", code.emit(f"add i64 {number}, 1"), results)
        routine.store("i64", "0", "%record")
        routine.jump(after)
        routine.place(after)

    # All chunks.

    def absorb(self, routine: Routine, pointer: str, piece: str) -> None:
        """The record takes in the piece of the next chunk."""
        record, code = self._record, routine.code
        own, counter = self._own(routine, pointer), self._counter(routine, pointer)
        stands = routine.load("i64", routine.offset(piece, _STANDS))
        with routine.when(code.emit(f"icmp eq i64 {stands}, {_SAVED}")):
            begins = routine.load("i64", routine.offset(piece, _BEGINS))
            self._copy(routine, self._first(routine, piece), own, begins, str(BLOCK))
            routine.store("i64", str(BLOCK), counter)
            code.line(f"call void @{record.name}_tile(ptr %frame, ptr {pointer})")
        with routine.count("0", routine.load("i64", routine.offset(piece, _RESULTS))) as number:
            record.push(routine, pointer, self._result(routine, piece, number))
        ends = routine.load("i64", routine.offset(piece, _ENDS))
        self._copy(routine, self._last(routine, piece), own, self._open(routine, piece), ends)
        routine.store("i64", ends, counter)

    # Places.

    def _leaves(self) -> list[tuple[int, str]]:
        return list(enumerate(self._record.types))

    def _counter(self, routine: Routine, pointer: str) -> str:
        return routine.offset(pointer, self._record.extra)

    def _where(self, routine: Routine, pointer: str) -> str:
        return routine.offset(pointer, self._record.piece)

    def _own(self, routine: Routine, pointer: str) -> list[str]:
        return tiles_at(routine, self._element, pointer, self._record.tiles)

    def _first(self, routine: Routine, piece: str) -> list[str]:
        return tiles_at(routine, self._element, piece, _HEADER)

    def _last(self, routine: Routine, piece: str) -> list[str]:
        return tiles_at(routine, self._element, piece, _HEADER + self._tiles)

    def _open(self, routine: Routine, piece: str) -> str:
        """Where the chunk's own elements of its last tile begin: that may be its first one."""
        code = routine.code
        is_first = code.emit(f"icmp eq i64 {routine.load('i64', routine.offset(piece, _STANDS))}, {_OPEN}")
        return code.emit(f"select i1 {is_first}, i64 {routine.load('i64', routine.offset(piece, _BEGINS))}, i64 0")

    def _result(self, routine: Routine, piece: str, number: str) -> str:
        words = routine.code.emit(f"mul i64 {number}, {self._record.leaves}")
        return routine.offset(piece, routine.code.emit(f"add i64 {words}, {self._fixed}"))

    def _copy(self, routine: Routine, source: Sequence[str], target: Sequence[str], low: str, high: str) -> None:
        """The elements from `low` on and before `high`, to the same places of other tiles."""
        code = routine.code
        count = code.emit(f"sub i64 {high}, {low}")
        for kind, one, other in zip(self._element, source, target, strict=True):
            type_ = memory_type(kind)
            begin, end = (code.emit(f"getelementptr {type_}, ptr {tile}, i64 {low}") for tile in (one, other))
            routine.copy(end, begin, code.emit(f"mul i64 {count}, {kind.bytes}"))


def chunk_words(every: Mapping[str, Pieces], routine: Routine, chunk: str) -> str:
    """Of all pieces of a chunk of so many iterations."""
    words = "0"
    for pieces in every.values():
        words = routine.code.emit(f"add i64 {words}, {pieces.words(routine, chunk)}")
    return words


def chunk_places(every: Mapping[str, Pieces], routine: Routine, start: str, chunk: str, number: str) -> dict[str, str]:
    """Where the pieces of chunk `number` are, by state."""
    if not every:
        return {}
    place = routine.offset(start, routine.code.emit(f"mul i64 {number}, {chunk_words(every, routine, chunk)}"))
    found: dict[str, str] = {}
    for name, pieces in every.items():
        found[name] = place
        place = routine.offset(place, pieces.words(routine, chunk))
    return found
