// The widgets of notebooks: a running graph, and the slider of a recording. What they show is in the model.

const COLUMNS = {
  stream: (one) => one.name,
  "packets/s": (one) => rate(one.per_s),
  packets: (one) => one.packets.toLocaleString("en"),
  queue: queue,
  dropped: (one) => (one.dropped ? dropsOfStream(one) : "0"),
  "latency (median)": (one, latency) => (latency === undefined ? "–" : milliseconds(latency.median_ms)),
};
const NUMBERS = new Set(["packets/s", "packets", "queue", "latency (median)"]);

// A packet in a few square centimetres.
function cardOf(name, card) {
  const figure = make("figure", { class: "card", "data-card": name }, make("figcaption", {}, make("strong", {}, name)));
  figure.append(contentOf(name, card));
  if (card.words && card.kind !== "number") figure.append(make("p", { class: "hint" }, card.words));
  if (card.timestamp) figure.append(make("p", { class: "hint" }, `at ${card.timestamp}`));
  return figure;
}

function contentOf(name, card) {
  if (card.content.startsWith("data:image/")) return make("img", { src: card.content, alt: `${name}: ${card.words}` });
  const said = JSON.parse(card.content);
  if (card.kind === "lines") return plot(said.rows, `${name}: ${card.words}`);
  if (card.kind === "number") return make("p", { class: "value" }, said.value === null ? "no finite number" : String(said.value));
  if (card.kind === "text") return make("p", {}, said.text);
  return make("p", { class: "hint" }, "no packet");
}

function showCards(place, cards) {
  place.replaceChildren(...Object.entries(cards).map(([name, card]) => cardOf(name, card)));
}

// JupyterLab takes no key from an element with this attribute.
const OWN_KEYS = "data-lm-suppress-shortcuts";

// Keeps the keys that are pressed inside an element: in JupyterLab an arrow key would go to the cells, and not to the slider.
// Those with Ctrl or Cmd stay the notebook's; their own event comes before that of the letter.
function keepKeys(element) {
  const keep = (event) => element.toggleAttribute(OWN_KEYS, !(event.ctrlKey || event.metaKey));
  for (const kind of ["keydown", "keyup", "focusin"]) element.addEventListener(kind, keep);
}

// Returns the element that a view is drawn in, apart from the styles of the notebook.
function inside(el, css) {
  const host = make("div");
  keepKeys(host);
  el.append(host);
  const root = host.attachShadow({ mode: "open" });
  const live = make("div", { class: "live" });
  root.append(make("style", {}, css), live);
  return live;
}

// --- a running graph -----------------------------------------------------------------------------

function renderGraph(model, live) {
  const state = make("p", { class: "state", role: "status" });
  const stall = make("p", { class: "stall" });
  const picture = make("div", { class: "picture" });
  const table = make("tbody");
  const heads = Object.keys(COLUMNS).map((head) => make("th", { scope: "col", class: NUMBERS.has(head) ? "number" : "" }, head));
  const choice = make("select", { "aria-label": "Show or hide the packets of a stream" });
  const cards = make("div", { class: "cards" });
  live.append(state, stall, picture, make("table", {}, make("thead", {}, make("tr", {}, ...heads)), table), choice, cards);

  const draw = () => {
    picture.innerHTML = model.get("picture"); // made by penstock_views, which escapes the names in it
    if (!model.get("picture")) picture.textContent = model.get("picture_words");
    for (const note of picture.querySelectorAll(".pk-note")) note.textContent = "";
    update();
  };
  const update = () => {
    const reading = model.get("reading");
    const words = reading.stall === null ? reading.state : `nothing has moved for ${seconds(reading.stall.since_s)}`;
    state.textContent = `${words}, ${seconds(reading.elapsed_s)}${model.get("status") === "live" ? "" : ` (${model.get("status")})`}`;
    stall.textContent = [...reading.errors, reading.stall === null ? "" : reading.stall.story].join("\n").trim();
    stall.hidden = stall.textContent === "";
    notes(picture, reading);
    const latencies = new Map(reading.latencies.map((one) => [one.stream, one]));
    table.replaceChildren(...reading.streams.map((one) => rowOf(one, latencies.get(one.name))));
  };
  const choose = () => {
    const shown = new Set(model.get("streams"));
    const options = model.get("names").map((name) => make("option", { value: name }, `${shown.has(name) ? "hide" : "show"} ${name}`));
    choice.replaceChildren(make("option", { value: "" }, "packets of a stream …"), ...options);
  };
  choice.addEventListener("change", () => {
    const before = model.get("streams");
    const name = choice.value;
    model.set("streams", before.includes(name) ? before.filter((one) => one !== name) : [...before, name]);
    model.save_changes();
  });
  const show = () => showCards(cards, model.get("cards"));
  const listeners = { "change:picture": draw, "change:picture_words": draw, "change:reading": update, "change:status": update, "change:streams": choose, "change:cards": show };
  for (const [event, call] of Object.entries(listeners)) model.on(event, call);
  draw();
  choose();
  show();
  model.send({ views: 1 });
  return () => {
    for (const [event, call] of Object.entries(listeners)) model.off(event, call);
    model.send({ views: -1 });
  };
}

