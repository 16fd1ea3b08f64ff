"""What run time refuses, mypy refuses, and the other way round: each scalar operation at each element type.

Expressions over operands of one element type are built, and given to mypy as a program. Neither side knows of the other, so
each says whether the other is right. Where mypy cannot say what run time says, `EXCEPTIONS` says why.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from tests.marks import slow

ROOT = Path(__file__).parents[2]


class Pair(A.Record):
    """An element with names."""

    a: A.Field[np.float32]
    b: A.Field[np.int64]


SCALARS = (
    "bool_", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64",
    "complex128",
)  # fmt: skip
NESTED = (
    "tuple[np.float32, np.int32]",
    "tuple[np.float32, np.complex64]",
    "A.Maybe[np.float32]",
    "A.Maybe[np.complex64]",
    "Pair",
)
KINDS = (*[f"np.{name}" for name in SCALARS], *NESTED)


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


UNARY = words("""
    abs acos acosh asin asinh atan atanh boolToInt cbrt ceiling cis conjugate cos cosh countLeadingZeros
    countTrailingZeros erf erfc even exp expm1 floor imag isInfinite isNaN log log1p log2 log10 magnitude neg odd phase
    popCount real recip round signum sin sinh sqrt tan tanh truncate
""")
BINARY = words(
    "add sub mul div mod quot rem pow min max eq ne lt le gt ge gcd lcm atan2 copysign hypot logBase xor mkComplex"
)
INFIX = words("+ - * / // % ** < <= > >= == != & | ^")
OF_A_COUNT = words("shiftL shiftR rotateL rotateR testBit setBit clearBit complementBit")
CONVERSIONS = words("cast bitcast fromIntegral toFloating floor ceiling truncate round")
TARGETS = words("bool_ int32 int64 float32 float64 complex64")
OF_ARRAYS = words("sort argsort maximum minimum argmax argmin sum product and_ or_")
OF_TYPES = ("Fold.sum({})", "Fold.product({})", "Fold.minimum({})", "Fold.maximum({})", "random.uniform(key, (3,), {})")
OTHERS = (
    "-x", "+x", "~x", "abs(x)", "divmod(x, y)", "x << n", "x >> n", "x << x", "A.fma(x, y, x)", "A.fma(x, 1, y)",
    "A.topK(2, xs)", "A.sortBy(lambda e: e, xs)", "A.searchsorted(xs, xs)", "A.dot(xs, xs)", "A.outer(xs, xs)",
    "A.matmul(m, m)", "m @ m", "A.tensordot(m, m)", "A.cond(x, x, y)", "A.filter(lambda e: e, xs)", "A.compact(xs, xs)",
    "A.gather(xs, xs)", "A.map(lambda e: e < e, xs)", "A.map(lambda e: e ^ e, xs)", "A.filter(lambda e: e > e, xs)",
    "A.while_(lambda e: e < e, lambda e: e, x)", "A.enumFromN((3,), x)", "A.assert_(x, y)",
)  # fmt: skip


def expressions(kind: str) -> Iterator[str]:
    """All that is tried with elements of a type."""
    for name in UNARY:
        yield from (f"A.{name}(x)", f"A.map(A.{name}, xs)")
    for name in BINARY:
        yield from (f"A.{name}(x, y)", f"A.{name}(x, 1)", f"A.{name}(1, x)", f"A.zipWith(A.{name}, xs, xs)")
    for sign in INFIX:
        yield from (f"x {sign} y", f"x {sign} 1", f"1 {sign} x")
    for name in ("add", "min", "max", "lt", "eq", "xor"):
        yield from (f"A.fold1(A.{name}, xs)", f"A.scanl1(A.{name}, xs)", f"A.fold(A.{name}, 0, xs)")
        yield from (f"A.permute(A.{name}, xs, lambda ix: A.just(ix), xs)", f"A.scatterWith(A.{name}, places, xs, xs)")
    yield from (f"A.{name}(x, n)" for name in OF_A_COUNT)
    yield from (f"A.{name}(x, np.{target})" for name in CONVERSIONS for target in TARGETS)
    yield from (f"A.{name}(xs)" for name in OF_ARRAYS)
    yield from OTHERS
    if kind not in NESTED:
        yield from ("A." + name.format(kind) for name in OF_TYPES)


Case: TypeAlias = tuple[str, str]
"""A type and an expression."""

NUMBER_BESIDE_A_BOOL = re.compile(r"\b1\b|, 0, xs")


def exception(kind: str, expression: str) -> str | None:
    """Why mypy cannot agree, if it cannot."""
    if kind == "np.bool_" and NUMBER_BESIDE_A_BOOL.search(expression):
        return "a Python int is taken beside all scalars: an overload for bools would take mypy ten times as long"
    if kind in NESTED and ("== 1" in expression or "!= 1" in expression or re.search(r"(eq|ne)\(x, 1\)", expression)):
        return "`object` has == and !=, which take anything"
    if kind in NESTED and re.search("1 [!=]= x|, 0, xs", expression):
        return "so; and a Python int is a seed, whatever the elements are"
    if expression in ("abs(x)", "m @ m"):
        return "mypy does not check the bound of a self type variable here"
    if "complex" in kind and expression.startswith("A.cast("):
        return (
            "which types a complex number is cast to depends on both; overloads would make mypy take functions for Any"
        )
    if expression in ("A.bitcast(x, np.bool_)", "A.bitcast(x, np.complex64)") and expression[16:-1] in kind:
        return "to its own type it is nothing"
    return None


def values(kind: str) -> dict[str, Any]:
    """Operands of a type. Any: of all types."""
    ones = A.use(np.ones(3, np.float32))
    complex_ones = A.use(np.ones(3, np.complex64))
    made: dict[str, Any] = {
        "tuple[np.float32, np.int32]": lambda: A.zip(ones, A.use(np.ones(3, np.int32))),
        "tuple[np.float32, np.complex64]": lambda: A.zip(ones, complex_ones),
        "A.Maybe[np.float32]": lambda: A.map(A.just, ones),
        "A.Maybe[np.complex64]": lambda: A.map(A.just, complex_ones),
        "Pair": lambda: A.map(lambda x: Pair(x, 1), ones),
    }
    xs = made[kind]() if kind in made else A.use(np.ones(3, getattr(np, kind[3:])))
    places = A.use(np.arange(3))
    square = A.generate((3, 3), lambda ix: xs[ix[0]])
    return {
        "A": A, "np": np, "xs": xs, "x": xs[0], "y": xs[1], "n": places[1], "places": places, "m": square,
        "key": A.random.key(1),
    }  # fmt: skip


def refused_when_run(kind: str) -> Iterator[Case]:
    """What raises `AccelTypeError` or another error of accel's."""
    names = values(kind)
    for expression in expressions(kind):
        try:
            eval(expression, dict(names))
        except A.AccelError:
            yield kind, expression


