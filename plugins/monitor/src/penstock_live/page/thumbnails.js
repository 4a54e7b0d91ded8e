// What flows: a card for each stream that is shown. One request asks for the packets of those in view, as often as
// the server says.
import { byId, make, say } from "./elements.js";
import { request } from "./connection.js";
import { plot } from "./plot.js";

const PAUSE_MS = 500;
const AT_FIRST = 4;
const KEPT_NUMBERS = 120;

export class Thumbnails {
  constructor() {
    this.cards = new Map();
    this.reading = null;
    this.inView = new IntersectionObserver((entries) => {
      for (const entry of entries) entry.target.card.isInView = entry.isIntersecting;
    });
    byId("add-stream").addEventListener("change", (event) => {
      if (event.target.value) this.open(event.target.value);
    });
    this.tick();
  }

  update(reading) {
    if (this.reading === null) this.begin(reading);
    this.reading = reading;
    for (const stream of reading.streams) {
      const card = this.cards.get(stream.name);
      if (card !== undefined) card.packets = stream.packets;
    }
  }

  begin(reading) {
    const kept = keptStreams().filter((name) => reading.streams.some((one) => one.name === name));
    for (const name of kept.length ? kept : likely(reading)) this.add(name, reading);
    this.choices(reading);
  }

  // Adds the card of a stream, if there is none.
  add(name) {
    if (this.cards.has(name)) return;
    const card = new Card(name, () => this.remove(name));
    this.cards.set(name, card);
    byId("cards").append(card.element);
    card.element.card = card;
    this.inView.observe(card.element);
    keepStreams([...this.cards.keys()]);
    if (this.reading !== null) this.update(this.reading);
    this.choices(this.reading);
  }

  // Shows a stream to who has asked for it.
  open(name) {
    this.add(name);
    const { element, title } = this.cards.get(name);
    element.scrollIntoView({ block: "nearest" });
    title.focus();
  }

  remove(name) {
    const card = this.cards.get(name);
    this.inView.unobserve(card.element);
    card.end();
    this.cards.delete(name);
    keepStreams([...this.cards.keys()]);
    this.choices(this.reading);
    byId("add-stream").focus();
  }

  choices(reading) {
    if (reading === null) return;
    const names = reading.streams.map((one) => one.name).filter((name) => !this.cards.has(name));
    byId("add-stream").replaceChildren(make("option", { value: "" }, "…"), ...names.map((name) => make("option", { value: name }, name)));
  }

  async tick() {
    let pause = PAUSE_MS;
    try {
      const wanted = document.hidden ? [] : [...this.cards.values()].filter((card) => card.isInView && card.hasNews());
      if (wanted.length) pause = await this.ask(wanted);
    } finally {
      setTimeout(() => this.tick(), pause);
    }
  }

  // Shows the newest packets; returns how many milliseconds to wait before the next request.
  async ask(cards) {
    const packets = cards.map((card) => card.packets);
    const answer = await request("/thumbnails", cards.map((card) => ["stream", card.name]));
    if (!answer?.ok) return PAUSE_MS; // where the server is gone the head of the page says so
    const said = JSON.parse(answer.text);
    await Promise.all(cards.map((card, i) => card.show(said.thumbnails[card.name], packets[i])));
    return 1000 * said.again_s;
  }
}

// The ends of the graph first, then what enters it, then what comes first.
function likely(reading) {
  const reads = new Set(reading.streams.flatMap((one) => one.readers));
  const ends = new Set(reading.latencies.map((one) => one.stream));
  const order = (one) => (one.is_output || ends.has(one.name) || !one.readers.length ? 0 : one.is_input || !reads.has(one.writer) ? 1 : 2);
  return [...reading.streams].sort((a, b) => order(a) - order(b)).slice(0, AT_FIRST).map((one) => one.name);
}

class Card {
  constructor(name, onRemoved) {
    this.name = name;
    this.isInView = false;
    this.packets = 0;
    this.shown = -1; // packets when it was asked last
    this.numbers = [];
    this.title = make("h3", { tabindex: "-1" }, name);
    const remove = make("button", { type: "button", "aria-label": `Do not show ${name}` }, "✕");
    remove.addEventListener("click", onRemoved);
    this.body = make("div", { class: "thumbnail" }, make("p", {}, "no packet yet"));
    this.words = make("p", { class: "words" });
    this.when = make("p", { class: "hint" });
    this.element = make("article", { "data-card": name }, make("div", { class: "heading" }, this.title, remove), this.body, this.words, this.when);
  }

  hasNews() {
    return this.packets !== this.shown;
  }

  // `packets` is how many there were when this one was asked for: one that passed meanwhile is asked for again.
  // A card that cannot be drawn says so itself, and the others are drawn.
  async show(thumbnail, packets) {
    try {
      await this.draw(thumbnail, packets);
    } catch (error) {
      console.error(error);
      this.shown = packets; // the next packet may be another case
      this.put(make("p", {}, `The page cannot show this packet: ${error}`));
    }
  }

  async draw({ kind, content, words, timestamp }, packets) {
    this.element.dataset.kind = kind;
    await this.drawContent(kind, content, words);
    say(this.words, kind === "number" ? "" : words);
    say(this.when, timestamp && `at ${timestamp}`);
    if (kind !== "none") this.shown = packets;
  }

  async drawContent(kind, content, words) {
    const label = `${this.name}: ${words}`;
    if (content.startsWith("data:")) return this.drawImage(content, label, kind);
    const said = JSON.parse(content);
    if (kind === "number") this.drawNumber(said.value, words);
    else if (kind === "lines") this.put(plot(said.rows, label));
    else if (kind === "text") this.put(make("pre", {}, said.text));
  }

  async drawImage(url, label, kind) {
    const image = make("img", { alt: label, class: kind === "heat map" ? "exact" : "", src: url });
    try {
      await image.decode(); // so that the old one stays until the new one is there
      this.put(image);
    } catch {
      return; // a payload may say that it is a picture and be none
    }
  }

  drawNumber(value, words) {
    this.numbers.push(value);
    this.numbers = this.numbers.slice(-KEPT_NUMBERS);
    const said = value === null ? words : String(value); // infinity, say, is not in JSON
    this.put(make("p", { class: "value" }, said), plot([this.numbers], `the last ${this.numbers.length} values of ${this.name}`));
  }

  put(...elements) {
    this.body.replaceChildren(...elements);
  }

  end() {
    this.element.remove();
  }
}

function keptStreams() {
  try {
    return JSON.parse(sessionStorage.getItem("penstock-streams") ?? "[]");
  } catch {
    return []; // storage is forbidden
  }
}

function keepStreams(names) {
  try {
    sessionStorage.setItem("penstock-streams", JSON.stringify(names));
  } catch {
    return;
  }
}
