// Writes dist/notices.txt: the licences of the packages that esbuild has put into dist/extension.js.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const inputs = Object.keys(JSON.parse(fs.readFileSync("dist/meta.json", "utf8")).inputs);
const folders = new Set(inputs.map((one) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(one)?.[1]).filter((one) => one !== undefined));
const parts = [...folders].sort().map((folder) => {
  const about = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
  const file = fs.readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${about.name} has no licence file; it must not be bundled`);
  return `${about.name} ${about.version} (${about.license})\n\n${fs.readFileSync(path.join(folder, file), "utf8").trim()}\n`;
});
fs.writeFileSync("dist/notices.txt", parts.join(`\n${"-".repeat(80)}\n\n`));
