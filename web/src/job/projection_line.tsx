// A sentence that says when the job should reach its target, and how the forecast is made.
import type { Projection } from "../api/types";
import { projectionSentence } from "../model/projection";
import { now } from "../state/clock";
import { Info } from "../ui/info";

export function ProjectionLine({ projection }: { projection: Projection }) {
  const sentence = projectionSentence(projection, now.value);
  if (sentence === "") return null;
  return (
    <p class={projection.doubt === "" ? "projection" : "projection muted"}>
      {sentence}{" "}
      <Info of="the projection">
        The forecast extends the curve of the target's metric at the pace so far. It also uses the curves of
        earlier jobs of the experiment. “8 of 10 times” is the range from the 10th to the 90th percentile. The
        chart of the metric shows this range as a band and the median as a dashed line.
      </Info>
    </p>
  );
}
