"""Maps whose columns ask for the same values (`accel/schedule/splitting/lines.py`): a work-item makes a row, these values
first, which it keeps in arrays of its own.

So stencils on CPUs load a sum of rows above and below once, and not once for each column that it stands in. Columns go by in
vectors, of which the last one ends with the row, so some elements are made twice; those in the margins of the nest's inside go
one by one, by the same work-item.
"""

from __future__ import annotations

from collections.abc import Callable

from accel.ast.tree.types import F32, F64
from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import NestKernels, Scaffold
from accel.backends.opencl.code.naming import array_name, stream_name
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.strips import ByStrips
from accel.backends.opencl.loops.vectors import Vectors, width
from accel.ir.mentions import loops
from accel.ir.nodes import Stream
from accel.schedule.nodes import Line, Schedule
from accel.schedule.splitting.inside import statements

ELEMENTS = 1024
"""About those of a group: groups are what cores share out."""


def in_lines(scaffold: Scaffold, schedule: Schedule) -> NestKernels | None:
    """A work-item for each row of a map; None where what it makes is no vectors of floats, sums and products of others."""
    shared = schedule.shared
    assert shared is not None
    if not scaffold.context.trusts:
        return None
    found = ByStrips(shared.nest, schedule)
    kind, count = shared.lines[0].array.element, shared.columns
    if kind not in (F32, F64):
        return None
    body = Body(Writer(), scaffold.context, dict(scaffold.types))
    strips = found.enter_rows(body, max(ELEMENTS // count, 1))
    for line in shared.lines:
        body.writer.line(f"{c_type(line.array.element)} {array_name(line.array)}[{count}];")
    column, lanes, last = loops(shared.nest)[-1].index, width(kind), count - found.margin.high
    if not _by_vectors(
        body, column, lanes, 0, count, lambda made: all(_keep(made, each, column) for each in shared.lines)
    ):
        return None
    if found.edges:
        found.write_edges(body)
    every = statements(shared.nest, schedule.inside)
    if not _by_vectors(body, column, lanes, found.margin.low, last, lambda made: made.write(every)):
        return None
    scaffold.kernel("lines", body.writer.text, strips, serial=True)
    return scaffold.done("a work-item for a row whose columns share values")


def _by_vectors(body: Body, column: Stream, lanes: int, first: int, end: int, write: Callable[[Vectors], bool]) -> bool:
    """Have columns written, from one to another one, some at once; whether they can be."""
    with body.writer.block(f"for (long from = {first}; from < {end}; from += {lanes})"):
        body.writer.line(f"const long {stream_name(column)} = min(from, {end - lanes}L);")
        return write(Vectors(body.writer, body.context, column))


def _keep(vectors: Vectors, line: Line, column: Stream) -> bool:
    """Write what makes some values of a line."""
    if not vectors.write([line.element]):
        return False
    vectors.store(line.array, line.element.outs[0], stream_name(column))
    return True
