// The specs in git. No message reports their changes, so they are fetched at intervals.
import { getSpecs } from "../api/client";
import type { SpecRepository } from "../api/types";
import { useInterval } from "./use_interval";
import { useQuery, type Shown } from "./use_query";

export const useSpecs = (refreshMs: number): Shown<SpecRepository[]> =>
  useQuery("specs", getSpecs, [useInterval(refreshMs)]);
