"""MLflow's tracking REST of a real daemon, called as the stock Python client does (its sequences of requests, retries without
change), with its status codes and error codes."""

import http.client
import json
import sqlite3
import threading
import time
import unittest
import urllib.parse

from daemon import USER, Agent, Daemon, chunk, metric_lines, spec, wait_for

PREFIX = "/api/2.0/mlflow/"


class Client:
    """A client that is as strict as MLflow's: success is 200 with a JSON object."""

    def __init__(self, daemon, token=USER):
        self.daemon, self.token = daemon, token

    def call(self, method, path, fields, expect=200, code=None):
        if method == "GET":
            reply = self.daemon.request("GET", PREFIX + path + "?" + urllib.parse.urlencode(fields, doseq=True), token=self.token)
        else:
            reply = self.daemon.request(method, PREFIX + path, fields, self.token)
        body = reply.json()
        assert isinstance(body, dict), body
        assert reply.type == "application/json", reply.type
        assert reply.status == expect, (method, path, fields, reply.status, body)
        if expect != 200:
            assert set(body) == {"error_code", "message"}, body
            assert body["error_code"] == code, body
        return body

    def get(self, path, expect=200, code=None, **fields):
        return self.call("GET", path, fields, expect, code)

    def post(self, path, expect=200, code=None, **fields):
        return self.call("POST", path, fields, expect, code)

    def experiment(self, name, **fields):
        return self.post("experiments/create", name=name, **fields)["experiment_id"]

    def run(self, experiment="0", **fields):
        return self.post("runs/create", experiment_id=experiment, **fields)["run"]

    def start(self, experiment="0", **fields):
        return self.run(experiment, **fields)["info"]["run_id"]

    def fetch(self, run):
        return self.get("runs/get", run_id=run)["run"]

    def log(self, run, key, value, timestamp, step=0):
        self.post("runs/log-metric", run_id=run, key=key, value=value, timestamp=timestamp, step=step)

    def history(self, run, key, **fields):
        points = self.get("metrics/get-history", run_id=run, metric_key=key, **fields)["metrics"]
        return [(p["step"], p["timestamp"], p["value"]) for p in points]

    def latest(self, run):
        return {m["key"]: (m["step"], m["timestamp"], m["value"]) for m in self.fetch(run)["data"]["metrics"]}

    def tags(self, run):
        return pairs(self.fetch(run)["data"]["tags"])

    def search(self, filter="", experiments=("0",), **fields):
        return self.post("runs/search", experiment_ids=list(experiments), filter=filter, **fields)

    def found(self, filter="", experiments=("0",), **fields):
        return [run["info"]["run_name"] for run in self.search(filter, experiments, **fields)["runs"]]


def pairs(listed):
    return {one["key"]: one["value"] for one in listed}


INVALID = dict(expect=400, code="INVALID_PARAMETER_VALUE")
MISSING = dict(expect=404, code="RESOURCE_DOES_NOT_EXIST")
EXISTS = dict(expect=400, code="RESOURCE_ALREADY_EXISTS")


class MlflowTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.client = Client(cls.daemon)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def job_of(self, run):
        return int(run[16:], 16)


