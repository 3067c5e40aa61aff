// The live page of the documentation: sets attributes of the element, and shows what it tells.
const lab = document.querySelector("#lab");
const form = document.querySelector("#attributes");
const told = document.querySelector("#told");
const TOLD_MAX = 30;
const NAMES = ["ready", "error", "statechange", "step", "predict", "answered", "outcome", "explored", "completed", "share", "resize"];

form.addEventListener("change", ({ target }) => {
  lab.setAttribute(target.name, target.value);
  show();
});
for (const name of NAMES) {
  document.addEventListener(`delivertwice:${name}`, ({ type, detail }) => {
    const line = document.createElement("li");
    line.textContent = `${type} ${JSON.stringify(detail)}`;
    told.prepend(line);
    while (told.children.length > TOLD_MAX) told.lastChild.remove();
  });
}
show();

function show() {
  const attributes = [...lab.attributes].filter(({ name }) => name !== "id" && name !== "style");
  const written = attributes.map(({ name, value }) => `${name}="${value}"`).join(" ");
  document.querySelector("#markup").textContent =
    `<script type="module" src="${new URL("deliver-twice.js", location.href)}"></script>\n<deliver-twice ${written}>…</deliver-twice>`;
}
