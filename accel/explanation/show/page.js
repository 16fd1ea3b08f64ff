"use strict";
// Shows the section that the address names and hides the others; links do the rest, so that "back" works.
const sections = [...document.querySelectorAll("section.detail")];
const links = [...document.querySelectorAll("a")];
const targetOf = (link) => link.getAttribute("href") || link.getAttribute("xlink:href");
const frame = document.querySelector(".picture > div");
const drawing = frame && frame.querySelector("svg");
const MARGINS = 20; // pixels above and below the drawing, together

function show() {
  const wanted = decodeURIComponent(location.hash.slice(1));
  const found = sections.find((section) => section.id === wanted) || sections[0];
  for (const section of sections) section.hidden = section !== found;
  // An array's section ends with the tree, the nest and the code of the loop that makes it.
  const texts = found.dataset.loop && document.querySelector(`#${found.dataset.loop} .texts`);
  if (texts && !found.querySelector(".texts")) found.append(texts.cloneNode(true));
  for (const link of links) {
    const chosen = targetOf(link) === "#" + found.id;
    link.classList.toggle("chosen", chosen);
    if (chosen) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
  }
  document.querySelector(".right").scrollTop = 0;
  if (location.hash) found.focus({ preventScroll: matchMedia("(min-width: 60rem)").matches });
  reveal(found.id);
}

// The graph moves within its frame, so that what was chosen is in the middle, unless all of it can be seen.
function reveal(id) {
  const parts = drawing ? [...drawing.querySelectorAll("a")].filter((link) => targetOf(link) === "#" + id) : [];
  const part = parts.find((link) => link.closest(".cluster")) || parts[0];
  if (!part) return;
  const place = part.getBoundingClientRect(), seen = frame.getBoundingClientRect();
  const moved = (start, end, from, to) =>
    start >= from && end <= to ? 0 : end - start > to - from ? start - from : (start + end - from - to) / 2;
  frame.scrollLeft += moved(place.left, place.right, seen.left, seen.left + frame.clientWidth);
  frame.scrollTop += moved(place.top, place.bottom, seen.top, seen.top + frame.clientHeight);
}

// As many pixels for each of the drawing's own units; the point at x, y of the window stays where it is.
function scaleTo(scale, x, y) {
  const before = drawing.getBoundingClientRect();
  const across = (x - before.left) / before.width, down = (y - before.top) / before.height;
  drawing.style.minWidth = "0";
  drawing.style.maxWidth = "none";
  drawing.style.width = `${drawing.viewBox.baseVal.width * Math.min(Math.max(scale, 0.05), 8)}px`;
  const after = drawing.getBoundingClientRect();
  frame.scrollLeft += after.left + across * after.width - x;
  frame.scrollTop += after.top + down * after.height - y;
}

function zoom(how) {
  const seen = frame.getBoundingClientRect(), box = drawing.viewBox.baseVal;
  const scale = drawing.getBoundingClientRect().width / box.width;
  const wide = (frame.clientWidth - 4) / box.width, high = (frame.clientHeight - MARGINS) / box.height;
  const scales = { in: scale * 1.25, out: scale / 1.25, fit: Math.min(wide, high), width: wide };
  scaleTo(scales[how], seen.left + frame.clientWidth / 2, seen.top + frame.clientHeight / 2);
  reveal(sections.find((section) => !section.hidden).id);
}

function wheel(event) {
  if (!event.ctrlKey) return;
  event.preventDefault();
  const scale = drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width;
  scaleTo(scale * Math.exp(-event.deltaY / 400), event.clientX, event.clientY);
}

function filter(event) {
  const words = event.target.value.toLowerCase();
  for (const item of document.querySelectorAll("nav li.card, nav tbody tr"))
    item.hidden = !item.textContent.toLowerCase().includes(words);
}

document.body.classList.add("script");
for (const section of sections.slice(1)) {
  const back = document.createElement("a");
  back.href = "#overview";
  back.className = "back";
  back.textContent = "overview";
  section.prepend(back);
}
for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => zoom(button.dataset.zoom));
if (frame) {
  frame.addEventListener("wheel", wheel, { passive: false });
  // As high as the drawing, but at first at most so high that the lists have their place.
  frame.style.height = `${Math.min(frame.scrollHeight, 0.42 * innerHeight)}px`;
}
document.querySelector("input[type=search]").addEventListener("input", filter);
addEventListener("hashchange", show);
// A browser scrolls to the section of a fresh address; beside the graph, it is in view anyway.
addEventListener("load", () => { if (matchMedia("(min-width: 60rem)").matches) scrollTo(0, 0); });
show();
