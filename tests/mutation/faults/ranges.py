"""Faults of the stage `labelled`: what is concluded from sizes, and how large they may be."""

from __future__ import annotations

from tests.mutation.fault import Fault

_OVERFLOW = "tests/labelled/test_overflow.py"
_EXTENTS = "tests/run/test_extents.py"
_WRAPPING = "tests/issues/test_sums_that_wrap.py"

FAULTS = (
    Fault(
        "what a condition chooses is known as if it held for both",
        "labelled/scalars/ranges.py",
        "self.given(condition, False).of(no)",
        "self.given(condition, True).of(no)",
        ("tests/labelled/test_ranges.py", "tests/labelled/test_overflow.py"),
    ),
    Fault(
        "a condition that does not hold says what it says where it holds",
        "labelled/scalars/ranges.py",
        "operator if true else _NEGATED[operator]",
        "operator",
        (_OVERFLOW,),
    ),
    Fault(
        "one of two conditions is enough",
        "labelled/scalars/ranges.py",
        "if true is (operator is Operator.AND)",
        "if true",
        (_OVERFLOW,),
    ),
    Fault(
        "less is one less than it is",
        "labelled/scalars/ranges.py",
        "less = ONE if operator is Operator.LT else ZERO",
        "less = ONE",
        (_OVERFLOW,),
    ),
    Fault(
        "other than a bound is other than any number",
        "labelled/scalars/ranges.py",
        "for lower in known.lowers if lower in exact",
        "for lower in known.lowers",
        (_OVERFLOW,),
    ),
    Fault(
        "sums that may wrap have bounds",
        "labelled/scalars/ranges.py",
        "if not not_below or not not_above:",
        "if not (a and b):",
        (_OVERFLOW, _WRAPPING),
    ),
    Fault(
        "sums that may wrap below have bounds",
        "labelled/scalars/ranges.py",
        "if not not_below or not not_above:",
        "if not not_above:",
        (_OVERFLOW, _WRAPPING),
    ),
    Fault(
        "sums that may wrap above have bounds",
        "labelled/scalars/ranges.py",
        "if not not_below or not not_above:",
        "if not not_below:",
        (_OVERFLOW,),
    ),
    Fault(
        "sums of many sizes are followed",
        "labelled/scalars/ranges.py",
        " and times <= self._limits.times",
        "",
        (_OVERFLOW,),
    ),
    Fault(
        "sums of large constants are followed",
        "labelled/scalars/ranges.py",
        "if exact is not None and self._is_small(exact) else UNKNOWN",
        "if exact is not None else UNKNOWN",
        (_OVERFLOW,),
    ),
    Fault(
        "0 is negative",
        "labelled/scalars/ranges.py",
        "self._is_non_negative(_negative(linear).plus(ONE, -1))",
        "self._is_non_negative(_negative(linear))",
        (_OVERFLOW,),
    ),
    Fault(
        "a remainder by what may be 0 has bounds",
        "labelled/scalars/ranges.py",
        "if any(self._is_non_negative(lower.plus(ONE, -1)) for lower in b.lowers)",
        "if any(self._is_non_negative(lower) for lower in b.lowers)",
        (_OVERFLOW,),
    ),
    Fault(
        "the last index is the extent",
        "labelled/scalars/ranges.py",
        "self._last = [_linear(extent).plus(ONE, -1) for extent in shape]",
        "self._last = [_linear(extent) for extent in shape]",
        ("tests/labelled/test_bounds.py",),
    ),
    Fault(
        "every extent is at least 1",
        "labelled/scalars/ranges.py",
        "self._least.get(variable, 0)",
        "self._least.get(variable, 1)",
        (_OVERFLOW, "tests/labelled/test_bounds.py", "tests/labelled/test_ranges.py"),
    ),
    Fault(
        "an extent and any constant are an extent",
        "labelled/scalars/laws.py",
        "if 0 <= offset <= OFFSET else None",
        "if 0 <= offset else None",
        (_OVERFLOW,),
    ),
    Fault(
        "extents are as large as arguments have them",
        "backends/parameters.py",
        "if stores and (offsets or max(sizes) > LARGEST_EXTENT):",
        "if stores and offsets:",
        (_EXTENTS,),
    ),
    Fault(
        "extents are as large as they are computed",
        "ast/handles/extents.py",
        "if extent is not None and extent > LARGEST_EXTENT:",
        "if extent is not None and len(extents) > 1 and extent > LARGEST_EXTENT:",
        (_EXTENTS,),
    ),
    Fault(
        "a size that nobody mentions is not computed",
        "labelled/passes/may_fail.py",
        "return not gives_extents(function)\n        case HostCall()",
        "return False\n        case HostCall()",
        (_EXTENTS,),
    ),
    Fault(
        "a sum of extents is an extent",
        "labelled/passes/may_fail.py",
        "_CHOOSING = frozenset({Operator.MIN, Operator.MAX})",
        "_CHOOSING = frozenset({Operator.ADD, Operator.MIN, Operator.MAX})",
        ("tests/labelled/test_may_fail.py", _EXTENTS),
    ),
    Fault(
        "recomputation is not checked",
        "labelled/passes/inline.py",
        "array=array, check=k == 0)",
        "array=array, check=False)",
        ("tests/issues/test_checks_of_copied_work.py",),
    ),
    Fault(
        "a check that nobody uses is dropped",
        "labelled/scalars/simplify.py",
        "return statement if check or out in needed else None",
        "return statement if out in needed else None",
        ("tests/issues/test_checks_of_copied_work.py",),
    ),
)
