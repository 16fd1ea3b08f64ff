"""[vB24] section 3: Table 1's signatures and Fig. 2's rules as printed, against the checker's; and what a cluster must keep."""

from __future__ import annotations

import re
from itertools import chain, combinations, product

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import F32
from accel.ilp.legality.checker import Signature, cluster_refusal, refusal, singleton
from accel.ilp.legality.refusal import Refusal
from accel.ilp.problem.clustering import BACKWARD, FORWARD, Cluster, Traversal
from accel.ilp.problem.decode import clustering
from accel.ilp.problem.graph import Graph
from accel.labelled.array import Array
from tests.ilp.rules import merge
from tests.ilp.sketch import Sketch
from tests.papers import programs
from tests.papers.graphs import drawn, scatter_example, simple3
from tests.papers.inference_rules import Element, Elements, derivable

ORDERS = {0: FORWARD, 1: BACKWARD}


def _every_combinator(s: Sketch) -> None:
    """One of each; `f`, `s` and `op` are what their functions index."""
    for name in ("xs", "is", "f", "s", "op"):
        s.use(name)
    s.use("src", "n")
    s.use("dest", "m")
    s.generate("generate", index="s f")
    s.map("map", "xs", index="f")
    s.gather("gather", "is", "xs")
    s.scatter("scatter", "src", "dest")
    s.fold("fold", "xs", index="op", exact=True)
    s.scan("scanl", "xs", index="op", exact=True)
    s.scan("scanr", "xs", index="op", backward=True, exact=True)
    s.add("force", s.nodes[0].kind, [s.shape("n")], (), index="xs", result=True)


# As printed, but for `free s` and `free f`, which are `s` and `f` here, and for `ys`, which is the result's name.
TABLE_1 = [
    ("generate", "[s, f | ys:d]"),
    ("map", "[f, xs:d | ys:d]"),
    ("gather", "[is:d, xs:l | ys:d]"),
    ("scatter", "[src:d, dest | ys]"),
    ("fold", "[op, xs:d | ys:d]"),
    ("scanl", "[op, xs:0 | ys:0]"),
    ("scanr", "[op, xs:1 | ys:1]"),
    ("force", "[xs | ys]"),
]


def _printed(sketch: Sketch, combinator: str, signature: str, order: Traversal) -> Signature:
    """A row of Table 1 with `d` filled in; scatter's function is free of arrays in our graphs."""

    def pairs(text: str) -> frozenset[tuple[Array, Traversal | None]]:
        found = []
        for name, at in re.findall(r"(\w+)(?::(\w+))?", text):
            (array,) = sketch.read(combinator if name == "ys" else name)
            gather = Traversal(sketch.labels[combinator], False)
            orders = {"": None, "d": order, "l": gather, "0": FORWARD, "1": BACKWARD}
            found.append((array, orders[at]))
        return frozenset(found)

    inputs, outputs = signature.strip("[]").split("|")
    return Signature(pairs(inputs), pairs(outputs))


@pytest.mark.parametrize(("combinator", "signature"), TABLE_1)
def test_table_1_signatures(combinator: str, signature: str) -> None:
    """Every order that a row allows gives the row's signature, `d` being that order."""
    sketch, graph = drawn(_every_combinator)
    label = sketch.labels[combinator]
    fixed = {"scanl": [FORWARD], "scanr": [BACKWARD]}.get(combinator, [FORWARD, BACKWARD])
    for order in fixed:
        assert singleton(graph, graph.node[label], order) == _printed(sketch, combinator, signature, order)


def test_table_1_which_orders_a_combinator_may_have() -> None:
    """As printed, but for scatter: Table 1 allows d in {0, 1}; accel combines collisions in source order: 0 only (D5)."""
    sketch, graph = drawn(_every_combinator)

    def allowed(combinator: str) -> list[int]:
        label = sketch.labels[combinator]
        clusters = {number: Cluster((label,), (order,)) for number, order in ORDERS.items()}
        return [number for number, cluster in clusters.items() if cluster_refusal(graph, cluster, "published") is None]

    found = {combinator: allowed(combinator) for combinator, _ in TABLE_1}
    both = {combinator: [0, 1] for combinator in ("generate", "map", "gather", "fold")}
    assert found == both | {"scatter": [0], "scanl": [0], "scanr": [1], "force": [0]}


