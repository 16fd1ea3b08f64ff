"""How many passes over an array the loads of a scalar function are: `x[i-1]`, `x[i]` and `x[i+1]` are one pass, not three.

Loads are neighbours if their indices differ by constants only. What keeps an index in bounds (a clamp, a wrap, a condition
that chooses something that is the same for all elements) does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias, Union, assert_never

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.labelled.array import Array, Extent, SizeVariable
from accel.labelled.nodes import Operation
from accel.labelled.operations import Described, Kind, Role, describe
from accel.labelled.scalar import Compute, Constant, Function, If, Load, Operand, Statement, Variable, While

_Atom: TypeAlias = Union[Variable, SizeVariable]
_Slope: TypeAlias = frozenset[tuple[_Atom, int]]
"""A number but for a constant: coefficients, none of them 0, of what it is made of."""

Place: TypeAlias = tuple[_Slope, ...]
"""An index but for constants."""

_NOTHING: Final = frozenset[tuple[_Atom, int]]()


def passes(operation: Operation) -> Mapping[Array, int]:
    """Passes over the arrays that the functions of an operation load from.

    Where it streams an array as well, the loads beside its own element are part of that pass: 0 if there are no others.
    """
    described = describe(operation)
    found: dict[Array, set[Place]] = {}
    for function in described.functions:
        for array, place in places(function):
            found.setdefault(array, set()).add(place)
    for array in described.read(Role.STREAM) if described.kind is Kind.MAP else ():
        for function in described.functions:
            found.get(array, set()).discard(_own(function, len(array.shape)))
    return {array: len(different) for array, different in found.items()}


def has_index_functions(described: Described) -> bool:
    """Whether it is asked of an operation where its functions load: of those of three indices or more."""
    return described.kind is Kind.GENERATE and any(len(each.parameters) > 2 for each in described.functions)


def moves(described: Described) -> Mapping[Array, tuple[tuple[int, ...], bool]]:
    """Of the arrays that functions of three indices or more load: with which of these the places move, by number; and whether
    one moves along some dimension with several at once, as windows do, `x[i + a, j]` of i, j and a."""
    found: dict[Array, tuple[tuple[int, ...], bool]] = {}
    for function in described.functions if has_index_functions(described) else ():
        number = {parameter: place for place, parameter in enumerate(function.parameters)}
        for array, place in places(function):
            along = [{number[atom] for atom, _ in slope if atom in number} for slope in place]
            before, slides = found.get(array, ((), False))
            found[array] = tuple(sorted({*before}.union(*along))), slides or any(len(each) > 1 for each in along)
    return found


def places(function: Function) -> frozenset[tuple[Array, Place]]:
    """Where a function loads from arrays; neighbours are at one place."""
    return frozenset(_Slopes(function).places())


def _own(function: Function, rank: int) -> Place:
    """Where a function of an index runs."""
    return tuple([frozenset({(parameter, 1)}) for parameter in function.parameters[:rank]])


class _Slopes:
    """What the variables of one function are, but for constants."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._known: dict[Operand, _Slope] = {}

    def places(self) -> Iterator[tuple[Array, Place]]:
        """The place of every load."""
        pending: list[Statement | tuple[If]] = list(reversed(self._function.body.statements))
        while pending:
            match pending.pop():
                case Compute(out, operator, arguments):
                    if out.type is I64:
                        self._learn(out, operator, arguments)
                case Load(_, array, index):
                    yield array, tuple([self._of(operand) for operand in index])
                case If(_, _, then, orelse) as branches:
                    pending += [(branches,), *reversed((*then.statements, *orelse.statements))]
                case While(_, _, _, condition, body):
                    pending += reversed((*condition.statements, *body.statements))
                case (If(outs, _, then, orelse),):
                    for out, one, other in zip(outs, then.results, orelse.results, strict=True):
                        self._either(out, self._of(one), self._of(other))
                case other:
                    assert_never(other)

    def _of(self, operand: Operand) -> _Slope:
        match operand:
            case Variable():
                return self._known.get(operand, frozenset({(operand, 1)}))
            case Constant():
                return _NOTHING
            case Extent(variable):
                return _NOTHING if variable is None else frozenset({(variable, 1)})
            case _:
                assert_never(operand)

    def _learn(self, out: Variable, operator: Operator, arguments: tuple[Operand, ...]) -> None:
        match operator, [self._of(argument) for argument in arguments]:
            case Operator.ADD, [one, other]:
                self._known[out] = _sum(one, other)
            case Operator.SUB, [one, other]:
                self._known[out] = _sum(one, _times(other, -1))
            case Operator.NEG, [one]:
                self._known[out] = _times(one, -1)
            case Operator.MUL, [one, other]:
                for factor, slope in zip(arguments, (other, one), strict=True):
                    if isinstance(factor, Constant):
                        self._known[out] = _times(slope, int(factor.value))
            case ((Operator.MOD | Operator.REM), [one, other]) if other and _is_uniform(other):
                self._known[out] = one
            case ((Operator.MIN | Operator.MAX), [one, other]):
                self._either(out, one, other)
            case Operator.SELECT, [_, one, other]:
                self._either(out, one, other)
            case _:
                pass

    def _either(self, out: Variable, one: _Slope, other: _Slope) -> None:
        """One of two numbers: of one that is the same for all elements and another, the other."""
        if one == other or _is_uniform(other):
            self._known[out] = one
        elif _is_uniform(one):
            self._known[out] = other


def _is_uniform(slope: _Slope) -> bool:
    """Whether a number is the same for all elements."""
    return all(isinstance(atom, SizeVariable) for atom, _ in slope)


def _times(slope: _Slope, factor: int) -> _Slope:
    return frozenset((atom, coefficient * factor) for atom, coefficient in slope if factor)


def _sum(one: _Slope, other: _Slope) -> _Slope:
    total = Counter(dict(one))
    total.update(dict(other))
    return frozenset((atom, coefficient) for atom, coefficient in total.items() if coefficient)
