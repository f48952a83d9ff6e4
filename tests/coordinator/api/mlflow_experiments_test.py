"""MLflow's experiments: made, found, renamed, deleted and searched."""

import unittest

from daemon import spec
from mlflow_daemon import EXISTS, INVALID, MISSING, MlflowTest


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


if __name__ == "__main__":
    unittest.main()
