// Who beats whom, the rows that decide it, and the folds.
const MOST_DIFFERENCES = 12;

function drawDifferences() {
  const host = bodyOf("differences");
  if (!host) return;
  const all = page.differences.rows;
  const wide = 180;
  const reachOf = (measure) => Math.max(0, ...all.filter((one) => one.measure === measure).flatMap((one) => [one.low, one.high].filter(finite).map(Math.abs))) || 1;
  const bar = (one) => {
    const most = reachOf(one.measure);
    const x = (value) => wide / 2 + (Math.max(-most, Math.min(most, value)) / most) * (wide / 2 - 6);
    const svg = shape("svg", { width: wide, height: 20, viewBox: `0 0 ${wide} 20`, "aria-hidden": "true" }, shape("line", { class: "reference", x1: x(0), x2: x(0), y1: 1, y2: 19 }));
    const looks = { stroke: "currentColor", fill: "currentColor" };
    if (finite(one.low) && finite(one.high)) svg.append(shape("line", { ...looks, x1: x(one.low), x2: x(one.high), y1: 10, y2: 10, "stroke-width": 2 }));
    if (finite(one.difference)) svg.append(shape("circle", { ...looks, cx: x(one.difference), cy: 10, r: 3.6 }));
    return svg;
  };
  const rows = all.map((one) => {
    const pair = `${page.models[one.a]} − ${page.models[one.b]}`;
    const numbers = [make("td", {}, one.text, " ", make("span", { class: "interval beside" }, one.interval)), make("td", { class: "right" }, one.p_text), make("td", { class: "right" }, one.p_adjusted_text)];
    return make("tr", {}, make("th", { scope: "row" }, pair), make("td", {}, one.measure), make("td", { class: "forest" }, bar(one)), ...numbers, make("td", { class: one.told_apart ? "words better" : "words" }, one.note || one.verdict));
  });
  const head = ["a − b", "measure", `${page.level} interval`, "difference", "p", "adjusted p", "verdict"].map((name, place) => make("th", { scope: "col", class: place === 4 || place === 5 ? "right" : null }, name));
  host.append(region("Differences", make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows))));
  // Pairs with a classifier that is not shown are not shown either.
  let open = all.length <= MOST_DIFFERENCES + 3;
  const rest = make("p", { class: "quiet on-paper" });
  const arrange = () => {
    let count = 0;
    all.forEach((one, place) => {
      const wanted = shownModels.has(one.a) && shownModels.has(one.b);
      count += wanted ? 1 : 0;
      rows[place].toggleAttribute("hidden", !wanted || (!open && count > MOST_DIFFERENCES));
    });
    rest.hidden = open || count <= MOST_DIFFERENCES;
    rest.textContent = `The first ${MOST_DIFFERENCES} of ${count} differences.`;
  };
  if (!open) {
    const more = make("button", { type: "button" }, `Show all ${all.length} differences`);
    more.addEventListener("click", () => {
      open = true;
      more.remove();
      arrange();
    });
    host.append(make("p", { class: "buttons more" }, more), rest);
  }
  whenToggled.push(arrange);
  arrange();
}

function drawDeciding() {
  const host = bodyOf("deciding");
  if (!host) return;
  const holder = make("div", { class: "columns" });
  const words = (table) => table.columns.map((name, place) => place).filter((place) => !["row", "rows", "effect", "together"].includes(table.columns[place]));
  const part = (title, label, table) => {
    const more = table.more ? make("p", { class: "quiet" }, `${table.more} more pattern${table.more === 1 ? " decides" : "s decide"} less.`) : null;
    return make("div", {}, make("h3", {}, title), plainTable(label, table.columns, table.rows, words(table)), more);
  };
  const draw = (chosen) => {
    const one = page.deciding[chosen];
    const parts = [];
    if (one.rows) parts.push(part(`Single rows, by ${one.measure}; rows count from 0`, "Rows that decide", one.rows));
    if (one.patterns) parts.push(part("Kinds of rows, all of a kind together", "Patterns that decide", one.patterns));
    holder.replaceChildren(...parts);
  };
  const names = page.deciding.map((one) => `${page.models[one.a]} − ${page.models[one.b]}`);
  if (names.length > 1) host.append(chooser("Difference", names, draw));
  else host.append(make("p", {}, names[0]));
  host.append(holder);
  draw(0);
}

function drawFolds() {
  const host = bodyOf("folds");
  if (!host) return;
  const folds = page.folds;
  const values = [...folds.models.flatMap((one) => [...one.value, ...one.training]), ...folds.overall.flatMap((one) => [one.low, one.high])].filter(finite);
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const x = [least, most > least ? most + (most - least) * 0.02 : least + 1];
  const ties = folds.models.map((one) => Math.max(1, ...one.value.map((at) => one.value.filter((other) => other === at).length)));
  const rise = Math.min(6, 60 / Math.max(...ties));
  const lane = 40 + rise * Math.max(...ties);
  const draw = (svg, width, height) => {
    const models = folds.models.map((_, model) => model).filter((model) => shownModels.has(model));
    const left = Math.min(150, width * 0.3);
    const across = (at) => left + ((at - x[0]) / (x[1] - x[0])) * (width - left - 16);
    for (const [at, words] of spaced(x[0], x[1], width - left - 16, 80)) {
      svg.append(shape("line", { class: "grid", x1: across(at), x2: across(at), y1: 4, y2: height - 40 }));
      below(svg, across(at), height - 24, words, width);
    }
    svg.append(text((left + width) / 2, height - 6, folds.measure, { "text-anchor": "middle" }));
    models.forEach((model, place) => {
      const y = 4 + lane * (place + 1) - 22;
      const overall = folds.overall[model];
      svg.append(nameAt(left - 8, y + 4, page.models[model], Math.max(6, Math.floor(left / 7.5)), { "text-anchor": "end" }));
      if (finite(overall.low) && finite(overall.high)) svg.append(shape("line", { x1: across(overall.low), x2: across(overall.high), y1: y, y2: y, stroke: colourOf(model), "stroke-width": 3, opacity: 0.9 }));
      const piles = new Map(); // folds of one value stand on top of each other
      folds.models[model].value.forEach((at, fold) => {
        if (!finite(at)) return;
        const place = Math.round(across(at) / 5);
        const level = piles.get(place) ?? 0;
        piles.set(place, level + 1);
        const mark = shape("circle", { cx: across(at), cy: y - 9 - level * rise, r: 2.8, fill: colourOf(model) });
        mark.append(shape("title", {}, folds.models[model].text[fold]));
        svg.append(mark);
      });
      folds.models[model].training.forEach((at) => finite(at) && svg.append(shape("circle", { cx: across(at), cy: y + 10, r: 3, fill: "none", stroke: colourOf(model) })));
      if (finite(overall.value)) svg.append(shape("line", { x1: across(overall.value), x2: across(overall.value), y1: y - 7, y2: y + 7, stroke: colourOf(model), "stroke-width": 3 }));
    });
  };
  const rings = folds.models.some((one) => one.training.some(finite)) ? "; rings: rows that were fitted to" : "";
  const caption = `Held out: ${folds.words}. Full dots: rows held out, fold by fold; bar: all of them with the ${page.level} interval${rings}.`;
  const one = figure({ name: "folds", label: `${folds.measure} in every fold`, caption, height: () => Math.max(1, shownModels.size) * lane + 46, draw });
  whenToggled.push(one.redraw);
  host.append(one.node);
}