# ---- Fig. 2


def _array(name: str) -> Array:
    return Array(ord(name), 0, F32, ())


def _signature(inputs: Elements, outputs: Elements) -> Signature:
    def pairs(elements: Elements) -> frozenset[tuple[Array, Traversal | None]]:
        return frozenset((_array(name), None if order is None else ORDERS[order]) for name, order in elements)

    return Signature(pairs(inputs), pairs(outputs))


def _of(*elements: Element) -> Elements:
    return frozenset(elements)


NOTHING: Elements = frozenset()
X, X1, Y, Z = ("x", 0), ("x", 1), ("y", 0), ("z", 0)


@pytest.mark.parametrize(
    ("rule", "first", "second", "kept", "conclusion"),
    [
        ("VERTICAL", (_of(), _of(X)), (_of(X), _of()), "", (_of(), _of())),
        ("HORIZONTAL", (_of(X), _of()), (_of(X), _of()), "", (_of(X), _of())),
        ("DIAGONAL", (_of(), _of(X)), (_of(X), _of()), "x", (_of(), _of(X))),
        ("EMPTY", (NOTHING, NOTHING), (NOTHING, NOTHING), "", (NOTHING, NOTHING)),
        ("INTROI1", (_of(X), _of()), (_of(), _of()), "", (_of(X), _of())),
        ("INTROI2", (_of(), _of()), (_of(X), _of()), "", (_of(X), _of())),
        ("INTROO1", (_of(), _of(X)), (_of(), _of()), "", (_of(), _of(X))),
        ("INTROO2", (_of(), _of()), (_of(), _of(X)), "", (_of(), _of(X))),
        ("section 3.2's example", (_of(X), _of(Y)), (_of(X, Y), _of(Z)), "", (_of(X), _of(Z))),
    ],
)
def test_fig_2_rules_one_by_one(
    rule: str, first: tuple[Elements, Elements], second: tuple[Elements, Elements], kept: str,
    conclusion: tuple[Elements, Elements],
) -> None:  # fmt: skip
    assert conclusion in derivable(*first, *second), rule
    assert merge(_signature(*first), _signature(*second), map(_array, kept)) == _signature(*conclusion)


@pytest.mark.parametrize(
    ("broken", "first", "second"),
    [
        ("VERTICAL, DIAGONAL: x is also read in another order", (_of(), _of(X)), (_of(X, X1), _of())),
        ("VERTICAL, DIAGONAL: the orders differ", (_of(), _of(X)), (_of(X1), _of())),
        ("VERTICAL, DIAGONAL: no order", (_of(), _of(("x", None))), (_of(("x", None)), _of())),
        ("INTROI1: the second makes what the first reads", (_of(X), _of()), (_of(), _of(X))),
        ("INTROO1: made in an order, indexed in none", (_of(), _of(X)), (_of(("x", None)), _of())),
    ],
)
def test_fig_2_side_conditions(
    broken: str, first: tuple[Elements, Elements], second: tuple[Elements, Elements]
) -> None:
    assert not derivable(*first, *second), broken
    assert merge(_signature(*first), _signature(*second), []) is None
    assert merge(_signature(*first), _signature(*second), [_array("x")]) is None


def _uses(name: str) -> list[tuple[Elements, Elements]]:
    """All ways in which one cluster can touch one array: read in some orders, or made in one; never both."""
    elements: list[Element] = [(name, order) for order in (0, 1, None)]
    reads = chain.from_iterable(combinations(elements, count) for count in range(4))
    return [(frozenset(read), NOTHING) for read in reads] + [(NOTHING, frozenset({made})) for made in elements]


def test_fig_2_derives_what_merge_gives_for_all_pairs_of_clusters_over_two_arrays() -> None:
    """Every `kept` is one choice between VERTICAL and DIAGONAL; no array is made twice."""
    both = [
        [(first, second) for first, second in product(_uses(name), repeat=2) if not (first[1] and second[1])]
        for name in "xy"
    ]
    counted = 0
    for (x1, x2), (y1, y2) in product(*both):
        first, second = (x1[0] | y1[0], x1[1] | y1[1]), (x2[0] | y2[0], x2[1] | y2[1])
        flowing = {name for name, _ in first[1]} & {name for name, _ in second[0]}
        chosen = chain.from_iterable(combinations(sorted(flowing), count) for count in range(len(flowing) + 1))
        merged = {merge(_signature(*first), _signature(*second), map(_array, kept)) for kept in chosen}
        assert merged - {None} == {_signature(*result) for result in derivable(*first, *second)}, (first, second)
        counted += bool(merged - {None})
    assert counted > 4_000


