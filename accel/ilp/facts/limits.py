"""Which graphs and parts are small enough to be analysed and solved."""

from __future__ import annotations

from collections.abc import Collection

from accel.ilp.facts.analysis import Analysis
from accel.ilp.problem.graph import Graph
from accel.labelled.array import Label
from accel.labelled.operations import ORDERED

LARGEST = 300
"""Parts with more operations than this are clustered greedily."""

MOST_PAIRS = 2000
"""So are parts with more pairs of operations that read one array."""

MOST_OPERATIONS = 2000
"""Graphs with more operations, chains counting one, are not analysed at all; nothing is known of how good greedy is."""


def is_too_large(graph: Graph) -> bool:
    """Whether there are more operations, or pairs of them that read one array, than can be analysed."""
    readers = [sum(edge.role in ORDERED for edge in edges) for edges in graph.readers.values()]
    pairs = sum(count * (count - 1) // 2 for count in readers)
    return len(graph.operations) > MOST_OPERATIONS or pairs > 20 * MOST_PAIRS


def is_worth_solving(facts: Analysis, part: Collection[Label]) -> bool:
    """Whether a solver can be expected to come to an end."""
    return len(part) <= LARGEST and pairs_of_readers(facts, part) <= MOST_PAIRS


def pairs_of_readers(facts: Analysis, part: Collection[Label]) -> int:
    """How many pairs of operations of a part read one array."""
    inside = frozenset(part)
    return sum(facts.bundles[number].readers[i][0] in inside for number, i, _ in facts.shares)