def program() -> tuple[str, dict[int, Case]]:
    """All of it as a text for mypy, and what stands on which line."""
    lines = ["from typing import Any", "import numpy as np", "import accel as A", "class Pair(A.Record):"]
    lines += ["    a: A.Field[np.float32]", "    b: A.Field[np.int64]"]
    where: dict[int, Case] = {}
    for number, kind in enumerate(KINDS):
        vector, matrix = f"A.Acc[A.Vector[{kind}]]", f"A.Acc[A.Matrix[{kind}]]"
        lines += [
            f"def f{number}(x: A.Exp[{kind}], y: A.Exp[{kind}], xs: {vector}, m: {matrix}, n: A.Exp[np.int64],"
            " places: A.Acc[A.Vector[np.int64]], key: A.random.Key) -> None:"
        ]
        for expression in expressions(kind):
            lines.append(f"    {expression}")
            where[len(lines)] = kind, expression
    return "\n".join(lines) + "\n", where


def refused_by_mypy(folder: Path) -> set[Case]:
    text, where = program()
    path = folder / "agreement.py"
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode in (0, 1), result.stdout + result.stderr
    found = [re.match(r".*agreement\.py:(\d+): error: ", line) for line in result.stdout.splitlines()]
    return {where[int(match[1])] for match in found if match}


@slow
@pytest.mark.first
def test_mypy_and_run_time_refuse_the_same(tmp_path: Path) -> None:
    when_run = {case for kind in KINDS for case in refused_when_run(kind)}
    by_mypy = refused_by_mypy(tmp_path)
    apart = sorted(case for case in when_run ^ by_mypy if exception(*case) is None)
    assert [(*case, "mypy accepts it" if case in when_run else "mypy refuses it") for case in apart] == []
    tried = {(kind, expression) for kind in KINDS for expression in expressions(kind)}
    assert 1000 < len(when_run) < len(tried) - 1000, "of both kinds there are many"
