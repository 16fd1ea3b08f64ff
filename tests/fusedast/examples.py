"""Small labelled programs, one idea each, with plans that fuse them and arguments: what the stages after the ILP must do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from accel.ast.tree.nodes import Direction, ScanForm
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F32, F64, I64
from accel.ilp.problem.clustering import BACKWARD, Plan, Traversal
from accel.labelled.algebra import UNKNOWN
from accel.labelled.array import Array, Extent, Label
from accel.labelled.meaning.evaluate import HostArray
from accel.labelled.nodes import Fold, Program
from tests.fusedast.hand import Body, Hand, at, binary, number, plan


@dataclass(frozen=True)
class Example:
    program: Program
    clusters: list[list[Label]]
    arguments: list[HostArray]
    orders: dict[Label, Traversal] = field(default_factory=dict)

    @property
    def fused(self) -> Plan:
        return plan(self.program, *self.clusters, orders=self.orders)

    @property
    def unfused(self) -> Plan:
        return plan(self.program)


def floats(*shape: int) -> HostArray:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def ints(*shape: int, below: int = 10) -> HostArray:
    return np.random.default_rng(sum(shape)).integers(0, below, shape)


def one(extent: int) -> Extent:
    return Extent(None, extent)


def _normalise_by(hand: Hand, array: Array, total: Array) -> Array:
    body = Body(I64, F64)
    return hand.map(body.gives(body.op(Operator.DIV, body.parameters[1], body.load(total))), array)


def dot_product() -> Example:
    hand = Hand()
    n = hand.size()
    xs, ys = hand.use(F32, n), hand.use(F32, n)
    program = hand.program(hand.fold(hand.zip(Operator.MUL, xs, ys)))
    both = np.random.default_rng(0).random((2, 5000), np.float32)
    return Example(program, [[2, 3]], [both[0], both[1]])


def normalise2() -> Example:
    """[vB20 Fig. 4]: two loops; the scan has n + 1 results."""
    hand = Hand()
    n = hand.size()
    xs = hand.use(F64, n)
    sum1 = hand.fold(xs)
    (scan,) = hand.scan(xs)
    sum2 = hand.fold(scan)
    ys1, ys2 = _normalise_by(hand, xs, sum1), _normalise_by(hand, xs, sum2)
    return Example(hand.program(ys1, ys2), [[1, 2, 3], [4, 5]], [floats(100)])


def normalise2_expanded() -> Example:
    """[vB20 Fig. 6 and 9, Listing 2]: the map is kept for the second loop."""
    hand = Hand()
    n = hand.size()
    xs = hand.affine(hand.use(F64, n))
    sum1 = hand.fold(xs)
    (scan,) = hand.scan(xs)
    sum2 = hand.fold(scan)
    ys1, ys2 = _normalise_by(hand, xs, sum1), _normalise_by(hand, xs, sum2)
    return Example(hand.program(ys1, ys2), [[1, 2, 3, 4], [5, 6]], [floats(100)])


def single_loop() -> Example:
    """[vB24 section 1]: a reverse, diagonal fusion, and two orders of one array in a loop."""
    hand = Hand()
    n = hand.size()
    array = hand.use(F64, n)
    body = Body(I64)
    last = body.op(Operator.SUB, n, number(I64, 1))
    reverse = body.gives(body.op(Operator.SUB, last, body.parameters[0]))
    bs = hand.backpermute(reverse, array, n)
    cs = hand.affine(array)
    ds = hand.affine(cs)
    total = hand.zip(Operator.ADD, hand.zip(Operator.ADD, bs, cs), ds)
    return Example(hand.program(total), [[1, 2, 3, 4, 5]], [floats(20)])


def simple1() -> Example:
    """[vB24 section 3.3]: a map pushed through a gather."""
    hand = Hand()
    indices, xs = hand.use(I64, hand.size()), hand.use(F64, hand.size())
    bs = hand.gather(indices, hand.affine(xs))
    return Example(hand.program(bs), [[2, 3]], [ints(30), floats(10)], {2: at(bs)})


def simple2() -> Example:
    """[vB24 section 3.3]: a gather pushed through a gather."""
    hand = Hand()
    first, second, xs = hand.use(I64, hand.size()), hand.use(I64, hand.size()), hand.use(F64, hand.size())
    middle = hand.gather(first, xs)
    bs = hand.gather(second, middle)
    return Example(hand.program(bs), [[3, 4]], [ints(20), ints(15), floats(10)], {3: at(bs)})


def simple3() -> Example:
    """[vB24 section 3.3]: what is also a result is not pushed."""
    hand = Hand()
    indices, xs = hand.use(I64, hand.size()), hand.use(F64, hand.size())
    middle = hand.affine(xs)
    bs = hand.gather(indices, middle)
    return Example(hand.program(middle, bs), [], [ints(30), floats(10)])


def simple4() -> Example:
    """[vB24 section 3.3]: a fold, and the map that feeds it, pushed through a gather."""
    hand = Hand()
    indices, xs = hand.use(I64, hand.size()), hand.use(F64, hand.size(), hand.size())
    bs = hand.gather(indices, hand.fold(hand.affine(xs)))
    return Example(hand.program(bs), [[2, 3, 4]], [ints(5, below=7), floats(7, 100)], {2: at(bs), 3: at(bs)})


def simple5() -> Example:
    """[vB24 section 3.3]: one array read in two orders."""
    hand = Hand()
    n = hand.size()
    indices, xs = hand.use(I64, n), hand.use(F64, n)
    both = hand.zip(Operator.SUB, hand.affine(xs), hand.gather(indices, xs))
    return Example(hand.program(both), [[2, 3, 4]], [ints(10), floats(10)])


def scatter_example() -> Example:
    """[vB24 section 3.4]: the values' map fuses into the scatter; a map of its destination does not."""
    hand = Hand()
    n = hand.size()
    xs = hand.use(I64, n)
    body = Body(I64, I64)
    where = hand.map(body.gives(body.op(Operator.MOD, body.parameters[1], number(I64, 7))), xs)
    values = hand.affine(xs)
    destination = hand.affine(xs, 1, 1)
    result = hand.scatter(destination, [where], values)
    return Example(hand.program(result), [[1, 2, 4]], [ints(50)])


