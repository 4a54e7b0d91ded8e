// What flows: a card for each stream that is shown. Only those in view ask for packets, twice a second at most.
import { byId, make, say } from "./elements.js";
import { address } from "./connection.js";
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
    const wanted = document.hidden ? [] : [...this.cards.values()].filter((card) => card.isInView && card.hasNews());
    await Promise.all(wanted.map((card) => card.ask()));
    setTimeout(() => this.tick(), PAUSE_MS);
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
    this.url = "";
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

  async ask() {
    const packets = this.packets;
    try {
      const answer = await fetch(address("/thumbnail", { stream: this.name }));
      if (!answer.ok) return this.put(make("p", {}, (await answer.text()).trim()));
      const header = (key) => decodeURIComponent(answer.headers.get(`penstock-${key}`) ?? "");
      await this.draw(header("kind"), answer, header("payload"));
      say(this.words, header("kind") === "number" ? "" : header("payload"));
      say(this.when, header("timestamp") && `at ${header("timestamp")}`);
      // a packet that passed meanwhile is asked for again
      if (header("kind") !== "none") this.shown = packets;
    } catch {
      return; // the server is gone: the head of the page says so
    }
  }

  async draw(kind, answer, words) {
    const label = `${this.name}: ${words}`;
    this.element.dataset.kind = kind;
    if (kind === "image" || kind === "heat map") return this.drawImage(await answer.blob(), label, kind);
    const content = await answer.json();
    if (kind === "number") this.drawNumber(content.value, words);
    else if (kind === "lines") this.put(plot(content.rows, label));
    else if (kind === "text") this.put(make("pre", {}, content.text));
  }

  async drawImage(blob, label, kind) {
    const image = make("img", { alt: label, class: kind === "heat map" ? "exact" : "" });
    const url = URL.createObjectURL(blob);
    image.src = url;
    try {
      await image.decode(); // so that the old one stays until the new one is there
      this.put(image);
      this.url = url;
    } catch {
      URL.revokeObjectURL(url);
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
    if (this.url) URL.revokeObjectURL(this.url);
    this.url = "";
  }

  end() {
    this.put();
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