function rowOf(stream, latency) {
  const cells = Object.entries(COLUMNS).map(([head, text]) => make("td", { class: NUMBERS.has(head) ? "number" : "" }, text(stream, latency)));
  return make("tr", {}, ...cells);
}

// Writes numbers into the picture, and marks what a stall comes from.
function notes(picture, reading) {
  const culprits = new Set((reading.stall?.culprits ?? []).map((one) => (one.node ? `node ${one.node}` : `stream ${one.stream}`)));
  const items = new Map();
  for (const node of reading.nodes) {
    const busy = node.busy === null ? "" : `, ${share(node.busy)} busy`;
    items.set(`node ${node.name}`, [`${digits(node.steps_per_s)} steps/s${busy}`, node.place]);
  }
  for (const stream of reading.streams) items.set(`stream ${stream.name}`, [`${queueWords(stream)}, ${rate(stream.per_s)}`]);
  for (const group of picture.querySelectorAll("[data-node], [data-stream]:not(.pk-edge)")) {
    const key = group.dataset.node === undefined ? `stream ${group.dataset.stream}` : `node ${group.dataset.node}`;
    group.classList.toggle("is-culprit", culprits.has(key));
    group.querySelectorAll(".pk-note").forEach((note, i) => say(note, items.get(key)?.[i] ?? ""));
  }
}

// --- a recording ---------------------------------------------------------------------------------

function renderRecording(model, live) {
  const slider = make("input", { type: "range", min: 0, max: Math.max(0, model.get("count") - 1), step: 1, "aria-label": "row" });
  const said = make("output");
  const cards = make("div", { class: "cards" });
  live.append(make("p", { class: "state" }, model.get("title")), make("div", { class: "slider" }, slider, said), cards);
  slider.disabled = model.get("count") === 0;
  const update = () => {
    slider.value = model.get("row");
    said.textContent = model.get("count") ? `row ${model.get("row") + 1} of ${model.get("count")}, at ${model.get("timestamp")}` : "no packets";
  };
  const show = () => showCards(cards, model.get("cards"));
  slider.addEventListener("input", () => {
    model.set("row", Number(slider.value));
    model.save_changes();
  });
  const listeners = { "change:row": update, "change:timestamp": update, "change:cards": show };
  for (const [event, call] of Object.entries(listeners)) model.on(event, call);
  update();
  show();
  return () => {
    for (const [event, call] of Object.entries(listeners)) model.off(event, call);
  };
}

export default {
  render({ model, el }) {
    const live = inside(el, model.get("css"));
    return model.get("kind") === "recording" ? renderRecording(model, live) : renderGraph(model, live);
  },
};
