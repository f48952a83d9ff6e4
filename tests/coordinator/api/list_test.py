"""Specs that list their jobs, on a real daemon: they are queued together under numbers that they name, objections are told by
line, and each of them is a spec of its own."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from daemon import USER, Agent, Daemon, chunk, wait_for

SPEC = """version: 1
name: chain
model: {preset: bert-tiny, vocab: 1000}
data: {train: a.txt, tokenizer: {wordpiece: v.txt}}
training:
  optimizer: {lr: 1.0e-3}
  schedule: {steps: 100}
  batch: {global: 8, micro: 1}
resources: {devices: 1, kind: cpu, walltime: 1h}
jobs:
  - name: phase1
  - name: phase2
    after: [{job: phase1}]
    model: {init: {job: phase1}}
    training: {sequence_length: 512}
  - name: measured
    after: [{job: phase2, when: any}]
    resume: {job: phase2}
    command: [podium-worker, evaluate, "{resume}", --masked, b.txt]
"""


class ListTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)

    def get(self, path, status=200):
        reply = self.daemon.get(path)
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def post(self, path, spec, status, **headers):
        body = {"spec": spec, "file": "a.yaml"} if spec else {}
        reply = self.daemon.request("POST", "/api/v1" + path, body, USER, **headers)
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def submit(self, spec=SPEC, status=201, **headers):
        return [job["id"] for job in self.post("/experiments", spec, status, **headers)["jobs"]]

    def test_jobs_are_queued_together_and_name_one_another_by_number(self):
        self.submit()
        ids = self.submit()
        self.assertEqual(ids, [4, 5, 6], "numbers of their own")
        first, second, third = (self.get(f"/jobs/{id}") for id in ids)
        self.assertEqual([job["name"] for job in (first, second, third)], ["chain-phase1", "chain-phase2", "chain-measured"])
        self.assertNotIn("after", first["spec"])
        self.assertEqual(second["spec"]["after"], [{"job": 4, "when": "ok"}])
        self.assertEqual(second["spec"]["model"]["init"], {"job": 4})
        self.assertEqual(third["spec"]["after"], [{"job": 5, "when": "any"}])
        self.assertEqual(third["spec"]["resume"], {"job": 5})
        self.assertIn("waits for job 4 to succeed", second["reason"])
        self.assertEqual(len({job["experiment"] for job in (first, second, third)}), 1)

    def test_such_an_experiment_is_no_study(self):
        self.submit()
        self.assertEqual(self.get("/studies")["studies"], [])
        self.assertIn("lists its jobs", self.get("/studies/1", 404)["detail"])

    def test_the_same_key_makes_them_once(self):
        key = {"Idempotency_Key": "chain"}
        ids = self.submit(**key)
        self.assertEqual(self.submit(status=200, **key), ids)
        self.post("/experiments", SPEC.replace("512", "256"), 409, **key)

    def test_an_objection_to_one_of_them_queues_none_and_is_told_by_line(self):
        spec = SPEC.replace("training: {sequence_length: 512}", "training: {sequence_length: 512}\n    account: nobody")
        for path in ("/validate", "/experiments"):
            (error,) = self.post(path, spec, 422)["errors"]
            self.assertEqual(error["where"], "a.yaml:16:14")
            self.assertIn("there is no account nobody", error["message"])
        spec = SPEC.replace("after: [{job: phase1}]", "after: [{job: phase1}, {job: 99}]")
        (error,) = self.post("/experiments", spec, 422)["errors"]
        self.assertEqual(error["where"], "a.yaml:13:12")
        self.assertIn('job "chain-phase2" cannot wait: there is no job 99', error["message"])
        spec = SPEC.replace("resources: {devices: 1,", "account: nobody\nresources: {devices: 1,")
        (error,) = self.post("/experiments", spec, 422)["errors"]
        self.assertEqual(error["where"], "a.yaml:9:10", "what they have in common is told once, where it stands")
        self.assertEqual(self.get("/jobs")["total"], 0)

    def test_one_of_them_may_begin_with_the_weights_of_a_job_of_before(self):
        Agent(self.daemon, "node-1", 1).orders()
        (before,) = self.submit(SPEC[:SPEC.index("jobs:")])
        spec = SPEC.replace("  - name: phase1\n", f"  - name: phase1\n    after: [{{job: {before}}}]\n"
                                                  f"    model: {{hidden: 256, init: {{job: {before}}}}}\n")
        errors = self.post("/validate", spec, 422)["errors"]
        self.assertEqual([error["where"] for error in errors], ["a.yaml:16:19"], "the models of phase1 and of this job differ")
        spec = spec.replace("hidden: 256, ", "")
        self.assertEqual(self.post("/validate", spec, 200)["jobs"], 3)
        ids = self.submit(spec)
        self.assertEqual(self.get(f"/jobs/{ids[0]}")["spec"]["model"]["init"], {"job": before})

    def test_one_of_them_is_reproduced_alone(self):
        ids = self.submit()
        again = self.post(f"/jobs/{ids[0]}/reproduce", "", 201)["job"]
        self.assertEqual(again["name"], "chain-phase1")
        self.assertEqual(again["labels"], {"reproduces": str(ids[0])})

    def run_job(self, agent, *events):
        """The next job that is ordered, from its start to its end; its number."""
        (launch,) = agent.wait_for_order("start")
        agent.run([launch])
        lines = "".join(json.dumps(event | {"t": 2000}) + "\n" for event in events).encode()
        self.assertEqual(agent.deliver(chunk(launch, "events", 0, lines)).status, 200)
        agent.finish()
        wait_for(lambda: self.get(f"/jobs/{launch['job']}")["state"] == "succeeded", "the job's end")
        return launch["job"]

    def reproduced(self, job, status=201, **headers):
        return self.get(f"/jobs/{self.post(f'/jobs/{job}/reproduce', '', status, **headers)['job']['id']}")

    def test_one_that_waits_is_reproduced_to_wait_and_then_with_the_weights_that_it_had(self):
        first, second, third = self.submit()
        key = {"Idempotency_Key": "again"}
        waiting = self.reproduced(second, **key)
        self.assertEqual(waiting["spec"]["after"], [{"job": first, "when": "ok"}])
        self.assertEqual(waiting["spec"]["model"]["init"], {"job": first})
        self.assertIn(f"waits for job {first} to succeed", waiting["reason"])

        agent = Agent(self.daemon, "node-1", 1)
        agent.orders()
        origin = {"path": f"/shared/one/jobs/{first}/checkpoints/step-00000200", "step": 200, "xxh3": "0123456789012345"}
        started = {"type": "started", "step": 0, "steps": 100}
        self.assertEqual(self.run_job(agent, started), first)
        self.assertEqual(self.run_job(agent, started | {"origin": origin}), second)
        retried = self.reproduced(second, 200, **key)
        self.assertEqual(retried["id"], waiting["id"], "although more is known of it now")
        self.post(f"/jobs/{first}/reproduce", "", 409, **key)
        again = self.reproduced(second)
        self.assertNotIn("after", again["spec"])
        self.assertEqual(again["spec"]["model"]["init"], {"job": first, "checkpoint": 200, "xxh3": origin["xxh3"]})

    def test_one_that_begins_with_a_path_is_reproduced_with_the_checkpoint_found_there(self):
        agent = Agent(self.daemon, "node-1", 1)
        agent.orders()
        alone = SPEC[:SPEC.index("jobs:")]
        for written, found, again in (("runs/a", "/data/runs/a/step-00000200", "runs/a/step-00000200"),
                                      ("runs/b/step-00000200/", "/data/runs/b/step-00000200", "runs/b/step-00000200"),
                                      ("/runs/c", "/runs/c", "/runs/c")):
            (job,) = self.submit(alone.replace("vocab: 1000", f"vocab: 1000, init: {written}"))
            origin = {"path": found, "step": 200, "xxh3": "0123456789abcdef"}
            self.assertEqual(self.run_job(agent, {"type": "started", "step": 0, "steps": 100, "origin": origin}), job)
            init = self.reproduced(job)["spec"]["model"]["init"]
            self.assertEqual(pathlib.PurePath(init["path"]), pathlib.PurePath(again))
            self.assertEqual(init["xxh3"], origin["xxh3"])
            self.run_job(agent, {"type": "started", "step": 0, "steps": 100})

    def test_the_curve_of_one_foretells_nothing_of_another(self):
        agent = Agent(self.daemon, "node-1", 1)
        agent.orders()
        target = "target: {metric: eval/mlm_loss, at_most: 0.1}\nevaluate: {every: 10 steps, data: b.txt}\n"
        studied = SPEC[:SPEC.index("jobs:")] + target + "sweep: {training.seed: [1, 2]}\n"
        listed = SPEC[:SPEC.index("  - name: measured")].replace("jobs:", target + "jobs:")
        curve = [{"type": "metrics", "step": 10 * i, "values": {"eval/mlm_loss": 1 / i}} for i in range(1, 40)]
        early = [{"type": "started", "step": 0, "steps": 100_000}, *curve[:8]]
        told = []
        for spec in (studied, listed):
            first, second = self.submit(spec)
            self.assertEqual(self.run_job(agent, early[0], *curve), first)
            (launch,) = agent.wait_for_order("start")
            self.assertEqual(launch["job"], second)
            agent.run([launch])
            lines = "".join(json.dumps(event | {"t": 3000 + 10 * i}) + "\n" for i, event in enumerate(early)).encode()
            self.assertEqual(agent.deliver(chunk(launch, "events", 0, lines)).status, 200)
            told.append({key: value for key, value in self.get(f"/jobs/{second}/projection").items() if key in ("step", "fan")})
            agent.finish()
        self.assertNotEqual(told[0], told[1], "the trials of a sweep are alike, and those of a list are not")

    def test_a_list_that_is_committed_is_submitted_as_a_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            git = ["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@example.org"]
            subprocess.run(["git", "init", "-q", folder], check=True)
            pathlib.Path(folder, "chain.yaml").write_text(SPEC)
            subprocess.run([*git, "add", "."], check=True)
            subprocess.run([*git, "commit", "-q", "-m", "chain"], check=True)
            with Daemon("--specs", f"{folder},existing=submit", "--specs-every", "100ms") as daemon:
                wait_for(lambda: daemon.get("/jobs").json()["total"] == 3, "the jobs of the commit")
                second = daemon.get("/jobs/2").json()
        self.assertEqual(second["name"], "chain-phase2")
        self.assertEqual(second["spec"]["model"]["init"], {"job": 1})
        self.assertEqual(second["spec"]["after"], [{"job": 1, "when": "ok"}])
        self.assertEqual(second["source"]["path"], "chain.yaml")

    def test_what_was_normalised_may_be_submitted(self):
        normalised = self.post("/validate", SPEC, 200)["normalised"]
        ids = self.submit(json.dumps(normalised))
        self.assertEqual(self.get(f"/jobs/{ids[1]}")["spec"]["model"]["init"], {"job": ids[0]})


if __name__ == "__main__":
    unittest.main()
