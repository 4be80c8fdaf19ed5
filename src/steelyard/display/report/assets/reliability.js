// How often classes came true against their forecasts, with the forecasts' own spread below.
function reliabilityFigure(one) {
  const draw = (svg, width, height) => {
    const bars = 52;
    const area = { x: [0, 1], y: [0, 1], xTitle: "forecast", yTitle: "frequency", bottom: 40 + bars };
    const { across, up } = axes(svg, width, height, area);
    diagonal(svg, across, up);
    const known = one.models.map((curve, model) => [curve, model]).filter(([curve]) => curve);
    for (const [curve, model] of known) {
      if (curve.low) svg.append(shape("path", { d: band(curve.forecast, curve.low, curve.high, across, up), fill: colourOf(model), "fill-opacity": bandOpacity, ...hiddenIf(model) }));
    }
    for (const [curve, model] of known) {
      svg.append(shape("path", { class: "line", d: path(curve.forecast, curve.frequency, across, up), ...strokeOf(model), ...hiddenIf(model) }));
      // One forecast for all rows is no line.
      if (curve.forecast.length === 1) svg.append(shape("circle", { cx: across(curve.forecast[0]), cy: up(curve.frequency[0]), r: 4, fill: colourOf(model), ...hiddenIf(model) }));
    }
    const most = Math.max(...known.flatMap(([curve]) => curve.bars));
    const foot = height - 22;
    for (const [curve, model] of known) {
      const wide = 1 / curve.bars.length;
      const xs = curve.bars.flatMap((_, place) => [place * wide, (place + 1) * wide]);
      const ys = curve.bars.flatMap((share) => [share, share]);
      const way = path(xs, ys, across, (share) => foot - (share / most) * (bars - 20));
      svg.append(shape("path", { class: "line", d: way, ...strokeOf(model), "stroke-width": 1.2, ...hiddenIf(model) }));
    }
  };
  const label = `Reliability of forecasts of ${one.label} by ${page.models.join(", ")}`;
  return figure({ name: `reliability-${page.reliability.indexOf(one) + 1}`, title: one.label, label, height: (width) => Math.min(width, 400) * 1.08, draw });
}

// In which ways forecasts are off: a line for every class and classifier.
function offTable() {
  const lines = page.reliability.flatMap((one) => one.models.map((curve, model) => [one.label, model, curve?.line])).filter(([, , line]) => line);
  if (!lines.length) return null;
  const classes = page.reliability.length > 1;
  const head = [...(classes ? ["class"] : []), ...(several ? ["classifier"] : []), "observed / expected", "intercept", "slope"];
  const words = Number(classes) + Number(several);
  const rows = lines.map(([label, model, line]) => {
    const names = [...(classes ? [label] : []), ...(several ? [page.models[model]] : [])];
    const cells = line.map((cell) => make("td", { class: "right" }, ...value(cell)));
    return make("tr", hiddenIf(model), ...names.map((name) => make("th", { scope: "row", class: "name" }, name)), ...cells);
  });
  const top = make("tr", {}, ...head.map((name, place) => make("th", { scope: "col", class: place < words ? null : "right" }, name)));
  return region("In which ways forecasts are off", make("table", {}, make("thead", {}, top), make("tbody", {}, ...rows)));
}

function drawReliability() {
  const host = bodyOf("reliability");
  if (!host) return;
  host.append(make("div", { class: "pictures" }, ...page.reliability.map((one) => reliabilityFigure(one).node)));
  const words = ["Below: how the forecasts are spread."];
  const bare = page.reliability.some((one) => one.models.some((curve) => curve && !curve.low));
  words.push(bare ? "With so many rows or classifiers no bands are drawn." : "Calibrated forecasts stay within the bands.");
  if (page.reliability.length > 1) words.push("Each class against the rest.");
  host.append(make("p", { class: "quiet" }, words.join(" ")));
  const off = offTable();
  if (!off) return;
  const meant = ["Calibrated forecasts have 1, 0 and 1. An intercept above 0: they are too low as a whole. A slope below 1: they are too sure."];
  if (off.textContent.includes("–")) meant.push("Forecasts of 0 and 1 alone have no line, and a class that one threshold sets apart has no slope.");
  host.append(make("h3", {}, "In which ways forecasts are off"), off, make("p", { class: "quiet" }, meant.join(" ")));
}
