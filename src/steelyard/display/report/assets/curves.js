// ROC curves of three and more classes, each against the rest.
function classFigure(one, place) {
  const draw = (svg, width, height) => {
    const { across, up } = axes(svg, width, height, rocAxes());
    diagonal(svg, across, up);
    for (const [model, curve] of one.models.entries()) {
      if (curve?.roc) svg.append(shape("path", { class: "line", d: path(curve.roc.fpr, curve.roc.sensitivity, across, up), ...strokeOf(model), ...hiddenIf(model) }));
    }
  };
  const label = `ROC curve of ${one.label} against the rest by ${page.models.join(", ")}`;
  return figure({ name: `roc-${place + 1}`, title: one.label, label, height: (width) => Math.min(width, 400) * 0.92, draw });
}

function drawCurves() {
  const host = bodyOf("curves");
  if (!host) return;
  const drawn = page.reliability.filter((one) => one.models.some((curve) => curve?.roc));
  host.append(make("div", { class: "pictures" }, ...drawn.map((one, place) => classFigure(one, place).node)));
  if (page.curves) host.append(make("p", { class: "quiet" }, page.curves));
}
