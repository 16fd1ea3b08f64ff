"use strict";
// Shows the section that the address names and hides the others; links do the rest, so that "back" works.
const sections = [...document.querySelectorAll("section.detail")];
const links = [...document.querySelectorAll("a")];
const targetOf = (link) => link.getAttribute("href") || link.getAttribute("xlink:href");

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
document.querySelector("input[type=search]").addEventListener("input", filter);
addEventListener("hashchange", show);
// A browser scrolls to the section of a fresh address; beside the graph, it is in view anyway.
addEventListener("load", () => { if (matchMedia("(min-width: 60rem)").matches) scrollTo(0, 0); });
show();
