// The same numbers as tables: for screen readers, for graphs without a picture, and to find something.
import { byId, make, say, show } from "./elements.js";
import { countWords, drops, dropsOfStream } from "./drops.js";
import { boundWords, busyWords, digits, milliseconds, queue, rate, seconds, stateWords, withoutBounds } from "./words.js";

const OPEN_UP_TO = 60;

const NODES = {
  node: (one) => one.name,
  calculator: (one) => one.calculator,
  state: stateWords,
  "steps/s": (one) => digits(one.steps_per_s),
  busy: (one) => (one.busy === null ? "–" : busyWords(one.busy).replace(" busy", "")),
  steps: (one) => one.steps.toLocaleString("en"),
  place: (one) => one.place || one.executor || "this process",
  "waits for": (one) => withoutBounds(one.waits_for),
};
const STREAMS = {
  stream: (one) => one.name,
  "written by": (one) => one.writer || "the application",
  "packets/s": (one) => rate(one.per_s),
  queue: queue,
  packets: (one) => one.packets.toLocaleString("en"),
  age: (one) => (one.age_s === null ? "–" : seconds(one.age_s)),
  dropped: (one) => (one.dropped ? dropsOfStream(one) : "0"),
  bound: (one) => boundWords(one.bound),
};
const LATENCIES = {
  "at": (one) => one.stream,
  median: (one) => milliseconds(one.median_ms),
  p99: (one) => milliseconds(one.p99_ms),
  worst: (one) => milliseconds(one.worst_ms),
  last: (one) => milliseconds(one.last_ms),
  samples: (one) => one.count.toLocaleString("en"),
};
const DROPS = {
  "dropped by": (one) => one.node || "the graph input",
  stream: (one) => one.streams.join(", "),
  reason: (one) => one.reason,
  packets: countWords,
};
// On a phone these are left out: the details of a row have them.
const MINOR = new Set(["calculator", "place", "waits for", "written by", "packets", "bound", "worst", "samples"]);
const NUMBERS = new Set(["steps/s", "busy", "steps", "packets/s", "queue", "packets", "age", "median", "p99", "worst", "last", "samples"]);

// A table whose rows are found by the first column. `onChosen(name)` makes buttons of that column.
class Table {
  constructor(place, caption, columns, empty, onChosen = null) {
    Object.assign(this, { columns, onChosen });
    this.rows = new Map();
    this.body = make("tbody");
    const heads = Object.keys(columns).map((head) => make("th", { scope: "col", class: classOf(head) }, head));
    this.table = make("table", {}, make("caption", { class: "hidden" }, caption), make("thead", {}, make("tr", {}, ...heads)), this.body);
    this.empty = make("p", {}, empty);
    place.replaceChildren(this.table, this.empty);
  }

  update(items, keyOf) {
    const keys = new Set();
    for (const item of items) {
      const key = keyOf(item);
      keys.add(key);
      const cells = this.rows.get(key) ?? this.add(key, item);
      Object.values(this.columns).forEach((text, i) => say(cells[i], text(item)));
    }
    for (const [key, cells] of this.rows) {
      if (keys.has(key)) continue;
      cells[0].closest("tr").remove();
      this.rows.delete(key);
    }
    show(this.table, keys.size > 0);
    show(this.empty, keys.size === 0);
  }

  add(key, item) {
    const cells = Object.keys(this.columns).map((head, i) => this.cell(head, i, item));
    this.body.append(make("tr", {}, ...cells.map((cell) => cell.closest("th, td"))));
    this.rows.set(key, cells);
    return cells;
  }

  // Returns the element that holds the text.
  cell(head, i, item) {
    if (i > 0) return make("td", { class: classOf(head) });
    const holder = make("th", { scope: "row" });
    if (this.onChosen === null) return holder;
    const button = make("button", { type: "button", class: "link" });
    button.addEventListener("click", () => this.onChosen(item.name ?? item.node));
    holder.append(button);
    return button;
  }

  // `names` is null for all rows.
  filter(names) {
    for (const [key, cells] of this.rows) show(cells[0].closest("tr"), names === null || names.has(key));
  }
}

function classOf(head) {
  return [NUMBERS.has(head) && "number", MINOR.has(head) && "minor"].filter(Boolean).join(" ");
}

export class Tables {
  constructor(onChosen) {
    this.nodes = new Table(byId("nodes"), "Nodes", NODES, "There are no nodes.", (name) => onChosen("node", name));
    this.streams = new Table(byId("streams"), "Streams", STREAMS, "There are no streams.", (name) => onChosen("stream", name));
    this.latencies = new Table(byId("latency"), "Latency to each output", LATENCIES, "No timestamp was sampled yet.");
    this.drops = new Table(byId("drop-table"), "Dropped packets", DROPS, "None.", (name) => name && onChosen("node", name));
    this.isNew = true;
    this.reading = null;
    for (const id of ["node-details", "stream-details"]) byId(id).addEventListener("toggle", () => this.reading !== null && this.update(this.reading));
    this.wanted = null; // what is looked for, as { kind, name }
  }

  update(reading) {
    this.reading = reading;
    if (this.isNew) {
      this.isNew = false;
      const isSmall = reading.nodes.length <= OPEN_UP_TO && !matchMedia("(max-width: 60rem)").matches; // a phone is long enough
      byId("node-details").open = byId("stream-details").open = isSmall;
    }
    // what is folded is not written
    if (byId("node-details").open) this.nodes.update(reading.nodes, (one) => one.name);
    if (byId("stream-details").open) this.streams.update(reading.streams, (one) => one.name);
    this.latencies.update(reading.latencies, (one) => one.stream);
    say(this.latencies.empty, reading.state === "over" ? "No timestamp was sampled." : "No timestamp was sampled yet.");
    const dropped = drops(reading);
    this.drops.update(dropped, (one) => one.key);
    show(byId("drops"), dropped.length > 0);
    if (this.wanted !== null) this.filter();
  }

  // Shows the rows of what is looked for; null for all.
  find(things) {
    const isNew = this.wanted === null && things !== null;
    this.wanted = things;
    if (isNew) byId("node-details").open = byId("stream-details").open = true;
    this.filter();
  }

  filter() {
    const named = (kind) => this.wanted && new Set(this.wanted.filter((one) => one.kind === kind).map((one) => one.name));
    this.nodes.filter(named("node"));
    this.streams.filter(named("stream"));
  }
}
