"""Loops that carry something, chunk by chunk on several threads: the bits and errors of the loop in its own order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F32, F64, I8, I32, I64, ScalarType
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.loops.alternatives import Alternative, Alternatives
from accel.backends.llvm.loops.nest import NestText
from accel.backends.llvm.states.analysis import iteration_work
from accel.backends.llvm.templates.chain import chained
from accel.backends.protocol import Executable, HostArray, compiled
from accel.errors import AccelIndexError
from accel.ir.meaning.interpret import interpret
from accel.ir.nodes import Launch, Level, LoopDirection, ManyToOne, Program, Read, Remap, Stream, Write
from accel.labelled.array import Array
from accel.labelled.meaning.order import BLOCK
from accel.schedule.templates.chain import Chain, chain
from accel.schedule.templates.rows import rows
from accel.schedule.templates.ways import Finding
from tests import untyped
from tests.llvm import nests
from tests.llvm.test_filters import filtered
from tests.marks import one_in, slow


def forced(text: NestText, found: Finding) -> Sequence[Alternative]:
    """A chain of the shortest chunks, for launches of any size."""
    return [chained(text, found, 0.0, 0.0)] if isinstance(found, Chain) else []


def in_chain(threads: int, chains: Alternatives, given: Program) -> Executable:
    """The program with these chains; each of its nests must be one."""
    nests.each_has(given, Chain)
    return compiled(LLVMBackend(threads, chains), given)


def agrees(given: Program, arguments: Sequence[HostArray], threads: Sequence[int] = (2, 3, 8)) -> None:
    """Chains give the interpreter's bits."""
    expected = interpret(given, arguments)
    for count in threads:
        found = in_chain(count, forced, given)(arguments)
        assert [each.tobytes() for each in found] == [each.tobytes() for each in expected], count


SIZES = (8193, 1, 4095, 4097)
MERGES = [(Operator.ADD, F32), (Operator.ADD, F64), (Operator.MAX, F32), (Operator.ADD, I8), (Operator.XOR, BOOL),
          (Operator.SUB, F32), (Operator.MUL, I64)]  # fmt: skip


@pytest.mark.parametrize(("operator", "kind", "size"), one_in(14, [(o, k, n) for n in SIZES for o, k in MERGES]))
@pytest.mark.parametrize("form", ["inclusive", "exclusive", "right"])
def test_scans(operator: Operator, kind: ScalarType, size: int, form: str) -> None:
    merge, exact = (
        nests.binary(operator, kind),
        operator is not Operator.SUB and (not kind.is_float or operator is Operator.MAX),
    )
    order = LoopDirection.DOWN if form == "right" else LoopDirection.UP
    given = nests.scan(
        kind, merge, 1, exact=exact, seeded=form != "inclusive", order=order, exclusive=form == "exclusive"
    )
    agrees(given, [nests.numbers(kind, size, size)])


def test_chunks_of_several_blocks() -> None:
    """What a chunk comes to is known block by block, as the order has them; in a launch so long that all threads take part."""

    def longer(text: NestText, found: Finding) -> Sequence[Alternative]:
        return [chained(text, found, 0.0, 2.0 * BLOCK * iteration_work(text.nest))] if isinstance(found, Chain) else []

    given = nests.scan(F32, nests.binary(Operator.ADD, F32), 1, exact=False, seeded=False)
    numbers = nests.numbers(F32, 4_000_000, 1)
    (expected,) = compiled(LLVMBackend(1), given)([numbers])
    executable = compiled(LLVMBackend(8, longer), given)
    for _ in range(5):
        assert executable([numbers])[0].tobytes() == expected.tobytes()


