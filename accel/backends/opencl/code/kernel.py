"""What a nest becomes: kernels in launch order, the temporary buffers between them, and how large both are.

Sizes are `Amount`s, known once the extents of a call are: one program serves all sizes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod

from accel.ast.tree.operators import Operator
from accel.backends.opencl.code.functions import Context
from accel.backends.opencl.code.naming import ADDRESSES, ERROR, Parameters, array_name, parameters, told_addresses
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.states import StateType, state_type
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.machine.positions import Product, counted, elements
from accel.errors import AccelInternalError
from accel.ir import mentions
from accel.ir.nodes import Nest
from accel.labelled.array import Array, Extent, SizeVariable
from accel.labelled.scalar import Compute, While
from accel.support.dataclass import dataclass


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

    def write(self, writer: Writer, total: str, bits: str = "bits") -> None:
        """Bind `bits`, the logarithm of the number, which is the same for all work-items. `total`: the product, as an atom."""
        first, last = self.least.bit_length() - 1, self.most.bit_length() - 1
        writer.line(f"int {bits} = {first};")
        writer.line(f"while ({bits} < {last} && ((position_t){self.each} << {bits}) < {total}) ++{bits};")


@dataclass(frozen=True, slots=True)
class Amount:
    """`ceil(product of extents / divisor)`, times `rows`, `factor` and others, plus `more`; at least `least`, at most `most`.

    The product counts as 0 where one of the extents `needed` is 0, or where it is less than `above`. `shared`: so many share
    the divisor, which is that much less.
    """

    product: tuple[Extent, ...] = ()
    divisor: int | Sharing = 1
    rows: tuple[Extent, ...] = ()
    factor: int = 1
    more: int = 0
    least: int = 0
    needed: tuple[Extent, ...] = ()
    above: int = 0
    times: tuple[Amount | Sharing, ...] = ()
    most: int | None = None
    shared: Sharing | None = None

    def value(self, size: Callable[[SizeVariable], int]) -> int:
        """The number, with the extents of a call."""
        divisor = self.divisor.value(size) if isinstance(self.divisor, Sharing) else self.divisor
        divisor = divisor if self.shared is None else divisor // self.shared.value(size)
        product = elements(self.product, size) if all(elements((extent,), size) for extent in self.needed) else 0
        parts = -(-product // divisor) if product >= self.above else 0
        others = prod(each.value(size) for each in self.times)
        count = max(parts * elements(self.rows, size) * self.factor * others + self.more, self.least)
        return count if self.most is None else min(count, self.most)


@dataclass(frozen=True, slots=True)
class Strips:
    """Groups of neighbouring columns, and of as many rows as make few groups of these: a work-item for every column and row, in
    the first and the second dimension; `others` are the third. All groups of a launch have the same number of columns, `most`
    or fewer, a multiple of `vector` if there are so many, and the same number of rows; the last one begins where it has no
    fewer, so some columns and rows may be visited twice."""

    columns: tuple[Extent, ...]
    rows: tuple[Extent, ...] = ()
    others: tuple[Extent, ...] = ()
    most: int = 256
    vector: int = 8

    def value(self, size: Callable[[SizeVariable], int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Work-items in each dimension, and those of a group."""
        columns, rows, others = (elements(each, size) for each in (self.columns, self.rows, self.others))
        if min(columns, rows, others) <= 0:
            return (0, 0, 0), (1, 1, 1)
        groups, each = self._whole(columns) or _shared_out(columns, self.most)
        across = min(-(-each // self.vector) * self.vector, columns)
        parts, down = _shared_out(rows, max(self.most // across, 1))
        return (groups * across, parts * down, others), (across, down, 1)

    def _whole(self, columns: int) -> tuple[int, int] | None:
        """Two groups of whole vectors, where one would end with half of a vector or more: those it does one by one. Some
        compilers take vectors of twice that, of which half is more: two columns are enough if groups are whole such vectors."""
        vectors = -(-columns // self.vector)
        rest = columns % self.vector
        enough = 2 if vectors % 4 == 0 else -(-self.vector // 2)
        fit = self.vector < columns <= self.most and not vectors % 2 and rest >= enough
        return (2, vectors // 2 * self.vector) if fit else None

    def column(self, count: str) -> str:
        """The number of a work-item's column, given how many there are, as an atom."""
        return _place(0, count)

    def row(self, count: str) -> str:
        """The same of its row."""
        return _place(1, count)


def _shared_out(count: int, most: int) -> tuple[int, int]:
    """As few groups as there can be of at most so many each, and how many the largest of them has then."""
    groups = -(-count // most)
    return groups, -(-count // groups)


def _place(dimension: int, count: str) -> str:
    group = f"(long)get_local_size({dimension})"
    return f"min((long)get_group_id({dimension}) * {group}, {count} - {group}) + (long)get_local_id({dimension})"


@dataclass(frozen=True, slots=True)
class Choice:
    """A kernel runs only where the product of extents is at least `limit`, or (`below`) less; `least`: the least of them."""

    product: tuple[Extent, ...]
    limit: int
    below: bool
    least: bool = False

    @property
    def never(self) -> bool:
        """Whether it holds in no call, as the text tells."""
        return self._is_known and not self.holds(lambda _: 0)

    @property
    def always(self) -> bool:
        """Whether it holds in every call, as the text tells."""
        return self._is_known and self.holds(lambda _: 0)

    @property
    def _is_known(self) -> bool:
        return all(extent.variable is None for extent in self.product)

    def holds(self, size: Callable[[SizeVariable], int]) -> bool:
        """Whether the kernel runs in a call of these sizes."""
        every = (elements((extent,), size) for extent in self.product)
        return ((min(every) if self.least else prod(every)) < self.limit) == self.below


@dataclass(frozen=True, slots=True)
class Temporary:
    """A buffer that lives as long as the nest runs; empty unless all of `when` hold."""

    name: str
    c_type: str
    bytes: int
    count: Amount
    when: tuple[Choice, ...] = ()

    def value(self, size: Callable[[SizeVariable], int]) -> int:
        """How many elements it has in a call of these sizes."""
        return self.count.value(size) if all(each.holds(size) for each in self.when) else 0


@dataclass(frozen=True, slots=True)
class Kernel:
    """One launch; without text if an equal nest has brought the kernel already.

    `items` work-items do something; `group` is the size of work-groups, None if any will do. `serial`: each work-item walks
    through many elements, so that neighbours are far apart in memory. `when`: all of these hold. `unless`: not all of these.
    `divisible`: groups may be launched some at a time. `work`: how much all of them do, None if as much as the nests. `alone`:
    one work-item may do all of it while the others have nothing to do.
    """

    name: str
    text: str
    items: Amount | Strips
    group: int | None = None
    serial: bool = False
    when: tuple[Choice, ...] = ()
    unless: tuple[Choice, ...] = ()
    divisible: bool = False
    work: Amount | None = None
    alone: bool = False

    def runs(self, size: Callable[[SizeVariable], int]) -> bool:
        """Whether it is launched in a call of these sizes."""
        return all(each.holds(size) for each in self.when) and not (
            self.unless and all(each.holds(size) for each in self.unless)
        )


@dataclass(frozen=True, slots=True)
class NestKernels:
    """A nest in OpenCL C, or those of a series. `schedule` says in a word how it runs in parallel. `checked`: kernels have an
    error record. `counted`: up to which products of extents kernels count. `addressed`: the first argument of kernels is where
    buffers lie: arrays, temporaries, the record."""

    nests: tuple[Nest, ...]
    parameters: Parameters
    temporaries: tuple[Temporary, ...]
    kernels: tuple[Kernel, ...]
    schedule: str
    checked: bool
    counted: frozenset[Product]
    addressed: bool = False


_NAME = re.compile(r"\b(?:array\d+_\d+|(?:s_)?v_\w+|n\d+|(?:nest|series)\d+_\w+)\b")
"""What is named after labels and numbers of nests and series."""


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


@dataclass(frozen=True, slots=True)
class _Written:
    """A kernel without its parameters. `attributes`: what stands before its name."""

    name: str
    attributes: str
    body: str
    items: Amount | Strips
    group: int | None
    serial: bool
    when: tuple[Choice, ...]
    unless: tuple[Choice, ...]
    work: Amount | None
    alone: bool


ERROR_PARAMETER = f"volatile __global long* {ERROR}"
"""That of kernels that check something."""


def fixed_group(size: int) -> str:
    """What says, before a kernel's name, how many work-items its groups have."""
    return f"__attribute__((reqd_work_group_size({size}, 1, 1))) "


def kernel_text(name: str, declared: Sequence[str], body: str) -> str:
    """A kernel with its attributes, its name and its parameters."""
    head = f"__kernel {name}(\n    " + ",\n    ".join(declared) + ") {"
    return "\n".join([head, body, "}"])


GROUP_NUMBER = "get_global_offset(0) / get_local_size(0) + get_group_id(0)"
"""The number of a work-item's group among those of all launches of a kernel. Compilers see that it is the same in the group."""


LAUNCHED_END = "get_global_offset(0) + get_global_size(0)"
"""The number of the first work-item behind those of this launch of a kernel."""


def divisible(body: str) -> bool:
    """Whether work-items of a kernel are told apart by nothing but their numbers among all: OpenCL counts groups from 0 in each
    launch, work-items from where it begins."""
    rest = body.replace(GROUP_NUMBER, "").replace(LAUNCHED_END, "")
    return re.search(r"\bget_(?:group_id|num_groups|global_size)\b", rest) is None


class Scaffold:
    """What all kernels of one nest share while they are written. `whole`: that of the nest of which this one is a part; then
    they share the parameters, the temporary buffers and the order of kernels."""

    def __init__(self, nest: Nest, prefix: str, context: Context, whole: Scaffold | None = None) -> None:
        self.nest = nest
        self.prefix = prefix
        self.context: Context = context.of(nest) if whole is None else whole.context
        self.parameters: Parameters = parameters([nest]) if whole is None else whole.parameters
        self.types: Mapping[str, StateType] = {
            state.name: state_type(state, self.context) for state in mentions.states(nest)
        }
        self._temporaries: list[Temporary] = [] if whole is None else whole._temporaries
        self._rooms: list[Array] = [] if whole is None else whole._rooms
        self._written: list[_Written] = [] if whole is None else whole._written
        self._is_part = whole is not None
        self._axes: set[Product] = set() if whole is None else whole._axes
        self.unless: tuple[Choice, ...] = ()
        self._divides = _divides_in_loops(nest)
        self._checked: bool = self.context.has_record(nest) if whole is None else whole._checked

    def part(self, nest: Nest, number: int) -> Scaffold:
        """That of a part of the nest."""
        return Scaffold(nest, f"{self.prefix}_{number}", self.context, self)

    def counts(self, axes: Iterable[Product]) -> None:
        """Kernels count the iterations of these axes."""
        self._axes.update(axes)

    def temporary(self, purpose: str, c_type: str, size: int, count: Amount, when: tuple[Choice, ...] = ()) -> str:
        """A new temporary buffer; gives the parameter's name."""
        name = f"temporary{len(self._temporaries)}_{purpose}"
        self._temporaries.append(Temporary(name, c_type, size, count, when))
        return name

    def room(self, array: Array, room: tuple[Extent, ...]) -> None:
        """A temporary buffer for an array that parts of the nest share, and one element more."""
        kind = array.element
        self._rooms.append(array)
        self._temporaries.append(Temporary(array_name(array), c_type(kind), kind.bytes, Amount(room, more=1)))

    def kernel(
        self,
        purpose: str,
        body: str,
        items: Amount | Strips,
        group: int | None = None,
        serial: bool = False,
        when: Choice | tuple[Choice, ...] | None = None,
        work: Amount | None = None,
        alone: bool = False,
    ) -> None:
        """Add a kernel, which is launched after those that were added before; `work`, `alone`: see `Kernel`."""
        where = when if isinstance(when, tuple) else () if when is None else (when,)
        if any(each.never for each in where) or (self.unless and all(each.always for each in self.unless)):
            return
        fixed = "" if group is None else fixed_group(group)
        fixed += "SERIAL " if serial or self._divides else ""
        self._written.append(
            _Written(f"{self.prefix}_{purpose}", fixed, body, items, group, serial, where, self.unless, work, alone)
        )

    def done(self, schedule: str) -> NestKernels:
        """What was written. Of a part that is nothing: the whole has its kernels, once all temporary buffers are known."""
        if self._is_part:
            return NestKernels((self.nest,), self.parameters, (), (), schedule, self._checked, frozenset())
        brought: dict[str, str] = {}
        kernels = tuple(self._kernel(written, brought) for written in self._written)
        return NestKernels(
            (self.nest,),
            self.parameters,
            tuple(self._temporaries),
            kernels,
            schedule,
            self._checked,
            counted([self.nest], self._axes),
            self._addressed,
        )

    @property
    def _addressed(self) -> bool:
        """Whether kernels are told where buffers lie."""
        buffers = len(self.parameters.arrays) + len(self._temporaries) + self._checked
        return self.context.features.addresses and buffers in ADDRESSES

    def _kernel(self, written: _Written, brought: dict[str, str]) -> Kernel:
        """With its text, unless another nest has brought it, or a kernel of this one before it: `brought`, by name."""
        arrays, numbers = self.parameters.pointers, self.parameters.numbers
        others = [f"__global {each.c_type}* {each.name}" for each in self._temporaries]
        others += [ERROR_PARAMETER] if self._checked else []
        if self._addressed:
            text = told_addresses(written.name, written.attributes, [*arrays, *others], numbers, written.body)
        else:
            text = kernel_text(f"{written.attributes}void {written.name}", [*arrays, *numbers, *others], written.body)
        name = self.context.kernels.setdefault(anonymous(text), written.name)
        if name == written.name and brought.get(name, text) != text:
            raise AccelInternalError(f"two kernels of a nest are called {name}")
        here = name == written.name and name not in brought
        brought[name] = text
        return Kernel(
            name,
            text if here else "",
            written.items,
            written.group,
            written.serial,
            written.when,
            written.unless,
            divisible(written.body),
            written.work,
            written.alone,
        )
