"""Runs the kernels of a nest on the buffers and extents of a call, and turns failed checks into errors.

In: `NestKernels` and the program they were built in. Out: a `Launcher`. Kernels follow each other in the queue, and nobody
waits: nests that check something share one record in a call, which is looked at when something is read from the device
anyway, or at the end. A launcher that waits (`waits`) has a record of its own, reads it at once, and finds out what failed.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from accel.ast.tree.types import ScalarType
from accel.backends.device import RECORD, Launcher, SeriesLauncher, Slots, shape_of
from accel.backends.opencl.code.checks import may_not_end
from accel.backends.opencl.code.kernel import Kernel, NestKernels, Strips
from accel.backends.opencl.loops.gpu.row_series import SeriesKernels
from accel.backends.opencl.loops.sequential import diagnosis
from accel.backends.opencl.machine.features import MOST_OPERATIONS, Features
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.machine.positions import is_narrow, position_type
from accel.backends.opencl.machine.records import Records
from accel.backends.opencl.machine.stopping import stopped_with_the_caller
from accel.backends.opencl.program import unit
from accel.backends.opencl.work import work
from accel.backends.sites import NoSite, fault
from accel.errors import AccelError
from accel.labelled.array import SizeVariable
from accel.support.dataclass import dataclass
from accel.support.forks import calmly

if TYPE_CHECKING:
    import pyopencl

GROUP = 256
"""Work-items of a work-group where the kernel does not care."""

FEWEST = 8
"""The same, where there are few: the widest vector that compilers for CPUs make of them."""

SERIAL_GROUP = 8
"""The same, where few work-items have much to do each: groups are what a CPU's cores share out."""

ALONE = 1 << 3
"""How many times as long a slow GPU takes for what one of its work-items does alone: some 5 to 10 ns for each step."""

KernelArgument: TypeAlias = "pyopencl.Buffer | np.int32 | np.int64 | array[int]"

Build: TypeAlias = "Callable[[str], pyopencl.Program]"

