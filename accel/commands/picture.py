"""A picture in a terminal."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

HALVES: Mapping[tuple[bool, bool], str] = {
    (False, False): " ",
    (True, False): "▀",
    (False, True): "▄",
    (True, True): "█",
}


def blocks(picture: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], columns: int = 96) -> str:
    """A matrix of bools as text, made small: a cell is on where more than a fifth of its pixels are; two rows a line."""
    step = max(1, picture.shape[1] // columns)
    high, wide = picture.shape[0] // step // 2 * 2, picture.shape[1] // step
    cells = picture[: high * step, : wide * step].reshape(high, step, wide, step).mean(axis=(1, 3)) > 0.2
    lines = []
    for upper, lower in cells.reshape(high // 2, 2, wide):
        cells_of_line = zip(upper.tolist(), lower.tolist(), strict=True)
        lines.append("".join(HALVES[cell] for cell in cells_of_line).rstrip())
    return "\n".join(lines)