def scatter_if() -> Example:
    """Elements that are dropped may have any index; the operator is not exact, so source order counts."""
    hand = Hand()
    n, m = hand.size(), hand.size()
    xs, zeros = hand.use(F64, n), hand.use(F64, m)
    body = Body(I64, F64)
    keep = hand.map(body.gives(body.op(Operator.GT, body.parameters[1], number(F64, 0))), xs, kind=BOOL)
    body = Body(I64, BOOL)
    index = body.op(Operator.SELECT, body.parameters[1], number(I64, 3), number(I64, -1), kind=I64)
    where = hand.map(body.gives(index), keep, kind=I64)
    result = hand.scatter(hand.copy(zeros), [where], hand.affine(xs), keep)
    return Example(hand.program(result), [[2, 3, 5, 6]], [floats(50), floats(5)])


def scatter_of_matrix() -> Example:
    """The fold of rows feeds a scatter into a matrix."""
    hand = Hand()
    n, m = hand.size(), hand.size()
    xs = hand.use(F64, n, m)
    sums = hand.fold(xs)
    body = Body(I64, F64)
    rows = hand.map(body.gives(body.op(Operator.MOD, body.parameters[0], number(I64, 2))), sums, kind=I64)
    columns = hand.map(Body(I64, F64).gives(number(I64, 0)), sums, kind=I64)
    destination = hand.generate(Body(I64, I64).gives(number(F64, 0)), one(2), one(1))
    result = hand.scatter(destination, [rows, columns], sums)
    return Example(hand.program(result), [[1, 2, 3, 5]], [floats(9, 4)])


def filtered() -> Example:
    """What follows a filter runs under its guard: a map, a fold, an inclusive scan, a second filter."""
    hand = Hand()
    xs = hand.use(F64, hand.size())
    kept, count = hand.filter(hand.affine(xs))
    mapped = hand.affine(kept)
    total = hand.fold(mapped)
    (scan,) = hand.scan(kept, ScanForm.INCLUSIVE)
    again, few = hand.filter(mapped, 3)
    return Example(hand.program(count, total, scan, again, few), [[1, 2, 3, 4, 5, 6]], [floats(10000)])


def filter_max() -> Example:
    """[Rob]: the greatest of what a filter keeps; nobody needs to know how many it keeps."""
    hand = Hand()
    xs = hand.use(F64, hand.size())
    kept, _ = hand.filter(xs)
    return Example(hand.program(hand.fold(kept, Operator.MAX, seed=-1)), [[1, 2]], [floats(100)])


def filtered_rows() -> Example:
    """Of a filtered matrix only the counts of rows are wanted, and a fold of what is kept: no position, no size."""
    hand = Hand()
    xs = hand.use(F64, hand.size(), hand.size())
    kept, counts = hand.filter(xs)
    return Example(hand.program(counts, hand.fold(kept)), [[1, 2]], [floats(30, 40)])


def filtered_matrix() -> Example:
    """[Rob]: counts for each row, positions over all; a map of the counts stands after the inner loop."""
    hand = Hand()
    xs = hand.use(F64, hand.size(), hand.size())
    kept, counts = hand.filter(xs)
    total = hand.fold(hand.affine(kept))
    return Example(hand.program(kept, total, hand.affine(counts)), [[1, 2, 3, 4]], [floats(30, 40)])


