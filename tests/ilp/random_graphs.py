"""Random dependency graphs of all kinds of operations: ranks 0 to 2, or to 5, leaves, filters, gathers, scans both ways."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from accel.ast.tree.types import F32, F64, ScalarType
from accel.ilp.problem.graph import Edge, Graph
from accel.labelled.array import Array, SizeVariable
from tests.ilp.sketch import Sketch

_SHAPES = ("n", "n", "n", "n", "m", "n k", "n k", "n j", "16")
_MATRICES = ("n k", "n k", "n j", "m k")
_RANKS = ("", "n", "n", "n k", "m k", "n k j", "n k j", "n k j i", "n k j i h", "7 n k", "m n k j")
"""Shapes of ranks 0 to 5."""

_ODD = (19, 23, 29, 31, 101, 997, 1009, 1_000_003)
"""Primes: products of some of them have no common divisor, and are as far apart as may be."""


class _Drawing:
    """One random program under construction."""

    def __init__(
        self, seed: int, operations: int, nested: bool, gathers: bool, cheap: bool, ranks: bool, segments: bool
    ) -> None:
        self.segmented, self.described = segments, list[tuple[str, str, str]]()
        self.nested, self.gathers, self.cheap = nested, gathers, cheap
        self.shapes = _RANKS if ranks else _SHAPES
        self.matrices = tuple(shape for shape in _RANKS if " " in shape) if ranks else _MATRICES
        self.permuted = _RANKS if ranks else ("n", "n k", "m")
        self.random, self.sketch, self.operations = Random(seed), Sketch(), operations
        self.readable: list[str] = []
        self.destroyed: set[str] = set()
        self.filters = 0

    def shape(self, name: str) -> str:
        """The shape of an array, as a sketch takes it."""
        names = {size: text for text, size in self.sketch.sizes.items()}
        parts = []
        for extent in self.sketch.read(name)[0].shape:
            if extent.variable is None:
                parts.append(str(extent.offset))
            else:
                parts.append(names[extent.variable] + (f"+{extent.offset}" if extent.offset else ""))
        return " ".join(parts)

    def pick(self, *, rank: int | None = None, shape: str | None = None) -> str | None:
        """Some readable array, more often a late one."""
        fitting = [
            name
            for name in self.readable
            if (rank is None or len(self.sketch.read(name)[0].shape) >= rank)
            and (shape is None or self.shape(name) == shape)
        ]
        if not fitting:
            return None
        early = self.cheap and self.random.random() < 0.5
        return self.random.choice(fitting[:4] if early else fitting[-6:])

    def element(self) -> ScalarType:
        """f32 or f64."""
        return self.random.choice((F32, F32, F64))

    def draw(self) -> Graph:
        """A whole graph."""
        for k in range(self.random.choice((2, 3) if self.nested else (1, 1, 2, 3))):
            self.sketch.use(f"u{k}", self.random.choice(self.matrices if self.nested else self.shapes), self.element())
            self.readable.append(f"u{k}")
        while sum(name.startswith("v") for name in self.sketch.labels if "!" not in name) < self.operations:
            self.operation(f"v{len(self.sketch.nodes)}")
        graph = self.sketch.finish()
        return replace(graph, edges=tuple(map(self.loads, graph.edges))) if self.cheap else graph

    def loads(self, edge: Edge) -> Edge:
        """The edge as that of a scalar function with loads that may be several, and out of bounds."""
        sites, inside = self.random.choice((1, 1, 1, 2, 3)), self.random.random() < 0.7
        return replace(edge, sites=sites, inside=inside, passes=sites if edge.consumer % 2 else 1)

    def operation(self, name: str) -> None:
        """One more operation, or none if nothing fits."""
        random = self.random
        index = [self.pick() or ""] if random.random() < (0.35 if self.cheap else 0.12) else []
        result, force = random.random() < 0.1, random.random() < 0.03
        operations = random.choice((0, 1, 2, 9, 20) if self.cheap else (1, 1, 1, 12, 20, 40))
        if self.segmented and random.random() < 0.3:
            self.segments(name, result)
            if name in self.sketch.labels:
                self.offer(name)
            return
        kind = random.random() if not self.nested else random.choice((0.3, 0.5, 0.5, 0.7, 0.7, 0.7, 0.8, 0.9))
        if self.cheap:
            kind = random.choice((0.1, 0.1, 0.3, 0.4, 0.4, 0.5, 0.6, 0.7, 0.7, 0.8, 0.9, 0.97))
        arrays_before = len(self.sketch.nodes)
        if kind < 0.36 or (not self.gathers and 0.44 <= kind < 0.64):
            self.map(name, index, result, force, operations)
        elif kind < 0.44:
            shape = self.shape(self.pick() or "")
            if "k" not in shape or random.random() < 0.5:
                self.sketch.generate(
                    name, shape, index=index, result=result, operations=operations, element=self.element()
                )
        elif kind < 0.64:
            self.gather(name, result)
        elif kind < 0.78:
            source = self.pick(rank=1)
            if source:
                exact = random.random() < 0.4
                self.sketch.fold(name, source, index=[i for i in index if i != source], result=result, exact=exact)
        elif kind < 0.88:
            source = self.pick(rank=1)
            if source:
                form = random.choice(("inclusive", "inclusive", "exclusive", "total"))
                self.sketch.scan(name, source, backward=random.random() < 0.4, exclusive=form == "exclusive",
                                 total=form == "total", result=result, force=force)  # fmt: skip
        elif kind < 0.95:
            source = self.pick(rank=1)
            if source:
                self.filters += 1
                self.sketch.filter(name, f"f{self.filters}", source, result=result, force=force)
        else:
            self.scatter(name, result)
        if len(self.sketch.nodes) > arrays_before:
            self.offer(name)

    def offer(self, name: str) -> None:
        """Make the arrays of a new operation readable, one by one."""
        arrays: list[Array] = self.sketch.read(name)
        self.readable += [f"{name}.{k}" for k in range(len(arrays))] if len(arrays) > 1 else [name]

    def map(self, name: str, index: list[str], result: bool, force: bool, operations: int) -> None:
        """A map of one to three arrays."""
        first = self.pick() or ""
        others = [self.pick(shape=self.shape(first)) or first for _ in range(self.random.choice((0, 0, 1, 1, 2)))]
        stream = list(dict.fromkeys([first, *others]))
        self.sketch.map(name, stream, index=[i for i in index if i not in stream], result=result, force=force,
                        leaves=self.random.choice((1, 1, 1, 2)), operations=operations, loops=self.random.random() < 0.08,
                        element=self.element())  # fmt: skip

    def gather(self, name: str, result: bool) -> None:
        """A gather or backpermute of one or two arrays of one shape."""
        source = self.pick() or ""
        sources = list(dict.fromkeys([source, self.pick(shape=self.shape(source)) or source]))
        shrinking = self.random.random() < 0.5
        if self.random.random() < 0.5:
            indices = self.pick()
            if indices is not None and indices not in sources:
                self.sketch.gather(name, indices, sources, result=result, shrinking=shrinking)
            return
        shape = self.random.choice((self.shape(source), self.random.choice(self.permuted)))
        self.sketch.backpermute(name, shape, sources, result=result, shrinking=shrinking)

    def segments(self, name: str, result: bool) -> None:
        """Folds and scans of segments; often by a descriptor that others have, too, and of what these make or read."""
        if self.described and self.random.random() < 0.6:
            first, last, shape = self.random.choice(self.described)
            again = self.pick(shape=shape)
            if again is not None and again not in (first, last):
                self.sketch.segments(name, first, last, [again], result=result, placed=self.random.random() < 0.6,
                                     backward=self.random.random() < 0.2,
                                     longer="" if self.random.random() < 0.8 else f"l{len(shape)}")  # fmt: skip
            return
        source, starts = self.pick(rank=1), self.pick(rank=1)
        if source is None or starts is None or self.shape(source).split()[:-1] != self.shape(starts).split()[:-1]:
            return
        ends = self.pick(shape=self.shape(starts)) or starts
        if self.shape(source).split()[:-1] == self.shape(starts).split()[:-1] and not {starts, ends} & {source}:
            self.described.append((starts, ends, self.shape(source)))
            self.sketch.segments(name, starts, ends, [source], result=result, placed=self.random.random() < 0.5,
                                 backward=self.random.random() < 0.3,
                                 longer="" if self.random.random() < 0.7 else f"l{len(self.described)}")  # fmt: skip

    def scatter(self, name: str, result: bool) -> None:
        """A scatter into something that nobody reads later."""
        source = self.pick()
        made = [d for d in self.readable if d.startswith("v") and d != source]
        if source is None or not made:
            return
        destination = self.random.choice(made)
        if any(array in self.sketch.results for array in self.sketch.read(destination)):
            return
        self.sketch.scatter(name, source, destination, result=result)
        gone = set(self.sketch.read(destination))
        self.readable = [d for d in self.readable if not gone & set(self.sketch.read(d))]


def draw(
    seed: int,
    operations: int,
    nested: bool = False,
    gathers: bool = True,
    cheap: bool = False,
    ranks: bool = False,
    segments: bool = False,
) -> Graph:
    """A random graph; `nested`: mostly of matrices, folds and gathers. Without `gathers` these are maps.

    `cheap`: mostly of operations that may be recomputed, with many readers of all kinds. `ranks`: of arrays of ranks 0 to 5.
    `segments`: with folds of segments.
    """
    return _Drawing(seed, operations, nested, gathers, cheap, ranks, segments).draw()


def odd_sizes(seed: int, graph: Graph) -> dict[SizeVariable, int]:
    """Sizes for a graph with which arrays have up to 10^30 elements, none of them a round number."""
    random = Random(seed)
    shapes = [array.shape for node in graph.nodes for array in node.arrays] + [node.iteration for node in graph.nodes]
    variables = {extent.variable for shape in shapes for extent in shape if extent.variable is not None}
    return {variable: random.choice(_ODD) for variable in sorted(variables, key=lambda variable: variable.number)}
