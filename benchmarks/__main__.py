"""accel beside other tools: `python -m benchmarks [--quick] [--only NAME] [--sizes ...] [--types ...] [--peers ...]`.

Every workload runs in every tool that is installed, each in a process of its own, in turn; times are minima, calls included.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.peers.peer import MEMORY, OURS, PEERS, Peer
from benchmarks.peers.plot import svg
from benchmarks.peers.processes import Worker
from benchmarks.peers.rounds import measure
from benchmarks.peers.table import Row, data, markdown, summary, text
from benchmarks.peers.workloads import BY_NAME, SIZES, WORKLOADS, Cell

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
TYPES = ("float32", "float64", "int32")


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """The command line. Raises SystemExit if it is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--quick", action="store_true", help="two minutes: few rounds, f32, the peers that compile fast, usual memory"
    )
    parser.add_argument("--only", action="append", choices=tuple(BY_NAME), help="a workload; may be given again")
    parser.add_argument("--sizes", action="append", choices=SIZES, help="may be given again; all if not")
    parser.add_argument("--types", action="append", choices=TYPES, help="may be given again; all if not")
    parser.add_argument(
        "--peers",
        action="append",
        choices=[peer.name for peer in PEERS if peer.name != OURS],
        help="may be given again; all that are installed if not",
    )
    parser.add_argument(
        "--memory", choices=("usual", "kept", "both"), default=None, help="the allocators of the peers (both)"
    )
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--threads", type=int, default=cores, help=f"of every tool ({cores})")
    parser.add_argument("--rounds", type=int, default=None, help="how often all run in turn (8; quick: 3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all times there")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write a plot there, as SVG")
    found = parser.parse_args(given)
    if not 1 <= found.threads <= cores or (found.rounds is not None and found.rounds < 1):
        parser.error(f"--threads is from 1 to {cores}, --rounds at least 1")
    return found


def chosen_cells(found: argparse.Namespace) -> list[Cell]:
    """What is to be measured."""
    types = found.types or (("float32", "int32") if found.quick else TYPES)
    return [
        cell
        for workload in WORKLOADS
        if workload.name in (found.only or BY_NAME)
        for cell in workload.cells()
        if cell.size in (found.sizes or SIZES) and cell.element in types
    ]


def workers(found: argparse.Namespace) -> list[Worker]:
    """Which tools run, under which allocators."""
    memory = found.memory or ("usual" if found.quick else "both")

    def chosen(peer: Peer) -> bool:
        named = peer.name in found.peers if found.peers else peer.quick or not found.quick
        return peer.name == OURS or named

    peers = [peer for peer in PEERS if chosen(peer) and peer.installed()]
    usual = [peer for peer in (*peers, *MEMORY) if memory != "kept" or not peer.allocates or peer in MEMORY]
    kept = [peer for peer in peers if memory != "usual" and peer.allocates]
    return [Worker(peer, found.threads, False) for peer in usual] + [Worker(peer, found.threads, True) for peer in kept]


def run(cells: Iterable[Cell], found: argparse.Namespace, running: Sequence[Worker]) -> list[Row]:
    """A row for each cell; each is named when it is done, for it takes a while. Interrupted, those that are done."""
    rounds = found.rounds or (3 if found.quick else 8)
    rows = []
    try:
        for cell in cells:
            rows.append(Row(measure(cell, running, rounds, 0.004 if found.quick else 0.02)))
            share = rows[-1].share(False)
            print(f"{cell}: {share:.2f} of the best" if share else cell, file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        for worker in running:
            worker.stop()
    return rows


def main() -> None:
    """Measure, and print the table."""
    found = arguments(sys.argv[1:])
    rows = run(chosen_cells(found), found, workers(found))
    print(f"{found.threads} threads; times are minima; the peers' are in accel's, so that more than 1 is slower")
    print(markdown(rows) if found.markdown else text(rows))
    print(summary(rows, PAGE.read_text(encoding="utf-8")))
    if found.json:
        found.json.write_text(json.dumps(data(rows), indent=1) + "\n", encoding="utf-8")
    if found.plot:
        found.plot.write_text(svg(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
