// Explanations of measures, for pointers and for keyboards; Escape closes them.
const explanation = document.getElementById("explanation");
let closing = null;

function openExplanation(target, measure) {
  clearTimeout(closing);
  const facts = [`Span ${measure.span_text}`];
  if (measure.better !== "neither") facts.push(`${measure.better} is better`);
  if (measure.chance_text) facts.push(`${measure.chance_text} by chance`);
  explanation.replaceChildren(
    make("p", { class: "name" }, measure.title),
    make("p", {}, measure.says),
    ...(measure.formula ? [make("code", {}, measure.formula)] : []),
    ...(measure.more ? [make("p", {}, measure.more)] : []),
    make("p", { class: "quiet" }, `${facts.join(", ")}. Interval: ${measure.estimates[0].method || "none"}.`),
    make("p", { class: "quiet" }, measure.source),
  );
  explanation.hidden = false;
  const place = target.getBoundingClientRect();
  const own = explanation.getBoundingClientRect();
  const below = place.bottom + 8 + own.height <= window.innerHeight;
  explanation.style.left = `${Math.max(16, Math.min(place.left, window.innerWidth - own.width - 16))}px`;
  explanation.style.top = `${below ? place.bottom + 8 : Math.max(8, place.top - own.height - 8)}px`;
}

function closeExplanation() {
  clearTimeout(closing);
  explanation.hidden = true;
}

function closeSoon() {
  clearTimeout(closing);
  closing = setTimeout(closeExplanation, 150);
}

function term(measure) {
  const open = (event) => openExplanation(event.currentTarget, measure);
  const facts = { type: "button", class: "term", "aria-describedby": "explanation" };
  return make("button", { ...facts, mouseenter: open, focus: open, click: open, mouseleave: closeSoon, blur: closeExplanation }, measure.title);
}

explanation.addEventListener("mouseenter", () => clearTimeout(closing));
explanation.addEventListener("mouseleave", closeSoon);
document.addEventListener("keydown", (event) => event.key === "Escape" && closeExplanation());
