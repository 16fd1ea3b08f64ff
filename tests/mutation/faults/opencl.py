"""Faults of the opencl backend: scalar code, orders of folds and scans, atomics, launches, memory."""

from __future__ import annotations

from tests.mutation.fault import Fault

_NESTS = "tests/opencl/test_nests.py::test_bits_are_the_references"
_GPU_FOLDS = "tests/opencl/test_gpu_folds.py"
_GPU = "tests/opencl/test_gpu_states.py"
_SERIES = "tests/opencl/test_gpu_series.py"
_SCALAR = "tests/opencl/test_scalar.py::test_bits_are_the_references"
_BACKEND = "tests/opencl/test_backend.py"
_ERRORS = "tests/opencl/test_errors.py"

FAULTS = (
    Fault(
        "nobody tells an endless loop to stop",
        "backends/opencl/machine/records.py",
        "_RAISED: Final = np.ones(",
        "_RAISED: Final = np.zeros(",
        ("tests/opencl/test_stopping.py",),
    ),
    Fault(
        "a loop that counts ends one turn late",
        "labelled/scalars/turns.py",
        "return max((last - begin) // step + 1, 0)",
        "return max((last - begin) // step + 2, 0)",
        ("tests/labelled/test_turns.py",),
    ),
    Fault(
        "the second piece of a launch begins one group late",
        "backends/opencl/launch.py",
        "(start * group,)) for start in starts",
        "((start + (start > 0)) * group,)) for start in starts",
        ("tests/opencl/test_pieces.py",),
    ),
    Fault(
        "kernels that know their group are divided",
        "backends/opencl/code/kernel.py",
        "(?:group_id|num_groups|global_size)",
        "(?:global_size)",
        ("tests/opencl/test_pieces.py",),
    ),
    Fault(
        "what is known of a loop's first turn is its opposite",
        "backends/linear/conditions.py",
        "return None if found is None else bool(found)",
        "return None if found is None else not found",
        ("tests/opencl/test_waiting.py::test_twenty_stencils_in_a_loop_read_a_byte_a_turn",),
    ),
    Fault(
        "a shift by the width is made",
        "backends/opencl/code/scalar.py",
        'inside = f"({amount} >= 0 && {amount} < {width})"',
        'inside = f"({amount} >= 0 && {amount} <= {width})"',
        (_SCALAR,),
    ),
    Fault(
        "floors round toward zero",
        "backends/opencl/code/scalar.py",
        "floors = operator in (Operator.DIV, Operator.MOD)",
        "floors = operator is Operator.MOD",
        (_SCALAR,),
    ),
    Fault(
        "the lesser of two zeros is the greater",
        "backends/opencl/code/scalar.py",
        '"|", "a < b ? a : b"',
        '"&", "a < b ? a : b"',
        (_SCALAR,),
    ),
    Fault(
        "lanes of a block join without waiting",
        "backends/opencl/loops/folds.py",
        '    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")\n',
        "",
        (_NESTS, _BACKEND),
    ),
    Fault(
        "lanes of a block that follow each other join across",
        "backends/opencl/loops/folds.py",
        "for (int reach = 1; reach < {kind.width}; reach *= 2)",
        "for (int reach = {kind.width // 2}; reach > 0; reach /= 2)",
        (_NESTS,),
    ),
    Fault(
        "lanes join with one that has no elements",
        "backends/opencl/loops/folds.py",
        '"l + reach < some"',
        '"l + reach <= some"',
        (_NESTS,),
    ),
    Fault(
        "a lane's run ends with the array",
        "backends/opencl/loops/folds.py",
        'f"block * (position_t){BLOCK} + {count}" if kind.commutes else f"begin + (position_t){count}"',
        'f"block * (position_t){BLOCK} + {BLOCK}"',
        (_NESTS,),
    ),
    Fault(
        "blocks join in one level only",
        "backends/opencl/loops/join.py",
        "for (position_t stride = 1; stride < blocks; stride *= 2)",
        "for (position_t stride = 1; stride < blocks; stride *= 4)",
        (_NESTS,),
    ),
    Fault(
        "a row of a power of two of elements has twice as many lanes",
        "backends/opencl/code/kernel.py",
        "((position_t){self.each} << {bits}) < {total}) ++{bits};",
        "((position_t){self.each} << {bits}) <= {total}) ++{bits};",
        ("tests/opencl/test_sharing.py",),
    ),
    Fault(
        "the seed is combined on the right",
        "backends/opencl/loops/join.py",
        "{kind.merge(seed, value)}",
        "{kind.merge(value, seed)}",
        (_NESTS,),
    ),
    Fault(
        "a scan combines its carry on the right",
        "backends/opencl/code/states.py",
        'scan->total = scan->carried ? {made.merge("scan->carry", "in_block")} : in_block;',
        'scan->total = scan->carried ? {made.merge("in_block", "scan->carry")} : in_block;',
        (_NESTS,),
    ),
    Fault(
        "blocks before a scan's block are one too few",
        "backends/opencl/loops/scans.py",
        '_keep(writer, carry, "b", value)',
        '_keep(writer, carry, "b + 1", value)',
        (_NESTS,),
    ),
    Fault(
        "scatters that are not exact are atomic",
        "schedule/templates/work_items.py",
        "all(s.monoid.exact and a.element.bytes <= machine.atomic_bytes",
        "all(a.element.bytes <= machine.atomic_bytes",
        (f"{_BACKEND}::test_scatters_whose_order_shows_keep_it",),
    ),
    Fault(
        "an atomic exchange is made once",
        "backends/opencl/code/atomics.py",
        'writer.line(f"if ({seen} == {expected}) break;")',
        'writer.line("break;")',
        ("tests/opencl/test_backend.py", "tests/opencl/test_scatters.py"),
    ),
    Fault(
        "failed checks are not looked at",
        "backends/opencl/launch.py",
        "elif record is not None and self._records.read(record)[0]:",
        "elif record is not None and self._records.read(record)[0] > len(sizes) + 1:",
        (_ERRORS,),
    ),
    Fault(
        "loops that need not end do not wait for checks",
        "backends/opencl/launch.py",
        "self._may_not_end = any(map(may_not_end, made.nests))",
        "self._looks_first = not made and any(map(may_not_end, made.nests))",
        ("tests/opencl/test_waiting.py::test_what_comes_after_a_failure_does_no_harm",),
    ),
    Fault(
        "what relies on a check that failed goes on",
        "backends/opencl/code/checks.py",
        "isinstance(each, Load) and each.may_fail",
        "isinstance(each, Load) and each.may_fail and not each.index",
        ("tests/opencl/test_waiting.py", _ERRORS),
    ),
    Fault(
        "a record is taken again though a check has failed",
        "backends/opencl/machine/records.py",
        "        if self.read(record)[0]:\n            raise Failed",
        "        if self.read(record)[0] > 1:\n            raise Failed",
        ("tests/opencl/test_waiting.py::test_what_comes_after_a_failure_does_no_harm",),
    ),
    Fault(
        "buffers are not counted in whole words",
        "backends/opencl/machine/sizes.py",
        "return -(-size // step) * step",
        "return size // step * step",
        (f"{_BACKEND}::test_size_classes_waste_at_most_an_eighth",),
    ),
    Fault(
        "bools of other bytes are uploaded as they are",
        "backends/opencl/machine/host_memory.py",
        "made.dtype == np.bool_ and made.size and made.view(np.uint8).max() > 1",
        "made.dtype == np.bool_ and made.size and made.view(np.uint8).max() > 255",
        ("tests/issues/test_bools_of_other_bytes.py",),
    ),
    Fault(
        "a launch without memory is not tried again",
        "backends/opencl/machine/memory.py",
        "                self.empty()\n                return enqueue()",
        "                self.empty()\n                raise",
        ("tests/opencl/test_memory.py",),
    ),
    Fault(
        "arrays of another device are taken for the device's own",
        "backends/opencl/backend.py",
        "if isinstance(leaf, BufferArray) and leaf.lies_in(self._memory):",
        "if isinstance(leaf, BufferArray):",
        ("tests/opencl/test_memory.py",),
    ),
    Fault(
        "a result that stays lies in an array that the caller may change",
        "backends/opencl/machine/memory.py",
        "if not held.borrowed and held.size <= 2 * size_class(size):",
        "if held.size <= 2 * size_class(size):",
        ("tests/opencl/test_memory.py",),
    ),
    Fault(
        "a scan in a group forgets the blocks before",
        "backends/opencl/code/shared.py",
        """"return {made.merge('before', 'found')};"]
    else:""",
        """"return found;"]
    else:""",
        (f"{_GPU}::test_scans_of_every_kind_in_one_loop",),
    ),
    Fault(
        "a stretch forgets the one before",
        "backends/opencl/code/shared.py",
        'lines = [f"return at > 0 ? {inside} : {vector};"]',
        'lines = [f"return at > 0 ? {inside} : before;"]',
        (f"{_GPU}::test_scans_of_rows",),
    ),
    Fault(
        "a vector in local memory that is not full comes to its last lane",
        "backends/opencl/code/shared.py",
        'f"if (here == {SCAN_VECTOR}) return {whole};"',
        'f"return {whole};"',
        (f"{_GPU}::test_totals_where_nothing_is_neutral",),
    ),
    Fault(
        "rows are told apart by the outermost loop alone",
        "schedule/templates/series.py",
        "yield statement.array, found == list(range(outer))",
        "yield statement.array, found[:1] == [0]",
        (f"{_SERIES}::test_what_reads_other_rows_stands_in_no_series",),
    ),
    Fault(
        "rows of a series may have any length",
        "schedule/templates/series.py",
        "if row and way.row and row != way.row:",
        "if row and way.row and False:",
        (f"{_SERIES}::test_rows_of_other_lengths_stand_in_no_series",),
    ),
    Fault(
        "fma of 16 bits forgets what its sum loses",
        "backends/opencl/code/halves.py",
        "if (isfinite(sum) && lost != 0) bits",
        "if (false) bits",
        (_SCALAR,),
    ),
    Fault(
        "64 bits are cut off on the way to 16",
        "backends/opencl/code/halves.py",
        "(bits | ((bits & lost) + lost)) & ~lost",
        "bits & ~lost",
        (_SCALAR,),
    ),
    Fault(
        "rows that are cut lie as they run",
        "ir/positions.py",
        "return list(array.shape[-len(loops) :]) == extents",
        "return len(array.shape) >= len(extents)",
        ("tests/issues/test_rows_cut_on_opencl.py",),
    ),
    Fault(
        "a disk that is full is an error of Python's",
        "backends/opencl/machine/vendors.py",
        "except OSError as error:",
        "except ValueError as error:",
        ("tests/opencl/test_devices.py",),
    ),
)
