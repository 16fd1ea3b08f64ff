"""What the page says about one loop and about one array."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from accel.explanation.facts.explained import Explained
from accel.explanation.facts.facts import ArrayReport, ClusterReport, OperationReport, PassReport
from accel.explanation.naming.quantities import counted
from accel.explanation.naming.source import place
from accel.explanation.show.html_pieces import block, link, linked, named, source, table, text
from accel.explanation.show.picture import array_link, loop_link
from accel.explanation.show.report import counts, drawing
from accel.explanation.show.words import Words
from accel.explanation.why.reasons import RULES, WhyNot

STATUS: Mapping[str, str] = {
    "input": "given by the caller",
    "fused": "fused away: it is never in memory",
    "kept": "kept beside: it is written, and also consumed in the loop that makes it",
    "stored": "in memory: it is written, and nothing in its own loop consumes it",
}
"""What becomes of an array, in words."""

MOST_CODE = 8_000_000
"""Characters of generated code on a page."""


class Sections:
    """The sections of one explanation."""

    def __init__(self, explanation: Explained) -> None:
        self._explanation, self.words = explanation, Words(explanation)
        self._variables = {array.name: array.variable for array in explanation.arrays}
        self._arrays: dict[str, ArrayReport] = {array.name: array for array in explanation.arrays}
        self._operations: dict[str, OperationReport] = {each.name: each for each in explanation.operations}
        self._views = {view.name: view.of for view in explanation.views}
        self._code_left = MOST_CODE

    def chip(self, name: str) -> str:
        """An array's name, coloured by what becomes of it, as a link; of a view, to what it is a view of."""
        seen = name
        while seen in self._views:
            seen = self._views[seen]
        array = self._arrays.get(seen)
        if array is None:
            return text(name)
        small = name if seen == name else f"{name} = {seen}"
        variable = self.words.variable(name) or self.words.variable(seen)
        return link(array_link(seen), named(variable, small), f"chip {array.status}")

    def chips(self, passes: tuple[PassReport, ...]) -> str:
        """The arrays of some passes."""
        return " ".join(dict.fromkeys(self.chip(each.array) for each in passes)) or "nothing"

    def operation(self, name: str) -> str:
        """An operation, with a link to its loop."""
        operation, shown = self._operations.get(name), named(self.words.variable(name), name)
        if operation is None or operation.cluster is None:
            return shown
        return f"{shown} in {link(loop_link(operation.cluster), f'loop {operation.cluster}')}"

    def operations(self, names: Sequence[str]) -> str:
        """Several operations."""
        return ", ".join(named(self.words.variable(name), name) for name in names)

    def loop(self, cluster: ClusterReport) -> str:
        """All about one loop: what it moves, the user's lines, its tree, its nest, its code."""
        wheres = [self._operations[name].where for name in cluster.operations]
        arrays = [array for array in self._explanation.arrays if array.cluster == cluster.number]
        why = [(self.chip(array.name) + " by ", line) for array in arrays for line in array.why_not]
        head = (
            f'<section id="{loop_link(cluster.number)}" class="detail" tabindex="-1"><h2>{text(cluster.heading)}</h2>'
        )
        return "\n".join(
            [
                head,
                *(f"<p>inside of {text(self.words.sentence(part))}</p>" for part in cluster.part),
                f"<p>{self.operations(cluster.operations)}</p>",
                self._passes("reads", cluster.reads, cluster.read_arrays),
                self._passes("writes", cluster.writes, cluster.written_arrays),
                *(
                    f"<p>It updates {self.chip(each.array)} in place, which is {self.chip(each.becomes)} from then on.</p>"
                    for each in cluster.updates
                ),
                *self._ways(cluster),
                *(
                    [f"<p>It runs one iteration after the other: {text(cluster.in_turn)}.</p>"]
                    if cluster.in_turn
                    else []
                ),
                *self._fates(cluster),
                *self._copies(cluster),
                *self._why(why),
                "<h3>Your lines</h3>",
                source(wheres),
                '<div class="texts">',
                block("The fused tree", linked("\n".join(drawing(cluster.tree)), self._variables)),
                *self._code(cluster),
                "</div></section>",
            ]
        )

    def array(self, array: ArrayReport) -> str:
        """All about one array: what became of it, who makes and reads it, and why it is not fused.

        The script adds the texts of the loop that makes it: here they would make the page as many times as long.
        """
        rows = [
            ("type", text(array.type)),
            ("status", f'<span class="chip {array.status}">{array.status}</span> {text(STATUS[array.status])}'),
            ("made by", self.operation(array.producer)),
            ("read by", ", ".join(map(self.operation, array.readers)) or "nothing"),
            ("size", counted(array.bytes, "bytes") + (" if it were stored" if array.status == "fused" else "")),
        ]
        if array.result:
            part = text(self.words.sentence(array.part[-1])) if array.part else "the program"
            rows.append(("result", f"of {part}"))
        facts = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)
        loop = "" if array.cluster is None else f' data-loop="{loop_link(array.cluster)}"'
        head = f'<section id="{array_link(array.name)}" class="detail" tabindex="-1"{loop}>'
        head += f"<h2>array {named(array.variable, array.name)}</h2>"
        line = ("<h3>Your line</h3>", source([array.where]))
        why = [("", each) for each in array.why_not]
        why += [("not recomputed for ", each) for each in array.why_not_again]
        return "\n".join([head, f"<dl>{facts}</dl>", *self._why(why), *line, "</section>"])

    def _ways(self, cluster: ClusterReport) -> Iterator[str]:
        if cluster.ways:
            yield "<h3>Ways to run it</h3>"
            yield f"<ul>{''.join(f'<li>by {text(str(way))}</li>' for way in cluster.ways)}</ul>"

    def _passes(self, verb: str, counted: Mapping[str, int], passes: tuple[PassReport, ...]) -> str:
        rows = [
            (self.chip(each.array), text(each.size), str(times), f"{times * each.bytes:,}")
            for each, times in Counter(passes).items()
        ]
        heads = ("array", "pass over", "passes#", "bytes#")
        return f"<h3>It {verb} {text(counts(counted))}</h3>" + (table(heads, rows) if rows else "")

    def _copies(self, cluster: ClusterReport) -> Iterator[str]:
        for copy in self._explanation.copies:
            if not {*copy.copies, *copy.readers}.isdisjoint(cluster.operations):
                yield f"<p>{text(self.words.sentence(str(copy)))}</p>"

    def _fates(self, cluster: ClusterReport) -> Iterator[str]:
        fates = {"fused": cluster.fused, "kept": cluster.kept, "stored": cluster.stored}
        for status, names in fates.items():
            if names:
                yield f"<p>{' '.join(map(self.chip, names))} {text(STATUS[status].partition(':')[0])}</p>"

    def _why(self, lines: Sequence[tuple[str, WhyNot]]) -> Iterator[str]:
        """Reasons, each with what stands before its reader."""
        if lines:
            items = "".join(self._line(before, line) for before, line in lines)
            yield f'<h3>Not fused when it is read</h3><ul class="why">{items}</ul>'

    def _line(self, before: str, line: WhyNot) -> str:
        made, read = (text(place(where)) for where in (line.producer_where, line.where))
        lines = f"<br><small>made at <code>{made}</code>, read at <code>{read}</code></small>" if made and read else ""
        rule = f'<abbr title="{text(RULES.get(line.rule, line.rule))}">{text(line.rule)}</abbr>'
        return f"<li>{before}{self.operation(line.reader)}: {self._reason(line)} ({rule}){lines}</li>"

    def _reason(self, line: WhyNot) -> str:
        return linked(self.words.sentence(line.reason), self._variables)

    def _code(self, cluster: ClusterReport) -> Iterator[str]:
        yield block("The loop nest", linked(cluster.code["ir"], self._variables))
        for title, name in (("LLVM IR", "llvm"), ("OpenCL C", "opencl")):
            if self._code_left <= 0:
                rest = f"explanation.clusters[{cluster.number - 1}].code[{name!r}]"
                yield f"<p>{title} is left out of this page, which is long enough: see {text(rest)}</p>"
                continue
            code = text(cluster.code[name])
            self._code_left -= len(code)
            yield block(title, code, opened=False)
