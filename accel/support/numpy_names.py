"""What to write in accel for what NumPy calls otherwise: the names of its functions, and the attributes of its arrays.

The table is data: errors repeat its right side, docs/numpy.md prints it, and tests/ast/test_numpy_names.py runs both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType, ModuleType
from typing import Final

import numpy as np

from accel.errors import AccelAttributeError, here
from accel.support.accelerate_names import ACCELERATE_NAMES
from accel.support.dataclass import frozen

NUMPY_FUNCTION: Final = "NumPy's functions do not take what has no value yet"
"""What to say to a NumPy function of an `Exp` or an `Acc`."""


@frozen
class Spelling:
    """An expression of NumPy and the same in accel.

    In both `xs` and `ys` are vectors of `n` floats, `i` and `j` of integers, `p` and `q` of bools; `m` is a matrix of 3 rows
    and `n` columns, `s` one of `n` and `n`; `mean` and `variance` are those of `xs`.
    """

    numpy: str
    accel: str


def _elementwise(names: Mapping[str, str], arguments: str, combinator: str) -> dict[str, Spelling]:
    """Functions that have another name in accel, at every element."""
    return {
        numpy: Spelling(f"np.{numpy}({arguments})", f"A.{combinator}(A.{accel}, {arguments})")
        for numpy, accel in names.items()
    }


_UNARY: Final[Mapping[str, str]] = MappingProxyType({
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctanh": "atanh", "fabs": "abs", "isinf": "isInfinite", "isnan": "isNaN", "negative": "neg",
    "reciprocal": "recip", "sign": "signum",
})  # fmt: skip
_BINARY: Final[Mapping[str, str]] = MappingProxyType({
    "arctan2": "atan2", "divide": "div", "equal": "eq", "float_power": "pow", "greater": "gt", "greater_equal": "ge",
    "less": "lt", "less_equal": "le", "multiply": "mul", "not_equal": "ne", "power": "pow", "remainder": "mod",
    "subtract": "sub", "true_divide": "div",
})  # fmt: skip
_OF_INTEGERS: Final[Mapping[str, str]] = MappingProxyType({
    "bitwise_xor": "xor", "fmod": "rem", "left_shift": "shiftL", "right_shift": "shiftR",
})  # fmt: skip

_JOINED = "A.append(xs, ys)"
_STACKED = "A.concatOn(0, A.replicate((1, A.All), xs), A.replicate((1, A.All), ys))"
_CLOSE = "A.and_(A.zipWith(lambda x, y: A.abs(x - y) <= 1e-8 + 1e-5 * A.abs(y), xs, ys))"
_CONVOLVED = "A.init(A.stencil(lambda n: 0.5 * n(1) + 0.2 * n(0), A.boundary.clamp, xs))"
_DISTINCT = (
    "A.compact(A.imap(lambda ix, x: (ix[0] == 0) | (x != A.sort(xs)[A.max(ix[0] - 1, 0)]), A.sort(xs)), A.sort(xs))[0]"
)
_HISTOGRAM = (
    "A.permute(A.add, A.fill((4,), 0), lambda ix: A.just(A.index(A.min(A.floor(xs[ix] + 2), 3))), A.fill((n,), 1))"
)
_IDENTITY = "A.generate((n, n), lambda ix: A.cond(ix[0] == ix[1], 1.0, 0.0))"

NUMPY_FUNCTIONS: Final[Mapping[str, Spelling]] = MappingProxyType(
    {
        **_elementwise(_UNARY, "xs", "map"),
        **_elementwise({"angle": "phase", "conj": "conjugate"}, "zs", "map"),
        **_elementwise(_BINARY, "xs, ys", "zipWith"),
        **_elementwise(_OF_INTEGERS, "i, j", "zipWith"),
        "allclose": Spelling("np.allclose(xs, ys)", _CLOSE),
        "amax": Spelling("np.amax(xs)", "A.maximum(xs)"),
        "amin": Spelling("np.amin(xs)", "A.minimum(xs)"),
        "arange": Spelling("np.arange(n)", "A.enumFromN((n,), 0)"),
        "around": Spelling("np.around(xs)", "A.map(lambda x: A.round(x, np.float64), xs)"),
        "array": Spelling("np.array([1.0, 2.0])", "A.use(np.array([1.0, 2.0]))"),
        "array_equal": Spelling("np.array_equal(xs, ys)", "A.and_(A.zipWith(A.eq, xs, ys))"),
        "asarray": Spelling("np.asarray([1.0, 2.0])", "A.use(np.asarray([1.0, 2.0]))"),
        "average": Spelling("np.average(xs)", "A.map(lambda t: t / n, A.sum(xs))"),
        "bincount": Spelling(
            "np.bincount(i, minlength=9)",
            "A.permute(A.add, A.fill((9,), 0), lambda ix: A.just(A.index(i[ix])), A.fill(i.shape, 1))",
        ),
        "bitwise_and": Spelling("np.bitwise_and(i, j)", "A.zipWith(lambda x, y: x & y, i, j)"),
        "bitwise_not": Spelling("np.bitwise_not(i)", "A.map(lambda x: ~x, i)"),
        "bitwise_or": Spelling("np.bitwise_or(i, j)", "A.zipWith(lambda x, y: x | y, i, j)"),
        "broadcast_to": Spelling("np.broadcast_to(xs, (3, n))", "A.replicate((3, A.All), xs)"),
        "ceil": Spelling("np.ceil(xs)", "A.map(lambda x: A.ceiling(x, np.float64), xs)"),
        "clip": Spelling("np.clip(xs, 1, 2)", "A.map(lambda x: A.max(1, A.min(x, 2)), xs)"),
        "column_stack": Spelling("np.column_stack([xs, ys])", f"A.transpose({_STACKED})"),
        "compress": Spelling("np.compress(p, xs)", "A.compact(p, xs)[0]"),
        "concatenate": Spelling("np.concatenate([xs, ys])", _JOINED),
        "convolve": Spelling('np.convolve(xs, [0.5, 0.2], "valid")', _CONVOLVED),
        "count_nonzero": Spelling("np.count_nonzero(xs)", "A.sum(A.map(lambda x: A.boolToInt(x != 0), xs))"),
        "cumprod": Spelling("np.cumprod(xs)", "A.scanl1(A.mul, xs)"),
        "cumsum": Spelling("np.cumsum(xs)", "A.scanl1(A.add, xs)"),
        "deg2rad": Spelling("np.deg2rad(xs)", "A.map(lambda x: x * (np.pi / 180), xs)"),
        "degrees": Spelling("np.degrees(xs)", "A.map(lambda x: x * (180 / np.pi), xs)"),
        "diagonal": Spelling("np.diagonal(s)", "A.generate((n,), lambda ix: s[ix[0], ix[0]])"),
        "diff": Spelling("np.diff(xs)", "A.zipWith(A.sub, A.tail(xs), A.init(xs))"),
        "divmod": Spelling("np.divmod(xs, ys)", "A.zipWith(lambda x, y: A.lift(*divmod(x, y)), xs, ys)"),
        "empty": Spelling("np.empty(n)", "A.fill((n,), 0.0)"),
        "exp2": Spelling("np.exp2(xs)", "A.map(lambda x: A.pow(2, x), xs)"),
        "expand_dims": Spelling("np.expand_dims(xs, 0)", "A.replicate((1, A.All), xs)"),
        "extract": Spelling("np.extract(p, xs)", "A.compact(p, xs)[0]"),
        "eye": Spelling("np.eye(n)", _IDENTITY),
        "flatnonzero": Spelling("np.flatnonzero(p)", "A.map(lambda t: t[0][0], A.filter(A.snd, A.indexed(p))[0])"),
        "floor_divide": Spelling("np.floor_divide(xs, ys)", "A.zipWith(lambda x, y: x // y, xs, ys)"),
        "fliplr": Spelling("np.fliplr(m)", "A.reverse(m)"),
        "flipud": Spelling("np.flipud(m)", "A.reverseOn(0, m)"),
        "fromfunction": Spelling(
            "np.fromfunction(lambda a, b: a + b, (2, 3))", "A.generate((2, 3), lambda ix: ix[0] + ix[1])"
        ),
        "full": Spelling("np.full(n, 7.0)", "A.fill((n,), 7.0)"),
        "full_like": Spelling("np.full_like(xs, 7.0)", "A.fill(xs.shape, 7.0)"),
        "histogram": Spelling("np.histogram(xs, 4, (-2, 2))[0]", _HISTOGRAM),
        "hstack": Spelling("np.hstack([xs, ys])", _JOINED),
        "identity": Spelling("np.identity(n)", _IDENTITY),
        "inner": Spelling("np.inner(xs, ys)", "A.dot(xs, ys)"),
        "invert": Spelling("np.invert(i)", "A.map(lambda x: ~x, i)"),
        "isfinite": Spelling("np.isfinite(xs)", "A.map(lambda x: ~(A.isNaN(x) | A.isInfinite(x)), xs)"),
        "linspace": Spelling("np.linspace(0, 1, n)", "A.enumFromStepN((n,), 0.0, 1 / (n - 1))"),
        "logical_and": Spelling("np.logical_and(p, q)", "A.zipWith(lambda x, y: x & y, p, q)"),
        "logical_not": Spelling("np.logical_not(p)", "A.map(lambda x: ~x, p)"),
        "logical_or": Spelling("np.logical_or(p, q)", "A.zipWith(lambda x, y: x | y, p, q)"),
        "logical_xor": Spelling("np.logical_xor(p, q)", "A.zipWith(A.xor, p, q)"),
        "mean": Spelling("np.mean(xs)", "A.map(lambda t: t / n, A.sum(xs))"),
        "median": Spelling("np.median(xs)", "A.unit((A.sort(xs)[(n - 1) // 2] + A.sort(xs)[n // 2]) / 2)"),
        "nansum": Spelling("np.nansum(xs)", "A.sum(A.map(lambda x: A.cond(A.isNaN(x), 0.0, x), xs))"),
        "ndim": Spelling("np.ndim(m)", "m.rank"),
        "nonzero": Spelling("np.nonzero(p)[0]", "A.map(lambda t: t[0][0], A.filter(A.snd, A.indexed(p))[0])"),
        "ones": Spelling("np.ones(n)", "A.fill((n,), 1.0)"),
        "ones_like": Spelling("np.ones_like(xs)", "A.fill(xs.shape, 1.0)"),
        "prod": Spelling("np.prod(xs)", "A.product(xs)"),
        "ptp": Spelling("np.ptp(xs)", "A.zipWith(A.sub, A.maximum(xs), A.minimum(xs))"),
        "rad2deg": Spelling("np.rad2deg(xs)", "A.map(lambda x: x * (180 / np.pi), xs)"),
        "radians": Spelling("np.radians(xs)", "A.map(lambda x: x * (np.pi / 180), xs)"),
        "ravel": Spelling("np.ravel(m)", "A.flatten(m)"),
        "repeat": Spelling("np.repeat(xs, 2)", "A.flatten(A.replicate((A.All, 2), xs))"),
        "rint": Spelling("np.rint(xs)", "A.map(lambda x: A.round(x, np.float64), xs)"),
        "roll": Spelling("np.roll(xs, 1)", "A.append(A.drop(n - 1, xs), A.take(n - 1, xs))"),
        "square": Spelling("np.square(xs)", "A.map(lambda x: x * x, xs)"),
        "stack": Spelling("np.stack([xs, ys])", _STACKED),
        "std": Spelling("np.std(xs)", "A.map(A.sqrt, variance)"),
        "swapaxes": Spelling("np.swapaxes(m, 0, 1)", "A.transposeOn(0, 1, m)"),
        "tile": Spelling("np.tile(xs, (3, 1))", "A.replicate((3, A.All), xs)"),
        "trace": Spelling("np.trace(s)", "A.sum(A.generate((n,), lambda ix: s[ix[0], ix[0]]))"),
        "tril": Spelling("np.tril(s)", "A.imap(lambda ix, x: A.cond(ix[1] <= ix[0], x, 0), s)"),
        "triu": Spelling("np.triu(s)", "A.imap(lambda ix, x: A.cond(ix[1] >= ix[0], x, 0), s)"),
        "trunc": Spelling("np.trunc(xs)", "A.map(lambda x: A.truncate(x, np.float64), xs)"),
        "unique": Spelling("np.unique(xs)", _DISTINCT),
        "var": Spelling("np.var(xs)", "A.sum(A.map(lambda x: (x - A.the(mean)) ** 2 / n, xs))"),
        "vdot": Spelling("np.vdot(xs, ys)", "A.dot(xs, ys)"),
        "vstack": Spelling("np.vstack([xs, ys])", _STACKED),
        "where": Spelling("np.where(p, xs, ys)", "A.zipWith3(A.cond, p, xs, ys)"),
        "zeros": Spelling("np.zeros(n)", "A.fill((n,), 0.0)"),
        "zeros_like": Spelling("np.zeros_like(xs)", "A.fill(xs.shape, 0.0)"),
    }
)
"""Functions of NumPy that accel has under another name, or has not and writes by its combinators."""

_SAME_AT_ELEMENTS: Final = (
    "abs", "cbrt", "cos", "cosh", "exp", "expm1", "log", "log1p", "sin", "sinh", "sqrt", "tan", "tanh",
)  # fmt: skip
_SAME_OF_TWO: Final = ("add", "copysign", "hypot")

SHARED_NAMES: Final[Mapping[str, Spelling]] = MappingProxyType(
    {
        **_elementwise({name: name for name in _SAME_AT_ELEMENTS}, "xs", "map"),
        **_elementwise({name: name for name in _SAME_OF_TWO}, "xs, ys", "zipWith"),
        **_elementwise({name: name for name in ("conjugate", "imag", "real")}, "zs", "map"),
        **_elementwise({"gcd": "gcd", "lcm": "lcm", "mod": "mod"}, "i, j", "zipWith"),
        "all": Spelling("np.all(p)", "A.and_(p)"),
        "any": Spelling("np.any(p)", "A.or_(p)"),
        "append": Spelling("np.append(xs, ys)", "A.append(xs, ys)"),
        "argmax": Spelling("np.argmax(m, axis=1)", "A.argmax(m)"),
        "argmin": Spelling("np.argmin(m, axis=1)", "A.argmin(m)"),
        "argsort": Spelling('np.argsort(xs, kind="stable")', "A.argsort(xs)"),
        "dot": Spelling("np.dot(xs, ys)", "A.dot(xs, ys)"),
        "einsum": Spelling('np.einsum("ij,jk->ik", s, s)', 'A.einsum("ij,jk->ik", s, s)'),
        "flip": Spelling("np.flip(m, axis=0)", "A.reverseOn(0, m)"),
        "floor": Spelling("np.floor(xs)", "A.map(lambda x: A.floor(x, np.float64), xs)"),
        "matmul": Spelling("np.matmul(s, s)", "A.matmul(s, s)"),
        "max": Spelling("np.max(m, axis=1)", "A.maximum(m)"),
        "maximum": Spelling("np.maximum(xs, ys)", "A.zipWith(A.max, xs, ys)"),
        "min": Spelling("np.min(m, axis=1)", "A.minimum(m)"),
        "minimum": Spelling("np.minimum(xs, ys)", "A.zipWith(A.min, xs, ys)"),
        "outer": Spelling("np.outer(xs, ys)", "A.outer(xs, ys)"),
        "reshape": Spelling("np.reshape(m, (4, 3))", "A.reshape((4, 3), m)"),
        "round": Spelling("np.round(xs)", "A.map(lambda x: A.round(x, np.float64), xs)"),
        "searchsorted": Spelling("np.searchsorted(np.sort(xs), ys)", "A.searchsorted(A.sort(xs), ys)"),
        "size": Spelling("np.size(m)", "A.unit(A.size(m))"),
        "sort": Spelling("np.sort(m)", "A.sort(m)"),
        "sum": Spelling("np.sum(m, axis=0)", "A.sum(A.transpose(m))"),
        "take": Spelling("np.take(xs, j % n)", "A.gather(A.map(lambda k: k % n, j), xs)"),
        "tensordot": Spelling("np.tensordot(s, s, 1)", "A.tensordot(s, s, 1)"),
        "transpose": Spelling("np.transpose(m)", "A.transpose(m)"),
    }
)
"""Functions of NumPy whose names accel has as well: how calls of them are written."""

_ALSO_METHODS = (
    "cumprod", "cumsum", "mean", "prod", "repeat", "std", "var",
)  # fmt: skip

ARRAY_ATTRIBUTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{name: NUMPY_FUNCTIONS[name].accel for name in _ALSO_METHODS},
        "T": "A.transpose(xs)",
        "argmax": "A.argmax(xs)",
        "argmin": "A.argmin(xs)",
        "argsort": "A.argsort(xs)",
        "all": "A.and_(xs)",
        "any": "A.or_(xs)",
        "astype": "A.map(lambda x: A.cast(x, np.float32), xs)",
        "clip": "A.map(lambda x: A.max(low, A.min(x, high)), xs)",
        "conj": "A.map(A.conjugate, xs)",
        "conjugate": "A.map(A.conjugate, xs)",
        "copy": "xs",
        "dot": "A.dot(xs, ys)",
        "flatten": "A.flatten(xs)",
        "imag": "A.map(A.imag, xs)",
        "item": "A.the(xs)",
        "max": "A.maximum(xs)",
        "min": "A.minimum(xs)",
        "ndim": "xs.rank",
        "ravel": "A.flatten(xs)",
        "real": "A.map(A.real, xs)",
        "reshape": "A.reshape(shape, xs)",
        "round": "A.map(lambda x: A.round(x, np.float64), xs)",
        "size": "A.size(xs)",
        "sort": "A.sort(xs)",
        "sum": "A.sum(xs)",
        "swapaxes": "A.transposeOn(0, 1, xs)",
        "take": "A.gather(indices, xs)",
        "tolist": "A.run(xs).tolist()",
        "transpose": "A.transpose(xs)",
    }
)
"""What to write for the attributes of NumPy's arrays, of an `Acc` called `xs`."""

