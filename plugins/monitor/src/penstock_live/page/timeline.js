// What has happened in the run, on a line of time and as a list: drops, stalls, sources that were lost or came back, failures.
import { byId, make, makeSvg, say, show } from "./elements.js";
import { seconds, withSeconds } from "./words.js";

const LANES = { drop: "drops", stall: "stalls", outage: "outages", reconnect: "reconnects", failure: "failures" };
const LANE = 17;
const LEFT = 84;
const AXIS = 16;
const SHORTEST_S = 60; // of what is shown
const LONGEST_S = 600;
const STEPS_S = [10, 30, 60, 120];
const MARK = 5; // pixels of what lasts no time
const LISTED = 100;

export class Timeline {
  constructor(onChosen) {
    this.onChosen = onChosen;
    this.events = new Map();
    this.ahead = null; // what the journal's clock is ahead of the run's
    this.drawnS = -1;
    this.elapsedS = 0;
    addEventListener("resize", () => this.draw());
    byId("event-details").addEventListener("toggle", () => byId("event-details").open && byId("event-list").scrollIntoView({ block: "nearest" }));
  }

  // `elapsedS` is the run's clock at that time.
  take({ now_s, events }, elapsedS) {
    this.elapsedS = elapsedS;
    this.ahead = now_s - elapsedS;
    for (const event of events) this.events.set(event.number, event);
    this.draw();
    this.list();
  }

  update(reading) {
    if (reading.elapsed_s < this.elapsedS) this.drawnS = -1; // another run
    this.elapsedS = reading.elapsed_s;
    if (this.elapsedS - this.drawnS >= 1 || this.drawnS < 0) this.draw();
  }

  ofNode(name) {
    return [...this.events.values()].filter((one) => one.node === name && one.kind !== "run");
  }

  // Returns the names of the nodes with calls that have failed, whatever followed.
  failed() {
    return new Set([...this.events.values()].filter((one) => one.kind === "failure").map((one) => one.node));
  }

  draw() {
    this.drawnS = this.elapsedS;
    const now = this.elapsedS + (this.ahead ?? 0);
    const span = Math.min(LONGEST_S, Math.max(SHORTEST_S, now));
    const from = Math.max(0, now - span);
    const lanes = Object.keys(LANES).filter((kind) => [...this.events.values()].some((one) => one.kind === kind));
    const told = this.told();
    say(byId("events-words"), told);
    show(byId("timeline"), lanes.length > 0);
    show(byId("event-details"), lanes.length > 0);
    if (!lanes.length) return; // what is quiet takes no room
    const width = Math.max(200, byId("timeline").clientWidth);
    const height = LANE * lanes.length + AXIS;
    const x = (at) => LEFT + (Math.max(0, at - from) / span) * (width - LEFT - 4);
    const svg = makeSvg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": told });
    lanes.forEach((kind, i) => {
      const y = i * LANE;
      svg.append(makeSvg("text", { x: 0, y: y + 12, class: "lane-words" }, LANES[kind]), makeSvg("rect", { x: LEFT, y: y + 2, width: width - LEFT, height: LANE - 4, class: "lane", rx: 2 }));
    });
    const step = STEPS_S.find((one) => (one / span) * (width - LEFT) >= 70) ?? STEPS_S.at(-1);
    for (let at = Math.ceil(from / step) * step; at < from + span; at += step) {
      svg.append(makeSvg("path", { class: "tick", d: `M${x(at).toFixed(1)} 0V${height - AXIS + 3}` }));
      if (x(at) < width - 50) svg.append(makeSvg("text", { class: "lane-words", x: x(at) + 2, y: height - 2 }, at < 100 ? `${at} s` : seconds(at)));
    }
    for (const event of this.events.values()) {
      if (event.to_s >= from) svg.append(this.mark(event, x, height, lanes));
    }
    svg.append(makeSvg("path", { class: "now", d: `M${x(now).toFixed(1)} 0V${height - AXIS}` }));
    byId("timeline").replaceChildren(svg);
  }

  mark(event, x, height, lanes) {
    if (event.kind === "run") return makeSvg("path", { class: "run-mark", d: `M${x(event.from_s).toFixed(1)} 0V${height - AXIS}` }, makeSvg("title", {}, `${seconds(event.from_s)}: ${event.words}`));
    const y = lanes.indexOf(event.kind) * LANE;
    const left = x(event.from_s);
    const mark = makeSvg("rect", { class: `mark mark-${event.kind}`, x: left, y: y + 3, width: Math.max(MARK, x(event.to_s) - left), height: LANE - 6, rx: 2 }, makeSvg("title", {}, line(event)));
    mark.addEventListener("click", () => this.choose(event));
    return mark;
  }

  choose({ kind, node, stream }) {
    if (kind === "drop" && stream) this.onChosen("stream", stream);
    else if (node || stream) this.onChosen(node ? "node" : "stream", node || stream);
  }

  told() {
    const ofKind = (kind) => [...this.events.values()].filter((one) => one.kind === kind);
    const counts = Object.entries(LANES).map(([kind, words]) => [ofKind(kind).reduce((sum, one) => sum + one.count, 0), words]);
    return counts.filter(([count]) => count).map(([count, words]) => (count === 1 ? `1 ${words.replace(/s$/, "")}` : `${count.toLocaleString("en")} ${words}`)).join(", ") || "no drop, stall, outage, reconnect or failure";
  }

  list() {
    const newest = [...this.events.values()].slice(-LISTED).reverse();
    byId("event-list").replaceChildren(...newest.map((event) => {
      if (!event.node && !event.stream) return make("li", { class: `event-${event.kind}` }, line(event));
      const button = make("button", { type: "button", class: "link" }, line(event));
      button.addEventListener("click", () => this.choose(event));
      return make("li", { class: `event-${event.kind}` }, button);
    }));
  }
}

// An event in a line.
export function line(event) {
  const lasted = event.to_s - event.from_s >= 1 ? `, for ${seconds(event.to_s - event.from_s)}` : "";
  const what = {
    drop: () => `${event.count.toLocaleString("en")} ${event.count === 1 ? "packet" : "packets"}${event.stream && ` of ${event.stream}`} dropped${event.node && ` by ${event.node}`}: ${event.words}`,
    stall: () => `nothing moved: ${event.words}`,
    outage: () => `${event.node}: lost${event.words && `: ${event.words}`}`,
    reconnect: () => counted(event),
    failure: () => failed(event),
  }[event.kind] ?? (() => (event.count > 1 ? counted(event) : event.words));
  return `${seconds(event.from_s)}: ${withSeconds(what())}${lasted}`;
}

function failed({ node, words, count }) {
  const named = words.startsWith("node '") || !node ? words : `${node}: ${words}`;
  return count > 1 ? `${node}: ${count.toLocaleString("en")} failures, the last: ${words}` : named;
}

function counted({ node, words, count }) {
  return `${node}: ${words}${count > 1 ? `, ${count.toLocaleString("en")} times` : ""}`;
}