# ---- section 3.4: what a sequence of clusters has to obey


def _why(sketch: Sketch, graph: Graph, *sets: str) -> Refusal | str | None:
    """The checker's reason against clusters of these names."""
    made = clustering(graph, [[sketch.labels[name] for name in names.split()] for names in sets])
    return "orders or dependences in a circle" if made is None else refusal(graph, made, "published")


def test_outputs_have_order_0_or_1() -> None:
    """[vB24 section 3.3], `simple3`: `[is:0, xs:l | as:l, bs:0]` would leave `as` incomplete."""
    sketch, graph = drawn(simple3)
    made, gather = sketch.labels["as"], sketch.labels["bs"]
    together = Cluster((made, gather), (Traversal(gather, False), FORWARD))
    reason = cluster_refusal(graph, together, "published")
    assert str(reason).startswith("D2")


def test_a_merge_shares_an_array() -> None:
    """So `scanl` and `scanr` of one array stay apart: section 3.3 calls their fusion possible, section 3.4 rules it out."""
    s = Sketch()
    s.use("xs")
    s.scan("left", "xs", exact=True)
    s.scan("right", "xs", backward=True, exact=True)
    graph = s.finish()
    pair = Cluster((s.labels["left"], s.labels["right"]), (FORWARD, BACKWARD))
    reason = cluster_refusal(graph, pair, "published")
    assert str(reason).startswith("D3")


def test_what_is_read_comes_before() -> None:
    sketch, graph = drawn(scatter_example)
    assert _why(sketch, graph, "as result") is None
    assert _why(sketch, graph, "bs result") is not None


def test_a_scatter_is_the_last_user_of_its_destination() -> None:
    """Temporal uniqueness: another reader of `bs` runs strictly before."""
    s = Sketch()
    s.use("xs")
    s.map("as", "xs")
    s.map("bs", "xs")
    s.map("other", "as bs", result=True)
    s.scatter("result", "as", "bs")
    graph = s.finish()
    assert _why(s, graph, "as bs other") is None
    assert _why(s, graph, "as result") is not None  # other would read `as` after, and `bs` before the scatter
    assert _why(s, graph, "other result") is not None


# ---- section 3.3: the signatures of the examples' clusters

XS, IS = np.arange(8), np.array([3, 1, 4])

# Program, inputs, the signature as printed, the names of accel's arrays and gathers.
EXAMPLES: list[tuple[str, list[np.ndarray], str, dict[str, str]]] = [
    ("simple1", [IS, XS], "[is:0 xs:l | bs:0]", {"%0": "is", "%1": "xs", "%3": "bs", "l3": "l"}),
    ("simple2", [IS, IS[1:2], XS], "[is2:0 is1:l2 xs:l1 | bs:0]",
     {"%0": "is2", "%1": "is1", "%2": "xs", "%4": "bs", "l4": "l2", "l3": "l1"}),
    ("simple4", [IS, XS.reshape(4, 2)], "[is:0 xs:l | bs:0]", {"%0": "is", "%1": "xs", "%3": "bs", "l3": "l"}),
    ("simple5", [XS - 1, XS], "[xs:0 xs:l is:0 | cs:0]", {"%0": "xs", "%1": "is", "%4": "cs", "l3": "l"}),
    ("scatterExample", [XS], "[xs:0 bs | result]", {"%0": "xs", "%1": "bs", "%3": "result"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "inputs", "printed", "names"), EXAMPLES, ids=[case[0] for case in EXAMPLES])
def test_section_3_3_signatures_of_clusters(
    name: str, inputs: list[np.ndarray], printed: str, names: dict[str, str]
) -> None:
    """The last cluster of each example reads and makes its arrays in the printed orders."""
    program = getattr(programs, name)(*map(A.use, inputs))
    found = A.explain(program, duplicate="published", cost="reads_writes").clusters[-1].tree
    signature = found[found.index("[") : found.index("]") + 1]
    assert re.sub(r"%\d+|\bl\d+", lambda match: names[match[0]], signature) == printed
