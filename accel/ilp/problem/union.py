"""Sets that are united step by step: each operation points towards the representative of its set."""

from __future__ import annotations

from accel.labelled.array import Label


def find(root: dict[Label, Label], label: Label) -> Label:
    """The representative of the set that `label` is in. Shortens the way there."""
    while root[label] != label:
        root[label] = root[root[label]]
        label = root[label]
    return label
