// The numbers of each node over the last minute: what the server has kept, then what readings add.
import { request } from "./connection.js";
import { longestQueues } from "./bottleneck.js";

const KEPT = 60;
const STEP_S = 1;
const MEAN_OF = 10;

export class Minute {
  constructor() {
    this.series = new Map(); // node → { rate, ms, queue, busy }, the oldest first; null where a number is not known
    this.lastS = -Infinity;
  }

  // Takes what the server has kept, before anything else. Where the server gives no answer the lines begin now.
  async load() {
    const answer = await request("/minute");
    if (!answer?.ok) return;
    this.series.clear();
    for (const [, nodes] of JSON.parse(answer.text).samples) {
      for (const [name, one] of Object.entries(nodes)) this.add(name, one.steps_per_s, one.busy, one.queued);
    }
  }

  // Returns whether there is something new to draw.
  take(reading) {
    if (reading.elapsed_s < this.lastS) {
      this.lastS = -Infinity; // another run
      for (const one of this.series.values()) one.busy = [];
    }
    if (reading.state === "not started" || reading.elapsed_s - this.lastS < STEP_S) return false;
    this.lastS = reading.elapsed_s;
    const queued = longestQueues(reading);
    for (const node of reading.nodes) this.add(node.name, node.steps_per_s, node.busy, queued.get(node.name) ?? 0);
    return true;
  }

  add(name, perSecond, busy, queued) {
    if (!this.series.has(name)) this.series.set(name, { rate: [], ms: [], queue: [], busy: [] });
    const one = this.series.get(name);
    const ms = busy === null || perSecond === 0 ? null : (1000 * busy) / perSecond;
    for (const [key, number] of [["rate", perSecond], ["ms", ms], ["queue", queued], ["busy", busy]]) {
      one[key].push(number);
      if (one[key].length > KEPT) one[key].shift();
    }
  }

  of(name) {
    return this.series.get(name) ?? null;
  }

  // How busy a node was over the last ten seconds: the mean, and the most of a second. 0 where that is not known.
  lastBusy(name) {
    const last = (this.series.get(name)?.busy ?? []).slice(-MEAN_OF).filter((one) => one !== null);
    return { busy: last.reduce((a, b) => a + b, 0) / Math.max(1, last.length), most: Math.max(0, ...last) };
  }

  // Of several nodes: the highest rate, the time of all of them for what one of them handles, the longest queue.
  ofAll(names) {
    const all = names.map((name) => this.series.get(name)).filter((one) => one !== undefined);
    if (!all.length) return null;
    const length = Math.max(...all.map((one) => one.rate.length));
    const at = (key, i) => all.map((one) => one[key][i - (length - one[key].length)] ?? null).filter((one) => one !== null);
    const fold = (key, f) => Array.from({ length }, (_, i) => (at(key, i).length ? f(at(key, i)) : null));
    return { rate: fold("rate", (some) => Math.max(...some)), ms: fold("ms", (some) => some.reduce((a, b) => a + b)), queue: fold("queue", (some) => Math.max(...some)) };
  }
}
