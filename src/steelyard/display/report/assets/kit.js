// What all parts of the page are made with. Text is only ever set as text: nothing from the data can become markup.
const page = JSON.parse(document.getElementById("data").textContent);
const several = page.models.length > 1;

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";

function dressed(node, facts, parts) {
  for (const [name, value] of Object.entries(facts)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else if (name.startsWith("--")) node.style.setProperty(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...parts.filter((part) => part !== null && part !== undefined));
  return node;
}

const make = (tag, facts = {}, ...parts) => dressed(document.createElement(tag), facts, parts);
const shape = (tag, facts = {}, ...parts) =>
  dressed(document.createElementNS("http://www.w3.org/2000/svg", tag), facts, parts);
const bodyOf = (section) => document.querySelector(`#${section} > .body`);

// What belongs to one classifier is marked, so that the legend finds it. Where there is one alone, nothing is.
const ofModel = (model) => (several ? { "data-model": model } : {});
const lookOf = (model) => page.looks[model % page.looks.length];
const colourOf = (model) => lookOf(model).colour ?? "currentColor";

function swatch(model) {
  const look = { x1: 0, x2: 26, y1: 5, y2: 5, stroke: colourOf(model), "stroke-width": 2.4, "stroke-dasharray": lookOf(model).dash };
  return shape("svg", { class: "swatch", viewBox: "0 0 26 10", "aria-hidden": "true" }, shape("line", look));
}

const titleOf = (model) => (several ? make("h3", {}, swatch(model), page.models[model]) : null);
const region = (label, ...parts) => make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Table: ${label}` }, ...parts);

// As the library shortens names: the middle is left out, because names that grow long tend to differ at their ends.
function shortened(words, limit) {
  const signs = [...words];
  if (signs.length <= limit) return words;
  const tail = Math.floor((limit - 1) / 3);
  return `${signs.slice(0, limit - 1 - tail).join("").trimEnd()}…${signs.slice(signs.length - tail).join("").trimStart()}`;
}

const finite = (value) => typeof value === "number";

// --- files -----------------------------------------------------------------------------------------------------

function save(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "fill-opacity",
  "font-size", "font-family", "font-weight", "text-anchor", "color", "display", "paint-order"];

// A picture outside of the page has no style sheet: every part takes its looks along.
function standing(svg) {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, place) => {
    const seen = getComputedStyle(originals[place]);
    for (const look of LOOKS) node.setAttribute(look, seen.getPropertyValue(look));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}

// --- pens: the same marks on a canvas, which is quick, and in a picture, which can be saved ----------------------

const SHAPES = [
  null,
  [[-0.89, -0.89], [0.89, -0.89], [0.89, 0.89], [-0.89, 0.89]],
  [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]],
  [[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]],
  [[0, 1.2], [1.1, -0.8], [-1.1, -0.8]],
];
const HEXAGON = [0, 1, 2, 3, 4, 5].map((side) => [Math.sin((side * Math.PI) / 3), -Math.cos((side * Math.PI) / 3)]);

function svgPen(svg) {
  const polygon = (corners, x, y, size, looks) =>
    svg.append(shape("polygon", { points: corners.map(([a, b]) => `${x + a * size},${y + b * size}`).join(" "), ...looks }));
  return {
    mark(x, y, size, form, fill, opacity = 1) {
      const looks = { fill, "fill-opacity": opacity };
      if (form === "hexagon" || SHAPES[form]) polygon(form === "hexagon" ? HEXAGON : SHAPES[form], x, y, size, looks);
      else svg.append(shape("circle", { cx: x, cy: y, r: size, ...looks }));
    },
  };
}

function canvasPen(canvas, width, height, ink) {
  const dense = window.devicePixelRatio || 1;
  canvas.width = width * dense;
  canvas.height = height * dense;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.scale(dense, dense);
  return {
    mark(x, y, size, form, fill, opacity = 1) {
      pen.globalAlpha = opacity;
      pen.fillStyle = fill === "currentColor" ? ink : fill;
      pen.beginPath();
      const corners = form === "hexagon" ? HEXAGON : SHAPES[form];
      if (corners) corners.forEach(([a, b], place) => pen[place ? "lineTo" : "moveTo"](x + a * size, y + b * size));
      else pen.arc(x, y, size, 0, 2 * Math.PI);
      pen.fill();
    },
  };
}

// --- figures: drawn as wide as there is room, and drawn again when that changes -----------------------------------

const figures = [];

// facts: name (of the file), title, label (for those who cannot see it), height(width), draw(svg, width, height),
// marks(pen, width, height) for what may be many points, caption, model, extras (nodes below it).
function figure(facts) {
  const svg = shape("svg", { role: "img", "aria-label": facts.label });
  const canvas = facts.marks ? make("canvas", { "aria-hidden": "true" }) : null;
  const box = make("div", { class: "picture" }, canvas, svg);
  let width = 0;
  const redraw = () => {
    const height = Math.round(facts.height(width));
    svg.replaceChildren();
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height })) svg.setAttribute(name, value);
    facts.draw(svg, width, height);
    if (canvas) facts.marks(canvasPen(canvas, width, height, getComputedStyle(svg).color), width, height);
  };
  const look = () => {
    const room = Math.floor(box.clientWidth);
    if (room > 0 && room !== width) {
      width = room;
      redraw();
    }
  };
  const download = () => {
    const root = document.documentElement;
    const theme = root.dataset.theme;
    root.dataset.theme = "light"; // a picture goes onto white paper, whatever the page is on
    redraw();
    const copy = svg.cloneNode(true);
    svg.after(copy);
    if (facts.marks) {
      const group = shape("g");
      copy.prepend(group);
      facts.marks(svgPen(group), width, Math.round(facts.height(width)));
    }
    save(`${facts.name}.svg`, standing(copy), "image/svg+xml");
    copy.remove();
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    redraw();
  };
  new ResizeObserver(look).observe(box);
  figures.push(() => width && redraw());
  const button = make("button", { type: "button", class: "save", click: download, "aria-label": `Save ${facts.label} as SVG` }, "Save as SVG");
  const heading = facts.title ? make("h3", {}, facts.model === undefined || !several ? null : swatch(facts.model), facts.title) : null;
  const caption = facts.caption ? make("figcaption", {}, facts.caption) : null;
  const node = make("figure", facts.model === undefined ? {} : ofModel(facts.model), heading, box, ...(facts.extras ?? []), caption, button);
  return { node, svg, box, redraw: () => width && redraw() };
}

// --- axes ------------------------------------------------------------------------------------------------------

function ticks(low, high, about) {
  if (!(high > low)) return [low];
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const many = Math.floor(high / step + 1e-9) - first;
  const found = Array.from({ length: Math.min(many, 3 * about) + 1 }, (_, place) => (first + place) * step);
  // Far from nought, neighbours may be one number.
  const apart = found.filter((value, place) => place === 0 || value > found[place - 1]);
  return apart.length ? apart : [low];
}

// Large and small numbers by their power of ten; with a step, as many digits as tell neighbours apart.
function tickText(value, step = 0) {
  const size = Math.abs(value);
  if (!size || size < step * 1e-6) return "0";
  const digits = step ? Math.floor(Math.log10(size)) - Math.floor(Math.log10(step)) + 2 : 6;
  const short = Number(value.toPrecision(Math.max(1, Math.min(17, digits))));
  return size < 1e6 && size >= 1e-4 ? String(short) : short.toExponential().replace("e+", "e");
}

const LETTER = 7; // pixels that a figure of small text takes

// Numbers along an axis: where they stand, and what is written.
function numbered(low, high, about) {
  const found = ticks(low, high, Math.max(2, about));
  return found.map((value) => [value, tickText(value, found[1] - found[0])]);
}

// The same below an axis that is so wide, about so far apart; of long numbers not all are written.
function spaced(low, high, room, apart) {
  const found = numbered(low, high, room / apart);
  const widest = Math.max(...found.map(([, words]) => words.length)) * LETTER + 10;
  const every = Math.ceil((widest * (found.length - 1)) / room) || 1;
  return found.map(([value, words], place) => [value, place % every ? "" : words]);
}

// A number below an axis, wholly inside of the picture.
function below(svg, x, y, words, width) {
  const half = (words.length * LETTER) / 2;
  svg.append(text(Math.max(half, Math.min(x, width - half)), y, words, { class: "small", "text-anchor": "middle" }));
}

const text = (x, y, words, facts = {}) => shape("text", { x, y, ...facts }, words);

// A name in a picture, with as many letters as there is room for; whoever points at it gets all of them.
const nameAt = (x, y, name, most, facts) => {
  const node = text(x, y, shortened(name, most), facts);
  if (node.textContent !== name) node.append(shape("title", {}, name));
  return node;
};

// Axes with a grid and titles; returns where values stand.
function axes(svg, width, height, { x, y, xTitle, yTitle, bottom = 40, top = 10, right = 12 }) {
  const levels = numbered(y[0], y[1], (height - top - bottom) / 55);
  const left = Math.max(46, 26 + LETTER * (Math.max(...levels.map(([, words]) => words.length)) - 1));
  const across = (value) => left + ((value - x[0]) / (x[1] - x[0])) * (width - left - right);
  const up = (value) => height - bottom - ((value - y[0]) / (y[1] - y[0])) * (height - top - bottom);
  for (const [value, words] of spaced(x[0], x[1], width - left - right, 70)) {
    svg.append(shape("line", { class: "grid", x1: across(value), x2: across(value), y1: top, y2: height - bottom }));
    below(svg, across(value), height - bottom + 16, words, width);
  }
  for (const [value, words] of levels) {
    svg.append(shape("line", { class: "grid", x1: left, x2: width - right, y1: up(value), y2: up(value) }));
    svg.append(text(left - 6, up(value) + 4, words, { class: "small", "text-anchor": "end" }));
  }
  svg.append(shape("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }));
  svg.append(shape("line", { class: "axis", x1: left, x2: left, y1: top, y2: height - bottom }));
  svg.append(text((left + width - right) / 2, height - 6, xTitle, { "text-anchor": "middle" }));
  const middle = (top + height - bottom) / 2;
  svg.append(text(12, middle, yTitle, { "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` }));
  return { across, up };
}

