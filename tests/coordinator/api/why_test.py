"""Why jobs wait, as a real daemon tells it of a cluster whose answers are known, and its Prometheus metrics, read by
a parser that follows the format's grammar to the letter."""

import json
import math
import re
import unittest

from daemon import USER, Agent, Daemon, chunk, spec

HOUR = 3_600_000

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")


def parse(text):
    """{(name, labels): value} of a page in the text format 0.0.4; ValueError where it breaks a rule of it."""
    samples, types, family = {}, {}, None
    if not text.endswith("\n"):
        raise ValueError("the last line must end with a line feed")
    for line in text.splitlines():
        if helped := re.fullmatch(rf"# HELP ({NAME}) .+", line):
            family = helped[1]
            if family in types:
                raise ValueError(family + " is described twice, or its samples stand apart")
        elif typed := re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge|histogram)", line):
            if typed[1] != family:
                raise ValueError("TYPE follows HELP: " + line)
            types[family] = typed[2]
        elif sample := SAMPLE.fullmatch(line):
            suffixes = ("_bucket", "_sum", "_count") if types[family] == "histogram" else ("",)
            if sample[1] not in [family + suffix for suffix in suffixes]:
                raise ValueError("not of the family above it: " + line)
            labels = tuple(re.findall(LABEL, sample[2] or ""))
            if (sample[1], labels) in samples:
                raise ValueError("twice: " + line)
            samples[sample[1], labels] = float(sample[sample.lastindex])
        else:
            raise ValueError("neither comment nor sample: " + line)
    return samples, types


def timed(name, devices, walltime, extra=""):
    return spec(name, devices, extra).replace("walltime: 1h", "walltime: " + walltime)


class WhyTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.agent = Agent(self.daemon, devices=3)
        self.agent.orders()

    def tearDown(self):
        self.daemon.close()

    def submit(self, *arguments):
        reply = self.daemon.submit(timed(*arguments))
        self.assertEqual(reply.status, 201, reply.body)
        return reply.json()["jobs"][0]["id"]

    def why(self, job):
        return self.daemon.get(f"/jobs/{job}/why").json()

    def state(self, job):
        return self.daemon.get(f"/jobs/{job}").json()["state"]

    def metrics(self):
        reply = self.daemon.request("GET", "/metrics")
        self.assertEqual(reply.status, 200, reply.body)
        self.assertEqual(reply.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        return parse(reply.body.decode())

    def test_a_gang_a_job_behind_it_and_the_remedy(self):
        running = self.submit("running", 2, "4h")
        started = self.daemon.get(f"/jobs/{running}").json()["attempts"][0]["created_ms"]
        gang = self.submit("gang", 3, "1h")
        small = self.submit("small", 1, "5h")

        why = self.why(gang)
        self.assertEqual([b["code"] for b in why["blockers"]], ["devices", "running"])
        self.assertEqual((why["blockers"][0]["needs"], why["blockers"][0]["has"]), (3, 1))
        self.assertEqual((why["blockers"][1]["job"], why["blockers"][1]["nodes"]), (running, ["node-1"]))
        self.assertEqual(why["start"]["reserved_ms"], started + 4 * HOUR)
        self.assertEqual(why["start"]["latest_ms"], started + 4 * HOUR)
        self.assertLess(abs(why["start"]["expected_ms"] - started - 4 * HOUR * 0.6), 1000)
        self.assertEqual(why["start"]["basis"]["ended_jobs"], 0)
        [fewer] = [s for s in why["sooner"] if s["change"] == "devices"]
        self.assertEqual(fewer["set"], {"resources.devices": 1, "resources.per_node": 0})

        why = self.why(small)
        self.assertEqual((why["blockers"][0]["code"], why["blockers"][0]["job"]), ("reserved", gang))
        [shorter] = [s for s in why["sooner"] if s["change"] == "walltime"]
        self.assertTrue(shorter["backfill"])
        self.assertRegex(shorter["set"]["resources.walltime"], "^3h59m|^4h$")
        # The offer ends at the reservation as of the moment it was made; from now on less is left.
        self.assertEqual(self.state(self.submit("longer", 1, "4h1s")), "queued")
        self.assertEqual(self.state(self.submit("shorter", 1, "3h")), "starting")

        queue = self.daemon.get("/queue").json()["queues"][0]
        self.assertEqual([job["job"] for job in queue["jobs"]][:2], [gang, small])
        self.assertEqual(queue["jobs"][0]["reserved_ms"], started + 4 * HOUR)
        self.assertEqual(queue["jobs"][1]["blocker"], "reserved")

    def test_a_running_job_that_tells_its_steps_is_judged_by_them(self):
        running = self.submit("running", 3, "4h")
        launches = self.agent.wait_for_order("run")
        self.agent.run(launches)
        waiting = self.submit("waiting", 3, "1h")
        started = self.daemon.get(f"/jobs/{running}").json()["attempts"][0]["started_ms"]
        begun = {"type": "started", "t": started, "step": 0, "steps": 100, "parameters": 1, "device": "cpu"}
        half = {"type": "metrics", "t": started + 60_000, "step": 50, "values": {"train/loss": 1.0}}
        lines = "".join(json.dumps(event) + "\n" for event in (begun, half)).encode()
        self.assertEqual(self.agent.deliver(chunk(launches[0], "events", 0, lines)).status, 200)
        start = self.why(waiting)["start"]
        self.assertEqual(start["basis"]["jobs_with_pace"], 1)
        self.assertLess(abs(start["expected_ms"] - started - 120_000), 1000)

    def test_metrics_follow_the_cluster(self):
        self.submit("running", 2, "4h")
        self.submit("gang", 3, "1h")
        self.submit("filler", 1, "1h")
        before, types = self.metrics()
        self.assertEqual(before["podium_devices", (("kind", "cpu"), ("state", "held"))], 3)
        self.assertEqual(before["podium_devices", (("kind", "cpu"), ("state", "free"))], 0)
        self.assertEqual(before["podium_nodes", (("state", "up"),)], 1)
        self.assertEqual(before["podium_queue_jobs", (("kind", "cpu"), ("state", "reserved"))], 1)
        self.assertEqual(before["podium_queue_jobs", (("kind", "cpu"), ("state", "waiting"))], 0)
        self.assertEqual(before["podium_queue_devices", (("kind", "cpu"),)], 3)
        self.assertEqual(before["podium_jobs", (("state", "queued"),)], 1)
        self.assertEqual(before["podium_scheduler_starts_total", (("by", "order"),)], 1)
        self.assertEqual(before["podium_scheduler_starts_total", (("by", "backfill"),)], 1)
        self.assertEqual(before["podium_events_total", (("type", "job_queued"),)], 3)
        self.assertEqual(before["podium_http_requests_total", (("method", "POST"), ("status", "201"))], 3)

        buckets = [(float(labels[0][1]), n) for (name, labels), n in before.items() if name.endswith("_seconds_bucket")]
        self.assertEqual(buckets, sorted(buckets))
        self.assertEqual([n for _, n in buckets], sorted(n for _, n in buckets))
        self.assertEqual(buckets[-1], (math.inf, before["podium_scheduler_pass_duration_seconds_count", ()]))
        self.assertGreater(before["podium_scheduler_pass_duration_seconds_sum", ()], 0)

        self.daemon.request("POST", "/api/v1/jobs/2/cancel", token=USER)
        after, _ = self.metrics()
        for (name, labels), value in before.items():
            if types.get(name) == "counter":
                self.assertGreaterEqual(after[name, labels], value, name)
                self.assertTrue(name.endswith("_total"), name)
        self.assertEqual(after["podium_queue_devices", (("kind", "cpu"),)], 0)
        self.assertEqual(after["podium_jobs", (("state", "cancelled"),)], 1)

    def test_metrics_are_for_readers(self):
        self.assertEqual(self.daemon.request("POST", "/metrics").status, 405)
        self.assertEqual(self.daemon.request("GET", "/metrics?what=1").status, 400)
        self.assertEqual(self.daemon.request("HEAD", "/metrics").status, 200)


class ParserTest(unittest.TestCase):
    def test_it_refuses_what_the_format_does(self):
        for page in ("a 1\n", "# HELP a x\na 1\n", "# HELP a x\n# TYPE a gauge\nb 1\n", "# HELP a x\n# TYPE a gauge\na 1",
                     "# HELP a x\n# TYPE a gauge\na{b=c} 1\n", "# HELP a x\n# TYPE a gauge\na 1\na 1\n"):
            with self.assertRaises((ValueError, KeyError), msg=page):
                parse(page)


if __name__ == "__main__":
    unittest.main()
