// Puts the page together.
import { byId, say } from "./elements.js";
import { announce } from "./announcer.js";
import { startTheme } from "./theme.js";
import { Connection } from "./connection.js";
import { Picture } from "./picture.js";
import { Details } from "./details.js";
import { Tables } from "./tables.js";
import { Thumbnails } from "./thumbnails.js";
import { Troubles } from "./stall.js";
import { seconds } from "./words.js";

const CONNECTION_WORDS = {
  live: "live",
  gone: "the server is gone; the numbers are its last ones; trying again",
  refused: "the server refuses this page: open the address that it has printed",
};

let newest = null;
let connectionState = "connecting";

startTheme();
const thumbnails = new Thumbnails();
const picture = new Picture(choose);
const details = new Details((name) => thumbnails.open(name), (kind, name) => picture.focus(`${kind} ${name}`));
const tables = new Tables(choose);
const troubles = new Troubles(choose);
new Connection(showReading, showConnection);
loadPicture();

function choose(kind, name) {
  details.open(kind, name, newest);
}

function showReading(reading) {
  const state = reading.stall === null ? reading.state : "stalled";
  if (newest === null || byId("run-state").textContent !== state) {
    if (newest !== null && state !== "stalled") announce(`The run is ${state}.`);
    say(byId("run-state"), state);
    document.body.dataset.run = state;
  }
  document.title = `${state === "stalled" ? "⚠ " : ""}${state} – Penstock`;
  newest = reading;
  say(byId("elapsed"), seconds(reading.elapsed_s));
  picture.update(reading);
  picture.mark(reading.stall?.culprits ?? []);
  details.update(reading);
  tables.update(reading);
  thumbnails.update(reading);
  troubles.update(reading);
}

function showConnection(state) {
  if (state === connectionState) return;
  const before = connectionState;
  connectionState = state;
  const element = byId("connection");
  element.dataset.state = state;
  element.textContent = CONNECTION_WORDS[state];
  document.body.dataset.connection = state;
  if (state === "gone") announce("The server is gone.");
  if (state === "live" && before !== "connecting") {
    announce("The server is there again.");
    loadPicture();
  }
}

async function loadPicture() {
  // where the server is gone the picture is loaded when it is back
  if (picture.svg === null && (await picture.load()) && newest !== null) showReading(newest);
}
