"""What the reference says of public names that are no functions, beside their docstrings: an example, and Accelerate's name.

Types are what programs are annotated with; the examples are programs that are. `tests/test_reference.py` runs them.
"""

from __future__ import annotations

from collections.abc import Mapping

_SHAPES: Mapping[str, str] = {
    "DIM0": "no dimension: one element.",
    "DIM1": "one dimension.",
    "DIM2": "two dimensions.",
    "DIM3": "three dimensions.",
    "DIM4": "four dimensions.",
    "DIM5": "five dimensions. Arrays have up to 64; mypy checks up to five.",
}

TYPES: Mapping[str, str] = {
    "Acc": """>>> def doubled(xs: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Vector[np.float64]]:
...     return A.map(lambda x: x * 2, xs)
>>> A.run(doubled(A.use(np.array([1.0, 2.0]))))
array([2., 4.])

Accelerate's `Acc`.""",
    "All": """Accelerate's `All`.

>>> A.run(A.slice(A.use(np.arange(6).reshape(2, 3)), (A.All, 1)))
array([1, 4])""",
    "AllType": """>>> isinstance(A.All, A.AllType)
True

Accelerate's `All` is a type, too.""",
    "Array": """>>> def sums(xs: A.Acc[A.Array[A.DIM3, np.int64]]) -> A.Acc[A.Array[A.DIM2, np.int64]]:
...     return A.sum(xs)
>>> A.run(sums(A.use(np.arange(8).reshape(2, 2, 2))))
array([[ 1,  5],
       [ 9, 13]])

Accelerate's `Array`.""",
    "Boundary": """>>> edge: A.Boundary[object, np.float64] = A.boundary.constant(0.0)
>>> A.run(A.stencil(lambda n: n(-1), edge, A.use(np.array([1.0, 2.0]))))
array([0., 1.])

Accelerate's `Boundary`.""",
    "CostCluster": """>>> def loops(cluster: A.CostCluster) -> int:
...     return 1
>>> A.explain(A.sum, np.arange(3.0), cost=loops, strategy="branch_and_bound").cost
(1,)

Accelerate has none.""",
    "CostLevel": """>>> reads_twice = A.CostLevel(read=2, write=1)
>>> A.explain(A.sum, np.arange(3.0), cost=A.CostModel((reads_twice,))).cost
(3,)

Accelerate has none.""",
    "CostModel": """>>> fewest = A.CostModel((A.CostLevel(cluster=1), A.CostLevel(read=1, write=1)))
>>> A.explain(A.sum, np.arange(3.0), cost=fewest).cost
(1, 2)

Accelerate has none.""",
    "Device": """>>> [device.backend for device in A.devices()[:2]]
['interpreter', 'llvm']

Accelerate's `PTX` and `Native` targets.""",
    "DeviceArray": "Accelerate has no type of its own for arrays on a device.",
    "DeviceMemory": """>>> A.devices()[0].memory is None  # the host's is not counted
True

Accelerate has none.""",
    "Exp": """>>> def squared(x: A.Exp[np.float64]) -> A.Exp[np.float64]:
...     return x * x
>>> A.run(A.map(squared, A.use(np.array([3.0]))))
array([9.])

Accelerate's `Exp`.""",
    "Explanation": """>>> explanation = A.explain(A.sum, np.arange(3.0))
>>> explanation.loops, explanation.proved
(1, True)

Accelerate's `dump-fusion`, and `show` of a program.""",
    "Field": """>>> class Pixel(A.Record):
...     red: A.Field[np.uint8]
>>> A.run(A.unit(Pixel.red(Pixel(red=7))))
array(7, dtype=uint8)

Accelerate's fields of types that derive `Elt`.""",
    "LoopProfile": """>>> len(A.profile(A.sum, np.arange(3.0)).loops)
1

Accelerate has none.""",
    "Matrix": """`Array[DIM2, E]`, of two dimensions. Accelerate's `Matrix`.

>>> def columns(m: A.Acc[A.Matrix[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
...     return A.sum(A.transpose(m))
>>> A.run(columns(A.use(np.arange(4).reshape(2, 2))))
array([2, 4])""",
    "Maybe": """>>> def evens(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[A.Maybe[np.int64]]]:
...     return A.map(lambda x: A.cond(A.even(x), A.just(x), A.nothing()), xs)
>>> A.run(A.justs(evens(A.use(np.arange(5))))[0])
array([0, 2, 4])

Accelerate's `Maybe`.""",
    "Neighbourhood": """>>> def mean(n: A.Neighbourhood[A.DIM1, np.float64]) -> A.Exp[np.float64]:
...     return (n(-1) + n(1)) / 2
>>> A.run(A.stencil(mean, A.boundary.clamp, A.use(np.array([1.0, 3.0, 7.0]))))
array([2., 4., 5.])

Accelerate's `Stencil3`, `Stencil3x3` and so on, which are tuples.""",
    "Num": """A number of a shape: `int | Exp[np.int64]`. Accelerate's `Exp Int`.

>>> def first(n: A.Num, xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
...     return A.take(n, xs)
>>> A.run(first(2, A.use(np.arange(4)))), A.run(first(A.the(A.unit(3)), A.use(np.arange(4))))
(array([0, 1]), array([0, 1, 2]))""",
    "Profile": """>>> profiled = A.profile(A.sum, np.arange(3.0))
>>> profiled.loops[0].milliseconds >= 0
True

Accelerate has `dump-exec`, and Tracy.""",
    "Rearrangement": """>>> orders = A.rearrangements(A.matmul, np.ones((4, 6)), np.ones((6, 4)))
>>> orders[0].name
'mapA mapB rnz'

Accelerate has none.""",
    "Scalar": """`Array[DIM0, E]`, of one element. Accelerate's `Scalar`.

>>> def total(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Scalar[np.int64]]:
...     return A.sum(xs)
>>> A.run(total(A.use(np.arange(4))))
array(6)""",
    "Segments": """`Vector[np.int64]`: the lengths of segments, or their offsets. Vectors of other integers are taken as well.
Accelerate's `Segments Int`.

>>> def totals(xs: A.Acc[A.Vector[np.int64]], lengths: A.Acc[A.Segments]) -> A.Acc[A.Vector[np.int64]]:
...     return A.foldSeg(A.add, 0, xs, lengths)
>>> A.run(totals(A.use(np.arange(5)), A.use(np.array([2, 0, 3]))))
array([1, 0, 9])""",
    "Vector": """`Array[DIM1, E]`, of one dimension. Accelerate's `Vector`.

>>> def halved(xs: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Vector[np.float64]]:
...     return A.map(lambda x: x / 2, xs)
>>> A.run(halved(A.use(np.array([1.0, 2.0]))))
array([0.5, 1. ])""",
    "boundary": """>>> A.run(A.stencil(lambda n: n(-1), A.boundary.wrap, A.use(np.array([1, 2, 3]))))
array([3, 1, 2])""",
    "random": """Random numbers: [random.md](random.md). Accelerate's package `mwc-random-accelerate`.

>>> A.run(A.random.uniform(A.random.key(7), (2,), np.float64))
array([0.87207345, 0.29536538])""",
    **{
        name: f"""The shape of {what} Accelerate's `{name}`.

>>> shape: type[A.{name}] = A.{name}
>>> len(shape.__args__)
{name[-1]}"""
        for name, what in _SHAPES.items()
    },
}
"""Texts by name: paragraphs, of which those that begin with `>>>` are examples."""
