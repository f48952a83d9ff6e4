// The specs in git. Nothing tells when one has changed, so they are asked for every so often.
import { getSpecs } from "../api/client";
import type { SpecRepository } from "../api/types";
import { useInterval } from "./use_interval";
import { useQuery, type Shown } from "./use_query";

export const useSpecs = (refreshMs: number): Shown<SpecRepository[]> =>
  useQuery("specs", getSpecs, [useInterval(refreshMs)]);
