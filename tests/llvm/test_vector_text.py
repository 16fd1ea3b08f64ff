"""What is written for the running example: a dot product, as golden text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F32
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.module import module_text
from accel.ir.nodes import Level, ManyToOne, OneToOne, State, Stream, Write
from accel.labelled.algebra import monoid_of
from accel.labelled.array import Array
from accel.labelled.scalar import constant
from accel.schedule.machine import PROCESSOR
from accel.schedule.templates.choose import program_schedules
from tests.llvm import nests as hand
from tests.llvm.processors import processor


def test_dot_product(golden: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host(), "processor", processor())
    inputs = [Array(k, 0, F32, (hand.N,)) for k in range(2)]
    streams, reads = hand.reads(inputs)
    product, total, result = Stream("p", F32), Stream("s", F32), Array(3, 0, F32, ())
    multiply = OneToOne((product,), hand.binary(Operator.MUL, F32), tuple(streams))
    merge = hand.binary(Operator.ADD, F32)
    state = State((total,), (constant(F32, 0),), merge, monoid_of(merge), False)
    loop = hand.loop([*reads, multiply, ManyToOne("s", (product,))], [state])
    program = hand.program(Level((), loop, (Write(result, (), total),)), inputs, [(result, ())])
    modules, _ = module_text(program_schedules(program, PROCESSOR).nests)
    # What runs once in a launch says little about how loops are written.
    golden(modules.hot)
