// Packets that were dropped, by the node that has dropped them.

const SKIPPED = "skipped: "; // a failure policy has skipped an input set: its packets are on several streams

// Returns { node, streams, reason, count, isSets } for each node and reason; `node` is "" for a graph input. Where input
// sets were skipped, `count` is how many of them, else how many packets of the one stream.
export function drops(reading) {
  const found = new Map();
  for (const stream of reading.streams) {
    for (const [node, reasons] of Object.entries(stream.dropped_at)) {
      for (const [reason, count] of Object.entries(reasons)) {
        const isSets = reason.startsWith(SKIPPED);
        const key = JSON.stringify([node, reason, isSets ? "" : stream.name]);
        const one = found.get(key) ?? { key, node, streams: [], reason, count: 0, isSets };
        one.streams.push(stream.name);
        one.count = Math.max(one.count, count);
        found.set(key, one);
      }
    }
  }
  return [...found.values()];
}

// Returns node → how many packets or input sets it has dropped.
export function countsByNode(reading) {
  const counts = new Map();
  for (const one of drops(reading)) counts.set(one.node, (counts.get(one.node) ?? 0) + one.count);
  return counts;
}

export function countWords({ count, isSets }) {
  return `${count.toLocaleString("en")}${isSets ? (count === 1 ? " input set" : " input sets") : ""}`;
}

// What a node has dropped, in a line.
export function dropsOfNode(reading, name) {
  return drops(reading)
    .filter((one) => one.node === name)
    .map((one) => `${countWords(one)} of ${one.streams.join(", ")}: ${one.reason}`)
    .join("; ");
}

// What was dropped of a stream, in a line: how many, why and where.
export function dropsOfStream(stream) {
  const at = Object.entries(stream.dropped_at).flatMap(([node, reasons]) => Object.entries(reasons).map(([reason, count]) => ({ node, reason, count })));
  return at.map(({ node, reason, count }) => `${count.toLocaleString("en")} at ${node || "the graph input"}: ${reason}`).join("; ") || "none";
}
