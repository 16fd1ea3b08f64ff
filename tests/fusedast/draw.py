"""Random labelled programs with arguments, and every legal cluster of them, for tests of fusion and lowering."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from random import Random

import numpy as np

from accel.ast.tree.nodes import Direction, ScanForm
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F64, I64
from accel.ilp.legality.checker import cluster_refusal
from accel.ilp.problem.clustering import BACKWARD, FORWARD, Cluster, Plan, Traversal
from accel.ilp.problem.decode import in_order
from accel.ilp.problem.graph import Graph
from accel.labelled.array import Array, Extent, Shape
from accel.labelled.meaning.evaluate import HostArray
from accel.labelled.nodes import Program
from accel.labelled.operations import Kind
from accel.labelled.programs import reads
from tests.fusedast.hand import Body, Hand, number

EXTENTS = {0: 7, 1: 5}
"""What the first size variables are when a program runs."""


class Draw:
    """A random program of a few operations over vectors of n0, matrices of n0 by n1, and what comes of them."""

    def __init__(self, seed: int, operations: int) -> None:
        self.random = Random(seed)
        self.hand = Hand()
        n, m = self.hand.size(), self.hand.size()
        self.pool = [self.hand.use(F64, n), self.hand.use(I64, n), self.hand.use(F64, n, m), self.hand.use(I64, m)]
        self._destroyed: set[Array] = set()
        makers = [
            self._affine, self._affine, self._zip, self._zip, self._fold, self._fold, self._scan, self._scan, self._filter,
            self._gather, self._gather, self._reverse, self._row, self._scatter, self._index, self._load, self._transpose,
        ]  # fmt: skip
        while len(self.hand.bindings) < 4 + operations:
            self.random.choice(makers)()

    def program(self) -> Program:
        """What nobody uses is a result, and some of the rest."""
        used = {array for binding in self.hand.bindings for array in reads(binding.operation)}
        made = [array for array in self.pool[4:] if array not in self._destroyed]
        results = [array for array in made if array not in used or self.random.random() < 0.2]
        return self.hand.program(*results)

    def _pick(self, *, rank: int | None = None, at_least: int = 0) -> Array:
        some = [
            array
            for array in self.pool
            if len(array.shape) >= at_least
            and (rank is None or len(array.shape) == rank)
            and array not in self._destroyed
        ]
        recent = some[-4:]  # deep rather than wide
        return self.random.choice(recent if self.random.random() < 0.7 else some)

    def _affine(self) -> None:
        self.pool.append(self.hand.affine(self._pick()))

    def _zip(self) -> None:
        left = self._pick()
        others = [
            a for a in self.pool if (a.shape, a.element) == (left.shape, left.element) and a not in self._destroyed
        ]
        right = self.random.choice(others[-3:])
        self.pool.append(self.hand.zip(self.random.choice([Operator.SUB, Operator.MAX]), left, right))

    def _fold(self) -> None:
        operator = self.random.choice([Operator.ADD, Operator.MAX])
        array = self._pick(at_least=1)
        dimensions = self.random.randint(1, len(array.shape))
        self.pool.append(self.hand.fold(array, operator, dimensions=dimensions))

    def _scan(self) -> None:
        form, end = self.random.choice(list(ScanForm)), self.random.choice(list(Direction))
        self.pool += self.hand.scan(self._pick(at_least=1), form, end)

    def _filter(self) -> None:
        self.pool += self.hand.filter(self._pick(at_least=1), 1)

    def _indices(self, shape: Shape, *inputs: Array) -> Array:
        """Indices into the first dimension of an array of `shape`: 0 or more below the least extent, 0 if it is 0."""
        body = Body(*[I64] * len(inputs[0].shape), inputs[0].element)
        value = body.op(Operator.CAST, body.parameters[-1], kind=I64)
        return self.hand.map(body.gives(body.op(Operator.MOD, value, shape[0])), inputs[0], kind=I64)

    def _gather(self) -> None:
        source = self._pick(rank=1)
        if self._may_be_empty(source.shape):
            return
        self.pool.append(self.hand.gather(self._indices(source.shape, self._pick(at_least=1)), source))

    def _may_be_empty(self, shape: Shape) -> bool:
        return any(e.variable is not None and e.variable.number not in EXTENTS and e.offset <= 0 for e in shape)

    def _reverse(self) -> None:
        source = self._pick(rank=1)
        body = Body(I64)
        last = body.op(Operator.SUB, source.shape[0], number(I64, 1))
        index = body.gives(body.op(Operator.SUB, last, body.parameters[0]))
        self.pool.append(self.hand.backpermute(index, source, *source.shape))

    def _transpose(self) -> None:
        source = self._pick(at_least=1)
        if len(source.shape) == 2:
            body = Body(I64, I64)
            index = body.gives(body.parameters[1], body.parameters[0])
            self.pool.append(self.hand.backpermute(index, source, *reversed(source.shape)))

    def _row(self) -> None:
        """A vector as every row of a matrix, or a matrix's first column."""
        source = self._pick(at_least=1)
        if len(source.shape) == 1:
            body = Body(I64, I64)
            shape = (*source.shape, Extent(None, 3))
            self.pool.append(self.hand.backpermute(body.gives(body.parameters[0]), source, *shape, shrinking=False))
        elif not self._may_be_empty(source.shape[1:]):
            body = Body(I64)
            index = body.gives(body.parameters[0], number(I64, 0))
            self.pool.append(self.hand.backpermute(index, source, source.shape[0]))

    def _scatter(self) -> None:
        target = self._pick(rank=1)
        values = self._pick()
        if self._may_be_empty(target.shape) or target.element is not values.element:
            return
        where = self._indices(target.shape, values)
        destination = self.hand.copy(target)
        keep = None
        if self.random.random() < 0.5:
            body = Body(*[I64] * len(values.shape), values.element)
            keep = self.hand.map(
                body.gives(body.op(Operator.GT, body.parameters[-1], number(values.element, 0))), values, kind=BOOL
            )
        self.pool.append(self.hand.scatter(destination, [where], values, keep))
        self._destroyed.add(destination)

    def _index(self) -> None:
        shape = self._pick().shape
        body = Body(*[I64] * len(shape))
        value = number(I64, 1)
        total = body.op(Operator.ADD, body.parameters[0] if shape else value, value)
        self.pool.append(self.hand.generate(body.gives(total), *shape, kind=I64))

    def _load(self) -> None:
        """A scalar function that indexes a rank-0 array."""
        scalar, other = self._pick(), self._pick()
        if scalar.shape == () and scalar.element is other.element:
            body = Body(*[I64] * len(other.shape), other.element)
            total = body.op(Operator.ADD, body.parameters[-1], body.load(scalar))
            self.pool.append(self.hand.map(body.gives(total), other))