def filtered_gather() -> Example:
    """A gather whose index is filtered: what feeds it runs at the mapped index, under the guard."""
    hand = Hand()
    wanted, xs = hand.use(I64, hand.size()), hand.use(F64, hand.size())
    kept, _ = hand.filter(wanted, 2)
    bs = hand.gather(kept, hand.affine(xs))
    return Example(hand.program(bs), [[2, 3, 4]], [ints(40), floats(10)], {3: at(bs)})


def scan_of_scan() -> Example:
    """n, n + 1 and n + 2 elements in one loop."""
    hand = Hand()
    xs = hand.use(F64, hand.size())
    (first,) = hand.scan(hand.affine(xs))
    (second,) = hand.scan(first)
    return Example(hand.program(second, hand.fold(hand.affine(second))), [[1, 2, 3, 4, 5]], [floats(200)])


def right_scans() -> Example:
    """A downward loop: the seed comes first, at index n."""
    hand = Hand()
    xs = hand.use(F64, hand.size())
    mapped = hand.affine(xs)
    (first,) = hand.scan(mapped, direction=Direction.RIGHT, operator=Operator.SUB)
    (second,) = hand.scan(first, direction=Direction.RIGHT, operator=Operator.SUB)
    (third,) = hand.scan(mapped, ScanForm.INCLUSIVE, Direction.RIGHT, Operator.SUB)
    orders = dict.fromkeys([1, 2, 3, 4], BACKWARD)
    return Example(hand.program(mapped, second, third), [[1, 2, 3, 4]], [floats(100)], orders)


def right_scan_and_fold() -> Example:
    """An exact fold may run downwards."""
    hand = Hand()
    xs = hand.use(I64, hand.size())
    scan, total = hand.scan(xs, ScanForm.TOTAL, Direction.RIGHT)
    largest = hand.fold(scan, Operator.MAX)
    return Example(hand.program(total, largest), [[1, 2]], [ints(100)], {1: BACKWARD, 2: BACKWARD})


def matrix_scans() -> Example:
    """Scans of rows; their totals are folded in turn, after the inner loop."""
    hand = Hand()
    xs = hand.use(F64, hand.size(), hand.size())
    scan, totals = hand.scan(hand.affine(xs), ScanForm.TOTAL)
    mean = hand.fold(totals)
    (longer,) = hand.scan(scan)
    return Example(hand.program(scan, mean, longer), [[1, 2, 3, 4]], [floats(6, 70)])


def fold_and_outer() -> Example:
    """Rows are folded; what is made of the results joins a vector, after the inner loop; and is folded in turn."""
    hand = Hand()
    n, m = hand.size(), hand.size()
    xs, weights = hand.use(F64, n, m), hand.use(F64, n)
    sums = hand.fold(hand.affine(xs))
    weighted = hand.zip(Operator.MUL, sums, weights)
    return Example(hand.program(weighted, hand.fold(weighted)), [[2, 3, 4, 5]], [floats(8, 30), floats(8)])


def fold_under_a_guard() -> Example:
    """More than the checker accepts: an exclusive scan of what folds of rows give, whose loop has one iteration too many.

    In that one no row is there to fold: its state does not exist, and a fold1 of nothing is no error.
    """
    hand = Hand()
    xs = hand.use(F64, hand.size(), hand.size())
    least, sums = hand.fold(xs, Operator.MIN, seed=None), hand.fold(xs)
    (scan,) = hand.scan(hand.zip(Operator.ADD, least, sums))
    return Example(hand.program(scan), [[1, 2, 3, 4]], [floats(8, 30)])


def folds_of_dimensions() -> Example:
    """One, two and three dimensions of the same elements."""
    hand = Hand()
    xs = hand.use(F64, hand.size(), hand.size(), hand.size())
    doubled = hand.affine(xs)
    rows, planes, whole = hand.fold(doubled), hand.fold(doubled, dimensions=2), hand.fold(doubled, dimensions=3)
    least = hand.fold(rows, Operator.MIN, seed=9, dimensions=2)
    labels = [[1, 2, 3, 4, 5]]
    return Example(hand.program(rows, planes, whole, least), labels, [floats(3, 40, 50)])


