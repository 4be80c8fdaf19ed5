// Rows between the corners of their classes: triangles, and a tetrahedron that can be turned.
const simplex = page.simplex;
const TRIANGLE = [[-1 / Math.sqrt(3), -1 / 3], [0, 2 / 3], [1 / Math.sqrt(3), -1 / 3]];
const HIGH = Math.sqrt(3) / 2;
const TETRAHEDRON = [[1, 0, 0], [0.5, HIGH, 0], [0.5, HIGH / 3, Math.sqrt(2 / 3)], [0, 0, 0]];
const MIDDLE = [0, 1, 2].map((axis) => TETRAHEDRON.reduce((sum, corner) => sum + corner[axis] / 4, 0));
// On dark paper the darkest of the colours could not be seen.
const BRIGHT = { "#005F94": "#2C8FC9", "#B3478E": "#CC6AAA" };
const brighter = (colour) => (isDark() ? BRIGHT[colour] ?? colour : colour);
const colourOfClass = (place, corners) => brighter(simplex.looks[place < corners ? place : simplex.looks.length - 1]);
const formOfClass = (place, corners) => (place < corners ? place : 4);

// A mark: the inside is the true class, the ring the assigned one, and a gap of paper lies between where they differ.
function row(pen, x, y, size, truth, assigned, corners, paper, opacity = 1) {
  const form = formOfClass(truth, corners);
  if (truth !== assigned) {
    pen.mark(x, y, size * 1.45, form, colourOfClass(assigned, corners));
    pen.mark(x, y, size * 1.05, form, paper);
    pen.mark(x, y, size * 0.72, form, colourOfClass(truth, corners));
  } else pen.mark(x, y, size, form, colourOfClass(truth, corners), opacity);
}

const paperNow = () => getComputedStyle(document.body).backgroundColor;

function spot(pen, panel, place, x, y, scale, corners) {
  const paper = paperNow();
  if (!panel.radius) return row(pen, x, y, 3.6, panel.truth[place], panel.assigned[place], corners, paper);
  const size = Math.max(1.2, panel.radius[place] * scale);
  const [truth, assigned] = [panel.truth[place], panel.assigned[place]];
  pen.mark(x, y, size, "hexagon", colourOfClass(assigned, corners), panel.opacity[place]);
  if (truth !== assigned) {
    pen.mark(x, y, size * 0.72, "hexagon", paper);
    pen.mark(x, y, size * 0.6, "hexagon", colourOfClass(truth, corners), panel.opacity[place]);
  }
  return undefined;
}

// A name at a corner, and what is said of it below; long ones are cut so that they stay in the picture.
function corner(svg, x, y, name, rate, anchor, room) {
  svg.append(nameAt(x, y, name, Math.max(6, Math.floor(room / 7)), { "text-anchor": anchor, class: "over" }));
  if (rate) svg.append(text(x, y + 14, rate, { "text-anchor": anchor, class: "small over" }));
}

function triangleFigure(panel, number) {
  const place = (width) => {
    const scale = (Math.min(width, 420) - 40) / (2 / Math.sqrt(3));
    return { scale, across: (x) => width / 2 + x * scale, up: (y) => 44 + (2 / 3 - y) * scale };
  };
  const draw = (svg, width) => {
    const { across, up } = place(width);
    const at = TRIANGLE.map(([x, y]) => [across(x), up(y)]);
    const middle = [across(0), up(0)];
    const line = (from, to, kind) => svg.append(shape("line", { class: kind, x1: from[0], y1: from[1], x2: to[0], y2: to[1] }));
    [[0, 1], [0, 2], [1, 2]].forEach(([a, b]) => {
      line(at[a], at[b], "axis");
      line(middle, [(at[a][0] + at[b][0]) / 2, (at[a][1] + at[b][1]) / 2], "axis");
    });
    at.forEach((end) => line(middle, end, "reference"));
    corner(svg, at[0][0] - 16, at[0][1] + 18, panel.classes[0], panel.rates[0], "start", width / 2 - 16);
    corner(svg, at[1][0], at[1][1] - 22, panel.classes[1], panel.rates[1], "middle", width);
    corner(svg, at[2][0] + 16, at[2][1] + 18, panel.classes[2], panel.rates[2], "end", width / 2 - 16);
  };
  const marks = (pen, width) => {
    const { scale, across, up } = place(width);
    panel.x.forEach((x, each) => spot(pen, panel, each, across(x), up(panel.y[each]), scale, 3));
  };
  const caption = panel.left_out ? `${panel.left_out.toLocaleString("en")} ${panel.left_out === 1 ? "row has" : "rows have"} no membership in any of these classes.` : "";
  const label = `Rows of ${page.models[panel.model]} between ${panel.classes.join(", ")}`;
  const title = several ? page.models[panel.model] : simplex.classes > 3 ? panel.classes.join(", ") : "";
  return figure({ name: `simplex-${number + 1}`, title, label, caption, model: panel.model, height: (width) => (Math.min(width, 420) - 40) * HIGH + 90, draw, marks });
}

