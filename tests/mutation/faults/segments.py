"""Faults of folds and scans of segments on llvm, where these are short and run several at a time."""

from __future__ import annotations

from tests.mutation.fault import Fault

_SEGMENTS = "tests/run/test_segments.py"
_PICKED = "tests/llvm/test_picked_segments.py"
_SCANS = "tests/run/test_segmented_scans.py"
_IN_A_ROW = "tests/llvm/test_segments_in_a_row.py"

FAULTS = (
    Fault(
        "what is loaded of few elements ends behind the array",
        "backends/llvm/states/segments/few_segments.py",
        "{farthest + FEWEST}",
        "0",
        (f"{_SEGMENTS}::test_few_elements_of_any_type_up_to_the_end_of_the_array",),
    ),
    Fault(
        "both halves of few segments are picked from where the first one begins",
        "backends/llvm/states/segments/few_segments.py",
        "((before, half), (sums, group.lanes - 1))",
        "((before, 0), (sums, group.lanes - 1))",
        (f"{_PICKED}::test_sums",),
    ),
    Fault(
        "all elements of few segments are picked from two registers that have one less",
        "backends/llvm/states/segments/few_segments.py",
        "icmp sle i64 {self.count}, {2 * self.group.lanes}",
        "icmp sle i64 {self.count}, {2 * self.group.lanes + 1}",
        (f"{_PICKED}::test_sums",),
    ),
    Fault(
        "a row of short segments lacks its last elements",
        "backends/llvm/states/segments/short_row.py",
        "icmp slt i64 {at}, {last}",
        "icmp slt i64 {at}, {self._first}",
        (f"{_IN_A_ROW}::test_a_sparse_matrix_times_a_vector",),
    ),
    Fault(
        "a row of less elements than a vector has begins before the array",
        "backends/llvm/states/segments/short_row.py",
        "icmp sge i64 {self._from}, {self._since(apart)}",
        "icmp sge i64 {self._from}, -1000",
        (f"{_IN_A_ROW}::test_nothing_is_read_outside_of_the_array",),
    ),
    Fault(
        "a row of less elements than a vector has begins with elements of no segment",
        "backends/llvm/states/segments/short_row.py",
        "icmp sge i64 {self._from}, {self._since(apart)}",
        "icmp sge i64 {self._from}, 0",
        (f"{_IN_A_ROW}::test_elements_of_no_segment_are_not_asked_for",),
    ),
    Fault(
        "elements of short segments join those that no lane has",
        "backends/llvm/states/segments/short_row.py",
        "has_more(group.writer, counts, str(number)) for number",
        "has_more(group.writer, counts, str(number - 1)) for number",
        (f"{_IN_A_ROW}::test_a_sparse_matrix_times_a_vector",),
    ),
    Fault(
        "segments with one element more than the order has lanes are folded in lanes",
        "backends/llvm/states/segments/short_row.py",
        "self.longest = min(lanes(state.types)",
        "self.longest = 1 + min(lanes(state.types)",
        (f"{_IN_A_ROW}::test_folds",),
    ),
    Fault(
        "few segments that are visited from behind begin where they end",
        "backends/llvm/states/segments/few_scans.py",
        "f\"sub {narrow} {group.writer.splat(total, 'i32')}, {lanes.ends}\"",
        "f\"sub {narrow} {group.writer.splat(total, 'i32')}, {lanes.begins}\"",
        (f"{_PICKED}::test_scans",),
    ),
    Fault(
        "some of few segments have more elements",
        "backends/llvm/states/segments/few_segments.py",
        "str(FEWEST - 1)",
        "str(FEWEST - 2)",
        (f"{_SEGMENTS}::test_each_segment_is_folded_as_if_alone",),
    ),
    Fault(
        "elements of few segments take what is over two although a segment begins between",
        "backends/llvm/states/segments/few_scans.py",
        "shl i64 {begins}, 1",
        "shl i64 {begins}, 0",
        (f"{_SCANS}::test_segments_of_few_elements_are_scanned_in_one_row",),
    ),
    Fault(
        "an exclusive scan of few segments goes on from the segment before",
        "backends/llvm/states/segments/few_scans.py",
        "writer.select(masks[0], one, seed)",
        "writer.select(masks[1], one, seed)",
        (f"{_SCANS}::test_segments_of_few_elements_are_scanned_in_one_row",),
    ),
    Fault(
        "exclusive scans of few segments make no result more than there are elements",
        "backends/llvm/states/segments/few_exclusive_scans.py",
        '"add i64 {begin}, {number}"',
        '"add i64 {begin}, 0"',
        (f"{_SCANS}::test_exclusive_scans_of_few_elements",),
    ),
    Fault(
        "the last segment that is put off is not folded",
        "backends/llvm/loops/put_off.py",
        'routine.load("i64", table), str(MOST))',
        'routine.load("i64", table), str(MOST - 1))',
        ("tests/llvm/test_long_segments.py::test_more_than_are_put_off",),
    ),
    Fault(
        "what an exclusive scan makes is used where its elements are",
        "ir/lowering/frame.py",
        "return _Results(traversal.gather) if is_result else traversal.gather",
        "return traversal.gather",
        (f"{_SCANS}::test_what_goes_through_the_elements_in_order_shares_the_loop",),
    ),
    Fault(
        "loops inside of a chain are part of its totals",
        "ir/slices.py",
        "and holds_any(level.loop, found)",
        "and level.loop is not None",
        (f"{_SEGMENTS}::test_lengths_are_added_up_in_the_loop_over_segments",),
    ),
)
