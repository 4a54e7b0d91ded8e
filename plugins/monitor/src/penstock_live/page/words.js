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

export function queue(stream) {
  return stream.limit === null ? `${stream.queued} wait` : `${stream.queued} of ${stream.limit}`;
}

export function reasons(stream) {
  return Object.entries(stream.drops).map(([reason, count]) => `${count.toLocaleString("en")} ${reason}`).join(", ");
}
