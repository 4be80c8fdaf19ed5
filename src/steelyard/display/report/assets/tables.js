// Tables: plain ones, and those of measures by class or by part of the data.
function plainTable(label, columns, rows, words = []) {
  const head = columns.map((name, place) => make("th", { scope: "col", class: words.includes(place) ? null : "right" }, name));
  const body = rows.map((row) => make("tr", {}, ...row.map((cell, place) => make("td", { class: words.includes(place) ? "name" : "right" }, cell))));
  return region(label, make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body)));
}

const value = (cell) => [cell[0], " ", cell[1] ? make("span", { class: "interval" }, cell[1]) : null];

// One classifier: a column for every measure. Several: a column for every classifier, and the measure is chosen.
function partTable(section, facts, what) {
  const host = bodyOf(section);
  if (!host) return;
  const holder = make("div");
  const draw = (chosen) => {
    const columns = several ? facts.cells[chosen].map((cells, model) => [page.models[model], cells, model]) : facts.measures.map((name, place) => [name, facts.cells[place][0]]);
    const head = columns.map(([name, , model]) => make("th", { scope: "col", class: "right", ...(model === undefined ? {} : hiddenIf(model)) }, name));
    const rows = facts.names.map((name, row) => {
      const cells = columns.map(([, each, model]) => make("td", { class: "right", ...(model === undefined ? {} : hiddenIf(model)) }, ...value(each[row])));
      return make("tr", {}, make("th", { scope: "row", class: "pinned" }, name), make("td", { class: "right" }, facts.rows[row]), ...cells);
    });
    const top = make("tr", {}, make("th", { scope: "col", class: "pinned" }, what), make("th", { scope: "col", class: "right" }, facts.size), ...head);
    holder.replaceChildren(region(`Measures ${what === "class" ? "by class" : "by part"}`, make("table", {}, make("thead", {}, top), make("tbody", {}, ...rows))));
  };
  if (several && facts.measures.length > 1) host.append(chooser("Measure", facts.measures, draw));
  host.append(holder, ...(facts.left_out ? [make("p", { class: "note" }, facts.left_out)] : []));
  draw(0);
}

function chooser(label, names, choose) {
  const select = make("select", { change: (event) => choose(Number(event.target.value)) }, ...names.map((name, place) => make("option", { value: place }, name)));
  return make("label", { class: "chooser" }, label, select);
}
