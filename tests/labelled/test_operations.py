"""Descriptions of operations: what they say is what the reference interpreter does, and `rebuild` undoes `describe`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from accel.ast.tree.leaves import to_host
from accel.errors import AccelError
from accel.labelled import programs, rewrite
from accel.labelled.array import Array
from accel.labelled.meaning.environment import Environment
from accel.labelled.meaning.interpret import run
from accel.labelled.nodes import (
    Backpermute,
    Binding,
    Fold,
    FoldSegments,
    Gather,
    Operation,
    Program,
    Scan,
    ScanSegments,
    Scatter,
)
from accel.labelled.operations import Flag, Kind, Role, describe, rebuild, with_functions, with_parts
from accel.labelled.passes.limit import limit_components
from accel.labelled.scalar import Function
from tests.labelled.programs import AnyAcc, AnyArray, built, integers, use
from tests.untyped import accel as U

XS = integers((7,))
MATRIX = integers((3, 4))


def some_of_each() -> list[AnyAcc]:
    """Results that take every operation but `force`."""
    xs, m = use(XS), use(MATRIX)
    kept, counts = U.filter(lambda x: x > 0, xs)
    scan, totals = U.scanlTotal(U.add, 0, m)
    target = lambda i: U.cond(xs[i] > 0, U.just(U.index(xs[i] % 8)), U.nothing())  # noqa: E731
    halves = U.zipWith(lambda a, b: a - b, U.map(lambda x: x * 2, kept), U.take(U.length(kept), xs))
    return [
        kept, counts, scan, totals, halves,
        U.permute(U.add, U.map(lambda x: x * 3, U.use(np.arange(8))), target, xs),
        U.permute(U.add, U.use(np.arange(8)), target, xs),
        U.gather(U.map(lambda x: x % 4, U.use(np.arange(5))), U.map(lambda x: x + 1, xs)),
        U.fold(U.add, 0, m), U.fold1(lambda a, b: a - b, m), U.scanr(U.sub, 0, m), U.scanl1(U.max, m),
        U.foldSeg(U.add, 0, m, U.use(np.array([1, 2]))), *U.scanrTotalSeg(U.sub, 0, m, U.use(np.array([1, 2]))),
        U.transpose(U.map(lambda x: x + 1, m)), U.reshape((4, 3), U.scanl1(U.add, m)),
        U.argsort(U.map(lambda x: x % 3, m)), U.atrace("xs", U.map(lambda x: x + 5, xs)),
        U.foreign_acc(lambda a: a * 2, lambda a: U.map(lambda x: x * 2, a), U.map(lambda x: x + 7, xs)),
        U.generate((U.length(kept),), lambda i: xs[U.unindex(i)[0] % 7]),
        U.acond(xs[0] > 1, U.map(lambda x: x + xs[2], xs), xs),
        U.awhile(lambda s: U.unit(s[0] > 1), lambda s: U.map(lambda x: x - xs[1] * 0 - 1, s), xs),
    ]  # fmt: skip


@cache
def everything() -> tuple[Program, list[AnyArray]]:
    """A program with every operation, and its arguments."""
    found = built(some_of_each())
    program = limit_components(found.program, 4)  # which puts in `force`
    return program, [to_host(leaf) for constant in found.constants for leaf in constant.data]


def bindings() -> list[Binding]:
    return [binding for part in programs.programs(everything()[0]) for binding in part.bindings]


def test_the_program_has_every_operation() -> None:
    assert {type(binding.operation) for binding in bindings()} == set(get_args(Operation))


@pytest.mark.parametrize("kind", get_args(Operation), ids=lambda kind: str(kind.__name__))
def test_a_description_rebuilds_its_operation(kind: type[Operation]) -> None:
    found = [binding.operation for binding in bindings() if isinstance(binding.operation, kind)]
    for operation in found:
        described = describe(operation)
        assert rebuild(operation, described.arrays, described.functions, described.parts) == operation
        assert with_functions(operation, lambda function: function) == operation
        assert with_parts(operation, lambda part: part) == operation


def held(value: object) -> Iterator[object]:
    """The arrays, functions and programs in a field of an operation."""
    if isinstance(value, Array | Function | Program):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from held(item)


@pytest.mark.parametrize("kind", get_args(Operation), ids=lambda kind: str(kind.__name__))
def test_a_description_holds_all_that_an_operation_has(kind: type[Operation]) -> None:
    """A field that is added to an operation is described: its arrays as reads, its functions, its programs."""
    for operation in (binding.operation for binding in bindings() if isinstance(binding.operation, kind)):
        described = describe(operation)
        has = [item for field in fields(operation) for item in held(getattr(operation, field.name))]
        assert sorted(map(repr, has)) == sorted(map(repr, (*described.arrays, *described.functions, *described.parts)))


def changed(array: Array) -> Array:
    return replace(array, label=array.label + 1000)


def test_other_arrays_functions_and_programs_take_the_same_places() -> None:
    for operation in (binding.operation for binding in bindings()):
        described = describe(operation)
        bare = tuple([replace(function, parameters=()) for function in described.functions])
        empty = tuple([Program((), (), part.results) for part in described.parts])
        again = describe(rebuild(operation, tuple(map(changed, described.arrays)), bare, empty))
        assert again.reads == tuple([(changed(array), role) for array, role in described.reads])
        assert (again.functions, again.parts) == (bare, empty)
        assert (again.kind, again.name, again.flags) == (described.kind, described.name, described.flags)


class _Watched(dict[Array, AnyArray]):
    """Arrays that remember which of them were asked for."""

    def __init__(self, arrays: dict[Array, AnyArray]) -> None:
        super().__init__(arrays)
        self.asked: set[Array] = set()

    def __getitem__(self, array: Array) -> AnyArray:
        self.asked.add(array)
        return super().__getitem__(array)


def test_the_interpreter_touches_exactly_what_is_described() -> None:
    """Each operation runs by itself, with only the arrays that it reads, and asks for all of them."""
    program, arguments = everything()
    environment = Environment.of_call(program, arguments)
    for binding in program.bindings:
        operation = binding.operation
        needed = programs.reads(operation)
        there = {
            array: environment.arrays[array] for array in programs.consumed(operation) if array in environment.arrays
        }
        watched = _Watched(there)
        run(Program((), (binding,), ()), Environment(environment.sizes, watched))
        assert watched.asked >= needed, operation
        environment.arrays.update(watched)


def test_an_operation_without_one_of_its_reads_cannot_run() -> None:
    """What is described is not more than what is needed."""
    program, arguments = everything()
    environment = Environment.of_call(program, arguments)
    for binding in program.bindings:
        for missing in programs.inputs(binding.operation):
            arrays = {array: value for array, value in environment.arrays.items() if array != missing}
            with pytest.raises((KeyError, AccelError)):
                run(Program((), (binding,), ()), Environment(dict(environment.sizes), arrays))
        run(Program((), (binding,), ()), environment)


def test_results_have_the_elements_and_functions_the_parameters_that_flags_tell() -> None:
    program, arguments = everything()
    environment = Environment.of_call(program, arguments)
    run(program, environment)
    known = environment.arrays
    for binding in program.bindings:
        described = describe(binding.operation)
        if Flag.MOVES in described.flags:
            moved = described.arrays[-len(binding.arrays) :]
            for result, source in zip(binding.arrays, moved, strict=True):
                assert set(known[result].ravel().tolist()) <= set(known[source].ravel().tolist())
        if Flag.VIEW in described.flags:
            sizes = [(known[a].size, known[b].size) for a, b in zip(binding.arrays, described.arrays, strict=True)]
            assert all(one == other for one, other in sizes)
        if Flag.TAKES_INDEX in described.flags:
            count = len(binding.arrays[0].shape) + len(described.read(Role.STREAM))
            assert [len(function.parameters) for function in described.functions] == [count]


def test_a_new_field_of_folds_and_scans_is_not_lost() -> None:
    """`rebuild` replaces; what it does not know stays."""
    for operation in (binding.operation for binding in bindings()):
        if isinstance(operation, Fold | Scan):
            exact = not operation.monoid.exact
            other = replace(operation, monoid=replace(operation.monoid, exact=exact), name="other")
            described = describe(other)
            assert rebuild(other, described.arrays, described.functions, ()) == other
            assert (described.name, Flag.INEXACT in described.flags) == ("other", not exact)


def test_barriers_read_in_no_order_and_nothing_else_does() -> None:
    for described in (describe(binding.operation) for binding in bindings()):
        roles = {role for _, role in described.reads}
        assert roles <= {Role.INDEX} if described.kind is Kind.BARRIER else Role.INDEX not in roles


def test_what_is_read_in_which_role() -> None:
    """A gather follows its indices and moves through its sources; a scatter overwrites its destinations [vB24 Table 1]."""
    for operation in (binding.operation for binding in bindings()):
        described = describe(operation)
        if isinstance(operation, Gather):
            assert described.read(Role.STREAM) == operation.indices
        if isinstance(operation, FoldSegments | ScanSegments):
            assert described.read(Role.STREAM) == (operation.starts, operation.ends)
        if isinstance(operation, Gather | Backpermute | FoldSegments | ScanSegments):
            assert described.read(Role.SOURCE) == operation.inputs
        else:
            assert not described.read(Role.SOURCE)
        overwritten = operation.destinations if isinstance(operation, Scatter) else ()
        assert described.read(Role.DESTINATION) == overwritten


def test_rewriting_reaches_every_array() -> None:
    to = rewrite.Substitution(changed, lambda extent: extent)
    for operation in (binding.operation for binding in bindings()):
        expected = frozenset(map(changed, programs.reads(operation)))
        assert programs.reads(rewrite.operation(operation, to)) == expected


def named(tree: ast.Module) -> Iterator[str]:
    """The labelled nodes that a file imports, or names through the module."""
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "accel.labelled.nodes":
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module == "accel.labelled":
            modules.update(alias.asname or alias.name for alias in node.names if alias.name == "nodes")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield node.attr


@pytest.mark.slow
def test_few_files_know_an_operation() -> None:
    """What can be told from a description is not asked of the operations one by one (CONTRIBUTING.md)."""
    root = Path(__file__).parents[2] / "accel"
    texts = {str(file.relative_to(root)): file.read_text(encoding="utf-8") for file in sorted(root.rglob("*.py"))}
    knowing = {
        file: frozenset(named(ast.parse(text)))
        for file, text in texts.items()
        if "accel.labelled.nodes" in text or "accel.labelled import" in text
    }
    for kind in {type(b.operation) for b in bindings() if describe(b.operation).kind is not Kind.BARRIER}:
        found = [name for name, names in knowing.items() if kind.__name__ in names]
        assert 5 < len(found) <= 13, f"{kind.__name__} is known in {found}"
