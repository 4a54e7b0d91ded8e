// Finds nodes, subgraphs and streams by a part of their names, and by their states: typing marks them, Enter goes to the
// first one.
import { byId, make, say } from "./elements.js";
import { BUSY } from "./bottleneck.js";
import { countsByNode } from "./drops.js";

export class Search {
  // `onFound(things)` gets what is found as { kind, name }, null for nothing asked; `onChosen(kind, name)` what Enter
  // goes to; `eventsOf(name)` returns what has happened at a node, `failed()` names of nodes that have ended the run, and
  // `busiest()` the name of the node that holds the others up.
  constructor({ onFound, onChosen, eventsOf, failed, busiest }) {
    Object.assign(this, { onFound, eventsOf, failed, busiest });
    this.things = []; // { kind, name }
    this.reading = null;
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
    this.reading = reading;
    const nodes = reading.nodes.map(({ name }) => ({ kind: "node", name }));
    const streams = reading.streams.map(({ name }) => ({ kind: "stream", name }));
    const key = [...nodes, ...streams].map((one) => one.name).join("\n");
    if (key !== this.told) {
      this.told = key;
      this.things = [...nodes, ...groupsOf(nodes), ...streams];
      byId("names").replaceChildren(...this.things.map(({ name }) => make("option", { value: name })));
    }
    if (this.wanted || byId("found").textContent) this.type(); // states change
  }

  // Those with that name first, then those that begin with it, those that have it in their names, and in their states.
  found() {
    const { wanted } = this;
    if (!wanted || this.reading === null) return [];
    const states = this.states();
    const order = ({ kind, name }) => {
      const small = name.toLowerCase();
      if (small.includes(wanted)) return small === wanted ? 0 : small.startsWith(wanted) ? 1 : 2;
      return states.get(`${kind} ${name}`)?.includes(wanted) ? 3 : 4;
    };
    const all = this.things.map((one) => [order(one), one]).filter(([place]) => place < 4);
    return all.sort(([a], [b]) => a - b).map(([, one]) => one);
  }

  // "node NAME" or "stream NAME" → the words for how it is, in small letters.
  states() {
    const { nodes, streams, throttled, stall } = this.reading;
    const waiting = new Set(throttled);
    const dropped = countsByNode(this.reading);
    const failed = new Set(this.failed());
    const culprits = new Set(stall?.culprits.map((one) => one.node || one.stream));
    const busiest = this.busiest();
    const said = new Map();
    for (const one of nodes) {
      const events = this.eventsOf(one.name).filter(({ kind }) => kind !== "drop"); // they are its streams'
      const hasFailures = failed.has(one.name) || events.some(({ kind }) => kind === "failure");
      said.set(`node ${one.name}`, [
        one.calculator, one.state, one.place, dropped.has(one.name) && "dropped drops", one.lost_s !== null && "lost", (one.busy >= BUSY || one.name === busiest) && "busy busiest bottleneck",
        waiting.has(one.name) && "waits throttled: a queue is full", hasFailures && "failed failures errors",
        culprits.has(one.name) && "culprit stalled", ...events.map(({ kind, words }) => `${kind} ${words}`),
      ]);
    }
    for (const one of streams) {
      const isFull = one.limit !== null && one.queued >= one.limit;
      said.set(`stream ${one.name}`, [one.dropped && "dropped drops", ...Object.keys(one.drops), isFull && "full queue", culprits.has(one.name) && "culprit stalled"]);
    }
    for (const [key, words] of said) said.set(key, words.filter(Boolean).join(" ").toLowerCase());
    return said;
  }

  clear() {
    if (!this.wanted) return;
    byId("find").value = "";
    this.type();
  }

  type() {
    const found = this.found();
    say(byId("found"), this.wanted ? `${found.length || "none"} found` : "");
    this.onFound(this.wanted ? found : null);
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
