"""The verifier refuses every kind of malformed program."""

from __future__ import annotations

from dataclasses import replace

import pytest

import accel as A
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F64, I64
from accel.errors import AccelInternalError
from accel.labelled.array import Array, Extent, SizeVariable
from accel.labelled.nodes import Awhile, Binding, Copy, Fold, Map, Program, Scatter
from accel.labelled.scalar import Block, Compute, Constant, Function, If, Load, Statement, Variable, While, constant
from accel.labelled.verify import verify
from accel.labelled.verify_scalars import verify_function
from tests.labelled.programs import parameter, program


def dotp() -> Program:
    xs, ys = parameter(1, F64), parameter(1, F64)
    return program([A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))], [xs, ys], "rounded")


def scattered() -> Program:
    into, at, values = parameter(1, F64), parameter(1, I64), parameter(1, F64)
    return program([A.scatterWith(A.add, into, A.zip(at, values))], [into, at, values])


def changed(of: Program, position: int, binding: Binding) -> Program:
    bindings = list(of.bindings)
    bindings[position] = binding
    return replace(of, bindings=tuple(bindings))


def refused(malformed: Program, why: str) -> None:
    with pytest.raises(AccelInternalError, match=why):
        verify(malformed)


def test_well_formed_programs_pass() -> None:
    verify(dotp())
    verify(scattered())


def test_the_text_shows_the_binding() -> None:
    first, second, product, total = dotp().bindings
    refused(replace(dotp(), bindings=(first, second, total)), r"made before.*: %3 = fold")
    assert product.label == 2


def test_order_and_labels() -> None:
    good = dotp()
    first, second, product, total = good.bindings
    refused(replace(good, bindings=(first, second, total, product)), "made before")
    refused(replace(good, bindings=(second, first, product, total)), "labels rise")
    refused(changed(good, 2, replace(product, after=(7,))), "`after` names earlier labels")
    refused(replace(good, results=(Array(9, 0, F64, ()),)), "made before")


def test_arrays_and_shapes() -> None:
    good = dotp()
    product, total = good.bindings[2:]
    (array,) = product.arrays
    longer = replace(array, shape=(Extent(SizeVariable(0), 1),))
    refused(changed(good, 2, replace(product, arrays=(longer,))), "inputs and results have one shape")
    refused(changed(good, 2, replace(product, arrays=(replace(array, leaf=1), array))), "leaves rise")
    refused(changed(good, 2, replace(product, arrays=(replace(array, label=1),))), "carry the binding's label")
    refused(changed(good, 2, replace(product, arrays=(replace(array, element=I64),))), "results .* expected")
    unknown = replace(array, shape=(Extent(SizeVariable(5), 0),))
    inputs = (unknown, unknown)
    assert isinstance(product.operation, Map)
    refused(changed(good, 2, replace(product, operation=replace(product.operation, inputs=inputs))), "made before")
    assert isinstance(total.operation, Fold)
    wrong = replace(total.operation, initial=Function((), Block((), (constant(I64, 0),))))
    refused(changed(good, 3, replace(total, operation=wrong)), "results .* expected")


def test_what_a_scatter_destroyed() -> None:
    good = scattered()
    copy, scatter = good.bindings[3:]
    assert isinstance(copy.operation, Copy)
    assert isinstance(scatter.operation, Scatter)
    refused(replace(good, results=copy.arrays), "not destroyed")
    verify(replace(good, results=copy.arrays), copied=False)


def test_names_do_not_leave_a_loop() -> None:
    xs = parameter(1, F64)
    loop = A.awhile(lambda s: A.unit(A.length(s) < 3), lambda s: A.map(lambda x: x + 1.0, s), xs)
    good = program([loop], [xs])
    operation = good.bindings[-1].operation
    assert isinstance(operation, Awhile)
    refused(replace(good, results=operation.body.results), "made before")
    condition = replace(operation.condition, results=operation.body.parameters[0])
    refused(
        changed(good, 1, replace(good.bindings[-1], operation=replace(operation, condition=condition))), "one bool|made"
    )


X, Y = Variable(0, F64), Variable(1, F64)
TABLE = Array(0, 0, F64, (Extent(SizeVariable(0), 0),))


@pytest.mark.parametrize(
    ("statements", "why"),
    [
        ([Compute(Y, Operator.ADD, (X, Variable(7, F64)))], "x7 bound before it is used"),
        ([Compute(X, Operator.ADD, (X, X))], "x0 bound once"),
        ([Compute(Y, Operator.AND, (X, X))], "is an operator"),
        ([Compute(Y, Operator.ADD, (X, Constant(BOOL, 2)))], "are bits of bool"),
        ([Compute(Y, Operator.ADD, (X, Constant(F64, 1 << 64)))], "are bits of f64"),
        ([Load(Y, TABLE, (X,))], "one i64 per dimension"),
        ([Load(Y, replace(TABLE, label=3), (constant(I64, 0),))], "made before it is loaded from"),
        ([Load(Variable(1, I64), TABLE, (constant(I64, 0),))], "a load of the array's type"),
        ([If((Y,), X, Block((), (X,)), Block((), (X,)))], "a bool to choose by"),
        ([If((Y,), constant(BOOL, 1), Block((), (X,)), Block((), (constant(I64, 0),)))], "get their types"),
        ([While((Y,), (Variable(2, F64),), (X,), Block((), (X,)), Block((), (X,)))], "one bool to go on by"),
        ([Compute(Variable(1, I64), Operator.ADD, (Extent(SizeVariable(9), 0), constant(I64, 1)))], "known"),
    ],
)
def test_malformed_functions(statements: list[Statement], why: str) -> None:
    function = Function((X,), Block(tuple(statements), (X,)))
    with pytest.raises(AccelInternalError, match=why):
        verify_function(function, [F64], [F64], {TABLE}.__contains__, {SizeVariable(0)}.__contains__)


def test_results_of_functions() -> None:
    identity = Function((X,), Block((), (X,)))
    known = ({TABLE}.__contains__, {SizeVariable(0)}.__contains__)
    verify_function(identity, [F64], [F64], *known)
    for parameters, results in (([F64, F64], [F64]), ([F64], [I64]), ([F64], [])):
        with pytest.raises(AccelInternalError, match="expected"):
            verify_function(identity, parameters, results, *known)