def segments() -> Example:
    """Two folds of the same segments; what makes the elements of one runs in the loop over a segment, and what folds the
    results around it."""
    hand = Hand()
    n, m = hand.size(), hand.size()
    xs, ys, starts, counts = hand.use(F64, n), hand.use(F64, n), hand.use(I64, m), hand.use(I64, m)
    body = Body(I64, I64)
    first = hand.map(body.gives(body.op(Operator.MIN, body.parameters[1], n)), starts)
    body = Body(I64, I64, I64)
    end = body.op(Operator.ADD, *body.parameters[1:])
    ends = hand.map(body.gives(body.op(Operator.MIN, end, n)), first, counts)
    sums = hand.segments(first, ends, hand.affine(xs))
    least = hand.segments(first, ends, ys, Operator.MIN, seed=9)
    spread = hand.zip(Operator.SUB, sums, least)
    whole = hand.fold(spread, Operator.MAX)
    numbers = np.array([0, 3, 3, 4, 7]), np.array([3, 0, 1, 3, 2])
    labels = [[4, 5, 6, 7, 8, 9, 10]]
    orders = {6: Traversal(7, False)}
    return Example(hand.program(spread, whole), labels, [floats(9), floats(9) + 1, *numbers], orders)


def segments_in_one_order() -> Example:
    """What is scanned is folded as well, and the scan is folded and read: all visit the elements of each segment once."""
    hand = Hand()
    n, m = hand.size(), hand.size()
    xs, *given = hand.use(F64, n), hand.use(I64, m), hand.use(I64, m)
    body = Body(I64, I64)
    least = body.gives(body.op(Operator.MIN, body.parameters[1], n))
    starts, ends = (hand.map(least, each) for each in given)
    made = hand.affine(xs)
    sums = hand.scan_segments(starts, ends, made)
    most, whole = hand.segments(starts, ends, sums, Operator.MAX, seed=-9), hand.segments(starts, ends, made)
    spread = hand.zip(Operator.SUB, sums, made)
    labels = [[3, 4, 5, 6, 7, 8, 9]]
    orders = {5: Traversal(6, False), 9: Traversal(6, False)}
    divided = np.array([0, 3, 3, 4]), np.array([3, 3, 4, 9])
    return Example(hand.program(most, whole, spread), labels, [floats(9), *divided], orders)


def fold_of_nothing_known() -> Example:
    """fold1 of rows, and a fold whose seed is loaded."""
    hand = Hand()
    xs, seed = hand.use(F64, hand.size(), hand.size()), hand.use(F64)
    least = hand.fold(xs, Operator.MIN, seed=None)
    body = Body()
    operation = Fold(binary(Operator.SUB, F64), body.gives(body.load(seed)), (xs,), UNKNOWN)
    sums = hand.add(operation, (F64, xs.shape[:-1]))[0]
    return Example(hand.program(least, sums), [[2, 3]], [floats(8, 300), np.array(3.0)])


def rank_zero() -> Example:
    """No loop at all."""
    hand = Hand()
    xs = hand.use(F64)
    return Example(hand.program(hand.zip(Operator.MUL, hand.affine(xs), xs)), [[1, 2]], [np.array(4.0)])


def rank_five() -> Example:
    hand = Hand()
    xs = hand.use(F32, *(hand.size() for _ in range(5)))
    return Example(hand.program(hand.fold(hand.affine(xs))), [[1, 2]], [floats(2, 3, 1, 4, 5).astype(np.float32)])


def replicated() -> Example:
    """A scalar, and a row, read at mapped indices of every element."""
    hand = Hand()
    n, m = hand.size(), hand.size()
    xs, row, scalar = hand.use(F64, n, m), hand.use(F64, m), hand.use(F64)
    body = Body(I64, I64)
    rows = hand.backpermute(body.gives(body.parameters[1]), row, n, m, shrinking=False)
    scalars = hand.backpermute(Body(I64, I64).gives(), scalar, n, m, shrinking=False)
    total = hand.zip(Operator.ADD, hand.zip(Operator.MUL, xs, rows), scalars)
    return Example(hand.program(total), [[3, 4, 5, 6]], [floats(4, 5), floats(5), np.array(2.0)])


def views() -> Example:
    """Sizes found out on the host, a reshape, a barrier."""
    hand = Hand()
    n = hand.size()
    xs = hand.use(F64, n, one(3))
    body = Body()
    (total,) = hand.sizes(body.gives(body.op(Operator.MUL, n, number(I64, 3))))
    flat = hand.reshape(hand.affine(xs), total)
    body = Body(I64)
    steps = hand.generate(body.gives(body.op(Operator.CAST, body.parameters[0], kind=F64)), total)
    return Example(hand.program(hand.zip(Operator.ADD, hand.force(flat), steps)), [[4, 6]], [floats(4, 3)])


EXAMPLES: list[Callable[[], Example]] = [
    dot_product, normalise2, normalise2_expanded, single_loop, simple1, simple2, simple3, simple4, simple5,
    scatter_example, scatter_if, scatter_of_matrix, filtered, filter_max, filtered_rows, filtered_matrix,
    filtered_gather, scan_of_scan, right_scans, right_scan_and_fold, matrix_scans, fold_and_outer,
    fold_under_a_guard, folds_of_dimensions, segments, segments_in_one_order, fold_of_nothing_known,
    rank_zero, rank_five, replicated, views,
]  # fmt: skip
