"""Right programs to make wrong ones of: the examples in the docstrings of all public names, and the methods of handles.

In: docstrings. Out: programs as syntax trees, the last expression of each bound to `result`.
"""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator

import accel as A

UNASKED = frozenset({"devices", "DeviceMemory", "profile"})
"""Names whose examples are about the machine."""

METHODS = (
    "xs = A.use(np.arange(6.0).reshape(2, 3)); result = A.run(A.unit(xs[1, 2]))",
    "xs = A.use(np.arange(6.0)); result = A.run(A.map(lambda x: A.the(A.unit(xs[x])), A.use(np.array([3, 1]))))",
    "xs = A.use(np.ones((2, 3))); result = A.run(A.fill(xs.shape, xs.rank))",
    "xs = A.use(np.ones((2, 3))); ys = A.use(np.ones((3, 2))); result = A.run(xs @ ys)",
    "result = A.run(A.map(lambda x: (x + 1) * 2 - x / 3, A.use(np.ones(3))))",
    "result = A.run(A.map(lambda x: (x // 2) ** 2 % 3, A.use(np.arange(3))))",
    "result = A.run(A.map(lambda x: divmod(x, 2)[1], A.use(np.arange(3))))",
    "result = A.run(A.map(lambda x: (x << 1) ^ (x >> 1) | (~x & 3), A.use(np.arange(3))))",
    "result = A.run(A.map(lambda x: (x > 1) & (x <= 2) | ~(x == 1) & (x != 3), A.use(np.arange(3))))",
    "result = A.run(A.map(lambda x: abs(-x) + (+x), A.use(np.arange(3))))",
    "xs = A.use(np.arange(3)); result = A.run(A.map(lambda p: p[0] + p[1][0], A.zip(xs, A.zip(xs, xs))))",
    "result = A.run(A.generate((2, 3), lambda ix: ix[0] * 10 + ix[1]))",
    "result = A.run(A.stencil(lambda n: n(-1) + n(1), A.boundary.clamp, A.use(np.ones(4))))",
    "result = A.run(A.stencil(lambda n: n(-1, 0) + n(0, 1), A.boundary.constant(1.0), A.use(np.ones((3, 4)))))",
    "result = A.run(A.stencil(lambda n: n(2), A.boundary.function(lambda ix: A.cast(ix[0], np.float64)), A.use(np.ones(4))))",
    "f = A.runN(lambda xs, ys: A.zipWith(A.add, xs, ys)); result = f(np.ones(3), np.ones(3))",
    "f = A.runN(lambda xs: A.map(lambda x: x + 1, xs), backend='llvm', threads=2); result = f(np.ones(3), out=np.zeros(3))",
    "f = A.runN(lambda xs: A.map(lambda x: x + 1, xs)); result = f(np.ones(3), donate=(0,))",
    "f = A.runN(lambda p: A.zip(p[0], p[1])); result = f((np.ones(3), np.ones(3)))",
    "with A.using(backend='llvm', threads=1, strategy='greedy', checks='all'):\n    result = A.run(A.use(np.ones(3)))",
    "result = A.run((A.use(np.ones(3)), (A.use(np.arange(2)), A.unit(1))), backend='llvm', time_limit=3.0)",
)
"""What users do with an `Acc`, an `Exp`, and compiled functions."""


def examples() -> dict[str, ast.Module]:
    """The programs by the names that they are of."""
    found = {name: ast.parse(text) for name, text in _texts()}
    return {name: tree for name, tree in found.items() if _results_in_one(tree)}


def _texts() -> Iterator[tuple[str, str]]:
    for name in A.__all__:
        yield from _of(name, getattr(A, name))
    for name in A.random.__all__:
        yield from _of(f"random.{name}", getattr(A.random, name))
    for name in ("constant", "function"):
        yield from _of(f"boundary.{name}", getattr(A.boundary, name))
    for number, text in enumerate(METHODS):
        yield f"method {number}", text


def _of(name: str, value: object) -> Iterator[tuple[str, str]]:
    parts = doctest.DocTestParser().get_examples(value.__doc__ or "")
    if parts and name not in UNASKED:
        yield name, "".join(part.source for part in parts)


def _results_in_one(tree: ast.Module) -> bool:
    """Whether a program gives a result; the last value of one that has another name for it, or none, gets that one."""
    last = tree.body[-1]
    match last:
        case ast.Expr(value):
            tree.body[-1] = _result(value, last)
        case ast.Assign([ast.Name(name)]) if name != "result":
            tree.body.append(_result(ast.Name(name, ast.Load()), last))
    return "result" in ast.unparse(tree.body[-1])


def _result(value: ast.expr, at: ast.stmt) -> ast.stmt:
    assign = ast.Assign([ast.Name("result", ast.Store())], value)
    return ast.fix_missing_locations(ast.copy_location(assign, at))
