// The slider: every stop is a threshold whose table the library counted. Nothing is computed here but where to draw.
const operating = page.operating;
const points = new Map(); // classifier → the stop at which it stands
const followers = [];

// Columns of words come as one text, in which a sign stands for "as before".
function unpacked(column) {
  let last = "";
  return column.split("\n").map((word) => {
    last = word === "=" ? last : word;
    return last;
  });
}

function unpack(stops) {
  for (const [name, column] of Object.entries(stops)) {
    if (typeof column === "string" && name !== "total") stops[name] = unpacked(column);
    else if (["counts", "of_true", "of_assigned", "called"].includes(name)) stops[name] = column.map(unpacked);
  }
}

function drawOperating() {
  const host = bodyOf("operating");
  if (!host) return;
  operating.models.filter(Boolean).forEach(unpack);
  if (operating.guessed) host.append(make("p", { class: "note" }, `No event was named: the threshold is that of “${operating.event}”.`));
  host.append(wish());
  const cards = operating.models.map((stops, model) => (stops ? card(stops, model) : plainCard(model)));
  host.append(make("div", { class: cardsFor(2, operating.models.find(Boolean).total) }, ...cards));
  const pictures = [rocFigure(), precisionFigure(), costFigure()];
  host.append(make("h3", {}, "Over all thresholds"), make("div", { class: "pictures" }, ...pictures.map((one) => one.node)));
}

// A classifier that gave labels has no threshold; it has a table, where a measure asked for one.
function plainCard(model) {
  if (!page.confusion) return null;
  // The event comes first, as beside the sliders.
  const { classes, tables } = page.confusion;
  const turned = (values) => (classes[0] !== operating.event && Array.isArray(values) ? [...values].reverse().map(turned) : values);
  const table = Object.fromEntries(Object.entries(tables[model]).map(([name, values]) => [name, turned(values)]));
  return make("article", { class: "card", ...ofModel(model) }, titleOf(model), matrix(`Confusion of ${page.models[model]}`, turned(classes), table));
}

function card(stops, model) {
  const name = page.models[model];
  const threshold = make("output", {}, "");
  const slider = make("input", { type: "range", min: 0, max: stops.threshold.length - 1, step: 1, "aria-label": `Threshold of ${name}` });
  const cells = [0, 1, 2, 3].map(() => cell("", "", "", 0));
  const sums = [make("td"), make("td")];
  const rows = [[operating.event, 0, 1], [operating.other, 2, 3]].map(([label, first, second], row) =>
    make("tr", {}, make("th", { scope: "row" }, label), cells[first], cells[second], make("td", { class: "sum" }, stops.true[row])));
  const top = make("tr", {}, make("th", { scope: "col" }, "true\u00a0↓ assigned\u00a0→"), ...[operating.event, operating.other, "all"].map((label) => make("th", { scope: "col" }, label)));
  const table = make("table", { class: "matrix" }, make("thead", {}, top), make("tbody", {}, ...rows, make("tr", { class: "sums" }, make("th", { scope: "row" }, "all"), ...sums, make("td", {}, stops.total))));
  const read = [["sensitivity", "sensitivity"], ["specificity", "specificity"], ["precision", "precision"], ["npv", "NPV"], ["cost", operating.cost]];
  const readings = read.map(([key, title]) => ({ key, title, node: make("dd", { "data-reading": key }) }));
  const list = make("dl", { class: "readings" }, ...readings.flatMap(({ title, node }) => [make("dt", {}, title), node]));
  const show = (stop) => {
    points.set(model, stop);
    threshold.textContent = stops.threshold_text[stop];
    slider.setAttribute("aria-valuetext", `threshold ${stops.threshold_text[stop]}`);
    cells.forEach((node, place) => {
      const [count, ofTrue, ofAssigned] = node.children;
      count.textContent = stops.counts[place][stop];
      ofTrue.textContent = `row ${stops.of_true[place][stop]}`;
      ofAssigned.textContent = `col ${stops.of_assigned[place][stop]}`;
      node.style.setProperty("--shade", parseFloat(stops.of_true[place][stop]) / 100 || 0);
    });
    sums.forEach((node, place) => { node.textContent = stops.called[place][stop]; });
    readings.forEach(({ key, node }) => node.replaceChildren(stops[`${key}_text`][stop], " ", make("span", { class: "interval beside" }, stops[`${key}_interval`][stop])));
    followers.forEach((follow) => follow(model));
  };
  slider.addEventListener("input", () => show(Number(slider.value)));
  stops.move = (stop) => {
    slider.value = stop;
    show(stop);
  };
  stops.move(stops.start);
  const stopsWords = stops.all > stops.threshold.length ? `${stops.threshold.length} of ${stops.all.toLocaleString("en")} thresholds` : "";
  return make("article", { class: "card", ...ofModel(model) }, titleOf(model), make("label", { class: "slider" }, "Threshold ", threshold, slider),
    region(`Confusion of ${name}`, table), list, stopsWords ? make("p", { class: "quiet" }, `The slider stops at ${stopsWords}.`) : null);
}

