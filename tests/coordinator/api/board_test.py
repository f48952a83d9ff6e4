"""The record board on a real daemon with synthetic jobs: records are computed anew from what GET /jobs says, and a job that is
reproduced has its spec, its code and its source."""

import hashlib
import json
import re
import time
import unittest

from daemon import USER, Agent, Daemon, chunk, wait_for

SPEC = """version: 1
name: {name}
model: {{preset: bert-tiny, vocab: 1000}}
data: {{train: a.txt, tokenizer: {{wordpiece: v.txt}}}}
training:
  optimizer: {{lr: 1.0e-3}}
  schedule: {{steps: 100}}
  batch: {{global: 8, micro: 1}}
  seed: {seed}
evaluate: {{every: 50 steps, data: b.txt}}
resources: {{devices: {devices}, kind: cpu, walltime: 1h}}
target: {{metric: eval/mlm_loss, at_most: {target}}}
"""
NAME = "bert-tiny pretrain, eval/mlm_loss at most 1"
SOURCE = {"repository": "r", "commit": "c" * 40, "path": "a.yaml", "dirty": True}


def reached(metric="eval/mlm_loss", value=0.5):
    now = int(1000 * time.time())
    lines = [{"type": "started", "t": now, "step": 0, "steps": 100},
             {"type": "metrics", "t": now, "step": 50, "values": {metric: value}},
             {"type": "target", "t": now, "step": 50, "metric": metric, "value": value}]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def begun_with(origin):
    def events():
        started, *rest = reached().decode().splitlines()
        return "\n".join([json.dumps(json.loads(started) | {"origin": origin}), *rest, ""]).encode()
    return events


class BoardTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.agents = {}

    def agent(self, name="node-1", devices=4, **device):
        agent = Agent(self.daemon, name, devices)
        for each in agent.node["devices"]:
            each.update(device)
        agent.orders()
        return agent

    def get(self, path, status=200):
        reply = self.daemon.get(path)
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def post(self, path, status, **headers):
        reply = self.daemon.request("POST", "/api/v1" + path, {}, USER, **headers)
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def submit(self, seed=1, devices=1, target=1, name="record"):
        text = SPEC.format(name=name, seed=seed, devices=devices, target=target)
        body = {"spec": text, "file": "a.yaml", "source": SOURCE}
        reply = self.daemon.request("POST", "/api/v1/experiments", body, USER)
        self.assertEqual(reply.status, 201, reply.body)
        return reply.json()["jobs"][0]["id"]

    def train(self, agent, job, seconds, events=reached):
        """Runs a job that is in line and reaches its target after `seconds` or a little more."""
        launches = [launch for launch in agent.wait_for_order("start") if launch["job"] == job]
        agent.run(launches)
        time.sleep(seconds)
        self.assertEqual(agent.deliver(chunk(launches[0], "events", 0, events())).status, 200)
        agent.finish()
        wait_for(lambda: self.get(f"/jobs/{job}")["state"] == "succeeded", "the job's end")

    def time_of(self, job):
        return self.get(f"/jobs/{job}")["time_to_train_seconds"]

    def test_records_fall_and_slower_runs_set_none(self):
        agent = self.agent()
        jobs = []
        for seed, seconds in ((1, 0.5), (2, 0.7), (3, 0.1), (4, 0.3)):
            jobs.append(self.submit(seed))
            self.train(agent, jobs[-1], seconds)
        times = [self.time_of(job) for job in jobs]
        best, fell = None, []
        for job, seconds in zip(jobs, times):
            if best is None or seconds < best:
                fell.append((job, seconds, None if best is None else (best - seconds) / best))
                best = seconds
        (benchmark,) = self.get("/board")["benchmarks"]
        self.assertEqual((benchmark["name"], benchmark["runs"], benchmark["excluded"]), (NAME, 4, 0))
        (klass,) = benchmark["classes"]
        self.assertEqual((klass["device"], klass["devices"]), ("test", 1))
        self.assertEqual([(r["job"], r["seconds"]) for r in klass["records"]], [(job, s) for job, s, _ in fell])
        for record, (_, _, improvement) in zip(klass["records"], fell):
            if improvement is None:
                self.assertIsNone(record["improvement"])
            else:
                self.assertAlmostEqual(record["improvement"], improvement, places=9)
        pattern = r'^podium_record_time_to_train_seconds\{benchmark="(.*)",device_model="test",devices="1"\} (.*)$'
        def told():
            metrics = self.daemon.request("GET", "/metrics").body.decode()
            records = [(name, float(seconds)) for name, seconds in re.findall(pattern, metrics, re.M)]
            return records == [(benchmark["id"], best)] and f'podium_runs_reached_target{{benchmark="{benchmark["id"]}"}} 4\n' in metrics
        wait_for(told, "the record to be told")
        details = self.get("/board/" + benchmark["id"])
        self.assertEqual([run["job"] for run in details["all"]], jobs[::-1])
        newest = details["all"][0]
        normalised = json.dumps(self.get(f"/jobs/{newest['job']}")["spec"], sort_keys=True, separators=(",", ":"))
        self.assertEqual(newest["spec_sha256"], hashlib.sha256(normalised.encode()).hexdigest())
        self.assertEqual((newest["seed"], newest["source"], newest["file"]), (4, SOURCE, "a.yaml"))
        self.assertEqual((newest["nodes"], newest["versions"], newest["restarts"]), (["node-1"], ["0.1.0"], 0))
        self.assertIn("no-such", self.get("/board/no-such", 404)["detail"])

    def test_what_differs_in_the_goal_is_another_benchmark_and_other_devices_another_class(self):
        agent = self.agent()
        jobs = [self.submit(), self.submit(devices=2), self.submit(target=2)]
        for job in jobs[:1]:
            self.train(agent, job, 0.1)
        self.train(agent, jobs[1], 0.1)
        self.train(agent, jobs[2], 0.1)
        board = {b["name"]: b for b in self.get("/board")["benchmarks"]}
        self.assertEqual(sorted(board), [NAME, NAME[:-1] + "2"])
        self.assertNotEqual(board[NAME]["id"], board[NAME[:-1] + "2"]["id"])

    def test_other_labels_of_the_same_file_are_another_benchmark(self):
        agent = self.agent()
        for seed, label in ((1, "grade"), (2, "kind"), (3, "kind")):
            text = SPEC.format(name=label, seed=seed, devices=1, target=1).replace(
                "training:\n", f"training:\n  task: classify\n  classify: {{label: {label}, dropout: 0.{seed}}}\n").replace("mlm_loss", "loss")
            reply = self.daemon.submit(text)
            self.assertEqual(reply.status, 201, reply.body)
            self.train(agent, reply.json()["jobs"][0]["id"], 0.1, lambda: reached("eval/loss"))
        board = self.get("/board")["benchmarks"]
        self.assertEqual(sorted(benchmark["runs"] for benchmark in board), [1, 2])

    def test_runs_that_were_no_race_are_excluded_with_the_reason(self):
        agent = self.agent()
        together = [self.submit(1), self.submit(2)]
        launches = agent.wait_for_order("start")
        self.assertEqual(len(launches), 2)
        agent.run(launches)
        time.sleep(0.1)
        for launch in launches:
            self.assertEqual(agent.deliver(chunk(launch, "events", 0, reached())).status, 200)
        agent.finish()
        wait_for(lambda: all(self.get(f"/jobs/{job}")["state"] == "succeeded" for job in together), "their ends")
        (benchmark,) = self.get("/board")["benchmarks"]
        self.assertEqual((benchmark["excluded"], benchmark["classes"]), (2, []))
        runs = {run["job"]: run["excluded"] for run in self.get("/board/" + benchmark["id"])["all"]}
        self.assertEqual(runs, {together[0]: [f"it shared nodes with job {together[1]}"],
                                together[1]: [f"it shared nodes with job {together[0]}"]})

    def test_made_up_devices_set_no_record(self):
        agent = self.agent(artificial=True)
        job = self.submit()
        self.train(agent, job, 0.1)
        (benchmark,) = self.get("/board")["benchmarks"]
        (run,) = self.get("/board/" + benchmark["id"])["all"]
        self.assertEqual((run["excluded"], benchmark["classes"]), (["it ran on devices that were made up"], []))

    def test_a_restart_counts_in_the_time(self):
        agent = self.agent()
        job = self.submit()
        agent.run(agent.wait_for_order("start"))
        started = self.get(f"/jobs/{job}")["started_ms"]
        agent.finish(75)  # asks to be queued again
        self.train(agent, job, 0.1)
        (benchmark,) = self.get("/board")["benchmarks"]
        (run,) = self.get("/board/" + benchmark["id"])["all"]
        self.assertEqual((run["started_ms"], run["restarts"]), (started, 1))
        self.assertAlmostEqual(run["seconds"], (run["reached_ms"] - started) / 1000)

    def test_a_job_is_reproduced_and_set_beside_the_original(self):
        agent = self.agent()
        original = self.submit(seed=7)
        self.train(agent, original, 0.1)
        key = {"Idempotency_Key": "again"}
        answer = self.post(f"/jobs/{original}/reproduce", 201, **key)
        self.assertEqual(answer["differences"], ["the original was submitted with uncommitted changes; its spec is repeated as it was then"])
        job = answer["job"]["id"]
        self.assertEqual(self.post(f"/jobs/{original}/reproduce", 200, **key)["job"]["id"], job)
        then, now = (self.get(f"/jobs/{each}") for each in (original, job))
        self.assertEqual(now["labels"], {"reproduces": str(original)})
        self.assertEqual(now["source"], then["source"])
        for spec in (then["spec"], now["spec"]):
            spec.pop("labels")
        self.assertEqual(now["spec"], then["spec"])
        self.train(agent, job, 0.05)
        (benchmark,) = self.get("/board")["benchmarks"]
        runs = {run["job"]: run for run in self.get("/board/" + benchmark["id"])["all"]}
        self.assertEqual({id: run["reproduces"] for id, run in runs.items()}, {original: None, job: original})
        self.assertEqual(runs[job]["spec_sha256"], runs[original]["spec_sha256"], "it is the same spec")
        self.post("/jobs/999/reproduce", 404)

    def begin_with(self, other, choice=None):
        """A job that takes its first weights of another's checkpoint."""
        init = {"job": other} | ({"checkpoint": choice} if choice else {})
        text = SPEC.format(name="tuned", seed=1, devices=1, target=1)
        return text.replace("vocab: 1000", f"vocab: 1000, init: {json.dumps(init)}")

    def test_weights_and_checkpoints_of_a_job_that_never_ran_are_refused(self):
        first = self.submit()
        self.post(f"/jobs/{first}/cancel", 202)
        refused = self.daemon.submit(self.begin_with(first))
        self.assertEqual(refused.status, 422, refused.body)
        [error] = refused.json()["errors"]
        self.assertIn("it has ended without having run", error["message"])
        self.assertRegex(error["where"], ":3")
        resuming = SPEC.format(name="on", seed=1, devices=1, target=1) + f"resume: {{job: {first}}}\n"
        [error] = self.daemon.submit(resuming).json()["errors"]
        self.assertIn(f'cannot go on from job {first} (', error["message"])

    def test_a_job_is_reproduced_from_the_very_checkpoint_that_it_began_with(self):
        agent = self.agent()
        first = self.submit()
        self.train(agent, first, 0.05)
        original = self.daemon.submit(self.begin_with(first, "newest")).json()["jobs"][0]["id"]
        self.assertIsNone(self.get(f"/jobs/{original}")["origin"])
        origin = {"path": f"/shared/{first}/step-00000100", "step": 100, "xxh3": "0123456789abcdef"}
        self.train(agent, original, 0.05, begun_with(origin))
        self.assertEqual(self.get(f"/jobs/{original}")["origin"], origin)
        answer = self.post(f"/jobs/{original}/reproduce", 201)
        again = answer["job"]["id"]
        self.assertEqual(self.get(f"/jobs/{again}")["spec"]["model"]["init"],
                         {"job": first, "checkpoint": 100, "xxh3": "0123456789abcdef"})
        self.train(agent, again, 0.05, begun_with(origin))
        other = self.daemon.submit(self.begin_with(first)).json()["jobs"][0]["id"]
        self.train(agent, other, 0.05, begun_with(origin | {"xxh3": "f" * 16}))
        runs = {run["job"]: b["id"] for b in self.get("/board")["benchmarks"]
                for run in self.get("/board/" + b["id"])["all"]}
        self.assertEqual(runs[original], runs[again], "it is one benchmark, however the spec names the checkpoint")
        self.assertEqual(len(set(runs.values())), 3, "other weights to begin with, or none, make another")
        fields = {(f["section"], f["key"]): f for f in self.get(f"/compare?job={original}&job={other}&all=1")["fields"]}
        self.assertTrue(fields["source", "origin"]["differs"])

    def test_weights_of_a_model_of_another_shape_are_refused_with_the_line(self):
        first = self.submit()
        self.agent()
        text = self.begin_with(first).replace("bert-tiny", "bert-mini") + f"after: [{{job: {first}}}]\n"
        for path in ("/validate", "/experiments"):
            reply = self.daemon.request("POST", "/api/v1" + path, {"spec": text, "file": "a.yaml"}, USER)
            self.assertEqual(reply.status, 422, reply.body)
            (error,) = reply.json()["errors"]
            self.assertEqual(error["where"], "a.yaml:3:47")
            self.assertEqual(error["message"],
                             f'job "tuned" cannot take its first weights from job {first} (record): '
                             "model.layers is 2 there and 4 here, model.hidden is 128 there and 256 here, "
                             "model.heads is 2 there and 4 here, "
                             "model.intermediate is 512 there and 1024 here")

    def test_every_objection_to_other_jobs_weights_is_told(self):
        first = self.submit()
        command = self.daemon.submit("version: 1\nname: c\ncommand: [ls]\nresources: {devices: 1, kind: cpu}\n").json()["jobs"][0]["id"]

        def messages(other, choice=None):
            body = {"spec": self.begin_with(other, choice), "file": "a.yaml"}
            return [e["message"] for e in self.daemon.request("POST", "/api/v1/validate", body, USER).json()["errors"]]

        said = messages(first, "best")
        self.assertEqual(len(said), 2, said)
        self.assertIn("it keeps no best checkpoint", said[0] + said[1])
        self.assertIn(f'has not ended; write "after: [{{job: {first}}}]"', said[0] + said[1])
        self.assertIn("runs a command", " ".join(messages(command)))
        self.assertEqual(messages(99), ['job "tuned" cannot take its first weights: there is no job 99'])

    def test_a_job_with_as_many_labels_as_may_be_is_reproduced(self):
        labels = {f"label-{i}": str(i) for i in range(32)}
        text = SPEC.format(name="labels", seed=1, devices=1, target=1) + f"labels: {json.dumps(labels)}\n"
        job = self.daemon.submit(text).json()["jobs"][0]["id"]
        again = self.post(f"/jobs/{job}/reproduce", 201)["job"]
        self.assertEqual(again["labels"], labels | {"reproduces": str(job)})
        twice = self.post(f"/jobs/{again['id']}/reproduce", 201)["job"]
        self.assertEqual(twice["labels"], labels | {"reproduces": str(again["id"])})

    def test_what_is_different_from_then_is_told(self):
        agent = self.agent()
        original = self.submit()
        self.train(agent, original, 0.1)
        agent.node["agent_version"] = "0.2.0"
        for device in agent.node["devices"]:
            device["model"] = "other"
        agent.tell()
        told = self.post(f"/jobs/{original}/reproduce", 201)["differences"]
        self.assertEqual(told[:2], ["the original ran on test; the cluster has these cpu devices now: other",
                                    "the original ran under podium 0.1.0; the nodes have 0.2.0 now"])
        never = self.post(f"/jobs/{self.submit(devices=4)}/reproduce", 201)["differences"]
        self.assertEqual(never[0], "the original never ran")

    def test_the_board_is_kept_and_made_from_what_was_there_before(self):
        agent = self.agent()
        job = self.submit()
        self.train(agent, job, 0.1)
        before = self.get("/board")
        self.daemon.terminate()
        self.daemon.start()
        self.assertEqual(self.get("/board"), before)


if __name__ == "__main__":
    unittest.main()