// A path through points; where one is missing, it begins anew. Steps go across first, and then up or down.
// Stepped "after" a point, its value holds on the way to the next one; "before" it, on the way from the last one.
function path(xs, ys, across, up, stepped = null) {
  let way = "";
  let begun = false;
  xs.forEach((x, place) => {
    if (!finite(x) || !finite(ys[place])) {
      begun = false;
      return;
    }
    const [a, b] = [across(x).toFixed(2), up(ys[place]).toFixed(2)];
    if (!begun) way += `M${a} ${b}`;
    else way += stepped === "after" ? `H${a}V${b}` : stepped === "before" ? `V${b}H${a}` : `L${a} ${b}`;
    begun = true;
  });
  return way;
}

function band(xs, low, high, across, up, stepped = null) {
  const known = xs.map((x, place) => place).filter((place) => finite(xs[place]) && finite(low[place]) && finite(high[place]));
  if (known.length < 2) return "";
  const edge = (bounds) => known.flatMap((place, before) => {
    const y = up(bounds[place]).toFixed(2);
    const start = stepped === "before" && before > 0 ? [`${across(xs[known[before - 1]]).toFixed(2)} ${y}`] : [];
    return [...start, `${across(xs[place]).toFixed(2)} ${y}`];
  });
  return `M${[...edge(high), ...edge(low).reverse()].join("L")}Z`;
}

