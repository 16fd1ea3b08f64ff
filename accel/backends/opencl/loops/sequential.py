"""A whole nest in one work-item: slow, and right for every nest. Also the kernel that finds out which check failed."""

from __future__ import annotations

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.functions import Context
from accel.backends.opencl.code.kernel import Amount, NestKernels, Scaffold
from accel.backends.opencl.code.prelude import Prelude
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.machine.features import Features
from accel.backends.sites import Site
from accel.ir.nodes import Nest

ONE = Amount(more=0, least=1)
"""One work-item."""


def sequential(scaffold: Scaffold) -> NestKernels:
    """The nest as it stands."""
    body = Body(Writer(), scaffold.context, dict(scaffold.types))
    body.level(scaffold.nest.body)
    scaffold.kernel("sequential", body.writer.text, ONE, group=1)
    return scaffold.done("one work-item")


def diagnosis(nest: Nest, features: Features) -> tuple[NestKernels, str, list[Site]]:
    """The nest without its stores, writing down the first check that fails: 1 + its number among the sites, and the index.

    Gives the kernel, the helper functions and the sites. It runs after the nest has failed; what a scatter changed
    meanwhile is not what indices are made of.
    """
    sites: list[Site] = []
    context = Context(features, Prelude(), sites)
    scaffold = Scaffold(nest, "nest", context)
    body = Body(Writer(), scaffold.context, dict(scaffold.types), stores=False)
    body.level(nest.body)
    scaffold.kernel("diagnosis", body.writer.text, ONE, group=1)
    return scaffold.done("one work-item"), context.prelude.text, sites
