"""What steps states, and what writes: the roots of what a kernel needs.

A schedule of several kernels runs the loop several times: each time with just the statements that lead to what this kernel
computes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from accel.ir import mentions
from accel.ir.nodes import LoopBody, ManyToOne, Nest, Scatter, Write


def steps(nest: Nest) -> Mapping[str, ManyToOne]:
    """The statement that steps each state."""
    return {s.state: s for s in mentions.statements(nest) if isinstance(s, ManyToOne)}


def stores(nest: Nest) -> Iterator[LoopBody]:
    """The statements that write to memory."""
    return (s for s in mentions.statements(nest) if isinstance(s, Write | Scatter))
