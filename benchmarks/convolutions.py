"""Convolutions and their gradients beside NumPy's way to the same: `python -m benchmarks.convolutions [--type f64]`.

Each is a sum of products over windows of an array, which NumPy copies and multiplies as matrices (`sliding_window_view`,
`tensordot`). One thread; set `OPENBLAS_NUM_THREADS=1`. Candidates run in turn in one process; figures are least processor
times.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import accel as A
from benchmarks.rearrange import in_turn

Array = np.ndarray[tuple[int, ...], np.dtype[Any]]  # Any: of float32 or float64
Handle = Any  # Any: arrays and elements of six dimensions and more, of which mypy knows no rank
Program = Callable[[Handle, Handle], Handle]
index: Callable[..., Handle] = A.index  # of as many numbers

SIZES = [(3, 16, 56, 3), (16, 32, 28, 3), (32, 64, 28, 3), (64, 64, 14, 3), (3, 16, 56, 5), (16, 32, 28, 5)]
"""Channels that come in and go out, rows and columns of results, and of weights."""

IMAGES = 8


@dataclass(frozen=True, slots=True)
class Row:
    """Arguments, accel's program of them, and NumPy's."""

    name: str
    arguments: tuple[Array, Array]
    own: Program
    numpy: Callable[[Array, Array], Array]


def forward(x: Handle, w: Handle) -> Handle:
    """y[n, o, i, j] = sum over c, a, b of x[n, c, i + a, j + b] w[o, c, a, b]."""
    images, channels, rows, columns = A.unlift(x.shape)
    _, _, high, wide = A.unlift(w.shape)

    def window(ix: Handle) -> Handle:
        n, i, j, c, a, b = A.unindex(ix)
        return x[n, c, i + a, j + b]

    shape = index(images, rows - high + 1, columns - wide + 1, channels, high, wide)
    return A.einsum("nijcab,ocab->noij", A.generate(shape, window), w)


def by_weights(x: Handle, y: Handle) -> Handle:
    """w[o, c, a, b] = sum over n, i, j of x[n, c, i + a, j + b] y[n, o, i, j]."""
    images, channels, rows, columns = A.unlift(x.shape)
    _, _, high, wide = A.unlift(y.shape)

    def window(ix: Handle) -> Handle:
        n, c, a, b, i, j = A.unindex(ix)
        return x[n, c, i + a, j + b]

    shape = index(images, channels, rows - high + 1, columns - wide + 1, high, wide)
    return A.einsum("ncabij,noij->ocab", A.generate(shape, window), y)


def by_input(y: Handle, w: Handle) -> Handle:
    """x[n, c, i, j] = sum over o, a, b of y[n, o, i - a, j - b] w[o, c, a, b], where y has such an element."""
    images, outs, rows, columns = A.unlift(y.shape)
    _, _, high, wide = A.unlift(w.shape)

    def window(ix: Handle) -> Handle:
        n, i, j, o, a, b = A.unindex(ix)
        is_there = (i >= a) & (i - a < rows) & (j >= b) & (j - b < columns)
        return A.cond(is_there, y[n, o, A.min(A.max(i - a, 0), rows - 1), A.min(A.max(j - b, 0), columns - 1)], 0)

    shape = index(images, rows + high - 1, columns + wide - 1, outs, high, wide)
    return A.einsum("nijoab,ocab->ncij", A.generate(shape, window), w)


def forward_of_last(x: Handle, w: Handle) -> Handle:
    """With channels last: y[n, i, j, o] = sum over a, b, c of x[n, i + a, j + b, c] w[a, b, c, o]."""
    images, rows, columns, channels = A.unlift(x.shape)
    high, wide, _, _ = A.unlift(w.shape)

    def window(ix: Handle) -> Handle:
        n, i, j, a, b, c = A.unindex(ix)
        return x[n, i + a, j + b, c]

    shape = index(images, rows - high + 1, columns - wide + 1, high, wide, channels)
    return A.einsum("nijabc,abco->nijo", A.generate(shape, window), w)


def by_weights_of_last(x: Handle, y: Handle) -> Handle:
    """With channels last: w[a, b, c, o] = sum over n, i, j of x[n, i + a, j + b, c] y[n, i, j, o]; windows by a gather."""
    images, rows, columns, channels = A.unlift(x.shape)
    _, high, wide, _ = A.unlift(y.shape)

    def place(ix: Handle) -> Handle:
        n, i, j, a, b, c = A.unindex(ix)
        return index(n, i + a, j + b, c)

    shape = index(images, high, wide, rows - high + 1, columns - wide + 1, channels)
    return A.einsum("nijabc,nijo->abco", A.backpermute(shape, place, x), y)


def rows(kind: str, sizes: tuple[int, int, int, int], images: int = IMAGES) -> Iterator[Row]:
    """All of one size, by NumPy as its users write them."""
    channels, outs, side, width = sizes
    random = np.random.default_rng(7)

    def numbers(*shape: int) -> Array:
        return (random.random(shape) - 0.5).astype(kind)

    x, w = numbers(images, channels, side + width - 1, side + width - 1), numbers(outs, channels, width, width)
    y = numbers(images, outs, side, side)
    edge = (width - 1, width - 1)

    def windows(x: Array, w: Array) -> Array:
        found = np.tensordot(sliding_window_view(x, w.shape[2:], (2, 3)), w, ((1, 4, 5), (1, 2, 3)))
        return np.ascontiguousarray(found.transpose(0, 3, 1, 2))

    def padded(y: Array, w: Array) -> Array:
        turned = w[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
        return windows(np.pad(y, ((0, 0), (0, 0), edge, edge)), turned)

    def last(x: Array, w: Array) -> Array:
        return np.tensordot(sliding_window_view(x, w.shape[:2], (1, 2)), w, ((4, 5, 3), (0, 1, 2)))

    def of_weights(x: Array, y: Array) -> Array:
        return np.tensordot(y, sliding_window_view(x, (width, width), (2, 3)), ((0, 2, 3), (0, 2, 3)))

    def of_last_weights(x: Array, y: Array) -> Array:
        found = sliding_window_view(x, (width, width), (1, 2)).transpose(0, 1, 2, 4, 5, 3)
        return np.tensordot(found, y, ((0, 1, 2), (0, 1, 2)))

    x_last, y_last = (np.ascontiguousarray(each.transpose(0, 2, 3, 1)) for each in (x, y))
    w_last = np.ascontiguousarray(w.transpose(2, 3, 1, 0))
    yield Row("forward", (x, w), forward, windows)
    yield Row("by weights", (x, y), by_weights, of_weights)
    yield Row("by input", (y, w), by_input, padded)
    yield Row("channels last: forward", (x_last, w_last), forward_of_last, last)
    yield Row("by weights", (x_last, y_last), by_weights_of_last, of_last_weights)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.convolutions", description=__doc__)
    parser.add_argument("--type", choices=["f64", "f32"], default="f32")
    kind = {"f32": "float32", "f64": "float64"}[parser.parse_args().type]
    print(f"{IMAGES} images, {kind}: ms, and what NumPy takes")
    for sizes in SIZES:
        channels, outs, side, width = sizes
        print(f"{channels} to {outs} channels, {side} x {side}, weights of {width} x {width}")
        for row in rows(kind, sizes):
            own, other = in_turn([A.runN(row.own, threads=1), row.numpy], *row.arguments)
            print(f"  {row.name:24} {own * 1e3:8.2f} {other * 1e3:8.2f}   x {other / own:.2f}", flush=True)


if __name__ == "__main__":
    main()
