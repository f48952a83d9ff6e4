// The services of the fake coordinator: one into which a new spec is rolled, and one of which a replica failed.
import type { Service } from "../../../web/src/api/types";

type Replica = Service["replicas"][number];

const replica = (job: number, experiment: number, more: Partial<Replica>): Replica => ({
  ...{ job, experiment, attempt: 1, node: "node-1", state: "running", paused: false, ready: false },
  ...{ ready_since_ms: null, queue_ms: null, requests_per_second: null, in_flight: null, reason: "" },
  ...more,
});
const paused = { attempt: null, node: null, state: "queued", paused: true } as const;

export const makeServices = (nowMs: number): Service[] => {
  const busy = { ready: true, ready_since_ms: nowMs - 3_600_000, in_flight: 3 };
  return [
    {
      ...{ name: "answers", url: "http://127.0.0.1:7071/answers", experiment: 9000, min: 1, max: 2 },
      ...{
        queue_limit_ms: 20,
        active: 2,
        ready: 1,
        in_flight: 3,
        requests_per_second: 81.5,
        queue_ms: 12.25,
      },
      roll: { state: "rolling", from: [8000], reason: "job 4 is not ready yet" },
      failure: null,
      replicas: [
        replica(4, 9000, {}),
        replica(5, 9000, {
          ...paused,
          reason: "is paused by its service: the replicas of experiment 8000 are replaced one by one",
        }),
        replica(3, 8000, { ...busy, queue_ms: 12.25, requests_per_second: 81.5 }),
      ],
    },
    {
      ...{ name: "masks", url: "http://127.0.0.1:7071/masks", experiment: 9000, min: 1, max: 1 },
      ...{ queue_limit_ms: 20, active: 1, ready: 1, in_flight: 0, requests_per_second: 0, queue_ms: 0 },
      roll: { state: "none", from: [], reason: "" },
      failure: { job: 6, experiment: 9000, reason: "exit code 65: no such model", at_ms: nowMs - 60_000 },
      replicas: [replica(7, 9000, { ...busy, in_flight: 0, queue_ms: 0, requests_per_second: 0 })],
    },
  ];
};
