"""Faults of what the compiling backends share: arguments, sizes, views, control flow, last uses, results."""

from __future__ import annotations

from tests.mutation.fault import Fault

_RUN = "tests/run/test_run.py"
_WAITING = "tests/opencl/test_waiting.py"
_MESSAGES = "tests/errors/test_errors.py"

FAULTS = (
    Fault(
        "a result that occurs twice is one array",
        "backends/executor.py",
        "program.results.count(array) == 1}",
        "program.results.count(array) >= 1}",
        ("tests/run/test_results.py",),
    ),
    Fault(
        "nests that make nothing in place have no work",
        "backends/device.py",
        "bool(nest.in_place) or busy",
        "busy",
        (
            "tests/llvm/test_guards.py",
            "tests/run/test_algorithms.py",
            "tests/labelled/test_accelerate_regressions.py",
            "tests/run/test_run.py",
            "tests/run/test_extents.py",
        ),
    ),
    Fault(
        "a reshape may change the number of elements",
        "backends/linear/item_instructions.py",
        "if size != prod(before):",
        "if size < 0:",
        (_MESSAGES,),
    ),
    Fault(
        "extents may be negative",
        "backends/device.py",
        "require_extents(found, step.where, step.name)",
        "require_extents(tuple(map(abs, found)), step.where, step.name)",
        (_MESSAGES,),
    ),
    Fault(
        "extents that were computed from others are taken again",
        "backends/device.py",
        "if not known or any(sizes[slot] != extent for slot, extent in known.items()):",
        "if not known:",
        ("tests/issues/test_lengths_that_turn_out.py",),
    ),
    Fault(
        "a state's sizes are those of its arrays without offsets",
        "backends/linear/item_instructions.py",
        "sizes[slot] = actual[axis] - offset",
        "sizes[slot] = actual[axis]",
        ("tests/backends/test_executor.py",),
    ),
    Fault(
        "the other branch is taken",
        "backends/linear/item_instructions.py",
        "return None if _scalar(device, buffers, slot, ScalarType.BOOL) else marks[item.mark]",
        "return marks[item.mark] if _scalar(device, buffers, slot, ScalarType.BOOL) else None",
        ("tests/backends/test_executor.py::test_one_branch_is_taken",),
    ),
    Fault(
        "what others refer to is not copied before a scatter",
        "backends/linear/item_instructions.py",
        "if sum(buffer is held for buffer in buffers) > 1:",
        "if sum(buffer is held for buffer in buffers) > 2:",
        (f"{_WAITING}::test_what_a_loop_began_with_is_a_result_as_it_was",),
    ),
    Fault(
        "a failed check is not looked at after the last nest",
        "backends/executor.py",
        "                position = position + 1 if jump is None else jump\n            settle(self._device, buffers)",
        "                position = position + 1 if jump is None else jump",
        ("tests/opencl/test_errors.py",),
    ),
    Fault(
        "what fails on the host comes before what failed on the device",
        "backends/executor.py",
        "if self._has_failed(buffers):",
        "if self._has_failed(buffers) and not arguments:",
        (f"{_WAITING}::test_a_requirement_that_fails_later_is_not_the_error",),
    ),
    Fault(
        "what a loop uses is dropped in its first turn",
        "backends/linear/items.py",
        "while first[array] < start:",
        "while first[array] < start < 0:",
        ("tests/backends/test_linear.py",),
    ),
    Fault(
        "the results of a branch are those of the other",
        "backends/linear/items.py",
        "Mark(other), *orelse.steps, Assign(arrays, orelse.results), Mark(end),",
        "Mark(other), *orelse.steps, Assign(arrays, then.results), Mark(end),",
        ("tests/backends/test_executor.py::test_one_branch_is_taken",),
    ),
    Fault(
        "extents that a program knows are not compared",
        "backends/parameters.py",
        "if arguments[position].shape[axis] != (offset if known is None else sizes[known] + offset):",
        "if arguments[position].shape[axis] < (offset if known is None else sizes[known] + offset):",
        (_MESSAGES, f"{_RUN}::test_shapes_that_do_not_fit_name_both_lines"),
    ),
    Fault(
        "an argument that is returned is no copy",
        "backends/llvm/device.py",
        "waiting.copy(made, self.view(buffer, shape))\n        return made",
        "waiting.copy(made, self.view(buffer, shape))\n        return self.view(buffer, shape)",
        ("tests/run/test_results.py",),
    ),
    Fault(
        "what others refer to is spare",
        "backends/llvm/machine/references_text.py",
        "%only = icmp eq i32 %references, 1",
        "%only = icmp sge i32 %references, 1",
        ("tests/llvm/test_spares.py",),
    ),
    Fault(
        "a block of which there is another view is spare",
        "backends/llvm/machine/references_text.py",
        "%alone = icmp eq i32 %others, 1",
        "%alone = icmp sge i32 %others, 1",
        ("tests/llvm/test_spares.py",),
    ),
    Fault(
        "rows in which elements are equal are not sorted again",
        "backends/first_places.py",
        "np.less(values[:, :-1], values[:, 1:])",
        "np.less_equal(values[:, :-1], values[:, 1:])",
        ("tests/backends/test_first_places.py::test_they_are_those_of_a_stable_sort",),
    ),
)
