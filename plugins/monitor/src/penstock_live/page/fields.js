// The text of an object, as Python writes it, in parts: `Failure(node='a', error=ValueError('no'))`.

const FIRST = ["error", "message", "reason", "text", "words", "kind", "state", "status", "label", "value"];
const OPENING = { "(": ")", "[": "]", "{": "}", "<": ">" };
const QUOTES = new Set(["'", '"']);

// Returns { type, rows }, rows of names and values, those first that say most; null where the text is no such object.
export function fieldsOf(text) {
  const found = /^([A-Za-z_][\w.]*)\((?=[A-Za-z_]\w*=)/.exec(text);
  if (found === null) return null;
  const rows = partsOf(text, found[0].length).map((part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)]);
  const order = ([key]) => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length);
  return { type: found[1], rows: rows.filter(([key]) => /^\w+$/.test(key)).sort((a, b) => order(a) - order(b)).map(([key, value]) => [key, plain(value)]) };
}

// Splits at commas that are in no bracket and no quotes, until the bracket around them closes or the text is cut off.
function partsOf(text, from) {
  const parts = [];
  const closing = [];
  let quote = "";
  let begin = from;
  for (let i = from; i <= text.length; i++) {
    const letter = text[i];
    if (quote) {
      if (letter === "\\") i++;
      else if (letter === quote) quote = "";
    } else if (QUOTES.has(letter)) quote = letter;
    else if (letter in OPENING) closing.push(OPENING[letter]);
    else if (closing.length && letter === closing.at(-1)) closing.pop();
    else if (letter === undefined || (!closing.length && (letter === "," || letter === ")"))) {
      parts.push(text.slice(begin, i).trim());
      if (letter !== ",") return parts;
      begin = i + 1;
    }
    if (letter === undefined) break;
  }
  return [...parts, text.slice(begin).trim()].filter(Boolean);
}

// What stands in quotes, without them; of a member of an enum its value.
function plain(value) {
  const member = /^<[\w.]+: (.*)>$/.exec(value)?.[1] ?? value;
  return /^'[^'\\]*'$/.test(member) || /^"[^"\\]*"$/.test(member) ? member.slice(1, -1) : member;
}