_Items: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""Work-items of a launch in each dimension: how many, those of a group, and the number of the first."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a nest is launched at some extents: whether positions are of 32 bits, the extents that it is told, bytes of its
    temporaries, the work-items of its kernels, in one launch or several (none if there are none), and about how many operations
    it does. Loops and repeated calls ask for the same."""

    extents: tuple[int, ...]
    narrow: bool
    sizes: tuple[np.int32 | np.int64, ...]
    temporaries: tuple[int, ...]
    kernels: tuple[tuple[_Items, ...], ...]
    operations: int


@dataclass(frozen=True, slots=True)
class Ready:
    """Kernel objects of a nest that nobody else has and that know everything but buffers. These have `numbers`, and a record
    the number `record`, if the nest is checked. items: of the launches of each kernel. addresses: where buffers lie, by these
    numbers, if kernels are told that; else these are the numbers of arguments. extents: the arguments behind the addresses."""

    kernels: tuple[pyopencl.Kernel, ...]
    numbers: tuple[int, ...]
    record: int | None
    items: tuple[tuple[_Items, ...], ...]
    addresses: array[int]
    extents: tuple[np.int32 | np.int64, ...]

    def tell(self, number: int, held: Held, memory: Memory) -> None:
        """What the buffer with this number is. Kernels know it after `know`."""
        if self.addresses:
            self.addresses[number] = memory.address(held)
        else:
            for kernel in self.kernels:
                kernel.set_arg(number, held.buffer)

    def know(self) -> None:
        """Tell kernels where buffers lie."""
        if self.addresses:
            for kernel in self.kernels:
                kernel.set_args(self.addresses, *self.extents)

    def steps(self, queue: pyopencl.CommandQueue) -> list[Callable[[], object]]:
        """What launches the kernels in a queue, one piece of work each."""
        return [
            step
            for kernel, launches in zip(self.kernels, self.items, strict=True)
            for items in launches
            for step in _steps(queue, kernel, items)
        ]


@dataclass(frozen=True, slots=True)
class Launched:
    """A launch of a nest at some extents, which may be done again with other buffers."""

    nest: NestLauncher
    plan: _Plan

    @property
    def operations(self) -> int:
        """About how many it does."""
        return self.plan.operations

    def ready(self) -> Ready:
        """Kernel objects that do the same."""
        return self.nest.ready(self.plan)


def series_launcher(
    found: SeriesKernels, launch: Launcher[Held], allocate: Callable[[ScalarType, tuple[int, ...]], Held], slots: Slots
) -> SeriesLauncher[Held]:
    """What runs a series by its kernel, which `launch` runs, if rows fit."""
    count, row = shape_of(found.series.extents, slots), shape_of(found.row, slots)
    outputs = [
        output.array for nest in found.series.nests for output in nest.outputs if output.array not in found.local
    ]
    results = [(slots.array(array), array.element, shape_of(array.shape, slots)) for array in outputs]

    def run(buffers: list[Held | None], sizes: list[int]) -> bool:
        if not prod(count(sizes)) or not 0 < prod(row(sizes)) <= found.longest:
            return False
        try:
            for slot, element, shape in results:
                buffers[slot] = allocate(element, shape(sizes))
            launch(buffers, sizes)
        except MemoryError:  # one after the other they need less, or say which has too much
            return False
        return True

    return run


class NestLauncher:
    """Runs a nest. `program` gives the built program once it is needed, `build` builds another text."""

    def __init__(
        self,
        made: NestKernels,
        program: Callable[[bool], pyopencl.Program],
        slots: Slots,
        records: Records,
        features: Features,
        build: Build,
        waits: bool,
    ) -> None:
        self._made = made
        self._program = program
        self._slots = slots
        self._memory = records.memory
        self._records = records
        self._features = features
        self._build = build
        self._arrays = [slots.array(array) for array in made.parameters.arrays]
        self._sizes = [slots.size(variable) for variable in made.parameters.sizes]
        self._plan = _Plan((-1,), False, (), (), (), 0)
        self._waits = waits
        self._work = work(made.nests)
        self._may_not_end = any(map(may_not_end, made.nests))
        # Kernel objects that no call uses. They hold arguments between being told them and being enqueued, so each call has
        # its own, also that of a signal handler in the middle of another.
        self._idle: dict[bool, list[list[pyopencl.Kernel]]] = {True: [], False: []}

    def __call__(self, buffers: list[Held | None], sizes: list[int]) -> None:
        """See `accel.backends.device.Launcher`."""
        self.run(buffers, sizes, self._memory.take)

    def run(
        self, buffers: list[Held | None], sizes: list[int], take: Callable[[int], Held]
    ) -> tuple[Launched, list[Held]]:
        """Launches the nest; `take` gives buffers of at least so many bytes, for its temporaries. What was launched, and on
        which buffers."""
        if self._may_not_end and (earlier := buffers[RECORD]) is not None:
            self._records.look(earlier)
            buffers[RECORD] = None
        plan = self._planned(sizes)
        given = self._given(buffers)
        temporaries = [take(size) for size in plan.temporaries]
        held = [*given, *temporaries]
        record = None
        if self._made.checked:
            record = buffers[RECORD] or self._records.take()
        arguments = self._arguments(self._made, given, plan, [*temporaries, *([record] if record else [])])
        kernels = self._taken(plan.narrow)
        work = [(kernel, items) for kernel, launches in zip(kernels, plan.kernels, strict=True) for items in launches]
        self._launch(work, arguments, record)
        self._idle[plan.narrow].append(kernels)
        if not self._waits:
            buffers[RECORD] = record or buffers[RECORD]
        elif record is not None and self._records.read(record)[0]:
            found = self._diagnose(plan, given, self._size(sizes))
            raise NoSite(self._arrays) if found is None else found
        return Launched(self, plan), held

    def ready(self, plan: _Plan) -> Ready:
        """Kernel objects that nobody else has, for launches at a plan's extents."""
        program = self._program(plan.narrow)
        used = [(each, items) for each, items in zip(self._made.kernels, plan.kernels, strict=True) if items]
        made = self._made
        kernels = calmly(lambda: [_kernel(program, each, made, plan.narrow) for each, _ in used])
        given, between = len(self._arrays), 0
        if not self._made.addressed:
            between = len(plan.sizes)
            for kernel in kernels:
                for number, size in enumerate(plan.sizes, given):
                    kernel.set_arg(number, size)
        last = given + between + len(plan.temporaries)
        numbers = (*range(given), *range(given + between, last))
        return Ready(
            tuple(kernels),
            numbers,
            last if self._made.checked else None,
            tuple([items for _, items in used]),
            array("Q", [0] * (last + self._made.checked) if self._made.addressed else []),
            plan.sizes,
        )

    def _arguments(
        self, made: NestKernels, given: Sequence[Held], plan: _Plan, others: Sequence[Held]
    ) -> list[KernelArgument]:
        """Of kernels: the arrays, and behind them temporaries and a record."""
        if not made.addressed:
            return [*[each.buffer for each in given], *plan.sizes, *[each.buffer for each in others]]
        return [array("Q", map(self._memory.address, (*given, *others))), *plan.sizes]

    def _given(self, buffers: list[Held | None]) -> list[Held]:
        given = [held for slot in self._arrays if (held := buffers[slot]) is not None]
        assert len(given) == len(self._arrays), "a nest is launched without one of its arrays: a bug in accel"
        return given

    def _size(self, sizes: list[int]) -> Callable[[SizeVariable], int]:
        return lambda variable: sizes[self._slots.size(variable)]

    def _planned(self, sizes: list[int]) -> _Plan:
        plan, extents = self._plan, tuple(sizes)
        if plan.extents != extents:
            size = self._size(sizes)
            counts = [each.value(size) for each in self._made.temporaries]
            temporaries = tuple(
                [each.bytes * count for each, count in zip(self._made.temporaries, counts, strict=True)]
            )
            items = tuple([_launches(each, size, self._pieces(each, size)) for each in self._made.kernels])
            told = [sizes[slot] for slot in self._sizes]
            ends = [first + count for launches in items for (count, *_), _, (first, *_) in launches]
            narrow = is_narrow(self._made.counted, [*counts, *told, *ends], size, self._features)
            given = tuple([np.int32(each) if narrow else np.int64(each) for each in told])
            self._plan = plan = _Plan(extents, narrow, given, temporaries, items, self._work.value(size))
        return plan

    def _pieces(self, kernel: Kernel, size: Callable[[SizeVariable], int]) -> int:
        """In how many launches a kernel runs: in so many that none does more than it may, if it can be divided."""
        most = self._features.most
        if most is None or not kernel.divisible:
            return 1
        work = (kernel.work or self._work).value(size)
        if kernel.alone:  # however many others there are
            work, most = work * ALONE, min(most, MOST_OPERATIONS)
        return max(-(-work // most), 1)

    def _taken(self, narrow: bool) -> list[pyopencl.Kernel]:
        try:
            return self._idle[narrow].pop()
        except IndexError:
            program = self._program(narrow)
            # pyopencl writes Python code for each kernel, and keeps it in a file behind a lock.
            return calmly(lambda: [_kernel(program, each, self._made, narrow) for each in self._made.kernels])

    def _launch(
        self, work: Sequence[tuple[pyopencl.Kernel, _Items]], arguments: list[KernelArgument], record: Held | None
    ) -> None:
        """Enqueue these kernels; wait for them if they look at the record whether they are to stop."""

        def launch() -> None:
            for kernel, items in work:
                self._enqueue(kernel, items, arguments)

        if self._may_not_end and record is not None and self._features.stops:
            stopped_with_the_caller(self._records, record, launch)
        else:
            launch()

    def _enqueue(self, kernel: pyopencl.Kernel, items: _Items, arguments: list[KernelArgument]) -> None:
        queue, (count, group, first) = self._memory.queue, items
        if not any(first):
            self._memory.enqueued("a loop nest", lambda: kernel(queue, count, group, *arguments))
            return
        self._memory.enqueued("its work", queue.flush)  # so drivers do not take several launches for one piece of work
        self._memory.enqueued("a loop nest", lambda: kernel(queue, count, group, *arguments, global_offset=first))

    def _diagnose(self, plan: _Plan, given: Sequence[Held], size: Callable[[SizeVariable], int]) -> AccelError | None:
        """Run the nest again in sequence and without stores; the first check that fails is the error. None if none does."""
        (nest,) = self._made.nests
        made, helpers, sites = diagnosis(nest, self._features)
        (kernel,) = made.kernels
        program = self._build(unit([helpers, kernel.text], self._features, narrow=plan.narrow))
        compiled = calmly(lambda: _kernel(program, kernel, made, plan.narrow))
        record = self._records.take()
        self._launch([(compiled, ((1,), (1,), (0,)))], self._arguments(made, given, plan, [record]), record)
        number, *index = self._records.read(record)
        return None if number == 0 else fault(sites[number - 1], index, size)


def _kernel(program: pyopencl.Program, kernel: Kernel, made: NestKernels, narrow: bool) -> pyopencl.Kernel:
    """The kernel, which knows the types of its arguments: without them each number takes pyopencl ten microseconds."""
    import pyopencl

    found = pyopencl.Kernel(program, kernel.name)
    arrays, others = len(made.parameters.arrays), len(made.temporaries) + made.checked
    sizes = [position_type(narrow=narrow).dtype] * len(made.parameters.sizes)
    if made.addressed:
        found.set_arg_types([np.dtype((np.void, 8 * (arrays + others))), *sizes])
    else:
        found.set_arg_types([*[None] * arrays, *sizes, *[None] * others])
    return found


def _steps(queue: pyopencl.CommandQueue, kernel: pyopencl.Kernel, items: _Items) -> list[Callable[[], object]]:
    import pyopencl

    count, group, first = items
    launch = partial(pyopencl.enqueue_nd_range_kernel, queue, kernel, count, group)
    return [queue.flush, partial(launch, global_work_offset=first)] if any(first) else [launch]


def _group(items: int) -> int:
    """Work-items of a group where the kernel does not care, a power of two: not twice as many as there is something to do for,
    but whole vectors."""
    return min(GROUP, max(1 << (items - 1).bit_length(), FEWEST))


def _launches(kernel: Kernel, size: Callable[[SizeVariable], int], pieces: int) -> tuple[_Items, ...]:
    """Those of a kernel: `pieces` of about the same size, or as many as there are groups."""
    if not kernel.runs(size):
        return ()
    if isinstance(kernel.items, Strips):
        shape, own = kernel.items.value(size)
        return ((shape, own, (0, 0, 0)),) if all(shape) else ()
    items = kernel.items.value(size)
    if items == 0:
        return ()
    group = kernel.group or (SERIAL_GROUP if kernel.serial and items < GROUP * SERIAL_GROUP else _group(items))
    groups = -(-items // group)
    each = -(-groups // pieces)
    starts = range(0, groups, each)
    return tuple([((min(each, groups - start) * group,), (group,), (start * group,)) for start in starts])
