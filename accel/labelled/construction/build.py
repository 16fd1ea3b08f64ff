"""From array nodes to a labelled program [vB20 section 5.1; Rob section 1.3]: the entry of this stage.

In: the nodes that the user asks for, and the parameters of the function that they belong to. Out: a let-bound program over
leaves, sized, simplified, with labels in order. The steps: place every node in a region (`regions.py`), turn it into
core operations (`desugar.py`, `control.py`) while sizes are inferred (`sizes.py`), resolve sizes, simplify (`simplify.py`),
compute before loops what they do not change (`invariants.py`), and their conditions in their steps (`rotation.py`),
let folds of products read the factors (`products.py`), make in loops what is not worth storing for them (`stored.py`),
bound the size of loops (`limit.py`), let scatters work in place where they may (`scatters.py`, `copies.py`), number
(`number.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from accel.ast.tree import nodes as ast
from accel.ast.tree.nodes import ArrayNode, ArrayParameter
from accel.ast.tree.types import leaves
from accel.errors import AccelInternalError
from accel.labelled import nodes, programs
from accel.labelled.array import Shape
from accel.labelled.construction import regions
from accel.labelled.construction.control import acond, awhile
from accel.labelled.construction.desugar import desugar
from accel.labelled.construction.escape import forbid_escape
from accel.labelled.construction.graph import Graph
from accel.labelled.construction.scope import Building, Scope, Value
from accel.labelled.nodes import Program
from accel.labelled.number import number
from accel.labelled.operations import Kind, describe
from accel.labelled.passes import dead
from accel.labelled.passes.copies import insert_copies
from accel.labelled.passes.limit import limit_components
from accel.labelled.passes.loops.invariants import hoist_invariants
from accel.labelled.passes.loops.once import run_once
from accel.labelled.passes.loops.rotation import rotate_loops
from accel.labelled.passes.loops.stored import make_again
from accel.labelled.passes.products import fuse_products
from accel.labelled.passes.scatters import put_off_scatters
from accel.labelled.passes.shapes.reshapes import push_reshapes
from accel.labelled.passes.simplify import simplify
from accel.labelled.sizes import Sizes
from accel.labelled.text import text
from accel.labelled.verify import verify
from accel.passes import Pass, through
from accel.support.choices import Rounding
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Built:
    """A program, and the arrays of the host that its parameters behind those of the function are."""

    program: Program
    constants: tuple[ast.Use, ...]


def build(
    results: Sequence[ArrayNode],
    parameters: Sequence[ArrayParameter],
    products: Rounding = "fused",
    host_calls: bool = True,
) -> Built:
    """The program that computes `results`. Its parameters are `parameters`, then one for each input in order of occurrence.

    An input is what one `Use`, or several of the same arrays, take from the host. `products`: how folds add products.
    `host_calls`: whether foreign functions are called, or their fallbacks computed.

    Raises `AccelShapeError` for shapes that cannot fit, `AccelStagingError` for control flow that is nested too deep and for
    variables of loops and functions that are used outside of them.
    """
    graph = Graph()
    forbid_escape(results, parameters, graph)
    building = Building(regions.place(results, graph.shape), host_calls)
    placement = building.placement
    scope = Scope(building, placement.root, lazy=False)
    order = placement.nodes.get(placement.root, [])
    inputs = _inputs(placement.order)
    given: list[Sequence[ast.Use | ArrayParameter]] = [*[(parameter,) for parameter in parameters], *inputs]
    own_shapes = [_parameter(scope, same, k) for k, same in enumerate(given)]
    arrays = tuple([binding.arrays for binding in scope.bindings])
    _fill(scope, order)
    found = tuple([leaf for result in results for leaf in scope.value(result).leaves])
    program = Program(arrays, tuple(scope.bindings), found, tuple(own_shapes), tuple(building.equalities))
    return Built(_finish(program, building, products), tuple([first for first, *_ in inputs]))


def _inputs(order: Sequence[ArrayNode]) -> list[list[ast.Use]]:
    """The `Use` nodes of a program, those of the same objects together, as `use` took them without a copy."""
    same: dict[tuple[object, ...], list[ast.Use]] = {}
    for node in order:
        if isinstance(node, ast.Use):
            same.setdefault((node.types, *map(id, node.data)), []).append(node)
    return list(same.values())


def _pass(name: str, run: Callable[[Program], Program], copied: bool = False) -> Pass[Program, Program]:
    return Pass(f"labelled, {name}", run, partial(verify, copied=copied), text)


_ONCE = _pass("once", lambda program: _simplified_unless(program, run_once(program)))
_LOOPS = _pass("loops", lambda program: simplify(number(rotate_loops(hoist_invariants(program))), Sizes()))
_STORED = _pass("stored", lambda program: number(dead.remove(make_again(program))))
_RESHAPES = _pass("reshapes", lambda program: simplify(number(push_reshapes(program)), Sizes()))
_PRODUCTS = _pass("products", lambda program: _simplified_unless(program, fuse_products(program)))
_COPIES = _pass("copies", lambda program: number(dead.remove(insert_copies(limit_components(program)))), copied=True)
_SCATTERS = _pass("scatters", lambda program: number(put_off_scatters(program)))


def _simplified_unless(program: Program, changed: Program) -> Program:
    """What a pass has made of a program, simplified, if it made anything of it."""
    return program if changed is program else simplify(number(changed), Sizes())


def _finish(program: Program, building: Building, products: Rounding) -> Program:
    """The passes over the whole program that it has something for."""
    program = through(_pass("simplify", partial(simplify, sizes=building.sizes)), program)
    operations = [binding.operation for part in programs.programs(program) for binding in part.bindings]
    kinds = set(map(type, operations))
    if any(map(programs.has_loops, operations)):
        program = through(_ONCE, program)
    if nodes.Awhile in kinds:
        program = through(_LOOPS, program)
    if nodes.Reshape in kinds:
        program = through(_RESHAPES, program)
    if products == "fused" and any(describe(operation).kind in (Kind.FOLD, Kind.SEGMENTS) for operation in operations):
        program = through(_PRODUCTS, program)
    if not kinds.isdisjoint((nodes.Awhile, nodes.Acond)):
        program = through(_STORED, program)
    if any(describe(operation).kind is Kind.SCATTER for operation in operations):
        program = through(_SCATTERS, program)
    return through(_COPIES, program)


def _parameter(scope: Scope, same: Sequence[ast.Use | ArrayParameter], position: int) -> Shape:
    """Bind a parameter with extents of its own, which all of `same` stand for; errors name the place of each."""
    (type_,) = same[0].types
    shape = scope.building.sizes.parameter(type_.rank)
    arrays = scope.emit(nodes.Use(position), [(element, shape) for element in leaves(type_.element)], same[0].where)
    for node in same:
        scope.building.values[node, scope.region] = (Value(arrays, shape, node.where),)
    return shape


def _fill(scope: Scope, order: Sequence[ArrayNode]) -> None:
    """Bind the nodes of a region, in order of dependency. It recurses on nested control flow only."""
    for node in order:
        if not isinstance(node, ast.Use | ArrayParameter):
            scope.building.values[node, scope.region] = _values(node, scope)


def _fill_inner(scope: Scope) -> None:
    _fill(scope, scope.building.placement.nodes.get(scope.region, []))


def _values(node: ArrayNode, scope: Scope) -> tuple[Value, ...]:
    match node:
        case ast.Use() | ArrayParameter():
            raise AccelInternalError(f"an array parameter at {node.where} belongs to no function or loop around it")
        case ast.Acond():
            return acond(node, scope, _fill_inner)
        case ast.Awhile():
            return awhile(node, scope, _fill_inner)
        case ast.Result(source, position):
            return (scope.values(source)[position],)
        case _:
            return desugar(node, scope)  # the combinators without parts
