"""Canny's edge detector on a real photograph: blur, gradient, non-maximum suppression, thresholds, hysteresis.

Neighbours are reached with `backpermute` (the blur), by indexing in `generate` (the gradient) and in `imap` (the
suppression). Hysteresis grows the strong edges along the weak ones until nothing changes: an `awhile`. The text of
NumPy and SciPy is half as long, since slices say there what neighbours are, and SciPy has the last step as a
function.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from PIL import Image
from scipy import ndimage
from skimage import data

import accel as A

Floats: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float32]]
Bools: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.bool_]]
Picture: TypeAlias = A.Acc[A.Matrix[np.float32]]
Marks: TypeAlias = A.Acc[A.Matrix[np.bool_]]
Number: TypeAlias = A.Exp[np.float32]
Whole: TypeAlias = A.Exp[np.int64]

LOW, HIGH = 0.15, 0.4
"""Gradients (of a picture in 0 .. 1) from which a pixel is a weak or a strong edge."""

TAN_22_5 = 0.41421357
"""Where a direction turns from horizontal or vertical to diagonal."""

NEIGHBOURHOOD = tuple((di, dj) for di in (-1, 0, 1) for dj in (-1, 0, 1))


def clamp(i: Whole, extent: Whole) -> Whole:
    """`i`, moved into 0 .. extent-1."""
    return A.max(A.min(i, extent - 1), 0)


def shifted(xs: Picture, di: int, dj: int) -> Picture:
    """`result[i, j] = xs[i + di, j + dj]`, clamped to the border."""
    rows, columns = A.unindex(xs.shape)

    def source(ix: A.Exp[tuple[int, int]]) -> A.Exp[tuple[int, int]]:
        i, j = A.unindex(ix)
        return A.index(clamp(i + di, rows), clamp(j + dj, columns))

    return A.backpermute(xs.shape, source, xs)


def weigh(a: Number, b: Number, c: Number, d: Number, e: Number) -> Number:
    """Five neighbours with the binomial weights 1 4 6 4 1."""
    return (a + e + (b + d) * 4 + c * 6) / 16


def blur(xs: Picture) -> Picture:
    """A Gaussian blur as a vertical and a horizontal pass."""
    vertical = A.compute(A.zipWith5(weigh, *(shifted(xs, di, 0) for di in (-2, -1, 0, 1, 2))))
    return A.zipWith5(weigh, *(shifted(vertical, 0, dj) for dj in (-2, -1, 0, 1, 2)))


def gradient(xs: Picture) -> A.Acc[A.Matrix[tuple[np.float32, np.float32]]]:
    """Sobel's derivatives along the rows and along the columns."""
    rows, columns = A.unindex(xs.shape)

    def derivatives(ix: A.Exp[tuple[int, int]]) -> A.Exp[tuple[np.float32, np.float32]]:
        i, j = A.unindex(ix)

        def at(di: int, dj: int) -> Number:
            return xs[clamp(i + di, rows), clamp(j + dj, columns)]

        down = (at(1, -1) + at(1, 0) * 2 + at(1, 1)) - (at(-1, -1) + at(-1, 0) * 2 + at(-1, 1))
        right = (at(-1, 1) + at(0, 1) * 2 + at(1, 1)) - (at(-1, -1) + at(0, -1) * 2 + at(1, -1))
        return A.lift(down, right)

    return A.generate(xs.shape, derivatives)


def suppress(down: Picture, right: Picture) -> Picture:
    """The magnitude of the gradient where it is a maximum across the edge, else 0."""
    magnitude = A.compute(A.zipWith(lambda d, r: A.sqrt(d * d + r * r), down, right))
    rows, columns = A.unindex(magnitude.shape)

    def keep(ix: A.Exp[tuple[int, int]], slopes: A.Exp[tuple[np.float32, np.float32]]) -> Number:
        i, j = A.unindex(ix)
        d, r = A.unlift(slopes)
        horizontal = A.abs(d) <= A.abs(r) * TAN_22_5
        vertical = A.abs(r) <= A.abs(d) * TAN_22_5
        di = A.cond(horizontal, A.constant(0, np.int64), A.constant(1, np.int64))
        slope = A.cond(d * r > 0, A.constant(1, np.int64), A.constant(-1, np.int64))
        dj = A.cond(horizontal, A.constant(1, np.int64), A.cond(vertical, A.constant(0, np.int64), slope))
        here = magnitude[i, j]
        before = magnitude[clamp(i - di, rows), clamp(j - dj, columns)]
        after = magnitude[clamp(i + di, rows), clamp(j + dj, columns)]
        return A.cond((here >= before) & (here >= after), here, A.constant(0, np.float32))

    return A.imap(keep, A.zip(down, right))


