"""From fusion trees to loop programs ([vB20 section 4.5]): clusters become nests, everything else steps of the host.

In: `accel.fusedast` programs. Out: `accel.ir` programs. A cluster that no single nest can hold is refused with
`AccelInternalError`: never wrong code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from accel.errors import AccelInternalError
from accel.fusedast import nodes as fusedast
from accel.fusedast.nodes import RootOfCluster, Unfused, UnfusedAcond, UnfusedAwhile
from accel.ir import nodes as ir
from accel.ir.lowering.cluster import lower_cluster
from accel.ir.lowering.sizes import mentioned_sizes
from accel.ir.nodes import Branch, HostSizes, Launch, Program, Repeat, Require, Step, View
from accel.ir.passes.first import with_first
from accel.ir.passes.layouts import laid_out
from accel.labelled.array import SizeVariable
from accel.labelled.nodes import Binding, BindSizes, Force, HostCall, RequireEqual, Reshape, Sort, Use


def lower(program: fusedast.Program, *, layouts: bool = True) -> Program:
    """The loop program. Raises `AccelInternalError` for a cluster that needs two loops at one depth.

    `layouts`: whether intermediate arrays may lie in memory in another order of dimensions than theirs.
    """
    mentioned = mentioned_sizes(program)
    steps = tuple(step for node in program.nodes for step in _steps(node, mentioned, layouts))
    made = Program(program.parameters, steps, program.results, program.own_shapes, program.equalities)
    needed = with_first(made)
    return laid_out(needed) if layouts else needed


def _steps(node: fusedast.Node, mentioned: frozenset[SizeVariable], layouts: bool) -> Iterator[Step]:
    match node:
        case RootOfCluster():
            yield Launch(lower_cluster(node, mentioned))
        case UnfusedAcond(binding, condition, then, orelse):
            yield Branch(condition, lower(then, layouts=layouts), lower(orelse, layouts=layouts), binding.arrays)
        case UnfusedAwhile(binding, condition, body, initial):
            yield Repeat(lower(condition, layouts=layouts), lower(body, layouts=layouts), initial, binding.arrays)
        case Unfused(binding):
            yield from _host_step(binding)
        case _:
            assert_never(node)


def _host_step(binding: Binding) -> Iterator[Step]:
    match binding.operation:
        case Use():
            pass  # parameters are there from the start
        case Reshape(inputs) | Force(inputs):
            yield View(binding.arrays, inputs, binding.where)
        case Sort(inputs, places, descending):
            yield ir.Sort(binding.arrays[0], inputs, places, descending, binding.where)
        case HostCall(function, inputs):
            yield ir.HostCall(binding.arrays, function, inputs, binding.where)
        case BindSizes(variables, function, name):
            yield HostSizes(variables, function, binding.where, name)
        case RequireEqual(left, right, name, left_where, right_where, message):
            yield Require(left, right, name, binding.where, left_where, right_where, message)
        case _:
            raise AccelInternalError(f"operation {binding.label} is a loop, and stands outside of clusters")
