"""The reference evaluator of fusion trees: what a tree means, array by array.

Leaves are evaluated by the labelled interpreter. What a tree fuses away is gone after it: a later read of it fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from accel.fusedast.nodes import (
    Diagonal,
    Horizontal,
    LeafOfCluster,
    Node,
    Program,
    RootOfCluster,
    Tree,
    Unfused,
    UnfusedAcond,
    UnfusedAwhile,
    Vertical,
)
from accel.fusedast.walk import postorder
from accel.labelled import nodes as labelled
from accel.labelled.array import Array
from accel.labelled.meaning.environment import Environment
from accel.labelled.meaning.evaluate import HostArray
from accel.labelled.meaning.interpret import run
from accel.labelled.nodes import Binding, Scatter


def interpret(program: Program, arguments: Sequence[HostArray]) -> list[HostArray]:
    """The program's results for `arguments`, fresh arrays.

    Raises `AccelShapeError`, `AccelIndexError` and `AccelValueError` as docs/errors.md says.
    """
    environment = Environment.of_call(program, arguments)
    _run(program, environment)
    return environment.results(program.results)


def _run(program: Program, environment: Environment) -> None:
    for node in program.nodes:
        _node(node, environment)


def _node(node: Node, environment: Environment) -> None:
    match node:
        case RootOfCluster(tree, results):
            _cluster(tree, results, environment)
        case Unfused(binding):
            _evaluate(binding, environment)
        case UnfusedAcond(binding, condition, then, orelse):
            branch = then if environment.arrays[condition].item() else orelse
            _run(branch, environment)
            environment.learn(binding.arrays, [environment.arrays[result] for result in branch.results])
        case UnfusedAwhile(binding, condition, body, initial):
            environment.repeat(condition, body, initial, binding.arrays, lambda part: _run(part, environment))
        case _:
            assert_never(node)


def _evaluate(binding: Binding, environment: Environment) -> None:
    run(labelled.Program((), (binding,), ()), environment)


def _cluster(tree: Tree, results: Sequence[Array], environment: Environment) -> None:
    """Halves in order; a Vertical's arrays vanish after its second half, and at the end all but the results."""
    made: set[Array] = set()
    for node in postorder(tree):
        match node:
            case LeafOfCluster(binding):
                _evaluate(binding, environment)
                made.update(binding.arrays)
                if isinstance(binding.operation, Scatter):
                    made.update(binding.operation.destinations)
            case Vertical(arrays=gone) | Diagonal(discarded=gone):
                for array in gone:
                    del environment.arrays[array]
            case Horizontal():
                pass
            case _:
                assert_never(node)
    for array in made.difference(results):
        environment.arrays.pop(array, None)
