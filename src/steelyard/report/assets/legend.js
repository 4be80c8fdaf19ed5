// The one legend: which classifiers are shown, everywhere on the page.
const shownModels = new Set(page.models.keys());
const whenToggled = [];

function toggle(model, on) {
  if (on) shownModels.add(model);
  else shownModels.delete(model);
  document.querySelectorAll(`[data-model="${model}"]`).forEach((node) => node.toggleAttribute("hidden", !on));
  whenToggled.forEach((call) => call());
}

// Figures are drawn anew as their room changes, and what was hidden stays hidden.
const hiddenIf = (model) => ({ ...ofModel(model), hidden: !shownModels.has(model) });

function drawLegend() {
  const host = document.getElementById("legend");
  if (!host) return;
  page.models.forEach((name, model) => {
    const box = make("input", { type: "checkbox", checked: true, change: (event) => toggle(model, event.target.checked) });
    host.append(make("label", {}, box, swatch(model), make("span", {}, name)));
  });
}
