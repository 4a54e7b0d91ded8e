// Small lines over the last minute, in the box of a node: how often it is called, how long a call takes, how many
// packets wait before it. Their words are those of the reading that the box shows.
import { makeSvg, say } from "./elements.js";

const POINTS = 60;
const FEWEST_POINTS = 15; // a run that has just begun has lines that are as wide
const SPACE = 8;
const KINDS = ["rate", "ms", "queue"];
export const SPARK_HEIGHT = 16;

export class Sparks {
  // `box` is where they have room, in the units of the picture: x, y and width; they are 30 high.
  constructor(group, { x, y, width }) {
    this.lines = new Map();
    this.y = y;
    this.width = (width - 2 * SPACE) / 3;
    this.all = makeSvg("g", { "aria-hidden": "true", class: "sparks" });
    KINDS.forEach((key, i) => {
      const left = x + i * (this.width + SPACE);
      const ground = makeSvg("rect", { class: "spark-ground", x: left, y, width: this.width, height: SPARK_HEIGHT, rx: 2 });
      const path = makeSvg("path", { class: `spark spark-${key}`, transform: `translate(${left.toFixed(1)} ${y.toFixed(1)})` });
      const words = makeSvg("text", { class: "spark-words", x: left + this.width / 2, y: y + SPARK_HEIGHT + 10 });
      this.all.append(ground, path, words);
      this.lines.set(key, { path, words });
    });
    group.append(this.all);
  }

  moveTo(y) {
    this.all.setAttribute("transform", `translate(0 ${(y - this.y).toFixed(1)})`);
  }

  // `words` has one text for each line.
  tell(words) {
    for (const [key, one] of this.lines) say(one.words, words[key]);
  }

  draw(series) {
    for (const [key, { path }] of this.lines) path.setAttribute("d", this.outline(series[key]));
  }

  outline(numbers) {
    const most = numbers.reduce((a, b) => Math.max(a, b ?? 0), 0) || 1;
    const points = Math.min(POINTS, Math.max(FEWEST_POINTS, numbers.length));
    let isDown = false;
    return numbers.map((one, i) => {
      if (one === null) return (isDown = false), "";
      const x = ((points - numbers.length + i) / (points - 1)) * this.width;
      const point = `${x.toFixed(1)} ${(SPARK_HEIGHT - 1.5 - (one / most) * (SPARK_HEIGHT - 3)).toFixed(1)}`;
      const word = isDown ? `L${point}` : `M${point}h0`;
      isDown = true;
      return word;
    }).join("");
  }
}
