"""How long what is kept of ended jobs, asked of a real daemon that is killed meanwhile."""

import json
import pathlib
import sqlite3
import time
import unittest

from daemon import USER, Agent, Daemon, chunk, metric_lines, spec, wait_for

STEPS, KEPT = 30_000, 2200


def checkpoint_lines(count):
    return "".join(json.dumps({"type": "checkpoint", "t": 2000 + n, "step": n, "path": f"step-{n}", "bytes": 500,
                               "seconds": 0.1}) + "\n" for n in range(1, count + 1)).encode()


class RetentionTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon("--keep-history", "30d")
        self.agent = Agent(self.daemon)
        self.agent.orders()

    def tearDown(self):
        self.daemon.close()

    def trained(self, name):
        """A job that has ended, with a long curve, a log and two checkpoints."""
        job = self.daemon.submit(spec(name)).json()["jobs"][0]["id"]
        launch = self.agent.wait_for_order("start")[0]
        self.agent.run([launch])
        lines = metric_lines(1, STEPS) + checkpoint_lines(2)
        self.assertEqual(self.agent.deliver(chunk(launch, "events", 0, lines)).status, 200)
        self.assertEqual(self.agent.deliver(chunk(launch, "stdout", 0, b"said\n")).status, 200)
        self.agent.finish()
        wait_for(lambda: self.daemon.get(f"/jobs/{job}").json()["state"] == "succeeded", "the job's end")
        return job

    def pass_a_second(self):
        """Of the cluster's clock, which goes by what happens."""
        time.sleep(1.2)
        self.assertEqual(self.daemon.submit(spec("later")).status, 201)

    def due(self, query=""):
        reply = self.daemon.get("/retention/due" + (query and "?" + query))
        self.assertEqual(reply.status, 200, reply.body)
        return reply.json()

    def change(self, experiment, body, status=200):
        reply = self.daemon.request("POST", f"/api/v1/retention/{experiment}", body, USER)
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def curve(self, job):
        return self.daemon.get(f"/jobs/{job}/series?key=train/loss&points=20000").json()["series"][0]["points"]

    def stored(self, job):
        """Points, by the rows of the database itself."""
        with sqlite3.connect(f"file:{self.daemon.home}/podium.db?mode=ro", uri=True) as database:
            return sum(database.execute(
                f"SELECT coalesce(sum({count}), 0) FROM {table} WHERE series IN (SELECT id FROM series WHERE job = ?)",
                (job,)).fetchone()[0] for table, count in (("chunks", "points"), ("open_points", "count")))

    def logs(self, job):
        return pathlib.Path(self.daemon.home) / "logs" / str(job)

    def test_a_rule_takes_what_is_due_of_its_experiment_and_a_kill_costs_nothing_else(self):
        short, kept = self.trained("short"), self.trained("kept")
        self.pass_a_second()
        self.assertEqual(self.due()["all"]["jobs"], 0)
        as_if = self.due("experiment=short&points_seconds=1&logs_seconds=1&checkpoints_seconds=1")
        self.assertEqual([job["job"] for job in as_if["jobs"]], [short])
        told = as_if["jobs"][0]
        self.assertEqual((told["points"], told["log_bytes"], told["history"]), (STEPS - 2000, 5, 0))
        saved = self.daemon.get(f"/jobs/{short}/checkpoints").json()["checkpoints"]
        self.assertEqual([checkpoint["path"] for checkpoint in told["checkpoints"]], [c["path"] for c in reversed(saved)])
        self.assertEqual(as_if["all"]["checkpoint_bytes"], 1000)
        self.assertEqual((self.stored(short), self.logs(short).exists()), (STEPS, True), "it was only told")

        body = {"points_seconds": 1, "logs_seconds": 1, "checkpoints_seconds": 1}
        self.assertEqual(self.change("short", body), {"experiment": "short", "history_seconds": None, **body})
        self.daemon.kill()
        self.daemon.start()
        self.assertEqual(self.daemon.get("/retention").json()["rules"], [{"experiment": "short", "history_seconds": None, **body}])
        self.change("short", {})  # has what is due looked for at once
        wait_for(lambda: self.stored(short) <= KEPT and not self.logs(short).exists(), "what is due to go")
        self.assertEqual((self.stored(kept), self.logs(kept).exists()), (STEPS, True))
        points = self.curve(short)
        self.assertEqual((points[0][:1], points[-1][:1], points[0][2]), ([1], [STEPS], 1))
        metric = self.daemon.get(f"/jobs/{short}/metrics").json()["metrics"][0]
        self.assertEqual((metric["count"], metric["max"], metric["lost_points"]), (STEPS, 1, 0))
        self.assertEqual(len(self.daemon.get(f"/jobs/{short}/checkpoints").json()["checkpoints"]), 2)
        left = self.due()
        self.assertEqual((left["all"]["points"], left["all"]["log_bytes"], left["all"]["checkpoints"]), (0, 0, 2))

    def test_checkpoints_that_a_waiting_job_goes_on_from_are_not_due(self):
        job = self.trained("first")
        self.pass_a_second()
        query = "experiment=first&checkpoints_seconds=1"
        self.assertEqual(self.due(query)["all"]["checkpoints"], 2)
        after = self.daemon.submit(spec("second", 1, f"resume: {{job: {job}}}\n"))
        self.assertEqual(after.status, 201, after.body)
        told = self.due(query)
        self.assertEqual((told["all"]["checkpoints"], told["jobs"][0]["needed_by"]), (0, after.json()["jobs"][0]["id"]))

    def test_what_is_usual_and_what_will_be_due(self):
        job = self.trained("first")
        day = 24 * 3600
        self.assertEqual(self.daemon.get("/retention").json(), {"rules": [], "usual": {
            "points_seconds": 90 * day, "history_seconds": 30 * day, "logs_seconds": 90 * day, "checkpoints_seconds": "forever"}})
        self.assertEqual(self.due(f"within_seconds={30 * day - 60}")["jobs"], [])
        told = self.due(f"within_seconds={30 * day + 60}")["jobs"][0]
        events = self.daemon.get(f"/jobs/{job}/events?limit=1000").json()["events"]
        self.assertEqual((told["job"], told["history"], told["points"]), (job, len(events), 0))
        self.assertEqual(self.change("first", {"history_seconds": "forever"})["history_seconds"], "forever")
        self.assertEqual(self.due(f"within_seconds={80 * day}")["jobs"], [])
        as_usual = self.due(f"within_seconds={80 * day}&experiment=first&history_seconds=usual")
        self.assertEqual([job["history"] for job in as_usual["jobs"]], [len(events)])
        self.assertIsNone(self.change("first", {"history_seconds": None})["history_seconds"])
        self.assertEqual(len(self.due(f"within_seconds={80 * day}")["jobs"]), 1)
        self.assertEqual(self.daemon.get("/retention").json()["rules"], [], "all of it is as usual")
        self.change("first", {"history_seconds": "forever"})
        self.assertEqual(self.daemon.request("DELETE", "/api/v1/retention/first", None, USER).status, 204)
        self.assertEqual(self.daemon.request("DELETE", "/api/v1/retention/first", None, USER).status, 404)
        self.assertEqual(len(self.due(f"within_seconds={80 * day}")["jobs"]), 1)

    def test_mistakes_are_told_together(self):
        self.trained("first")
        refused = self.change("first", {"points_seconds": 0, "logs_seconds": "never", "log_seconds": 1}, 400)
        self.assertEqual({error["where"] for error in refused["errors"]}, {"/points_seconds", "/logs_seconds", "/log_seconds"})
        self.assertIn("null: as of all others", str(refused["errors"]))
        self.assertEqual(self.change("nope", {"points_seconds": 5}, 404)["detail"], "there is no experiment nope")
        self.assertEqual(self.daemon.get("/retention/due?experiment=nope").status, 404)
        wrong = self.daemon.get("/retention/due?points_seconds=x&within_seconds=-1&limit=0").json()["errors"]
        self.assertEqual([error["where"] for error in wrong], ["points_seconds", "within_seconds", "limit"])
        nobody = self.daemon.request("POST", "/api/v1/retention/first", {"points_seconds": 5})
        self.assertEqual(nobody.status, 401)


if __name__ == "__main__":
    unittest.main()
