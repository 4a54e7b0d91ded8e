// The picture of the graph, with numbers at its nodes and streams.
import { byId, make, makeSvg, say } from "./elements.js";
import { withoutStyle } from "./theme.js";
import { request } from "./connection.js";
import { digits, queue, rate, seconds, share } from "./words.js";

const SMALLEST_AT_FIRST = 0.7;
const LONG_CALL_S = 1;

export class Picture {
  constructor(onChosen) {
    this.onChosen = onChosen;
    this.items = new Map(); // "node NAME" or "stream NAME" → Item, in the order of the picture
    this.svg = null;
    this.size = 1;
    this.marked = new Set();
    byId("smaller").addEventListener("click", () => this.resize(this.size / 1.25));
    byId("larger").addEventListener("click", () => this.resize(this.size * 1.25));
    byId("fit").addEventListener("click", () => this.resize(this.fitting()));
  }

  // Returns whether there is a picture now. There is none where the server is gone.
  async load() {
    const answer = await request("/graph.svg");
    if (answer === null) return false;
    const { ok, text } = answer;
    if (!ok) {
      byId("picture").replaceChildren(make("p", {}, `There is no picture: ${text.trim()}. The tables below have all numbers.`));
      return false;
    }
    const parsed = new DOMParser().parseFromString(withoutStyle(text), "image/svg+xml").documentElement;
    this.svg = document.importNode(parsed, true);
    this.svg.setAttribute("role", "group");
    byId("picture").replaceChildren(this.svg);
    this.natural = this.svg.viewBox.baseVal.width;
    this.find();
    this.resize(Math.max(SMALLEST_AT_FIRST, this.fitting()));
    return true;
  }

  find() {
    const edges = new Map();
    for (const line of this.svg.querySelectorAll(".pk-edge[data-stream]")) {
      const name = line.dataset.stream;
      edges.set(name, [...(edges.get(name) ?? []), line]);
    }
    const found = new Map();
    for (const group of this.svg.querySelectorAll("[data-node], [data-stream]:not(.pk-edge)")) {
      const kind = group.dataset.node === undefined ? "stream" : "node";
      const key = `${kind} ${group.dataset[kind]}`;
      // a stream that leaves the graph has a second label, at its output
      if (!found.has(key)) found.set(key, { kind, name: group.dataset[kind], group });
    }
    // all are measured before any is changed: a browser then lays the picture out once
    for (const one of found.values()) one.box = one.group.getBBox();
    for (const [key, one] of found) this.items.set(key, new Item(one, edges.get(one.name) ?? []));
    const [first] = this.items.values();
    first?.group.setAttribute("tabindex", "0");
    this.svg.addEventListener("click", (event) => this.choose(event.target));
    this.svg.addEventListener("keydown", (event) => this.press(event));
    this.svg.addEventListener("focusin", (event) => this.rove(event.target));
  }

  update(reading) {
    if (this.svg === null) return;
    const throttled = new Set(reading.throttled);
    for (const node of reading.nodes) this.items.get(`node ${node.name}`)?.showNode(node, throttled.has(node.name));
    for (const stream of reading.streams) this.items.get(`stream ${stream.name}`)?.showStream(stream);
  }

  // Marks what a stall comes from, by an outline and by words.
  mark(culprits) {
    if (this.svg === null) return;
    const keys = new Set(culprits.map((one) => (one.node ? `node ${one.node}` : `stream ${one.stream}`)));
    for (const key of this.marked) if (!keys.has(key)) this.items.get(key)?.unmark();
    for (const key of keys) {
      if (this.marked.has(key)) continue;
      const item = this.items.get(key);
      item?.mark();
      if (this.marked.size === 0 && item) this.center(item.group);
    }
    this.marked = keys;
  }

  // Scrolls the picture so that its middle has an element. The page stays where its reader looks.
  center(group) {
    const room = byId("picture").getBoundingClientRect();
    const at = group.getBoundingClientRect();
    byId("picture").scrollBy(at.x + at.width / 2 - room.x - room.width / 2, at.y + at.height / 2 - room.y - room.height / 2);
  }

  focus(key) {
    this.items.get(key)?.group.focus();
  }

  fitting() {
    return Math.min(1, (byId("picture").clientWidth - 2) / this.natural);
  }

  resize(size) {
    if (this.svg === null) return;
    this.size = Math.min(3, Math.max(0.1, size));
    this.svg.setAttribute("width", this.natural * this.size);
    this.svg.setAttribute("height", this.svg.viewBox.baseVal.height * this.size);
  }

  itemOf(element) {
    const group = element.closest("[data-node], [data-stream]");
    if (group === null) return null;
    const kind = group.dataset.node === undefined ? "stream" : "node";
    return this.items.get(`${kind} ${group.dataset[kind]}`) ?? null;
  }

  choose(element) {
    const item = this.itemOf(element);
    if (item !== null) this.onChosen(item.kind, item.name);
  }