class ExperimentsTest(MlflowTest):
    def test_set_experiment_finds_or_makes_it(self):
        c = self.client
        c.get("experiments/get-by-name", experiment_name="bert", **MISSING)
        made = c.experiment("bert", tags=[{"key": "team", "value": "nlp"}])
        c.post("experiments/create", name="bert", **EXISTS)
        experiment = c.get("experiments/get", experiment_id=made)["experiment"]
        self.assertEqual(experiment, c.get("experiments/get-by-name", experiment_name="bert")["experiment"])
        self.assertEqual(experiment["artifact_location"], "mlflow-artifacts:/" + made)
        self.assertEqual(experiment["lifecycle_stage"], "active")
        self.assertEqual(experiment["tags"], [{"key": "team", "value": "nlp"}])
        self.assertGreater(experiment["creation_time"], 1_600_000_000_000)

    def test_there_is_a_default_one(self):
        default = self.client.get("experiments/get", experiment_id="0")["experiment"]
        self.assertEqual(default["name"], "Default")
        self.client.post("experiments/delete", experiment_id="0", **INVALID)

    def test_a_deleted_one_takes_no_runs_until_it_is_restored(self):
        c = self.client
        made = c.experiment("gone", artifact_location="s3://bucket/gone/")
        run = c.start(made)
        c.post("experiments/delete", experiment_id=made)
        self.assertEqual(c.get("experiments/get", experiment_id=made)["experiment"]["lifecycle_stage"], "deleted")
        c.post("runs/create", experiment_id=made, **INVALID)
        c.post("experiments/create", name="gone", **EXISTS)
        c.post("experiments/set-experiment-tag", experiment_id=made, key="k", value="v", **INVALID)
        self.assertEqual(c.fetch(run)["info"]["lifecycle_stage"], "deleted")
        c.post("experiments/restore", experiment_id=made)
        self.assertEqual(c.fetch(run)["info"]["lifecycle_stage"], "active")
        c.post("runs/delete", run_id=run)
        c.post("experiments/restore", experiment_id=made, **MISSING)
        self.assertEqual(c.fetch(run)["info"]["lifecycle_stage"], "deleted")
        c.post("runs/restore", run_id=run)
        self.assertEqual(c.fetch(run)["info"]["artifact_uri"], f"s3://bucket/gone/{run}/artifacts")

    def test_renames_and_tags(self):
        c = self.client
        one, other = c.experiment("first name"), c.experiment("taken")
        run = c.start(one)
        c.post("experiments/update", experiment_id=one, new_name="taken", **EXISTS)
        c.post("experiments/update", experiment_id=one, new_name="second name")
        c.get("experiments/get-by-name", experiment_name="first name", **MISSING)
        self.assertEqual(c.get("experiments/get", experiment_id=one)["experiment"]["name"], "second name")
        experiment = self.daemon.get(f"/jobs/{self.job_of(run)}").json()["experiment"]
        self.assertEqual(self.daemon.get(f"/experiments/{experiment}").json()["name"], "second name")
        c.post("experiments/set-experiment-tag", experiment_id=one, key="a", value="1")
        c.post("experiments/set-experiment-tag", experiment_id=one, key="a", value="2")
        self.assertEqual(c.get("experiments/get", experiment_id=one)["experiment"]["tags"], [{"key": "a", "value": "2"}])
        c.post("experiments/delete-experiment-tag", experiment_id=one, key="a")
        c.post("experiments/delete-experiment-tag", experiment_id=one, key="a", **MISSING)
        c.post("experiments/set-experiment-tag", experiment_id="999999", key="a", value="1", **MISSING)
        self.assertEqual(c.get("experiments/get", experiment_id=one)["experiment"]["tags"], [])
        c.post("experiments/update", experiment_id=other)

    def test_one_with_scheduled_jobs_keeps_its_name(self):
        c, job = self.client, self.daemon.submit(spec("of-jobs")).json()["jobs"][0]["id"]
        group = c.get("experiments/get-by-name", experiment_name="of-jobs")["experiment"]["experiment_id"]
        c.start(group)
        c.post("experiments/update", experiment_id=group, new_name="of none", **INVALID)
        c.post("experiments/update", experiment_id=group, new_name="of-jobs")
        c.post("experiments/delete", experiment_id=group, **INVALID)
        self.assertEqual(c.get("experiments/get-by-name", experiment_name="of-jobs")["experiment"]["experiment_id"], group)
        self.assertEqual(len(self.daemon.get("/jobs?experiment_name=of-jobs").json()["jobs"]), 2)

    def test_bad_ones_are_refused(self):
        c = self.client
        c.post("experiments/create", **INVALID)
        c.post("experiments/create", name="", **INVALID)
        c.post("experiments/create", name=7, **INVALID)
        c.post("experiments/create", name="x" * 501, **INVALID)
        c.experiment("x" * 500)
        c.post("experiments/create", name="y", artifact_location="runs:/1/model", **INVALID)
        for location in ("mlflow-artifacts:/1/../2", "mlflow-artifacts:/.."):
            c.post("experiments/create", name="y", artifact_location=location, **INVALID)
        c.post("experiments/create", name="y", tags=[{"key": "a//b", "value": ""}], **INVALID)
        c.get("experiments/get", **INVALID)
        for id in ("77777", "-1", "one"):
            c.get("experiments/get", experiment_id=id, **MISSING)

    def test_search_pages_and_filters(self):
        c = self.client
        ids = [c.experiment(f"search/{name}", tags=[{"key": "s", "value": name}]) for name in "abc"]
        c.post("experiments/delete", experiment_id=ids[2])
        names = lambda **fields: [e["name"] for e in c.post("experiments/search", **fields)["experiments"]]
        self.assertEqual(names(filter="name LIKE 'search/%'", order_by=["name DESC"]), ["search/b", "search/a"])
        self.assertEqual(names(filter="name LIKE 'search/%'", view_type="DELETED_ONLY"), ["search/c"])
        self.assertEqual(len(names(filter="name ILIKE 'SEARCH/%'", view_type="ALL")), 3)
        self.assertEqual(names(filter="name LIKE 'SEARCH/%'", view_type="ALL"), [])
        self.assertEqual(names(filter="tags.s = 'b'"), ["search/b"])
        page = c.post("experiments/search", filter="name LIKE 'search/%'", order_by=["name"], max_results=1, page_token="")
        self.assertEqual(page["experiments"][0]["name"], "search/a")
        page = c.get("experiments/search", filter="name LIKE 'search/%'", order_by="name", max_results=1,
                     page_token=page["next_page_token"])
        self.assertEqual(page["experiments"][0]["name"], "search/b")
        self.assertNotIn("next_page_token", page)
        c.post("experiments/search", filter="metrics.loss < 1", **INVALID)
        c.post("experiments/search", view_type="SOME", **INVALID)


