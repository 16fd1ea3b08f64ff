"""Random scalar functions: typed expressions over parameters, constants at the edges of types, and loads from arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from accel.ast.tree.types import BOOL, F16, F32, F64, I64, ScalarType
from tests.differential.draw import Draw
from tests.differential.forms import Form, form_of, made, parts, zero
from tests.differential.programs import (
    Apply,
    ArrayType,
    Clamp,
    Element,
    Expression,
    Extent,
    Function,
    Literal,
    Load,
    Loop,
    Ref,
    Variable,
)

Signature: TypeAlias = tuple[str, tuple[ScalarType, ...]]
"""How an operator is written, and what it takes."""

FUEL = 7
"""How many choices of operators an expression starts with; arguments share what is left."""

ELEMENTARY = (
    *("exp", "expm1", "log", "log1p", "log2", "log10", "cbrt", "erf", "erfc"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
"""Functions whose results backends may round differently."""

SMALLEST = {F16: 2.0**-24, F32: 1e-45, F64: 5e-324}
LARGEST = {F16: 65504.0, F32: 3.4028234663852886e38, F64: 1.7976931348623157e308}


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression may mention: variables, arrays to load from, element types in use, arrays whose extents matter.

    In a `faulty` one, an index may be out of bounds.
    """

    variables: tuple[Variable, ...]
    arrays: Sequence[tuple[Ref, ArrayType]]
    scalars: Sequence[ScalarType]
    elementary: bool
    loops: int = 0
    sizes: Sequence[tuple[Ref, ArrayType]] = ()
    faulty: bool = False


