"""Why jobs wait, as a real daemon tells it of a cluster whose answers are known."""

import concurrent.futures
import json
import time
import unittest

from daemon import USER, Agent, Daemon, chunk, spec

HOUR = 3_600_000

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
        self.assertEqual([job["walltime_seconds"] for job in queue["jobs"]], [3600, 4 * 3600 + 1, 5 * 3600])
        self.assertEqual([queue["jobs"][place]["job"] for place in (0, 2)], [gang, small])
        self.assertEqual(queue["jobs"][0]["reserved_ms"], started + 4 * HOUR)
        self.assertEqual(queue["jobs"][2]["blocker"], "devices")

    def test_answers_are_given_again_while_nothing_changes(self):
        self.submit("running", 2, "4h")
        gang = self.submit("gang", 3, "1h")
        first = self.why(gang)
        self.assertEqual(self.why(gang), first)
        small = self.submit("small", 1, "1h")
        self.assertEqual(self.state(small), "starting")
        deadline = time.monotonic() + 60
        while self.why(gang)["now_ms"] == first["now_ms"]:
            self.assertLess(time.monotonic(), deadline, "an answer outlives what it was made of")
        self.assertEqual(self.why(gang)["blockers"][0]["has"], 0)

    def test_many_who_ask_at_once_are_all_answered(self):
        self.submit("running", 3, "4h")
        jobs = [self.submit(f"waiting-{n}", 3, "1h") for n in range(4)]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(self.why, jobs * 8))
        for job, answer in zip(jobs * 8, answers):
            self.assertEqual((answer["job"], answer["state"]), (job, "queued"))
            self.assertIsNotNone(answer["start"]["expected_ms"])

    def test_a_held_job_is_told_of_its_release(self):
        self.submit("running", 3, "4h")
        held = self.submit("held", 1, "1h")
        self.assertEqual(self.daemon.request("POST", f"/api/v1/jobs/{held}/hold", token=USER).status, 200)
        why = self.why(held)
        self.assertEqual([b["code"] for b in why["blockers"]], ["held"])
        self.assertIsNone(why["start"]["expected_ms"])
        [release] = why["sooner"]
        self.assertEqual((release["change"], release["set"]), ("hold", {}))

    def test_a_running_job_that_tells_its_steps_is_judged_by_them(self):
        running = self.submit("running", 3, "4h")
        launches = self.agent.wait_for_order("start")
        self.agent.run(launches)
        waiting = self.submit("waiting", 3, "1h")
        started = self.daemon.get(f"/jobs/{running}").json()["attempts"][0]["started_ms"]
        begun = {"type": "started", "t": started, "step": 0, "steps": 100, "parameters": 1, "device": "cpu"}
        time.sleep(2)
        now = round(time.time() * 1000)
        half = {"type": "metrics", "t": now, "step": 50, "values": {"train/loss": 1.0}}
        lines = "".join(json.dumps(event) + "\n" for event in (begun, half)).encode()
        self.assertEqual(self.agent.deliver(chunk(launches[0], "events", 0, lines)).status, 200)
        start = self.why(waiting)["start"]
        self.assertEqual(start["basis"]["jobs_with_pace"], 1)
        self.assertLess(abs(start["expected_ms"] - (2 * now - started)), 1000)


if __name__ == "__main__":
    unittest.main()