class RunsTest(MlflowTest):
    def test_a_run_lives_as_the_fluent_client_drives_it(self):
        c = self.client
        made = c.run(user_id="ada", run_name="first", start_time=1_700_000_000_000, tags=[{"key": "mlflow.user", "value": "ada"}])
        info = made["info"]
        self.assertRegex(info["run_id"], "^[0-9a-f]{32}$")
        self.assertEqual(info["run_id"], info["run_uuid"])
        self.assertEqual((info["run_name"], info["user_id"], info["status"]), ("first", "ada", "RUNNING"))
        self.assertEqual((info["experiment_id"], info["lifecycle_stage"]), ("0", "active"))
        self.assertEqual(info["start_time"], 1_700_000_000_000)
        self.assertNotIn("end_time", info)
        run = info["run_id"]
        self.assertEqual(info["artifact_uri"], f"mlflow-artifacts:/0/{run}/artifacts")
        self.assertEqual(pairs(made["data"]["tags"]), {"mlflow.runName": "first", "mlflow.user": "ada"})
        self.assertEqual(c.fetch(run), made)
        ended = c.post("runs/update", run_id=run, status="FINISHED", end_time=1_700_000_100_000)["run_info"]
        self.assertEqual((ended["status"], ended["end_time"]), ("FINISHED", 1_700_000_100_000))
        again = c.post("runs/update", run_id=run, run_uuid=run, status="RUNNING", end_time="1700000100000")["run_info"]
        self.assertNotIn("end_time", again)
        c.log(run, "late", 1, 5)
        self.assertEqual(c.latest(run), {"late": (0, 5, 1.0)})

    def test_names(self):
        c = self.client
        self.assertRegex(c.run()["info"]["run_name"], r"^[a-z]+-[a-z]+-\d+$")
        run = c.start(tags=[{"key": "mlflow.runName", "value": "by tag"}])
        self.assertEqual(c.fetch(run)["info"]["run_name"], "by tag")
        c.post("runs/create", run_name="a", tags=[{"key": "mlflow.runName", "value": "b"}], **INVALID)
        c.post("runs/set-tag", run_id=run, key="mlflow.runName", value="renamed")
        self.assertEqual(c.fetch(run)["info"]["run_name"], "renamed")
        c.post("runs/update", run_id=run, run_name="again")
        self.assertEqual(c.tags(run)["mlflow.runName"], "again")
        self.assertEqual(self.daemon.get(f"/jobs/{self.job_of(run)}").json()["name"], "again")
        c.post("runs/update", run_id=run, run_name="x" * 251, **INVALID)

    def test_what_is_no_run_is_not_found(self):
        c = self.client
        run = c.start()
        c.get("runs/get", **INVALID)
        for wrong in ("0" * 32, run[:16] + "7" + run[17:], "nonsense", run.upper() + "x", run[:-1]):
            c.get("runs/get", run_id=wrong, **MISSING)
            c.post("runs/log-metric", run_id=wrong, key="a", value=1, timestamp=1, **MISSING)
            c.post("runs/update", run_id=wrong, status="FINISHED", **MISSING)
        c.post("runs/create", experiment_id="424242", **MISSING)
        c.post("runs/update", run_id=run, status="DONE", **INVALID)
        c.post("runs/create", start_time=-1, **INVALID)
        c.post("runs/create", start_time=2**62, **INVALID)
        c.post("runs/log-batch-of", run_id=run, expect=404, code="ENDPOINT_NOT_FOUND")
        c.get("runs/create", expect=404, code="ENDPOINT_NOT_FOUND")

    def test_deleted_runs_take_nothing_and_leave_the_lists(self):
        c = self.client
        run = c.start(run_name="to be deleted")
        c.log(run, "a", 1, 1)
        listed = lambda: [job["name"] for job in self.daemon.get("/jobs?q=deleted").json()["jobs"]]
        self.assertEqual(listed(), ["to be deleted"])
        c.post("runs/delete", run_id=run)
        self.assertEqual(listed(), [])
        self.assertEqual(c.fetch(run)["info"]["lifecycle_stage"], "deleted")
        for path, fields in (("log-metric", dict(key="a", value=1, timestamp=2)), ("log-parameter", dict(key="a", value="1")),
                             ("set-tag", dict(key="a", value="1")), ("log-batch", {}), ("update", dict(status="FAILED"))):
            c.post("runs/" + path, run_id=run, **fields, **INVALID)
        c.post("runs/restore", run_id=run)
        self.assertEqual(listed(), ["to be deleted"])
        c.log(run, "a", 2, 3)

    def test_params_never_change(self):
        c = self.client
        run = c.start()
        c.post("runs/log-parameter", run_id=run, key="lr", value="0.1")
        c.post("runs/log-parameter", run_id=run, key="lr", value="0.1")
        c.post("runs/log-parameter", run_id=run, key="lr", value="0.2", **INVALID)
        both = [{"key": "new", "value": "1"}, {"key": "lr", "value": "0.2"}]
        c.post("runs/log-batch", run_id=run, params=both, metrics=[{"key": "m", "value": 1, "timestamp": 1}], **INVALID)
        c.post("runs/log-batch", run_id=run, params=[{"key": "x", "value": "1"}] * 2, **INVALID)
        self.assertEqual(pairs(c.fetch(run)["data"]["params"]), {"lr": "0.1"})
        self.assertEqual(c.latest(run), {})
        c.post("runs/log-parameter", run_id=run, key="long", value="x" * 6001, **INVALID)
        c.post("runs/log-parameter", run_id=run, key="long", value="é" * 6000)

    def test_a_program_names_a_param_as_its_spec_has_one(self):
        c, job = self.client, self.daemon.submit(spec("own")).json()["jobs"][0]["id"]
        run = c.start()[:16] + f"{job:016x}"
        self.assertEqual(pairs(c.fetch(run)["data"]["params"])["version"], "1")
        c.post("runs/log-parameter", run_id=run, key="version", value="v2")
        c.post("runs/log-parameter", run_id=run, key="version", value="v2")
        c.post("runs/log-parameter", run_id=run, key="version", value="v3", **INVALID)
        c.post("runs/log-parameter", run_id=run, key="version", value="1", **INVALID)
        c.post("runs/log-parameter", run_id=run, key="resources.devices", value="9", **INVALID)
        self.assertEqual(pairs(c.fetch(run)["data"]["params"])["version"], "v2")

    def test_jobs_neither_follow_a_run_nor_begin_with_it(self):
        c = self.client
        run = c.start()
        number = self.job_of(run)
        self.assertEqual(self.daemon.get(f"/jobs/{number}/checkpoints").json(), {"checkpoints": []})
        for key, why in (("after", "is a run that a program elsewhere logs"), ("resume", "Podium has no checkpoints of it")):
            job = f"{{job: {number}}}"
            refused = self.daemon.submit(spec("follower", extra=f"{key}: [{job}]" if key == "after" else f"{key}: {job}"))
            self.assertEqual(refused.status, 422, refused.body)
            self.assertIn(why, str(refused.body))
        c.post("runs/update", run_id=run, status="FINISHED")
        self.assertEqual(self.daemon.submit(spec("follower", extra=f"after: [{{job: {number}}}]")).status, 201)

    def test_the_live_stream_tells_what_becomes_of_runs(self):
        c = self.client
        experiment = c.experiment("watched")
        run = c.start(experiment)
        number = self.job_of(run)
        live = self.daemon.live()
        self.addCleanup(live.close)
        c.post("runs/delete", run_id=run)
        live.until(lambda name, data: name == "reset")
        c.post("runs/restore", run_id=run)
        live.until(lambda name, data: name == "job" and data["id"] == number)
        for path in ("delete", "restore"):
            c.post("experiments/" + path, experiment_id=experiment)
            live.until(lambda name, data: name == "reset")
        self.assertEqual(self.daemon.request("POST", f"/api/v1/jobs/{number}/cancel", token=USER).status, 202)
        live.until(lambda name, data: name == "job" and data["id"] == number and data["state"] == "cancelled")

    def test_tags_are_set_and_deleted(self):
        c = self.client
        run = c.start()
        c.post("runs/set-tag", run_id=run, key="a", value="1")
        c.post("runs/log-batch", run_id=run, tags=[{"key": "a", "value": "2"}, {"key": "b.c", "value": ""}])
        self.assertEqual({k: v for k, v in c.tags(run).items() if k != "mlflow.runName"}, {"a": "2", "b.c": ""})
        self.assertEqual(self.daemon.get(f"/jobs/{self.job_of(run)}").json()["labels"], {"a": "2", "b.c": ""})
        c.post("runs/delete-tag", run_id=run, key="a")
        c.post("runs/delete-tag", run_id=run, key="a", **MISSING)
        self.assertEqual(self.daemon.get(f"/jobs/{self.job_of(run)}").json()["labels"], {"b.c": ""})
        c.post("runs/set-tag", run_id=run, key="long", value="x" * 8001, **INVALID)
        c.post("runs/set-tag", run_id=run, key="long", value="x" * 8000)
        for name in ("", "x" * 251):
            c.post("runs/set-tag", run_id=run, key="mlflow.runName", value=name, **INVALID)
        c.post("runs/create", experiment_id="0", tags=[{"key": f"t{i}", "value": ""} for i in range(1001)], **INVALID)

    def test_keys_are_those_that_mlflow_takes(self):
        c = self.client
        run = c.start()
        for key in ("a", "a/b", "a b", "a:b-c_d.e", "Größe", "x" * 250, ".a", "a..b"):
            c.log(run, key, 1, 1)
            c.post("runs/log-parameter", run_id=run, key=key, value="1")
        for key in ("", "a\n", "a(b)", "/a", "a//b", "a/", "./a", "a/./b", "a/../b", "..", ".", "../a", "..a", "x" * 251, "a'b"):
            c.post("runs/log-metric", run_id=run, key=key, value=1, timestamp=1, **INVALID)
            c.post("runs/log-parameter", run_id=run, key=key, value="1", **INVALID)
            c.post("runs/set-tag", run_id=run, key=key, value="1", **INVALID)
        self.assertEqual(len(c.latest(run)), 8)

    def test_batches_have_limits(self):
        c = self.client
        run = c.start()
        metrics = [{"key": "m", "value": i, "timestamp": i, "step": i} for i in range(1001)]
        c.post("runs/log-batch", run_id=run, metrics=metrics, **INVALID)
        params = [{"key": f"p{i}", "value": "1"} for i in range(101)]
        c.post("runs/log-batch", run_id=run, params=params, **INVALID)
        c.post("runs/log-batch", run_id=run, tags=params, **INVALID)
        c.post("runs/log-batch", run_id=run, metrics=metrics[:901], params=params[:100], **INVALID)
        self.assertEqual(len(c.tags(run)), 1)
        c.post("runs/log-batch", run_id=run, metrics=metrics[:900], params=params[:50], tags=params[:50])
        self.assertEqual(len(c.history(run, "m")), 900)
        c.post("runs/log-batch", run_id=run, metrics=metrics[:1000])
        self.assertEqual(len(c.history(run, "m")), 1000)
        for wrong in ({"metrics": 7}, {"metrics": [7]}, {"metrics": [{"value": 1, "timestamp": 1}]}, {"tags": {}},
                      {"metrics": [{"key": "m", "value": "x", "timestamp": 1}]}, {"metrics": [{"key": "m", "value": 1}]},
                      {"params": [{"key": "p", "value": 5}]}):
            c.post("runs/log-batch", run_id=run, **wrong, **INVALID)
        big = self.daemon.request("POST", PREFIX + "runs/log-batch", "{" + " " * (9 << 20) + "}", USER)
        self.assertEqual(big.status, 413)

    def test_large_bodies(self):
        c = self.client
        run = c.start()
        params = [{"key": f"p{i}", "value": "x" * 6000} for i in range(100)]
        metrics = [{"key": "m" * 250, "value": i, "timestamp": i, "step": i} for i in range(1000)]
        c.post("runs/log-batch", run_id=run, params=params)
        c.post("runs/log-batch", run_id=run, metrics=metrics)
        self.assertEqual(len(c.fetch(run)["data"]["params"]), 100)
        self.assertEqual(len(c.history(run, "m" * 250)), 1000)
        c.post("runs/log-batch", run_id="0" * 32, metrics=metrics, **MISSING)
        c.post("runs/log-batch", run_id=run, metrics=metrics + metrics, **INVALID)
        c.post("runs/log-batch", run_id=run, params=params[:50], metrics=metrics[:950] + [{}], **INVALID)
        broken = self.daemon.request("POST", PREFIX + "runs/log-batch", '{"a":' + "[" * 200_000, USER)
        self.assertEqual((broken.status, broken.json()["error_code"]), (400, "BAD_REQUEST"))

    def test_inputs_are_kept(self):
        c = self.client
        run = c.start()
        dataset = {"dataset": {"name": "wiki", "digest": "abc", "source_type": "local", "source": "{}"},
                   "tags": [{"key": "mlflow.data.context", "value": "training"}]}
        c.post("runs/log-inputs", run_id=run, datasets=[dataset], models=[{"model_id": "m-1"}])
        c.post("runs/log-inputs", run_id=run, datasets=[dataset])
        inputs = c.fetch(run)["inputs"]
        self.assertEqual(inputs["dataset_inputs"], [dataset])
        self.assertEqual(inputs["model_inputs"], [{"model_id": "m-1"}])
        self.assertIn(run, [r["info"]["run_id"] for r in c.search("dataset.name = 'wiki' and datasets.context = 'training'")["runs"]])
        c.post("runs/log-inputs", run_id=run, datasets=[{"dataset": {"name": "x"}}], **INVALID)
        many = [{"model_id": f"many-{i}"} for i in range(998)]
        for _ in range(2):  # the second time as by a client that has missed the answer
            c.post("runs/log-inputs", run_id=run, models=many)
        c.post("runs/log-inputs", run_id=run, models=[{"model_id": "one too many"}], **INVALID)

    def test_who_may(self):
        stranger, nobody = Client(self.daemon, "wrong"), Client(self.daemon, None)
        stranger.post("runs/create", expect=401, code="UNAUTHENTICATED")
        nobody.post("runs/create", expect=401, code="UNAUTHENTICATED")
        self.assertEqual(nobody.get("experiments/get", experiment_id="0")["experiment"]["name"], "Default")

    def test_hostile_bodies_get_an_answer(self):
        for body in ("", "{", "[]", "null", "7", '{"run_id":' + "[" * 100000, '{"run_id":"\xff"}', '{"a":"\\ud800"}'):
            reply = self.daemon.request("POST", PREFIX + "runs/log-batch", body.encode("latin-1"), USER)
            self.assertEqual(reply.status, 400, body[:50])
            self.assertIn(reply.json()["error_code"], ("BAD_REQUEST", "INVALID_PARAMETER_VALUE"))


