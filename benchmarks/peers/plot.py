"""A plot of what was measured, as SVG: for each cell a line, on it a dot for each peer, at its time over accel's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from benchmarks.peers.table import Row, columns

LEFT, WIDTH, LINE, TOP = 190, 640, 15, 46
LOW, HIGH = 0.1, 1000.0
COLOURS: Mapping[str, str] = {
    "numpy": "#1f77b4",
    "numba": "#d62728",
    "numba-fast": "#f4a3a3",
    "numba-1": "#8c1d1d",
    "numba-1-fast": "#d9a7a7",
    "jax": "#2ca02c",
    "torch": "#ff7f0e",
    "torch-compile": "#b8860b",
    "halide": "#9467bd",
    "polars": "#17becf",
}


def place(times: float) -> float:
    """Where so many times accel's time stands, on a logarithmic axis."""
    return LEFT + WIDTH * math.log(min(max(times, LOW), HIGH) / LOW) / math.log(HIGH / LOW)


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _axis(bottom: int) -> list[str]:
    found = []
    for power in range(round(math.log10(LOW)), round(math.log10(HIGH)) + 1):
        x = place(10.0**power)
        colour = "#000" if power == 0 else "#ddd"
        found.append(f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{bottom}" stroke="{colour}"/>')
        found.append(_text(x, TOP - 12, "accel" if power == 0 else f"{10.0**power:g}", "middle"))
    return found


def _line(row: Row, y: int, peers: Sequence[str]) -> list[str]:
    cell = row.measured.cell
    label = _text(LEFT - 8, y + 4, f"{cell.workload.name} {cell.size} {cell.element}", "end")
    dots = [
        f'<circle cx="{place(row.measured.seconds[peer] / row.ours):.1f}" cy="{y}" r="4" fill="{COLOURS[peer]}">'
        f"<title>{escape(peer)}: {row.measured.seconds[peer] / row.ours:.2f}</title></circle>"
        for peer in peers
        if peer in row.measured.seconds and not math.isnan(row.ours)
    ]
    return [label, f'<line x1="{LEFT}" y1="{y}" x2="{LEFT + WIDTH}" y2="{y}" stroke="#f0f0f0"/>', *dots]


def svg(rows: Sequence[Row]) -> str:
    """The whole picture: what lies to the right of the black line takes longer than accel."""
    peers = columns(rows)
    bottom = TOP + LINE * len(rows)
    legend = [
        part
        for number, peer in enumerate(peers)
        for part in (
            f'<circle cx="{12 + 82 * number}" cy="12" r="4" fill="{COLOURS[peer]}"/>',
            _text(20 + 82 * number, 16, peer),
        )
    ]
    lines = [part for number, row in enumerate(rows) for part in _line(row, TOP + LINE * number + LINE // 2, peers)]
    width, height = LEFT + WIDTH + 20, bottom + 10
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            ' font-family="sans-serif" font-size="10">',
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
            *legend,
            *_axis(bottom),
            *lines,
            "</svg>",
            "",
        ]
    )
