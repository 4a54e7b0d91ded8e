// What flows: one stream large, and a strip of small ones. One request asks for the packets of those in view, as often
// as the server says; the large one comes with it.
import { byId, make, say, show } from "./elements.js";
import { request } from "./connection.js";
import { Card, Shown } from "./shown.js";
import { Zoom } from "./zoom.js";
import { rate } from "./words.js";

const PAUSE_MS = 500;
const AT_FIRST = 4;
const SHOWN_STREAMS = "penstock-streams";
const KINDS_OF_STREAMS = "penstock-kinds";
const SMALL = 160;
const LARGE = 640;
const WHOLE_SCREEN = 1280;
const MUCH_BUSIER = 1.5; // the large one changes by itself only for a stream that flows so much faster
const PICTURES = new Set(["image", "heat map"]);
const RANKS = { none: 0, number: 1, text: 1, lines: 2, "heat map": 3, image: 3 };

export class Thumbnails {
  constructor() {
    this.cards = new Map();
    this.reading = null;
    this.isPaused = false;
    this.isLate = false; // all of the run was before this page
    this.hero = null; // { name, shown }
    this.chosen = ""; // the stream that was asked for to be large; "" for the busiest
    this.isSizeNew = false;
    this.kinds = keptHere(KINDS_OF_STREAMS, {}); // stream → what was seen of it last, also before the page was loaded again
    this.zoom = new Zoom(() => (this.isSizeNew = true));
    this.inView = new IntersectionObserver((entries) => {
      for (const entry of entries) entry.target.card.isInView = entry.isIntersecting;
    });
    byId("add-stream").addEventListener("change", (event) => {
      if (event.target.value) this.open(event.target.value);
    });
    byId("hero-busiest").addEventListener("click", () => {
      this.chosen = "";
      this.enlarge(this.busiest());
      byId("flowing-heading").focus();
    });
    byId("zoom-in").addEventListener("click", () => this.openZoom());
    byId("hero-body").addEventListener("click", () => this.openZoom());
    this.tick();
  }

  update(reading) {
    if (this.reading === null) this.begin(reading);
    this.reading = reading;
    if (reading.state !== "over") this.isLate = false;
    for (const stream of reading.streams) {
      const card = this.cards.get(stream.name);
      if (card === undefined) continue;
      card.packets = stream.packets;
      card.wait(stream.packets, reading.state === "over", this.isLate);
      card.tellAge(stream.age_s, reading.state === "over");
    }
    if (!this.chosen) this.enlarge(this.busiest());
    this.tellHero();
  }

  begin(reading) {
    this.isLate = reading.state === "over";
    const kept = keptHere(SHOWN_STREAMS, []).filter((name) => reading.streams.some((one) => one.name === name));
    for (const name of kept.length ? kept : likely(reading)) this.add(name, reading);
    this.choices(reading);
  }

  // Adds the card of a stream, if there is none.
  add(name) {
    if (this.cards.has(name)) return;
    const card = new Card(name, () => this.choose(name), () => this.remove(name));
    this.cards.set(name, card);
    byId("cards").append(card.element);
    this.inView.observe(card.element);
    keepHere(SHOWN_STREAMS, [...this.cards.keys()]);
    if (this.reading !== null) this.update(this.reading);
    this.choices(this.reading);
  }

  // Shows a stream large, to who has asked for it.
  open(name) {
    this.choose(name);
    byId("add-stream").value = "";
    const { element, title } = this.cards.get(name);
    element.scrollIntoView({ block: "nearest", inline: "nearest" });
    title.focus();
  }

  choose(name) {
    this.chosen = name;
    this.add(name);
    this.enlarge(name);
    this.tellHero();
  }

  remove(name) {
    const card = this.cards.get(name);
    this.inView.unobserve(card.element);
    card.element.remove();
    this.cards.delete(name);
    if (this.chosen === name) this.chosen = "";
    if (this.hero?.name === name) this.enlarge(this.busiest());
    keepHere(SHOWN_STREAMS, [...this.cards.keys()]);
    this.choices(this.reading);
    byId("add-stream").focus();
  }

  choices(reading) {
    if (reading === null) return;
    const names = reading.streams.map((one) => one.name).filter((name) => !this.cards.has(name));
    byId("add-stream").replaceChildren(make("option", { value: "" }, "Show a stream…"), ...names.map((name) => make("option", { value: name }, name)));
  }

  // --- the large one ----------------------------------------------------------------------------

  // Of the streams in the strip: the one with pictures that has most packets a second, also while none come; else one
  // with lines, else any that has something.
  busiest() {
    const rates = new Map(this.reading?.streams.map((one) => [one.name, one.per_s]));
    const rank = (card) => RANKS[card.shown.kind === "none" ? this.kinds[card.name] ?? "none" : card.shown.kind] ?? 1;
    let best = this.cards.get(this.hero?.name) ?? null;
    for (const card of this.cards.values()) {
      const isBetter = best === null || rank(card) > rank(best);
      const isBusier = best !== null && rank(card) === rank(best) && (rates.get(card.name) ?? 0) > MUCH_BUSIER * (rates.get(best.name) ?? 0);
      if (isBetter || isBusier) best = card;
    }
    return best?.name ?? null;
  }

