// What is said beside a curve's name in the legend.
import { formatCount } from "../model/numbers";
import { countNotFinite, type Point } from "../model/series";

interface Properties {
  points: readonly Point[];
  /** Points that the coordinator's database cannot read. */
  lost: number;
}

export function CurveNotes({ points, lost }: Properties) {
  const notFinite = countNotFinite(points);
  if (notFinite === 0 && lost === 0) return null;
  return (
    <span class="error-text">
      {notFinite > 0 && `${formatCount(notFinite)} not finite`}
      {notFinite > 0 && lost > 0 && "; "}
      {lost > 0 && `${formatCount(lost)} lost to damage of the coordinator’s database`}
    </span>
  );
}
