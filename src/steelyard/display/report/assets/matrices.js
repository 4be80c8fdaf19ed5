// Confusion tables: true classes in rows, assigned ones in columns.
function cell(count, ofTrue, ofAssigned, shade) {
  const shares = [make("span", { class: "share" }, `row ${ofTrue}`), make("span", { class: "share" }, `col ${ofAssigned}`)];
  return make("td", { "--shade": shade }, make("span", { class: "count" }, count), ...shares);
}

function matrix(label, classes, table) {
  const many = classes.length > 6;
  const called = (name) => (many ? shortened(name, 24) : name);
  const whole = (name) => (called(name) === name ? null : name);
  const head = classes.map((name) => make("th", { scope: "col", title: whole(name) }, called(name)));
  const rows = classes.map((name, row) => {
    const cells = classes.map((other, column) => {
      const [count, ofTrue, ofAssigned] = [table.counts[row][column], table.of_true[row][column], table.of_assigned[row][column]];
      if (!many) return cell(count, ofTrue, ofAssigned, table.shade[row][column]);
      const title = `${name} as ${other}: ${count}, ${ofTrue} of the row, ${ofAssigned} of the column`;
      return make("td", { "--shade": table.shade[row][column], title }, count === "0" ? "·" : count);
    });
    return make("tr", {}, make("th", { scope: "row", class: "pinned", title: whole(name) }, called(name)), ...cells, make("td", { class: "sum" }, table.true[row]));
  });
  const sums = make("tr", { class: "sums" }, make("th", { scope: "row", class: "pinned" }, "all"), ...table.assigned.map((sum) => make("td", {}, sum)), make("td", {}, table.all));
  const top = make("tr", {}, make("th", { scope: "col", class: "pinned" }, "true\u00a0↓ assigned\u00a0→"), ...head, make("th", { scope: "col" }, "all"));
  return region(label, make("table", { class: many ? "matrix many" : "matrix" }, make("thead", {}, top), make("tbody", {}, ...rows, sums)));
}

// How wide tables of so many classes are: millions take as much room as one class more.
function cardsFor(count, all) {
  const columns = count + (all.length > 8 ? 1 : 0);
  return ["cards", columns > 3 ? "wide" : columns > 2 ? "three" : ""].join(" ");
}

function drawMatrices() {
  const host = bodyOf("confusion");
  if (!host) return;
  const { classes, tables, left_out: words } = page.confusion;
  const many = classes.length > 6;
  const cards = tables.map((table, model) => make("article", { class: "card", ...ofModel(model) }, titleOf(model), matrix(`Confusion of ${page.models[model]}`, classes, table)));
  if (words) host.append(make("p", { class: "note" }, words));
  if (many) {
    // Large tables one at a time, and each with all the room there is: side by side none could be read.
    const holder = make("div", {}, cards[0]);
    if (several) host.append(chooser("Classifier", page.models, (model) => holder.replaceChildren(cards[model])));
    host.append(holder);
    cards.forEach((card) => card.removeAttribute("data-model"));
  } else host.append(make("div", { class: cardsFor(classes.length, tables[0].all) }, ...cards));
  if (many) host.append(make("p", { class: "quiet" }, "The darker a cell, the larger its share of the row. Point at a cell for both shares."));
}
