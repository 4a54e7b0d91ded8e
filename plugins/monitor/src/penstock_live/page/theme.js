// Light and dark: as the system, or as chosen. The style of the picture asks the system; here its rule is told.
import { byId } from "./elements.js";

const CHOICES = ["system", "light", "dark"];
const isDarkSystem = matchMedia("(prefers-color-scheme: dark)");
const pictureSheets = [];
let choice = 0;

export function startTheme() {
  choice = Math.max(0, CHOICES.indexOf(kept()));
  byId("theme").addEventListener("click", () => {
    choice = (choice + 1) % CHOICES.length;
    keep(CHOICES[choice]);
    applyTheme();
  });
  isDarkSystem.addEventListener("change", applyTheme);
  applyTheme();
}

// Returns the text of a picture without its style, which the page takes over and keeps to the theme. (A style
// element would be refused: the page allows none but its own.)
export function withoutStyle(svg) {
  return svg.replace(/<style>([^<]*)<\/style>/g, (_, text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    pictureSheets.push(sheet);
    document.adoptedStyleSheets.push(sheet);
    applyTheme();
    return "";
  });
}

function applyTheme() {
  const theme = CHOICES[choice];
  const isDark = theme === "dark" || (theme === "system" && isDarkSystem.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  byId("theme").textContent = `Theme: ${theme}`;
  for (const sheet of pictureSheets) {
    for (const rule of sheet.cssRules) {
      if (rule instanceof CSSMediaRule) rule.media.mediaText = isDark ? "all" : "not all";
    }
  }
}

// A browser may forbid storage: then the choice lasts as long as the page.
function kept() {
  try {
    return localStorage.getItem("penstock-theme");
  } catch {
    return null;
  }
}

function keep(theme) {
  try {
    localStorage.setItem("penstock-theme", theme);
  } catch {
    return;
  }
}
