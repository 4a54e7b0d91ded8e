// All that is known of one node, stream or subgraph: its numbers, and of a node its options, errors, log and the page
// of its calculator.
import { byId, make, say, show } from "./elements.js";
import { request } from "./connection.js";
import { dropsOfNode, dropsOfStream } from "./drops.js";
import { boundWords, busyWords, bytes, digits, queue, rate, seconds, stateWords, withBriefTimes } from "./words.js";

const LOG_AGAIN_MS = 5000;
const LONGEST_LOG = 20;
const WORDS = { node: "Node", stream: "Stream", group: "Subgraph" };

export class Details {
  // `actions` has showStream(name), toggle(name), isOpen(name), eventsOf(name), choose(kind, name), closed(kind, name), and
  // escaped(), for Escape while nothing is open.
  constructor(actions) {
    this.actions = actions;
    this.chosen = null;
    this.rows = new Map();
    this.timer = 0;
    this.isPaused = false;
    byId("close-details").addEventListener("click", () => this.close());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || isUsed(event.target)) return;
      if (this.chosen === null) actions.escaped();
      else this.close();
    });
    byId("show-stream").addEventListener("click", () => {
      const { name } = this.chosen;
      this.close(); // they lie over it
      actions.showStream(name);
    });
    byId("toggle-group").addEventListener("click", () => actions.toggle(this.chosen.name));
  }

  open(kind, name, reading) {
    this.chosen = { kind, name };
    this.rows.clear();
    byId("details-list").replaceChildren();
    byId("about").replaceChildren();
    byId("about-first").replaceChildren();
    byId("details").dataset.kind = kind;
    byId("details-heading").textContent = `${WORDS[kind]} ${name}`;
    show(byId("details"), true);
    show(byId("show-stream"), kind === "stream");
    show(byId("toggle-group"), kind === "group");
    this.update(reading);
    byId("details-room").scrollTo(0, 0);
    byId("details-heading").focus({ preventScroll: true });
    clearTimeout(this.timer);
    if (kind === "node") this.load(this.chosen);
  }

  close() {
    if (this.chosen === null) return;
    const { kind, name } = this.chosen;
    this.chosen = null;
    clearTimeout(this.timer);
    show(byId("details"), false);
    this.actions.closed(kind, name);
  }

  update(reading) {
    if (this.chosen === null || reading === null) return;
    const { kind, name } = this.chosen;
    if (kind === "group") say(byId("toggle-group"), this.actions.isOpen(name) ? "Close the subgraph" : "Open the subgraph");
    for (const [term, text] of Object.entries(this.factsOf(kind, name, reading))) {
      if (!this.rows.has(term)) {
        const description = make("dd");
        this.rows.set(term, description);
        byId("details-list").append(make("dt", {}, term), description);
      }
      say(this.rows.get(term), text);
    }
  }

  factsOf(kind, name, reading) {
    const facts = factsOf(kind, name, reading);
    if (kind === "node" && facts.state?.startsWith("lost")) facts.state += this.whyLost(name);
    return facts;
  }

  whyLost(name) {
    const outage = this.actions.eventsOf(name).findLast((one) => one.kind === "outage");
    return outage?.words ? `: ${outage.words}` : "";
  }

  // Asks for what is not in the readings, and again for the log while the details are open.
  async load(chosen) {
    const answer = await request("/node", [["name", chosen.name]]);
    if (this.chosen !== chosen) return;
    if (answer?.ok) this.tell(JSON.parse(answer.text), chosen.name);
    else if (answer !== null && !byId("about").children.length) byId("about").append(make("p", { class: "hint" }, answer.text.trim()));
    this.timer = setTimeout(() => this.again(chosen), LOG_AGAIN_MS);
  }

  again(chosen) {
    if (document.hidden || this.isPaused) this.timer = setTimeout(() => this.again(chosen), LOG_AGAIN_MS);
    else this.load(chosen);
  }

  tell(page, name) {
    const errors = page.errors.map((one) => `${timeOf(one.at_s)} ${withBriefTimes(one.words)}`).reverse();
    if (page.error_count > 1) errors.unshift(`${page.error_count.toLocaleString("en")} in all, the newest first:`);
    const log = page.log.slice(-LONGEST_LOG).reverse();
    const lists = [
      ["errors", "Last errors", errors, "This node has had no error."],
      ["log", "Log", log.map((one) => `${timeOf(one.at_s)} ${one.level}: ${withBriefTimes(one.words)}`), "No log line names this node. The application chooses what is logged."],
    ];
    if (!byId("about").children.length) this.begin(page, lists);
    for (const [id, , lines, none] of lists) {
      const text = lines.join("\n") || none;
      say(byId(`about-${id}`), text);
    }
    // what has failed is read first
    const part = byId("about-errors").parentElement;
    const place = byId(errors.length ? "about-first" : "about");
    if (part.parentElement !== place) place.prepend(part);
  }

  begin(page, lists) {
    const parts = lists.map(([id, heading]) => make("div", {}, make("h3", {}, heading), make("pre", { id: `about-${id}` })));
    const from = page.distribution ? `, from ${page.distribution}` : "";
    const calculator = make("div", { id: "about-calculator" }, make("h3", {}, `${page.calculator}${from}`), make("p", {}, page.unknown ?? page.summary));
    if (page.ports?.length) calculator.append(make("pre", {}, page.ports.join("\n")));
    if (page.body) calculator.append(make("details", {}, make("summary", {}, "More"), make("pre", {}, page.body)));
    const config = make("div", {}, make("h3", {}, "In the graph file, with its options"), make("pre", { id: "about-config" }, page.config));
    byId("about").replaceChildren(...parts, config, calculator);
  }
}

