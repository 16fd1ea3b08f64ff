"""The workloads in Polars that are operations on columns: expressions over one frame."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import polars
from polars import col

from benchmarks.peers.peer import Program, Tool

x, y = col("x"), col("y")

EXPRESSIONS = MappingProxyType(
    {
        "dot": (x.dot(y),),
        "saxpy": (x * 2.5 + y,),
        "mapchain": (((x * 1.5 + 0.25) * 1.5 + 0.25) * 1.5 + 0.25,),
        "normalise2": (x / x.sum(), (x / x.cum_sum().sum()).alias("y")),
        "normfilter": (x / x.sum(), (x / x.filter(x > 0).sum()).alias("y")),
        "singleloop": (x.reverse() + (x * 3 + 1) + ((x * 3 + 1) - 7),),
        "gather": (y.gather(x),),
        "prefixsum": (x.cum_sum(),),
        "compact": (x.filter(x > 0),),
        "meanvar": (x.mean(), x.var(ddof=0).alias("y")),
    }
)


def _program(name: str) -> Program:
    # Any: Polars need not be installed.
    def run(*columns: Any) -> tuple[Any, ...]:
        frame = polars.DataFrame(dict(zip("xy", columns, strict=False)))
        return tuple(frame.select(*EXPRESSIONS[name]))

    return run


def tool(variant: str) -> Tool:
    """Polars, which makes its results with an allocator of its own."""
    named = {name: _program(name) for name in EXPRESSIONS}
    return Tool(MappingProxyType(named), given=lambda array: polars.Series(array), taken=lambda s: s.to_numpy())
