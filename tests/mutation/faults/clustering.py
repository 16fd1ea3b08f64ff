"""Faults of the stage `ilp`: graph, checker, prices, model, cuts, traversals, copies, keys and kept plans."""

from __future__ import annotations

from tests.mutation.fault import Fault

_CHECKER = "tests/ilp/test_checker.py"
_COUNTER = "tests/ilp/test_counter_examples.py"
_BUILD = "tests/ilp/test_build.py::test_graph"
_KEYS = "tests/ilp/test_keys.py"
_CACHE = "tests/ilp/test_plan_cache.py"
_RECOMPUTE = "tests/ilp/test_recompute.py"
_WORK = "tests/ilp/test_recomputed_work.py"
_COSTS = "tests/ilp/test_costs.py"

FAULTS = (
    Fault(
        "D1: another order than the maker's is taken",
        "ilp/legality/checker.py",
        "if any(traversal is None or self._outputs[array] != traversal for array, traversal in flowing):",
        "if any(traversal is None for array, traversal in flowing):",
        (_CHECKER,),
    ),
    Fault(
        "INTRO: the second half makes what the first reads",
        "ilp/legality/checker.py",
        "if any(array in self._read or array in self._outputs for array, _ in second.outputs):",
        "if any(array in self._outputs for array, _ in second.outputs):",
        (_CHECKER,),
    ),
    Fault(
        "D2: what is stored is made in a gather's order",
        "ilp/legality/checker.py",
        "if made is not None and made.gather is not None:",
        "if made is not None and made.gather is not None and made.backward:",
        (_CHECKER,),
    ),
    Fault(
        "D3: parts without a common array are a cluster",
        "ilp/legality/checker.py",
        "return len(seen) == len(traversals)",
        "return len(seen) <= len(traversals)",
        (_CHECKER,),
    ),
    Fault(
        "D4: clusters stand in any order",
        "ilp/legality/checker.py",
        "if position[earlier] > position[later]:",
        "if position[earlier] > position[later] + len(position):",
        (_CHECKER,),
    ),
    Fault(
        "D4: what must come before shares a cluster",
        "ilp/legality/checker.py",
        "if position[earlier] == position[later]:",
        "if position[earlier] == position[later] + 1:",
        (_CHECKER,),
    ),
    Fault(
        "D5: scans run in both directions",
        "ilp/legality/checker.py",
        "allowed = [BACKWARD if node.backward else FORWARD]",
        "allowed = [BACKWARD, FORWARD]",
        (_CHECKER,),
    ),
    Fault(
        "D5: filters run backward",
        "ilp/legality/checker.py",
        "case Kind.FILTER | Kind.SCATTER | Kind.SEGMENTS | Kind.BARRIER:\n            allowed = [FORWARD]",
        "case Kind.FILTER | Kind.SCATTER | Kind.SEGMENTS | Kind.BARRIER:\n            allowed = [FORWARD, BACKWARD]",
        (_CHECKER,),
    ),
    Fault(
        "D5: inexact folds run backward",
        "ilp/legality/checker.py",
        "allowed = [FORWARD, BACKWARD] if node.exact and not node.arrays[0].shape else [FORWARD]",
        "allowed = [FORWARD, BACKWARD] if not node.arrays[0].shape else [FORWARD]",
        (_CHECKER,),
    ),
    Fault(
        "D5: scans are pushed to gathers",
        "ilp/legality/checker.py",
        "_PUSHABLE = frozenset({Kind.GENERATE, Kind.MAP, Kind.GATHER, Kind.FOLD})",
        "_PUSHABLE = frozenset({Kind.GENERATE, Kind.MAP, Kind.GATHER, Kind.FOLD, Kind.SCAN})",
        (_CHECKER,),
    ),
    Fault(
        "D5: what is pushed has other readers",
        "ilp/legality/checker.py",
        "if edge.consumer not in traversals or _input(edge, traversals[edge.consumer]) != (array, traversal):",
        "if edge.consumer in traversals and _input(edge, traversals[edge.consumer]) != (array, traversal):",
        (_CHECKER,),
    ),
    Fault(
        "barriers share loops",
        "ilp/legality/checker.py",
        "if node.kind is Kind.BARRIER and len(traversals) > 1:",
        "if node.kind is Kind.BARRIER and len(traversals) > 9:",
        (_CHECKER,),
    ),
    Fault(
        "E2: loops stand under the guard of a filter",
        "ilp/legality/nest.py",
        "elif node.iteration == (Extent(sizes[0], 0),) and sizes[0] is not None:",
        "elif sizes[0] is not None:",
        (_CHECKER,),
    ),
    Fault(
        "E3: pushed loops stand under the guard of a filter",
        "ilp/legality/nest.py",
        "if beyond and (gather in guarded or any(extent.variable in filters for extent in beyond)):",
        "if beyond and any(extent.variable in filters for extent in beyond):",
        (_CHECKER,),
    ),
    Fault(
        "E3: pushed loops run to a size that is not known yet",
        "ilp/legality/nest.py",
        "if beyond and (gather in guarded or any(extent.variable in filters for extent in beyond)):",
        "if beyond and gather in guarded:",
        (_CHECKER,),
    ),
    Fault(
        "E4: two loops of one rank stand at one depth",
        "ilp/legality/nest.py",
        "if not same_outer or aligned.get(shape[-1], shape[-1]) != aligned.get(nest[-1], nest[-1]):",
        "if not same_outer:",
        (_CHECKER,),
    ),
    Fault(
        "E5: a pushed loop needs what another gives after its end",
        "ilp/legality/nest.py",
        "if len(shapes[earlier]) > len(shapes[gather]):",
        "if len(shapes[earlier]) > len(shapes[label]):",
        (_CHECKER,),
    ),
    Fault(
        "E6: segments wait for a scan",
        "ilp/legality/nest.py",
        "if scan.kind is Kind.SCAN and (label > segments or not scan.exact):",
        "if scan.kind is Kind.SCAN and label > segments:",
        (_CHECKER,),
    ),
    Fault(
        "W1: loops are recomputed",
        "ilp/legality/nest.py",
        "heavy = [node for node in recomputed if node.kind in (Kind.FOLD, Kind.SEGMENTS) or node.loops]",
        "heavy = [node for node in recomputed if node.kind in (Kind.FOLD, Kind.SEGMENTS)]",
        (_CHECKER,),
    ),
    Fault(
        "W1: operations are counted one by one",
        "ilp/legality/nest.py",
        "if sum(node.operations for node in recomputed) > CHEAP:",
        "if max(node.operations for node in recomputed) > CHEAP:",
        (_CHECKER,),
    ),
    Fault(
        "an exclusive scan visits as much as it reads",
        "labelled/operations.py",
        "visited = None if operation.form is ScanForm.EXCLUSIVE else inputs[0].shape",
        "visited = inputs[0].shape",
        (_BUILD,),
    ),
    Fault(
        "readers of a destination need not come first",
        "ilp/problem/build.py",
        "before |= dict.fromkeys(_scatters_last(bindings, edges))",
        "before |= {}",
        ("tests/ilp/test_build.py::test_readers_of_a_destination_come_before_its_scatter",),
    ),
    Fault(
        "a result counts as intermediate",
        "ilp/problem/price.py",
        "price += level.intermediate * (array not in graph.results)",
        "price += level.intermediate",
        (f"{_COSTS}::test_costs_that_are_counted_by_hand",),
    ),
    Fault(
        "a read in a gather's order counts the source's elements",
        "ilp/problem/cost.py",
        "shape = self.graph.node[traversal.gather].iteration + shape[self.graph.rank_of_sources(traversal.gather) :]",
        "shape = shape[:]",
        (f"{_COSTS}::test_costs_that_are_counted_by_hand",),
    ),
    Fault(
        "a product and a fold of its rows lose nothing to each other",
        "ilp/problem/interference.py",
        "if product.kind is Kind.FOLD and len(product.iteration) > 2 and _repeated(graph, product) > 1:",
        "if product.kind is Kind.FOLD and len(product.iteration) > 2 and _repeated(graph, product) > 2:",
        ("tests/ilp/test_interference.py",),
    ),
    Fault(
        "circles of clusters are not cut",
        "ilp/model/cuts.py",
        "if gap <= _TOLERANCE:",
        "if gap <= 1 + _TOLERANCE:",
        (_COUNTER, "tests/ilp/test_random.py::test_the_optimum_is_brute_forces"),
    ),
    Fault(
        "loops that do not fit one nest are not cut",
        "ilp/model/cuts.py",
        "if conflict is None:\n            continue",
        "if conflict is None or conflict.members:\n            continue",
        (_COUNTER,),
    ),
    Fault(
        "the model lets a maker be pushed where its reader is not",
        "ilp/model/model.py",
        "require(variables.pushed(v) - pushed)",
        "require(variables.pushed(v) - pushed + 1)",
        (f"{_COUNTER}::test_a_maker_is_pushed_only_with_its_reader",),
    ),
    Fault(
        "the model lets too much be recomputed",
        "ilp/model/model.py",
        "variables.model.require(CHEAP - total(parts))",
        "variables.model.require(2 * CHEAP - total(parts))",
        (_COUNTER,),
    ),
    Fault(
        "dependences do not order clusters",
        "ilp/problem/decode.py",
        "waiting[second.labels[0]] += 1",
        "waiting[second.labels[0]] += 0",
        (_COUNTER, "tests/ilp/test_strategies.py::test_strategies_are_legal_and_branch_and_bound_is_brute_force"),
    ),
    Fault(
        "a load that nobody checks is recomputed",
        "ilp/recompute/candidates.py",
        "return None if checked or all(edge.inside for edge in loads) else Obstacle.BOUNDS",
        "return None",
        (f"{_RECOMPUTE}::test_an_index_that_may_be_out_of_bounds_stays_one_if_nothing_else_would_check_it",),
    ),
    Fault(
        "what a recomputation loads need not be stored",
        "ilp/model/objective.py",
        "for arc in bundle.loaded_if]",
        "for arc in bundle.loaded_if[:0]]",
        (_RECOMPUTE,),
    ),
    Fault(
        "what a recomputation reads may come after it",
        "ilp/model/model.py",
        "    for each in facts.loose:\n        apart = ",
        "    for each in facts.loose[:0]:\n        apart = ",
        (_RECOMPUTE,),
    ),
    Fault(
        "the key of a graph has no sites",
        "ilp/cache/keys.py",
        "edge.role.value, edge.sites, edge.inside, edge.passes)",
        "edge.role.value, edge.inside, edge.passes)",
        (_KEYS,),
    ),
    Fault(
        "the key of a program has no operators",
        "ilp/cache/keys.py",
        "found.append(statement.operator)",
        "found.append(Compute)",
        (_KEYS,),
    ),
)
