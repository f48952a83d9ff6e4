"""The sequences of calls of MLflow's client, by a client that is as strict (mlflow_client.py), against a real coordinator.

Usage: sequences_test.py COORDINATOR
"""

import math
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "api"))
from daemon import USER, Agent, Daemon, spec  # noqa: E402
from mlflow_client import Client, Fluent, RestException, now  # noqa: E402


class SequencesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.agent = Agent(cls.daemon, devices=2)
        cls.agent.tell()
        for name in ("scheduled", "scheduled"):
            assert cls.daemon.submit(spec(name)).status == 201
        launches = cls.agent.wait_for_order("start")
        while len(launches) < 2:
            launches = cls.agent.wait_for_order("start")
        cls.jobs = {launch["job"]: launch["tracking"] for launch in launches}

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def setUp(self):
        self.client = self.make(token=USER)
        self.fluent = Fluent(self.client)

    def make(self, **options):
        client = Client(f"http://127.0.0.1:{self.daemon.port}", **options)
        self.addCleanup(client.close)
        return client

    def fails(self, code, call, *arguments, **fields):
        with self.assertRaises(RestException) as raised:
            call(*arguments, **fields)
        self.assertEqual(raised.exception.code, code, raised.exception.message)

    def test_set_experiment(self):
        made = self.fluent.set_experiment("set_experiment")
        self.assertEqual(self.client.calls,
                         ["GET experiments/get-by-name", "POST experiments/create", "GET experiments/get"])
        self.assertEqual(made["artifact_location"], f"mlflow-artifacts:/{made['experiment_id']}")
        self.assertEqual(Fluent(self.client).set_experiment("set_experiment")["experiment_id"], made["experiment_id"])
        self.fails("RESOURCE_ALREADY_EXISTS", self.client.create_experiment, "set_experiment")
        self.fails("RESOURCE_DOES_NOT_EXIST", self.client.get_experiment, "987654")

    def test_the_default_experiment(self):
        default = self.client.get_experiment("0")
        self.assertEqual((default["name"], default["lifecycle_stage"]), ("Default", "active"))
        self.assertEqual(self.client.get_experiment_by_name("Default")["experiment_id"], "0")

    def test_start_log_and_end_a_run(self):
        self.fluent.set_experiment("a run")
        run_id = self.fluent.start_run(run_name="first", tags={"team": "nlp"})
        for step in range(5):
            self.fluent.log_metric("loss", 1 / (step + 1), step)
        self.client.log_param(run_id, "lr", "0.001")
        self.client.set_tag(run_id, "note", "ünïcode")
        self.fluent.end_run()
        run = self.client.get_run(run_id)
        self.assertEqual((run["info"]["status"], run["info"]["run_name"]), ("FINISHED", "first"))
        self.assertGreaterEqual(run["info"]["end_time"], run["info"]["start_time"])
        self.assertEqual([(m["key"], m["value"], m["step"]) for m in run["data"]["metrics"]], [("loss", 0.2, 4)])
        self.assertEqual(run["data"]["params"], [{"key": "lr", "value": "0.001"}])
        tags = {tag["key"]: tag["value"] for tag in run["data"]["tags"]}
        self.assertEqual((tags["team"], tags["note"], tags["mlflow.runName"], tags["mlflow.user"]),
                         ("nlp", "ünïcode", "first", "tester"))
        history = self.client.get_metric_history(run_id, "loss")
        self.assertEqual([(step, value) for step, _, value in history], [(step, 1 / (step + 1)) for step in range(5)])
        self.assertEqual(run["info"]["artifact_uri"],
                         f"mlflow-artifacts:/{self.fluent.experiment_id}/{run_id}/artifacts")

    def test_take_a_run_up_again(self):
        run_id = self.fluent.start_run()
        self.fluent.end_run("FAILED")
        del self.client.calls[:]
        self.assertEqual(self.fluent.start_run(run_id=run_id), run_id)
        self.assertEqual(self.client.calls, ["GET runs/get", "POST runs/update", "GET runs/get"])
        self.assertEqual(self.client.get_run(run_id)["info"]["status"], "RUNNING")
        del self.client.calls[:]
        self.fluent.log_metric("loss", 0.5, run_id=run_id)
        self.assertEqual(self.client.calls, ["GET runs/get", "POST runs/log-metric"])
        self.fluent.end_run()
        self.fluent.log_metric("late", 1.0, run_id=run_id)  # an ended run takes more

    def test_numbers_that_json_lacks(self):
        run_id = self.fluent.start_run()
        for step, value in enumerate((math.nan, math.inf, -math.inf, 1e308)):
            self.client.log_metric(run_id, "odd", value, step=step)
        values = [value for _, _, value in self.client.get_metric_history(run_id, "odd")]
        self.assertTrue(math.isnan(values[0]))
        self.assertEqual(values[1:], [math.inf, -math.inf, 1e308])

    def test_int64_as_text(self):
        client = self.make(token=USER, int64_text=True)
        run_id = client.create_run("0", start_time=1_700_000_000_123)["info"]["run_id"]
        client.log_metric(run_id, "m", 2.0, timestamp=1_700_000_000_999, step=12_345_678_901)
        client.log_batch(run_id, metrics=[("m", 3.0, 1_700_000_001_000, 12_345_678_902)], params={"p": "1"})
        self.assertEqual(client.get_metric_history(run_id, "m"),
                         [(12_345_678_901, 1_700_000_000_999, 2.0), (12_345_678_902, 1_700_000_001_000, 3.0)])
        self.assertEqual(client.get_run(run_id)["info"]["start_time"], 1_700_000_000_123)

    def test_a_batch_and_its_history_in_pages(self):
        run_id = self.fluent.start_run()
        points = [("b", float(step), 1000 + step, step) for step in range(1000)]
        self.client.log_batch(run_id, metrics=points)
        self.client.log_batch(run_id, metrics=points)  # the retry of one whose answer was lost
        self.client.log_batch(run_id, params={f"p{i}": str(i) for i in range(100)}, tags={f"t{i}": "x" for i in range(100)})
        self.client.log_batch(run_id, params={"p1": "1"})
        self.fails("INVALID_PARAMETER_VALUE", self.client.log_batch, run_id, params={"p1": "2"})
        self.fails("INVALID_PARAMETER_VALUE", self.client.log_batch, run_id, metrics=points + [("b", 0.0, 1, 1)])
        for size in (None, 300, 1000):
            self.assertEqual(len(self.client.get_metric_history(run_id, "b", size)), 1000, size)
        self.assertEqual(self.client.get_metric_history(run_id, "none"), [])

    def test_search_in_pages(self):
        experiment = self.fluent.set_experiment("search")["experiment_id"]
        for i in range(25):
            run_id = self.client.create_run(experiment, f"run-{i:02}", start_time=1000 + i)["info"]["run_id"]
            self.client.log_batch(run_id, metrics=[("loss", i / 10, 5, 1)], params={"lr": str(i % 3)})
        found = self.client.search_runs([experiment], max_results=10)
        self.assertEqual([run["info"]["run_name"] for run in found], [f"run-{i:02}" for i in reversed(range(25))])
        found = self.client.search_runs([experiment], "metrics.loss < 1.05 and params.lr = '1'", max_results=10_000,
                                        order_by=["metrics.loss ASC"])
        self.assertEqual([run["info"]["run_name"] for run in found], ["run-01", "run-04", "run-07", "run-10"])
        self.fails("INVALID_PARAMETER_VALUE", self.client.search_runs, [experiment], "metrics.loss <")
        self.client.delete_run(found[0]["info"]["run_id"])
        self.assertEqual(len(self.client.search_runs([experiment])), 24)
        self.assertEqual(len(self.client.search_runs([experiment], view="DELETED_ONLY")), 1)
        self.assertEqual(len(self.client.search_runs([experiment], view="ALL")), 25)

    def test_experiments_are_deleted_renamed_and_found(self):
        experiment = self.client.create_experiment("passing", tags={"a": "b"})
        self.client.set_experiment_tag(experiment, "c", "d")
        self.client.rename_experiment(experiment, "passed")
        found = self.client.get_experiment(experiment)
        self.assertEqual((found["name"], {tag["key"]: tag["value"] for tag in found["tags"]}), ("passed", {"a": "b", "c": "d"}))
        self.assertIn("passed", [each["name"] for each in self.client.search_experiments(max_results=2)])
        self.client.delete_experiment(experiment)
        self.assertNotIn("passed", [each["name"] for each in self.client.search_experiments()])
        self.client.restore_experiment(experiment)
        self.assertEqual(self.client.get_experiment(experiment)["lifecycle_stage"], "active")

    def test_a_deleted_run_takes_nothing_and_comes_back(self):
        run_id = self.fluent.start_run()
        self.client.log_artifact(run_id, "kept", b"kept")
        self.client.delete_run(run_id)
        self.assertEqual(self.client.get_run(run_id)["info"]["lifecycle_stage"], "deleted")
        self.fails("INVALID_PARAMETER_VALUE", self.client.log_metric, run_id, "m", 1.0)
        self.fails("INVALID_PARAMETER_VALUE", self.client.log_artifact, run_id, "more", b"x")
        self.assertEqual(self.client.download_artifact(run_id, "kept"), b"kept")
        self.client.restore_run(run_id)
        self.client.log_artifact(run_id, "more", b"x")
        self.assertEqual(len(self.client.list_artifacts(run_id)), 2)
        self.fails("RESOURCE_DOES_NOT_EXIST", self.client.get_run, "f" * 32)

    def test_upload_list_and_download(self):
        run_id = self.fluent.start_run()
        for name in ("model/MLmodel", "model/data/weights.bin", "readme.md"):
            self.client.log_artifact(run_id, name, name.encode())
        self.assertEqual(self.client.list_artifacts(run_id), [("model", True, None), ("readme.md", False, 9)])
        self.assertEqual(self.client.list_artifacts(run_id, "model"),
                         [("model/MLmodel", False, 13), ("model/data", True, None)])
        root, files = self.client.list_artifacts_of_run(run_id, "model")
        self.assertEqual(root, self.client.get_run(run_id)["info"]["artifact_uri"])
        self.assertEqual(files, [("model/MLmodel", False, 13), ("model/data", True, None)])
        self.assertEqual(self.client.list_artifacts_of_run(run_id)[1], [("model", True, None), ("readme.md", False, 9)])
        self.fails("INVALID_PARAMETER_VALUE", self.client.list_artifacts_of_run, run_id, "../..")
        self.fails("RESOURCE_DOES_NOT_EXIST", self.client.list_artifacts_of_run, "f" * 32)
        self.assertEqual(self.client.download_artifact(run_id, "model/data/weights.bin"), b"model/data/weights.bin")
        self.client.delete_artifact(run_id, "model")
        self.assertEqual(self.client.list_artifacts(run_id), [("readme.md", False, 9)])

    def test_datasets(self):
        run_id = self.fluent.start_run()
        self.client.log_inputs(run_id, [{"tags": [{"key": "mlflow.data.context", "value": "training"}], "dataset": {
            "name": "corpus", "digest": "abc123", "source_type": "local", "source": "{}", "schema": "{}", "profile": "{}"}}])
        [given] = self.client.get_run(run_id)["inputs"]["dataset_inputs"]
        self.assertEqual((given["dataset"]["name"], given["tags"][0]["value"]), ("corpus", "training"))

    def test_what_this_server_has_not(self):
        for path in ("model-versions/create", "logged-models", "traces", "runs/nothing", "metrics/get-history-bulk"):
            self.fails("ENDPOINT_NOT_FOUND", self.client.post, path)
        response, _ = self.client.send("GET", "/api/3.0/mlflow/server-info")
        self.assertEqual(response.status, 404)

    def test_basic_is_as_good_as_bearer(self):
        run_id = self.make(password=USER).create_run("0")["info"]["run_id"]
        for options in ({}, {"password": "wrong"}, {"token": "wrong"}):
            self.fails("UNAUTHENTICATED", self.make(**options).log_metric, run_id, "m", 1.0)

    def test_a_job_is_a_run_that_its_token_logs_into(self):
        own, other = self.jobs[1], self.jobs[2]
        client = self.make(token=own["token"])
        fluent = Fluent(client, {"MLFLOW_RUN_ID": own["run_id"]})
        self.assertEqual(fluent.start_run(), own["run_id"])
        fluent.log_metric("accuracy", 0.75, step=3)
        client.log_batch(own["run_id"], metrics=[("accuracy", 0.8, now(), 4)], params={"dropout": "0.1"}, tags={"stage": "dev"})
        client.log_param(own["run_id"], "seed", "7")
        client.set_tag(own["run_id"], "gone", "x")
        client.delete_tag(own["run_id"], "gone")
        client.log_artifact(own["run_id"], "out.txt", b"text")
        self.assertEqual(client.list_artifacts_of_run(own["run_id"])[1], [("out.txt", False, 4)])
        experiment = client.get_run(own["run_id"])["info"]["experiment_id"]
        name = client.get_experiment(experiment)["name"]
        self.assertEqual(client.get_experiment_by_name(name)["experiment_id"], experiment)
        self.assertEqual(len(client.get_metric_history(own["run_id"], "accuracy")), 2)
        fluent.end_run()
        job = self.daemon.get("/jobs/1").json()
        self.assertIn(job["state"], ("starting", "running"), "its state is the scheduler's")
        series = self.daemon.get("/jobs/1/series?key=accuracy").json()["series"][0]["points"]
        self.assertEqual([point[0] if isinstance(point, list) else point["step"] for point in series], [3, 4])
        run = other["run_id"]
        for call in (lambda: client.log_metric(run, "m", 1.0), lambda: client.log_param(run, "p", "1"),
                     lambda: client.log_batch(run, params={"p": "1"}), lambda: client.set_tag(run, "t", "1"),
                     lambda: client.delete_tag(run, "t"), lambda: client.update_run(run, "KILLED"),
                     lambda: client.log_inputs(run, []), lambda: client.get_run(run),
                     lambda: client.get_metric_history(run, "m"), lambda: client.list_artifacts_of_run(run),
                     lambda: client.create_run("0"), lambda: client.create_experiment("new"),
                     lambda: client.get_experiment("0"), lambda: client.get_experiment_by_name("Default"),
                     lambda: client.get_experiment_by_name("none"), lambda: client.search_runs([experiment]),
                     lambda: client.search_experiments(), lambda: client.delete_run(own["run_id"]),
                     lambda: client.restore_run(own["run_id"]), lambda: client.delete_experiment(experiment),
                     lambda: client.set_experiment_tag(experiment, "a", "b")):
            self.fails("PERMISSION_DENIED", call)
        # Two ids that differ name no run, so that none is written that the token is not held against.
        for ids in ({"run_id": run, "run_uuid": own["run_id"]}, {"run_id": own["run_id"], "run_uuid": run}):
            self.fails("INVALID_PARAMETER_VALUE", lambda ids=ids: client.post("runs/log-metric", key="m", value=1.0, timestamp=1, **ids))
        self.assertEqual(self.client.get_run(run)["data"]["metrics"], [])

    def test_tracking_of_a_job(self):
        run_id = self.jobs[2]["run_id"]
        self.client.log_param(run_id, "logged", "yes")
        self.client.log_artifact(run_id, "a/b.txt", b"12345")
        told = self.daemon.get("/jobs/2/tracking").json()
        self.assertEqual((told["run_id"], told["artifacts"]), (run_id, f"{told['experiment_id']}/{run_id}/artifacts"))
        params = {param["key"]: (param["value"], param["submitted"]) for param in told["params"]}
        self.assertEqual(params["logged"], ("yes", False))
        self.assertEqual(params["resources.walltime"][1], True)
        tags = {tag["key"]: (tag["value"], tag["submitted"]) for tag in told["tags"]}
        self.assertEqual(tags["team"], ("test", True))
        with self.assertRaises(RestException) as refused:
            self.client.set_tag(run_id, "team", "other")
        self.assertEqual(refused.exception.code, "INVALID_PARAMETER_VALUE")
        self.client.set_tag(run_id, "stage", "dev")
        told = self.daemon.get("/jobs/2/tracking").json()
        self.assertIn({"key": "team", "value": "test", "submitted": True}, told["tags"])
        self.assertIn({"key": "stage", "value": "dev", "submitted": False}, told["tags"])
        self.assertEqual(self.daemon.get("/jobs/2/artifacts").json(),
                         {"files": [{"name": "a", "folder": True, "bytes": 0}]})
        self.assertEqual(self.daemon.get("/jobs/2/artifacts?path=a").json(),
                         {"files": [{"name": "b.txt", "folder": False, "bytes": 5}]})
        self.assertEqual(self.daemon.get("/jobs/2/artifacts?path=../1").status, 400)
        self.assertEqual(self.daemon.get("/jobs/99/tracking").status, 404)
        self.assertEqual(self.daemon.get("/jobs/99/artifacts").status, 404)


if __name__ == "__main__":
    unittest.main()
