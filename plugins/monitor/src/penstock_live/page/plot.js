// Lines through numbers.
import { makeSvg } from "./elements.js";

const WIDTH = 300;
const HEIGHT = 90;

// Returns a picture of rows of numbers, each a line on one scale; null is a gap.
export function plot(rows, label) {
  const numbers = rows.flat().filter((one) => one !== null);
  const least = numbers.reduce((a, b) => Math.min(a, b), Infinity);
  const largest = numbers.reduce((a, b) => Math.max(a, b), -Infinity);
  const span = largest - least || 1;
  const svg = makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plot", role: "img", "aria-label": label });
  rows.forEach((row, number) => {
    const step = WIDTH / Math.max(1, row.length - 1);
    const y = (one) => (largest === least ? HEIGHT / 2 : HEIGHT - 4 - ((one - least) / span) * (HEIGHT - 8));
    let isDown = false;
    const path = row.map((one, i) => {
      if (one === null) return (isDown = false), "";
      const point = `${(i * step).toFixed(1)} ${y(one).toFixed(1)}`;
      const word = isDown ? `L${point}` : `M${point}h0`; // a point alone is seen too
      isDown = true;
      return word;
    });
    svg.append(makeSvg("path", { d: path.join(""), class: `plot-line plot-${number % 4}` }));
  });
  return svg;
}
