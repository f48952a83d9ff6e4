// What the reader can do with a chart: read it as a table, save it.
import type { RefObject } from "preact";
import { MoreIcon } from "../ui/icons";
import { Menu } from "../ui/menu";
import { saveAs } from "../ui/save_as";
import { csvOf } from "./csv";
import { useChartGroup } from "./group";
import type { Aligned } from "./line";
import { pictureOf } from "./picture";
import type { Figure } from "./plot_options";

interface Properties {
  title: string;
  /** The name of the file without its ending. */
  file: string;
  figure: Figure;
  data: Aligned;
  body: RefObject<HTMLElement>;
  /** A chart that is shown as a table has no picture. */
  asTable: boolean;
}

export function ChartMenu({ title, file, figure, data, body, asTable }: Properties) {
  const group = useChartGroup();
  const saveValues = () => {
    const text = csvOf(figure, data, group.range(figure.x.title));
    saveAs(`${file}.csv`, new Blob([text], { type: "text/csv" }));
  };
  const savePicture = () => {
    const plot = body.current?.querySelector("canvas");
    if (plot) pictureOf(title, figure, plot).toBlob((blob) => blob && saveAs(`${file}.png`, blob));
  };
  return (
    <Menu face={<MoreIcon />} name={`Save ${title}`} className="chart-switch">
      <li>
        <button type="button" onClick={saveValues}>
          Save as CSV
        </button>
      </li>
      {!asTable && (
        <li>
          <button type="button" onClick={savePicture}>
            Save as PNG
          </button>
        </li>
      )}
    </Menu>
  );
}
