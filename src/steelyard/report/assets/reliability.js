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

function drawReliability() {
  const host = bodyOf("reliability");
  if (!host) return;
  host.append(make("div", { class: "pictures" }, ...page.reliability.map((one) => reliabilityFigure(one).node)));
  const words = ["Below: how the forecasts are spread."];
  if (page.reliability.some((one) => one.models.some((curve) => curve && !curve.low))) words.push("With so many rows or classifiers no bands are drawn.");
  if (page.reliability.length > 1) words.push("Each class against the rest.");
  host.append(make("p", { class: "quiet" }, words.join(" ")));
}
