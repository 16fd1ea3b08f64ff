"""What was measured, as a table in text or Markdown: accel's times, the others' relative to them, the best, and the bound."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.peers.peer import MEMORY, OURS, PEERS
from benchmarks.peers.rounds import Measured

LEVEL = 1.10
"""Up to so many times the best peer's time, accel is level with it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A cell's figures. Of a cell that accel got wrong there are none."""

    measured: Measured

    @property
    def ours(self) -> float:
        """accel's seconds; not a number if it failed."""
        return self.measured.seconds.get(OURS, math.nan)

    def best(self, kept: bool) -> tuple[str, float] | None:
        """The fastest peer that counts, and its seconds; `kept` with the allocator that gives nothing back.

        None if no peer was measured so.
        """
        if kept and not any(name.endswith(" kept") for name in self.measured.seconds):
            return None
        names = {f"{peer.name} kept" if kept and peer.allocates else peer.name: peer for peer in PEERS}
        found = [
            (self.measured.seconds[name], peer.name)
            for name, peer in names.items()
            if peer.name != OURS and peer.counted and name in self.measured.seconds
        ]
        return (min(found)[1], min(found)[0]) if found else None

    def share(self, kept: bool) -> float | None:
        """accel's time over the best peer's."""
        best = self.best(kept)
        return self.ours / best[1] if best else None

    @property
    def bound(self) -> float | None:
        """The time to move the cell's bytes, over accel's."""
        passes = [self.measured.seconds[peer.name] for peer in MEMORY if peer.name in self.measured.seconds]
        return min(passes) / self.ours if passes else None

    @property
    def behind(self) -> bool:
        """Whether a peer that counts is clearly faster, under one of the allocators; or accel is wrong."""
        shares = [share for kept in (False, True) if (share := self.share(kept)) is not None]
        return OURS in self.measured.wrong or any(share > LEVEL for share in shares)


_REASON = re.compile(r"^\* `(?P<workload>\w+)`(?: (?P<size>small|large))?(?: (?P<element>float32|float64|int32))?: ")
HEADING = "## Where accel is behind"


def reasons(page: str) -> list[re.Match[str]]:
    """The items of the page's list of reasons: a workload, and optionally a size and an element type."""
    _, _, section = page.partition(f"{HEADING}\n")
    lines = section.partition("\n## ")[0].partition("\n# ")[0].splitlines()
    return [match for line in lines if (match := _REASON.match(line))]


def unexplained(rows: Iterable[Row], page: str) -> list[Row]:
    """The cells where accel is behind, and the page does not say why."""

    def explained(row: Row) -> bool:
        cell = row.measured.cell
        return any(
            match["workload"] == cell.workload.name
            and match["size"] in (None, cell.size)
            and match["element"] in (None, cell.element)
            for match in reasons(page)
        )

    return [row for row in rows if row.behind and not explained(row)]


def _milliseconds(seconds: float) -> str:
    return "wrong" if math.isnan(seconds) else f"{seconds * 1e3:.3g}"


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def columns(rows: Sequence[Row]) -> list[str]:
    """The peers that were measured, in their order."""
    seen = {name for row in rows for name in (*row.measured.seconds, *row.measured.wrong)}
    return [peer.name for peer in PEERS if peer.name != OURS and peer.name in seen]


def cells(row: Row, peers: Sequence[str]) -> list[str]:
    """A row's texts: the peers' times are in accel's."""
    cell, seconds, wrong = row.measured.cell, row.measured.seconds, row.measured.wrong

    def peer(name: str) -> str:
        return "wrong" if name in wrong else _times(seconds[name] / row.ours) if name in seconds else ""

    def best(kept: bool) -> list[str]:
        found, share = row.best(kept), row.share(kept)
        return [found[0] if found else "", _times(share)]

    speed = f"{cell.flops / row.ours / 1e9:.0f} GF/s" if cell.flops else _times(row.bound)
    mark = "behind" if row.behind else ""
    names = [cell.workload.name, cell.size, cell.element]
    return [*names, _milliseconds(row.ours), *map(peer, peers), *best(False), *best(True), speed, mark]


def heads(peers: Sequence[str]) -> list[str]:
    """The columns' names."""
    ours = ["workload", "size", "elements", "accel ms", *peers]
    return [*ours, "best", "accel/best", "best kept", "accel/best", "of bound", ""]


def text(rows: Sequence[Row]) -> str:
    """In columns."""
    peers = columns(rows)
    lines = [heads(peers), *(cells(row, peers) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def markdown(rows: Sequence[Row]) -> str:
    """In bars."""
    peers = columns(rows)
    lines = [heads(peers), ["---"] * len(heads(peers)), *(cells(row, peers) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def summary(rows: Sequence[Row], page: str) -> str:
    """How many cells are behind, the geometric mean, and which cells the page says nothing about."""
    lines = []
    for kept, allocator in ((False, "as usual"), (True, "kept")):
        shares = [share for row in rows if (share := row.share(kept)) is not None and not math.isnan(share)]
        if shares:
            mean = math.exp(sum(map(math.log, shares)) / len(shares))
            behind = sum(share > LEVEL for share in shares)
            lines.append(
                f"memory {allocator}: {len(shares)} cells, accel behind in {behind} (more than {LEVEL:.2f} times the best),"
                f" geometric mean of accel/best {mean:.2f}"
            )
    wrong = [f"{row.measured.cell} {name}: {why}" for row in rows for name, why in row.measured.wrong.items()]
    lines += [f"wrong: {line}" for line in wrong]
    lines += [f"behind without a reason in docs/benchmarks.md: {row.measured.cell}" for row in unexplained(rows, page)]
    return "\n".join(lines)


def data(rows: Sequence[Row]) -> list[Mapping[str, object]]:
    """All that was measured, for JSON."""
    return [
        {
            "workload": row.measured.cell.workload.name,
            "size": row.measured.cell.size,
            "elements": row.measured.cell.element,
            "count": row.measured.cell.count,
            "bytes": row.measured.cell.bytes,
            "flops": row.measured.cell.flops,
            "seconds": dict(row.measured.seconds),
            "wrong": dict(row.measured.wrong),
        }
        for row in rows
    ]
