// Finds nodes, subgraphs and streams by a part of their names: typing marks them, Enter goes to the first one.
import { byId, make, say } from "./elements.js";

export class Search {
  // `onTyped(text)` gets small letters; `onChosen(kind, name)` what Enter goes to.
  constructor(onTyped, onChosen) {
    this.onTyped = onTyped;
    this.onChosen = onChosen;
    this.things = []; // { kind, name }
    this.told = "";
    byId("find").addEventListener("input", () => this.type());
    byId("search").addEventListener("submit", (event) => {
      event.preventDefault();
      const [first] = this.found();
      if (first !== undefined) onChosen(first.kind, first.name);
    });
  }

  get wanted() {
    return byId("find").value.trim().toLowerCase();
  }

  update(reading) {
    const nodes = reading.nodes.map(({ name }) => ({ kind: "node", name }));
    const streams = reading.streams.map(({ name }) => ({ kind: "stream", name }));
    const key = [...nodes, ...streams].map((one) => one.name).join("\n");
    if (key === this.told) return;
    this.told = key;
    this.things = [...nodes, ...groupsOf(nodes), ...streams];
    byId("names").replaceChildren(...this.things.map(({ name }) => make("option", { value: name })));
  }

  // Those with that name first, then those that begin with it.
  found() {
    const { wanted } = this;
    const order = ({ name }) => (name.toLowerCase() === wanted ? 0 : name.toLowerCase().startsWith(wanted) ? 1 : 2);
    return wanted ? this.things.filter((one) => one.name.toLowerCase().includes(wanted)).sort((a, b) => order(a) - order(b)) : [];
  }

  type() {
    const count = this.found().length;
    say(byId("found"), this.wanted ? `${count || "none"} found` : "");
    this.onTyped(this.wanted);
  }
}

function groupsOf(nodes) {
  const names = new Set();
  for (const { name } of nodes) {
    const parts = name.split("__").slice(0, -1);
    parts.forEach((_, i) => names.add(parts.slice(0, i + 1).join("__")));
  }
  return [...names].map((name) => ({ kind: "group", name }));
}
