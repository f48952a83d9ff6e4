"""GET /metrics of a real daemon, read by a parser that follows the format's grammar to the letter."""

import json
import math
import os
import pathlib
import re
import sqlite3
import time
import unittest

from daemon import USER, Agent, Daemon, chunk, metric_lines, spec, wait_for

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



class MetricsTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.agent = Agent(self.daemon, devices=3)
        self.agent.orders()

    def tearDown(self):
        self.daemon.close()

    def submit(self, name, devices, walltime="1h", extra=""):
        reply = self.daemon.submit(spec(name, devices, extra).replace("walltime: 1h", "walltime: " + walltime))
        self.assertEqual(reply.status, 201, reply.body)
        return reply.json()["jobs"][0]["id"]

    def post(self, path, body):
        reply = self.daemon.request("POST", "/api/v1" + path, body, USER)
        self.assertIn(reply.status, (200, 202), reply.body)

    def metrics(self):
        reply = self.daemon.request("GET", "/metrics")
        self.assertEqual(reply.status, 200, reply.body)
        self.assertEqual(reply.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        return parse(reply.body.decode())

    def test_points_that_damage_took_are_counted_here_and_told_with_their_curve(self):
        job = self.submit("told", 1)
        launch = self.agent.wait_for_order("start")[0]
        self.agent.run([launch])
        self.assertEqual(self.agent.deliver(chunk(launch, "events", 0, metric_lines(1, 9) + metric_lines(1, 9, "whole"))).status, 200)
        self.assertEqual(self.metrics()[0]["podium_damaged_chunks", ()], 0)
        curve = f"/jobs/{job}/series?key=train/loss"
        self.assertEqual(self.daemon.get(curve).json()["series"][0]["lost_points"], 0)
        with sqlite3.connect(self.daemon.home / "podium.db") as database:
            database.execute("UPDATE open_points SET points = x'00' WHERE series ="
                             " (SELECT id FROM series WHERE key = 'train/loss')")
        database.close()
        unread = self.daemon.get(curve)
        self.assertEqual((unread.status, unread.json()["series"][0]["lost_points"]), (200, 9))
        again = len(metric_lines(1, 9) + metric_lines(1, 9, "whole"))
        self.assertEqual(self.agent.deliver(chunk(launch, "events", again, metric_lines(9, 1))).status, 200)
        damage = lambda samples: tuple(samples["podium_damaged_" + what, ()] for what in ("chunks", "points"))
        wait_for(lambda: damage(self.metrics()[0]) == (1, 9), "the damage to be told")
        curves = self.daemon.get(f"/jobs/{job}/series?key=train/loss&key=whole").json()["series"]
        self.assertEqual([(len(curve["points"]), curve["lost_points"]) for curve in curves], [(1, 9), (9, 0)])
        several = self.daemon.get(f"/series?job={job}&key=train/loss").json()["series"]
        self.assertEqual([curve["lost_points"] for curve in several], [9])
        listed = self.daemon.get(f"/jobs/{job}/metrics").json()["metrics"]
        self.assertEqual({metric["key"]: metric["lost_points"] for metric in listed}, {"train/loss": 9, "whole": 0})

    def test_they_follow_the_cluster(self):
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

    def test_accounts_and_what_keeps_jobs(self):
        def of(family, account, **more):
            return samples[family, (("account", account), *({"kind": "cpu"} | more).items())]

        for account in ("vision", "vision%2Fclip", "nlp", "nlp%2Fbert", "idle", "idle%2Fsub"):
            self.post("/accounts/" + account, {})
        self.submit("borrows", 1, extra="account: vision")
        self.submit("borrows", 2, extra="account: vision/clip")
        self.post("/accounts/nlp", {"quota": {"cpu": 2}, "limit": {"cpu": 3}, "share": 4})
        self.post("/accounts/idle%2Fsub", {"limit": {"cpu": 0}})
        self.submit("within", 1, extra="account: nlp/bert")
        held = self.submit("held", 1)
        self.post(f"/jobs/{held}/hold", {})
        self.submit("after", 1, extra=f"after: [{{job: {held}}}]")
        samples, types = self.metrics()
        self.assertEqual(of("podium_account_devices", "vision"), 3)
        self.assertEqual(of("podium_account_borrowed_devices", "vision"), 3)
        self.assertEqual(of("podium_account_borrowed_devices", "vision/clip"), 2)
        self.assertEqual(of("podium_account_queue_devices", "nlp"), 1)
        self.assertEqual(of("podium_account_queue_jobs", "nlp/bert"), 1)
        self.assertEqual(of("podium_account_quota_devices", "nlp"), 2)
        self.assertEqual(of("podium_account_limit_devices", "idle/sub"), 0)
        self.assertEqual(samples["podium_account_share", (("account", "nlp"),)], 4)
        self.assertEqual(samples["podium_account_share", (("account", "idle"),)], 1)
        self.assertGreater(of("podium_account_fair_share_factor", "vision"), 0)
        self.assertGreaterEqual(of("podium_account_used_device_seconds", "vision"), 0)
        waiting = {labels[1][1]: n for (name, labels), n in samples.items() if name == "podium_waiting_jobs"}
        self.assertEqual(waiting, {"queue": 0, "devices": 1, "held": 1, "follows": 1})
        self.assertEqual(samples["podium_held_jobs", ()], 1)
        preempted = lambda reason: samples["podium_scheduler_preemptions_total", (("reason", reason),)]
        self.assertEqual((preempted("reclaim"), preempted("priority")), (1, 0))
        self.assertEqual(types["podium_scheduler_preemptions_total"], "counter")

    def test_devices_are_read_as_last_reported(self):
        self.agent.readings = [{"device": 0, "temperature": 54, "power": 612.5}, {"device": 2, "temperature": 61}]
        self.agent.tell()
        samples, types = self.metrics()
        of = lambda device: (("node", "node-1"), ("device", str(device)))
        self.assertEqual(samples["podium_device_temperature_celsius", of(0)], 54)
        self.assertEqual(samples["podium_device_temperature_celsius", of(2)], 61)
        self.assertEqual(samples["podium_device_power_watts", of(0)], 612.5)
        self.assertNotIn(("podium_device_power_watts", of(2)), samples)
        self.assertNotIn("podium_device_xid_errors_total", types)
        self.agent.readings = [{"device": 0, "xid_errors": 2, "ecc_corrected": 5, "last_xid": 79}]
        self.agent.tell()
        samples, types = self.metrics()
        self.assertEqual(samples["podium_device_xid_errors_total", of(0)], 2)
        self.assertEqual(samples["podium_device_ecc_corrected_errors_total", of(0)], 5)
        self.assertEqual([types["podium_device_" + name] for name in ("xid_errors_total", "last_xid")], ["counter", "gauge"])
        self.agent.readings = []
        self.agent.tell()
        self.assertNotIn("podium_device_temperature_celsius", self.metrics()[1])

    def test_nodes_are_told_with_their_state_and_how_long_they_are_silent(self):
        silent = Agent(self.daemon, "node-2")
        silent.orders()
        heard = time.monotonic()
        self.post("/nodes/node-2/drain", {"reason": "fans"})
        of = lambda samples: lambda family, **labels: samples.get((family, tuple(labels.items())))
        told = of(self.metrics()[0])
        self.assertEqual([told("podium_node_state", node="node-2", state=name) for name in ("up", "unknown", "lost")], [1, None, None])
        self.assertEqual([told("podium_node_drained", node=name) for name in ("node-1", "node-2")], [0, 1])
        time.sleep(0.1)
        before = time.monotonic()
        silence = of(self.metrics()[0])("podium_node_silence_seconds", node="node-2")
        self.assertTrue(before - heard <= silence + 0.01 and silence <= time.monotonic() - heard + 5, silence)
        self.daemon.kill()
        self.daemon.start()
        told = of(self.metrics()[0])
        self.assertEqual(told("podium_node_state", node="node-2", state="up"), 1)
        self.assertIsNone(told("podium_node_silence_seconds", node="node-2"), "it has not reported to this process")

    def test_unhealthy_devices_are_counted_whoever_holds_them(self):
        self.submit("holds", 3)
        self.agent.node["devices"][1]["health"] = "XID 79"
        self.agent.tell()
        samples, _ = self.metrics()
        self.assertEqual(samples["podium_unhealthy_devices", (("kind", "cpu"),)], 1)
        self.assertEqual(samples["podium_devices", (("kind", "cpu"), ("state", "held"))], 3)

    def test_the_queue_tells_its_oldest_job_and_those_that_would_fit(self):
        of = lambda family: self.metrics()[0][family, (("kind", "cpu"),)]
        oldest, fitting = (lambda: of("podium_queue_oldest_wait_seconds")), (lambda: of("podium_queue_fitting_jobs"))
        self.submit("runs", 3)
        self.assertEqual((oldest(), fitting()), (0, 0))
        held = self.submit("held", 1)
        self.post(f"/jobs/{held}/hold", {})
        time.sleep(0.3)
        self.assertEqual((oldest(), fitting()), (0, 0), "what is held is in no queue")
        gang = self.submit("gang", 3)
        self.submit("younger", 3)
        submitted = self.daemon.get(f"/jobs/{gang}").json()["submitted_ms"]
        time.sleep(0.05)
        self.assertTrue(0.05 <= oldest() <= time.time() - submitted / 1000 + 0.01)
        self.assertEqual(fitting(), 0, "they ask for three, and none is free")

    def test_jobs_that_an_accounts_limit_keeps_waiting_do_not_count_as_fitting(self):
        self.post("/accounts/small", {"limit": {"cpu": 1}})
        for name in ("within", "limited"):
            self.submit(name, 1, extra="account: small")
        samples, _ = self.metrics()
        self.assertEqual(samples["podium_queue_jobs", (("kind", "cpu"), ("state", "waiting"))], 1)
        self.assertEqual(samples["podium_queue_fitting_jobs", (("kind", "cpu"),)], 0)

    def test_a_job_that_fits_by_number_and_not_by_place_is_told(self):
        Agent(self.daemon, "node-2", devices=3).orders()
        whole = lambda name: spec(name, 2).replace("devices: 2,", "devices: 2, within: node,")
        for name in ("first", "second", "third"):
            self.assertEqual(self.daemon.submit(whole(name)).status, 201)
        samples, _ = self.metrics()
        self.assertEqual(samples["podium_devices", (("kind", "cpu"), ("state", "free"))], 2)
        self.assertEqual(samples["podium_queue_fitting_jobs", (("kind", "cpu"),)], 1)

    def test_a_job_that_has_run_does_not_count_as_the_oldest(self):
        job = self.submit("again", 3, extra="restarts: {max: 3}")
        launch = self.agent.wait_for_order("start")
        self.agent.run(launch)
        time.sleep(0.3)
        self.post("/nodes/node-1/drain", {"reason": "fans"})
        self.agent.finish(1)
        wait_for(lambda: self.daemon.get(f"/jobs/{job}").json()["state"] == "queued", "the job to wait again")
        self.assertEqual(self.metrics()[0]["podium_queue_oldest_wait_seconds", (("kind", "cpu"),)], 0)

    def test_ends_are_counted_by_how(self):
        of = lambda: {labels[0][1]: n for (name, labels), n in self.metrics()[0].items() if name == "podium_jobs_ended_total"}
        self.assertEqual(of(), {"succeeded": 0, "failed": 0, "cancelled": 0, "stopped": 0})
        self.submit("ends", 3)
        self.daemon.request("POST", f"/api/v1/jobs/{self.submit('waits', 3)}/cancel", token=USER)
        self.agent.run(self.agent.wait_for_order("start"))
        self.agent.finish()
        wait_for(lambda: of() == {"succeeded": 1, "failed": 0, "cancelled": 1, "stopped": 0}, "both ends")

    def test_goodput_is_that_of_the_ledger(self):
        self.assertNotIn("podium_goodput_ratio", self.metrics()[1])
        job = self.submit("steps", 3)
        launches = self.agent.wait_for_order("start")
        self.agent.run(launches)
        now = int(1000 * time.time())
        phases = [{"type": "phase", "t": now, "phase": "loading", "step": 0}, {"type": "phase", "t": now + 300, "phase": "stepping", "step": 0}]
        lines = "".join(json.dumps(line) + "\n" for line in phases).encode()
        self.assertEqual(self.agent.deliver(chunk(launches[0], "events", 0, lines)).status, 200)
        time.sleep(0.6)
        self.post(f"/jobs/{job}/cancel", None)
        self.agent.finish()
        wait_for(lambda: self.daemon.get(f"/jobs/{job}").json()["state"] == "cancelled", "the job to end")
        told = self.daemon.get("/ledger").json()["all"]
        self.assertTrue(0 < told["goodput"] < 1, told)
        totals = {}
        for total in told["totals"]:
            totals[total["kind"]] = totals.get(total["kind"], 0) + total["device_ms"] / 1000
        def agrees():
            samples, _ = self.metrics()
            here = {labels[0][1]: value for (name, labels), value in samples.items() if name == "podium_ledger_device_seconds"}
            self.assertLessEqual(set(totals), set(here))
            return all(abs(value - totals.get(bucket, 0)) < 1e-6 for bucket, value in here.items()) and \
                abs(samples["podium_goodput_ratio", ()] - told["goodput"]) < 1e-9
        wait_for(agrees, "the ledger to be told")
        self.set_back(job, days=1)
        wait_for(agrees, "yesterday counts")
        self.set_back(job, days=1)
        wait_for(lambda: "podium_goodput_ratio" not in self.metrics()[1], "the day before yesterday not to count")

    def set_back(self, job, days):
        """Moves the marks of a job, which make its ledger until it is settled, into the past."""
        with sqlite3.connect(self.daemon.home / "podium.db") as database:
            for marks in ("job_marks", "phase_marks"):
                database.execute(f"UPDATE {marks} SET time_ms = time_ms - ? WHERE job = ?", (days * 86_400_000, job))
        database.close()

    def test_the_disk_and_the_process_are_those_of_the_coordinator(self):
        samples, types = self.metrics()
        disk = os.statvfs(self.daemon.home)
        self.assertEqual(samples["podium_home_disk_size_bytes", ()], disk.f_blocks * disk.f_frsize)
        self.assertAlmostEqual(samples["podium_home_disk_free_bytes", ()] / (disk.f_bavail * disk.f_frsize), 1, delta=0.2)
        self.assertLess(samples["podium_home_disk_reserve_bytes", ()], samples["podium_home_disk_size_bytes", ()] / 9)
        self.assertLess(abs(samples["process_start_time_seconds", ()] - time.time()), 60)
        pid = self.daemon.process.pid
        resident = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        self.assertAlmostEqual(samples["process_resident_memory_bytes", ()] / resident, 1, delta=0.3)
        used = sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
        self.assertTrue(0 <= samples["process_cpu_seconds_total", ()] <= used)
        self.assertEqual(types["process_cpu_seconds_total"], "counter")
        ((_, labels),) = [key for key in samples if key[0] == "podium_build_info"]
        self.assertEqual(dict(labels), {"version": self.daemon.get("/health").json()["version"]})

    def test_they_are_for_readers(self):
        self.assertEqual(self.daemon.request("POST", "/metrics").status, 405)
        self.assertEqual(self.daemon.request("HEAD", "/metrics").status, 200)
        self.assertEqual(self.daemon.request("GET", "/metrics?scraper=7").status, 200)


class ParserTest(unittest.TestCase):
    def test_it_refuses_what_the_format_does(self):
        for page in ("a 1\n", "# HELP a x\na 1\n", "# HELP a x\n# TYPE a gauge\nb 1\n", "# HELP a x\n# TYPE a gauge\na 1",
                     "# HELP a x\n# TYPE a gauge\na{b=c} 1\n", "# HELP a x\n# TYPE a gauge\na 1\na 1\n"):
            with self.assertRaises((ValueError, KeyError), msg=page):
                parse(page)


if __name__ == "__main__":
    unittest.main()