@pytest.mark.parametrize("size", one_in(4, [9000, 1, 4096, 12_289]))
@pytest.mark.parametrize("guard", ["none", "prefix"])
def test_scans_of_pairs_without_a_neutral_element(size: int, guard: str) -> None:
    given = nests.scan(
        F32, nests.first_of_pairs(F32), 2, exact=False, seeded=True, guard=guard, exclusive=guard == "prefix"
    )
    bound = [np.zeros(size - size // 3, np.bool)] if guard == "prefix" else []
    agrees(given, [*(nests.numbers(F32, size, seed) for seed in (1, 2)), *bound])


@pytest.mark.parametrize(
    ("kind", "kept", "size"), one_in(4, [(F32, F32, 20_000), (F64, I8, 9000), (I8, BOOL, 4097), (I32, F64, 1)])
)
def test_filters(kind: ScalarType, kept: ScalarType, size: int) -> None:
    keys, values = nests.numbers(kind, size, 3), nests.numbers(kept, size, 4)
    expected = values[keys > np.zeros((), kind.dtype)]
    for threads in (2, 3, 8):
        result, count = in_chain(threads, forced, filtered(kind, kept))([keys, values])
        assert int(count[()]) == len(expected)
        assert result[: len(expected)].tobytes() == expected.tobytes()


def test_exact_scans_behind_filters() -> None:
    given = nests.scan(
        I32, nests.binary(Operator.ADD, I32), 1, exact=True, seeded=True, guard="positive", exclusive=True
    )
    agrees(given, [nests.numbers(I32, 9000, 6)])


def gathered_scan() -> Program:
    """The running sums of source[indices[i]]."""
    given = nests.scan(F32, nests.binary(Operator.ADD, F32), 1, exact=False, seeded=False)
    (launch,) = given.steps
    assert isinstance(launch, Launch)
    loop = launch.nest.body.loop
    assert loop is not None
    indices, source, result = Array(0, 0, I64, (nests.N,)), Array(1, 0, F32, (nests.M,)), Array(10, 0, F32, (nests.N,))
    (index,), reads = nests.reads([indices])
    place, value = Stream("place", I64), Stream("x0", F32)
    got = [*reads, Remap((place,), (index,), (nests.M,)), Read(value, source, (place,))]
    body = nests.loop([*got, *loop.body.before[1:]], loop.states)
    return nests.program(Level((), body, ()), [indices, source], [(result, ((nests.N,),))])


@pytest.mark.parametrize("bad", [0, 4096, 150_000, 299_999])
def test_the_first_index_that_is_wrong_is_named(bad: int) -> None:
    executable = in_chain(3, forced, gathered_scan())
    indices = np.arange(300_000) % 1000
    source = np.ones(1000, np.float32)
    np.testing.assert_array_equal(executable([indices, source])[0], np.arange(1, 300_001, dtype=np.float32))
    indices[bad:] = 1000 + bad
    indices[bad] = -7
    with pytest.raises(AccelIndexError, match=r"index \(-7,\) is out of bounds for an array of shape \(1000,\)"):
        executable([indices, source])
    np.testing.assert_array_equal(executable([np.arange(5000) % 10, source])[0], np.arange(1, 5001, dtype=np.float32))


def impatient(text: NestText, found: Finding) -> Sequence[Alternative]:
    """A chain in which nobody waits."""
    return [chained(text, found, 0.0, 0.0, 0.0)] if isinstance(found, Chain) else []


@pytest.mark.parametrize("operator", [Operator.ADD, Operator.MAX])
def test_what_predecessors_have_not_found_out_is_found_out_by_all(operator: Operator) -> None:
    """Also where no element has been seen yet: the first half is not kept."""
    given = nests.scan(I32, nests.binary(operator, I32), 1, exact=True, seeded=True, guard="positive", exclusive=True)
    values = nests.numbers(I32, 100_000, 7)
    values[:50_000] = -1
    expected = [each.tobytes() for each in compiled(LLVMBackend(1), given)([values])]
    for threads in (2, 3, 8):
        executable = in_chain(threads, impatient, given)
        for _ in range(20):
            assert [each.tobytes() for each in executable([values])] == expected


@slow
def test_many_launches_on_more_threads_than_processors() -> None:
    given = nests.scan(F64, nests.binary(Operator.ADD, F64), 1, exact=False, seeded=True)
    values = nests.numbers(F64, 100_000, 1)
    expected = [each.tobytes() for each in compiled(LLVMBackend(1), given)([values])]
    executable = in_chain(9, forced, given)
    for _ in range(300):
        assert [each.tobytes() for each in executable([values])] == expected


def only_nest(given: Program) -> Launch:
    (launch,) = given.steps
    assert isinstance(launch, Launch)
    return launch


def test_a_scan_of_a_scan_has_no_chain() -> None:
    """What a chunk comes to is not known without what came before it."""
    first = nests.scan(F32, nests.binary(Operator.ADD, F32), 1, exact=False, seeded=False)
    nest = only_nest(first).nest
    assert chain(rows(nest)) is not None
    loop = nest.body.loop
    assert loop is not None
    state, (read, step, write) = loop.states[0], loop.body.before
    assert isinstance(step, ManyToOne)
    second = replace(state, finals=(Stream("t", F32),))
    again = ManyToOne("t", step.after, after=(Stream("z", F32),))
    body = nests.loop([read, step, write, again], [state, second])
    assert chain(rows(replace(nest, body=Level((), body, ())))) is None


def test_totals_need_no_results() -> None:
    nest = only_nest(nests.scan(F32, nests.binary(Operator.ADD, F32), 1, exact=False, seeded=True)).nest
    found = chain(rows(nest))
    assert found is not None
    assert found.blocks
    loop = found.totals.nest.body.loop
    assert loop is not None
    assert not any(isinstance(statement, Write) for statement in loop.body.before)


@pytest.mark.parametrize("size", [4097, 200_001])
def test_folds_in_order_beside_filters(size: int) -> None:
    """The farthest element, the first of equals, and a fold whose bits depend on where its blocks begin."""

    def program(xs: A.Acc[A.Vector[np.float32]]) -> tuple[A.Acc[Any], ...]:
        numbered = A.indexed(xs)
        farthest = A.fold1(lambda a, b: A.cond(b[1] > a[1], b, a), numbered)
        halved = A.fold(lambda a, b: a * 0.5 + b, 0.25, xs)
        return A.map(A.fst, farthest), halved, A.filter(lambda x: x > 0, xs)[0]

    xs = np.random.default_rng(size).integers(-500, 500, size).astype(np.float32)
    expected = [np.asarray(each) for each in untyped.runN(program, backend="llvm", threads=1)(xs)]
    assert expected[0].item() == xs.argmax()
    assert np.array_equal(expected[2], xs[xs > 0])
    assert "totals of" in A.explain(untyped.runN(program), xs).stages["schedule"]
    for threads in (2, 3, 8):
        found = untyped.runN(program, backend="llvm", threads=threads)(xs)
        assert [np.asarray(each).tobytes() for each in found] == [each.tobytes() for each in expected]
