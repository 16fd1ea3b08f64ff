"""The ways to carry a state through its loop: `analysis.py` chooses, `records.py` lays them out."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """How a state is carried.

    staged: a stack, then elements in the tile, then a tile of elements for each leaf (`staging.py`).
    simple: present (0 or 1), value: exact states, and scans in vectors. blocks: the stack of whole blocks that vector code
    pushes. lanes: a stack, then elements in the open block, then one value per lane. runs: a stack, elements in the open
    run, its value. scan: elements, whether there is a block carry, block carry, vector carry, total, three rows of a vector.
    """

    SIMPLE = "simple"
    BLOCKS = "blocks"
    LANES = "lanes"
    RUNS = "runs"
    SCAN = "scan"
    STAGED = "staged"
