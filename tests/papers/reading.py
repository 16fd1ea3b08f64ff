"""What an explanation says, in the few words in which the papers say it."""

from __future__ import annotations

import re

import accel as A

_LEAF = re.compile(r"LeafOfCluster %\d+ ([\w ]+):(\w+)")


def tree(text: str) -> str:
    """A fusion tree in one line, such as `Vertical(map, fold)`; `map:1` runs backward, `map:l` in the order of a gather."""
    parts: list[tuple[int, str]] = []
    for line in reversed(text.splitlines()):
        depth = (len(line) - len(line.lstrip())) // 2
        leaf = _LEAF.match(line.strip())
        if leaf is not None:
            order = "l" if leaf[2].startswith("l") else leaf[2]
            parts.append((depth, leaf[1] + (f":{order}" if order != "0" else "")))
            continue
        (_, first), (_, second) = parts.pop(), parts.pop()
        parts.append((depth, f"{line.split()[0]}({first}, {second})"))
    ((_, whole),) = parts
    return whole


def trees(found: A.Explanation) -> list[str]:
    """The fusion tree of every cluster, in order."""
    return [tree(cluster.tree) for cluster in found.clusters]


def passes(found: A.Explanation) -> tuple[int, dict[str, int], dict[str, int]]:
    """Loops, array passes that read, array passes that write."""
    return found.loops, dict(found.reads), dict(found.writes)


def fused(found: A.Explanation) -> list[str]:
    """The producers of arrays that are never written."""
    return [array.producer.split()[0] for array in found.arrays if array.status == "fused"]


def kept(found: A.Explanation) -> list[str]:
    """The producers of arrays that are written and also consumed in their own loop: diagonal fusion."""
    return [array.producer.split()[0] for array in found.arrays if array.status == "kept"]


def summary(found: A.Explanation) -> str:
    """Loops and passes as one line: `2 loops; reads 2×n0 + 2; writes 2×n0 + 2`."""
    loops = f"{found.loops} loop{'s' * (found.loops != 1)}"
    return f"{loops}; reads {_sum(dict(found.reads))}; writes {_sum(dict(found.writes))}"


def _sum(counts: dict[str, int]) -> str:
    terms = [f"{count}×{size}" if count > 1 else size for size, count in counts.items() if size != "1"]
    return " + ".join([*terms, *([str(counts["1"])] if counts.get("1") else [])]) or "0"
