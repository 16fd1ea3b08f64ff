"""What loops and branches read of the arrays around them: which of these are stored, and which are made again inside.

What a loop does not change is moved before it (`invariants.py`), and what was made before a loop or a branch is read from
memory there. So this pass decides of each such array, for each operation that reads it, whether it is worth that. These are
stored:

* what takes more than two simple operations for an element, or is more than a function of an element: folds, gathers,
  copies of slices;
* what reads as many bytes as it makes or more, but for those that the loop reads anyway; where only branches use an array
  and all can make it, what reads more;
* what is scanned, unless it is a constant, and indices of gathers: scans and gathers take longer if they compute what they
  read;
* what looks at its index along rows that are known to be short: one loop over all elements is faster than many short ones.

Everything else is made again by each operation that reads it in order: constants, indices, converted types. Maps have it in
their functions, folds, filters and scatters beside them. What only spreads an array, as `replicate` does, has more elements
than it reads, of a product of n x n matrices n^3, and is made again whoever reads it in order, with what only moves that.
docs/labelled.md has what was measured.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import replace

from accel.ast.tree.operators import COMPARISONS, Operator
from accel.labelled import programs, rewrite
from accel.labelled.array import Array, Label
from accel.labelled.nodes import Acond, Backpermute, Binding, Operation, Program, Reshape
from accel.labelled.operations import Flag, Kind, Role, describe, parts, with_parts
from accel.labelled.passes.dependence import Names
from accel.labelled.passes.inline import with_stream
from accel.labelled.passes.shapes.bounds import reads_inside
from accel.labelled.passes.shapes.whole_folds import is_blind
from accel.labelled.scalar import Compute, Function, Load, Statement
from accel.support.dataclass import dataclass

_SHIFTS = frozenset({Operator.ADD, Operator.SUB})

_SIMPLE = COMPARISONS | {
    Operator.ADD, Operator.SUB, Operator.MUL, Operator.FMA, Operator.NEG, Operator.ABS, Operator.CAST, Operator.SELECT,
    Operator.AND, Operator.OR, Operator.XOR, Operator.NOT,
}  # fmt: skip
"""Operators that take an instruction or two for a vector of elements."""

_OPERATIONS = 2
"""The most of them for an element that is not stored: about as long as loading it takes from a second cache."""

_LENGTH = 8
"""The most bindings that are made again for one array."""

_SHORT = 16
"""Rows of fewer elements run slower as loops of their own than as a part of one loop over all rows."""

_MAKERS = frozenset({Kind.GENERATE, Kind.MAP, Kind.GATHER})

_PLAIN = frozenset({Kind.MAP, Kind.FOLD, Kind.FILTER, Kind.SCATTER})
"""Operations that read what is computed as fast as what they load. Gathers of data wait for their indices."""


def make_again(program: Program) -> Program:
    """The program whose loops and branches make what is not worth storing. Labels no longer rise; what is unused stays."""
    return _Again(Names(program)).program(program, ChainMap(), _Readers(program), frozenset())


@dataclass(frozen=True, slots=True)
class _Maker:
    """A binding that may be made again: by `work` operations for an element and `length` bindings, from `sources` in memory.

    spreads: it only spreads an array, whose bytes are few beside its own, or moves such a one.
    """

    binding: Binding
    work: int
    length: int
    sources: frozenset[Array]
    spreads: bool


_Makers = ChainMap[Label, _Maker]
"""By their labels, from the part that they stand in to the outermost."""


@dataclass(frozen=True, slots=True)
class _Again:
    names: Names

    def program(self, part: Program, around: _Makers, readers: _Readers, chosen: frozenset[Label]) -> Program:
        """`around`: what may be made again of what stands around the part. `chosen`: that of it which nothing needs stored if
        its readers in two branches make it. It recurses on nested control flow only.
        """
        known = around.new_child()
        bindings: list[Binding] = []
        for binding in part.bindings:
            if parts(binding.operation):
                bindings.append(replace(binding, operation=self._inside(binding, known, readers)))
                continue
            reader = _renamed(binding, around)
            again = [
                label
                for label in _read_in_order(reader, around)
                if not readers.store(reader, label, around, label in chosen)
            ]
            made = self._with_makers(reader, again, around)
            bindings += made
            for each in made:
                maker = _maker(each, known)
                if maker is not None:
                    known[each.label] = maker
        return replace(part, bindings=tuple(bindings))

    def _inside(self, binding: Binding, known: _Makers, readers: _Readers) -> Operation:
        """An operation whose parts make again what is `known` around them."""
        inner = [_Readers(part) for part in parts(binding.operation)]
        chosen = frozenset(
            label
            for label in readers.used_alone(binding)
            if label in known.maps[0] and all(each.make_again(label, known) for each in inner)
        )
        pending = iter(inner)
        return with_parts(binding.operation, lambda part: self.program(part, known, next(pending), chosen))

    def _with_makers(self, reader: Binding, wanted: Iterable[Label], around: _Makers) -> list[Binding]:
        """A binding that makes what is `wanted` again, after what is made again for it alone: shared with others, that would
        have to be stored in each turn. It recurses no more often than there are bindings to make an array.
        """
        before: list[Binding] = []
        again: dict[Label, Label] = {}
        pending = list(wanted)
        while pending:
            maker = around[pending.pop()]
            read = _read_in_order(maker.binding, around)
            if not maker.spreads and Flag.TAKES_INDEX in describe(reader.operation).flags:
                reader = with_stream(reader, maker.binding)
                pending += read
            elif maker.binding.label not in again:
                own = again[maker.binding.label] = self.names.label()
                arrays = tuple([replace(array, label=own) for array in maker.binding.arrays])
                before += self._with_makers(replace(maker.binding, label=own, arrays=arrays), read, around)
        return [*before, _reading(reader, around, again)]


class _Readers:
    """Who reads what in a part: who uses each array, what is read in order, and which bindings make what a scan reads."""

    def __init__(self, part: Program) -> None:
        self._streams: set[Array] = set()
        self._scanned: set[Label] = set()
        self._users: dict[Label, list[Binding]] = {}
        self._given = {array.label for array in part.results}
        for binding in part.bindings:
            for label in {array.label for array in programs.consumed(binding.operation)}:
                self._users.setdefault(label, []).append(binding)
        for binding in reversed(part.bindings):
            described = describe(binding.operation)
            streams = described.read(Role.STREAM)
            self._streams.update(streams)
            if described.kind is Kind.SCAN or (described.kind is Kind.MAP and binding.label in self._scanned):
                self._scanned.add(binding.label)
                self._scanned.update(array.label for array in streams)

    def used_alone(self, user: Binding) -> list[Label]:
        """What nothing but `user` uses, branches of which one runs."""
        if not isinstance(user.operation, Acond):
            return []
        used = dict.fromkeys(array.label for array in programs.consumed(user.operation))
        return [label for label in used if len(self._users[label]) == 1 and label not in self._given]

    def make_again(self, label: Label, makers: _Makers) -> bool:
        """Whether every binding that uses an array can just as well make it."""
        if label in self._given:
            return False
        users = self._users.get(label, [])
        return all(label in _read_in_order(user, makers) and not self._waits(user, makers[label]) for user in users)

    def _waits(self, reader: Binding, maker: _Maker) -> bool:
        """Whether `reader` takes longer if it computes what it reads."""
        if describe(reader.operation).kind not in _PLAIN or (maker.work and reader.label in self._scanned):
            return True
        *_, inner = shape = maker.binding.arrays[0].shape
        return len(shape) > 1 and inner.variable is None and inner.offset < _SHORT and not _is_blind(maker.binding)

    def store(self, reader: Binding, label: Label, around: _Makers, chosen: bool) -> bool:
        """Whether `reader` had better load what it reads in order of `label`."""
        maker = around[label]
        if maker.spreads or self._waits(reader, maker):
            return not maker.spreads
        own = {array for array in describe(reader.operation).read(Role.STREAM) if array.label == label}
        saved = _bits(own) - _bits(maker.sources - self._streams)
        return saved < 0 if chosen else saved <= 0


def _maker(binding: Binding, known: _Makers) -> _Maker | None:
    """How a binding may be made again; `known` has those that it may read."""
    described = describe(binding.operation)
    if described.kind not in _MAKERS or not described.functions or not binding.arrays[0].shape:
        return None
    read = [known[label] for label in _read_in_order(binding, known)]
    length = 1 + sum(maker.length for maker in read)
    (function,) = described.functions
    if described.kind is Kind.GATHER:
        spreads = Flag.SHRINKING not in described.flags or any(maker.spreads for maker in read)
        possible = spreads and _is_shift(function) and reads_inside(binding)
        work, sources = 0, frozenset[Array]()
    else:
        spreads = False
        own = _work(function.body.statements)
        work = own + sum(maker.work for maker in read)
        possible = work <= _OPERATIONS
        stored = [array for array in described.arrays if array.label not in known]
        sources = frozenset(stored).union(*(maker.sources for maker in read))
    return _Maker(binding, work, length, sources, spreads) if possible and length <= _LENGTH else None


def _work(statements: Iterable[Statement]) -> int:
    """The number of scalar operations; more than may be made again if there are others than simple ones."""
    count = 0
    for statement in statements:
        match statement:
            case Compute(_, operator) if operator in _SIMPLE:
                count += 1
            case Load(index=()):
                pass  # the same for all elements
            case _:
                return 1 + _OPERATIONS
    return count


def _bits(arrays: Iterable[Array]) -> int:
    """The bits of an element of each."""
    return sum(array.element.bits for array in arrays if array.shape)


def _is_blind(binding: Binding) -> bool:
    """Whether a generate or map does not look at its index."""
    return all(is_blind(function, len(binding.arrays[0].shape)) for function in programs.functions(binding.operation))


def _renamed(binding: Binding, around: _Makers) -> Binding:
    """A binding that makes an array in `around` with extents of other names, which a check before it has found equal.

    Such a check's result is a `Reshape` that comes after it (`shapes/reshapes.py`). Other bindings stay what they are.
    """
    operation = binding.operation
    if not isinstance(operation, Reshape) or not binding.after or len(binding.arrays) > 1:
        return binding
    (array,) = operation.inputs
    maker = around.get(array.label)
    if maker is None or not isinstance(maker.binding.operation, Backpermute):
        return binding
    inputs = (maker.binding.operation.inputs[maker.binding.arrays.index(array)],)
    return replace(
        binding,
        operation=replace(maker.binding.operation, inputs=inputs, inside=True),
        after=tuple(dict.fromkeys((*maker.binding.after, *binding.after))),
    )


def _is_shift(function: Function) -> bool:
    """Whether coordinates are kept, left out, and moved by an extent at most."""
    statements = function.body.statements
    return len(statements) <= len(function.body.results) and all(
        isinstance(statement, Compute) and statement.operator in _SHIFTS for statement in statements
    )


def _read_in_order(binding: Binding, makers: _Makers) -> list[Label]:
    """Those of the makers whose arrays a binding reads element by element, and not by index as well.

    A backpermute may read one element many times: of these it reads in order what only spreads an array, which costs nothing.
    """
    described = describe(binding.operation)
    other = {array.label for function in described.functions for array in programs.loaded(function)}
    read: dict[Label, None] = {}
    for array, role in described.reads:
        maker = makers.get(array.label)
        if maker is None:
            continue
        moved = role is Role.SOURCE and maker.spreads and isinstance(binding.operation, Backpermute)
        if role is Role.STREAM or moved:
            read[array.label] = None
        else:
            other.add(array.label)
    return [label for label in read if label not in other]


def _reading(binding: Binding, makers: _Makers, again: Mapping[Label, Label]) -> Binding:
    """The binding, reading in order what was made again."""
    labels = {label: again[label] for label in _read_in_order(binding, makers) if label in again}
    return replace(binding, operation=rewrite.reading(binding.operation, labels))
