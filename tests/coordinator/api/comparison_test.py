"""GET /compare and GET /series of a real daemon, against values that are computed here from what was written."""

import json
import statistics
import time
import unittest
import urllib.parse

from daemon import USER, Agent, Daemon, chunk, spec

LOSSES = {"eval/mlm_loss": [5.0, 4.0, 4.5], "eval/score": [1, 3, 2]}
OTHERS = {"eval/mlm_loss": [5.5, 3.0, 3.5]}
SPEEDS = {"first": [100, 90, 300, 110], "second": [150, 250, 210, 190, 170]}
START_MS = 1_700_000_000_000


def metrics(points):
    """events.jsonl with {key: [value of step 10, 20, …]}."""
    lines = []
    for key, values in points.items():
        for i, value in enumerate(values):
            step = 10 * (i + 1)
            event = {"type": "metrics", "t": START_MS + 1000 * step, "step": step, "values": {key: value}}
            lines.append(json.dumps(event) + "\n")
    return "".join(lines).encode()


class ComparisonTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.agent = Agent(cls.daemon, devices=2)
        cls.agent.node["devices"][1]["artificial"] = True
        cls.agent.orders()
        target = "target: {metric: eval/mlm_loss, at_most: 3.0}\n"
        cls.first = cls.run_job(spec("sweep-a", 1, target + "parameters: {lr: 0.1}\n"),
                                LOSSES | {"train/sequences_per_second": SPEEDS["first"]}, commit="a" * 40)
        cls.agent.node["agent_version"] = "0.2.0"
        cls.agent.tell()
        cls.second = cls.run_job(spec("sweep-b", 2, target + "parameters: {lr: 0.2, note: x}\nenv: {A: b}\n"),
                                 OTHERS | {"train/sequences_per_second": SPEEDS["second"]}, commit="b" * 40, dirty=True)
        cls.daemon.request("POST", "/api/v1/nodes/node-1/drain", {}, USER)
        cls.waiting = cls.submit(spec("waits", 2, "priority: 1\n"), "c" * 40)
        cls.agent.node["agent_version"] = "0.3.0"  # is no version that any of the jobs ran on
        cls.agent.tell()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    @classmethod
    def submit(cls, text, commit, dirty=False):
        source = {"repository": "git@host:specs", "commit": commit, "path": "a.yaml", "dirty": dirty}
        body = {"spec": text, "file": "a.yaml", "source": source}
        reply = cls.daemon.request("POST", "/api/v1/experiments", body, USER)
        assert reply.status == 201, reply.body
        return reply.json()["jobs"][0]["id"]

    @classmethod
    def run_job(cls, text, points, commit, dirty=False):
        job = cls.submit(text, commit, dirty)
        launches = cls.launches(job)
        cls.agent.run(launches)
        time.sleep(0.3)  # that it runs, so that its time is not nothing
        assert cls.agent.deliver(chunk(launches[0], "events", 0, metrics(points))).status == 200
        cls.agent.finish()
        return job

    @classmethod
    def launches(cls, job):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = [t["launch"] for t in cls.agent.orders() if t["launch"]["job"] == job and t["action"] == "start"]
            if found:
                return found
        raise TimeoutError(f"no order to start job {job}")

    def compare(self, *jobs, status=200, **query):
        fields = [("job", job) for job in jobs] + list(query.items())
        reply = self.daemon.get("/compare?" + urllib.parse.urlencode(fields, doseq=True))
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def fields(self, answer):
        return {(field["section"], field["key"]): field["values"] for field in answer["fields"]}

    def outcome(self, answer, measure, metric=""):
        found = [o for o in answer["outcomes"] if (o["measure"], o["metric"]) == (measure, metric)]
        self.assertEqual(len(found), 1, (measure, metric, answer["outcomes"]))
        return found[0]

    def test_only_what_differs_is_told(self):
        answer = self.compare(self.first, self.second)
        self.assertEqual([job["id"] for job in answer["jobs"]], [self.first, self.second])
        self.assertEqual(answer["base"], self.first)
        self.assertEqual(self.fields(answer), {
            ("spec", "env.A"): [None, "b"],
            ("spec", "parameters.lr"): [0.1, 0.2],
            ("spec", "parameters.note"): [None, "x"],
            ("spec", "resources.devices"): [1, 2],
            ("source", "commit"): ["a" * 40, "b" * 40],
            ("source", "dirty"): [False, True],
            ("hardware", "agent_versions"): ["0.1.0", "0.2.0"],
            ("hardware", "devices"): [1, 2],
        })
        self.assertEqual(answer["artificial"], [self.first, self.second], "of its node's devices one is artificial")
        self.assertEqual([source["dirty"] for source in answer["sources"]], [False, True])

    def test_all_tells_what_is_alike_as_well(self):
        some, everything = self.compare(self.first, self.second), self.compare(self.first, self.second, all=1)
        alike = [field for field in everything["fields"] if not field["differs"]]
        self.assertEqual(len(alike), everything["same"])
        self.assertEqual(some["same"], everything["same"])
        self.assertEqual((some["differing"], everything["differing"]), (len(some["fields"]),) * 2)
        self.assertEqual([field for field in everything["fields"] if field["differs"]], some["fields"])
        told = self.fields(everything)
        self.assertEqual(told["spec", "command"], [["/bin/true"]] * 2, "a list is one value")
        self.assertEqual(told["labels", "team"], ["test"] * 2)
        self.assertEqual(told["hardware", "device_models"], ["test"] * 2)

    def test_outcomes_are_those_that_were_written(self):
        answer = self.compare(self.first, self.second)
        loss = self.outcome(answer, "best", "eval/mlm_loss")
        best = [min(LOSSES["eval/mlm_loss"]), min(OTHERS["eval/mlm_loss"])]
        self.assertEqual((loss["better"], loss["better_by"], loss["values"]), ("less", "target", best))
        self.assertEqual(loss["steps"], [20, 20])
        self.assertEqual(loss["best"], [self.second])
        self.assertAlmostEqual(loss["differences"][1], best[1] / best[0] - 1)
        final = self.outcome(answer, "final", "eval/mlm_loss")
        self.assertEqual((final["values"], final["steps"]), ([4.5, 3.5], [30, 30]))
        score = self.outcome(answer, "final", "eval/score")
        self.assertEqual((score["values"], score["better"], score["best"]), ([2, None], None, []))
        speed = self.outcome(answer, "median", "train/sequences_per_second")
        self.assertEqual(speed["values"], [statistics.median(SPEEDS["first"]), statistics.median(SPEEDS["second"])])
        self.assertEqual(speed["best"], [self.second])
        self.assertEqual(self.outcome(answer, "restarts")["values"], [0, 0])

    def test_times_are_those_of_the_attempts(self):
        answer = self.compare(self.first, self.second)
        jobs = [self.daemon.get(f"/jobs/{job}").json() for job in (self.first, self.second)]
        attempts = [job["attempts"][0] for job in jobs]
        held = [(a["ended_ms"] - a["created_ms"]) / 1000 * sum(len(t["devices"]) for t in a["tasks"]) for a in attempts]
        ran = [(a["ended_ms"] - a["started_ms"]) / 1000 for a in attempts]
        for measure, expected in (("device_time", held), ("run_time", ran)):
            for value, wanted in zip(self.outcome(answer, measure)["values"], expected):
                self.assertAlmostEqual(value, wanted, places=6)
        trained = [job["time_to_train_seconds"] for job in jobs]
        self.assertEqual(trained[0], None, "its target was never reached")
        self.assertEqual(self.outcome(answer, "time_to_train")["values"], trained)
        self.assertEqual(self.outcome(answer, "time_to_train")["best"], [])
        self.assertEqual(self.outcome(answer, "device_time")["best"], [], "the cheaper one was not trained")

    def test_a_base_is_one_of_the_jobs(self):
        answer = self.compare(self.first, self.second, base=self.second)
        loss = self.outcome(answer, "best", "eval/mlm_loss")
        self.assertAlmostEqual(loss["differences"][0], 4.0 / 3.0 - 1)
        self.assertEqual(loss["differences"][1], 0)
        self.compare(self.first, self.second, base=self.waiting, status=400)

    def test_a_job_that_has_not_started_lacks_what_only_runs_have(self):
        answer = self.compare(self.first, self.waiting)
        self.assertEqual(self.fields(answer)["hardware", "devices"], [1, None])
        self.assertEqual(self.outcome(answer, "run_time")["values"][1], None)
        self.assertEqual(self.outcome(answer, "final", "eval/mlm_loss")["values"], [4.5, None])
        listed = {metric["key"]: metric["jobs"] for metric in answer["metrics"]}
        self.assertEqual(listed["eval/mlm_loss"], [self.first])

    def test_patterns_choose_metrics(self):
        answer = self.compare(self.first, self.second, metric=["train/*", "eval/sc*"])
        told = {outcome["metric"] for outcome in answer["outcomes"] if outcome["measure"] == "final"}
        self.assertEqual(told, {"train/sequences_per_second", "eval/score"})

    def test_mistakes_are_refused_and_what_is_missing_is_told(self):
        self.assertEqual(self.compare(self.first, 999999)["missing"], [999999])
        self.compare(999998, 999999, status=404)
        self.compare(status=400)
        self.compare("x", status=400)
        self.compare(self.first, self.first, status=400)
        self.compare(*range(1, 52), status=400)
        self.compare(self.first, what=1, status=400)

    def series(self, jobs, keys, status=200, **query):
        fields = [("job", job) for job in jobs] + [("key", key) for key in keys] + list(query.items())
        reply = self.daemon.get("/series?" + urllib.parse.urlencode(fields))
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def test_series_of_several_jobs_are_those_of_each(self):
        keys = ["eval/mlm_loss", "eval/score"]
        answer = self.series([self.second, self.first, 999999], keys)
        self.assertEqual(answer["missing"], [999999])
        self.assertEqual(answer["lacking"], [{"job": self.second, "key": "eval/score"}])
        expected = []
        for job, known in ((self.second, ["eval/mlm_loss"]), (self.first, keys)):
            query = "&".join("key=" + urllib.parse.quote(key) for key in known)
            alone = self.daemon.get(f"/jobs/{job}/series?{query}").json()["series"]
            expected += [{"job": job} | series for series in alone]
        self.assertEqual(answer["series"], expected)
        self.assertEqual([point[2] for point in expected[1]["points"]], LOSSES["eval/mlm_loss"])

    def test_a_part_of_a_series_that_is_empty_is_not_lacking(self):
        whole = self.series([self.first], ["eval/mlm_loss"])["series"][0]["points"]
        step = whole[1][0]
        part = self.series([self.first], ["eval/mlm_loss"], first_step=step)
        self.assertEqual(part["series"][0]["points"], whole[1:])
        beyond = self.series([self.first], ["eval/mlm_loss", "none"], first_step=whole[-1][0] + 1)
        self.assertEqual(beyond["series"][0]["points"], [])
        self.assertEqual(beyond["lacking"], [{"job": self.first, "key": "none"}])

    def test_series_are_bounded(self):
        self.series([self.first], [], status=400)
        self.series([999999], ["eval/score"], status=404)
        self.series([self.first, self.second], [f"k{i}" for i in range(64)], points=20000, status=400)
        self.series([self.first], [f"k{i}" for i in range(65)], status=400)
        self.series([self.first], ["a"], points=1, status=400)


if __name__ == "__main__":
    unittest.main()
