"""Conway's Game of Life on a torus: `python -m examples.life --steps 500`, animated in a terminal.

A generation is one stencil, whose boundary wraps around: nothing is asked of it but at the edges of the board. Elsewhere than
in a terminal the last generation is compared with NumPy's, and counted. NumPy's text is as long, as the rules are most of it;
but it makes eight shifted boards in each generation.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from functools import reduce
from itertools import product
from operator import add
from typing import TypeAlias

import numpy as np

import accel as A

Board: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.bool_]]
Cells: TypeAlias = A.Acc[A.Matrix[np.bool_]]

AROUND = tuple(place for place in product((-1, 0, 1), repeat=2) if place != (0, 0))
HOME = "\x1b[H"
CLEAR = "\x1b[2J"


def lives(n: A.Neighbourhood[A.DIM2, np.bool_]) -> A.Exp[np.bool_]:
    """Whether a cell lives in the next generation."""
    count = reduce(add, [A.cast(n(i, j), np.uint8) for i, j in AROUND])
    return (count == 3) | (n(0, 0) & (count == 2))


def generation(cells: Cells) -> Cells:
    """The next generation."""
    return A.stencil(lives, A.boundary.wrap, cells)


def generations(cells: Cells, steps: A.Acc[A.Scalar[np.int64]]) -> Cells:
    """The generation after so many steps."""
    return A.iterate(A.the(steps), generation, cells)


def generations_numpy(cells: Board, steps: int) -> Board:
    """The same in NumPy."""
    for _ in range(steps):
        count = reduce(add, [np.roll(cells, place, (0, 1)).astype(np.uint8) for place in AROUND])
        cells = (count == 3) | (cells & (count == 2))
    return cells


def inputs(rows: int = 40, columns: int = 80, seed: int = 0) -> Board:
    """A board on which three of ten cells live."""
    board: Board = np.random.default_rng(seed).random((rows, columns)) < 0.3
    return board


def picture(cells: Board) -> str:
    """Two rows of cells in each line of text."""
    upper, lower = cells[::2], np.zeros_like(cells[::2])
    lower[: len(cells) // 2] = cells[1::2]
    return "\n".join(
        "".join(" ▀▄█"[a + 2 * b] for a, b in zip(*rows, strict=True)) for rows in zip(upper, lower, strict=True)
    )


def animate(cells: Board, steps: int, pause: float) -> None:
    """Draw each generation over the one before."""
    step = A.runN(generation)
    print(CLEAR, end="")
    for number in range(steps + 1):
        print(f"{HOME}{picture(cells)}\ngeneration {number}", flush=True)
        if number < steps:
            time.sleep(pause)
            cells = step(cells)


def main(arguments: Sequence[str] | None = None) -> None:
    """Animate it in a terminal; elsewhere compare with NumPy, and count who lives at last."""
    parser = argparse.ArgumentParser(prog="examples.life", description="Conway's Game of Life on a torus")
    parser.add_argument("--steps", type=int, default=200, help="generations")
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--columns", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0, help="of the first generation")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between two generations")
    given = parser.parse_args(arguments)
    cells = inputs(given.rows, given.columns, given.seed)
    if sys.stdout.isatty():
        animate(cells, given.steps, given.pause)
        return
    last = A.runN(generations)(cells, np.int64(given.steps))
    np.testing.assert_array_equal(last, generations_numpy(cells, given.steps))
    print(f"after {given.steps} generations {np.count_nonzero(last)} of {last.size} cells live")
    written, fused = (A.explain(generation, strategy=strategy).loops for strategy in ("none", "ilp"))
    print(f"loops: {written} as written, {fused} fused")


if __name__ == "__main__":
    main()