class JobsTest(unittest.TestCase):
    """Metrics that a scheduled job logs over MLflow's API count as those that it tells in its events."""

    BERT = ("version: 1\nname: job\nmodel: {preset: bert-tiny, vocab: 1000}\n"
            "data: {train: a.txt, tokenizer: {wordpiece: v.txt}}\n"
            "training: {optimizer: {lr: 1.0e-3}, schedule: {steps: 100}, batch: {global: 8, micro: 1}}\n"
            "evaluate: {every: 20 steps, data: b.txt}\nresources: {devices: 1, kind: cpu, walltime: 1h}\n")

    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.client = Client(self.daemon)
        self.agent = Agent(self.daemon, devices=4)
        self.agent.orders()

    def start(self, text):
        """Runs the jobs of a spec; returns the runs of these."""
        jobs = [job["id"] for job in self.daemon.submit(text).json()["jobs"]]
        self.launches = self.agent.wait_for_order("start")
        self.agent.run(self.launches)
        wait_for(lambda: all(self.job(job)["state"] == "running" for job in jobs), "the jobs to run")
        cluster = self.client.start()[:16]
        return [cluster + f"{job:016x}" for job in jobs]

    def job(self, number):
        return self.daemon.get(f"/jobs/{number}").json()

    def test_a_logged_metric_reaches_the_target_and_tells_progress(self):
        benchmark = "target: {metric: eval/mlm_loss, at_most: 1}\n"
        [run] = self.start(self.BERT + benchmark)
        started = self.job(1)["started_ms"]
        wait_for(lambda: time.time() * 1000 > started + 100, "the times of the points")
        self.client.log(run, "eval/mlm_loss", 3, started + 1, step=20)
        self.assertEqual(self.job(1)["progress"]["step"], 20)
        self.assertIsNone(self.job(1)["target"]["reached_ms"])
        points = [{"key": key, "value": value, "timestamp": started + step, "step": step}
                  for step, value in ((40, 0.75), (60, 0.5)) for key in ("train/loss", "eval/mlm_loss")]
        self.client.post("runs/log-batch", run_id=run, metrics=points)
        self.client.log(run, "eval/mlm_loss", 0.25, started + 80, step=80)
        job = self.job(1)
        self.assertEqual(job["target"]["reached_step"], 40, job)
        self.assertAlmostEqual(job["time_to_train_seconds"], 0.04)
        self.assertEqual(job["progress"]["step"], 80)
        self.client.log(run, "test/accuracy", 0.5, started + 90)
        self.client.log(run, "system/cpu_utilization_percentage", 50, started + 90, step=5000)
        self.assertEqual(self.job(1)["progress"]["step"], 80, "neither a figure without a step nor MLflow's own samples")
        self.assertEqual(self.job(1)["attempts"][0]["last_step"], 80)
        told = [event["text"] for event in self.daemon.get("/jobs/1/events").json()["events"]]
        self.assertEqual([text for text in told if "reached its target" in text],
                         ["eval/mlm_loss reached its target with 0.75 at step 40"])

    def test_a_time_in_the_future_is_now(self):
        [run] = self.start(self.BERT + "target: {metric: eval/mlm_loss, at_most: 1}\n")
        self.client.log(run, "eval/mlm_loss", 0.5, 2**62, step=20)
        self.assertLess(self.job(1)["time_to_train_seconds"], 3600)

    def test_a_logged_metric_is_told_to_the_sweep_of_the_trial(self):
        runs = self.start(self.BERT + "sweep:\n  training.optimizer.lr: [1.0e-3, 1.0e-2]\n"
                                      "  asha: {metric: eval/mlm_loss, min_steps: 20, reduction: 2}\n")
        trial = lambda: self.daemon.get("/studies/1").json()["members"][0]["trial"]
        self.client.log(runs[0], "eval/mlm_loss", 7, 1, step=19)
        self.client.log(runs[0], "train/loss", 7, 1, step=20)
        self.assertEqual(trial()["reports"], [])
        self.client.log(runs[0], "eval/mlm_loss", 5, 1, step=20)
        self.client.log(runs[0], "eval/mlm_loss", 4, 1, step=21)
        self.assertEqual(trial()["reports"], [{"rung": 1, "step": 20, "value": 5.0}])
        wait_for(lambda: self.job(1)["state"] == "stopping", "the first to tell is paused")