def connect(strong: Marks, weak: Marks) -> Marks:
    """All weak pixels that touch a strong one through weak ones."""
    rows, columns = A.unindex(weak.shape)

    def grow(marks: Marks) -> Marks:
        def touches(ix: A.Exp[tuple[int, int]], candidate: A.Exp[np.bool_]) -> A.Exp[np.bool_]:
            i, j = A.unindex(ix)
            near = A.constant(False, np.bool_)
            for di, dj in NEIGHBOURHOOD:
                near = near | marks[clamp(i + di, rows), clamp(j + dj, columns)]
            return candidate & near

        return A.imap(touches, weak)

    def step(state: tuple[Marks, A.Acc[A.Scalar[np.bool_]]]) -> tuple[Marks, A.Acc[A.Scalar[np.bool_]]]:
        marks, _ = state
        grown = grow(marks)
        changed = A.or_(A.flatten(A.zipWith(A.ne, marks, grown)))
        return grown, changed

    connected, _ = A.awhile(lambda state: state[1], step, (strong, A.unit(A.constant(True, np.bool_))))
    return connected


def canny(picture: Picture) -> Marks:
    """The edges of a picture with values from 0 to 1."""
    down, right = A.unzip(gradient(A.compute(blur(picture))))
    thin = A.compute(suppress(down, right))
    return connect(A.map(lambda m: m >= HIGH, thin), A.map(lambda m: m >= LOW, thin))


def canny_numpy(picture: Floats) -> Bools:
    """The same in NumPy, step by step, with SciPy's binary propagation for the hysteresis."""
    rows, columns = picture.shape

    def moved(xs: Floats, di: int, dj: int) -> Floats:
        i, j = np.clip(np.arange(rows) + di, 0, rows - 1), np.clip(np.arange(columns) + dj, 0, columns - 1)
        result: Floats = xs[i][:, j]
        return result

    def weigh(parts: list[Floats]) -> Floats:
        a, b, c, d, e = parts
        result: Floats = (a + e + (b + d) * np.float32(4) + c * np.float32(6)) / np.float32(16)
        return result

    vertical = weigh([moved(picture, di, 0) for di in (-2, -1, 0, 1, 2)])
    smooth = weigh([moved(vertical, 0, dj) for dj in (-2, -1, 0, 1, 2)])
    at = {(di, dj): moved(smooth, di, dj) for di in (-1, 0, 1) for dj in (-1, 0, 1)}
    two = np.float32(2)
    down = (at[1, -1] + at[1, 0] * two + at[1, 1]) - (at[-1, -1] + at[-1, 0] * two + at[-1, 1])
    right = (at[-1, 1] + at[0, 1] * two + at[1, 1]) - (at[-1, -1] + at[0, -1] * two + at[1, -1])
    magnitude = np.sqrt(down * down + right * right)
    horizontal = np.abs(down) <= np.abs(right) * np.float32(TAN_22_5)
    vertical_edge = np.abs(right) <= np.abs(down) * np.float32(TAN_22_5)
    thin = np.zeros_like(magnitude)
    directions = {
        (0, 1): horizontal,
        (1, 0): ~horizontal & vertical_edge,
        (1, 1): ~horizontal & ~vertical_edge & (down * right > 0),
        (1, -1): ~horizontal & ~vertical_edge & ~(down * right > 0),
    }
    for (di, dj), here in directions.items():
        maximum = (magnitude >= moved(magnitude, -di, -dj)) & (magnitude >= moved(magnitude, di, dj))
        thin = np.where(here & maximum, magnitude, thin)
    strong, weak = thin >= np.float32(HIGH), thin >= np.float32(LOW)
    return ndimage.binary_propagation(strong, structure=np.ones((3, 3), dtype=np.bool_), mask=weak)


def inputs() -> tuple[Floats]:
    """The photograph `camera` that comes with scikit-image, 512 by 512, in 0 .. 1."""
    return ((data.camera() / np.float32(255)).astype(np.float32),)


def main(arguments: Sequence[str] | None = None) -> None:
    """Find the edges of the photograph, compare with NumPy, and write both pictures."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--output", type=Path, default=Path("out/canny.png"), help="where to write the edges (PNG)")
    output: Path = parser.parse_args(arguments).output
    (picture,) = inputs()
    edges = A.run(canny(A.use(picture)))
    np.testing.assert_array_equal(edges, canny_numpy(picture))
    output.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(edges).save(output)
    print(f"{int(edges.sum())} of {edges.size} pixels are edges; written to {output}")
    written, fused = (A.explain(canny, strategy=strategy).loops for strategy in ("none", "ilp"))
    print(f"loops: {written} as written, {fused} fused")


if __name__ == "__main__":
    main()