const bandOpacity = Math.min(0.18, 0.72 / page.models.length);
const strokeOf = (model) => ({ stroke: colourOf(model), "stroke-dasharray": lookOf(model).dash });

// --- labels of points: over no line, no point and no other label ----------------------------------------------------

const POINT = 6; // pixels from the middle of a point to its edge
const GRAIN = 2; // pixels that a cell is wide
const TALL = 15; // pixels that a label is high
const FARTHEST = 150; // pixels from a point to its label
const SIDES = Array.from({ length: 32 }, (_, step) => 0.64 + (step * Math.PI) / 16); // right and below comes first

// Cells of an area, and which of them are taken.
function cells({ left, top, right, bottom }) {
  const [across, down] = [Math.max(0, Math.floor((right - left) / GRAIN)), Math.max(0, Math.floor((bottom - top) / GRAIN))];
  const taken = new Uint8Array(across * down);
  const each = (box, call) => {
    const [first, last] = [Math.max(0, Math.floor((box.left - left) / GRAIN)), Math.min(across, Math.ceil((box.right - left) / GRAIN))];
    for (let row = Math.max(0, Math.floor((box.top - top) / GRAIN)); row < Math.min(down, Math.ceil((box.bottom - top) / GRAIN)); row++) {
      if (call(row * across + first, row * across + Math.max(first, last)) === false) return false;
    }
    return true;
  };
  const fill = (box) => each(box, (from, to) => { taken.fill(1, from, to); });
  const along = ([[x, y], [end, foot]], call) => {
    const steps = Math.ceil(Math.max(Math.abs(end - x), Math.abs(foot - y)) / GRAIN) + 1;
    for (let step = 0; step <= steps; step++) call(x + ((end - x) * step) / steps, y + ((foot - y) * step) / steps);
  };
  return {
    fill,
    around: (x, y, room) => fill({ left: x - room, right: x + room, top: y - room, bottom: y + room }),
    line: (points, room) => points.slice(1).forEach((point, place) => along([points[place], point], (x, y) => fill({ left: x - room, right: x + room, top: y - room, bottom: y + room }))),
    free: (box) => box.left >= left && box.right <= left + across * GRAIN && box.top >= top && box.bottom <= top + down * GRAIN
      && each(box, (from, to) => { for (let cell = from; cell < to; cell++) if (taken[cell]) return false; }),
    passes: (ends) => {
      let met = false;
      along(ends, (x, y) => {
        const [column, row] = [Math.floor((x - left) / GRAIN), Math.floor((y - top) / GRAIN)];
        if (column >= 0 && column < across && row >= 0 && row < down && taken[row * across + column]) met = true;
      });
      return met;
    },
  };
}