def arguments(program: Program, seed: int) -> list[HostArray]:
    """Arrays for the parameters of a drawn program."""
    generator = np.random.default_rng(seed)
    made: list[HostArray] = []
    for (leaf,) in program.parameters:
        shape = tuple(EXTENTS[e.variable.number] for e in leaf.shape if e.variable)
        drawn = generator.integers(-3, 9, shape)
        made.append(drawn if leaf.element is I64 else drawn * 0.7)
    return made


def legal_clusters(graph: Graph, most: int) -> Iterator[Cluster]:
    """Every cluster of two to `most` operations that the checker accepts, with every choice of orders."""
    labels = [node.label for node in graph.nodes if node.kind is not Kind.BARRIER]
    for count in range(2, most + 1):
        for chosen in combinations(labels, count):
            if any(earlier in chosen and later in chosen for earlier, later in graph.before):
                continue
            inside = sorted({graph.order[label] for label in chosen if label in graph.order})
            for root in (FORWARD, BACKWARD):
                choices = [
                    [root, *(Traversal(g, False) for g in inside if max(graph.ordered[g]) > label)] for label in chosen
                ]
                for orders in product(*choices):
                    cluster = Cluster(chosen, orders)
                    if cluster_refusal(graph, cluster, "published") is None:
                        yield cluster


def around(graph: Graph, cluster: Cluster) -> Plan | None:
    """The plan of one cluster and all other operations alone, or None if they would need each other."""
    alone = [
        Cluster((node.label,), (BACKWARD if node.backward else FORWARD,))
        for node in graph.nodes
        if node.label not in cluster.labels
    ]
    found = in_order(graph, (cluster, *alone))
    return None if found is None else Plan(found, (), "drawn", "none", None, (), (), False, 0.0)
