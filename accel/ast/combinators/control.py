"""Control over array computations: `acond`, `awhile`, `iterate`, `iiterate`, `compute`, `assert_`.

In: handles, or (nested) tuples of them, called a structure here. Out: the same structure. Loops have one signature
over all structures: mypy checks a lambda once for each overload of what it is passed to, and the lambdas within it again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeVar, Union

import numpy as np

from accel.ast.combinators.construct import unit
from accel.ast.combinators.elementwise import map_arrays
from accel.ast.combinators.prelude import the
from accel.ast.handles import operations
from accel.ast.handles.acc import Acc, Extents, Num, Scalar, result_of
from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.function import apply, forbid_nested
from accel.ast.handles.habits.values import is_function
from accel.ast.handles.literals import describe, typed, untyped, whole_typed
from accel.ast.handles.tuples import lift_items, while_
from accel.ast.tree.nodes import Acond, ArrayParameter, Awhile, Compute, Literal, Require
from accel.ast.tree.types import BOOL, I64, ArrayType, require_shallow_tuples
from accel.errors import AccelTypeError, Where, here
from accel.structure import like

S = TypeVar("S")

Structure: TypeAlias = Union[Acc[Any], tuple["Structure", ...]]
"""An array computation, or a nested tuple of them."""

# Any: tuples within tuples. A bound that names itself, as `Structure` does, makes mypy 2.4 crash where a lambda folds rows.
State = TypeVar("State", bound=Union[Acc[Any], tuple[Union[Acc[Any], tuple[Any, ...]], ...]])
Value = TypeVar("Value", bound=Union[Exp[Any], Acc[Any], tuple[Union[Acc[Any], tuple[Any, ...]], ...]])


class NamedArrays(Protocol):
    """A `NamedTuple` of array computations, for mypy, by what no other tuple has. Of two classes mypy makes only this."""

    def _asdict(self) -> dict[str, Any]:  # Any: fields are tuples of arrays, too
        """The arrays by the names of the fields."""
        ...


def flatten_structure(what: str, value: object, where: Where | None) -> tuple[Acc[Any], ...]:
    """The handles in a structure, left to right. Raises `AccelTypeError` for anything else in it."""
    if isinstance(value, Acc):
        return (value,)
    if isinstance(value, tuple):
        require_shallow_tuples(value, where)
        return tuple(array for item in value for array in flatten_structure(what, item, where))
    message = f"{what} must be an Acc or a tuple of them, got {describe(raw(value))}"
    raise AccelTypeError(message, where, hint=instead_of(value) or "an array enters a program by `A.use(x)`")


def instead_of(value: object) -> str | None:
    """What to write instead of something that is no array computation."""
    if isinstance(value, Exp):
        return "write `A.unit(e)`"
    if isinstance(value, np.ndarray):
        return "an array enters a program by `A.use(array)`"
    if value is None:
        return "is a `return` missing?"
    if is_function(value):
        return "give the arrays themselves, not a function that makes them, which is compiled by `A.runN(f)`"
    return "several arrays are a tuple: `(xs, ys)`" if isinstance(value, list) else None


def rebuild_structure(template: object, arrays: list[Acc[Any]]) -> Any:  # Any: the structure's type, as the template's
    """`template` with its handles replaced, left to right, by `arrays`, which are consumed; named tuples stay what they are."""
    if isinstance(template, tuple):
        return like(template, [rebuild_structure(item, arrays) for item in template])
    return arrays.pop(0)


def compute(xs: State) -> State:
    """`xs` itself, an array or nested tuple of arrays, computed and stored before anything that uses it: nothing fuses across.

    Raises `AccelTypeError` for other types. Accelerate's `compute`.

    >>> A.run(A.compute(A.map(lambda x: x + 1, A.use(np.arange(5)))))
    array([1, 2, 3, 4, 5])
    """
    where = here()
    arrays = flatten_structure("what compute stores", xs, where)
    stored = [Acc[Any](Compute(x.node, (x.type,), where), x.extents) for x in arrays]
    structure: State = rebuild_structure(xs, stored)
    return structure


def assert_(condition: Exp[np.bool_], message: str, xs: S) -> S:
    """`xs` itself, an array or nested tuple of arrays; an `AccelAssertionError` that says `message` unless `condition` holds.

    It is asked where the program runs, before anything that uses what `assert_` returns, and only if something does: not in
    a branch that is not taken. It names the user's line. Maps, gathers and their like fuse across. Raises `AccelTypeError` for
    other types. `Assert` of Accelerate's new pipeline. `A.run(A.assert_(A.length(xs) > 2, "three at least", xs))` is `xs`.

    >>> xs = A.use(np.array([1.0, 4.0]))
    >>> checked = A.assert_(A.the(A.minimum(xs)) >= 0, 'roots of what is negative', xs)
    >>> A.run(A.map(A.sqrt, checked))
    array([1., 2.])
    """
    where = here()
    arrays = flatten_structure("what assert_ returns", xs, where)
    test = typed(raw(_condition("assert_", condition, where)), BOOL, "the condition of assert_", where)
    if not isinstance(message, str):
        hint = 'the order is `A.assert_(condition, "what went wrong", xs)`'
        raise AccelTypeError(f"the message of assert_ must be a str, got {describe(raw(message))}", where, hint=hint)
    forbid_nested("assert_", (test,), where)
    holds = the(unit(Exp[np.bool_](test))).node
    one, zero = (Literal(I64, value, where) for value in (1, 0))
    found = (operations.select(holds, one, zero, where),)
    checked = [
        Acc[Any](Require(found, (one,), "assert_", message, x.node, (x.type,), where), x.extents) for x in arrays
    ]
    structure: S = rebuild_structure(xs, checked)
    return structure


def acond(c: object, a: object, b: object) -> Any:  # Any: the structure's type, as `a`'s
    """The arrays `a` if `c` else `b`; the others are not computed.

    >>> A.run(A.acond(A.constant(True), A.use(np.arange(2)), A.use(np.arange(3))))
    array([0, 1])
    """
    where = here()
    condition = typed(raw(_condition("acond", c, where)), BOOL, "the condition of acond", where)
    forbid_nested("acond", (condition,), where)
    then, orelse = (flatten_structure("a branch of acond", branch, where) for branch in (a, b))
    if (left := _form(a)) != (right := _form(b)):
        hint = "both branches give every array, also those that one of them leaves as they are"
        raise AccelTypeError(f"the branches of acond must have one form, got {left} and {right}", where, hint=hint)
    kinds = _common_types("the branches of acond", then, orelse, where)
    node = Acond(condition, tuple(x.node for x in then), tuple(x.node for x in orelse), kinds, where)
    results = [
        result_of(node, i, _joined(x.extents, y.extents)) for i, (x, y) in enumerate(zip(then, orelse, strict=True))
    ]
    return rebuild_structure(a, results)


def awhile(cond: Callable[[State], Acc[Scalar[np.bool_]]], step: Callable[[State], State], init: State) -> State:
    """From the arrays `init`, `step` applied as long as `cond` of them holds. A state of several arrays is one tuple.

    >>> below = lambda xs: A.map(lambda s: s < 100, A.sum(xs))
    >>> A.run(A.awhile(below, lambda xs: A.map(lambda x: x * 2, xs), A.use(np.array([1, 2]))))
    array([ 64, 128])
    """
    where = here()
    initial = flatten_structure("the start of awhile", init, where)
    parameters = tuple(ArrayParameter((array.type,), where) for array in initial)
    state = [_parameter(parameter) for parameter in parameters]
    hint = "a state of several arrays is one tuple: `lambda s: …`, with `s[0]`, `s[1]`"
    holds = apply(cond, [rebuild_structure(init, list(state))], "the condition of awhile", where, hint)
    condition = _holds(holds, where)
    stepped = apply(step, [rebuild_structure(init, list(state))], "the step of awhile", where, hint)
    body = _of_state(stepped, init, "awhile", "step", where)
    kinds = tuple(x.type for x in initial)
    node = Awhile(parameters, condition.node, tuple(x.node for x in body), tuple(x.node for x in initial), kinds, where)
    last: State = rebuild_structure(init, [result_of(node, i, (None,) * kind.rank) for i, kind in enumerate(kinds)])
    return last


def iterate(n: Num, f: Callable[[Value], Value], x: Value) -> Value:
    """`f` applied `n` times to a scalar or to arrays; not at all if `n` is negative.

    >>> A.run(A.iterate(3, lambda xs: A.map(lambda x: x * 2, xs), A.use(np.arange(5))))
    array([ 0,  8, 16, 24, 32])
    """
    where = here()
    last: Value = _iterated(
        "iterate", n, lambda turn, value: apply(f, [value], "the function of iterate", where), x, where
    )
    return last


def iiterate(n: Num, f: Callable[[Exp[np.int64], Value], Value], x: Value) -> Value:
    """`iterate` whose function gets the number of the turn first: `f(i, x)`, `i` an `Exp[np.int64]` that counts from 0.

    Of a scalar, or of arrays, whose shapes may change from turn to turn. Raises `AccelTypeError` unless `f` gives
    what it gets. Ours; in Accelerate the state counts. `A.iiterate(4, lambda i, x: x * 10 + i, A.constant(0))` is 123.

    >>> A.run(A.iiterate(3, lambda i, xs: A.map(lambda x: x + i, xs), A.use(np.arange(5))))
    array([3, 4, 5, 6, 7])
    """
    where = here()
    what = "the function of iiterate"
    hint = "it takes the number of the turn and the value: `lambda i, x: …`"
    last: Value = _iterated("iiterate", n, lambda turn, value: apply(f, [turn, value], what, where, hint), x, where)
    return last


def _iterated(
    name: str, n: object, once: Callable[[Exp[np.int64], object], object], x: object, where: Where | None
) -> Any:  # Any: `x`'s type
    """A loop that counts down: what is reported knows it by that (`accel/explanation/naming/turns.py`)."""
    if is_function(n):
        hint = f"the number comes first: `A.{name}(n, f, x)`"
        raise AccelTypeError(f"{name} takes a number of iterations, got {describe(n)}", where, hint=hint)
    count: Exp[np.int64] = Exp(whole_typed(raw(n), "the number of iterations", where))
    if isinstance(x, Acc) or (isinstance(x, tuple) and x):
        turns = unit(count)
        number = count if isinstance(count.node, Literal) else the(turns)
        start: Any = (turns, x)  # Any: `x`'s type, which has been looked at above

        def turned(state: Any) -> object:
            found = once(number - the(state[0]), state[1])
            _of_state(found, x, name, "function", where)
            return (map_arrays("iterate", lambda i: i - 1, (state[0],)), found)

        return awhile(lambda s: map_arrays("iterate", lambda i: i > 0, (s[0],)), turned, start)[1]
    scalar: Exp[Any] = Exp(untyped(raw(x), f"the start of {name}", where))

    def stepped(state: Exp[Any]) -> Exp[Any]:
        found = raw(once(count - state[0], state[1]))
        value: Exp[Any] = Exp(typed(found, scalar.node.type, f"the result of the function of {name}", where))
        return lift_items((state[0] - 1, value))

    return while_(lambda s: s[0] > 0, stepped, lift_items((count, scalar)))[1]


def _of_state(made: object, start: object, name: str, function: str, where: Where | None) -> tuple[Acc[Any], ...]:
    """The arrays that a loop's function made of its state. Raises `AccelTypeError` if they are not of the form and types of
    its start."""
    what = f"{name}'s {function}"
    initial = flatten_structure(f"the start of {name}", start, where)
    arrays = flatten_structure(f"the result of {what}", made, where)
    if (given := _form(start)) != (returned := _form(made)):
        hint = f"the {function} returns every part of the state, also those that it does not change"
        raise AccelTypeError(f"{what} gets {given} and must return as much, got {returned}", where, hint=hint)
    _common_types(f"{name}'s start and {function}", initial, arrays, where)
    return arrays


def _condition(name: str, c: object, where: Where | None) -> object:
    if isinstance(c, Acc):
        hint = "write `A.the(c)`" if c.rank == 0 else "write `A.the(A.foldAll(...))`"
        raise AccelTypeError(f"the condition of {name} must be an Exp, got an Acc", where, hint=hint)
    return c


def _holds(value: object, where: Where | None) -> Acc[Any]:
    if isinstance(value, Acc) and value.type == ArrayType(0, BOOL):
        return value
    hint = "the condition is an array of rank 0, such as `A.unit(s[0] < 10)` or `A.any(p, s)` of a vector"
    if isinstance(value, Exp):
        hint = "the condition is an array of rank 0: write `A.unit(e)`"
    elif isinstance(value, Acc) and value.type.element is BOOL:
        hint = "write `A.foldAll(A.min, True, s)` if it is to hold for all, `A.foldAll(A.max, False, s)` if for one"
    shown = f"an {type(value).__name__} of type {value.type}" if isinstance(value, (Acc, Exp)) else describe(value)
    raise AccelTypeError(f"awhile's condition must return a scalar array of bool, got {shown}", where, hint=hint)


def _form(value: object) -> str:
    """The form of a structure, as Python would write it: nested tuples of arrays."""
    if not isinstance(value, tuple):
        return "array"
    return f"({', '.join(map(_form, value))}{',' * (len(value) == 1)})"


def _one_type(left: ArrayType, right: ArrayType) -> str:
    """What makes arrays of two types such of one."""
    if left.rank != right.rank:
        return "ranks are part of types: `A.reshape`, `A.replicate` and `A.flatten` give an array another one"
    return f"convert one: `A.map(lambda x: A.cast(x, …), xs)`, to {left.element} or to {right.element}"


def _common_types(
    what: str, left: tuple[Acc[Any], ...], right: tuple[Acc[Any], ...], where: Where | None
) -> tuple[ArrayType, ...]:
    for x, y in zip(left, right, strict=True):
        if x.type != y.type:
            others = ((f"the {x.type} was made here:", x.node.where), (f"the {y.type} was made here:", y.node.where))
            raise AccelTypeError(
                f"{what} must have one type, got {x.type} and {y.type}",
                where,
                others=others,
                hint=_one_type(x.type, y.type),
            )
    return tuple(x.type for x in left)


def _joined(left: Extents, right: Extents) -> Extents:
    return tuple(x if x == y else None for x, y in zip(left, right, strict=True))


def _parameter(node: ArrayParameter) -> Acc[Any]:
    return Acc(node, (None,) * node.types[0].rank)
