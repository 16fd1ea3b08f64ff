"""A printed program's results by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product
from operator import itemgetter
from types import FunctionType, SimpleNamespace

import numpy as np

from tests.differential.oracle import arrays
from tests.differential.oracle.arrays import LARGEST_EXTENT, Array
from tests.differential.oracle.language import Language
from tests.differential.oracle.reductions import Orders
from tests.differential.oracle.spare import spare_fails
from tests.differential.oracle.values import Data, Fault, Tree, Tuple, leaves

VARIANTS = 64
"""The most combinations of orders of folds that are tried."""


def is_refused(arguments: Sequence[Data]) -> bool:
    """Whether an argument's extent is beyond what accel takes."""
    return any(extent > LARGEST_EXTENT for argument in arguments for extent in argument.shape)


def outcomes(function: Callable[..., object], arguments: Sequence[Data]) -> Iterator[list[Data] | Fault]:
    """The results of a function whose `A` is this package's, or why it has none: first those by docs/order.md as it stands.

    More follow where the page leaves an order to the simplifier; every one of them is a right answer.
    """
    orders = Orders({})
    yield _attempt(function, arguments, orders)
    open_places = {place: count for place, count in orders.counts.items() if count > 1}
    choices = product(*(range(count) for count in open_places.values()))
    for choice in islice(choices, 1, VARIANTS):
        yield _attempt(function, arguments, Orders(dict(zip(open_places, choice, strict=True))))


def may_fail(function: Callable[..., object], arguments: Sequence[Data]) -> bool:
    """Whether a function that has results may raise an error all the same: of something that no result needs."""
    program = _loaded(function, Orders({}))
    return spare_fails(lambda: results(program, arguments))


def _attempt(function: Callable[..., object], arguments: Sequence[Data], orders: Orders) -> list[Data] | Fault:
    try:
        return results(_loaded(function, orders), arguments)
    except Fault as fault:
        return fault


def _loaded(function: Callable[..., object], orders: Orders) -> Callable[..., Sequence[Array]]:
    """The same code as accel runs, with another language behind its names."""
    assert isinstance(function, FunctionType)
    return FunctionType(function.__code__, {"A": Language(orders), "np": np, "record": record})


def record(*kinds: str) -> SimpleNamespace:
    """A class of records: a tuple, whose items have names."""
    return _Record(**{f"x{number}": itemgetter(number) for number in range(len(kinds))})


class _Record(SimpleNamespace):
    def __call__(self, *items: Tree) -> Tree:
        return Tuple(items)


def results(program: Callable[..., Sequence[Array]], arguments: Sequence[Data]) -> list[Data]:
    """What a program gives, one array per scalar of each result. Raises `Fault`."""
    found: list[Data] = []
    for array in program(*map(arrays.host, arguments)):
        found += [leaf.data.reshape(array.extents) for leaf in leaves(array.element)]
    return found
