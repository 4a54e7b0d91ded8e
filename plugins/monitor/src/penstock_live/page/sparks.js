// Small lines over the last minute, in the box of a node: how often it is called, how long a call takes, how many
// packets wait before it.
import { makeSvg, say } from "./elements.js";
import { digits, milliseconds } from "./words.js";

const POINTS = 60;
const SPARK_HEIGHT = 16;
const SPACE = 8;
const KINDS = {
  rate: (one) => `${digits(one)}/s`,
  ms: (one) => `${milliseconds(one)} a call`,
  queue: (one) => `${one} wait`,
};

export class Sparks {
  // `box` is where they have room, in the units of the picture: x, y and width; they are 30 high.
  constructor(group, { x, y, width }) {
    this.lines = new Map();
    this.width = (width - 2 * SPACE) / 3;
    Object.keys(KINDS).forEach((key, i) => {
      const left = x + i * (this.width + SPACE);
      const ground = makeSvg("rect", { class: "spark-ground", x: left, y, width: this.width, height: SPARK_HEIGHT, rx: 2 });
      const path = makeSvg("path", { class: `spark spark-${key}`, transform: `translate(${left.toFixed(1)} ${y.toFixed(1)})` });
      const words = makeSvg("text", { class: "spark-words", x: left + this.width / 2, y: y + SPARK_HEIGHT + 10 });
      group.append(makeSvg("g", { "aria-hidden": "true" }, ground, path, words));
      this.lines.set(key, { path, words });
    });
  }

  draw(series) {
    for (const [key, { path, words }] of this.lines) {
      const numbers = series[key];
      const last = numbers.at(-1) ?? null;
      say(words, last === null ? "–" : KINDS[key](last));
      path.setAttribute("d", this.outline(numbers));
    }
  }

  outline(numbers) {
    const most = numbers.reduce((a, b) => Math.max(a, b ?? 0), 0) || 1;
    let isDown = false;
    return numbers.map((one, i) => {
      if (one === null) return (isDown = false), "";
      const x = ((POINTS - numbers.length + i) / (POINTS - 1)) * this.width;
      const point = `${x.toFixed(1)} ${(SPARK_HEIGHT - 1.5 - (one / most) * (SPARK_HEIGHT - 3)).toFixed(1)}`;
      const word = isDown ? `L${point}` : `M${point}h0`;
      isDown = true;
      return word;
    }).join("");
  }
}
