"""MLflow's runs: their life, params, tags and inputs, and who may change them."""

import gzip
import json
import unittest

from daemon import USER, spec
from mlflow_daemon import INVALID, MISSING, PREFIX, Client, MlflowTest, pairs


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

    def test_a_body_that_is_not_read_is_told_why(self):
        c = self.client
        run = c.start()

        def told(body, **headers):
            reply = self.daemon.request("POST", PREFIX + "runs/log-metric", body, USER, Content_Type="application/json", **headers)
            self.assertEqual((reply.status, reply.json()["error_code"]), (400, "BAD_REQUEST"))
            return reply.json()["message"]

        point = {"run_id": run, "key": "a", "value": float("nan"), "timestamp": 1}
        self.assertIn("write it as text, \"NaN\"", told(json.dumps(point)))
        packed = gzip.compress(json.dumps(point | {"value": 1}).encode())
        self.assertIn("Content-Encoding gzip", told(packed, Content_Encoding="gzip"))
        self.assertIn("not UTF-8", told(b'{"key": "\xe4"}'))
        self.assertIn("from byte", told('{"key": '))
        self.assertIn("must be a JSON object", told("[]"))
        self.assertEqual(c.latest(run), {})

    def test_one_run_is_named(self):
        c = self.client
        run, other = c.start(), c.start()
        c.post("runs/log-metric", run_id=run, run_uuid=run, key="a", value=1, timestamp=1)
        c.post("runs/log-metric", run_id=run, run_uuid=other, key="a", value=1, timestamp=2, **INVALID)
        c.get("runs/get", run_id=run, run_uuid=other, **INVALID)
        c.post("runs/log-metric", run_id="", run_uuid=other, key="a", value=1, timestamp=3)
        self.assertEqual((c.latest(run), c.latest(other)), ({"a": (0, 1, 1.0)}, {"a": (0, 3, 1.0)}))

    def test_names_have_no_control_characters(self):
        c = self.client
        run = c.start()
        for bad in ("a\nb", "a\tb", "\x7f", "\x1b[31m"):
            c.post("runs/create", run_name=bad, **INVALID)
            c.post("runs/update", run_id=run, run_name=bad, **INVALID)
            c.post("runs/set-tag", run_id=run, key="mlflow.runName", value=bad, **INVALID)
            c.post("runs/create", user_id=bad, **INVALID)
            c.post("experiments/create", name=bad, **INVALID)
            for dataset in ({"name": bad, "digest": "d"}, {"name": "n", "digest": bad}):
                c.post("runs/log-inputs", run_id=run, datasets=[{"dataset": dataset | {"source_type": "s", "source": "{}"}}], **INVALID)
        c.post("runs/update", run_id=run, run_name="größer als 1")

    def test_a_run_ends_no_sooner_than_it_begins(self):
        c = self.client
        run = c.start(start_time=5000)
        c.post("runs/update", run_id=run, status="FINISHED", end_time=4999)
        info = c.fetch(run)["info"]
        self.assertEqual((info["status"], info["start_time"], info["end_time"]), ("FINISHED", 5000, 5000))

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
        c.post("runs/log-inputs", run_id=run, datasets=[{"dataset": dataset["dataset"]}])
        self.assertEqual(c.fetch(run)["inputs"]["dataset_inputs"], [dataset], "what it is for is kept")
        self.assertIn(run, [r["info"]["run_id"] for r in c.search("dataset.name = 'wiki' and datasets.context = 'training'")["runs"]])
        self.assertEqual([r["info"]["run_id"] for r in c.search("`datasets`.name IN ('wiki', 'x') and dataset.context NOT IN ('test')")["runs"]], [run])
        self.assertEqual(c.found("dataset.digest IN ('other')"), [])
        c.post("runs/log-inputs", run_id=run, datasets=[{"dataset": {"name": "x"}}], **INVALID)
        for tags in ([1], ["a"], {}, "a", [{"value": "no key"}], [{"key": 1}], [{"key": "k", "value": []}], [{"key": "k"}] * 101):
            c.post("runs/log-inputs", run_id=run, datasets=[dataset | {"tags": tags}], **INVALID)
        c.post("runs/log-inputs", run_id=run, datasets=[dataset | {"tags": None}])
        self.assertEqual(c.fetch(run)["inputs"]["dataset_inputs"], [dataset])
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


if __name__ == "__main__":
    unittest.main()
