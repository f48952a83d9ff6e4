// When the job reaches its target, in a sentence, and how that is told.
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
        Foretold from the curve that the metric of its target has so far, and from those of earlier jobs of
        its experiment, at the pace so far. 8 of 10 times is from a tenth to nine tenths of what may happen;
        the chart of the metric shows both as a band, and half of what may happen as a dashed line.
      </Info>
    </p>
  );
}
