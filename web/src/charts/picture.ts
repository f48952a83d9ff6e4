// A chart as a picture: its title, its plot and its legend on the background of its panel.
import { entryOf } from "./line";
import { colourOf } from "./palette";
import type { Figure } from "./plot_options";

const fontSize = 13;
const lineHeight = 22;
const margin = 8;

export function pictureOf(title: string, figure: Figure, plot: HTMLCanvasElement): HTMLCanvasElement {
  const scale = devicePixelRatio;
  const picture = document.createElement("canvas");
  const entries = legendOf(figure);
  picture.width = plot.width;
  picture.height = plot.height + (entries.length + 1) * lineHeight * scale + margin * scale;
  const ctx = picture.getContext("2d")!;
  ctx.fillStyle = colourOf("--panel");
  ctx.fillRect(0, 0, picture.width, picture.height);
  ctx.drawImage(plot, 0, lineHeight * scale);
  ctx.scale(scale, scale);
  ctx.textBaseline = "middle";
  ctx.font = `600 ${fontSize}px ${colourOf("--font")}`;
  ctx.fillStyle = colourOf("--text");
  ctx.fillText(title, margin, lineHeight / 2);
  ctx.font = `${fontSize}px ${colourOf("--font")}`;
  entries.forEach(({ label, colour, dashed }, index) => {
    const y = plot.height / scale + (index + 1.5) * lineHeight;
    ctx.fillStyle = colourOf(colour);
    ctx.fillRect(margin, y - 2, dashed ? 6 : 14, 4);
    if (dashed) ctx.fillRect(margin + 9, y - 2, 5, 4);
    ctx.fillStyle = colourOf("--text");
    ctx.fillText(label, margin + 22, y);
  });
  return picture;
}

interface Entry {
  label: string;
  colour: string;
  dashed: boolean;
}

function legendOf({ lines, references, hidden }: Figure): Entry[] {
  const drawn = lines.filter((line) => !line.style.faint && !hidden.has(entryOf(line)));
  const compared = references.filter(({ id }) => !hidden.has(id));
  return [
    ...drawn.map(({ label, colour, style }) => ({ label, colour, dashed: style.dashed === true })),
    ...compared.map(({ label, colour }) => ({ label, colour, dashed: true })),
  ];
}
