// The one legend: which classifiers are shown, everywhere on the page.
const shownModels = new Set(page.ticked.models);
const whenToggled = [];
const boxes = [];

function mark(model, on) {
  if (on) shownModels.add(model);
  else shownModels.delete(model);
  boxes[model].checked = on;
  document.querySelectorAll(`[data-model="${model}"]`).forEach((node) => node.toggleAttribute("hidden", !on));
}

function show(wanted) {
  page.models.forEach((_, model) => mark(model, wanted(model)));
  whenToggled.forEach((call) => call());
}

function toggle(model, on) {
  mark(model, on);
  whenToggled.forEach((call) => call());
}

// Figures are drawn anew as their room changes, and what was hidden stays hidden.
const hiddenIf = (model) => ({ ...ofModel(model), hidden: !shownModels.has(model) });

const few = page.ticked.models.length < page.models.length;
const isTicked = (model) => page.ticked.models.includes(model);

function drawLegend() {
  const host = document.getElementById("legend");
  if (!host) return;
  page.models.forEach((name, model) => {
    const box = make("input", { type: "checkbox", checked: isTicked(model), change: (event) => toggle(model, event.target.checked) });
    boxes.push(box);
    host.append(make("label", {}, box, swatch(model), make("span", {}, name)));
  });
  if (!few) return;
  const button = make("button", { type: "button" }, `Show all ${page.models.length}`);
  button.addEventListener("click", () => show(() => true));
  host.append(make("span", { class: "picked" }, `At first, ${page.ticked.words}.`), button);
}

// What is not shown at first is there all the same, once everything has been drawn.
function startLegend() {
  if (few) show(isTicked);
}
