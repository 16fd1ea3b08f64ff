"""An explanation as text for a terminal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from accel.errors import Where
from accel.explanation.facts.explained import Explained
from accel.explanation.facts.facts import ArrayReport, ClusterReport, PassReport, UpdateReport, ViewReport
from accel.explanation.naming.quantities import counted
from accel.explanation.naming.source import place, short_place
from accel.explanation.show.words import Words, without_counters
from accel.explanation.why.costs import priced

LONG = 40
"""A loop of more operations is not shown whole: its tree is as deep as it is long. It is whole in the cluster's `tree`."""

_LEAF = re.compile(r"LeafOfCluster (%\d+) ")

MANY = 8
"""Of more arrays than this that a loop reads or writes, the number is printed."""


def report(explanation: Explained) -> str:
    """Totals, then every loop with its fusion tree, then every array with what became of it."""
    shown = without_counters(explanation)
    words = Words(shown)
    views = [_view(view, words) for view in shown.views]
    copies = [f"  {words.sentence(str(copy))}" for copy in shown.copies]
    again = ["", "recomputation", *copies] if copies else []
    places = {each.name.rpartition(" ")[2]: each.where for each in explanation.operations}
    return "\n".join([*_head(shown), *_loops(shown, places, words), *again, "", *_arrays(shown.arrays, words), *views])


def counts(passes: Mapping[str, int]) -> str:
    """`2 of n0, 1 element`."""
    elements = passes.get("1", 0)
    found = [f"{number} of {size}" for size, number in passes.items() if size != "1"]
    if elements:
        found.append(counted(elements, "elements"))
    return ", ".join(found) or "nothing"


def _head(explanation: Explained) -> Iterator[str]:
    yield f"{counted(explanation.loops, 'loops')}; reads {counts(explanation.reads)}; writes {counts(explanation.writes)}"
    if explanation.extents:
        yield ", ".join(f"{name} = {what}" for name, what in explanation.extents.items())
    sizes = ", ".join(f"{name} = {value:,}" for name, value in explanation.sizes.items())
    moved = f"{counted(explanation.bytes_read, 'bytes')} read, {explanation.bytes_written:,} written"
    yield f"{moved}{f', with {sizes}' if sizes else ', with 1,024 for every extent'}"
    cost, unfused = (priced(each, explanation.levels) for each in (explanation.cost, explanation.unfused))
    yield f"cost {explanation.cost_model}: {cost}; unfused {unfused}"
    yield f"strategy {explanation.strategy}: {known(explanation)}, in {explanation.solve_seconds * 1e3:.1f} ms"


def proof(explanation: Explained) -> str:
    """Whether the clustering is known to be the best there is, and since when."""
    if not explanation.proved:
        return "not proved optimal"
    return "proved optimal by an earlier run" if explanation.recalled else "proved optimal"


def known(explanation: Explained) -> str:
    """What is known about all other clusterings."""
    if explanation.proved or not explanation.bound:
        return proof(explanation)
    source = ", by an earlier run" if explanation.recalled else ""
    return (
        f"{proof(explanation)}: no clustering costs less than {priced(explanation.bound, explanation.levels)}{source}"
    )


def _loops(explanation: Explained, places: Mapping[str, Where | None], words: Words) -> Iterator[str]:
    """All loops; `places` are those of operations, by label."""
    part: tuple[str, ...] = ()
    for cluster in explanation.clusters:
        yield ""
        if cluster.part != part:
            part = cluster.part
            yield from (f"in {words.sentence(' / '.join(part))}", "") if part else ()
        yield from _loop(cluster, places, words)


def _loop(cluster: ClusterReport, places: Mapping[str, Where | None], words: Words) -> Iterator[str]:
    shown, rest = cluster.operations[:LONG], len(cluster.operations) - LONG
    yield f"{cluster.title}: {', '.join(map(words.operation, shown))}{f' and {rest} more' if rest > 0 else ''}"
    yield f"  reads {counts(cluster.reads)}{_passes(cluster.read_arrays, words)}"
    yield f"  writes {counts(cluster.writes)}{_passes(cluster.written_arrays, words)}"
    yield from (f"  updates {update(each, words)}" for each in cluster.updates)
    yield from (f"  by {each}" for each in cluster.ways)
    yield from [f"  one iteration after the other: {cluster.in_turn}"] if cluster.in_turn else []
    if rest <= 0:
        lines = drawing(cluster.tree)
        width = max(map(len, lines)) + 2
        for line in lines:
            leaf = _LEAF.search(line)
            yield f"    {line.ljust(width)}{'' if leaf is None else short_place(places[leaf[1]])}".rstrip()


def _passes(passes: Sequence[PassReport], words: Words) -> str:
    """`: xs %0 8,192 bytes, %2 4 x 8 bytes`."""
    times = Counter(passes)
    found = [
        f"{words.array(each.array)} {f'{n} x ' if n > 1 else ''}{counted(each.bytes, 'bytes')}"
        for each, n in times.items()
    ]
    more = [f"{len(times) - MANY} more"] if len(times) > MANY else []
    return f": {', '.join(found[:MANY] + more)}" if found else ""


def update(each: UpdateReport, words: Words) -> str:
    """`zeros %3 in place, which is sums %6 from then on`."""
    return f"{words.made(each.array)} in place, which is {words.made(each.becomes)} from then on"


def _view(view: ViewReport, words: Words) -> str:
    by = words.sentence(view.by)
    how = f" of the turn before, in {by}" if view.carried else f", by {by}"
    return f"  {words.array(view.name)} is {words.array(view.of)}{how}"


def drawing(tree: str) -> list[str]:
    """A tree that is indented by two spaces a level, with lines drawn from each node to its two halves."""
    rows = tree.splitlines()
    depths = [(len(row) - len(row.lstrip())) // 2 for row in rows]
    lines: list[str] = []
    open_levels: set[int] = set()  # levels at which a second half is still to come
    for row, depth in zip(rows, depths, strict=True):
        if not depth:
            lines.append(row)
            continue
        is_second = depth in open_levels
        (open_levels.discard if is_second else open_levels.add)(depth)
        stems = "".join("│ " if level in open_levels else "  " for level in range(1, depth))
        lines.append(f"{stems}{'└ ' if is_second else '├ '}{row.lstrip()}")
    return lines


def _arrays(arrays: tuple[ArrayReport, ...], words: Words) -> Iterator[str]:
    sizes = ["" if array.status == "fused" else counted(array.bytes, "bytes") for array in arrays]
    rows = [
        (array.variable, array.name, array.type, array.status, size, array.producer)
        for array, size in zip(arrays, sizes, strict=True)
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(6)]
    yield "arrays"
    for array, row in zip(arrays, rows, strict=True):
        padded = [text.ljust(width) for text, width in zip(row, widths, strict=True) if width]
        if widths[4]:
            padded[-2] = row[4].rjust(widths[4])
        yield "  " + "  ".join([*padded, place(array.where)]).rstrip()
        for line in array.why_not:
            yield f"      not fused with {words.sentence(line)}"
        for line in array.why_not_again:
            yield f"      not recomputed for {words.sentence(line)}"
