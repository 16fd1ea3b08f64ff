"""Faults of the opencl backend: scalar code, orders of folds and scans, local memory, atomics, launches, memory."""

from __future__ import annotations

from tests.mutation.fault import Fault

_NESTS = "tests/opencl/test_nests.py::test_bits_are_the_references"
_GPU_FOLDS = "tests/opencl/test_gpu_folds.py"
_SCALAR = "tests/opencl/test_scalar.py::test_bits_are_the_references"
_BACKEND = "tests/opencl/test_backend.py"
_ERRORS = "tests/opencl/test_errors.py"

FAULTS = (
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
        "the lesser of two zeros is the second",
        "backends/opencl/code/scalar.py",
        "return a == b ? (signbit(a) ? a : b) : a < b ? a : b;",
        "return a < b ? a : b;",
        (_SCALAR,),
    ),
    Fault(
        "lanes of a block join without waiting",
        "backends/opencl/loops/folds.py",
        'merge_into(writer, scaffold.types[state.name], shared[state.name], "lane", "lane + reach")\n'
        '        writer.line("barrier(CLK_LOCAL_MEM_FENCE);")',
        'merge_into(writer, scaffold.types[state.name], shared[state.name], "lane", "lane + reach")',
        (_NESTS, _BACKEND),
    ),
    Fault(
        "a lane's run ends with the array",
        "backends/opencl/loops/folds.py",
        'f"block * {BLOCK}L + {count}" if kind.commutes else f"begin + {count}L"',
        'f"block * {BLOCK}L + {BLOCK}"',
        (_NESTS,),
    ),
    Fault(
        "blocks join in one level only",
        "backends/opencl/loops/join.py",
        "for (long stride = 1; stride < blocks; stride *= 2)",
        "for (long stride = 1; stride < blocks; stride *= 4)",
        (_NESTS,),
    ),
    Fault(
        "blocks of other rows join",
        "backends/opencl/loops/gpu/block_groups.py",
        'shared.copy(writer, "l", ends, f"first + from + l * {stride}")',
        'shared.copy(writer, "l", ends, f"from + l * {stride}")',
        (f"{_GPU_FOLDS}::test_folds_of_rows",),
    ),
    Fault(
        "a row of a power of two of elements has twice as many lanes",
        "backends/opencl/code/kernel.py",
        "({self.each}L << bits) < {total}) ++bits;",
        "({self.each}L << bits) <= {total}) ++bits;",
        (f"{_GPU_FOLDS}::test_folds_of_rows",),
    ),
    Fault(
        "blocks of a column are those of the next one",
        "backends/opencl/loops/gpu/column_groups.py",
        "(from + l * stride) * {rows.count} + row",
        "(from + l * stride) * {rows.count} + row + 1",
        (f"{_GPU_FOLDS}::test_folds_of_columns",),
    ),
    Fault(
        "lanes join before blocks of runs do",
        "backends/opencl/loops/gpu/block_groups.py",
        "if not kind.commutes:",
        "if kind.width < 2:",
        (f"{_GPU_FOLDS}::test_folds_that_do_not_commute",),
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
        "self._looks_first = may_not_end(made.nest)",
        "self._looks_first = not made and may_not_end(made.nest)",
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
        "        if found[0]:\n            raise Failed",
        "        if found[0] > 1:\n            raise Failed",
        ("tests/opencl/test_waiting.py::test_what_comes_after_a_failure_does_no_harm",),
    ),
    Fault(
        "buffers are not counted in whole words",
        "backends/opencl/machine/memory.py",
        "return -(-size // step) * step",
        "return size // step * step",
        (f"{_BACKEND}::test_size_classes_waste_at_most_an_eighth",),
    ),
    Fault(
        "bools of other bytes are uploaded as they are",
        "backends/opencl/machine/memory.py",
        "plain.dtype == np.bool_ and plain.view(np.uint8).max() > 1",
        "plain.dtype == np.bool_ and plain.view(np.uint8).max() > 255",
        ("tests/issues/test_bools_of_other_bytes.py",),
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
)
