// The page inside of the panel. It loads nothing.
"use strict";

// Returns its HTML. Its script and style have the nonce.
function page(nonce) {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'">
<style nonce="${nonce}">
  body { color: var(--vscode-foreground); padding: 0.5rem; }
  svg { display: block; margin: 0 auto; max-width: 100%; height: auto; }
  .pk-node { cursor: pointer; }
  #picture .marked > .pk-box { stroke: var(--vscode-focusBorder, #c4622d); stroke-width: 3.5px; }
</style>
</head>
<body>
<p id="fault" role="status"></p>
<main id="picture"></main>
<script nonce="${nonce}">
"use strict";
const host = acquireVsCodeApi();
const picture = document.getElementById("picture");
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [sheet];
let node = "";

function tint() {
  const isDark = document.body.classList.contains("vscode-dark") || document.body.classList.contains("vscode-high-contrast");
  for (const rule of sheet.cssRules) {
    if (rule instanceof CSSMediaRule) rule.media.mediaText = isDark ? "all" : "not all";
  }
}

function show(text) {
  const plain = text.replace(/<style>([^<]*)<\\/style>/g, (_, style) => { sheet.replaceSync(style); return ""; });
  const parsed = new DOMParser().parseFromString(plain, "image/svg+xml").documentElement;
  picture.replaceChildren(document.importNode(parsed, true));
  tint();
  mark(node);
}

function mark(name) {
  node = name;
  for (const one of picture.querySelectorAll(".marked")) one.classList.remove("marked");
  const found = name === "" ? null : picture.querySelector('[data-node="' + CSS.escape(name) + '"]');
  found?.classList.add("marked");
  found?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

addEventListener("message", ({ data }) => {
  if (data.svg !== undefined) show(data.svg);
  if (data.node !== undefined) mark(data.node);
  document.getElementById("fault").textContent = data.fault ?? "";
});
picture.addEventListener("click", (event) => {
  const name = event.target.closest("[data-node]")?.dataset.node;
  if (name !== undefined) host.postMessage({ node: name });
});
new MutationObserver(tint).observe(document.body, { attributeFilter: ["class"] });
</script>
</body>
</html>`;
}

module.exports = { page };
