"""Faults of explanations: reasons, counts, fates of arrays, pictures, pages."""

from __future__ import annotations

from tests.mutation.fault import Fault

_EXPLAIN = "tests/explanation/test_explain.py"
_REASONS = "tests/explanation/test_reasons.py"
_GRAPHS = "tests/explanation/test_graphs.py"
_PAGE = "tests/explanation/test_page.py"
_NAMES = "tests/explanation/test_names.py"
_WORDS = "tests/explanation/test_words.py"

FAULTS = (
    Fault(
        "a dearer loop is said to cost less",
        "explanation/why/reasons.py",
        "more = together - sum(apart)",
        "more = sum(apart) - together",
        (_REASONS,),
    ),
    Fault(
        "operations in one loop have a reason to be apart",
        "explanation/why/reasons.py",
        "if self._cluster[maker.label] is self._cluster[reader.label]:",
        "if maker is reader:",
        (_REASONS, _EXPLAIN),
    ),
    Fault(
        "arrays that are kept are stored",
        "explanation/facts/summary.py",
        'written = "kept" if array in consumed else "stored"',
        'written = "stored"',
        (_EXPLAIN,),
    ),
    Fault(
        "what a filter counts is fused away",
        "explanation/facts/summary.py",
        "needed = {*root.results, *(count.array for count in nest.counts)}",
        "needed = {*root.results}",
        (_EXPLAIN, _REASONS, "tests/explanation/test_counts.py"),
    ),
    Fault(
        "bytes are elements",
        "explanation/why/passes.py",
        "return array.element.bytes * prod(",
        "return prod(",
        (f"{_EXPLAIN}::test_bytes_are_those_of_the_arrays_given",),
    ),
    Fault(
        "uses in one loop go through memory",
        "explanation/facts/summary.py",
        "fused=own is not None and own == made_in.get(edge.consumer),",
        "fused=own is not None and own != made_in.get(edge.consumer),",
        (_GRAPHS, _EXPLAIN),
    ),
    Fault(
        "quotes end labels",
        "explanation/show/dot.py",
        ".replace('\"', '\\\\\"')",
        "",
        (_GRAPHS,),
    ),
    Fault(
        "a page that cannot be written leaves a part",
        "explanation/show/html.py",
        "part.unlink(missing_ok=True)",
        "part.exists()",
        (_PAGE,),
    ),
    Fault(
        "every operation of a call has the name of what it gives",
        "explanation/naming/names.py",
        "if target is None or self._last.get(place_of(binding.where)) != _kind(binding):",
        "if target is None:",
        (_NAMES,),
    ),
    Fault(
        "what a loop carries is counted with what is gone",
        "explanation/naming/names.py",
        "return whole if own[: len(kinds)] == kinds and found.items() <= whole.items() else found",
        "return whole",
        (_NAMES,),
    ),
    Fault(
        "a table counts as often as it is read",
        "explanation/why/passes.py",
        "for shape in (access.extents, access.array.shape))",
        "for shape in (access.extents,))",
        (_WORDS,),
    ),
    Fault(
        "counters of turns are shown",
        "explanation/naming/turns.py",
        "return bool(made) and made <= self.arrays",
        "return False",
        (_WORDS,),
    ),
)
