// The notes beside a curve's name in the legend.
import { formatCount } from "../format/numbers";
import { countNotFinite, type Point } from "../model/series";

interface Properties {
  points: readonly Point[];
  /** The number of points that the coordinator's database cannot read. */
  lost: number;
}

const damage = "The coordinator’s database is damaged. Restore a backup of its home to recover the points.";

export function CurveNotes({ points, lost }: Properties) {
  const notFinite = countNotFinite(points);
  if (notFinite === 0 && lost === 0) return null;
  return (
    <span class="error-text" title={lost > 0 ? damage : undefined}>
      {notFinite > 0 && `${formatCount(notFinite)} not finite`}
      {notFinite > 0 && lost > 0 && "; "}
      {lost > 0 && `${formatCount(lost)} unreadable`}
    </span>
  );
}
