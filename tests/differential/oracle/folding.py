"""The order of folds and scans, written down from docs/order.md; rows side by side, the combined dimension the last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from tests.differential.oracle.scalars import operate
from tests.differential.oracle.values import Tree, Tuple, Value, joined, leaves, picked

Combine: TypeAlias = Callable[[Tree, Tree], Tree]

BLOCK = 4096
VECTOR = 8


def part(tree: Tree, start: int, stop: int, step: int = 1) -> Tree:
    """A range of the last dimension."""
    return picked(tree, (Ellipsis, slice(start, stop, step)))


def extent(tree: Tree) -> int:
    """The last dimension's."""
    return int(leaves(tree)[0].data.shape[-1])


def fold(elements: Tree, combine: Combine, commutes: bool, lanes: int) -> Tree:
    """All of each row (at least one element) as one, of extent 1: rules 1 to 4 of the page."""
    blocks = [part(elements, start, start + BLOCK) for start in range(0, extent(elements), BLOCK)]
    one_block = _interleaved if commutes else _contiguous
    return _pairs([one_block(block, combine, lanes) for block in blocks], combine)


def _interleaved(block: Tree, combine: Combine, lanes: int) -> Tree:
    """Lane `l` takes every element `i` with `i mod lanes = l`; then the upper half of the lanes joins the lower."""
    size = extent(block)
    lane = part(block, 0, lanes)
    for start in range(lanes, size, lanes):
        row = part(block, start, start + lanes)
        lane = _overlaid(combine(part(lane, 0, extent(row)), row), lane)
    half = lanes // 2
    while half:
        upper = part(lane, half, 2 * half)
        if extent(upper):
            lane = _overlaid(combine(part(lane, 0, extent(upper)), upper), part(lane, 0, half))
        half //= 2
    return part(lane, 0, 1)


def _overlaid(first: Tree, whole: Tree) -> Tree:
    """`whole` with its beginning replaced."""
    rest = part(whole, extent(first), extent(whole))
    return joined([first, rest], -1) if extent(rest) else first


def _contiguous(block: Tree, combine: Combine, lanes: int) -> Tree:
    """Lane `l` takes a run of neighbours; then neighbouring lanes join, level by level."""
    run = BLOCK // lanes
    totals = []
    for start in range(0, extent(block), run):
        mine = part(block, start, start + run)
        total = part(mine, 0, 1)
        for k in range(1, extent(mine)):
            total = combine(total, part(mine, k, k + 1))
        totals.append(total)
    return _pairs(totals, combine)


def _pairs(parts: list[Tree], combine: Combine) -> Tree:
    """Neighbours join, level by level; an odd one at the end waits."""
    while len(parts) > 1:
        paired = [combine(left, right) for left, right in zip(parts[::2], parts[1::2], strict=False)]
        parts = paired + (parts[-1:] if len(parts) % 2 else [])
    return parts[0]


def scan(elements: Tree, combine: Combine, seed: Tree | None) -> Tree:
    """The inclusive results of each row, all of which have at least one element."""
    results = []
    block_carry = seed
    for start in range(0, extent(elements), BLOCK):
        block = part(elements, start, start + BLOCK)
        vector_carry: Tree | None = None
        for first in range(0, extent(block), VECTOR):
            local = _vector(part(block, first, first + VECTOR), combine)
            in_block = local if vector_carry is None else combine(vector_carry, local)
            vector_carry = part(in_block, extent(in_block) - 1, extent(in_block))
            results.append(in_block if block_carry is None else combine(block_carry, in_block))
        block_carry = part(results[-1], extent(results[-1]) - 1, extent(results[-1]))
    return joined(results, -1)


def _vector(lane: Tree, combine: Combine) -> Tree:
    """Steps of 1, 2 and 4 within a vector."""
    size = extent(lane)
    for distance in (1, 2, 4):
        if distance < size:
            moved = combine(part(lane, 0, size - distance), part(lane, distance, size))
            lane = joined([part(lane, 0, distance), moved], -1)
    return lane


# Which operators commute.


def commuting(combine: Combine, whole: Tree, kept: Sequence[int]) -> tuple[bool, ...]:
    """Whether lanes are interleaved for the components `kept`: both answers where an operator only acts like one that commutes.

    `whole` is any element.
    """
    left, right = _named(whole, "a"), _named(whole, "b")
    found, a, b = leaves(combine(left, right)), leaves(left), leaves(right)
    sure = [found[k].form in [(name, a[k].form, b[k].form) for name in _COMMUTING] for k in kept]
    if all(sure):
        return (True,)
    alike = all(one or _acts_like_one(combine, whole, k) for one, k in zip(sure, kept, strict=True))
    return (True, False) if alike else (False,)


_COMMUTING = ("add", "mul", "min", "max", "and", "or", "xor")


def _named(tree: Tree, side: str) -> Tree:
    if isinstance(tree, Tuple):
        return type(tree)(_named(item, f"{side}{k}") for k, item in enumerate(tree))
    assert isinstance(tree, Value)
    return Value(tree.data, tree.bad, (side,))


def _acts_like_one(combine: Combine, whole: Tree, component: int) -> bool:
    """Whether a component gives, on many values, what one of the commuting operators gives."""
    left, right = _probes(whole, 0), _probes(whole, 1)
    got = leaves(combine(left, right))[component]
    a, b = leaves(left)[component], leaves(right)[component]
    floating, boolean = a.dtype.kind == "f", a.dtype.kind == "b"
    names = _COMMUTING[:4] if floating else _COMMUTING[2:] if boolean else _COMMUTING
    return any(_same(got.data, operate(name, a, b).data) for name in names)


def _same(got: np.ndarray[tuple[int, ...], np.dtype[np.generic]], right: object) -> bool:
    expected = np.asarray(right)
    shape = np.broadcast_shapes(got.shape, expected.shape)
    got, expected = np.broadcast_to(got, shape), np.broadcast_to(expected, shape)
    if got.dtype.kind == "f":
        nans = np.isnan(got) & np.isnan(expected)
        return bool(np.all(nans | ((got == expected) & (np.signbit(got) == np.signbit(expected)))))
    return bool(np.array_equal(got, expected))


def _probes(tree: Tree, side: int) -> Tree:
    """Pseudo-random values and zeros of both signs, in place of an element."""
    if isinstance(tree, Tuple):
        return type(tree)(_probes(item, side + 2 * k + 2) for k, item in enumerate(tree))
    assert isinstance(tree, Value)
    random = np.random.default_rng(side)
    kind = tree.dtype
    if kind.kind == "b":
        return Value(random.integers(0, 2, 64).astype(kind))
    if kind.kind == "f":
        values = random.normal(0, 3, 64)
        values[random.integers(0, 64, 24)] = random.choice([0.0, -0.0, np.inf, -np.inf, 1.0, 1e30], 24)
        with np.errstate(over="ignore"):  # 1e30 is an infinity of 16 bits
            return Value(values.astype(kind))
    limits = np.iinfo(np.dtype(kind.name))
    values = random.integers(limits.min, limits.max, 64, kind, True)
    values[::3] = random.integers(0, 5, 22, kind)
    return Value(values)


def lanes(element: Sequence[np.dtype[np.generic]]) -> int:
    """Rule 2: fewer where a component is wide."""
    return 32 if any(kind.itemsize == 8 for kind in element) else 64
