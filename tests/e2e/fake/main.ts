// Starts the fake coordinator by hand: `npm run fake -- [port] [jobs] [nodes]`, with one job that keeps training.
import { makeCluster } from "./cluster";
import { addQuickstart } from "./quickstart";
import { trackOne } from "./tracking";
import { FakeCoordinator } from "./server";
import { addStudies } from "./studies";
import { trainOneStep } from "./training";

const [port = 7071, jobs = 10_000, nodes = 64] = process.argv.slice(2).map(Number);
const cluster = makeCluster(jobs, nodes, Date.now());
const quickstart = jobs + 1;
trackOne(cluster, Date.now());
addQuickstart(cluster, quickstart, Date.now());
addStudies(cluster, quickstart + 1, Date.now());
const coordinator = new FakeCoordinator(cluster);
await coordinator.start(port);
setInterval(() => trainOneStep(coordinator, quickstart), 1000);
console.log(`${coordinator.url}/#/jobs/${quickstart}`);