// --- a condition moves the sliders --------------------------------------------------------------------------------

// Of the stops that meet the condition the one that gives away least of the other rate, the highest of equally good
// ones as in the library; null where none does.
function bestStop(stops, rate, least) {
  const other = stops[rate === "sensitivity" ? "specificity" : "sensitivity"];
  let best = null;
  stops[rate].forEach((reached, stop) => {
    if (finite(reached) && reached >= least && (best === null || other[stop] >= other[best])) best = stop;
  });
  return best;
}

function wish() {
  const rate = make("select", { "aria-label": "Rate" }, ...["sensitivity", "specificity", "precision"].map((name) => make("option", { value: name }, name)));
  const least = make("input", { type: "number", min: 0, max: 1, step: "any", value: "0.8", "aria-label": "At least" });
  const answer = make("p", { role: "status" });
  const apply = (event) => {
    event.preventDefault();
    const asked = Number(least.value);
    if (least.value === "" || !(asked >= 0 && asked <= 1)) {
      answer.textContent = "Give a number from 0 to 1.";
      return;
    }
    const said = operating.models.flatMap((stops, model) => {
      if (!stops || !shownModels.has(model)) return [];
      const stop = bestStop(stops, rate.value, asked);
      const name = several ? `${page.models[model]}: ` : "";
      if (stop === null) return [`${name}no threshold reaches it`];
      stops.move(stop);
      const other = rate.value === "sensitivity" ? "specificity" : "sensitivity";
      return [`${name}threshold ${stops.threshold_text[stop]}, ${other} ${stops[`${other}_text`][stop]}`];
    });
    answer.textContent = said.length ? `${said.join("; ")}.` : "No classifier that has a threshold is shown.";
  };
  return make("form", { class: "wish", submit: apply }, "Set the threshold for a", rate, "of at least", least, make("button", {}, "Set"), answer);
}

// --- curves --------------------------------------------------------------------------------------------------------

const scored = () => operating.models.map((stops, model) => [stops, model]).filter(([stops]) => stops);

// A point for every classifier that goes where its slider stands.
function following(svg, place) {
  const marks = new Map();
  for (const [stops, model] of scored()) {
    const mark = shape("circle", { class: "point", r: POINT, fill: colourOf(model), ...hiddenIf(model) });
    marks.set(model, [mark, stops]);
    svg.append(mark);
  }
  const follow = (model) => {
    if (!marks.has(model)) return;
    const [mark, stops] = marks.get(model);
    const [x, y] = place(stops, points.get(model));
    mark.setAttribute("visibility", finite(x) && finite(y) ? "visible" : "hidden");
    if (finite(x) && finite(y)) {
      mark.setAttribute("cx", x);
      mark.setAttribute("cy", y);
    }
  };
  marks.forEach((_, model) => follow(model));
  return follow;
}

function curveFigure(facts) {
  let follow = () => {};
  followers.push((model) => follow(model));
  const draw = (svg, width, height) => {
    const { across, up } = axes(svg, width, height, facts.axes());
    facts.before?.(svg, across, up);
    for (const [stops, model] of scored()) {
      const bounds = facts.band(stops);
      if (bounds) svg.append(shape("path", { d: band(facts.x(stops), ...bounds, across, up, facts.stepped === "before" ? "before" : null), fill: colourOf(model), "fill-opacity": bandOpacity, ...hiddenIf(model) }));
    }
    facts.marks?.(svg, across, up);
    for (const [stops, model] of scored()) {
      const [xs, ys] = [facts.x(stops), facts.y(stops)];
      const way = path(xs, ys, across, up, facts.stepped);
      // The precision of a point holds for the recall to its left, down to none.
      const end = way && facts.stepped === "after" ? `H${across(0)}` : "";
      svg.append(shape("path", { class: "line", d: way + end, ...strokeOf(model), ...hiddenIf(model) }));
    }
    follow = following(svg, (stops, stop) => {
      const [x, y] = [facts.x(stops)[stop], facts.y(stops)[stop]];
      return finite(x) && finite(y) ? [across(x), up(y)] : [null, null];
    });
  };
  const caption = facts.caption ?? [facts.marks ? operating.marked : "", operating.notes[facts.name]].filter(Boolean).join(" ");
  return figure({ name: facts.name, title: facts.title, label: facts.label, caption, height: (width) => Math.min(width, 420) * 0.92, draw });
}

