"""Small elements, some to a work-item: each fetches and stores a vector of every array, and maps its elements one by one.

Four neighbouring bytes of each of 32 neighbours are the 128 bytes that GPUs fetch at once. Each array is read or written once.
"""

from __future__ import annotations

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
from accel.schedule.templates.gpu.maps import neighbours


def few_to_an_item(scaffold: Scaffold, schedule: Schedule) -> NestKernels:
    """The nest's only kernel."""
    nest = scaffold.nest
    (few,) = schedule.pieces[0].inside
    assert isinstance(few, int)
    whole = merged_where_possible(flat(nest, schedule.pieces[0].axis), nest)
    near = sorted(neighbours(nest), key=lambda array: (array.label, array.leaf))
    names = {array: f"near{number}" for number, array in enumerate(near)}
    written = {s.array for s in mentions.statements(nest) if isinstance(s, Write)}
    body = Body(Writer(), scaffold.context, {}, near={array: f"{name}[k]" for array, name in names.items()})
    writer = body.writer
    writer.line(f"const position_t item = get_global_id(0) * (position_t){few};")
    body.statements(nest.body.before)
    with writer.block(f"if (item < {whole.total})"):
        writer.line(f"const int here = (int)min((position_t){few}, {whole.total} - item);")
        for array, name in names.items():
            writer.line(f"{c_type(array.element)} {name}[{few}];")
            if array not in written:
                _move(writer, array, name, few, fetch=True)
        # As many iterations as there are elements at most: so compilers write them out, and keep the elements in registers.
        with writer.block(f"for (int k = 0; k < {few}; ++k)"), writer.block("if (k < here)"):
            whole.enter(body, "(item + k)")
            body.level(whole.body)
        for array, name in names.items():
            if array in written:
                _move(writer, array, name, few, fetch=False)
    scaffold.kernel("few", writer.text, Amount(whole.extents, few))
    return scaffold.done("some elements to a work-item")


def _move(writer: Writer, array: Array, name: str, few: int, *, fetch: bool) -> None:
    """Fetch or store the elements of this work-item: as one vector, if all are there."""
    # Buffers begin where any vector may; see `accel/backends/opencl/machine/memory.py`.
    vector = f"*(__global {c_type(array.element)}{few}*)({array_name(array)} + item)"
    near, far = f"{name}[k]", f"{array_name(array)}[item + k]"
    with writer.block(f"if (here == {few})"):
        writer.line(f"vstore{few}({vector}, 0, {name});" if fetch else f"{vector} = vload{few}(0, {name});")
    with writer.block("else"), writer.block(f"for (int k = 0; k < {few}; ++k)"):
        writer.line(f"if (k < here) {near if fetch else far} = {far if fetch else near};")
