// One chart of every kind, with values whose labels are hard to place. `window.clipped` lists what was written past the
// edge of a canvas.
import { render } from "preact";
import { Chart } from "../src/charts/chart";
import { ChartGroup } from "../src/charts/group";
import type { Kind, Line } from "../src/charts/line";

const clipped: string[] = [];
Object.assign(window, { clipped });
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text: string, x: number, y: number) {
  const width = this.measureText(text).width;
  const left = this.textAlign === "right" ? x - width : this.textAlign === "center" ? x - width / 2 : x;
  const place = this.getTransform().transformPoint(new DOMPoint(left, y));
  const turned = this.getTransform().b !== 0;
  if (!turned && (place.x < 0 || place.x + width > this.canvas.width)) clipped.push(`${text} at ${place.x}`);
  if (place.y < 0 || place.y > this.canvas.height) clipped.push(`${text} at height ${place.y}`);
  write.call(this, text, x, y);
};

const xs = Array.from({ length: 30 }, (_, index) => index * 200);
const kinds: [kind: Kind, scale: number, logarithmic: boolean][] = [
  ["line", 0.000155, false],
  ["steps", 0.00012, true],
  ["scatter", 1e9, true],
  ["area", 1, false],
  ["bars", 123_456, false],
  ["band", 1, true],
];

function lineOf(kind: Kind, scale: number): Line {
  const ys = xs.map((x) => scale * (1.5 + Math.sin(x / 900)));
  const lows = kind === "band" ? { lows: ys.map((y) => y * 0.7) } : {};
  return { id: kind, label: kind, colour: "--series-0", style: { kind }, xs, ys, ...lows };
}

render(
  <ChartGroup>
    {kinds.map(([kind, scale, logarithmic]) => (
      <Chart
        key={kind}
        title={kind}
        file={kind}
        figure={{
          lines: [lineOf(kind, scale)],
          references: [{ id: "target", label: "target", value: scale * 2, colour: "--series-1" }],
          marks: [{ x: 5_780, label: "attempt 2" }],
          x: { title: "step", numbers: "plain" },
          y: { title: "size", unit: "units", numbers: "plain" },
          logarithmic,
          hidden: new Set(),
        }}
        summary={kind}
        readX={String}
        onToggle={() => {}}
        asTable={false}
        onTable={() => {}}
      />
    ))}
  </ChartGroup>,
  document.getElementById("app")!,
);
