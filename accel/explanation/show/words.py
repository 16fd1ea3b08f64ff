"""How reports, pictures and pages name things: the user's variable first, the label of the stages after it.

In: an explanation. Out: an explanation without what users did not write, and texts: `xs %1` for an array, `xs (map %1)` for an
operation. What has no variable keeps the label alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from accel.explanation.facts.explained import Explained
from accel.explanation.facts.facts import ArrayReport, ViewReport

_OPERATION = re.compile(r"(\w+ %\d+)\b(?: \(((?:[^()\s]|<[^<>]*>)+:\d+)\))?")
"""An operation in a sentence, with its place if that follows."""


def without_counters(explanation: Explained) -> Explained:
    """The same program, but for what counts the turns of an `iterate`, also where that is in a loop with something else."""
    hidden = {array.name for array in explanation.arrays if array.counter}
    hidden |= {operation.name for operation in explanation.operations if operation.counter}

    def shown(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in hidden)

    return replace(
        explanation,
        clusters=tuple(
            replace(
                each,
                operations=shown(each.operations),
                fused=shown(each.fused),
                kept=shown(each.kept),
                stored=shown(each.stored),
            )
            for each in explanation.clusters
            if not each.counter
        ),
        arrays=tuple(each for each in explanation.arrays if not each.counter),
        operations=tuple(each for each in explanation.operations if not each.counter),
        views=tuple(each for each in explanation.views if not each.counter),
    )


class Words:
    """The texts of one explanation."""

    def __init__(self, explanation: Explained) -> None:
        named: list[ArrayReport | ViewReport] = [*explanation.arrays, *explanation.views]
        self._producers = {array.name: array.producer for array in explanation.arrays}
        self._arrays = {each.name: each.variable for each in named if each.variable}
        self._operations = {each.name: each.variable for each in explanation.operations if each.variable}

    def variable(self, name: str) -> str:
        """The variable of an array or of an operation; empty if it has none."""
        return self._arrays.get(name) or self._operations.get(name, "")

    def array(self, name: str) -> str:
        """`xs %1`."""
        return f"{self._arrays[name]} {name}" if name in self._arrays else name

    def made(self, name: str) -> str:
        """`xs %1`; `fill %1` of an array that has no variable, by what makes it."""
        return self.array(name) if name in self._arrays else self._producers.get(name, name)

    def operation(self, name: str) -> str:
        """`xs (map %1)`."""
        return f"{self._operations[name]} ({name})" if name in self._operations else name

    def sentence(self, text: str) -> str:
        """A text with its operations in these words: `map %1 (file.py:3)` is `xs (map %1, file.py:3)`."""

        def said(found: re.Match[str]) -> str:
            name, place = found.groups()
            if name not in self._operations:
                return found[0]
            return f"{self._operations[name]} ({name}{f', {place}' if place else ''})"

        return _OPERATION.sub(said, text)
