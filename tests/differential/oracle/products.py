"""Linear algebra: products laid out in one array, the summed dimensions innermost, which is then folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

import numpy as np

from tests.differential.oracle.arrays import Array, known
from tests.differential.oracle.reductions import Orders, fold
from tests.differential.oracle.scalars import operate
from tests.differential.oracle.values import BOOL, Data, Fault, Tree, Value, number

LETTERS = "abcdefghijklmnop"


def _extents(inner: Sequence[str], arrays: Sequence[Array]) -> dict[str, int]:
    """What each letter stands for. Raises `Fault` if it stands for two extents."""
    found: dict[str, int] = {}
    for axes, array in zip(inner, arrays, strict=True):
        for letter, extent in zip(axes, array.extents, strict=True):
            if found.setdefault(letter, extent) != extent:
                raise Fault("a product of unequal extents")
    return found


def _laid_out(array: Array, axes: str, order: Sequence[str]) -> Data:
    """The elements with a dimension for each letter of `order`, of extent 1 where the array lacks it.

    Of a letter that it has twice, those where both indices are equal.
    """
    element = array.element
    assert isinstance(element, Value)
    data = element.data.reshape(array.extents)
    for letter in dict.fromkeys(axes):
        while axes.count(letter) > 1:
            first, second = axes.index(letter), axes.rindex(letter)
            data = np.moveaxis(np.diagonal(data, 0, first, second), -1, first)
            axes = axes[:second] + axes[second + 1 :]
    present = [letter for letter in order if letter in axes]
    data = data.transpose([axes.index(letter) for letter in present])
    return data.reshape([data.shape[present.index(letter)] if letter in present else 1 for letter in order])


def contract(orders: Orders, subscripts: str, *arrays: Array) -> Array:
    """`einsum`; the products are multiplied from the left, and summed in the order in which their letters first stand."""
    left, _, result = subscripts.partition("->")
    inner = left.split(",")
    summed = [letter for letter in dict.fromkeys(left.replace(",", "")) if letter not in result]
    order = [*result, *summed]

    def shape() -> tuple[int, ...]:
        found = _extents(inner, arrays)
        return tuple(found[letter] for letter in order)

    def elements() -> Tree:
        times = "and" if _kind(arrays[0]) == BOOL else "mul"
        parts = [Value(_laid_out(array, axes, order)) for array, axes in zip(arrays, inner, strict=True)]
        product = parts[0]
        for part in parts[1:]:
            product = operate(times, product, part)
        return Value(np.broadcast_to(product.data, shape()).reshape(prod(shape())))

    whole = known(shape, elements, "product")
    return _summed(orders, whole, len(summed)) if summed else whole


def _kind(array: Array) -> np.dtype[np.generic]:
    element = array.element
    assert isinstance(element, Value)
    return element.dtype


def _summed(orders: Orders, array: Array, dimensions: int) -> Array:
    """The innermost dimensions as one sum."""

    def folded() -> Array:
        kind = _kind(array)
        plus = partial(operate, "or" if kind == BOOL else "add")
        return fold(orders, plus, number(0, kind), array, dimensions)

    return known(lambda: array.extents[:-dimensions], lambda: folded().element, "product")


def products(orders: Orders) -> dict[str, object]:
    """The functions by their names."""

    def by(subscripts: Callable[..., str]) -> Callable[..., Array]:
        def function(xs: Array, ys: Array, *more: object) -> Array:
            return contract(orders, subscripts(len(xs.extents), len(ys.extents), *more), xs, ys)

        return function

    return {
        "einsum": partial(contract, orders),
        "dot": by(_dot),
        "matmul": by(_matmul),
        "outer": by(lambda left, right: "i,j->ij"),
        "tensordot": by(_tensordot),
    }


def _dot(left: int, right: int) -> str:
    outer, inner = LETTERS[: left - 1], LETTERS[left : left + right - 1].upper()
    return f"{outer}z,{inner[:-1]}z{inner[-1:]}->{outer}{inner}"


def _matmul(left: int, right: int) -> str:
    rows, columns = "y" * (left > 1), "x" * (right > 1)
    batches = LETTERS[: max(left, right, 2) - 2]
    first, second = (batches[len(batches) - max(rank - 2, 0) :] for rank in (left, right))
    return f"{first}{rows}z,{second}z{columns}->{batches}{rows}{columns}"


def _tensordot(left: int, right: int, axes: object = 2) -> str:
    """`axes` is how many, or a pair of axes of each."""
    if isinstance(axes, int):
        axes = (tuple(range(left - axes, left)), tuple(range(axes)))
    assert isinstance(axes, tuple)
    names = list(LETTERS[:left]), list(LETTERS[:right].upper())
    for letter, a, b in zip("xyz", *axes, strict=False):
        names[0][a] = names[1][b] = letter
    free = [letter for letter in (*names[0], *names[1]) if letter not in "xyz"]
    return f"{''.join(names[0])},{''.join(names[1])}->{''.join(free)}"
