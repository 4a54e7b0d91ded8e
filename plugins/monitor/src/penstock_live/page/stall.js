// The story of a stall, and the errors of a run.
import { byId, make, say, show } from "./elements.js";
import { announce } from "./announcer.js";
import { seconds, withSeconds } from "./words.js";

const FIRST_LINE = 240; // letters of an error that are shown at first

export class Troubles {
  constructor(onChosen) {
    this.onChosen = onChosen;
    this.told = "";
    this.errors = "";
  }

  update(reading) {
    this.tellStall(reading.stall);
    const errors = reading.errors.join("\n");
    if (errors !== this.errors) {
      this.errors = errors;
      byId("error-list").replaceChildren(...reading.errors.map((one) => make("li", {}, ...errorOf(withSeconds(one)))));
      show(byId("errors"), reading.errors.length > 0);
      if (errors) announce(`The run has an error${placeOf(reading.errors[0])}. It stands under Errors.`);
    }
  }

  tellStall(stall) {
    show(byId("stall"), stall !== null);
    if (stall === null) {
      if (this.told) announce("The graph moves again.");
      this.told = "";
      return;
    }
    say(byId("stall-heading"), `⚠ Nothing has moved for ${seconds(stall.since_s)}`);
    const told = JSON.stringify([stall.story, stall.culprits]);
    if (told === this.told) return;
    const isNew = !this.told;
    this.told = told;
    say(byId("story"), withSeconds(stall.story));
    byId("culprits").replaceChildren(...stall.culprits.map((one) => this.culprit(one)));
    if (isNew) announce(`Nothing moves. ${stall.culprits.map((one) => one.words).join(". ") || stall.story}`);
  }

  culprit(one) {
    const words = withSeconds(one.words);
    if (!one.node && !one.stream) return make("li", {}, words);
    const name = one.node || one.stream;
    const button = make("button", { type: "button" }, `Show ${name}`);
    button.addEventListener("click", () => this.onChosen(one.node ? "node" : "stream", name));
    return make("li", {}, `${words} `, button);
  }
}

// A short error as it is; of a longer one the first line, and the rest when it is asked for.
function errorOf(text) {
  const [line] = text.split("\n", 1);
  if (line === text && text.length <= FIRST_LINE) return [make("pre", {}, text)];
  const first = line.length > FIRST_LINE ? `${line.slice(0, FIRST_LINE)}…` : line;
  const whole = make("pre", { class: "whole", tabindex: "0", role: "group", "aria-label": "The whole error" }, text);
  return [make("details", {}, make("summary", {}, make("span", { class: "first-line" }, first), " ", make("span", { class: "more" })), whole)];
}

// The text of an error stands in the page once: a screen reader is told only whose it is.
function placeOf(error) {
  const node = /\bnode '([^']+)'/.exec(error)?.[1];
  return node === undefined ? "" : ` in node '${node}'`;
}
