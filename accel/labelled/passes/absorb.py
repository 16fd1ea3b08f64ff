"""Makers moved into the one operation that loads them, where each of their elements is loaded once.

In: a program that is ready to be planned. Out: one of as many scalar operations, with fewer arrays: of
`append(map(f, xs), map(g, ys))` nothing is left but a loop that computes f or g. A load by index waits for the whole array, so
clustering could not fuse it; and since the work is done as often as before, and no larger arrays are kept for it, there is
nothing to choose.

A maker (generate, map, backpermute, gather) moves into a generate or map if
  * that one alone uses it, by loads of one index, in no loop of its scalar code, in the same body;
  * the index is one to one: with each index of the loop one of its coordinates moves, step by step;
  * of a load that may be out of bounds, something is left that is checked in its place (`inline.py`);
  * what the maker reads is in memory anyway, or no larger than what it makes, and no scatter overwrites it;
  * the code stays small: nested appends make nested choices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from math import inf
from typing import TypeAlias

from accel.ast.tree.operators import Operator
from accel.labelled import programs
from accel.labelled.array import Array, Label
from accel.labelled.nodes import Binding, Copy, Program
from accel.labelled.number import number
from accel.labelled.operations import Flag, Kind, Role, describe, with_parts
from accel.labelled.passes.inline import inlined
from accel.labelled.scalar import Block, Compute, Function, If, Load, Operand, Variable, While
from accel.support.dataclass import dataclass

_STATEMENTS = 256
"""The most statements of a function that others move into."""

_DEPTH = 12
"""How deep its choices nest at most."""


def absorb(program: Program) -> Program:
    """The program without makers that moved into their readers; itself if there are none."""
    absorbing = _Absorbing(overwritten(program))
    made = absorbing.program(program)
    return number(made) if absorbing.any else program


def overwritten(program: Program) -> frozenset[Array]:
    """What scatters destroy, and copies may take, with all that is a view of it."""
    bindings = [binding for each in programs.programs(program) for binding in each.bindings]
    root: dict[Array, Array] = {}
    taken: set[Array] = set()
    for binding in bindings:
        described = describe(binding.operation)
        if Flag.VIEW in described.flags:
            for view, seen in zip(binding.arrays, described.arrays, strict=True):
                root[view] = root.get(seen, seen)
        taken.update(described.read(Role.DESTINATION))
        if isinstance(binding.operation, Copy) and binding.operation.last:
            taken.update(binding.operation.inputs)
    gone = {root.get(array, array) for array in taken}
    return frozenset(gone).union(view for view, seen in root.items() if seen in gone)


@dataclass(slots=True)
class _Absorbing:
    overwritten: frozenset[Array]
    any: bool = False

    def program(self, program: Program) -> Program:
        """It recurses on nested control flow only."""
        bodies = [replace(each, operation=with_parts(each.operation, self.program)) for each in program.bindings]
        body = _Body({each.label: each for each in bodies}, self.overwritten)
        body.count(program.results, bodies)
        for binding in bodies:
            if _is_computed(binding):
                self.any |= body.absorb(binding.label)
        return replace(program, bindings=tuple(body.bindings.values()))


@dataclass(slots=True)
class _Body:
    """One body being rewritten: its bindings, who uses each, and how much memory each array needs that is not there anyway."""

    bindings: dict[Label, Binding]
    overwritten: frozenset[Array]
    users: dict[Label, set[Label | None]] = field(default_factory=dict)
    in_bulk: Counter[Label] = field(default_factory=Counter)
    loads: Counter[Label] = field(default_factory=Counter)
    needs: dict[Label, float] = field(default_factory=dict)

    def count(self, results: Iterable[Array], bindings: Sequence[Binding]) -> None:
        """Note who uses what, and what that needs."""
        for array in results:
            self.users.setdefault(array.label, set()).add(None)
        for binding in bindings:
            described = describe(binding.operation)
            for array in (*described.arrays, *programs.used_inside(binding.operation)):
                self.in_bulk[array.label] += 1
                self.users.setdefault(array.label, set()).add(binding.label)
            for function in described.functions:
                for array in programs.loaded(function):
                    self.users.setdefault(array.label, set()).add(binding.label)
                    self.loads[array.label] += 1
        for binding in bindings:
            self.needs[binding.label] = self._need(binding)

    def _need(self, binding: Binding) -> float:
        """Bytes for each index, if this is to be read by index: none, if it is in memory anyway."""
        kind = describe(binding.operation).kind
        used = self.users.get(binding.label, set())
        if kind in (Kind.BARRIER, Kind.SCATTER) or None in used or (self.loads[binding.label] and len(used) > 1):
            return 0
        own = sum(array.element.bits for array in binding.arrays)
        return min(own, self._inputs(binding)) if _is_maker(binding) and len(used) == 1 else own

    def _inputs(self, maker: Binding) -> float:
        """What its inputs need; more than there is if one is overwritten."""
        read = programs.reads(maker.operation)
        if not self.overwritten.isdisjoint(read):
            return inf
        return sum(self.needs.get(label, 0) for label in {array.label for array in read})

    def absorb(self, label: Label) -> bool:
        """Move makers into a generate or map, and theirs into it; whether there were any."""
        found = False
        while (maker := self._next(self.bindings[label])) is not None:
            reader = inlined(self.bindings[label], maker)
            del self.bindings[maker.label]
            self.bindings[label] = reader
            for array in programs.reads(maker.operation):
                users = self.users[array.label]
                users.discard(maker.label)
                users.add(label)
            self.in_bulk.subtract(array.label for array in describe(maker.operation).arrays)
            found = True
        return found

    def _next(self, reader: Binding) -> Binding | None:
        """A maker that may move into `reader`."""
        (function,) = describe(reader.operation).functions
        rank = len(reader.arrays[0].shape)
        for label, place in _loads(function, function.parameters[:rank]).items():
            maker = self.bindings.get(label)
            if maker is None or place is None or not _is_maker(maker):
                continue
            alone = self.users[label] == {reader.label} and not self.in_bulk[label]
            small = _size(function) + _size_of(maker) <= _STATEMENTS and place.depth + _depth_of(maker) <= _DEPTH
            checked = place.inside or Role.STREAM in {role for _, role in describe(maker.operation).reads}
            if alone and small and checked and self._inputs(maker) <= sum(a.element.bits for a in maker.arrays):
                return maker
        return None


def _is_maker(binding: Binding) -> bool:
    return _is_computed(binding) or describe(binding.operation).kind is Kind.GATHER


def _is_computed(binding: Binding) -> bool:
    """Whether it is a generate or a map: a function of the index."""
    described = describe(binding.operation)
    return Flag.TAKES_INDEX in described.flags and described.kind in (Kind.GENERATE, Kind.MAP)


_Coordinates: TypeAlias = frozenset[Variable] | None
"""The coordinate that a number moves with, step by step up or down; none, if it is the same everywhere; None: not known."""


@dataclass(frozen=True, slots=True)
class _Place:
    """How an array is loaded: by which index, whether that is known to be in bounds, under how many choices."""

    index: tuple[Operand, ...]
    block: int
    depth: int
    inside: bool


def _loads(function: Function, index: tuple[Variable, ...]) -> Mapping[Label, _Place | None]:
    """Where a function loads each array, if that is one place, and one to one."""
    found: dict[Label, _Place | None] = {}
    moves: dict[Variable, _Coordinates] = {variable: frozenset({variable}) for variable in index}
    pending = [(function.body, 0, False)]
    while pending:
        block, depth, loops = pending.pop()
        for statement in block.statements:
            if isinstance(statement, Load):
                place = _Place(statement.index, id(block), depth, not statement.may_fail)
                one = not loops and _covered(statement.index, moves).issuperset(index)
                first = found.setdefault(statement.array.label, place)
                if not one or first != place:
                    found[statement.array.label] = None
            elif isinstance(statement, Compute):
                moves[statement.out] = _coordinates(statement, moves)
            inside_loop = loops or isinstance(statement, While)
            pending += [
                (inner, depth + isinstance(statement, If), inside_loop) for inner in programs.inner_blocks(statement)
            ]
    return found


def _coordinates(statement: Compute, known: Mapping[Variable, _Coordinates]) -> _Coordinates:
    """Which coordinate a number moves with, if it is a sum or difference that moves with one at most."""
    if statement.operator not in (Operator.ADD, Operator.SUB):
        return None
    left, right = [_of(argument, known) for argument in statement.arguments]
    return None if left is None or right is None or (left and right) else left | right


def _of(operand: Operand, known: Mapping[Variable, _Coordinates]) -> _Coordinates:
    return known.get(operand) if isinstance(operand, Variable) else frozenset()


def _covered(place: tuple[Operand, ...], known: Mapping[Variable, _Coordinates]) -> frozenset[Variable]:
    """The coordinates that an index moves with: with all, different indices of the loop find different elements."""
    return frozenset[Variable]().union(*[_of(operand, known) or () for operand in place])


def _size(function: Function) -> int:
    return sum(len(block.statements) for block in programs.blocks(function))


def _size_of(maker: Binding) -> int:
    described = describe(maker.operation)
    return len(described.arrays) + sum(map(_size, described.functions))


def _depth_of(maker: Binding) -> int:
    return max((_depth(function.body) for function in describe(maker.operation).functions), default=0)


def _depth(body: Block) -> int:
    """How deep blocks nest in a block."""
    deepest, pending = 0, [(body, 0)]
    while pending:
        block, depth = pending.pop()
        deepest = max(deepest, depth)
        pending += [(inner, depth + 1) for s in block.statements for inner in programs.inner_blocks(s)]
    return deepest
