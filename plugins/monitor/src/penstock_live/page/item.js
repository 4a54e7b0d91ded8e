// A node, a stream or a subgraph in the picture, with its numbers.
import { makeSvg, say } from "./elements.js";
import { BUSY } from "./bottleneck.js";
import { Sparks } from "./sparks.js";
import { busyWords, digits, milliseconds, plural, queueWords, rate, seconds, wholeSeconds } from "./words.js";

const LONG_CALL_S = 1;
const NOTES = 2; // further notes of a node are room for its lines over time
const MARGIN = 5; // left and right of words in a box
const LETTER = 0.58; // how wide a letter is, of its size
const BOLD_LETTER = 0.72;
// How a box is filled, by how large the picture is: sizes of letters, and where their lines are, from the top of a box
// that is 88 high. Of a small picture one reads names alone.
const LEVELS = {
  names: { name: [29, 49], notes: [[19, 52], [19, 75]], sparks: null, stream: [20, null], bar: 9 },
  short: { name: [18, 22], notes: [[14.5, 41], [14, 57]], sparks: 63, stream: [12.5, 12.5], bar: 5 },
  full: { name: [14, 19], notes: [[11.5, 34], [11, 48]], sparks: 54, stream: [11, 11], bar: 4 },
};

export class Item {
  constructor({ kind, name, group, box, isFrame }, edges, onToggle) {
    Object.assign(this, { kind, name, group, edges, isFrame, box });
    this.label = name;
    this.marks = new Set(); // "culprit", "failed", "lost", "busiest"
    this.explain = () => name; // in sentences, to who points at it
    this.x = box.x + (isFrame ? 20 : box.width / 2);
    this.y = box.y + (isFrame ? 10 : box.height / 2);
    this.title = group.querySelector(".pk-name, .pk-stream");
    this.notes = [...group.querySelectorAll(".pk-note")];
    for (const note of this.notes) note.textContent = "";
    this.sizes = new Map(); // text → what it was made to fit: so many letters
    this.isPill = group.querySelector(".pk-pill") !== null;
    this.sparks = isFrame || kind === "stream" ? null : this.roomForLines(box);
    this.frame = makeSvg("rect", { class: "live-frame", x: box.x - 5, y: box.y - 5, width: box.width + 10, height: box.height + 10, rx: 8 });
    if (group.classList.contains("pk-label")) {
      // lines end at the edge of the room for the numbers: it is shown
      group.prepend(makeSvg("rect", { class: "live-plate", x: box.x - 2, y: box.y - 1, width: box.width + 4, height: box.height + 3, rx: 4 }));
    }
    group.prepend(this.frame);
    const inset = this.isPill ? 14 : 0; // its corners are round
    this.bottom = box.y + box.height + (kind === "stream" && !inset ? 3 : -1);
    this.width = box.width - 2 * inset;
    this.bar = makeSvg("rect", { class: "live-bar", x: box.x + inset, y: this.bottom - 3, width: 0, height: 3, rx: 1.5 });
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

  // --- how large its words are --------------------------------------------------------------------

  // `level` is one of LEVELS. Words are as large as their box allows, and no larger than the level says.
  layOut(level) {
    if (this.isFrame) return;
    this.level = LEVELS[level];
    this.sizes.clear();
    const { box } = this;
    if (this.kind === "stream") {
      const [size, noteSize] = this.level.stream;
      const isAlone = noteSize === null || !this.notes.length;
      const edge = this.isPill ? 6 : 0;
      this.put(this.title, size, isAlone ? box.y + box.height / 2 + size * 0.35 : box.y + 10 + edge);
      if (!isAlone) for (const note of this.notes) this.put(note, noteSize, box.y + box.height - 1 - edge);
    } else {
      const part = box.height / 88;
      const { name, notes, sparks } = this.level;
      this.put(this.title, name[0], box.y + name[1] * part);
      this.notes.forEach((note, i) => notes[i] && this.put(note, notes[i][0], box.y + notes[i][1] * part));
      if (sparks !== null) this.sparks?.moveTo(box.y + sparks * part);
    }
    this.bar.setAttribute("height", this.level.bar);
    this.bar.setAttribute("y", this.bottom - this.level.bar);
  }

  put(text, size, y) {
    text.largest = size;
    text.setAttribute("y", y.toFixed(1));
    this.fit(text);
  }

  fit(text) {
    const letters = text.textContent.length;
    if (text.largest === undefined || this.sizes.get(text) === letters) return;
    this.sizes.set(text, letters);
    const letter = text.classList.contains("pk-name") ? BOLD_LETTER : LETTER;
    const fits = (this.box.width - 2 * MARGIN) / (letter * Math.max(1, letters));
    text.style.fontSize = `${Math.min(text.largest, fits).toFixed(1)}px`;
  }

  // --- what it says -------------------------------------------------------------------------------

  // `more`: isOver, isThrottled, queued (in the longest queue before it), series (or null), hasFailures,
  // dropped (packets or input sets that it has dropped).
  showNode(node, { isOver, isThrottled, queued, series, hasFailures, dropped }) {
    const busy = node.busy === null ? "" : `, ${busyWords(node.busy)}`;
    const first = isOver ? `${node.steps.toLocaleString("en")} steps in all` : `${digits(node.steps_per_s)} steps/s${busy}`;
    let second = node.place;
    if (this.marks.has("failed")) second = `⚠ ${node.state === "failed in open" ? node.state : "failed"}`;
    else if (node.lost_s !== null) second = `⚠ lost for ${wholeSeconds(node.lost_s)}`;
    else if (node.running_s >= LONG_CALL_S) second = `in a call for ${seconds(node.running_s)}`;
    else if (hasFailures) second = "⚠ failures";
    else if (isThrottled) second ||= "waits: a queue is full";
    else if (dropped) second = `${dropped.toLocaleString("en")} dropped`;
    else if (node.state !== "opened") second ||= node.state;
    if (this.marks.has("culprit")) second = ["⚠ culprit", second].filter(Boolean).join(", ");
    if (this.marks.has("busiest")) second = ["busiest", second].filter(Boolean).join(", ");
    const ms = callMs(node);
    this.sparks?.tell({ rate: "steps/s", ms: ms === null ? "–" : `${milliseconds(ms)} a call`, queue: `queue ${queued}` });
    this.tell([first, second], isOver ? 0 : node.busy ?? 0, isOver || node.steps_per_s === 0, series);
    this.group.classList.toggle("has-failures", hasFailures);
    this.nameAs(`node ${node.name}, ${node.calculator}, ${node.state}${node.place && `, ${node.place}`}`);
    this.explain = () => isOver ? `${node.name} took ${plural(node.steps, "step")}.` : [
      `${node.name} takes ${digits(node.steps_per_s)} steps a second.`,
      node.busy === null ? "The run is not timed." : `It is ${busyWords(node.busy)}: the share of the last second in its calls.`,
      ms === null ? "" : `A call takes ${milliseconds(ms)}.`,
      `${plural(queued, "packet")} in the longest queue before it.`,
      dropped && `It has dropped ${dropped.toLocaleString("en")}.`,
      "Lines: the last minute.",
    ].filter(Boolean).join(" ");
  }

  // Of a closed subgraph: how much its nodes do, and which of them does most.
  showGroup(nodes, { isOver, queued, series }) {
    const busiest = nodes.reduce((a, b) => ((b.busy ?? 0) > (a.busy ?? 0) ? b : a), nodes[0]);
    const most = Math.max(...nodes.map((one) => one.steps_per_s));
    const places = new Set(nodes.map((one) => one.place).filter(Boolean));
    const second = busiest.busy && !isOver ? `${busiest.name.split("__").at(-1).slice(0, 18)}: ${busyWords(busiest.busy)}` : [...places][0] ?? "";
    const marks = [this.marks.has("failed") && "⚠ failed", this.marks.has("culprit") && "⚠ culprit", this.marks.has("busiest") && "busiest"].filter(Boolean).join(", ");
    const times = nodes.map(callMs).filter((one) => one !== null);
    const ms = times.length ? `${milliseconds(times.reduce((a, b) => a + b))} a call` : "–";
    this.sparks?.tell({ rate: "steps/s", ms, queue: `queue ${queued}` });
    this.tell([isOver ? `${nodes.length} nodes` : `${nodes.length} nodes, ${rate(most)}`, [marks, second].filter(Boolean).join(": ")], isOver ? 0 : busiest.busy ?? 0, most === 0, series);
    this.nameAs(`subgraph ${this.name}, closed, ${nodes.length} nodes`);
    this.explain = () => `${this.name} has ${nodes.length} nodes; the quickest takes ${digits(most)} steps a second. The bar is that of the busiest of them. Lines: the last minute.`;
  }

  tell(words, part, isIdle, series) {
    this.notes.forEach((note, i) => this.note(note, words[i] ?? ""));
    this.fill(part);
    this.group.classList.toggle("is-busy", part >= BUSY);
    this.group.classList.toggle("is-idle", isIdle);
    if (series !== null) this.sparks?.draw(series);
  }

  note(note, text) {
    say(note, text);
    this.fit(note);
  }

  showStream(stream, isOver) {
    const drops = Object.values(stream.dropped_at[stream.writer] ?? {}); // what its readers drop is told at these
    const dropped = drops.length ? `${drops.reduce((a, b) => a + b, 0).toLocaleString("en")} dropped` : "";
    const age = stream.age_s === null ? "none yet" : `last ${seconds(stream.age_s)} ago`;
    const now = [queueWords(stream), dropped || (stream.per_s > 0 ? rate(stream.per_s) : age)];
    const words = isOver ? [plural(stream.packets, "packet"), dropped] : now;
    const mark = this.marks.has("culprit") ? "⚠ culprit" : "";
    this.notes.forEach((note) => this.note(note, [mark, ...words].filter(Boolean).join(", ")));
    this.fill(stream.limit ? stream.queued / stream.limit : 0);
    for (const line of this.edges) line.classList.toggle("is-flowing", stream.per_s > 0 && !isOver);
    this.group.classList.toggle("is-idle", stream.per_s === 0);
    this.group.classList.toggle("is-full", stream.limit !== null && stream.queued >= stream.limit);
    this.nameAs(`stream ${stream.name}`);
    const limit = stream.limit === null ? "" : ` of at most ${stream.limit}`;
    this.explain = () => [
      `${stream.name}: ${plural(stream.queued, "packet")}${limit} in the queue before its reader, ${rate(stream.per_s)}.`,
      stream.age_s === null ? "No packet has passed yet." : `The newest packet passed ${seconds(stream.age_s)} ago.`,
      dropped && `${dropped} so far.`,
      stream.limit === null ? "" : "Bar: how full the queue is.",
      stream.limit !== null && stream.queued > stream.limit && "A full queue stops the sources above; packets that were under way still come.",
    ].filter(Boolean).join(" ");
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

  // Marks it as a culprit, as failed or as the busiest, by an outline and, with its next numbers, by words inside its
  // box: above it are others. Or takes the mark away.
  mark(word, isMarked) {
    if (this.marks.has(word) === isMarked) return;
    if (isMarked) this.marks.add(word);
    else this.marks.delete(word);
    this.group.classList.toggle(`is-${word}`, isMarked);
    this.nameAs(this.label);
  }
}

function callMs({ busy, steps_per_s }) {
  return busy === null || steps_per_s === 0 ? null : (1000 * busy) / steps_per_s;
}
