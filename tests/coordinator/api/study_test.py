"""Studies on a real daemon with synthetic jobs: their figures are computed anew from what the jobs told."""

import json
import pathlib
import statistics
import subprocess
import tempfile
import unittest

from daemon import BINARY, USER, Agent, Daemon, chunk, wait_for

SPEC = """version: 1
name: {name}
model: {{preset: bert-tiny, vocab: 1000}}
data: {{train: a.txt, tokenizer: {{wordpiece: v.txt}}}}
training:
  optimizer: {{lr: 1.0e-3}}
  schedule: {{steps: 100}}
  batch: {{global: 8, micro: 1}}
resources: {{devices: 1, kind: cpu, walltime: 1h}}
restarts: {{max: 0}}
{more}
"""
ROW = "- {benchmark: own, what: w, hardware: h, devices: 8, value: 2, unit: h, source: s, date: 2024-01}\n"


def metrics(step, **values):
    return json.dumps({"type": "metrics", "t": 1000 + step, "step": step, "values": values}) + "\n"


def rates(values, every=10):
    """events.jsonl of a run whose rates are these."""
    lines = [json.dumps({"type": "started", "t": 1000, "step": 0, "steps": 100}) + "\n"]
    for i, value in enumerate(values):
        told = {"train/sequences_per_second": value, "train/tokens_per_second": 128 * value}
        lines.append(metrics((i + 1) * every, **told))
    return "".join(lines).encode()


def steady(values, every=10):
    """Of the points after the first tenth of the steps."""
    kept = [v for i, v in enumerate(values) if 10 * (i + 1) * every > len(values) * every]
    low, median, high = statistics.quantiles(kept, n=4, method="inclusive") if len(kept) > 1 else kept * 3
    return {"median": median, "low": low, "high": high, "points": len(kept)}


class StudyTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)

    def submit(self, more, name="study"):
        reply = self.daemon.submit(SPEC.format(name=name, more=more))
        self.assertEqual(reply.status, 201, reply.body)
        return reply.json()["experiment"]["id"], [job["id"] for job in reply.json()["jobs"]]

    def get(self, path, status=200):
        reply = self.daemon.get(path)
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def close_to(self, ours, theirs):
        for key, value in theirs.items():
            self.assertAlmostEqual(ours[key], value, delta=1e-9 * abs(value), msg=key)

    def run_job(self, agent, events, code=0):
        launches = agent.wait_for_order("start")
        agent.run(launches)
        first = next(launch for launch in launches if launch["rank"] == 0)
        if events:
            self.assertEqual(agent.deliver(chunk(first, "events", 0, events)).status, 200)
        agent.finish(code)
        return first["job"]

    def state(self, job):
        return self.get(f"/jobs/{job}")["state"]

    def test_sizes_in_turn_make_a_table(self):
        agent = Agent(self.daemon, devices=4)
        agent.orders()
        told = {1: [1, 90, 100, 110, 105, 95, 101, 99, 100, 102], 2: [3, 180, 190, 170, 185, 175, 188, 192, 182.4, 179]}
        study, jobs = self.submit("scaling: {devices: [2, 1], mode: strong, together: false}")
        self.assertEqual(self.get(f"/studies/{study}")["state"], "running")
        why = self.get(f"/jobs/{jobs[1]}")["reason"]
        self.assertEqual(why, f"waits for job {jobs[0]} to end")
        for devices, job in zip((1, 2), jobs):
            self.assertEqual(self.run_job(agent, rates(told[devices])), job)
            wait_for(lambda: self.state(job) == "succeeded", "the job's end")
        answer = self.get(f"/studies/{study}")
        self.assertEqual((answer["state"], answer["states"]), ("succeeded", {"succeeded": 2}))
        self.assertEqual(answer["scaling"], {"devices": [2, 1], "mode": "strong", "repeat": 1, "together": False})
        self.assertEqual((answer["warnings"], answer["published"]), ([], []))
        self.assertEqual([member["devices"] for member in answer["members"]], [1, 2])
        (table,) = answer["tables"]
        self.assertEqual((table["base"], table["slots_share_cores"]), (1, True))
        one, two = table["rows"]
        for row in (one, two):
            rate = steady(told[row["devices"]])
            self.close_to(row["samples_per_second"], rate)
            job = self.get(f"/jobs/{row['jobs'][0]}")
            self.assertEqual(row["time_to_train_seconds"], job["time_to_train_seconds"])
            self.assertEqual(row["samples_to_target"], 100 * 8)
            share = 800 / (rate["median"] * job["time_to_train_seconds"])
            self.close_to(row, {"per_device": rate["median"] / row["devices"], "stepping_share": share})
            self.assertIsNone(row["mfu"])
        efficiency = steady(told[2])["median"] / 2 / steady(told[1])["median"]
        self.close_to(two, {"efficiency": efficiency, "speed_up": 2 * efficiency})
        parts = two["time_efficiency"]
        self.close_to(parts, {"efficiency": one["time_to_train_seconds"] / (2 * two["time_to_train_seconds"]),
                              "throughput": efficiency, "samples": 1})
        self.close_to(parts, {"efficiency": parts["throughput"] * parts["samples"] * parts["stepping"]})
        self.assertTrue(table["sentence"].startswith(f"2 devices: {100 * efficiency:.0f} % of linear from 1, "))

    def test_what_must_be_known_is_said(self):
        agent = Agent(self.daemon, devices=4)
        agent.orders()
        target = "scaling: {devices: [1, 2, 8]}\ntarget: {metric: eval/mlm_loss, at_most: 1}\nevaluate: {every: 50 steps, data: b.txt}"
        text = SPEC.format(name="big", more=target)
        refused = self.daemon.submit(text)
        self.assertEqual(refused.status, 422)
        self.assertIn("8 cpu devices", refused.json()["errors"][0]["message"])
        study, jobs = self.submit("scaling: {devices: [1, 3]}\ntarget: {metric: eval/mlm_loss, at_most: 1}\nevaluate: {every: 50 steps, data: b.txt}")
        launches = agent.wait_for_order("start")
        self.assertEqual(len(launches), 4, "both run at once")
        agent.run(launches)
        first = next(launch for launch in launches if launch["job"] == jobs[0])
        self.assertEqual(agent.deliver(chunk(first, "events", 0, rates([10, 10]))).status, 200)
        seen = self.get(f"/studies/{study}")
        self.assertEqual(seen["state"], "running")
        self.assertEqual([w["code"] for w in seen["warnings"]],
                         ["unfinished", "shared_node", "unfinished", "shared_node"])
        self.assertTrue(seen["tables"][0]["rows"][0]["so_far"])
        self.assertEqual(seen["tables"][0]["sentence"], "no size has ended that told its throughput")
        done = {"code": 0, "signal": 0, "message": ""}
        bad = {"code": 65, "signal": 0, "message": "bad data"}
        agent.tasks = [task | {"state": "exited", "exit": done if task["job"] == jobs[0] else bad}
                       for task in agent.tasks]
        agent.tell()
        wait_for(lambda: self.state(jobs[1]) == "failed", "the second job's end")
        seen = self.get(f"/studies/{study}")
        said = {(w["code"], w["job"]): w["sentence"] for w in seen["warnings"]}
        self.assertEqual(sorted(said), sorted([("target_never_told", jobs[0]), ("shared_node", jobs[0]),
                                               ("failed", jobs[1]), ("shared_node", jobs[1])]))
        self.assertIn("never told eval/mlm_loss", said["target_never_told", jobs[0]])
        self.assertIn("bad data", said["failed", jobs[1]])
        self.assertEqual(said["shared_node", jobs[0]],
                         f"job {jobs[0]} (1 device) shared node-1 with job {jobs[1]}: alone it may have been faster")
        self.assertEqual([row["devices"] for row in seen["tables"][0]["rows"]], [1], "a failed size has no row")

    def test_each_combination_of_swept_values_has_a_table(self):
        study, jobs = self.submit("scaling: {devices: [1, 2], repeat: 2}\n"
                                  "sweep: {training.optimizer.lr: [1.0e-3, 2.0e-3]}")
        answer = self.get(f"/studies/{study}")
        self.assertEqual([table["parameters"] for table in answer["tables"]],
                         [{"training.optimizer.lr": 1e-3}, {"training.optimizer.lr": 2e-3}])
        self.assertEqual([member["seed"] for member in answer["members"]], 4 * [1, 2])
        sweep, _ = self.submit("sweep: {training.seed: [3, 4]}")
        answer = self.get(f"/studies/{sweep}")
        self.assertEqual((answer["kind"], answer["tables"], answer["scaling"]), ("sweep", [], None))
        self.assertEqual([member["seed"] for member in answer["members"]], [3, 4])

    def test_studies_are_listed_by_pages(self):
        alone, _ = self.submit("")
        studies = [self.submit("sweep: {training.seed: [1, 2]}", f"s{i}")[0] for i in range(3)]
        page = self.get("/studies?limit=2")
        self.assertEqual([study["id"] for study in page["studies"]], studies[:0:-1])
        rest = self.get("/studies?limit=2&page_token=" + page["next_page_token"])
        self.assertEqual([study["id"] for study in rest["studies"]], studies[:1])
        self.assertNotIn("next_page_token", rest)
        self.assertIn("has one job and is no study", self.get(f"/studies/{alone}", 404)["detail"])
        self.get("/studies/99", 404)
        self.get("/studies/x", 404)
        self.get("/studies?limit=0", 400)

    def test_published_rows_stay_apart(self):
        study, _ = self.submit("scaling: {devices: [1, 2]}")
        rows = self.get("/published?benchmark=mlperf-bert")["published"]
        self.assertEqual({row["benchmark"] for row in rows}, {"mlperf-bert"})
        self.assertGreater(len(self.get("/published")["published"]), len(rows))
        answer = self.get(f"/studies/{study}?published=mlperf-bert")
        self.assertEqual(answer["published"], rows)
        self.assertEqual(answer["tables"], self.get(f"/studies/{study}")["tables"])
        for path in ("/published?benchmark=mlperf-bart", f"/studies/{study}?published=mlperf-bart"):
            self.assertIn('did you mean "mlperf-bert"', self.get(path, 400)["errors"][0]["message"])

    # Of four rates one of two goes on at steps 20, 40 and 80 of 100.
    ASHA = ("evaluate: {every: 20 steps, data: b.txt}\n"
            "sweep:\n  training.optimizer.lr: [1.0e-4, 1.0e-3, 1.0e-2, 1.0e-1]\n"
            "  asha: {metric: eval/mlm_loss, min_steps: 20, reduction: 2}\n")

    def tell_rung(self, agent, job, step, value):
        text = metrics(step, **{"eval/mlm_loss": value}).encode()
        reply = agent.deliver(chunk(self.launches[job], "events", self.told.get(job, 0), text))
        self.assertEqual(reply.status, 200)
        self.told[job] = self.told.get(job, 0) + len(text)

    def leave(self, agent, job, **ended):
        """The job's task has ended."""
        for task in agent.tasks:
            if task["job"] == job:
                task |= {"state": "exited", "exit": {"signal": 0, "message": ""} | ended}
        agent.tell()

    def trial(self, study, job):
        return next(m["trial"] for m in self.get(f"/studies/{study}")["members"] if m["job"] == job)

    def test_losers_pause_and_say_why_and_end_when_the_winner_is_through(self):
        self.told = {}
        agent = Agent(self.daemon, devices=4)
        agent.orders()
        study, jobs = self.submit(self.ASHA)
        a, b, c, d = jobs
        launches = agent.wait_for_order("start")
        self.launches = {launch["job"]: launch for launch in launches}
        agent.run(launches)
        self.tell_rung(agent, a, 20, 9.0)
        wait_for(lambda: self.state(a) == "stopping", "the first to tell is paused")
        self.leave(agent, a, code=79, cause="ordered")
        wait_for(lambda: self.state(a) == "queued", "the pause")
        why = self.get(f"/jobs/{a}/why")
        self.assertEqual([blocker["code"] for blocker in why["blockers"]], ["paused"])
        self.assertEqual(why["blockers"][0]["sentence"],
                         "is paused by its sweep: 1st of 1 at rung 1 (step 20) with eval/mlm_loss 9, of which the best "
                         "goes on once 2 have told; 3 trials have yet to tell there")
        self.tell_rung(agent, b, 20, 5.0)
        self.assertEqual(self.state(b), "running")
        seen = self.get(f"/studies/{study}")
        self.assertEqual((seen["state"], seen["kind"]), ("running", "sweep"))
        self.assertEqual(seen["asha"]["rungs"], [{"rung": 1, "step": 20, "told": 2, "went_on": 1},
                                                 {"rung": 2, "step": 40, "told": 0, "went_on": 0},
                                                 {"rung": 3, "step": 80, "told": 0, "went_on": 0}])
        self.assertEqual((seen["asha"]["metric"], seen["asha"]["goal"], seen["asha"]["max_steps"]),
                         ("eval/mlm_loss", "min", 100))
        self.assertEqual((seen["asha"]["best"]["job"], seen["asha"]["best"]["value"]), (b, 5.0))
        self.assertEqual(seen["asha"]["best"]["parameters"], {"training.optimizer.lr": 1e-3})
        self.assertEqual((self.trial(study, a)["state"], self.trial(study, a)["rung"]), ("paused", 1))
        self.assertEqual(self.trial(study, b)["reports"], [{"rung": 1, "step": 20, "value": 5.0}])
        self.daemon.kill()
        self.daemon.start()
        agent.interrupted = True
        agent.tell()
        agent.interrupted = False
        self.assertEqual(self.get(f"/jobs/{a}")["reason"], why["blockers"][0]["sentence"].replace(
            "1st of 1", "2nd of 2").replace("goes on once 2 have told", "goes on").replace("3 trials have", "2 trials have"))
        for job in (c, d):  # never tell anything: nothing is guessed
            self.leave(agent, job, code=0)
        wait_for(lambda: self.state(d) == "succeeded", "their ends")
        warnings = {(w["code"], w["job"]) for w in self.get(f"/studies/{study}")["warnings"]}
        self.assertTrue({("metric_never_told", c), ("metric_never_told", d)} <= warnings, warnings)
        self.leave(agent, b, code=0)
        wait_for(lambda: self.state(a) == "stopped", "the loser's end")
        ended = self.get(f"/studies/{study}")
        self.assertEqual((ended["state"], ended["states"]), ("succeeded", {"succeeded": 3, "stopped": 1}))
        self.assertEqual(self.get(f"/jobs/{a}")["reason"],
                         "stopped by its sweep: 2nd of 2 at rung 1 (step 20) with eval/mlm_loss 9, of which the best goes on")
        self.assertEqual(self.trial(study, a)["state"], "stopped")
        self.assertGreater(ended["asha"]["device_seconds"], 0)


class FilesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_rows_of_ones_own_are_added(self):
        (self.folder / "own.yaml").write_text("version: 1\nrecords:\n" + ROW)
        (self.folder / "README.md").write_text("no rows")
        with Daemon("--published", str(self.folder)) as daemon:
            (row,) = daemon.get("/published?benchmark=own").json()["published"]
            self.assertEqual((row["value"], row["unit"], row["devices"]), (2, "h", 8))
            self.assertTrue(daemon.get("/published?benchmark=mlperf-gpt3").json()["published"])

    def test_all_mistakes_of_all_files_are_told(self):
        (self.folder / "a.yaml").write_text("version: 1\nrecords:\n" + ROW.replace("unit: h, ", ""))
        (self.folder / "b.yaml").write_text("version: 1\nrecords:\n" + ROW.replace("value: 2", "value: -2, gpus: 3"))
        command = [BINARY, "--home", self.folder / "home", "--published", self.folder]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertNotEqual(ended.returncode, 0)
        said = ended.stdout + ended.stderr
        self.assertIn('a.yaml:3:3: records.0 needs the key "unit", as in "min"', said)
        self.assertIn("b.yaml:3:", said)
        self.assertIn("records.0.value must be above 0, not -2", said)
        self.assertIn('unknown key "gpus"', said)


if __name__ == "__main__":
    unittest.main()
