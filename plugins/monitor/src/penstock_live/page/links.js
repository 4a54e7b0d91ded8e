// Addresses of what is shown, which can be sent to others: #node=NAME, #stream=NAME, #group=NAME.

const KINDS_OF_LINKS = new Set(["node", "stream", "group"]);

// Returns { kind, name } of the address, and null where it names nothing.
export function linked() {
  const [kind, ...rest] = location.hash.slice(1).split("=");
  if (!KINDS_OF_LINKS.has(kind) || !rest.length) return null;
  try {
    return { kind, name: decodeURIComponent(rest.join("=")) };
  } catch {
    return null; // a broken address
  }
}

export function link(kind, name) {
  history.replaceState(null, "", `#${kind}=${encodeURIComponent(name)}`);
}

export function unlink() {
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
}
