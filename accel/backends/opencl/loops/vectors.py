"""Straight code for several neighbouring iterations of a loop, in OpenCL's vectors: sums, differences and products of floats.

In: statements whose loads go on with the loop's index, or do not depend on it. Out: lines in a `Writer`. Compilers for CPUs
make such vectors of neighbouring work-items by themselves, but not of a loop in one (`writer.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F32, F64, I64, ScalarType
from accel.backends.opencl.code.functions import Context, kind_of
from accel.backends.opencl.code.naming import element, extent_text, operand_text, stream_name
from accel.backends.opencl.code.scalar import expression
from accel.backends.opencl.code.spelling import c_type, constant
from accel.backends.opencl.code.writer import Writer
from accel.ir.nodes import LoopBody, OneToOne, Read, Stream, Write
from accel.ir.nodes import Operand as Given
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import Compute, Constant, Load, Operand, Statement, Variable

BYTES = 32
"""Of a vector."""

_VECTOR = 2
"""Of a value that differs from one iteration to the next otherwise than by 1."""

_SIGNS: Mapping[Operator, str] = {Operator.ADD: "+", Operator.SUB: "-", Operator.MUL: "*"}


def width(kind: ScalarType) -> int:
    """Elements of a vector."""
    return BYTES // kind.bytes


class Vectors:
    """Writes statements. `column`: the loop's index. All vectors are of one type of floats: `kind`, once there is one."""

    def __init__(self, writer: Writer, context: Context, column: Stream) -> None:
        self._writer = writer
        self._context = context
        self._steps: dict[Given, int] = {column: 1}
        self.kind: ScalarType | None = None

    def write(self, statements: Sequence[LoopBody]) -> bool:
        """Whether it can write these; if not, what was written is no use."""
        return all(map(self._statement, statements))

    def _statement(self, statement: LoopBody) -> bool:
        if statement.when is not None:
            return False
        match statement:
            case Read(out, array, index):
                text = self._loaded(array, [self._step(each) for each in index], [operand_text(each) for each in index])
                return text is not None and self._declare(out, text[0], text[1])
            case OneToOne():
                return self._apply(statement)
            case Write(array, index, value):
                steps = [self._step(each) for each in index]
                if not self._goes_on(array, steps):
                    return False
                self._store(array, [operand_text(each) for each in index], operand_text(value))
                return True
            case _:
                return False

    def store(self, array: Array, value: Stream, column: str) -> None:
        """Keep a value in an array of one dimension."""
        self._store(array, [column], stream_name(value))

    def _store(self, array: Array, index: Sequence[str], value: str) -> None:
        lanes = width(array.element)
        self._writer.line(f"vstore{lanes}(({self._type(array.element)})({value}), 0, &{element(array, index)});")

    def _type(self, kind: ScalarType, step: int = _VECTOR) -> str:
        return f"{c_type(kind)}{width(kind)}" if step == _VECTOR else c_type(kind)

    def _declare(self, out: Stream, text: str, step: int) -> bool:
        self._writer.line(f"const {self._type(out.type, step)} {stream_name(out)} = {text};")
        self._steps[out] = step
        return True

    def _step(self, operand: Given) -> int:
        return self._steps.get(operand, 0)

    def _goes_on(self, array: Array, steps: Sequence[int]) -> bool:
        """Whether elements lie side by side, and are of the one type."""
        if array.element not in (F32, F64) or self.kind not in (None, array.element):
            return False
        self.kind = array.element
        return bool(steps) and steps[-1] == 1 and not any(steps[:-1])

    def _loaded(self, array: Array, steps: Sequence[int], index: Sequence[str]) -> tuple[str, int] | None:
        if not any(steps):
            return element(array, index), 0
        if not self._goes_on(array, steps):
            return None
        return f"vload{width(array.element)}(0, &{element(array, index)})", _VECTOR

    def _apply(self, statement: OneToOne) -> bool:
        pairs = list(zip(statement.function.parameters, statement.arguments, strict=True))
        names: dict[Operand, str] = {parameter: operand_text(given) for parameter, given in pairs}
        steps: dict[Operand, int] = {parameter: self._step(given) for parameter, given in pairs}
        for each in statement.function.body.statements:
            written = self._scalar(each, names, steps)
            if written is None:
                return False
            out, text, step = written
            names[out], steps[out] = self._writer.fresh(), step
            self._writer.line(f"const {self._type(out.type, step)} {names[out]} = {text};")
        results = zip(statement.outs, statement.function.body.results, strict=True)
        return all(self._declare(out, _atom(result, names), steps.get(result, 0)) for out, result in results)

    def _scalar(
        self, statement: Statement, names: Mapping[Operand, str], steps: Mapping[Operand, int]
    ) -> tuple[Variable, str, int] | None:
        match statement:
            case Compute(out, operator, given):
                atoms = [_atom(each, names) for each in given]
                own = [steps.get(each, 0) for each in given]
                if _VECTOR in own:
                    alike = all(kind_of(each) is out.type is self.kind for each in given)
                    sum_of = f"{atoms[0]} {_SIGNS[operator]} {atoms[1]}" if operator in _SIGNS and alike else None
                    return None if sum_of is None else (out, sum_of, _VECTOR)
                step = _moved(operator, own) if out.type is I64 else None if any(own) else 0
                kinds = [kind_of(each) for each in given]
                context = self._context
                text = expression(operator, out.type, kinds, atoms, context.features, context.prelude)
                return None if step is None else (out, text, step)
            case Load(out, array, index) if not statement.may_fail:
                text_step = self._loaded(
                    array, [steps.get(each, 0) for each in index], [_atom(each, names) for each in index]
                )
                return None if text_step is None else (out, *text_step)
            case _:
                return None


def _moved(operator: Operator, steps: Sequence[int]) -> int | None:
    """By how much an index goes on that is computed; None if it is not by 0 or 1."""
    match operator, steps:
        case Operator.ADD, [a, b]:
            return a + b if a + b < _VECTOR else None
        case Operator.SUB, [a, 0]:
            return a
        case _:
            return None if any(steps) else 0


def _atom(operand: Operand, names: Mapping[Operand, str]) -> str:
    match operand:
        case Constant():
            return constant(operand)
        case Extent():
            return extent_text(operand)
        case _:
            return names[operand]
