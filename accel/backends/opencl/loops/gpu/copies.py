"""Scatters that any order serves, into few targets: each work-group has a copy of them in its local memory.

In: a nest, its scatters, and the axis whose iterations work-items share out. Out: the kernel, in which a copy begins with what
is neutral; at its end the group combines each target that it has changed with that in global memory, by one atomic operation.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.opencl.code.atomics import combine_atomically
from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, Choice, NestKernels, Scaffold
from accel.backends.opencl.code.naming import array_name, extent_text
from accel.backends.opencl.code.spelling import c_type, constant
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat
from accel.backends.opencl.loops.maps import one_item_per_index, run_once
from accel.ir.nodes import Scatter

MOST_BYTES = 32 * 1024
"""Of local memory that the copies of a group take: OpenCL promises this much to every kernel."""

GROUP = 256
"""Work-items that share a copy."""

NEIGHBOURS = 4
"""Iterations that a work-item takes at a time: GPUs fetch 16 bytes for each best, and CPUs what lies together."""

EACH = 32
"""Iterations of a work-item, at least: so many groups are there that each has them, but no more than `MOST_GROUPS`. Beside
fewer, a group would be busy with its copy."""

MOST_GROUPS = 1024
"""Enough to fill any device; each group combines its copy once."""


def into_copies(scaffold: Scaffold, flat: Flat, scatters: Sequence[Scatter]) -> NestKernels:
    """The nest's kernels: with copies where they fit, else with scatters into global memory."""
    arrays = [array for scatter in scatters for array in scatter.arrays]
    limit = MOST_BYTES // sum(max(array.element.bytes, 4) for array in arrays) + 1
    few, many = (Choice(arrays[0].shape, limit, below=below) for below in (True, False))
    copies = {array: f"copy{number}" for number, array in enumerate(arrays)}
    body = Body(Writer(), scaffold.context, dict(scaffold.types), atomic=True, copies=copies)
    _kernel(body, scaffold, flat, scatters, limit - 1)
    items = Amount(flat.extents, EACH, least=1, needed=flat.needed, most=MOST_GROUPS * GROUP)
    scaffold.kernel("copies", body.writer.text, items, group=GROUP, when=few)
    one_item_per_index(scaffold, flat, many)
    return scaffold.done("scatters into copies of groups if these are small, else one work-item per index")


def _kernel(body: Body, scaffold: Scaffold, flat: Flat, scatters: Sequence[Scatter], most: int) -> None:
    writer = body.writer
    for array, copy in body.copies.items():
        word = "ulong" if array.element.bytes == 8 else "uint"
        writer.line(f"__local {word} {copy}_words[{most}];")
        writer.line(f"__local {c_type(array.element)}* {copy} = (__local {c_type(array.element)}*){copy}_words;")
    count = " * ".join(["(position_t)1", *map(extent_text, scatters[0].arrays[0].shape)])
    writer.line(f"const position_t targets = {count};")
    with writer.block(f"for (position_t at = get_local_id(0); at < targets; at += {GROUP})"):
        for scatter in scatters:
            for copy, neutral in _begun(body, scatter):
                writer.line(f"{copy}[at] = {neutral};")
    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
    run_once(body, scaffold.nest, "get_global_id(0) == 0")
    # As many as are launched, in one launch or in several.
    groups = f"clamp(({flat.total} + {GROUP * EACH - 1}) / {GROUP * EACH}, (position_t)1, (position_t){MOST_GROUPS})"
    every = f"{NEIGHBOURS * GROUP} * {groups}"
    with writer.block(
        f"for (position_t first = {NEIGHBOURS} * get_global_id(0); first < {flat.total}; first += {every})"
    ):
        writer.line(f"const position_t end = min(first + {NEIGHBOURS}, {flat.total});")
        with writer.block("for (position_t item = first; item < end; ++item)"):
            flat.enter(body, "item")
            body.level(flat.body)
    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
    with writer.block(f"for (position_t at = get_local_id(0); at < targets; at += {GROUP})"):
        for scatter in scatters:
            changed = " || ".join(f"{copy}[at] != {neutral}" for copy, neutral in _begun(body, scatter))
            with writer.block(f"if ({changed})"):
                places = [f"{array_name(array)}[at]" for array in scatter.arrays]
                values = [f"{body.copies[array]}[at]" for array in scatter.arrays]
                combine_atomically(scatter, places, values, writer, scaffold.context)


def _begun(body: Body, scatter: Scatter) -> list[tuple[str, str]]:
    """The copies of a scatter's targets, and with what each begins."""
    assert scatter.monoid.neutral is not None
    copies = [body.copies[array] for array in scatter.arrays]
    return list(zip(copies, map(constant, scatter.monoid.neutral), strict=True))
