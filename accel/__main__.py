"""The command line: `python -m accel demo`, `explain FILE[:FUNCTION]`, `devices`, `cache`, `doctor`, and `--version`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from accel.errors import AccelError
from accel.support.choices import STRATEGIES
from accel.support.distribution import DISTRIBUTION, version


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(prog="python -m accel", description="A typed array language that fuses optimally.")
    top.add_argument("--version", action="version", version=f"{DISTRIBUTION} {version()}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="run real programs on real data, beside NumPy")
    demo.add_argument("names", nargs="*", metavar="NAME", help="dotp, normalise, canny; all of them if none is named")

    explain = commands.add_parser("explain", help="say how a program is fused, and why that is best")
    explain.add_argument(
        "target", metavar="FILE[:FUNCTION]", help="a function over annotated `Acc`s; a file, to list its own"
    )
    explain.add_argument("--strategy", default="ilp", choices=STRATEGIES, help="how to choose clusters")
    explain.add_argument("--html", metavar="FILE", help="write a page to click through, for any browser")
    printed = explain.add_mutually_exclusive_group()
    printed.add_argument("--stage", help="print this stage's text instead: ast, labelled, fusedast, ir, ...")
    for graph, what in (("dot", "for Graphviz"), ("mermaid", "for Mermaid"), ("svg", "as a picture")):
        printed.add_argument(
            f"--{graph}", dest="graph", action="store_const", const=graph, help=f"print the graph {what}"
        )

    commands.add_parser("devices", help="list what programs can run on")
    cache = commands.add_parser("cache", help="say what is kept between processes, and where")
    cache.add_argument("--clear", action="store_true", help="remove them")
    commands.add_parser("doctor", help="check that everything accel needs works here, and say what to do")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 1 where something is missing or wrong."""
    given = parser().parse_args(arguments)
    try:
        return _run(given)
    except AccelError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever reads, `head` say, has seen enough; what is still to be flushed goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _run(given: argparse.Namespace) -> int:
    # Each command imports what it needs: `devices` must work where the examples' libraries are missing.
    if given.command == "demo":
        from accel.commands.demo import demo

        return demo(given.names)
    if given.command == "explain":
        from accel.commands.explain import Shown, explain

        return explain(given.target, given.strategy, Shown(given.stage, given.graph, given.html))
    if given.command == "cache":
        from accel.commands.cache import cache

        return cache(given.clear)
    if given.command == "doctor":
        from accel.commands.doctor import doctor

        return doctor()
    from accel.device_list import devices

    print(*devices(), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