SCALAR_ATTRIBUTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "astype": "A.cast(e, np.float32)",
        "clip": "A.max(low, A.min(e, high))",
        "conj": "A.conjugate(e)",
        "conjugate": "A.conjugate(e)",
        "dtype": "e.type",
        "imag": "A.imag(e)",
        "item": "A.run(A.unit(e)).item()",
        "real": "A.real(e)",
        "round": "A.round(e)",
        "view": "A.bitcast(e, np.float32)",
    }
)
"""What to write for the attributes of NumPy's scalars, of an `Exp` called `e`."""

_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {"bool": "np.bool_", "complex": "np.complex128", "float": "np.float64", "int": "np.int64"}
)
"""Python's types as NumPy's."""


def missing(name: str, known: Iterable[str]) -> AttributeError:
    """The error for a name that accel lacks: what to write if NumPy or Accelerate has it, else which of `known` is like it."""
    message = f"module 'accel' has no attribute {name!r}"
    if name.startswith("_"):  # Python and its tools ask for such names
        return AttributeError(message)
    return AccelAttributeError(message, here(), hint=_instead(name, known))


def _instead(name: str, known: Iterable[str]) -> str:
    """What to write instead of a name that accel lacks."""
    if name in NUMPY_FUNCTIONS:
        spelling = NUMPY_FUNCTIONS[name]
        return f"for `{spelling.numpy}` write `{spelling.accel}`"
    if name in ACCELERATE_NAMES:
        return f"write `{ACCELERATE_NAMES[name]}`"
    of_numpy = getattr(np, name, None)
    if isinstance(of_numpy, (float, type)):
        return f"write `np.{name}`"
    if callable(of_numpy) or isinstance(of_numpy, ModuleType):
        return "NumPy's works on arrays of the host, before `A.use` or after `A.run`"
    from difflib import get_close_matches  # for errors only

    close = get_close_matches(name, known, n=1)
    return f"is `A.{close[0]}` meant?" if close else "`dir(A)` lists all names"


def attribute_hint(
    attributes: Mapping[str, str], name: str, stands_for: str, value: str, given: tuple[str, ...]
) -> str:
    """What to write for `value.name(given)`: the text of `attributes`, which calls the value `stands_for`."""
    text = attributes[name]
    if name in ("astype", "view") and len(given) == 1:
        text = text.replace("np.float32", _TYPES.get(given[0], _dtype(given[0])))
    return re.sub(rf"\b{stands_for}\b", lambda _: value, text) if value else text


def _dtype(text: str) -> str:
    """A type as accel takes it: `np.float32` for `"float32"`."""
    return f"np.{text[1:-1]}" if text[:1] in "'\"" and text[1:-1].isidentifier() else text or "np.float32"
