// The main table: every measure with its intervals as a forest plot; sorted by any column.
// As wide as leaves room for the numbers: narrow on a phone, and beside many classifiers.
const STRIP = window.innerWidth < 500 ? 120 : page.models.length > 4 ? 220 : 300; // notes must find room beside it
const FEW_MEASURES = 10; // shown at first where there are several classifiers

const endOf = (end) => (end === "Infinity" ? Infinity : end === "-Infinity" ? -Infinity : end);

// From where to where the strip of a measure reaches: its span, or as far as there is something to see.
function reach(measure) {
  const [low, high] = measure.span.map(endOf);
  const seen = measure.estimates.flatMap((one) => [one.low, one.value, one.high]).filter(finite);
  // What goes on for ever goes on beyond what is finite.
  const open = measure.estimates.some((one) => [one.value, one.high].includes("Infinity")) ? 1.5 : 1;
  const most = seen.length ? Math.max(...seen) * open : 1;
  const least = seen.length ? Math.min(...seen) : 0;
  const about = ticks(Math.min(0, least), Math.max(most, 0) || (least < 0 ? 0 : 1), 3);
  const step = about.length > 1 ? about[1] - about[0] : Math.max(most, -least);
  return [Number.isFinite(low) ? low : Math.floor(Math.min(0, least) / step) * step, Number.isFinite(high) ? high : Math.ceil(most / step - 1e-9) * step];
}

function strip(measure) {
  const [low, high] = reach(measure);
  const models = page.models.map((_, model) => model).filter((model) => shownModels.has(model));
  const plain = low === 0 && high === 1;
  const step = models.length > 4 ? 7 : 12;
  const height = Math.max(1, models.length) * step + 10 + (plain ? 0 : 12);
  const across = (at) => 6 + ((Math.min(Math.max(at, low), high) - low) / (high - low)) * (STRIP - 12);
  const foot = height - (plain ? 2 : 14);
  const words = models.map((model) => `${page.models[model]} ${measure.estimates[model].text} ${measure.estimates[model].interval}`);
  const svg = shape("svg", { width: STRIP, height, viewBox: `0 0 ${STRIP} ${height}`, role: "img", "aria-label": `${measure.title}: ${words.join("; ")}` });
  for (const at of [0, 0.25, 0.5, 0.75, 1]) {
    const x = across(low + at * (high - low));
    svg.append(shape("line", { class: "grid", x1: x, x2: x, y1: 2, y2: foot }));
  }
  if (finite(measure.chance)) svg.append(shape("line", { class: "reference", x1: across(measure.chance), x2: across(measure.chance), y1: 2, y2: foot }));
  if (!plain) {
    svg.append(text(2, height - 2, tickText(low, (high - low) / 4), { class: "small" }));
    svg.append(text(STRIP - 2, height - 2, tickText(high, (high - low) / 4), { class: "small", "text-anchor": "end" }));
  }
  models.forEach((model, place) => {
    const one = measure.estimates[model];
    const y = 8 + place * step;
    const [least, value, most] = [one.low, one.value, one.high].map(endOf);
    if (value === null) return;
    // What is infinite reaches to the edge, unless all of it is.
    if (finite(one.value) || finite(one.low) || finite(one.high)) svg.append(shape("line", { x1: across(least ?? value), x2: across(most ?? value), y1: y, y2: y, stroke: colourOf(model), "stroke-width": 2 }));
    if (finite(one.value)) svg.append(shape("circle", { cx: across(one.value), cy: y, r: step > 10 ? 3.6 : 2.8, fill: colourOf(model) }));
  });
  return svg;
}

