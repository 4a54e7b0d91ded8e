// Readings from the server, as long as there is one; and what is to be said when there is none.

const AGAIN_MS = 2000;
const LONGEST_PAUSE_MS = 30_000; // a browser writes a line for each request that is refused
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
    this.pauseMs = AGAIN_MS;
    document.addEventListener("visibilitychange", () => this.restart());
    addEventListener("online", () => this.restart());
    addEventListener("pagehide", () => this.stop());
    addEventListener("pageshow", (event) => event.persisted && this.restart());
    this.restart();
  }

  restart() {
    this.stop();
    this.pauseMs = AGAIN_MS;
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
      this.pauseMs = AGAIN_MS;
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
    this.timer = setTimeout(() => this.tryAgain(), this.pauseMs);
    this.pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * this.pauseMs);
  }

  // One request tells whether the server is there again.
  async tryAgain() {
    const answer = await request("/reading");
    if (document.hidden || this.source !== null) return; // it is asked for elsewhere by now
    if (answer?.ok) this.listen();
    else this.lose(answer?.status === 403 ? "refused" : "gone");
  }

  async probe() {
    return (await request("/reading"))?.status === 403 ? "refused" : "gone";
  }

  async ask() {
    const answer = await request("/reading");
    if (document.hidden) this.timer = setTimeout(() => this.ask(), Math.max(HIDDEN_MS, this.pauseMs));
    this.pauseMs = answer === null ? Math.min(LONGEST_PAUSE_MS, 2 * this.pauseMs) : AGAIN_MS;
    if (answer?.ok) {
      this.onState("live");
      this.onReading(JSON.parse(answer.text));
    } else this.onState(answer?.status === 403 ? "refused" : "gone");
  }
}
