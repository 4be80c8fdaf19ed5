// Rows along the continuum: lanes for assigned classes, boundaries, and zones in which labels are unsure.
const along = page.strip;
const GRADES = ["right", "wrong, but measurement error may explain it", "wrong by one class", "wrong by more"];
const FORMS = [0, 2, 1, 3];

// The worse, the farther from the paper: on dark paper what is right is dark too.
const gradeColour = (grade) => (grade === 0 && isDark() ? "#3F6F8E" : along.looks[grade] ?? "currentColor");

function stripFigure(rows, model) {
  const classes = along.classes.length;
  const [top, bottom, left, right] = [24, 40, 92, 12];
  const levels = rows.level ? Math.max(6, ...rows.level) + 1 : 0;
  const lane = rows.level ? Math.max(34, levels * 7 + 8) : 56;
  const across = (width) => (value) => left + ((value - along.span[0]) / (along.span[1] - along.span[0])) * (width - left - right);
  const foot = (code, height) => height - bottom - code * lane;
  const ends = along.boundaries.map((end, place) => end ?? along.span[place === 0 ? 0 : 1]);
  const draw = (svg, width, height) => {
    const x = across(width);
    along.zones[0].forEach((from, place) => svg.append(shape("rect", { class: "zone", x: x(from), width: x(along.zones[1][place]) - x(from), y: top, height: height - top - bottom })));
    ends.slice(1, -1).forEach((end) => svg.append(shape("line", { class: "boundary", x1: x(end), x2: x(end), y1: top, y2: height - bottom })));
    along.classes.forEach((name, code) => {
      const y = foot(code, height);
      svg.append(shape("line", { class: "grid", x1: left, x2: width - right, y1: y, y2: y }));
      svg.append(shape("line", { class: "home", x1: x(Math.max(ends[code], along.span[0])), x2: x(Math.min(ends[code + 1], along.span[1])), y1: y, y2: y }));
      svg.append(nameAt(left - 8, y - lane / 2 + 4, name, Math.floor((left - 8) / 7.5), { "text-anchor": "end" }));
    });
    for (const [at, words] of spaced(along.span[0], along.span[1], width - left - right, 80)) below(svg, x(at), height - bottom + 18, words, width);
    svg.append(text((left + width - right) / 2, height - 4, "measured value", { "text-anchor": "middle" }));
    svg.append(text(4, 14, "assigned", { class: "small" }));
    if (rows.level) return;
    rows.lane.forEach((code, place) => {
      const [from, to] = [x(rows.from[place]), x(rows.to[place])];
      const [low, high] = [rows.foot[place], rows.top[place]].map((share) => foot(code, height) - share * (lane - 8));
      svg.append(shape("rect", { x: from, width: Math.max(0.6, to - from - 0.4), y: high, height: Math.max(0.4, low - high), fill: gradeColour(rows.grade[place]) }));
    });
  };
  const marks = (pen, width, height) => {
    if (!rows.level) return;
    const x = across(width);
    rows.lane.forEach((code, place) => pen.mark(x(rows.value[place]), foot(code, height) - 6 - rows.level[place] * 7, 3, FORMS[rows.grade[place]], gradeColour(rows.grade[place])));
  };
  const label = `Rows along the continuum by ${page.models[model]}`;
  return figure({ name: `continuum-${model + 1}`, title: several ? page.models[model] : "", label, model, height: () => top + bottom + classes * lane, draw, marks });
}

function drawStrip() {
  const host = bodyOf("strip");
  if (!host) return;
  const used = new Set(along.models.flatMap((rows) => rows.grade));
  const keys = GRADES.map((name, grade) => (used.has(grade) ? key(name, (pen) => pen.mark(7, 7, 5, FORMS[grade], gradeColour(grade))) : null));
  host.append(make("ul", { class: "keys" }, ...keys), make("div", { class: "pictures wide" }, ...along.models.map((rows, model) => stripFigure(rows, model).node)));
  if (along.deviation) host.append(make("p", { class: "quiet" }, `Measured with ${along.deviation}.`));
}
