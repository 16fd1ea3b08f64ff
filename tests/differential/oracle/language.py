"""The names that a printed program uses: what stands for `A` when it runs here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, TypeAlias

import numpy as np

from tests.differential.oracle import arrays, asking, joining, keeping, movement, reductions, scalars
from tests.differential.oracle.arrays import Array, Function, Shape, known, mapped, typed
from tests.differential.oracle.complex_numbers import COMPLEX, of_two
from tests.differential.oracle.products import products
from tests.differential.oracle.random_numbers import RANDOM
from tests.differential.oracle.reductions import Orders, Scan
from tests.differential.oracle.scalar_names import SCALAR_NAMES
from tests.differential.oracle.segments import fold_segments, scan_segments, summed, whole
from tests.differential.oracle.sorting import SORTING
from tests.differential.oracle.spare import spare
from tests.differential.oracle.stencils import Boundaries, stencil
from tests.differential.oracle.values import (
    BOOL,
    Fault,
    Tree,
    Tuple,
    Value,
    integer,
    number,
    one,
)

Several: TypeAlias = Array | tuple[Array, ...]
"""An array, or the state of control flow over several."""


def names(orders: Orders) -> dict[str, object]:
    """Everything by name; folds take their order from `orders`."""
    return SCALAR_NAMES | COMPLEX | of_two(SCALAR_NAMES) | _CONTROL | _MAKING | _MOVING | _folding(orders)


class Language:
    """`A` of a program."""

    def __init__(self, orders: Orders) -> None:
        self._names = names(orders)

    def __getattr__(self, name: str) -> object:
        return self._names[name]


# Arrays: control flow.


def _the(array: Array) -> Tree:
    return array.at(())


def _branch(condition: Value, then: Several, orelse: Several) -> Several:
    if isinstance(then, Array):
        assert isinstance(orelse, Array)
        return Array(lambda: _taken(condition, then, orelse), "acond")
    assert isinstance(orelse, tuple)
    return tuple(_branched(condition, *both) for both in zip(then, orelse, strict=True))


def _branched(condition: Value, then: Array, orelse: Array) -> Array:
    return Array(lambda: _taken(condition, then, orelse), "acond")


def _taken(condition: Value, then: Array, orelse: Array) -> tuple[Shape, Callable[[], Tree]]:
    array = then if one(condition) else orelse
    return array.extents, lambda: array.element


def _awhile(condition: Callable[[Several], Array], step: Callable[[Several], Several], state: Several) -> Several:
    results: list[Several] = []

    def last() -> Several:
        if not results:
            found = state
            while one(_the(condition(found))):
                found = step(found)
            spare(found)
            results.append(found)
        return results[0]

    return _later(last, state)


def _iterate(count: Value, step: Callable[[Several], Several], state: Several) -> Several:
    return _iiterate(count, lambda turn, found: step(found), state)


def _iiterate(count: Value, step: Callable[[Value, Several], Several], state: Several) -> Several:
    def last() -> Several:
        found = state
        for turn in range(int(one(count))):
            found = step(integer(turn), found)
        spare(found)
        return found

    return _later(last, state)


def _later(last: Callable[[], Several], state: Several) -> Several:
    """The state that a loop ends with, computed when it is asked for."""

    def item(position: int) -> Array:
        def make() -> tuple[Shape, Callable[[], Tree]]:
            found = last()
            array = found if isinstance(found, Array) else found[position]
            return array.extents, lambda: array.element

        return Array(make, "awhile")

    return item(0) if isinstance(state, Array) else tuple(item(position) for position in range(len(state)))


_CONTROL: dict[str, object] = {
    "the": _the,
    "acond": _branch,
    "awhile": _awhile,
    "iterate": _iterate,
    "iiterate": _iiterate,
}


# Arrays: making them, and element by element.


def _zip(*parts: Array) -> Array:
    return mapped(lambda *items: Tuple(items), parts, False, "zip")


def _unzip(array: Array, count: int) -> tuple[Array, ...]:
    return tuple(_item(array, position) for position in range(count))


def _item(array: Array, position: int) -> Array:
    def elements() -> Tree:
        assert isinstance(array.element, Tuple)
        return array.element[position]

    return known(lambda: array.extents, elements, "unzip")


def _mapped(f: Function, *parts: Array) -> Array:
    return mapped(f, parts, False, "map")


def _imapped(f: Function, *parts: Array) -> Array:
    return mapped(f, parts, True, "imap")


def _fill(shape: object, value: Tree) -> Array:
    return arrays.generated(shape, lambda ix: value, "fill")


def _ones(shape: object, start: Value) -> Array:
    return movement.enumerated(shape, start, number(1, start.dtype))


def _same(array: Array) -> Array:
    return array


_ARITIES = {count: "" if count == 2 else str(count) for count in range(2, 10)}
_MAKING: dict[str, object] = {
    **{f"zipWith{number}": _mapped for number in _ARITIES.values()},
    **{f"izipWith{number}": _imapped for number in _ARITIES.values()},
    **{f"zip{number}": _zip for number in _ARITIES.values()},
    **{f"unzip{number}": partial(_unzip, count=count) for count, number in _ARITIES.items()},
    "map": _mapped,
    "imap": _imapped,
    "indexed": lambda array: mapped(lambda ix, x: Tuple((ix, x)), [array], True, "indexed"),
    "generate": lambda shape, f: arrays.generated(shape, f, "generate"),
    "fill": _fill,
    "unit": lambda value: _fill((), value),
    "enumFromN": _ones,
    "enumFromStepN": movement.enumerated,
    "nzip": _mapped,
    "linearIndex": asking.linear,
    "null": lambda array: number(prod(array.extents) == 0, BOOL),
    "sfoldl": asking.row_fold,
    "assert_": asking.asserted,
    "compute": _same,
    "atrace": lambda message, array: array,
    "foreign_acc": lambda function, fallback, array: fallback(array),
    "boundary": Boundaries,
    "stencil": stencil,
    "stencil2": stencil,
    "shape": lambda array: array.shape,
    "length": lambda array: integer(array.extents[0]),
    "size": lambda array: integer(prod(array.extents)),
    "random": RANDOM,
    **SORTING,
}


# Arrays: moving elements.


def _flipped(axis: int, array: Array) -> Array:
    return movement.permuted(array, lambda values: np.flip(values, axis), "reverse")


def _transposed(first: int, second: int, array: Array) -> Array:
    return movement.permuted(array, lambda values: np.swapaxes(values, first, second), "transpose")


def _cut(axis: int, array: Array, last: bool) -> Array:
    """Without the last element, or without the first; an empty array stays."""
    bounds: Callable[[int], tuple[int, int]] = (lambda n: (0, n - 1)) if last else (lambda n: (min(1, n), n))
    return movement.sliced(array, axis % len(array.extents), bounds, "init")


def _flatten(*given: Any) -> Array:
    """All dimensions as one, or that of an axis and the next."""
    if len(given) == 1:
        (array,) = given
        return known(lambda: (prod(array.extents),), lambda: array.element, "flatten")
    axis, array = given
    return _reshaped(array, axis, 2, lambda extents: (prod(extents),))


def _reshaped(array: Array, axis: int, count: int, change: Callable[[Shape], Shape]) -> Array:
    """The same elements with some dimensions changed."""

    def extents() -> Shape:
        before = array.extents
        return (*before[:axis], *change(before[axis : axis + count]), *before[axis + count :])

    return known(extents, lambda: array.element, "reshape")


def _subdivided(axis: int, block: int, array: Array) -> Array:
    def parts(extents: Shape) -> Shape:
        if block <= 0 or extents[0] % block:
            raise Fault("subdivide: no such blocks")
        return (extents[0] // block, block)

    return _reshaped(array, axis, 1, parts)


_MOVING: dict[str, object] = {
    "All": movement.ALL,
    "reverse": partial(_flipped, -1),
    "reverseOn": _flipped,
    "transpose": partial(_transposed, 0, 1),
    "transposeOn": _transposed,
    "take": partial(movement.take, -1),
    "takeOn": movement.take,
    "drop": partial(movement.drop, -1),
    "dropOn": movement.drop,
    "slit": partial(movement.slit, -1),
    "slitOn": movement.slit,
    "init": lambda array: _cut(-1, array, True),
    "initOn": lambda axis, array: _cut(axis, array, True),
    "tail": lambda array: _cut(-1, array, False),
    "tailOn": lambda axis, array: _cut(axis, array, False),
    "flip": _transposed,
    "flatten": _flatten,
    "subdivide": _subdivided,
    "reshape": movement.reshape,
    "replicate": movement.replicate,
    "slice": movement.slice_,
    "gather": movement.gather,
    "backpermute": movement.backpermute,
    "append": partial(joining.concatenated, -1),
    "concatOn": joining.concatenated,
    "gatherIf": joining.gather_if,
    "scatterIf": joining.scatter_if,
    "permuteWith": joining.permute_with,
    "permute": movement.permute,
    "update": keeping.update,
    "Fold": keeping.Fold,
    "permuteUnique": lambda defaults, f, array: movement.permute(lambda new, old: new, defaults, f, array),
    "scatterWith": movement.scatter_with,
    "scatter": movement.scatter,
}


# Arrays: folds, scans and filters.


def _folding(orders: Orders) -> dict[str, object]:
    def seeded(f: Function, seed: object, array: Array, dims: int | None = 1) -> Array:
        return reductions.fold(orders, f, typed(seed, array), array, dims)

    def unseeded(dims: int | None) -> Callable[[Function, Array], Array]:
        return lambda f, array: reductions.fold(orders, f, None, array, dims)

    def named(operator: str, seed: int | None) -> Callable[[Array], Array]:
        f = partial(scalars.operate, operator)
        if seed is None:
            return lambda array: reductions.fold(orders, f, None, array)
        return lambda array: reductions.fold(orders, f, typed(seed, array), array)

    def tested(operator: str, seed: bool) -> Callable[[Function, Array], Array]:
        return lambda f, array: named(operator, seed)(_mapped(f, array))

    def segments(offsets: Callable[[Array], list[int]]) -> tuple[object, object]:
        def with_seed(f: Function, seed: object, array: Array, descriptor: Array) -> Array:
            return fold_segments(orders, f, typed(seed, array), array, lambda: offsets(descriptor))

        def without(f: Function, array: Array, descriptor: Array) -> Array:
            return fold_segments(orders, f, None, array, lambda: offsets(descriptor))

        return with_seed, without

    by_lengths, by_offsets = segments(summed), segments(whole)
    return {
        "foldSeg": by_lengths[0],
        "fold1Seg": by_lengths[1],
        "foldSegOffsets": by_offsets[0],
        "fold1SegOffsets": by_offsets[1],
        "fold": seeded,
        "foldAll": partial(seeded, dims=None),
        "fold1": unseeded(1),
        "fold1All": unseeded(None),
        "sum": named("add", 0),
        "product": named("mul", 1),
        "minimum": named("min", None),
        "maximum": named("max", None),
        "argmin": partial(reductions.position, np.argmin),
        "argmax": partial(reductions.position, np.argmax),
        "and_": named("and", True),
        "or_": named("or", False),
        "rnz": lambda f, g, *parts, seed=None: (
            unseeded(1)(f, _mapped(g, *parts)) if seed is None else seeded(f, seed, _mapped(g, *parts))
        ),
        **products(orders),
        "all": tested("and", True),
        "any": tested("or", False),
        "filter": reductions.filter_,
        "compact": keeping.compact,
        "partition": keeping.partition,
        "justs": keeping.justs,
        "expand": keeping.expand,
        "runFold": partial(keeping.run_fold, orders),
        **_scanning(False),
        **_scanning(True),
    }


def _scanning(from_right: bool) -> dict[str, object]:
    end = "r" if from_right else "l"

    def scan(f: Function, seed: Tree | None, array: Array) -> Scan:
        return Scan(f, seed, array, from_right)

    def seeded_afterwards(f: Function, seed: object, array: Array) -> Array:
        def last(x: Tree) -> object:
            return f(x, typed(seed, array)) if from_right else f(typed(seed, array), x)

        return _mapped(last, scan(f, None, array).every())

    def with_totals(f: Function, seed: Tree | None, array: Array) -> Sequence[Array]:
        found = scan(f, seed, array)
        return found.exclusive(), found.totals()

    def segmented(
        form: Callable[[Function, Tree | None, Array], Sequence[Array]],
    ) -> Callable[[Function, object, Array, Array], list[Array]]:
        return lambda f, seed, array, lengths: scan_segments(
            lambda part: form(f, None if seed is None else typed(seed, part), part),
            seed,
            array,
            lambda: summed(lengths),
        )

    longer = segmented(lambda f, seed, part: [Scan(f, seed, part, from_right).longer()])
    every = segmented(lambda f, seed, part: [Scan(f, seed, part, from_right).every()])
    afterwards = segmented(lambda f, seed, part: [seeded_afterwards(f, seed, part)])
    totals = segmented(lambda f, seed, part: with_totals(f, seed, part))
    return {
        f"scan{end}Seg": lambda f, seed, array, lengths: longer(f, seed, array, lengths)[0],
        f"scan{end}1Seg": lambda f, array, lengths: every(f, None, array, lengths)[0],
        f"postscan{end}Seg": lambda f, seed, array, lengths: afterwards(f, seed, array, lengths)[0],
        f"prescan{end}Seg": lambda f, seed, array, lengths: totals(f, seed, array, lengths)[0],
        f"scan{end}TotalSeg": totals,
        f"scan{end}1": lambda f, array: Scan(f, None, array, from_right).every(),
        f"scan{end}": lambda f, seed, array: scan(f, seed, array).longer(),
        f"prescan{end}": lambda f, seed, array: scan(f, seed, array).exclusive(),
        f"postscan{end}": seeded_afterwards,
        f"scan{end}Total": with_totals,
    }
