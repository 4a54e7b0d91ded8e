// A node, a stream or a subgraph in the picture, with its numbers.
import { makeSvg, say } from "./elements.js";
import { Sparks } from "./sparks.js";
import { busyWords, digits, queue, rate, seconds, wholeSeconds } from "./words.js";

const LONG_CALL_S = 1;
const NOTES = 2; // further notes of a node are room for its lines over time

export class Item {
  constructor({ kind, name, group, box, isFrame }, edges, onToggle) {
    Object.assign(this, { kind, name, group, edges, isFrame });
    this.label = name;
    this.marks = new Set(); // "culprit", "failed", "lost"
    this.badge = null;
    this.x = box.x + (isFrame ? 20 : box.width / 2);
    this.y = box.y + (isFrame ? 10 : box.height / 2);
    this.notes = [...group.querySelectorAll(".pk-note")];
    for (const note of this.notes) note.textContent = "";
    this.sparks = isFrame || kind === "stream" ? null : this.roomForLines(box);
    this.frame = makeSvg("rect", { class: "live-frame", x: box.x - 5, y: box.y - 5, width: box.width + 10, height: box.height + 10, rx: 8 });
    if (group.classList.contains("pk-label")) {
      // lines end at the edge of the room for the numbers: it is shown
      group.prepend(makeSvg("rect", { class: "live-plate", x: box.x - 2, y: box.y - 1, width: box.width + 4, height: box.height + 3, rx: 4 }));
    }
    group.prepend(this.frame);
    const inset = group.querySelector(".pk-pill") ? 14 : 0; // its corners are round
    const bottom = box.y + box.height + (kind === "stream" && !inset ? 0 : -4);
    this.width = box.width - 2 * inset;
    this.bar = makeSvg("rect", { class: "live-bar", x: box.x + inset, y: bottom, width: 0, height: 3, rx: 1.5 });
    if (!isFrame) group.append(this.bar);
    if (kind === "group") this.addToggle(box, onToggle);
    group.setAttribute("tabindex", "-1");
    group.setAttribute("role", "button");
  }

  roomForLines(box) {
    const spare = this.notes.splice(NOTES);
    if (!spare.length) return null;
    const y = spare[0].y.baseVal.getItem(0).value - 9;
    for (const note of spare) note.remove();
    return new Sparks(this.group, { x: box.x + 8, y, width: box.width - 16 });
  }

  // A mark to click on: the keyboard has + and −, and the details have a button.
  addToggle(box, onToggle) {
    const [x, y] = this.isFrame ? [box.x + box.width - 20, box.y + 17] : [box.x + 7, box.y + 40];
    const mark = makeSvg("text", { class: "live-toggle", x, y, "aria-hidden": "true" }, this.isFrame ? "⊟" : "⊞");
    mark.append(makeSvg("title", {}, this.isFrame ? "Close the subgraph" : "Open the subgraph"));
    mark.addEventListener("click", (event) => {
      event.stopPropagation();
      onToggle(this.name);
    });
    this.group.append(mark);
    this.nameAs(`subgraph ${this.name}, ${this.isFrame ? "open" : "closed"}`);
  }

  // `dropped` is how many packets or input sets it has dropped.
  showNode(node, isThrottled, series, hasFailures, dropped) {
    const busy = node.busy === null ? "" : `, ${busyWords(node.busy)}`;
    const first = `${digits(node.steps_per_s)} steps/s${busy}`;
    let second = node.place;
    if (this.marks.has("failed")) second = node.state === "failed in open" ? node.state : "failed";
    else if (node.lost_s !== null) second = `⚠ lost for ${wholeSeconds(node.lost_s)}`;
    else if (node.running_s >= LONG_CALL_S) second = `in a call for ${seconds(node.running_s)}`;
    else if (isThrottled) second ||= "waits: a queue is full";
    else if (hasFailures) second ||= "⚠ failures";
    else if (dropped) second = `${dropped.toLocaleString("en")} dropped`;
    else if (node.state !== "opened") second ||= node.state;
    this.tell([first, second], node.busy ?? 0, node.steps_per_s === 0, series);
    this.nameAs(`node ${node.name}, ${node.calculator}, ${node.state}${node.place && `, ${node.place}`}`);
  }

  // Of a closed subgraph: how much its nodes do, and which of them does most.
  showGroup(nodes, series) {
    const busiest = nodes.reduce((a, b) => ((b.busy ?? 0) > (a.busy ?? 0) ? b : a), nodes[0]);
    const most = Math.max(...nodes.map((one) => one.steps_per_s));
    const places = new Set(nodes.map((one) => one.place).filter(Boolean));
    const second = busiest.busy ? `${busiest.name.split("__").at(-1).slice(0, 18)}: ${busyWords(busiest.busy)}` : [...places][0] ?? "";
    this.tell([`${nodes.length} nodes, ${rate(most)}`, second], busiest.busy ?? 0, most === 0, series);
    this.nameAs(`subgraph ${this.name}, closed, ${nodes.length} nodes`);
  }

  tell(words, part, isIdle, series) {
    this.notes.forEach((note, i) => say(note, words[i] ?? ""));
    this.fill(part);
    this.group.classList.toggle("is-idle", isIdle);
    if (series !== null) this.sparks?.draw(series);
  }

  showStream(stream) {
    const dropped = stream.dropped_at[stream.writer]; // what its readers drop is told at these
    const count = dropped === undefined ? 0 : Object.values(dropped).reduce((a, b) => a + b, 0);
    const last = count ? `${count.toLocaleString("en")} dropped` : stream.age_s === null ? "none yet" : seconds(stream.age_s);
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
    const said = [label, ...this.marks].join(", ");
    if (this.group.getAttribute("aria-label") !== said) this.group.setAttribute("aria-label", said);
  }

  fill(part) {
    const width = (Math.min(1, part) * this.width).toFixed(1);
    if (this.bar.getAttribute("width") !== width) this.bar.setAttribute("width", width);
  }

  // Marks it as a culprit, or as failed, by an outline and by words; or takes the mark away.
  mark(word, isMarked) {
    if (this.marks.has(word) === isMarked) return;
    if (isMarked) this.marks.add(word);
    else this.marks.delete(word);
    this.group.classList.toggle(`is-${word}`, isMarked);
    this.badge?.remove();
    this.badge = null;
    const words = [...this.marks].filter((one) => one !== "lost"); // which the node itself says, with the time
    if (words.length) {
      this.badge = makeSvg("text", { class: "live-badge", x: this.frame.x.baseVal.value, y: this.frame.y.baseVal.value - 4 }, `⚠ ${words.join(", ")}`);
      this.group.append(this.badge);
    }
    this.nameAs(this.label);
  }
}
