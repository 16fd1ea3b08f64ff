"""What arguments must have in common to count as equally large: for each such class ways are measured anew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from accel.ast.tree.leaves import Leaf, to_host


def size_class(arguments: Sequence[Leaf]) -> str:
    """For each argument the bits of its extents, and `+` if its rows are apart; of a single integer its own bits, since it may
    be an extent."""
    return " ".join(map(_one, arguments))


def _one(argument: Leaf) -> str:
    if not argument.ndim and argument.dtype.kind in "iu":
        return f"={int(to_host(argument)).bit_length()}"
    apart = "+" if isinstance(argument, np.ndarray) and not argument.flags.c_contiguous else ""
    return "x".join([str(extent.bit_length()) for extent in argument.shape]) + apart
