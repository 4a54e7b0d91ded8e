// Numbers as words.

export function rate(perSecond) {
  return `${digits(perSecond)}/s`;
}

export function digits(number) {
  if (number >= 100) return Math.round(number).toLocaleString("en");
  return number === 0 ? "0" : number.toFixed(1);
}

export function seconds(time) {
  if (time < 100) return `${time.toFixed(1)} s`;
  const whole = Math.round(time);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

// For words that change once a second.
export function wholeSeconds(time) {
  return seconds(Math.floor(time)).replace(".0 s", " s");
}

// A timestamp as it is, in microseconds, and as seconds or a date beside that. What is no number stays as it is.
export function stamp(text, before = " (", after = ")") {
  const time = /^-?\d+$/.test(text) ? clock(Number(text)) : "";
  return time ? `${text}${before}${time}${after}` : text;
}

// A timestamp as one reads it: seconds, or the time of a clock, with the date if that is another day.
export function brief(text) {
  if (!/^-?\d+$/.test(text)) return text;
  const microseconds = Number(text);
  if (Math.abs(microseconds) < 1000 * EPOCH_FROM_MS) return clock(microseconds) || (microseconds === 0 ? "0 s" : `${text} us`);
  const at = new Date(microseconds / 1000);
  const date = at.toDateString() === new Date().toDateString() ? "" : `${at.toLocaleDateString("sv-SE")} `;
  return `${date}${at.toLocaleTimeString("sv-SE")}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

// A text of the server with brief timestamps, or without the bounds of streams.
export function withBriefTimes(text) {
  return text.replace(/((?:\(\)|failed) at |\bbound |\bsettle )(-?\d+)(?![\w.])/g, (_, words, time) => words + brief(time));
}

export function withoutBounds(text) {
  return withBriefTimes(text.replace(/ \(bound [^()]*\)/g, ""));
}

// A text of the server, whose timestamps have seconds beside them too.
export function withSeconds(text) {
  return text
    .replace(/((?:\(\)|failed) at )(-?\d+)(?![\w.])/g, (_, words, time) => words + stamp(time))
    .replace(/\b(bound )(-?\d+)\b/g, (_, words, time) => words + stamp(time, ", ", ""));
}

const EPOCH_FROM_MS = 1e11; // three years: no run lasts so long, so it is the time of a clock

// "" for less than a millisecond, which is easily read in microseconds.
function clock(microseconds) {
  const whole = Math.floor(Math.abs(microseconds) / 1000);
  if (whole === 0) return "";
  if (whole >= EPOCH_FROM_MS) return new Date(microseconds / 1000).toLocaleString("sv-SE");
  const sign = microseconds < 0 ? "-" : "";
  const padded = (number, length) => String(number).padStart(length, "0");
  const [hours, minutes, inMinute] = [whole / 3_600_000, (whole / 60_000) % 60, (whole / 1000) % 60].map(Math.floor);
  const rest = padded(whole % 1000, 3);
  if (whole < 60_000) return `${sign}${inMinute}.${rest} s`;
  if (hours === 0) return `${sign}${minutes}:${padded(inMinute, 2)}.${rest}`;
  return `${sign}${hours}:${padded(minutes, 2)}:${padded(inMinute, 2)}.${rest}`;
}

export function milliseconds(time) {
  return time < 10 ? `${time.toFixed(2)} ms` : time < 1000 ? `${time.toFixed(0)} ms` : seconds(time / 1000);
}

export function bytes(size) {
  for (const [unit, factor] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (size >= factor) return `${(size / factor).toFixed(1)} ${unit}`;
  }
  return `${size} bytes`;
}

export function share(part) {
  return `${Math.round(part * 100)} %`;
}

// How busy a node is; one whose calls overlap may be more than busy.
export function busyWords(part) {
  return part < 1.05 ? `${share(Math.min(1, part))} busy` : `${part.toFixed(1)} calls at once`;
}

// How many packets are in a queue, of the most that may be.
export function queue(stream) {
  return stream.limit === null ? String(stream.queued) : `${stream.queued} of ${stream.limit}`;
}

export function queueWords(stream) {
  return `queue ${queue(stream)}`;
}

export function plural(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

// The state of a node; one that has lost its source says that.
export function stateWords({ state, lost_s }) {
  return lost_s === null ? state : `lost for ${wholeSeconds(lost_s)}`;
}

// A timestamp bound; of a stream that has ended there is none.
export function boundWords(bound) {
  return bound === "Timestamp::Done()" ? "it has ended" : stamp(bound);
}
