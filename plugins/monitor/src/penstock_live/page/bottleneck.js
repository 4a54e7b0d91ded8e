// What holds a graph up: the queues before nodes, and the busiest node.

export const BUSY = 0.9; // so busy is a node that others wait for
const UNTIL = 0.6; // and it stays the busiest while its last seconds were so busy: what drops packets rests in between
const LEAD = 0.05; // another one is busier only by so much: numbers waver

export class Bottleneck {
  constructor() {
    this.name = "";
  }

  // Returns { name, busy } of the node that is busy nearly all the time; null where none is, or the run is not timed.
  // `minute` knows how busy each was in the last seconds.
  of({ nodes, state }, minute) {
    const all = state === "running" ? nodes.map(({ name }) => ({ name, ...minute.lastBusy(name) })) : [];
    const steady = all.filter((one) => one.busy >= UNTIL);
    const before = steady.find((one) => one.name === this.name) ?? null;
    const most = steady.filter((one) => one.most >= BUSY).reduce((a, b) => (a === null || b.busy > a.busy ? b : a), null);
    const isAnother = most !== null && (before === null || most.busy >= before.busy + LEAD);
    const found = isAnother ? most : before;
    this.name = found?.name ?? "";
    return found;
  }
}

// Node → how many packets are in the longest of the queues before it.
export function longestQueues({ streams }) {
  const found = new Map();
  for (const { readers, queued } of streams) {
    for (const node of readers) found.set(node, Math.max(found.get(node) ?? 0, queued));
  }
  return found;
}
