"""What a nest becomes: kernels in launch order, the temporary buffers between them, and how large both are.

Sizes are `Amount`s, known once the extents of a call are: one program serves all sizes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from accel.ast.tree.operators import Operator
from accel.backends.opencl.code.checks import has_checks
from accel.backends.opencl.code.functions import Context
from accel.backends.opencl.code.naming import ERROR, Parameters, parameters
from accel.backends.opencl.code.states import StateType, state_type
from accel.backends.opencl.code.writer import Writer
from accel.ir import mentions
from accel.ir.nodes import Nest
from accel.labelled.array import Extent, SizeVariable
from accel.labelled.scalar import Compute, While


@dataclass(frozen=True, slots=True)
class Sharing:
    """The least power of two that is at least `ceil(product of extents / each)`; at least `least`, at most `most`."""

    product: tuple[Extent, ...]
    most: int
    each: int = 1
    least: int = 1

    def value(self, size: Callable[[SizeVariable], int]) -> int:
        """The number, with the extents of a call."""
        wanted = -(-elements(self.product, size) // self.each)
        return min(max(self.least, 1 << max(wanted - 1, 0).bit_length()), self.most)

    def write(self, writer: Writer, total: str) -> None:
        """Bind `bits`, the logarithm of the number, which is the same for all work-items. `total`: the product, as an atom."""
        first, last = self.least.bit_length() - 1, self.most.bit_length() - 1
        writer.line(f"int bits = {first};")
        writer.line(f"while (bits < {last} && ({self.each}L << bits) < {total}) ++bits;")


@dataclass(frozen=True, slots=True)
class Amount:
    """`ceil(product of extents / divisor)`, times `rows`, `factor` and other numbers, plus `more`; at least `least`.

    The product counts as 0 where one of the extents `needed` is 0, or where it is less than `above`.
    """

    product: tuple[Extent, ...] = ()
    divisor: int = 1
    rows: tuple[Extent, ...] = ()
    factor: int = 1
    more: int = 0
    least: int = 0
    needed: tuple[Extent, ...] = ()
    above: int = 0
    times: tuple[Amount | Sharing, ...] = ()

    def value(self, size: Callable[[SizeVariable], int]) -> int:
        """The number, with the extents of a call."""
        product = elements(self.product, size) if all(elements((extent,), size) for extent in self.needed) else 0
        parts = -(-product // self.divisor) if product >= self.above else 0
        others = prod(each.value(size) for each in self.times)
        return max(parts * elements(self.rows, size) * self.factor * others + self.more, self.least)


def elements(product: tuple[Extent, ...], size: Callable[[SizeVariable], int]) -> int:
    """The product of extents, with the sizes of a call."""
    return prod((e.offset if e.variable is None else size(e.variable) + e.offset) for e in product)


@dataclass(frozen=True, slots=True)
class Choice:
    """A kernel runs only where the product of extents is at least `limit`, or (`below`) less; `least`: the least of them."""

    product: tuple[Extent, ...]
    limit: int
    below: bool
    least: bool = False

    def holds(self, size: Callable[[SizeVariable], int]) -> bool:
        """Whether the kernel runs in a call of these sizes."""
        every = (elements((extent,), size) for extent in self.product)
        return ((min(every) if self.least else prod(every)) < self.limit) == self.below


@dataclass(frozen=True, slots=True)
class Temporary:
    """A buffer that lives as long as the nest runs."""

    name: str
    c_type: str
    bytes: int
    count: Amount


@dataclass(frozen=True, slots=True)
class Kernel:
    """One launch; without text if an equal nest has brought the kernel already.

    `items` work-items do something; `group` is the size of work-groups, None if any will do. `serial`: each work-item walks
    through many elements, so that neighbours are far apart in memory. `when`: None is always.
    """

    name: str
    text: str
    items: Amount
    group: int | None = None
    serial: bool = False
    when: Choice | None = None


@dataclass(frozen=True, slots=True)
class NestKernels:
    """A nest in OpenCL C. `schedule` says in a word how it runs in parallel. `checked`: kernels have an error record."""

    nest: Nest
    parameters: Parameters
    temporaries: tuple[Temporary, ...]
    kernels: tuple[Kernel, ...]
    schedule: str
    checked: bool


_NAME = re.compile(r"\b(?:array\d+_\d+|(?:s_)?v_\w+|n\d+|nest\d+_\w+)\b")
"""What is named after labels and numbers of nests."""


def anonymous(text: str) -> str:
    """A text with its names numbered as they occur: equal for kernels that differ in names only."""
    numbers: dict[str, str] = {}
    return _NAME.sub(lambda found: numbers.setdefault(found[0], f"${len(numbers)}"), text)


_DIVISIONS = frozenset({Operator.DIV, Operator.MOD, Operator.QUOT, Operator.REM})


def _divides_in_loops(nest: Nest) -> bool:
    """Whether a scalar loop of the nest divides integers."""
    functions = (mentions.function_statements(function) for function in mentions.functions(nest))
    loops = (each for statements in functions for each in statements if isinstance(each, While))
    inside = (statement for loop in loops for statement in mentions.block_statements(loop.condition, loop.body))
    return any(isinstance(s, Compute) and s.operator in _DIVISIONS and s.out.type.is_integer for s in inside)


class Scaffold:
    """What all kernels of one nest share while they are written."""

    def __init__(self, nest: Nest, prefix: str, context: Context) -> None:
        self.nest = nest
        self.prefix = prefix
        self.context = context.of(nest)
        self.parameters = parameters(nest)
        self.types: Mapping[str, StateType] = {
            state.name: state_type(state, self.context) for state in mentions.states(nest)
        }
        self.temporaries: list[Temporary] = []
        self.kernels: list[Kernel] = []
        self._divides = _divides_in_loops(nest)
        self._checked = has_checks(nest)

    def temporary(self, purpose: str, c_type: str, size: int, count: Amount) -> str:
        """A new temporary buffer; gives the parameter's name."""
        name = f"temporary{len(self.temporaries)}_{purpose}"
        self.temporaries.append(Temporary(name, c_type, size, count))
        return name

    def kernel(
        self,
        purpose: str,
        body: str,
        items: Amount,
        group: int | None = None,
        serial: bool = False,
        when: Choice | None = None,
    ) -> None:
        """Add a kernel. Temporaries must have been asked for before the first kernel is added."""
        name = f"{self.prefix}_{purpose}"
        declared = [
            *self.parameters.declarations,
            *(f"__global {each.c_type}* {each.name}" for each in self.temporaries),
            *([f"volatile __global long* {ERROR}"] if self._checked else []),
        ]
        fixed = "" if group is None else f"__attribute__((reqd_work_group_size({group}, 1, 1))) "
        fixed += "SERIAL " if serial or self._divides else ""
        head = f"__kernel {fixed}void {name}(\n    " + ",\n    ".join(declared) + ") {"
        text = "\n".join([head, body, "}"])
        shared = self.context.kernels.setdefault(anonymous(text), name)
        self.kernels.append(Kernel(shared, text if shared == name else "", items, group, serial, when))

    def done(self, schedule: str) -> NestKernels:
        """What was written."""
        return NestKernels(
            self.nest, self.parameters, tuple(self.temporaries), tuple(self.kernels), schedule, self._checked
        )