  // Of all nodes and streams one can be reached by Tab: the one that was reached last.
  rove(element) {
    const item = this.itemOf(element);
    if (item === null) return;
    for (const old of this.svg.querySelectorAll("[tabindex='0']")) old.setAttribute("tabindex", "-1");
    item.group.setAttribute("tabindex", "0");
  }

  press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const item = this.itemOf(event.target);
    const all = [...this.items.values()];
    let next = null;
    if (event.key === "Enter" || event.key === " ") this.choose(event.target);
    else if (event.key === "Home") next = all[0];
    else if (event.key === "End") next = all.at(-1);
    else if (event.key in DIRECTIONS && item !== null) next = nearest(item, all, DIRECTIONS[event.key]);
    else return;
    event.preventDefault();
    next?.group.focus();
  }
}

const DIRECTIONS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

// The nearest item in a direction; what lies aside counts as three times as far.
function nearest(from, items, [dx, dy]) {
  let found = null;
  let least = Infinity;
  for (const item of items) {
    const x = item.x - from.x;
    const y = item.y - from.y;
    const along = x * dx + y * dy;
    const distance = along + 3 * Math.abs(x * dy - y * dx);
    if (item !== from && along > 0.5 && distance < least) [found, least] = [item, distance];
  }
  return found;
}

// A node or a stream in the picture.
class Item {
  constructor({ kind, name, group, box }, edges) {
    Object.assign(this, { kind, name, group, edges });
    this.x = box.x + box.width / 2;
    this.y = box.y + box.height / 2;
    this.notes = [...group.querySelectorAll(".pk-note")];
    for (const note of this.notes) note.textContent = "";
    this.frame = makeSvg("rect", { class: "live-frame", x: box.x - 5, y: box.y - 5, width: box.width + 10, height: box.height + 10, rx: 8 });
    if (group.classList.contains("pk-label")) {
      // lines end at the edge of the room for the numbers: it is shown
      group.prepend(makeSvg("rect", { class: "live-plate", x: box.x - 2, y: box.y - 1, width: box.width + 4, height: box.height + 3, rx: 4 }));
    }
    group.prepend(this.frame);
    const inset = group.querySelector(".pk-pill") ? 14 : 0; // its corners are round
    const bottom = box.y + box.height + (kind === "node" || inset ? -4 : 0);
    this.width = box.width - 2 * inset;
    this.bar = makeSvg("rect", { class: "live-bar", x: box.x + inset, y: bottom, width: 0, height: 3, rx: 1.5 });
    group.append(this.bar);
    group.setAttribute("tabindex", "-1");
    group.setAttribute("role", "button");
    this.label = name;
    this.badge = null;
  }

  showNode(node, isThrottled) {
    const busy = node.busy === null ? "" : `, ${share(node.busy)} busy`;
    const first = `${digits(node.steps_per_s)} steps/s${busy}`;
    let second = node.place;
    if (node.running_s >= LONG_CALL_S) second = `in a call for ${seconds(node.running_s)}`;
    else if (isThrottled) second ||= "waits for a full queue";
    else if (node.state !== "opened") second ||= node.state;
    this.notes.forEach((note, i) => say(note, [first, second][i] ?? ""));
    this.fill(node.busy ?? 0);
    this.group.classList.toggle("is-idle", node.steps_per_s === 0);
    this.nameAs(`node ${node.name}, ${node.calculator}, ${node.state}${node.place && `, ${node.place}`}`);
  }

  showStream(stream) {
    const last = stream.dropped ? `${stream.dropped} dropped` : stream.age_s === null ? "none yet" : seconds(stream.age_s);
    this.notes.forEach((note) => say(note, `${queue(stream)}, ${rate(stream.per_s)}, ${last}`));
    this.fill(stream.limit ? stream.queued / stream.limit : 0);
    for (const line of this.edges) line.classList.toggle("is-flowing", stream.per_s > 0);
    this.group.classList.toggle("is-idle", stream.per_s === 0);
    this.group.classList.toggle("is-full", stream.limit !== null && stream.queued >= stream.limit);
    this.nameAs(`stream ${stream.name}`);
  }

  // The name has no number that changes: a screen reader would read it again and again.
  nameAs(label) {
    this.label = label;
    const said = this.badge === null ? label : `${label}, culprit`;
    if (this.group.getAttribute("aria-label") !== said) this.group.setAttribute("aria-label", said);
  }

  fill(part) {
    const width = (Math.min(1, part) * this.width).toFixed(1);
    if (this.bar.getAttribute("width") !== width) this.bar.setAttribute("width", width);
  }

  mark() {
    this.group.classList.add("is-culprit");
    this.badge = makeSvg("text", { class: "live-badge", x: this.frame.x.baseVal.value, y: this.frame.y.baseVal.value - 4 }, "⚠ culprit");
    this.group.append(this.badge);
    this.nameAs(this.label);
  }

  unmark() {
    this.group.classList.remove("is-culprit");
    this.badge?.remove();
    this.badge = null;
    this.nameAs(this.label);
  }
}