// Where the labels of points stand; null for those that find no place. Points move along curves: labels keep out of
// their way, unless there is no room for that.
function placed(labels, curves, lines, area) {
  const grids = [POINT + 2, 2].map((room) => {
    const grid = cells(area);
    curves.forEach((points) => grid.line(points, room));
    lines.forEach((points) => grid.line(points, 2));
    labels.forEach(({ x, y }) => grid.around(x, y, POINT + 1));
    return grid;
  });
  const closed = cells(area); // to leaders
  return labels.map((label) => {
    const wide = label.words.length * LETTER + 4;
    for (const grid of grids) {
      for (let gap = POINT + 2; gap <= FARTHEST; gap += 4) {
        for (const side of SIDES) {
          const [over, down] = [Math.cos(side), Math.sin(side)];
          // The box touches a circle of that radius around the point.
          const reach = gap + Math.min(wide / 2 / Math.max(Math.abs(over), 1e-9), TALL / 2 / Math.max(Math.abs(down), 1e-9));
          const [x, y] = [label.x + over * reach, label.y + down * reach];
          const box = { left: x - wide / 2, right: x + wide / 2, top: y - TALL / 2, bottom: y + TALL / 2 };
          if (!grid.free(box)) continue;
          const end = [Math.max(box.left, Math.min(label.x, box.right)), Math.max(box.top, Math.min(label.y, box.bottom))];
          const away = Math.hypot(end[0] - label.x, end[1] - label.y);
          const rival = Math.min(...labels.map((other) => (Math.hypot(other.x - label.x, other.y - label.y) < 1 ? Infinity
            : Math.hypot(Math.max(box.left - other.x, 0, other.x - box.right), Math.max(box.top - other.y, 0, other.y - box.bottom)))));
          const led = away > POINT + 6 || rival < away + 4;
          const start = [label.x + ((end[0] - label.x) * POINT) / (away || 1), label.y + ((end[1] - label.y) * POINT) / (away || 1)];
          if (led && closed.passes([start, end])) continue;
          [...grids, closed].forEach((each) => {
            each.fill(box);
            if (led) each.line([start, end], 2);
          });
          return { ...box, leader: led ? { x1: start[0], y1: start[1], x2: end[0], y2: end[1] } : null };
        }
      }
    }
    return null;
  });
}