def edge_values(kind: ScalarType) -> list[bool | int | float]:
    """Values at which mistakes show."""
    if kind is BOOL:
        return [False, True]
    if kind.is_float:
        edges = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            3.0,
            math.inf,
            -math.inf,
            math.nan,
            SMALLEST[kind],
            LARGEST[kind],
        ]
        return [*edges, 2049.0] if kind is F16 else [-2147483648.0, 9223372036854775808.0, *edges, 16777217.0]
    powers = [1 << bit for bit in (1, 3, kind.bits // 2, kind.bits - 2)]
    signed = [-1, kind.minimum, kind.minimum + 1] if kind.is_signed else []
    return [0, 1, 2, 3, kind.maximum, kind.maximum - 1, *powers, *signed]


def literal(draw: Draw, kind: ScalarType) -> Literal:
    """A constant: small, or at an edge of the type."""
    if draw.chance(40) or kind is BOOL:
        return Literal(kind, draw.pick(edge_values(kind)))
    small = draw.below(7) - (0 if kind.is_unsigned else 3)
    return Literal(kind, small / 2 if kind.is_float else small)


def _numeric(kind: ScalarType) -> list[Signature]:
    infix: list[Signature] = [(f"({{}} {symbol} {{}})", (kind, kind)) for symbol in ("+", "-", "*")]
    named: list[Signature] = [(f"A.{name}({{}}, {{}})", (kind, kind)) for name in ("min", "max")]
    named += [(f"A.{name}({{}}, {{}})", (kind, kind)) for name in ("add", "sub", "mul")]
    unary: list[Signature] = [(f"A.{name}({{}})", (kind,)) for name in ("abs", "signum", "neg")]
    return [*infix, *named, *unary, ("(-{})", (kind,))]


def _float_operators(kind: ScalarType, elementary: bool) -> list[Signature]:
    own: list[Signature] = [
        *[(f"({{}} {symbol} {{}})", (kind, kind)) for symbol in ("/", "//", "%")],
        ("A.sqrt({})", (kind,)),
        ("A.copysign({}, {})", (kind, kind)),
        ("A.fma({}, {}, {})", (kind, kind, kind)),
        ("A.recip({})", (kind,)),
    ]
    names = ELEMENTARY if elementary else ()
    if elementary:
        own += [(f"A.{name}({{}}, {{}})", (kind, kind)) for name in ("atan2", "hypot", "pow", "logBase")]
    return _numeric(kind) + own + [(f"A.{name}({{}})", (kind,)) for name in names]


def _integer_operators(kind: ScalarType, others: Sequence[ScalarType]) -> list[Signature]:
    infix: list[Signature] = [(f"({{}} {symbol} {{}})", (kind, kind)) for symbol in ("//", "%", "&", "|", "^")]
    named: list[Signature] = [
        (f"A.{name}({{}}, {{}})", (kind, kind)) for name in ("quot", "rem", "div", "mod", "pow", "gcd", "lcm", "xor")
    ]
    amounts: list[Signature] = [
        (f"A.{name}({{}}, {{}})", (kind, I64))
        for name in ("shiftL", "shiftR", "rotateL", "rotateR", "setBit", "clearBit", "complementBit")
    ]
    found: list[Signature] = [*_numeric(kind), *infix, *named, *amounts, ("(~{})", (kind,))]
    if kind is I64:
        counts = ("popCount", "countLeadingZeros", "countTrailingZeros")
        found += [(f"A.{name}({{}})", (other,)) for name in counts for other in others if other.is_integer]
        rounding = ("floor", "ceiling", "round", "truncate")
        found += [(f"A.{name}({{}})", (other,)) for name in rounding for other in others if other.is_float]
        found.append(("A.boolToInt({})", (BOOL,)))
    return found


def _bool_operators(others: Sequence[ScalarType]) -> list[Signature]:
    found: list[Signature] = [(f"({{}} {symbol} {{}})", (BOOL, BOOL)) for symbol in ("&", "|", "^")] + [
        ("(~{})", (BOOL,))
    ]
    for other in others:
        if other is not BOOL:
            found += [(f"({{}} {symbol} {{}})", (other, other)) for symbol in ("==", "!=", "<", "<=", ">", ">=")]
            found += [(f"A.{name}({{}}, {{}})", (other, other)) for name in ("eq", "ne", "lt", "le", "gt", "ge")]
            found += [(f"(A.lift({{}}, {{}}) {symbol} A.lift({{}}, {{}}))", (other,) * 4) for symbol in ("<", ">=")]
            perhaps = "A.cond({}, A.just({}), A.nothing())"
            found += [(f"({perhaps} {symbol} {perhaps})", (BOOL, other) * 2) for symbol in ("<", "<=", ">", ">=")]
        if other.is_float:
            found += [("A.isNaN({})", (other,)), ("A.isInfinite({})", (other,))]
        if other.is_integer:
            found += [("A.even({})", (other,)), ("A.odd({})", (other,))]
            found.append(("A.testBit({}, {})", (other, I64)))
    return found


def operators(kind: ScalarType, scope: Scope) -> list[Signature]:
    """Templates whose result is `kind`, with the types of their arguments."""
    choice: list[Signature] = [("A.cond({}, {}, {})", (BOOL, kind, kind)), ("A.select({}, {}, {})", (BOOL, kind, kind))]
    asked = scope.scalars[0] if scope.scalars else kind
    choice += [("A.fst(A.lift({}, {}))", (kind, asked)), ("A.snd(A.lift({}, {}))", (asked, kind))]
    choice.append(("A.fromJust(A.cond({}, A.just({}), A.just({})))", (BOOL, kind, kind)))
    choice.append(("A.match({}, ({}, {}), (lambda _: {}, {}), {})", (asked, asked, kind, BOOL, kind, kind)))
    if kind is BOOL:
        maybes: list[Signature] = [
            (f"A.{name}(A.cond({{}}, A.just({{}}), A.nothing()))", (BOOL, I64)) for name in ("isJust", "isNothing")
        ]
        return choice + maybes + _bool_operators(scope.scalars)
    casts: list[Signature] = [
        (f"A.cast({{}}, np.{kind.dtype.name})", (other,)) for other in {BOOL, I64, *scope.scalars} if other is not kind
    ]
    casts += [
        (f"A.bitcast({{}}, np.{kind.dtype.name})", (other,))
        for other in scope.scalars
        if other is not kind and other is not BOOL and other.bits == kind.bits
    ]
    if kind.is_float:
        casts += [
            (f"A.toFloating({{}}, np.{kind.dtype.name})", (other,)) for other in scope.scalars if other is not BOOL
        ]
    casts += [(f"A.fromIntegral({{}}, np.{kind.dtype.name})", (other,)) for other in scope.scalars if other.is_integer]
    casts.sort(key=lambda cast: (str(cast[1]), cast[0]))
    maybe: list[Signature] = [
        ("A.fromMaybe({}, A.cond({}, A.just({}), A.nothing()))", (kind, BOOL, kind)),
        ("A.maybe({}, lambda m: A.min(m, m), A.cond({}, A.just({}), A.nothing()))", (kind, BOOL, kind)),
    ]
    choice += maybe
    if kind.is_float:
        return choice + casts + _float_operators(kind, scope.elementary)
    return choice + casts + _integer_operators(kind, scope.scalars)


def expression(draw: Draw, kind: ScalarType, scope: Scope, fuel: int = FUEL) -> Expression:
    """A random expression of a type."""
    if fuel <= 0 or draw.chance(15):
        return leaf(draw, kind, scope)
    if draw.chance(12):
        loaded = load(draw, kind, scope, fuel)
        if loaded is not None:
            return loaded
    if kind is I64 and scope.sizes and draw.chance(40):
        return extent(draw, scope)
    if draw.chance(4) and scope.loops < 2:
        return loop(draw, kind, scope, fuel)
    template, types = draw.pick(operators(kind, scope))
    rest = (fuel - 1) // len(types)
    return Apply(template, tuple(expression(draw, argument, scope, rest) for argument in types), kind)


def leaf(draw: Draw, kind: ScalarType, scope: Scope) -> Expression:
    """A variable, one of another type converted, or a constant."""
    if not scope.variables or draw.chance(20):
        return literal(draw, kind)
    variable = draw.pick([variable for variable in scope.variables if variable.type is kind] or scope.variables)
    return variable if variable.type is kind else Apply(f"A.cast({{}}, np.{kind.dtype.name})", (variable,), kind)


def extent(draw: Draw, scope: Scope) -> Expression:
    """An extent of an array that matters for it, as it is or beside a constant."""
    ref, array = draw.pick(scope.sizes)
    found = Extent(ref, draw.below(array.rank))
    if draw.chance(40):
        return found
    symbol = draw.pick(("+", "-", "*", "+", "-"))
    return Apply(f"({{}} {symbol} {{}})", (found, literal(draw, I64)), I64)


def load(draw: Draw, kind: ScalarType, scope: Scope, fuel: int) -> Load | None:
    """An element of an array of the scope, or None if there is no array of that type."""
    guarded = draw.chance(40)
    fitting = [
        (ref, leaf if len(array.element) > 1 else None, array.rank)
        for ref, array in scope.arrays
        for leaf, scalar in enumerate(array.element)
        if scalar is kind and form_of(array.element) is Form.PLAIN and (guarded or (array.is_known and array.size > 0))
    ]
    if not fitting:
        return None
    ref, leaf, rank = draw.pick(fitting)
    index = tuple(expression(draw, I64, scope, min(2, fuel - 1)) for _ in range(rank))
    if rank and not guarded and draw.chance(30):
        return Load(ref, leaf, index, kind, False, Clamp.UPPER if scope.faulty else Clamp.BOTH)
    return Load(ref, leaf, index, kind, guarded and rank > 0)


def loop(draw: Draw, kind: ScalarType, scope: Scope, fuel: int) -> Loop:
    """A scalar loop of a few turns."""
    name = f"w{scope.loops}"
    value = Variable(f"{name}[1]", kind)
    inner = replace(scope, variables=(*scope.variables, value), loops=scope.loops + 1)
    initial = expression(draw, kind, scope, fuel // 3)
    return Loop(name, draw.below(5), initial, expression(draw, kind, inner, fuel // 2), kind)


def parameter(name: str, element: Element) -> tuple[Variable, ...]:
    """The leaves of a function's parameter."""
    return tuple(Variable(text, kind) for text, kind in zip(parts(name, element), element, strict=True))


def index_parameter(name: str, rank: int) -> tuple[Variable, ...]:
    """The parts of an index parameter."""
    return tuple(Variable(f"A.unindex({name})[{axis}]", I64) for axis in range(rank))


def function(
    draw: Draw, parameters: Sequence[tuple[str, tuple[Variable, ...]]], result: Element, scope: Scope
) -> Function:
    """A random function of these parameters."""
    variables = tuple(variable for _, leaves in parameters for variable in leaves)
    inner = replace(scope, variables=(*scope.variables, *variables))
    results = tuple(expression(draw, kind, inner) for kind in result)
    return Function(tuple(name for name, _ in parameters), results, form_of(result))


def constant_text(value: Literal) -> str:
    """A typed constant as Python source."""
    number = repr(value.value)
    if isinstance(value.value, float) and not math.isfinite(value.value):
        number = f"float('{value.value}')"
    return f"A.constant({number}, np.{value.type.dtype.name})"


def text(expression: Expression, name: Callable[[Ref], str]) -> str:
    """An expression as Python source; `name` gives an array's."""
    match expression:
        case Literal():
            return constant_text(expression)
        case Variable(written, _):
            return written
        case Apply(template, arguments, _):
            return template.format(*(text(argument, name) for argument in arguments))
        case Load():
            return load_text(expression, name)
        case Extent(array, axis):
            return f"A.unlift({name(array)}.shape)[{axis}]"
        case Loop(state, count, initial, body, _):
            start = f"A.lift(A.constant(0, np.int64), {text(initial, name)})"
            step = f"A.lift({state}[0] + 1, {text(body, name)})"
            return f"A.while_(lambda {state}: {state}[0] < {count}, lambda {state}: {step}, {start})[1]"


def load_text(load: Load, name: Callable[[Ref], str]) -> str:
    """A load as Python source."""
    array, item = name(load.array), "" if load.leaf is None else f"[{load.leaf}]"
    if not load.index:
        return f"A.the({array}){item}"
    index = [text(part, name) for part in load.index]
    extents = [f"A.unlift({array}.shape)[{axis}]" for axis in range(len(index))]
    if load.clamp is not None:
        upper = [f"A.min({part}, {extent} - 1)" for part, extent in zip(index, extents, strict=True)]
        moved = upper if load.clamp is Clamp.UPPER else [f"A.max({part}, A.constant(0, np.int64))" for part in upper]
        return f"{array}[{', '.join(moved)}]{item}"
    if not load.guarded:
        wrapped = (f"{part} % {extent}" for part, extent in zip(index, extents, strict=True))
        return f"{array}[{', '.join(wrapped)}]{item}"
    tests = " & ".join(f"({i} >= 0) & ({i} < {n})" for i, n in zip(index, extents, strict=True))
    return f"A.cond({tests}, {array}[{', '.join(index)}]{item}, {zero(load.type)})"


def function_text(function: Function, name: Callable[[Ref], str]) -> str:
    """A function as a lambda; without parameters, its result."""
    results = [text(result, name) for result in function.results]
    body = made(function.form, [result.type for result in function.results], results)
    return f"lambda {', '.join(function.parameters)}: {body}" if function.parameters else body


def check(function: Function, result: Element, types: Sequence[tuple[Variable, ...]]) -> bool:
    """The function's results have the leaves' types, and every variable is one of its parameters'."""
    known = {variable for leaves in types for variable in leaves}

    def bound(value: Expression, inner: frozenset[Variable]) -> bool:
        if isinstance(value, Variable):
            return value in known or value in inner
        if isinstance(value, Loop):
            own = inner | {Variable(f"{value.name}[1]", value.type)}
            return bound(value.initial, inner) and bound(value.body, own)
        return all(bound(part, inner) for part in _parts(value))

    right = tuple(value.type for value in function.results) == tuple(result) and function.form is form_of(result)
    return right and all(bound(value, frozenset()) for value in function.results)


def _parts(value: Expression) -> tuple[Expression, ...]:
    match value:
        case Apply(_, arguments, _):
            return arguments
        case Load(index=index):
            return index
        case _:
            return ()