const rocAxes = () => ({ x: [0, 1], y: [0, 1], xTitle: "1 − specificity (false alarms)", yTitle: "sensitivity" });
const diagonal = (svg, across, up) => svg.append(shape("line", { class: "reference", x1: across(0), y1: up(0), x2: across(1), y2: up(1) }));

// The threshold of the result stays marked and labelled on its curve, wherever the slider stands. Points of sliders
// run along the curves: labels keep so far from these that no point covers them, where there is room for that.
function ownThresholds(svg, across, up) {
  const owned = scored().filter(([stops]) => stops.own);
  const lines = scored().map(([stops]) => stops.fpr.map((x, stop) => [x, stops.sensitivity[stop]]).filter((at) => at.every(finite)).map(([x, y]) => [across(x), up(y)]));
  const guessing = [[across(0), up(0)], [across(1), up(1)]];
  const labels = owned.map(([{ own }]) => ({ x: across(own.fpr), y: up(own.sensitivity), words: own.text }));
  const area = { left: across(0) + 1, top: up(1) - POINT - 2, right: across(1) + POINT, bottom: up(0) - 1 };
  const found = placed(labels, lines, [guessing], area);
  owned.forEach(([, model], place) => {
    const { x, y, words } = labels[place];
    const name = shape("title", {}, `${page.models[model]}: ${words}`);
    svg.append(shape("circle", { class: "own", cx: x, cy: y, r: POINT, stroke: colourOf(model), ...hiddenIf(model) }, name));
    const spot = found[place];
    if (!spot) return; // whoever points at the ring is told
    if (spot.leader) svg.append(shape("line", { class: "leader", ...spot.leader, stroke: colourOf(model), ...hiddenIf(model) }));
    svg.append(text((spot.left + spot.right) / 2, spot.bottom - 4, words, { class: "threshold", "text-anchor": "middle", ...hiddenIf(model) }));
  });
}

const rocFigure = () => curveFigure({
  name: "roc", title: "ROC", label: `ROC curve of ${page.models.join(", ")}`, axes: rocAxes, before: diagonal, marks: ownThresholds,
  x: (stops) => stops.fpr, y: (stops) => stops.sensitivity, band: (stops) => stops.roc_band,
});

const precisionFigure = () => curveFigure({
  name: "precision-recall", title: "Precision and recall", label: `Precision against recall of ${page.models.join(", ")}`, stepped: "after",
  axes: () => ({ x: [0, 1], y: [0, 1], xTitle: "recall (sensitivity)", yTitle: "precision" }),
  x: (stops) => stops.sensitivity, y: (stops) => stops.precision, band: (stops) => stops.pr_band,
});

function costFigure() {
  const thresholds = scored().flatMap(([stops]) => stops.threshold.filter(finite));
  const [low, high] = thresholds.length ? [Math.min(...thresholds), Math.max(...thresholds)] : [0, 1];
  const x = low >= 0 && high <= 1 ? [0, 1] : [low, high === low ? low + Math.max(1, Math.abs(low) * 1e-6) : high];
  const costs = scored().flatMap(([stops]) => [...stops.cost_low, ...stops.cost_high, ...stops.cost].filter(finite));
  const y = [Math.min(0, ...costs), Math.max(...costs) || 1];
  return curveFigure({
    // A row is assigned from the threshold on: what holds at a score holds above the score below it.
    name: "cost", title: "Cost", stepped: "before", label: `${operating.cost} over the threshold of ${page.models.join(", ")}`,
    caption: `${operating.cost}: ${operating.cost_words}.`,
    axes: () => ({ x, y, xTitle: "threshold", yTitle: operating.cost }),
    x: (stops) => stops.threshold, y: (stops) => stops.cost, band: (stops) => [stops.cost_low, stops.cost_high],
  });
}
