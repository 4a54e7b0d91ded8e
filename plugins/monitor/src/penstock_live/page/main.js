// Puts the page together.
import { byId, say, show } from "./elements.js";
import { announce } from "./announcer.js";
import { startTheme } from "./theme.js";
import { Connection } from "./connection.js";
import { Picture } from "./picture.js";
import { Minute } from "./minute.js";
import { Details } from "./details.js";
import { Tables } from "./tables.js";
import { Thumbnails } from "./thumbnails.js";
import { Timeline } from "./timeline.js";
import { Troubles } from "./stall.js";
import { Search } from "./search.js";
import { link, linked, unlink } from "./links.js";
import { seconds, wholeSeconds } from "./words.js";

const CONNECTION_WORDS = {
  live: "live",
  still: "server connected",
  paused: "paused here; the run goes on",
  gone: "the server is gone; the numbers are its last ones; trying again",
  refused: "the server refuses this page: open the address that it has printed",
};

const KEPT_EVENTS = 300;
const PROGRAM = "Penstock";
const TROUBLED = new Set(["stalled", "failed"]);

let newest = null; // the reading that is shown
let held = null; // the newest one, while the page is paused
let heldEvents = null; // what has happened meanwhile, and when the newest of it was told
let lostNames = null; // of nodes, as they were told last
let isPaused = false;
let connectionState = "connecting";
let lostAt = null; // when the server gave its last answer

startTheme();
const thumbnails = new Thumbnails();
const minute = new Minute();
const picture = new Picture(choose);
const timeline = new Timeline(choose);
const details = new Details({
  showStream: (name) => thumbnails.open(name),
  toggle: async (name) => {
    await picture.toggle(name);
    details.update(newest);
  },
  isOpen: (name) => picture.isOpen(name),
  eventsOf: (name) => timeline.ofNode(name),
  closed: (kind, name) => {
    unlink();
    picture.highlight(null);
    picture.focus(kind, name);
  },
  escaped: () => search.clear(),
});
const tables = new Tables(choose);
const troubles = new Troubles(choose);
const search = new Search({
  onFound: (things) => {
    picture.find(things);
    tables.find(things);
  },
  onChosen: choose,
  eventsOf: (name) => timeline.ofNode(name),
  failed: () => failedNodes(newest),
  busiest: () => picture.bottleneck.name,
});
picture.onPut = () => newest !== null && showInPicture(true);
byId("pause").addEventListener("click", togglePause);
addEventListener("hashchange", openLinked);
minute.load().then(() => {
  new Connection(takeReading, showConnection, takeJournal);
  loadPicture();
});

async function choose(kind, name) {
  details.open(kind, name, newest);
  link(kind, name);
  if (kind === "stream") thumbnails.choose(name);
  picture.highlight({ kind, name });
  await picture.reveal(kind, name);
  picture.highlight(details.chosen);
}

function openLinked() {
  const wanted = linked();
  if (wanted !== null) choose(wanted.kind, wanted.name);
}

function takeReading(reading) {
  held = reading;
  if (isPaused) minute.take(reading);
  else showReading(reading);
}

// A page that is paused keeps as many events as the server does.
function takeJournal({ now_s, events }) {
  if (!isPaused) {
    timeline.take({ now_s, events }, held.elapsed_s);
    return;
  }
  const all = new Map(heldEvents?.events.map((one) => [one.number, one]));
  for (const one of events) all.set(one.number, one);
  heldEvents = { now_s, events: [...all.values()].slice(-KEPT_EVENTS), elapsed_s: held.elapsed_s };
}

function togglePause() {
  isPaused = !isPaused;
  tellQuiet();
  byId("pause").setAttribute("aria-pressed", String(isPaused));
  byId("pause").textContent = isPaused ? "Go on" : "Pause";
  document.body.classList.toggle("is-paused", isPaused);
  tellConnection();
  if (isPaused || held === null) return;
  if (heldEvents !== null) timeline.take(heldEvents, heldEvents.elapsed_s);
  heldEvents = null;
  showReading(held, true);
}

