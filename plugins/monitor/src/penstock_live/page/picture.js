// The picture of the graph, with numbers at its nodes and streams. Subgraphs are closed until they are opened. The
// server draws it downwards and from left to right; the page takes what fits.
import { byId, make, say, show } from "./elements.js";
import { Bottleneck, longestQueues } from "./bottleneck.js";
import { countsByNode } from "./drops.js";
import { Item } from "./item.js";
import { withoutStyle } from "./theme.js";
import { request } from "./connection.js";
import { busyWords } from "./words.js";

const SMALLEST = 0.02;
const SMALLEST_AT_FIRST = 0.55;
const LARGEST_AT_FIRST = 1.15;
const FITS = 0.85; // as small as this, words can still be read
const READ = 0.8; // a graph that does not fit is not made smaller, if its width allows that: one scrolls down
const SCROLL_BAR = 18;
const ACROSS_UP_TO = 40; // boxes; a longer row never fits
const SHARE_OF_WIDTH = 0.64; // the most that the picture takes beside what flows
const NAMES_BELOW = 0.5; // in a picture smaller than this names alone are read
const SHORT_BELOW = 0.92;
const WHEEL = 0.002; // how much a turn of the wheel enlarges
const CALM = new Set(["lost", "busiest"]); // marks to which the picture does not scroll
const INSIDE = "__"; // between the names of a subgraph and of what is in it

