// The services. No message reports their readiness and load, so they are fetched at intervals.
import { getServices } from "../api/client";
import type { Services } from "../api/types";
import { useInterval } from "./use_interval";
import { useQuery, type Shown } from "./use_query";

export const useServices = (refreshMs: number): Shown<Services> =>
  useQuery("services", getServices, [useInterval(refreshMs)]);