function showReading(reading, hasNewLines = false) {
  const state = stateOf(reading);
  if (newest === null || byId("run-state").textContent !== state) {
    if (newest !== null && state !== "stalled") announce(state === "failed" ? "The run has failed." : `The run is ${state}.`);
    say(byId("run-state"), state);
    document.body.dataset.run = state;
  }
  const isLost = tellLost(reading);
  const name = byId("title").textContent;
  document.title = `${TROUBLED.has(state) || isLost ? "⚠ " : ""}${state}${isLost ? ", source lost" : ""} – ${name === PROGRAM ? "" : `${name} – `}${PROGRAM}`;
  const isFirst = newest === null;
  newest = reading;
  say(byId("elapsed"), seconds(reading.elapsed_s));
  tellConnection();
  search.update(reading);
  showInPicture(minute.take(reading) || isFirst || hasNewLines);
  details.update(reading);
  tables.update(reading);
  thumbnails.update(reading);
  timeline.update(reading);
  troubles.update(reading);
  if (isFirst) openLinked();
}

function stateOf({ stall, state, errors }) {
  return stall !== null ? "stalled" : state === "over" && errors.length ? "failed" : state;
}

function showInPicture(hasNewLines) {
  const names = (isIt) => newest.nodes.filter(isIt).map((one) => one.name);
  picture.mark(newest.stall?.culprits ?? [], failedNodes(newest), names((one) => one.lost_s !== null));
  picture.update(newest, minute, hasNewLines, timeline.failed());
}

// Returns the names of the nodes that failed in open, or have ended the run.
function failedNodes(reading) {
  const named = failedIn(reading);
  return reading.nodes.filter((one) => one.state.startsWith("failed") || named.has(one.name)).map((one) => one.name);
}

// Returns the names of the nodes that have ended the run: each error begins with the node that it is of. They may not
// be closed yet.
function failedIn({ errors }) {
  return new Set(errors.map((one) => /\bnode '([^']+)'/.exec(one)?.[1]));
}

// Says which sources are lost, beside the state of the run.
function tellLost({ nodes }) {
  const lost = nodes.filter((one) => one.lost_s !== null);
  const words = lost.length > 1 ? `⚠ ${lost.length} sources lost` : lost.length ? `⚠ ${lost[0].name} lost for ${wholeSeconds(lost[0].lost_s)}` : "";
  const names = lost.map((one) => one.name).join(", ");
  say(byId("lost"), words);
  show(byId("lost"), lost.length > 0);
  if (names !== lostNames && lostNames !== null) announce(names ? `Lost: ${names}.` : "No source is lost any more.");
  lostNames = names;
  return lost.length > 0;
}

function showConnection(state) {
  if (state === connectionState) return;
  const before = connectionState;
  connectionState = state;
  if (state !== "live") lostAt = new Date();
  tellQuiet();
  tellConnection();
  if (state === "gone") announce("The server is gone.");
  if (state === "live" && before !== "connecting") {
    announce("The server is there again.");
    loadPicture();
  }
}

// A page that is paused asks for nothing, and neither does one whose server gives no answers.
function tellQuiet() {
  thumbnails.isPaused = details.isPaused = isPaused || connectionState !== "live";
}

// A connection is live where numbers change: while the graph runs, and the page is not paused.
function tellConnection() {
  if (connectionState === "connecting") return;
  const isStill = newest !== null && newest.state !== "running";
  const state = connectionState !== "live" ? connectionState : isPaused ? "paused" : isStill ? "still" : "live";
  const element = byId("connection");
  element.dataset.state = state;
  say(element, CONNECTION_WORDS[state]);
  document.body.dataset.connection = state;
  // numbers that are no longer so say it where they stand
  const isLost = state === "gone" || state === "refused";
  for (const mark of document.querySelectorAll(".last")) {
    say(mark, isLost ? `last known at ${lostAt.toLocaleTimeString("en-GB")}` : "");
    show(mark, isLost);
  }
}

async function loadPicture() {
  // where the server is gone the picture is loaded when it is back
  if (picture.svg === null && (await picture.load()) && details.chosen !== null) {
    await picture.reveal(details.chosen.kind, details.chosen.name);
    picture.highlight(details.chosen);
  }
}