// Whether Escape has another meaning there: it closes a dialog, and empties a field.
function isUsed(target) {
  return target.closest("dialog") !== null || (target instanceof HTMLInputElement && target.value !== "");
}

function timeOf(epochS) {
  return new Date(1000 * epochS).toLocaleTimeString("en-GB");
}

function factsOf(kind, name, reading) {
  if (kind === "group") return ofGroup(reading.nodes.filter((one) => one.name.startsWith(`${name}__`)));
  const found = reading[`${kind}s`].find((one) => one.name === name);
  return found === undefined ? { "": "not in this run" } : kind === "node" ? ofNode(found, reading) : ofStream(found);
}

function ofNode(node, reading) {
  return {
    calculator: node.calculator,
    state: stateWords(node),
    "steps": `${node.steps.toLocaleString("en")}, ${digits(node.steps_per_s)} per second`,
    busy: node.busy === null ? "the run is not timed" : busyWords(node.busy),
    "calls under way": node.running ? `${node.running}, the first for ${seconds(node.running_s)}` : "none",
    "calls that wait for a thread": String(node.ready),
    executor: node.executor || "the default one",
    place: node.place || "this process",
    "waits for": withBriefTimes(node.waits_for) || "nothing",
    dropped: dropsOfNode(reading, node.name) || "none",
  };
}

function ofStream(stream) {
  return {
    "written by": stream.writer || "the application",
    "read by": stream.readers.join(", ") || "no node",
    packets: `${stream.packets.toLocaleString("en")}, ${rate(stream.per_s)}`,
    "in the queue": `${queue(stream)}, ${bytes(stream.queued_bytes)}`,
    "age of the newest": stream.age_s === null ? "there was none" : seconds(stream.age_s),
    bound: boundWords(stream.bound),
    dropped: dropsOfStream(stream),
  };
}

function ofGroup(nodes) {
  if (!nodes.length) return { "": "not in this run" };
  const byBusy = [...nodes].sort((a, b) => (b.busy ?? 0) - (a.busy ?? 0));
  const isTimed = nodes.some((one) => one.busy !== null);
  return {
    nodes: String(nodes.length),
    steps: nodes.reduce((sum, one) => sum + one.steps, 0).toLocaleString("en"),
    busiest: isTimed ? byBusy.slice(0, 5).map((one) => `${one.name.split("__").at(-1)} ${busyWords(one.busy ?? 0)}`).join(", ") : "the run is not timed",
    "calls under way": String(nodes.reduce((sum, one) => sum + one.running, 0)),
  };
}
