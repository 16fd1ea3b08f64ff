"""A photograph whose grey levels are spread evenly: scikit-image's `moon`, which has few of them, equalised.

One loop counts the pixels of each level (`permute`), one adds them up (`scanl1`), one looks up what each pixel becomes.
NumPy's text is a line, because `bincount` and `cumsum` are functions there; here they are written out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from PIL import Image
from skimage import data, exposure

import accel as A

Bytes: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.uint8]]
Floats: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]

LEVELS = 256


def equalised(picture: A.Acc[A.Matrix[np.uint8]]) -> A.Acc[A.Matrix[np.float64]]:
    """For each pixel the share of all pixels that are no brighter."""
    levels = A.map(lambda pixel: A.cast(pixel, np.int64), picture)
    ones = A.map(lambda _: A.constant(1), levels)
    counts = A.permute(A.add, A.fill((LEVELS,), 0), lambda ix: A.just(A.index(levels[ix])), ones)
    no_brighter = A.scanl1(A.add, counts)
    size = A.toFloating(A.size(picture), np.float64)
    return A.map(lambda count: A.toFloating(count, np.float64) / size, A.gather(levels, no_brighter))


def equalised_numpy(picture: Bytes) -> Floats:
    """The same in NumPy."""
    return (np.bincount(picture.ravel(), minlength=LEVELS).cumsum() / picture.size)[picture]


def main(arguments: Sequence[str] | None = None) -> None:
    """Equalise the photograph, compare with scikit-image, write it, and show what was fused."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--output", type=Path, default=Path("out/equalised.png"), help="where to write it (PNG)")
    output: Path = parser.parse_args(arguments).output
    picture: Bytes = data.moon()
    found = A.run(equalised(A.use(picture)))
    np.testing.assert_array_equal(found, exposure.equalize_hist(picture))
    output.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray((found * (LEVELS - 1)).astype(np.uint8)).save(output)
    written, fused = (A.explain(equalised, strategy=strategy).loops for strategy in ("none", "ilp"))
    print(f"deviation of grey levels {picture.std() / LEVELS:.3f}, equalised {found.std():.3f}; written to {output}")
    print(f"loops: {written} as written, {fused} fused")


if __name__ == "__main__":
    main()
