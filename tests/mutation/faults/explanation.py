"""Faults of explanations: reasons, counts, fates of arrays, pictures, pages."""

from __future__ import annotations

from tests.mutation.fault import Fault

_EXPLAIN = "tests/explanation/test_explain.py"
_REASONS = "tests/explanation/test_reasons.py"
_GRAPHS = "tests/explanation/test_graphs.py"
_PAGE = "tests/explanation/test_page.py"

FAULTS = (
    Fault(
        "a dearer loop is said to cost less",
        "explanation/reasons.py",
        "more = together - sum(apart)",
        "more = sum(apart) - together",
        (_REASONS,),
    ),
    Fault(
        "operations in one loop have a reason to be apart",
        "explanation/reasons.py",
        "if self._cluster[maker.label] is self._cluster[reader.label]:",
        "if maker is reader:",
        (_REASONS, _EXPLAIN),
    ),
    Fault(
        "arrays that are kept are stored",
        "explanation/summary.py",
        'written = "kept" if array in consumed else "stored"',
        'written = "stored"',
        (_EXPLAIN,),
    ),
    Fault(
        "what a filter counts is fused away",
        "explanation/summary.py",
        "needed = {*root.results, *(count.array for count in nest.counts)}",
        "needed = {*root.results}",
        (_EXPLAIN, _REASONS, "tests/explanation/test_counts.py"),
    ),
    Fault(
        "bytes are elements",
        "explanation/passes.py",
        "return array.element.bytes * prod(",
        "return prod(",
        (f"{_EXPLAIN}::test_bytes_are_those_of_the_arrays_given",),
    ),
    Fault(
        "uses in one loop go through memory",
        "explanation/summary.py",
        "fused=own is not None and own == made_in.get(edge.consumer),",
        "fused=own is not None and own != made_in.get(edge.consumer),",
        (_GRAPHS, _EXPLAIN),
    ),
    Fault(
        "quotes end labels",
        "explanation/dot.py",
        ".replace('\"', '\\\\\"')",
        "",
        (_GRAPHS,),
    ),
    Fault(
        "a page that cannot be written leaves a part",
        "explanation/html.py",
        "part.unlink(missing_ok=True)",
        "part.exists()",
        (_PAGE,),
    ),
)
