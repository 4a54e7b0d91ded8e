// All that is known of one node or stream.
import { byId, make, say, show } from "./elements.js";
import { bytes, digits, queue, rate, reasons, seconds, share } from "./words.js";

export class Details {
  constructor(onShowStream, onClosed) {
    this.chosen = null;
    this.rows = new Map();
    this.onClosed = onClosed;
    byId("close-details").addEventListener("click", () => this.close());
    byId("details").addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    byId("show-stream").addEventListener("click", () => onShowStream(this.chosen.name));
  }

  open(kind, name, reading) {
    this.chosen = { kind, name };
    this.rows.clear();
    byId("details-list").replaceChildren();
    byId("details-heading").textContent = `${kind === "node" ? "Node" : "Stream"} ${name}`;
    show(byId("details"), true);
    show(byId("show-stream"), kind === "stream");
    this.update(reading);
    byId("details-heading").focus();
  }

  close() {
    const { kind, name } = this.chosen;
    this.chosen = null;
    show(byId("details"), false);
    this.onClosed(kind, name);
  }

  update(reading) {
    if (this.chosen === null || reading === null) return;
    const { kind, name } = this.chosen;
    const found = reading[`${kind}s`].find((one) => one.name === name);
    const facts = found === undefined ? { "": "not in this run" } : kind === "node" ? ofNode(found) : ofStream(found);
    for (const [term, text] of Object.entries(facts)) {
      if (!this.rows.has(term)) {
        const description = make("dd");
        this.rows.set(term, description);
        byId("details-list").append(make("dt", {}, term), description);
      }
      say(this.rows.get(term), text);
    }
  }
}

function ofNode(node) {
  return {
    calculator: node.calculator,
    state: node.state,
    "steps": `${node.steps.toLocaleString("en")}, ${digits(node.steps_per_s)} per second`,
    busy: node.busy === null ? "the run is not timed" : share(node.busy),
    "calls under way": node.running ? `${node.running}, the first for ${seconds(node.running_s)}` : "none",
    "calls that wait for a thread": String(node.ready),
    executor: node.executor || "the default one",
    place: node.place || "this process",
    "waits for": node.waits_for || "nothing",
  };
}

function ofStream(stream) {
  return {
    "written by": stream.writer || "the application",
    "read by": stream.readers.join(", ") || "no node",
    packets: `${stream.packets.toLocaleString("en")}, ${rate(stream.per_s)}`,
    "in the queue": `${queue(stream)}, ${bytes(stream.queued_bytes)}`,
    "age of the newest": stream.age_s === null ? "there was none" : seconds(stream.age_s),
    bound: stream.bound,
    dropped: stream.dropped ? `${stream.dropped.toLocaleString("en")}: ${reasons(stream)}` : "none",
  };
}