function drawMeasures() {
  const host = bodyOf("measures");
  if (!host) return;
  const measures = page.measures;
  let sorted = { by: null, down: false };
  const noted = !several && measures.some((measure) => measure.estimates[0].note);
  let all = !several || measures.length <= FEW_MEASURES + 3;
  const rows = measures.map((measure, place) => {
    const forest = make("td", { class: "forest" }, strip(measure));
    const cells = measure.estimates.map((one, model) => make("td", ofModel(model), one.text, " ", make("span", { class: several || measure.gap ? "interval" : "interval beside" }, one.interval)));
    const arrow = make("span", { class: "arrow", "aria-hidden": "true" }, measure.arrow);
    const trained = measure.gap ? [make("td", {}, measure.training.text), make("td", {}, measure.gap.text, " ", make("span", { class: "interval" }, measure.gap.interval))] : [];
    const extra = several ? [] : [...trained, make("td", {}, measure.estimates[0].method), ...(noted ? [make("td", { class: "note-cell" }, measure.estimates[0].note)] : [])];
    const name = make("th", { scope: "row", class: "pinned" }, make("span", { class: "named" }, arrow, term(measure)));
    return { measure, place, forest, node: make("tr", {}, name, forest, ...cells, ...extra) };
  });
  const body = make("tbody");
  const heads = [];
  const keyOf = (row, by) => {
    if (by === "measure") return row.measure.title.toLowerCase();
    const found = endOf(row.measure.estimates[by].value);
    return found === null ? -Infinity : found;
  };
  const arrange = () => {
    const order = [...rows];
    if (sorted.by !== null) {
      order.sort((a, b) => {
        const [first, second] = [keyOf(a, sorted.by), keyOf(b, sorted.by)];
        const way = first < second ? -1 : first > second ? 1 : a.place - b.place;
        return sorted.down ? -way : way;
      });
    }
    rows.forEach((row) => row.node.toggleAttribute("hidden", !all && row.place >= FEW_MEASURES));
    body.replaceChildren(...order.map((row) => row.node));
    heads.forEach(({ node, by }) => node.setAttribute("aria-sort", sorted.by === by ? (sorted.down ? "descending" : "ascending") : "none"));
  };
  // Rising, falling, and back to the order of the library.
  const sortBy = (by) => {
    if (sorted.by !== by) sorted = { by, down: by !== "measure" };
    else if (sorted.down === (by !== "measure")) sorted = { by, down: !sorted.down };
    else sorted = { by: null, down: false };
    arrange();
  };
  const head = (label, by, facts = {}) => {
    const node = make("th", { scope: "col", "aria-sort": "none", ...facts }, make("button", { type: "button", click: () => sortBy(by) }, label));
    heads.push({ node, by });
    return node;
  };
  const columns = page.models.map((name, model) => head(several ? name : "value", model, ofModel(model)));
  const last = several ? [] : [...(measures.some((measure) => measure.gap) ? ["training", "gap"] : []), "method", ...(noted ? ["note"] : [])].map((name) => make("th", { scope: "col" }, name));
  const top = make("tr", {}, head("measure", "measure", { class: "pinned" }), make("th", { scope: "col" }, `${page.level} interval`), ...columns, ...last);
  host.append(region("Measures", make("table", {}, make("thead", {}, top), body)));
  if (!all) {
    const more = make("button", { type: "button", "aria-expanded": "false" }, `Show all ${measures.length} measures`);
    more.addEventListener("click", () => {
      all = !all;
      more.setAttribute("aria-expanded", String(all));
      more.textContent = all ? "Show fewer measures" : `Show all ${measures.length} measures`;
      arrange();
    });
    host.append(make("p", { class: "buttons more" }, more));
    const whole = (on) => rows.forEach((row) => row.node.toggleAttribute("hidden", !on && !all && row.place >= FEW_MEASURES));
    window.addEventListener("beforeprint", () => whole(true));
    window.addEventListener("afterprint", () => whole(false));
  }
  const notes = several ? measures.flatMap((measure) => measure.estimates.map((one, model) => [measure, one, model])).filter(([, one]) => one.note) : [];
  if (notes.length) {
    const items = notes.slice(0, 60).map(([measure, one, model]) => make("li", ofModel(model), `${measure.title}, ${page.models[model]}: ${one.note}`));
    const folded = make("details", {}, make("summary", {}, `Notes on single values (${notes.length})`), make("ul", {}, ...items));
    host.append(folded);
    // Nobody can unfold paper.
    let before = false;
    window.addEventListener("beforeprint", () => ([before, folded.open] = [folded.open, true]));
    window.addEventListener("afterprint", () => (folded.open = before));
  }
  whenToggled.push(() => rows.forEach((row) => row.forest.replaceChildren(strip(row.measure))));
  arrange();
}
