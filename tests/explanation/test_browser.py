"""A real browser shows what is clicked, without errors and without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import accel as A
from tests.explanation.browser import Page, browse, find_browser
from tests.explanation.samples import HOSTILE, hostile, long_program
from tests.papers import programs

SHOWN = "[...document.querySelectorAll('section.detail')].filter(s => s.checkVisibility()).map(s => s.id).join()"
TEXT = "[...document.querySelectorAll('section.detail')].filter(s => s.checkVisibility())[0].innerText"


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium or Chrome is installed, so no page is clicked")
    with browse(program) as found:
        yield found


@pytest.fixture
def shown(browser: Page, tmp_path: Path) -> Page:
    """The page of `expanded_normalise2`; before, what was heard of other pages is forgotten."""
    path = tmp_path / "page.html"
    A.explain(programs.expanded_normalise2, duplicate=False).to_html(path)
    browser.events.clear()
    browser.open(path)
    return browser


def troubles(page: Page) -> list[object]:
    """Everything that a console would show, and every request but for the page itself."""
    requests = [event["request"]["url"] for event in page.of("Network.requestWillBeSent")]
    strangers = [url for url in requests if not url.startswith(("file://", "data:"))]
    others = [url for url in requests if url.startswith("file://")][1:]
    console = page.of("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
    return [*console, *strangers, *others]


def test_the_overview_is_there_first(shown: Page) -> None:
    assert shown.value(SHOWN) == "overview"
    assert not troubles(shown)


def test_a_click_on_a_loop_shows_its_lines_tree_nest_and_code(shown: Page) -> None:
    shown.click("nav a[href='#loop-2']")
    assert shown.value(SHOWN) == "loop-2"
    text = str(shown.value(TEXT))
    assert "A.map(lambda x: x // sum1, xs)" in text
    assert "├ LeafOfCluster %3 map:0" in text
    assert "for i0 < n0" in text
    assert "define void" not in text
    shown.click("#loop-2 details:last-of-type summary")
    assert "__kernel" in str(shown.value(TEXT))
    assert not troubles(shown)


def test_clicks_in_the_graph(shown: Page) -> None:
    shown.click(".picture .node.operation a text")
    assert shown.value(SHOWN) == "loop-1"
    shown.click(".picture .arrow.fused text")
    assert shown.value(SHOWN) == "array-4"
    assert "fused away" in str(shown.value(TEXT))
    shown.click(".picture .cluster.loop a text")
    assert shown.value(SHOWN) == "loop-1"
    assert shown.value("document.querySelectorAll('.picture a.chosen').length") == 5
    assert not troubles(shown)


def test_a_click_on_an_array_shows_why_it_is_in_memory(shown: Page) -> None:
    shown.click("nav table a[href='#array-1']")
    assert shown.value(SHOWN) == "array-1"
    text = str(shown.value(TEXT))
    assert "kept beside" in text
    assert "map %3 needs sum1 (fold %2) complete (D1)" in text
    assert "return normalise2(A.map(lambda y: y * 2 + 1, ys))" in text
    shown.click("#array-1 .why a[href='#array-2']")
    assert shown.value(SHOWN) == "array-2"
    shown.value("history.back()")
    shown.value("new Promise(done => setTimeout(done, 100))")
    assert shown.value(SHOWN) == "array-1"
    shown.click("#array-1 .back")
    assert shown.value(SHOWN) == "overview"
    assert not troubles(shown)


def test_a_click_on_an_array_shows_the_loop_that_makes_it(shown: Page) -> None:
    shown.click("nav table a[href='#array-4']")
    text = str(shown.value(TEXT))
    assert "A.scanl(" in text
    assert "LeafOfCluster %4 scanl:0" in text
    assert "for i0 < n0+1" in text
    assert "__kernel" not in text
    shown.click("#array-4 details:last-of-type summary")
    assert "__kernel" in str(shown.value(TEXT))
    assert shown.value("document.querySelectorAll('#array-4 .texts').length") == 1
    shown.click("nav table a[href='#array-0']")
    assert "LeafOfCluster" not in str(shown.value(TEXT))
    assert not troubles(shown)


def test_lists_are_filtered(shown: Page) -> None:
    cards = "[...document.querySelectorAll('li.card')].filter(s => s.checkVisibility()).length"
    assert shown.value(cards) == 2
    shown.click("input[type=search]")
    shown.ask("Input.insertText", text="scanl")
    assert shown.value(cards) == 1


def test_a_page_opens_at_the_place_of_its_address(browser: Page, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    A.explain(programs.normalise2).to_html(path)
    browser.open(path, "#array-2")
    assert browser.value(SHOWN) == "array-2"
    browser.open(path, "#nowhere")
    assert browser.value(SHOWN) == "overview"


def test_hostile_lines_are_shown_and_never_run(browser: Page, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    A.explain(hostile(tmp_path)).to_html(path)
    browser.events.clear()
    browser.open(path)
    browser.click("nav table a[href='#array-1']")
    assert HOSTILE.splitlines()[4].strip() in str(browser.value(TEXT))
    assert browser.value("document.title") == "accel: hostile"
    assert browser.value("document.querySelectorAll('img, script').length") == 1
    assert not troubles(browser)


def test_a_large_program_is_still_clicked(browser: Page, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    A.explain(long_program(200), np.ones(4)).to_html(path)
    browser.events.clear()
    browser.open(path)
    browser.click(".picture .node.loop a text")
    assert browser.value(SHOWN) == "loop-1"
    assert not troubles(browser)


IN_VIEW = """(() => {
  const links = [...document.querySelectorAll(".picture a")].filter(a => targetOf(a) === "#%s" && a.closest(".cluster"));
  const place = links[0].getBoundingClientRect(), seen = frame.getBoundingClientRect();
  const both = (a, b, c, d) => Math.min(b, d) - Math.max(a, c) >= Math.min(b - a, d - c) - 30;
  return both(place.left, place.right, seen.left, seen.right) && both(place.top, place.bottom, seen.top, seen.bottom);
})()"""
"""Whether the frame of the graph shows the whole box of a loop, or as much of it as there is place for, but for scroll bars."""

WIDTH = "drawing.getBoundingClientRect().width"


def test_choosing_a_loop_brings_it_into_view_in_the_graph(browser: Page, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    A.explain(long_program(40), np.ones(4)).to_html(path)
    browser.events.clear()
    browser.open(path)
    for loop in ("loop-6", "loop-1"):
        assert not browser.value(IN_VIEW % loop)
        browser.click(f"nav a[href='#{loop}']")
        assert browser.value(SHOWN) == loop
        assert browser.value(IN_VIEW % loop)
    browser.open(path, "#loop-6")
    assert browser.value(IN_VIEW % "loop-6")
    assert not troubles(browser)


def test_the_graph_is_zoomed_and_fitted(browser: Page, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    A.explain(long_program(40), np.ones(4)).to_html(path)
    browser.events.clear()
    browser.open(path)
    browser.click("nav a[href='#loop-3']")
    first = float(str(browser.value(WIDTH)))
    browser.click("[data-zoom=in]")
    assert float(str(browser.value(WIDTH))) == pytest.approx(1.25 * first)
    assert browser.value(IN_VIEW % "loop-3")
    browser.click("[data-zoom=out]")
    assert float(str(browser.value(WIDTH))) == pytest.approx(first)
    browser.click("[data-zoom=fit]")
    assert browser.value("frame.scrollHeight <= frame.clientHeight && frame.scrollWidth <= frame.clientWidth")
    for loop in ("loop-1", "loop-6"):
        assert browser.value(IN_VIEW % loop)
    browser.click("[data-zoom=width]")
    assert browser.value("Math.abs(frame.clientWidth - drawing.getBoundingClientRect().width) < 8")
    before = float(str(browser.value(WIDTH)))
    turn = "frame.dispatchEvent(new WheelEvent('wheel', {deltaY: -100, ctrlKey: %s, cancelable: true, clientX: 200}))"
    assert browser.value(turn % "false")  # nothing is taken from a wheel that scrolls
    assert float(str(browser.value(WIDTH))) == before
    assert not browser.value(turn % "true")
    assert float(str(browser.value(WIDTH))) > before
    assert not troubles(browser)


def test_the_graph_and_the_lists_are_in_view_at_once(shown: Page) -> None:
    assert shown.value("document.documentElement.scrollHeight <= innerHeight")
    assert shown.value("frame.clientHeight > 200 && document.querySelector('.lists').clientHeight > 200")
