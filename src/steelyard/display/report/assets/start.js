// Puts all parts in their places. Of what is not there, nothing is drawn.
const theme = document.getElementById("theme");

function nameTheme() {
  theme.textContent = isDark() ? "Light" : "Dark";
  theme.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  figures.forEach((redraw) => redraw());
}

theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
});
dark.addEventListener("change", nameTheme);
theme.hidden = false;

drawLegend();
drawMeasures();
drawOperating();
drawMatrices();
drawDifferences();
drawDeciding();
if (page.classes) partTable("classes", page.classes, "class");
if (page.slices) partTable("slices", page.slices, "part");
drawCurves();
drawReliability();
drawSimplex();
drawStrip();
drawFolds();
startLegend();
nameTheme();

const download = document.getElementById("download");
const { looks: _, ...plain } = page;
download.addEventListener("click", () => save("steelyard.json", JSON.stringify(plain, null, 2), "application/json"));
download.hidden = false;
document.documentElement.dataset.ready = "yes";
