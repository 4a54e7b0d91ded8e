// Readings from the server, as long as there is one; and what is to be said when there is none.

const AGAIN_MS = 2000;
const HIDDEN_MS = 5000;
const token = new URLSearchParams(location.search).get("token") ?? "";

// `query` is a list of pairs.
export function address(path, query = []) {
  return `${path}?${new URLSearchParams([...query, ["token", token]])}`;
}

// Returns the status and the text of an answer of the server, and null where it gives none, also if it goes in the
// middle of one. What the page then does with the text is not covered: its mistakes are the page's.
export async function request(path, query = []) {
  try {
    const answer = await fetch(address(path, query));
    return { status: answer.status, ok: answer.ok, text: await answer.text() };
  } catch {
    return null;
  }
}

// Calls `onReading(reading)`, `onJournal(journal)` with events that are new or have changed, and `onState(state)` with
// "live", "gone" or "refused". A page that is not seen
// keeps no connection open, since a browser has few for each server; it asks now and then.
export class Connection {
  constructor(onReading, onState, onJournal) {
    this.onReading = onReading;
    this.onState = onState;
    this.onJournal = onJournal;
    this.source = null;
    this.timer = 0;
    document.addEventListener("visibilitychange", () => this.restart());
    addEventListener("pagehide", () => this.stop());
    addEventListener("pageshow", (event) => event.persisted && this.restart());
    this.restart();
  }

  restart() {
    this.stop();
    if (document.hidden) this.ask();
    else this.listen();
  }

  stop() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  listen() {
    const source = new EventSource(address("/events"));
    this.source = source;
    source.onmessage = (event) => {
      this.onState("live");
      this.onReading(JSON.parse(event.data));
    };
    source.addEventListener("journal", (event) => this.onJournal(JSON.parse(event.data)));
    source.addEventListener("end", () => this.lose("gone"));
    source.onerror = async () => {
      this.stop();
      this.lose(await this.probe());
    };
  }

  lose(state) {
    this.stop();
    this.onState(state);
    this.timer = setTimeout(() => this.restart(), AGAIN_MS);
  }

  async probe() {
    return (await request("/reading"))?.status === 403 ? "refused" : "gone";
  }

  async ask() {
    const answer = await request("/reading");
    if (document.hidden) this.timer = setTimeout(() => this.ask(), HIDDEN_MS);
    if (answer?.ok) {
      this.onState("live");
      this.onReading(JSON.parse(answer.text));
    } else this.onState(answer?.status === 403 ? "refused" : "gone");
  }
}