  enlarge(name) {
    if (name === (this.hero?.name ?? null)) return;
    for (const card of this.cards.values()) card.element.classList.toggle("is-large", card.name === name);
    byId("hero").dataset.hero = name ?? "";
    byId("hero-body").replaceChildren(make("p", {}, name === null ? "no stream is shown" : ""));
    this.hero = name === null ? null : { name, shown: new Shown(name, byId("hero-body")) };
    const card = this.cards.get(name);
    if (card === undefined) return;
    this.hero.shown.numbers = [...card.shown.numbers];
    if (card.newest !== null) {
      if (card.newest.kind === "number") this.hero.shown.numbers.pop(); // it is drawn again
      this.hero.shown.show(card.newest); // the small one, until the large one comes
    }
    card.asked = -1;
  }

  tellHero() {
    const stream = this.reading?.streams.find((one) => one.name === this.hero?.name);
    const card = this.cards.get(this.hero?.name);
    say(byId("hero-name"), this.hero?.name ?? "");
    const when = card?.when.textContent;
    if (card !== undefined && this.hero.shown.kind === "none") say(byId("hero-body").firstChild, [card.waiting.textContent, card.why].filter(Boolean).join(": "));
    const words = [stream && rate(stream.per_s), card?.words.textContent, when && `at ${when}`, card?.age.textContent];
    say(byId("hero-words"), words.filter(Boolean).join(" · "));
    show(byId("hero-busiest"), this.chosen !== "");
    show(byId("zoom-in"), PICTURES.has(this.hero?.shown.kind));
  }

  openZoom() {
    if (this.hero?.shown.image) this.zoom.open(this.hero.name, this.hero.shown.image);
  }

  keepKinds(thumbnails) {
    let isNew = false;
    for (const [name, { kind }] of Object.entries(thumbnails)) {
      if (kind === "none" || this.kinds[name] === kind) continue;
      this.kinds[name] = kind;
      isNew = true;
    }
    if (isNew) keepHere(KINDS_OF_STREAMS, this.kinds);
  }

  // --- from the server --------------------------------------------------------------------------

  async tick() {
    let pause = PAUSE_MS;
    try {
      const isQuiet = document.hidden || this.isPaused;
      const wanted = isQuiet ? [] : [...this.cards.values()].filter((card) => this.isWanted(card));
      if (wanted.length) pause = await this.ask(wanted);
    } finally {
      setTimeout(() => this.tick(), pause);
    }
  }

  isWanted(card) {
    const isHero = card.name === this.hero?.name;
    return (isHero || card.isInView) && (card.hasNews() || (isHero && this.isSizeNew));
  }

  // Shows the newest packets; returns how many milliseconds to wait before the next request.
  async ask(cards) {
    const packets = cards.map((card) => card.packets);
    const hero = this.hero;
    const isLarge = cards.some((card) => card.name === hero?.name);
    const large = isLarge ? [["large", hero.name], ["large_pixels", this.zoom.isOpen ? WHOLE_SCREEN : LARGE]] : [];
    if (isLarge) this.isSizeNew = false;
    const small = cards.filter((card) => card.name !== hero?.name).map((card) => ["stream", card.name]);
    const answer = await request("/thumbnails", [...small, ["pixels", SMALL], ...large]);
    if (!answer?.ok) return PAUSE_MS; // where the server is gone the head of the page says so
    if (this.isPaused) return PAUSE_MS;
    const said = JSON.parse(answer.text);
    const kept = new Set(said.kept); // made before this request: a packet may have come since, so they are asked for again
    this.keepKinds(said.thumbnails);
    await Promise.all(cards.map((card, i) => card.show(said.thumbnails[card.name], kept.has(card.name) ? -1 : packets[i])));
    if (isLarge && this.hero === hero) {
      await hero.shown.show(said.thumbnails[hero.name]);
      if (hero.shown.image) this.zoom.update(hero.name, hero.shown.image);
    }
    if (!this.chosen) this.enlarge(this.busiest());
    this.tellHero();
    return 1000 * said.again_s;
  }
}

function keptHere(key, none) {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? none;
  } catch {
    return none; // storage is forbidden
  }
}

function keepHere(key, what) {
  try {
    sessionStorage.setItem(key, JSON.stringify(what));
  } catch {
    return;
  }
}

// The ends of the graph first, then what enters it, then what comes first.
function likely(reading) {
  const reads = new Set(reading.streams.flatMap((one) => one.readers));
  const ends = new Set(reading.latencies.map((one) => one.stream));
  const order = (one) => (one.is_output || ends.has(one.name) || !one.readers.length ? 0 : one.is_input || !reads.has(one.writer) ? 1 : 2);
  return [...reading.streams].sort((a, b) => order(a) - order(b)).slice(0, AT_FIRST).map((one) => one.name);
}
