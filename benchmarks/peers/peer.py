"""What a tool gives to the benchmark, and which tools there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, TypeAlias

import numpy as np

from benchmarks.peers.workloads import Array, Cell

Program: TypeAlias = Callable[..., Any]  # Any: each tool has arrays of its own


class Runnable(Protocol):
    """What a worker calls."""

    def prepared(self, cell: Cell, inputs: tuple[Array, ...]) -> Callable[[], object] | None:
        """The workload, to be called as often as one likes; None if there is no such program."""
        ...

    def arrays(self, result: object) -> tuple[Array, ...]:
        """A result, in NumPy's arrays."""
        ...


@dataclass(frozen=True, slots=True)
class Tool:
    """Programs by the workload's name, ready to be called; how an input becomes the tool's own, and a result NumPy's again."""

    programs: Mapping[str, Program]
    given: Callable[[Array], object] = lambda array: array
    taken: Callable[[Any], Array] = np.asarray  # Any: as above
    elements: tuple[str, ...] = ("float32", "float64", "int32")

    def prepared(self, cell: Cell, inputs: tuple[Array, ...]) -> Callable[[], object] | None:
        """The workload, to be called as often as one likes; None if the tool has no such program."""
        program = self.programs.get(cell.workload.name)
        if program is None or cell.element not in self.elements:
            return None
        return partial(program, *(self.given(array) for array in inputs))

    def arrays(self, result: object) -> tuple[Array, ...]:
        """A result, in NumPy's arrays."""
        leaves = result if isinstance(result, (tuple, list)) else (result,)
        return tuple(np.asarray(self.taken(leaf)) for leaf in leaves)


@dataclass(frozen=True, slots=True)
class Peer:
    """A tool as it is measured: its module in `benchmarks/peers/programs`, the package that it needs, and a variant."""

    name: str
    module: str
    package: str
    variant: str = ""
    counted: bool = True
    """Whether accel must be as fast. What is compiled with fast-math flags gives other results than were asked for."""
    quick: bool = True
    """Whether `--quick` runs it."""
    allocates: bool = True
    """Whether its results come from C's allocator, so that another setting of it is another measurement."""

    def installed(self) -> bool:
        """Whether it can run here."""
        return find_spec(self.package) is not None

    def tool(self) -> Runnable:
        """Its programs; imports the tool."""
        found: Runnable = import_module(f"benchmarks.peers.programs.{self.module}").tool(self.variant)
        return found


OURS = "accel"

PEERS: tuple[Peer, ...] = (
    Peer(OURS, "with_accel", "accel", allocates=False),
    Peer("numpy", "with_numpy", "scipy"),
    Peer("numba", "with_numba", "numba", "parallel"),
    Peer("numba-fast", "with_numba", "numba", "parallel fast", counted=False, quick=False),
    Peer("numba-1", "with_numba", "numba", "", quick=False),
    Peer("numba-1-fast", "with_numba", "numba", "fast", counted=False, quick=False),
    Peer("jax", "with_jax", "jax"),
    Peer("torch", "with_torch", "torch"),
    Peer("torch-compile", "with_torch", "torch", "compile", quick=False),
    Peer("halide", "with_halide", "halide", quick=False, allocates=False),
    Peer("polars", "with_polars", "polars", allocates=False),
)
"""All tools. Those with `-1` use one thread."""

MEMORY: tuple[Peer, ...] = (Peer("copy", "with_memory", "numpy", "copy"), Peer("sum", "with_memory", "numpy", "sum"))
"""Plain passes over as many bytes as a workload must move: the bound."""

BY_NAME: Mapping[str, Peer] = {peer.name: peer for peer in (*PEERS, *MEMORY)}