function tetrahedronFigure(panel, number) {
  const view = { turn: -41, tilt: 21 };
  const seen = (places) => {
    const [turn, tilt] = [(view.turn * Math.PI) / 180, (view.tilt * Math.PI) / 180];
    const [x, y, z] = places.map((value, axis) => value - MIDDLE[axis]);
    const [c, s] = [Math.cos(turn), Math.sin(turn)];
    const towards = c * x + s * y;
    return [-s * x + c * y, Math.cos(tilt) * z - Math.sin(tilt) * towards, Math.cos(tilt) * towards + Math.sin(tilt) * z];
  };
  const place = (width, height) => {
    const scale = Math.min(width, 460) * 0.62;
    return { scale, across: (a) => width / 2 + a * scale, up: (b) => height / 2 - b * scale + 8 };
  };
  const draw = (svg, width, height) => {
    const { across, up } = place(width, height);
    const at = TETRAHEDRON.map((end) => seen(end));
    const pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    const depth = ([a, b]) => at[a][2] + at[b][2];
    const hindmost = pairs.reduce((best, pair) => (depth(pair) < depth(best) ? pair : best));
    pairs.forEach((pair) => {
      const [a, b] = pair.map((end) => at[end]);
      svg.append(shape("line", { class: pair === hindmost ? "reference" : "axis", x1: across(a[0]), y1: up(a[1]), x2: across(b[0]), y2: up(b[1]) }));
    });
    at.forEach((end, code) => {
      const anchor = end[0] > 0.2 ? "end" : end[0] < -0.2 ? "start" : "middle";
      const shift = { end: 44, start: -44, middle: 0 }[anchor];
      const x = Math.max(4, Math.min(width - 4, across(end[0]) + shift));
      corner(svg, x, up(end[1]) + (end[1] > 0.05 ? -10 : 18), panel.classes[code], "", anchor, width / 2);
    });
  };
  const marks = (pen, width, height) => {
    const { scale, across, up } = place(width, height);
    const spots = panel.x.map((x, each) => [each, seen([x, panel.y[each], panel.z[each]])]);
    spots.sort((a, b) => a[1][2] - b[1][2]);
    spots.forEach(([each, [a, b]]) => spot(pen, panel, each, across(a), up(b), scale, 4));
  };
  const dial = (label, key, low, high) => {
    const input = make("input", { type: "range", min: low, max: high, step: 1, value: view[key], "aria-label": `${label} the tetrahedron of ${page.models[panel.model]}` });
    input.addEventListener("input", () => {
      view[key] = Number(input.value);
      one.redraw();
    });
    return [make("span", {}, label), input];
  };
  const [turn, tilt] = [dial("Turn", "turn", -180, 180), dial("Tilt", "tilt", -90, 90)];
  const label = `Rows of ${page.models[panel.model]} between ${panel.classes.join(", ")}`;
  const caption = panel.classes.map((name, code) => `${name}: ${panel.rates[code]}`).join("; ");
  const one = figure({ name: `simplex-${number + 1}`, title: several ? page.models[panel.model] : "", label, caption: `Of the rows assigned to each class — ${caption}.`, model: panel.model, height: (width) => Math.min(width, 460) * 0.9, draw, marks, extras: [make("div", { class: "dial" }, ...turn, ...tilt)] });
  one.box.classList.add("turning");
  one.box.addEventListener("pointerdown", (event) => {
    one.box.setPointerCapture(event.pointerId);
    const start = { x: event.clientX, y: event.clientY, ...view };
    const move = (now) => {
      view.turn = ((start.turn - (now.clientX - start.x) * 0.5 + 540) % 360) - 180;
      view.tilt = Math.max(-90, Math.min(90, start.tilt + (now.clientY - start.y) * 0.5));
      turn[1].value = view.turn;
      tilt[1].value = view.tilt;
      one.redraw();
    };
    one.box.addEventListener("pointermove", move);
    const stop = () => one.box.removeEventListener("pointermove", move);
    one.box.addEventListener("pointerup", stop, { once: true });
    one.box.addEventListener("pointercancel", stop, { once: true });
  });
  return one;
}

function key(name, draw) {
  const svg = shape("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" });
  draw(svgPen(svg));
  return make("li", {}, svg, name);
}

function drawSimplex() {
  const host = bodyOf("simplex");
  if (!host) return;
  if (simplex.classes <= 4) {
    const names = simplex.panels[0].classes;
    host.append(make("ul", { class: "keys" }, ...names.map((name, place) => key(name, (pen) => pen.mark(7, 7, 5, place, colourOfClass(place, names.length))))));
  } else host.append(make("p", { class: "note" }, "Of many classes, those triples are shown that are confused most; grey stands for other classes."));
  const draw = simplex.corners === 4 ? tetrahedronFigure : triangleFigure;
  if (simplex.left_out) host.append(make("p", { class: "note" }, simplex.left_out));
  host.append(make("div", { class: "pictures" }, ...simplex.panels.map((panel, number) => draw(panel, number).node)));
}
