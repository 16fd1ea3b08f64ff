"""Neighbouring elements, some to a work-item: each fetches and stores vectors of every array, and maps element by element.

So 16 bytes of each array are on their way for every work-item at a time, not those of one element. The last work-item may have
fewer elements; it goes through them without vectors.
"""

from __future__ import annotations

from collections.abc import Iterator

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, NestKernels, Scaffold
from accel.backends.opencl.code.naming import array_name
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import flat, merged_where_possible
from accel.ir import mentions
from accel.ir.nodes import Write
from accel.labelled.array import Array
from accel.schedule.nodes import Schedule
from accel.schedule.templates.gpu.maps import FETCHED, neighbours


def few_to_an_item(scaffold: Scaffold, schedule: Schedule) -> NestKernels:
    """The nest's only kernel."""
    nest = scaffold.nest
    (few,) = schedule.pieces[0].inside
    assert isinstance(few, int)
    whole = merged_where_possible(flat(nest, schedule.pieces[0].axis), nest)
    near = sorted(neighbours(nest), key=lambda array: (array.label, array.leaf))
    names = {array: f"near{number}" for number, array in enumerate(near)}
    written = {s.array for s in mentions.statements(nest) if isinstance(s, Write)}
    writer = Writer()
    every = Body(writer, scaffold.context, {}, near={array: f"{name}[k]" for array, name in names.items()})
    each = Body(writer, scaffold.context, {})
    writer.line(f"const position_t item = get_global_id(0) * (position_t){few};")
    every.statements(nest.body.before)
    with writer.block(f"if (item + {few} <= {whole.total})"):
        for array, name in names.items():
            writer.line(f"{c_type(array.element)} {name}[{few}];")
            if array not in written:
                for lanes, at, vector in _vectors(array, few):
                    writer.line(f"vstore{lanes}({vector}, 0, {name} + {at});")
        # Compilers write it out, and keep the elements in registers.
        with writer.block(f"for (int k = 0; k < {few}; ++k)"):
            whole.enter(every, "(item + k)")
            every.level(whole.body)
        for array, name in names.items():
            if array in written:
                for lanes, at, vector in _vectors(array, few):
                    writer.line(f"{vector} = vload{lanes}(0, {name} + {at});")
    with writer.block("else"), writer.block(f"for (position_t at = item; at < {whole.total}; ++at)"):
        whole.enter(each, "at")
        each.level(whole.body)
    scaffold.kernel("few", writer.text, Amount(whole.extents, few))
    return scaffold.done("some elements to a work-item")


def _vectors(array: Array, few: int) -> Iterator[tuple[int, int, str]]:
    """The elements of this work-item in memory: how many a vector has, after how many it begins, and its text.

    No vector is larger than what a GPU fetches at once, so arrays may begin wherever one of that size may
    (`accel/backends/opencl/machine/host_memory.py`).
    """
    lanes = min(few, FETCHED // array.element.bytes)
    for at in range(0, few, lanes):
        yield lanes, at, f"*(__global {c_type(array.element)}{lanes}*)({array_name(array)} + item + {at})"
