// One packet of a stream, as a picture, as lines or in words, in an element of the page.
import { make, say, show } from "./elements.js";
import { plot } from "./plot.js";
import { fieldsOf } from "./fields.js";
import { brief, stamp, wholeSeconds } from "./words.js";

const KEPT_NUMBERS = 120;
const NONE_YET = "no packet yet";
const TOO_LATE = "the run had ended before this page was opened; only packets that pass while a page is open are shown";
const OLD_S = 2; // so old it is said

export class Shown {
  constructor(name, body) {
    this.name = name;
    this.body = body;
    this.numbers = [];
    this.kind = "none";
    this.image = null;
    this.packet = null; // the one that is shown
  }

  // A packet that cannot be drawn says so itself, and the others are drawn. Returns whether it could be drawn.
  async show(thumbnail) {
    const { timestamp, content } = thumbnail;
    if (this.packet?.timestamp === timestamp && this.packet.content === content) return true; // it would be a second point of a line
    try {
      this.kind = thumbnail.kind;
      await this.draw(thumbnail);
      this.packet = { timestamp, content };
      return true;
    } catch (error) {
      this.packet = null;
      console.error(error);
      this.put(make("p", {}, `The page cannot show this packet: ${error}`));
      return false;
    }
  }

  async draw({ kind, content, words }) {
    const label = `${this.name}: ${words}`;
    if (content.startsWith("data:")) return this.drawImage(content, label, kind);
    const said = JSON.parse(content);
    if (kind === "number") this.drawNumber(said.value, words);
    else if (kind === "lines") this.put(plot(said.rows, label));
    else if (kind === "text") this.drawText(said.text);
  }

  async drawImage(url, label, kind) {
    const image = make("img", { alt: label, class: kind === "heat map" ? "exact" : "", src: url });
    try {
      await image.decode(); // so that the old one stays until the new one is there
      this.image = image;
      this.put(image);
    } catch {
      return; // a payload may say that it is a picture and be none
    }
  }

  // Of an object its fields, those that say most first: the name of its type is in the line below.
  drawText(text) {
    const fields = fieldsOf(text);
    if (fields === null) return this.put(make("pre", {}, text));
    const list = make("pre");
    for (const [key, value] of fields.rows) list.append(make("span", { class: "key-of" }, `${key} `), `${value}\n`);
    this.put(list);
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
}

// A card of the strip: what flows on one stream, small.
export class Card {
  constructor(name, onChosen, onRemoved) {
    this.name = name;
    this.isInView = false;
    this.packets = 0;
    this.newest = null; // the thumbnail that is shown
    this.asked = -1; // packets when it was asked last
    this.title = make("button", { type: "button", class: "link", title: name, "aria-label": name }, name.split("__").at(-1));
    this.title.addEventListener("click", onChosen);
    const remove = make("button", { type: "button", class: "remove", "aria-label": `Do not show ${name}` }, "✕");
    remove.addEventListener("click", onRemoved);
    this.waiting = make("p", {}, NONE_YET);
    this.why = ""; // there is nothing to show
    const body = make("div", { class: "thumbnail" }, this.waiting);
    body.addEventListener("click", onChosen);
    this.shown = new Shown(name, body);
    this.words = make("p", { class: "words" });
    this.when = make("p", { class: "hint" });
    this.age = make("p", { class: "hint age", hidden: "" });
    this.element = make("article", { "data-card": name }, make("div", { class: "heading" }, make("h3", {}, this.title), remove), body, this.words, this.when, this.age);
    this.element.card = this;
  }

  // Until there is a packet to show: a stream that packets flow on seldom shows the next one.
  // `isLate`: the page was opened after the run. The large one says what that means: here is no room.
  wait(packets, isOver, isLate) {
    if (this.shown.kind !== "none") return;
    this.why = packets && isOver && isLate ? TOO_LATE : "";
    this.waiting.title = this.why;
    const passed = `${packets.toLocaleString("en")} ${packets === 1 ? "packet has" : "packets have"} passed`;
    say(this.waiting, packets ? `${passed}${isOver ? "" : "; the next one is shown"}` : isOver ? "there was no packet" : NONE_YET);
  }

  // Of the newest packet, if that is the one that is shown: on a quiet stream it may be from minutes ago.
  tellAge(ageS, isOver) {
    const isOld = this.shown.kind !== "none" && !this.hasNews() && !isOver && ageS !== null && ageS >= OLD_S;
    say(this.age, isOld ? `${wholeSeconds(ageS)} ago` : "");
    show(this.age, isOld);
  }

  hasNews() {
    return this.packets !== this.asked;
  }

  // `packets` is how many there were when this one was asked for: one that passed meanwhile is asked for again.
  async show(thumbnail, packets) {
    const { kind, words, timestamp } = thumbnail;
    this.element.dataset.kind = kind;
    const isDrawn = await this.shown.show(thumbnail);
    if (kind !== "none" || !isDrawn) this.asked = packets;
    if (!isDrawn) return; // the next packet may be another case
    this.newest = thumbnail;
    const type = kind === "text" ? fieldsOf(words)?.type ?? "" : words; // the text stands above
    say(this.words, kind === "number" ? "" : type);
    this.words.title = words;
    say(this.when, timestamp && brief(timestamp));
    this.when.title = timestamp && `timestamp ${stamp(timestamp)}`;
  }
}
