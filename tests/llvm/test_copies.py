"""Exact scatters into few targets on several threads: NumPy's results for any number of threads, and errors as in order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F32, F64, I8, I64, ScalarType
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.loops.alternatives import Alternative
from accel.backends.llvm.loops.nest import NestText
from accel.backends.llvm.templates.copies import copied
from accel.backends.protocol import compiled
from accel.errors import AccelIndexError
from accel.ir.nodes import Launch, Level, ManyToOne, Nest, Program, Scatter, State, Stream, Write
from accel.labelled.algebra import monoid_of
from accel.labelled.array import Array
from accel.labelled.scalar import constant
from accel.schedule.templates.copies import Copies, copied_scatters
from accel.schedule.templates.ways import Finding
from tests.llvm import nests
from tests.marks import one_in, slow


def forced(text: NestText, found: Finding) -> Sequence[Alternative]:
    """Copies for launches of any size, in the shortest chunks; they must serve."""
    assert isinstance(found, Copies)
    return [copied(text, found, 0.0, 0.0)]


def scattered(operator: Operator, kind: ScalarType) -> Program:
    """The values combined into the targets at indices; and the sum of indices, which is folded beside it."""
    indices, values = Array(0, 0, I64, (nests.N,)), Array(1, 0, kind, (nests.N,))
    targets, result, count = Array(2, 0, kind, (nests.M,)), Array(10, 0, kind, (nests.M,)), Array(11, 0, I64, ())
    (index, value), reads = nests.reads([indices, values])
    combine, total = nests.binary(operator, kind), Stream("total", I64)
    add = nests.binary(Operator.ADD, I64)
    state = State((total,), (constant(I64, 0),), add, monoid_of(add), False)
    scatter = Scatter((result,), (index,), (value,), combine, monoid_of(combine), (nests.N,))
    body = nests.loop([*reads, scatter, ManyToOne("total", (index,))], [state])
    level = Level((), body, (Write(count, (), total),))
    nest = Nest(9, level, nests.program(level, [], [(count, ())]).steps[0].nest.outputs, ((targets, result),), ())  # type: ignore[union-attr]  # a launch
    return Program(((indices,), (values,), (targets,)), (Launch(nest),), (result, count))


CASES = [(Operator.ADD, I64), (Operator.MAX, F32), (Operator.XOR, BOOL), (Operator.MUL, I8), (Operator.MIN, F64)]
BY_NUMPY = {Operator.ADD: np.add, Operator.MAX: np.maximum, Operator.XOR: np.logical_xor, Operator.MUL: np.multiply,
            Operator.MIN: np.minimum}  # fmt: skip


@pytest.mark.parametrize(("operator", "kind"), one_in(3, CASES))
@pytest.mark.parametrize(("size", "places"), [(1, 37), (70_000, 37), (900_000, 40_000)])
def test_scatters(operator: Operator, kind: ScalarType, size: int, places: int) -> None:
    random = np.random.default_rng(size)
    indices, values, targets = (
        random.integers(0, places, size),
        nests.numbers(kind, size, 1),
        nests.numbers(kind, places, 2),
    )
    expected = targets.copy()
    BY_NUMPY[operator].at(expected, indices, values)
    for threads in (1, 2, 3, 8):
        executable = compiled(LLVMBackend(threads, forced), scattered(operator, kind))
        result, count = executable([indices, values, targets.copy()])
        assert result.tobytes() == expected.tobytes()
        assert int(count[()]) == indices.sum()


def test_targets_that_are_many_are_written_in_order() -> None:
    """The test at launch says no."""
    indices, targets = np.arange(90_000), np.zeros(90_000, np.int64)
    executable = compiled(LLVMBackend(3, forced), scattered(Operator.ADD, I64))
    np.testing.assert_array_equal(executable([indices, indices, targets])[0], indices)


@pytest.mark.parametrize("bad", [0, 60_000, 199_999])
def test_the_first_index_that_is_wrong_is_named(bad: int) -> None:
    executable = compiled(LLVMBackend(3, forced), scattered(Operator.ADD, I64))
    indices = np.arange(200_000) % 50
    wrong = indices.copy()
    wrong[bad:] = 50 + bad
    wrong[bad] = -3
    with pytest.raises(AccelIndexError, match=r"index \(-3,\) is out of bounds for an array of shape \(50,\)"):
        executable([wrong, indices, np.zeros(50, np.int64)])
    found = executable([indices, np.ones_like(indices), np.zeros(50, np.int64)])[0]
    np.testing.assert_array_equal(found, np.full(50, 4000))


def test_sums_of_floats_have_no_copies() -> None:
    (launch,) = scattered(Operator.ADD, F32).steps
    assert isinstance(launch, Launch)
    assert not copied_scatters(launch.nest)


@slow
def test_many_launches_on_more_threads_than_processors() -> None:
    executable = compiled(LLVMBackend(9, forced), scattered(Operator.ADD, I64))
    indices = np.arange(100_000) % 30
    for _ in range(300):
        found = executable([indices, indices, np.zeros(30, np.int64)])[0]
        np.testing.assert_array_equal(found, np.bincount(indices, indices, 30))