export class Picture {
  constructor(onChosen) {
    this.onChosen = onChosen;
    this.items = new Map(); // "node NAME", "stream NAME" or "group NAME" → Item, in the order of the picture
    this.svg = null;
    this.layouts = []; // those that the server has drawn: { svg, width, height }
    this.opened = new Set();
    this.size = 1;
    this.marked = { culprit: new Set(), failed: new Set(), lost: new Set(), busiest: new Set() };
    this.bottleneck = new Bottleneck();
    this.pointed = null; // the item that is explained
    this.isHushed = false; // help was sent away, and no node or stream has got the focus since
    this.quiet = null; // the item that was explained then: a pointer that rests on it says nothing
    this.chosen = null;
    this.isResized = false; // by the user, since it was last fitted
    byId("smaller").addEventListener("click", () => this.zoom(1 / 1.25));
    byId("larger").addEventListener("click", () => this.zoom(1.25));
    byId("fit").addEventListener("click", () => this.fitAll());
    byId("picture").addEventListener("wheel", (event) => this.turn(event), { passive: false });
    byId("picture").addEventListener("pointerover", (event) => this.pass(this.itemOf(event.target)));
    byId("picture").addEventListener("pointerleave", () => this.pass(this.isHushed ? null : this.itemOf(document.activeElement)));
    byId("picture").addEventListener("focusin", (event) => {
      [this.isHushed, this.quiet] = [false, null];
      byId("graph").classList.remove("is-hushed");
      this.point(this.itemOf(event.target));
    });
    byId("picture").addEventListener("focusout", () => this.point(null));
    byId("ask-legend").addEventListener("click", () => this.toggleLegend());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.hush());
    byId("graph").addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || byId("legend").hidden) return;
      event.stopPropagation(); // the details stay
      this.toggleLegend();
      byId("ask-legend").focus();
    });
    byId("busiest-node").addEventListener("click", () => onChosen("node", this.bottleneck.name));
    this.width = innerWidth;
    addEventListener("resize", () => {
      if (this.svg === null || innerWidth === this.width) return; // the bars of a phone come and go
      this.width = innerWidth;
      this.fit();
    });
  }

  // Returns whether there is a picture now. There is none where the server is gone.
  async load() {
    byId("picture").setAttribute("aria-busy", "true");
    const opened = [...this.opened].map((name) => ["open", name]);
    const down = await this.ask([["layout", "down"], ...opened]);
    if (down === null) return false;
    byId("picture").setAttribute("aria-busy", "false");
    this.layouts = [down];
    this.fit(true);
    if (down.svg.querySelectorAll(".pk-node").length <= ACROSS_UP_TO) this.loadAcross(down, opened);
    return true;
  }

  // The other layout comes when it is drawn. The picture stays where a user is in it with the keyboard, or has chosen its size.
  async loadAcross(down, opened) {
    const across = await this.ask([["layout", "across"], ...opened]);
    if (across === null || this.layouts[0] !== down) return;
    this.layouts.push(across);
    if (!this.isResized && !byId("picture").contains(document.activeElement)) this.fit();
  }

  async ask(query) {
    const answer = await request("/graph.svg", query);
    if (answer === null) return null;
    const { ok, text } = answer;
    if (!ok) {
      byId("picture").setAttribute("aria-busy", "false");
      if (this.svg === null) byId("picture").replaceChildren(make("p", {}, `There is no picture: ${text.trim()}. The tables below have all numbers.`));
      return null;
    }
    const parsed = new DOMParser().parseFromString(withoutStyle(text), "image/svg+xml").documentElement;
    const svg = document.importNode(parsed, true);
    svg.setAttribute("role", "group");
    return { svg, width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height };
  }

  // About a place of the window: what is there stays there. Without one it is the middle of what is seen.
  zoom(factor, at = null) {
    if (this.svg === null) return;
    const room = byId("picture").getBoundingClientRect();
    const [x, y] = at ?? [room.x + room.width / 2, room.y + room.height / 2];
    const before = this.svg.getBoundingClientRect();
    this.isResized = true;
    this.resize(this.size * factor);
    const after = this.svg.getBoundingClientRect();
    const along = (place, from, length) => Math.min(1, Math.max(0, (place - from) / length));
    byId("picture").scrollBy(
      after.x + along(x, before.x, before.width) * after.width - x,
      after.y + along(y, before.y, before.height) * after.height - y,
    );
  }

  // The wheel alone scrolls. With Ctrl it enlarges what the pointer is on; so do two fingers on a touchpad.
  turn(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * WHEEL), [event.clientX, event.clientY]);
  }

  // All of the graph, however small.
  fitAll() {
    this.fit();
    const room = this.room();
    const height = Math.min(room.height, innerHeight);
    const scale = (one) => Math.min(LARGEST_AT_FIRST, room.width / one.width, height / one.height);
    const best = this.layouts.reduce((a, b) => (scale(b) > scale(a) ? b : a), this.layouts[0]);
    if (best === undefined) return;
    if (best.svg !== this.svg) this.put(best);
    this.resize(scale(best));
    this.shareWidth(best, room);
  }

  // Takes the layout that is largest where all of it is seen, from left to right where its words can be read.
  fit(isNew = false) {
    if (!this.layouts.length) return;
    this.isResized = false;
    const room = this.room();
    const scale = (one) => Math.min(LARGEST_AT_FIRST, room.width / one.width, room.height / one.height);
    const [down, across] = this.layouts;
    const best = across && (scale(across) >= FITS || scale(across) > scale(down)) ? across : down;
    if (best.svg !== this.svg || isNew) this.put(best);
    const read = Math.min(READ, room.width / best.width);
    // a phone shows the whole width: a box that scrolls both ways in a page that scrolls is a maze
    const least = room.isBeside ? SMALLEST_AT_FIRST : 0;
    this.resize(Math.min(LARGEST_AT_FIRST, Math.max(least, read, scale(best))));
    this.shareWidth(best, room);
  }

  shareWidth(shown, room) {
    const bar = shown.height * this.size > room.height ? SCROLL_BAR : 0;
    const width = Math.min(room.width, shown.width * this.size) + 40 + bar;
    document.documentElement.style.setProperty("--graph", `${Math.round(width)}px`);
  }

  room() {
    const picture = byId("picture");
    const isBeside = matchMedia("(min-width: 60rem)").matches;
    const width = isBeside ? byId("first").clientWidth * SHARE_OF_WIDTH - 40 : picture.clientWidth - 4;
    return { width, height: isBeside ? picture.clientHeight - 4 : Infinity, isBeside };
  }

  put({ svg }) {
    this.svg = svg;
    byId("picture").replaceChildren(svg);
    byId("picture").dataset.layout = svg === this.layouts[1]?.svg ? "across" : "down";
    this.resize(1);
    this.marked = { culprit: new Set(), failed: new Set(), lost: new Set(), busiest: new Set() };
    if (svg.items === undefined) svg.items = this.found();
    this.items = svg.items;
    this.pointed = null;
    this.layOut();
    this.highlight(this.chosen);
    this.onPut?.();
  }

  // Returns the items of a picture that is shown for the first time.
  found() {
    const edges = new Map();
    for (const line of this.svg.querySelectorAll(".pk-edge[data-stream]")) {
      const name = line.dataset.stream;
      edges.set(name, [...(edges.get(name) ?? []), line]);
    }
    const found = new Map();
    for (const group of this.svg.querySelectorAll("[data-group], [data-node], [data-stream]:not(.pk-edge)")) {
      const { kind, name } = meant(group);
      // a stream that leaves the graph has a second label, at its output
      if (!found.has(`${kind} ${name}`)) found.set(`${kind} ${name}`, { kind, name, group, isFrame: group.classList.contains("pk-group") });
    }
    // all are measured before any is changed: a browser then lays the picture out once
    for (const one of found.values()) one.box = one.group.getBBox();
    const items = new Map();
    for (const [key, one] of found) items.set(key, new Item(one, edges.get(one.name) ?? [], (name) => this.toggle(name)));
    const first = [...items.values()].find((one) => !one.isFrame) ?? items.values().next().value;
    first?.group.setAttribute("tabindex", "0");
    this.svg.addEventListener("click", (event) => this.choose(event.target));
    this.svg.addEventListener("dblclick", (event) => this.toggle(this.itemOf(event.target)?.name));
    this.svg.addEventListener("keydown", (event) => this.press(event));
    this.svg.addEventListener("focusin", (event) => this.rove(event.target));
    return items;
  }

  // `failures` are the names of nodes with calls that have failed.
  update(reading, minute, hasNewLines, failures) {
    if (this.svg === null) return;
    this.markBusiest(reading, minute);
    const throttled = new Set(reading.throttled);
    const dropped = countsByNode(reading);
    const isOver = reading.state === "over";
    const queued = longestQueues(reading);
    const inGroups = new Map();
    for (const node of reading.nodes) {
      const { name } = node;
      const item = this.items.get(`node ${name}`);
      if (item !== undefined) {
        item.showNode(node, {
          isOver,
          isThrottled: throttled.has(name),
          queued: queued.get(name) ?? 0,
          series: hasNewLines ? minute.of(name) : null,
          hasFailures: failures.has(name),
          dropped: dropped.get(name) ?? 0,
        });
      } else {
        const group = this.closedAround(node.name);
        if (group !== null) inGroups.set(group, [...(inGroups.get(group) ?? []), node]);
      }
    }
    for (const [group, nodes] of inGroups) {
      const names = nodes.map((one) => one.name);
      const longest = Math.max(...names.map((name) => queued.get(name) ?? 0));
      group.showGroup(nodes, { isOver, queued: longest, series: hasNewLines ? minute.ofAll(names) : null });
    }
    for (const stream of reading.streams) this.items.get(`stream ${stream.name}`)?.showStream(stream, isOver);
    if (this.pointed !== null) this.point(this.pointed);
  }

  // Names the node that holds the others up, and marks it.
  markBusiest(reading, minute) {
    const busiest = this.bottleneck.of(reading, minute);
    this.markAll("busiest", busiest === null ? [] : [this.itemFor("node", busiest.name)]);
    show(byId("busiest"), busiest !== null);
    if (busiest === null) return;
    say(byId("busiest-node"), busiest.name.replaceAll(INSIDE, " / "));
    say(byId("busiest-words"), busyWords(busiest.busy));
  }

  toggleLegend() {
    const isShown = byId("legend").hidden;
    show(byId("legend"), isShown);
    byId("ask-legend").setAttribute("aria-expanded", String(isShown));
  }

  // Says in words what the item shows that a pointer or the keyboard is at.
  point(item) {
    this.pointed = item;
    show(byId("explained"), item !== null);
    if (item === null) return;
    say(byId("explained"), item.explain());
    const room = byId("picture").getBoundingClientRect();
    const at = item.group.getBoundingClientRect();
    byId("explained").classList.toggle("is-above", at.y + at.height / 2 > room.y + room.height / 2); // it covers nothing that is looked at
  }

  // What a pointer passes over. A browser tells it again when the picture moves under a pointer that rests.
  pass(item) {
    if (item !== null && item === this.quiet) return;
    this.quiet = null;
    this.point(item);
  }

  // Takes the help away that lies over the picture, until another node or stream is gone to.
  hush() {
    this.quiet = this.pointed ?? this.quiet;
    this.isHushed = true;
    this.point(null);
    byId("graph").classList.add("is-hushed");
  }

  // Returns the closed subgraph that hides a node or a stream, if there is one in the picture.
  closedAround(name) {
    const parts = name.split(INSIDE);
    for (let depth = 1; depth < parts.length; depth++) {
      const item = this.items.get(`group ${parts.slice(0, depth).join(INSIDE)}`);
      if (item !== undefined && !item.isFrame) return item;
    }
    return null;
  }

  itemFor(kind, name) {
    return this.items.get(`${kind} ${name}`) ?? this.closedAround(name);
  }

  // Marks what a stall comes from, the nodes whose failures have ended the run, and those that have lost their sources,
  // by an outline and by words.
  mark(culprits, failed, lost) {
    if (this.svg === null) return;
    this.markAll("culprit", culprits.map((one) => (one.node ? this.itemFor("node", one.node) : this.itemFor("stream", one.stream))));
    this.markAll("failed", failed.map((name) => this.itemFor("node", name)));
    this.markAll("lost", lost.map((name) => this.itemFor("node", name)));
  }

  markAll(word, found) {
    const items = new Set(found.filter((one) => one !== null && one !== undefined));
    const before = this.marked[word];
    for (const item of before) if (!items.has(item)) item.mark(word, false);
    for (const item of items) item.mark(word, true);
    const [first] = items;
    if (before.size === 0 && first !== undefined && !CALM.has(word)) this.center(first.group);
    this.marked[word] = items;
  }

  // Shows which one the details are about.
  highlight(chosen) {
    this.chosen = chosen;
    for (const item of this.items.values()) item.group.classList.toggle("is-chosen", chosen !== null && item === this.itemFor(chosen.kind, chosen.name));
  }

  // Shows which ones are looked for; null for none. What a closed subgraph hides is found at that.
  find(things) {
    const found = new Set(things?.map(({ kind, name }) => this.itemFor(kind, name)));
    for (const item of this.items.values()) item.group.classList.toggle("is-found", found.has(item));
    this.svg?.classList.toggle("is-searched", found.size > 0);
  }

  isOpen(name) {
    return this.opened.has(name);
  }

  // Opens a subgraph, or closes it with all inside of it.
  async toggle(name) {
    if (!this.items.has(`group ${name}`)) return;
    if (this.opened.has(name)) {
      for (const one of [...this.opened]) if (one === name || one.startsWith(name + INSIDE)) this.opened.delete(one);
    } else this.opened.add(name);
    const hadFocus = byId("picture").contains(document.activeElement);
    if (await this.load()) this.itemFor("group", name)?.group[hadFocus ? "focus" : "scrollIntoView"]({ block: "nearest" });
  }

  // Opens the subgraphs around a node or a stream, and brings it into sight.
  async reveal(kind, name) {
    const parts = name.split(INSIDE);
    let isNew = false;
    while (this.svg !== null && !this.items.has(`${kind} ${name}`) && this.closedAround(name) !== null && parts.length > 1) {
      this.opened.add(this.closedAround(name).name);
      isNew = await this.load();
      if (!isNew) return;
    }
    const item = this.itemFor(kind, name);
    if (item !== null) this.center(item.group);
  }

  // Scrolls the picture so that its middle has an element. The page stays where its reader looks.
  center(group) {
    const room = byId("picture").getBoundingClientRect();
    const at = group.getBoundingClientRect();
    byId("picture").scrollBy(at.x + at.width / 2 - room.x - room.width / 2, at.y + at.height / 2 - room.y - room.height / 2);
  }

  focus(kind, name) {
    this.itemFor(kind, name)?.group.focus();
    this.hush(); // who has closed something wants to see the graph
  }

  resize(size) {
    if (this.svg === null) return;
    this.size = Math.min(3, Math.max(SMALLEST, size));
    this.svg.setAttribute("width", this.svg.viewBox.baseVal.width * this.size);
    this.svg.setAttribute("height", this.svg.viewBox.baseVal.height * this.size);
    this.layOut();
  }

  // Fewer and larger words where the picture is small.
  layOut() {
    const level = this.size < NAMES_BELOW ? "names" : this.size < SHORT_BELOW ? "short" : "full";
    if (this.svg.dataset.level === level || this.svg.items === undefined) return;
    this.svg.dataset.level = level;
    for (const item of this.svg.items.values()) item.layOut(level);
  }

  itemOf(element) {
    const group = element.closest("[data-group], [data-node], [data-stream]");
    if (group === null) return null;
    const { kind, name } = meant(group);
    return this.items.get(`${kind} ${name}`) ?? null;
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
    else if ((event.key === "+" || event.key === "-") && item?.kind === "group") {
      if ((event.key === "+") !== item.isFrame) this.toggle(item.name);
    } else if (event.key in DIRECTIONS && item !== null) next = nearest(item, all, DIRECTIONS[event.key]);
    else return;
    event.preventDefault();
    next?.group.focus();
  }
}

// Returns what an element of the picture stands for.
function meant({ dataset }) {
  if (dataset.group !== undefined) return { kind: "group", name: dataset.group };
  return dataset.node === undefined ? { kind: "stream", name: dataset.stream } : { kind: "node", name: dataset.node };
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
