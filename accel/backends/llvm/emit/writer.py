"""Writes operators on values: in a scalar register where all lanes hold the same, else in lanes.

An index that rises evenly stays a progression under what leaves it one. What is asked for in lanes is written there then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import assert_never

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I32, I64, ScalarType
from accel.backends.llvm.emit.values import Bent, Digit, Fixed, Lanes, Near, Packed, Progression, Uniform, Value
from accel.backends.llvm.scalar_code.division.floats import by_constant, by_register
from accel.backends.llvm.scalar_code.division.integers import DIVISIONS
from accel.backends.llvm.scalar_code.scalar import operation
from accel.backends.llvm.text.code import Code, constant_text, register_type
from accel.errors import AccelInternalError

_UNIFORM = (Uniform, Fixed)

_ORDERS = frozenset({Operator.LT, Operator.LE, Operator.GT, Operator.GE})
"""What holds in all lanes between two in which it holds, of numbers that rise or fall evenly."""

MOST_PARTS = 8
"""Comparisons of which a condition consists, at most, of which it is known in which lanes it holds."""


class Writer:
    """Writes operators on values; `lanes` is 1 in scalar code, where every value is uniform or fixed. bends: whether there are
    `Bent` places, at which reads are plain vector loads where they can be, behind a branch."""

    def __init__(self, code: Code, lanes: int, *, bends: bool = False) -> None:
        self.bends = bends
        self.scalar = code
        self.code = code.at(lanes)
        self.lanes = lanes
        self._narrow: dict[str, str] = {}
        self._compared: dict[str, tuple[Operator, Value, Value]] = {}
        self._joined: dict[str, int] = {}
        self._active: set[str] = set()

    def narrow(self, value: Value) -> str | None:
        """The i32 in lanes that an i64 was made of; None if it was not, or that is not known."""
        return self._narrow.get(value.text) if isinstance(value, Lanes) else None

    def varying(self, text: str, kind: ScalarType) -> Value:
        """A register that the code of `lanes` lanes made."""
        return Uniform(text, kind) if self.lanes == 1 else Lanes(text, kind)

    def is_uniform(self, value: Value) -> bool:
        """Whether all lanes hold the same."""
        return isinstance(value, _UNIFORM)

    def one(self, value: Value) -> str:
        """The register or constant of a uniform value."""
        match value:
            case Uniform(text):
                return text
            case Fixed(constant):
                return constant_text(constant)
            case Lanes() | Progression() | Packed() | Near() | Digit() | Bent():
                raise AccelInternalError(f"{value} differs between lanes")
            case _:
                assert_never(value)

    def every(self, value: Value) -> str:
        """The value in all lanes: a register or constant of `lanes` lanes."""
        match value:
            case Lanes(text) | Near(text) | Digit(text):
                return text
            case Fixed(constant):
                return self.code.constant(constant)
            case Uniform(text, kind):
                return self.splat(text, register_type(kind))
            case Progression(base, stride):
                steps = ", ".join(f"i64 {stride * lane}" for lane in range(self.lanes))
                return self.code.emit(f"add {self.code.type(I64)} {self.splat(base, 'i64')}, <{steps}>")
            case Packed(carry, mask):
                return self._packed(carry, mask)
            case Bent(operator=operator, arguments=arguments):
                return self.every(self._in_lanes(operator, I64, arguments))
            case _:
                assert_never(value)

    def splat(self, text: str, type_: str) -> str:
        """A scalar register in every lane."""
        if self.lanes == 1:
            return text
        vector = self.code.vector(type_)
        first = self.code.emit(f"insertelement {vector} poison, {type_} {text}, i32 0")
        return self.code.emit(f"shufflevector {vector} {first}, {vector} poison, <{self.lanes} x i32> zeroinitializer")

    def operator(self, operator: Operator, result: ScalarType, arguments: Sequence[Value]) -> Value:
        """`operator` on values."""
        types = [argument.type for argument in arguments]
        if all(map(self.is_uniform, arguments)):
            ones = [self.one(argument) for argument in arguments]
            return Uniform(operation(self.scalar.where_known(ones), operator, result, types, ones), result)
        if result is I64 and set(types) == {I64}:
            moved = self._progression(operator, arguments) or self._moved(operator, arguments)
            if moved is not None:
                return moved
        return self._in_lanes(operator, result, arguments)

    def _in_lanes(self, operator: Operator, result: ScalarType, arguments: Sequence[Value]) -> Value:
        """An operator in each lane."""
        every = list(map(self.every, arguments))
        if operator in DIVISIONS and result.is_integer and isinstance(arguments[1], Uniform):
            return Lanes(DIVISIONS[operator](self.code, result, every[0], every[1], arguments[1].text), result)
        if operator is Operator.DIV and (quotient := self._quotient(result, every, arguments[1])) is not None:
            return Lanes(quotient, result)
        text = operation(self.code, operator, result, [each.type for each in arguments], every)
        if operator in _ORDERS and all(isinstance(each, (*_UNIFORM, Progression)) for each in arguments):
            self._compared[text] = (operator, arguments[0], arguments[1])
        if operator in (Operator.AND, Operator.OR) and result is BOOL:
            self._join(text, operator, arguments[0], arguments[1])
        if operator is Operator.CAST and result is I64 and arguments[0].type is I32:
            self._narrow[text] = every[0]
        return Lanes(text, result)

    def _join(self, text: str, operator: Operator, left: Value, right: Value) -> None:
        """Notes an `and` or `or` of conditions of which it is known in which lanes they hold, if these are few."""
        parts = [1 if self.is_uniform(each) else self._parts(each) for each in (left, right)]
        if 0 not in parts and sum(parts) <= MOST_PARTS:
            self._compared[text] = (operator, left, right)
            self._joined[text] = sum(parts)

    def _parts(self, condition: Value) -> int:
        """How many comparisons a condition consists of that are known; 0 of others."""
        if not isinstance(condition, Lanes) or condition.text not in self._compared:
            return 0
        return self._joined.get(condition.text, 1)

    def ends(self, condition: Value) -> tuple[str, str] | None:
        """Whether a condition holds in all lanes, and whether in none, by scalars; None if that is not known from two lanes.

        So it is for comparisons of progressions, which do not wrap between the first lane and the last, and for what is `and`
        or `or` of a few of these.
        """
        if not isinstance(condition, Lanes) or condition.text not in self._compared:
            return None
        operator, left, right = self._compared[condition.text]
        if operator in _ORDERS:
            return self._ends_of_comparison(operator, [left, right])
        one, other = self._ends_of_part(left), self._ends_of_part(right)
        words = ("and", "or") if operator is Operator.AND else ("or", "and")
        every, none = (self.scalar.emit(f"{word} i1 {one[at]}, {other[at]}") for at, word in enumerate(words))
        return every, none

    def _ends_of_part(self, condition: Value) -> tuple[str, str]:
        if self.is_uniform(condition):
            return self.one(condition), self.scalar.emit(f"xor i1 {self.one(condition)}, true")
        found = self.ends(condition)
        assert found is not None, "it is known of all parts"
        return found

    def _ends_of_comparison(self, operator: Operator, sides: Sequence[Value]) -> tuple[str, str]:
        """The same for sides of which some are progressions. Where one is, it is known in which lane an answer would fail."""
        first, last, wrong = [], [], "false"
        for side in sides:
            if not isinstance(side, Progression):
                first.append(self.one(side))
                last.append(first[-1])
                continue
            first.append(side.base)
            last.append(self.scalar.emit(f"add i64 {side.base}, {side.stride * (self.lanes - 1)}"))
            back = "sgt" if side.stride > 0 else "slt"
            wraps = self.scalar.emit(f"icmp {back} i64 {side.base}, {last[-1]}")
            wrong = self.scalar.emit(f"or i1 {wrong}, {wraps}")
        holds = [operation(self.scalar, operator, BOOL, [I64, I64], each) for each in (first, last)]
        right = self.scalar.emit(f"xor i1 {wrong}, true")
        if (rising := self._rises(operator, sides)) is not None:
            least, most = holds if rising else holds[::-1]
            never = self.scalar.emit(f"xor i1 {most}, true")
            return self.scalar.emit(f"and i1 {least}, {right}"), self.scalar.emit(f"and i1 {never}, {right}")
        both, one = (self.scalar.emit(f"{each} i1 {holds[0]}, {holds[1]}") for each in ("and", "or"))
        neither = self.scalar.emit(f"xor i1 {one}, true")
        return self.scalar.emit(f"and i1 {both}, {right}"), self.scalar.emit(f"and i1 {neither}, {right}")

    def _rises(self, operator: Operator, sides: Sequence[Value]) -> bool | None:
        """Whether a comparison that does not hold in the first lane may hold in later ones, and holds from there on; whether it
        is the other way round, if not. None where both sides move."""
        match sides:
            case [Progression(_, stride), other] if self.is_uniform(other):
                return (stride > 0) == (operator in (Operator.GT, Operator.GE))
            case [other, Progression(_, stride)] if self.is_uniform(other):
                return (stride > 0) == (operator in (Operator.LT, Operator.LE))
            case _:
                return None

    def _quotient(self, kind: ScalarType, every: Sequence[str], divisor: Value) -> str | None:
        """The quotient of floats in lanes where no lane need divide; `every`: both in lanes."""
        match divisor:
            case Fixed(constant) if kind.is_float:
                return by_constant(self.code, kind, every[0], constant)
            case Uniform(text) if kind.is_float:
                return by_register(self.code, kind, every[0], every[1], text)
            case _:
                return None

    def _progression(self, operator: Operator, arguments: Sequence[Value]) -> Value | None:
        """The result as a progression, if it is one."""
        if not all(isinstance(argument, (*_UNIFORM, Progression)) for argument in arguments):
            return None
        strides = [a.stride if isinstance(a, Progression) else 0 for a in arguments]
        match operator, arguments:
            case Operator.ADD, _:
                stride = strides[0] + strides[1]
            case Operator.SUB, _:
                stride = strides[0] - strides[1]
            case Operator.NEG, _:
                stride = -strides[0]
            case Operator.MUL, (Progression(), Fixed(constant)):
                stride = strides[0] * int(constant.value)
            case Operator.MUL, (Fixed(constant), Progression()):
                stride = strides[1] * int(constant.value)
            case _:
                return None
        if abs(stride) >= 1 << 31:
            return None
        bases = [a.base if isinstance(a, Progression) else self.one(a) for a in arguments]
        return Progression(operation(self.scalar, operator, I64, [I64] * len(bases), bases), stride)

    def _moved(self, operator: Operator, arguments: Sequence[Value]) -> Value | None:
        """Places some elements further, if that is known; None if it is something else."""
        match arguments:
            case (Digit() as digit, by) if operator in (Operator.ADD, Operator.SUB) and self.is_uniform(by):
                first = operation(self.scalar, operator, I64, [I64, I64], [digit.first, self.one(by)])
                return replace(digit, text=self._both(operator, digit.text, self.every(by)), first=first)
            case (by, Digit()) if operator is Operator.ADD and self.is_uniform(by):
                return self._moved(operator, [arguments[1], by])
            case _ if operator is not Operator.ADD:
                return None
            case (Near() as near, by) | (by, Near() as near) if self.is_uniform(by) and self.one(by).isdigit():
                text = self._both(operator, near.text, self.every(by))
                return Near(text, {array: found[int(self.one(by)) :] for array, found in near.loaded.items()})
            case _:
                return None

    def _both(self, operator: Operator, first: str, second: str) -> str:
        """An operator on two i64 in lanes."""
        return operation(self.code, operator, I64, [I64, I64], [first, second])

    def select(self, mask: str, then: Value, orelse: Value) -> Value:
        """Lane by lane `then` where the mask (of `lanes` lanes) is set."""
        kind = then.type
        type_ = self.code.type(kind)
        text = f"select {self.code.vector('i1')} {mask}, {type_} {self.every(then)}, {type_} {self.every(orelse)}"
        return self.varying(self.code.emit(text), kind)

    def choose(self, condition: str, then: Value, orelse: Value) -> Value:
        """One of both in all lanes, by an i1: a scalar if both are."""
        if not self.is_uniform(then) or not self.is_uniform(orelse):
            return self.select(self.splat(condition, "i1"), then, orelse)
        type_ = self.scalar.type(then.type)
        text = f"select i1 {condition}, {type_} {self.one(then)}, {type_} {self.one(orelse)}"
        return Uniform(self.scalar.emit(text), then.type)

    def _packed(self, carry: str, mask: str) -> str:
        """`carry` plus the exclusive prefix sum of the mask."""
        vector = self.code.type(I64)
        total = bits = self.code.emit(f"zext {self.code.vector('i1')} {mask} to {vector}")
        distance = 1
        while distance < self.lanes:
            moved = self.shifted(total, "i64", distance, "zeroinitializer")
            total = self.code.emit(f"add {vector} {total}, {moved}")
            distance *= 2
        before = self.code.emit(f"sub {vector} {total}, {bits}")
        return self.code.emit(f"add {vector} {before}, {self.splat(carry, 'i64')}")

    def shifted(self, text: str, type_: str, distance: int, incoming: str) -> str:
        """Every lane's value `distance` lanes later; the first lanes get the last ones of `incoming`."""
        vector = self.code.vector(type_)
        order = ", ".join(f"i32 {self.lanes - distance + lane}" for lane in range(self.lanes))
        mask = f"<{self.lanes} x i32> <{order}>"
        return self.code.emit(f"shufflevector {vector} {incoming}, {vector} {text}, {mask}")

    def rotated(self, text: str, type_: str, distance: int) -> str:
        """Lane l gets the value of lane (l + distance) mod lanes."""
        vector = self.code.vector(type_)
        order = ", ".join(f"i32 {(lane + distance) % self.lanes}" for lane in range(self.lanes))
        return self.code.emit(f"shufflevector {vector} {text}, {vector} poison, <{self.lanes} x i32> <{order}>")

    def reversed(self, text: str, type_: str) -> str:
        """The lanes from last to first."""
        vector = self.code.vector(type_)
        order = ", ".join(f"i32 {lane}" for lane in reversed(range(self.lanes)))
        return self.code.emit(f"shufflevector {vector} {text}, {vector} poison, <{self.lanes} x i32> <{order}>")

    def first_lanes(self, count: str) -> str:
        """The mask of the lanes below `count` (an i64 register)."""
        if self.lanes > 8:  # as many i64 are several registers, and their mask takes instructions to pack
            return self._first(count, "i8" if self.lanes > 32 else "i32")
        order = ", ".join(f"i64 {lane}" for lane in range(self.lanes))
        return self.code.emit(f"icmp slt {self.code.type(I64)} <{order}>, {self.splat(count, 'i64')}")

    def _first(self, count: str, kind: str) -> str:
        """The same for many lanes, at most 127, by comparing narrower integers."""
        code = self.scalar
        above = code.call("llvm.smax.i64", "i64", ["i64", "i64"], [f"i64 {count}", "i64 0"])
        inside = code.call("llvm.smin.i64", "i64", ["i64", "i64"], [f"i64 {above}", f"i64 {self.lanes}"])
        narrow = code.emit(f"trunc i64 {inside} to {kind}")
        order = ", ".join(f"{kind} {lane}" for lane in range(self.lanes))
        return self.code.emit(f"icmp slt {self.code.vector(kind)} <{order}>, {self.splat(narrow, kind)}")

    def both(self, first: str | None, second: str | None) -> str | None:
        """The conjunction of two masks; None is all lanes."""
        if first is None or second is None:
            return first or second
        return self.code.emit(f"and {self.code.vector('i1')} {first}, {second}")

    def without(self, mask: str | None, excluded: str) -> str:
        """The lanes of `mask` that are not in `excluded`."""
        rest = self.code.emit(f"xor {self.code.vector('i1')} {excluded}, {self.code.splat('i1', 'true')}")
        return self.both(mask, rest) or rest

    @contextmanager
    def some_active(self, mask: str | None) -> Iterator[None]:
        """What is written inside runs only where some lane of the mask is set."""
        new = {mask} - self._active if mask is not None else set()
        self._active |= new
        yield
        self._active -= new

    def if_any(self, condition: str, mask: str | None) -> str:
        """An i1: whether one holds, and some lane of the mask (None: all lanes) is set."""
        some = "true" if mask is None else self.any(mask)
        return condition if some == "true" else self.scalar.emit(f"and i1 {condition}, {some}")

    def any(self, mask: str) -> str:
        """An i1: whether some lane is set."""
        if self.lanes == 1:
            return mask
        if mask in self._active:
            return "true"
        vector = self.code.vector("i1")
        return self.code.call(f"llvm.vector.reduce.or.v{self.lanes}i1", "i1", [vector], [f"{vector} {mask}"])