class MetricsTest(MlflowTest):
    def test_a_page_of_a_history_ends_at_32_mib(self):
        c = self.client
        run, key, count = c.start(), "m" * 250, 105_000
        for first in range(0, count, 1000):
            c.post("runs/log-batch", run_id=run,
                   metrics=[{"key": key, "value": 1, "timestamp": 1, "step": step} for step in range(first, first + 1000)])
        page = c.get("metrics/get-history", run_id=run, metric_key=key)
        self.assertLess(len(page["metrics"]), count)
        rest = c.get("metrics/get-history", run_id=run, metric_key=key, page_token=page["next_page_token"])
        self.assertEqual([p["step"] for p in page["metrics"] + rest["metrics"]], list(range(count)))

    def test_many_points_at_one_step(self):
        c = self.client
        run = c.start()
        for value, timestamp in ((1, 30), (2, 10), (3, 20), (5, 30), (4, 30), (5, 30), (2, 10)):
            c.log(run, "loss", value, timestamp)
        self.assertEqual(c.history(run, "loss"), [(0, 10, 2), (0, 20, 3), (0, 30, 1), (0, 30, 4), (0, 30, 5)])
        self.assertEqual(c.latest(run)["loss"], (0, 30, 5.0))
        c.log(run, "loss", 9, 1, step=-3)
        self.assertEqual(c.latest(run)["loss"], (0, 30, 5.0))
        c.log(run, "loss", 8, 1, step=7)
        self.assertEqual(c.latest(run)["loss"], (7, 1, 8.0))
        self.assertEqual(c.history(run, "loss")[0], (-3, 1, 9))
        summary = self.daemon.get(f"/jobs/{self.job_of(run)}/metrics").json()
        self.assertEqual(summary["metrics"][0]["max"], 9)

    def test_a_batch_of_repeats_in_any_order(self):
        c = self.client
        run = c.start()
        points = [(step, time, step * 10 + time) for step in (5, 1, 3) for time in (2, 1, 3)]
        as_metrics = [{"key": "m", "value": v, "timestamp": t, "step": s} for s, t, v in points]
        c.post("runs/log-batch", run_id=run, metrics=as_metrics)
        c.post("runs/log-batch", run_id=run, metrics=as_metrics[::-1])
        c.post("runs/log-batch", run_id=run, metrics=as_metrics[:2] + [{"key": "m", "value": 1, "timestamp": 9, "step": 3}])
        self.assertEqual(c.history(run, "m"), sorted(points + [(3, 9, 1)]))
        self.assertEqual(c.latest(run)["m"], (5, 3, 53.0))

    def test_values_and_numbers_at_their_extremes(self):
        c = self.client
        run = c.start()
        for step, value in enumerate(("NaN", "Infinity", "-Infinity", 1.7976931348623157e308, 5e-324, -0.0, 0.1)):
            c.log(run, "v", value, str(2**63 - 1), step=step)
        values = [value for _, _, value in c.history(run, "v")]
        self.assertEqual(values, ["NaN", "Infinity", "-Infinity", 1.7976931348623157e308, 5e-324, -0.0, 0.1])
        for number, step in enumerate((-(2**63), 2**63 - 1, "12")):
            c.log(run, "s", 1, 1, step=step)
            self.assertEqual(c.latest(run)["s"], ((-(2**63), 1, 1.0), (2**63 - 1, 1, 1.0))[number > 0])
        self.assertEqual([s for s, _, _ in c.history(run, "s")], [-(2**63), 12, 2**63 - 1])
        for fields in (dict(step=2**63), dict(step=1.5), dict(timestamp=-1), dict(value="one"), dict(value=None), dict(timestamp=None)):
            c.post("runs/log-metric", **{"run_id": run, "key": "s", "value": 1, "timestamp": 1, **fields}, **INVALID)
        c.log(run, "negative", 3, 1, step=-1)
        self.assertEqual(c.latest(run)["negative"], (-1, 1, 3.0))
        c.log(run, "negative", 4, 0, step=0)
        self.assertEqual(c.history(run, "negative"), [(-1, 1, 3), (0, 0, 4)])
        c.log(run, "nan", "NaN", 1)
        c.log(run, "nan", "NaN", 1)
        self.assertEqual(c.history(run, "nan"), [(0, 1, "NaN")])

    def test_history_in_pages(self):
        c = self.client
        run = c.start()
        points = sorted((i // 3, 100 - i % 3, float(i)) for i in range(1000))
        c.post("runs/log-batch", run_id=run, metrics=[{"key": "m", "value": v, "timestamp": t, "step": s} for s, t, v in points])
        got, token = [], None
        while True:
            page = c.get("metrics/get-history", run_id=run, metric_key="m", max_results=77, **({"page_token": token} if token else {}))
            self.assertLessEqual(len(page["metrics"]), 77)
            got += [(p["step"], p["timestamp"], p["value"]) for p in page["metrics"]]
            token = page.get("next_page_token")
            if not token:
                break
        self.assertEqual(got, points)
        self.assertEqual(c.history(run, "none"), [])
        c.get("metrics/get-history", run_id=run, metric_key="m", page_token="x", **INVALID)
        c.get("metrics/get-history", run_id=run, **INVALID)
        c.get("metrics/get-history", run_id="0" * 32, metric_key="m", **MISSING)

    def test_more_metrics_than_a_run_may_have(self):
        c = self.client
        run = c.start()
        for start in range(0, 20000, 1000):
            c.post("runs/log-batch", run_id=run, metrics=[{"key": f"m{i}", "value": 1, "timestamp": 1} for i in range(start, start + 1000)])
        message = c.post("runs/log-batch", run_id=run, metrics=[{"key": "m0", "value": 2, "timestamp": 2}, {"key": "more", "value": 1, "timestamp": 1}], **INVALID)["message"]
        self.assertIn("20000", message)
        self.assertEqual(c.history(run, "m0"), [(0, 1, 1)])
        c.log(run, "m0", 2, 2)
        self.assertEqual(len(c.latest(run)), 20000)

    def test_many_clients_at_once(self):
        c = self.client
        runs = [c.start() for _ in range(4)]

        def work(number):
            for step in range(50):
                c.log(runs[number % 4], f"m{number % 2}", number, number, step=step)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number in range(4):
            both = {n for n in range(8) if n % 4 == number}
            self.assertEqual(c.history(runs[number], f"m{number % 2}"), [(s, n, n) for s in range(50) for n in sorted(both)])


class FaultsTest(unittest.TestCase):
    def test_a_kill_loses_nothing_that_was_answered(self):
        """And what was not answered is logged again without harm, as the client does by itself."""
        with Daemon() as daemon:
            c = Client(daemon)
            runs = [c.start(run_name=f"run {number}") for number in range(4)]
            answered = [[] for _ in runs]
            stop = threading.Event()

            def work(number):
                step = 0
                while not stop.is_set():
                    metrics = [{"key": "m", "value": step, "timestamp": step, "step": step // 3}]
                    tags = [{"key": "last", "value": str(step)}]
                    try:
                        c.post("runs/log-batch", run_id=runs[number], metrics=metrics, params=[{"key": f"p{step}", "value": "x"}], tags=tags)
                    except (OSError, http.client.HTTPException):
                        return
                    answered[number].append(step)
                    step += 1

            threads = [threading.Thread(target=work, args=(number,)) for number in range(len(runs))]
            for thread in threads:
                thread.start()
            while min(map(len, answered)) < 20:
                threading.Event().wait(0.005)
            daemon.kill()
            stop.set()
            for thread in threads:
                thread.join()
            daemon.start()
            for run, steps in zip(runs, answered):
                found = c.history(run, "m")
                self.assertIn(len(found) - len(steps), (0, 1))  # one may be on disk and was not answered
                self.assertEqual(found[: len(steps)], [(s // 3, s, s) for s in steps])
                params = pairs(c.fetch(run)["data"]["params"])
                self.assertEqual(len(params), len(found), "a request is written wholly or not at all")
                self.assertEqual(c.tags(run)["last"], str(len(found) - 1))
                again = len(steps)
                for _ in range(2):
                    c.post("runs/log-batch", run_id=run, metrics=[{"key": "m", "value": again, "timestamp": again, "step": again // 3}],
                           params=[{"key": f"p{again}", "value": "x"}])
                self.assertEqual(len(c.history(run, "m")), again + 1)
            c.start(run_name="one more")
            self.assertEqual(daemon.get("/jobs").json()["total"], 5)

    def test_a_disk_that_is_nearly_full_is_told_as_one_that_may_pass(self):
        with Daemon("--disk-reserve", "1000000TB") as daemon:
            full = Client(daemon)
            for path, fields in (("runs/create", {}), ("experiments/create", {"name": "x"})):
                full.post(path, **fields, expect=503, code="TEMPORARILY_UNAVAILABLE")
            full.get("experiments/get", experiment_id="0")


if __name__ == "__main__":
    unittest.main()
