// What holds a graph up: the queues before nodes, and the busiest node.

export const BUSY = 0.9; // so busy is a node that others wait for
const UNTIL = 0.8; // and it stays the busiest until it has this much rest
const LEAD = 0.05; // another one is busier only by so much: numbers waver

export class Bottleneck {
  constructor() {
    this.name = "";
  }

  // Returns the node that is busy nearly all the time, and null where none is, or the run is not timed.
  of({ nodes, state }) {
    if (state !== "running") return this.found(null);
    let most = null;
    for (const one of nodes) if (one.busy !== null && one.busy > (most?.busy ?? 0)) most = one;
    const before = nodes.find((one) => one.name === this.name) ?? null;
    if (before !== null && before.busy >= UNTIL && most.busy < before.busy + LEAD) return before;
    return this.found(most !== null && most.busy >= BUSY ? most : null);
  }

  found(node) {
    this.name = node?.name ?? "";
    return node;
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
