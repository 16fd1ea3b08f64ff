"""Outer loops without states: one work-item for each of their indices, the loops inside in sequence."""

from __future__ import annotations

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, Choice, NestKernels, Scaffold
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat
from accel.ir.nodes import Nest
from accel.schedule.legality import is_repeatable


def one_item_per_index(scaffold: Scaffold, flat: Flat, when: Choice | None = None) -> NestKernels:
    """The nest with its outermost loops spread over work-items. What stands outside of them and is no pure statement is run
    by the first work-item."""
    body = Body(Writer(), scaffold.context, dict(scaffold.types))
    writer = body.writer
    writer.line("const position_t item = get_global_id(0);")
    once = run_once(body, scaffold.nest, "item == 0")
    body.atomic = True
    with writer.block(f"if (item < {flat.total})"):
        flat.enter(body, "item")
        body.level(flat.body)
    serial = flat.body.loop is not None
    items = Amount(flat.extents, least=1 if once else 0)
    scaffold.kernel("map", writer.text, items, serial=serial, when=when)
    return scaffold.done("one work-item per index")


def run_once(body: Body, nest: Nest, first: str) -> bool:
    """Write what stands outside of the loops of `nest`: pure statements for all work-items, others for the `first`
    alone. Gives whether there are others."""
    root = nest.body
    body.statements([statement for statement in root.before if is_repeatable(statement)])
    once = [s for s in (*root.before, *root.after) if not is_repeatable(s)]
    if once:
        with body.writer.block(f"if ({first})"):
            body.statements([s for s in root.before if not is_repeatable(s)])
            body.statements(root.after)
    return bool(once)
