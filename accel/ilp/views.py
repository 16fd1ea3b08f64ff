"""Whether transposes, parts and windows of arguments are stored, or made by each cluster that reads them: what costs less is
planned."""

from __future__ import annotations

from accel.ilp.plan import plan
from accel.ilp.problem.options import Options
from accel.ilp.realise import Realised, realised
from accel.labelled.nodes import Program
from accel.labelled.passes.absorb import overwritten
from accel.labelled.passes.shapes.views import own_views


def best_realised(program: Program, options: Options) -> Realised:
    """The program with its plan; or that in which each cluster of the plan that reads such a view of an argument has its own.

    The latter if a plan of that costs less. Nothing is made twice with `duplicate=False`, or by strategies that do not ask for
    the least cost; and a solver that has not proved its first answer, as it was late, is not asked again.
    """
    found = realised(program, plan(program, options), options)
    if options.strategy != "ilp" or options.duplicate is False or not found.plan.proved:
        return found
    clusters = [cluster.labels for cluster in found.plan.clustering.clusters]
    apart = own_views(found.program, clusters, overwritten(found.program))
    if apart is found.program:
        return found
    other = realised(apart, plan(apart, options), options)
    return min(found, other, key=lambda one: one.plan.cost)
