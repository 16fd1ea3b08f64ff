"""Why a clustering is illegal, as data: the rule of docs/ilp.md that is broken, and the operations that break it.

The checker makes it; errors print it with labels, `explain` with the user's names.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from accel.ilp.problem.clustering import Cluster
from accel.labelled.array import Label
from accel.support.dataclass import dataclass


class Rule(Enum):
    """The rules of docs/ilp.md, "What may share a nest", by their names there."""

    PARTITION = "partition"
    BARRIER = "barrier"
    D1 = "D1"
    D2 = "D2"
    D3 = "D3"
    D4 = "D4"
    D5 = "D5"
    E2 = "E2"
    E3 = "E3"
    E4 = "E4"
    E5 = "E5"
    E6 = "E6"
    W1 = "W1"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A rule that a clustering breaks.

    labels: the operations that break it.
    detail: a sentence, in which `{0}`, `{1}`, … stand for these operations.
    cluster: the one in which they are; None where it is not about a single cluster.
    """

    rule: Rule
    labels: tuple[Label, ...]
    detail: str
    cluster: Cluster | None = None

    def sentence(self, name: Callable[[Label], str]) -> str:
        """The detail, with the operations called as `name` calls them."""
        return self.detail.format(*map(name, self.labels))

    def __str__(self) -> str:
        """`cluster {%1:0, %2:0}: E4: %1 and %2 would need two loops at one depth`."""
        reason = f"{self.rule.value}: {self.sentence(lambda label: f'%{label}')}"
        return reason if self.cluster is None else f"cluster {_text(self.cluster)}: {reason}"


def _text(cluster: Cluster) -> str:
    members = zip(cluster.labels, cluster.traversals, strict=True)
    return "{" + ", ".join(f"%{label}:{traversal}" for label, traversal in members) + "}"
