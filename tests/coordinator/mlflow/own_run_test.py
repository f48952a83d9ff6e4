"""A job whose Python script logs over MLflow's API with what it finds in its environment, on a real coordinator and agent: onto its
own job's page, and nowhere else.

Usage: own_run_test.py PROGRAMS
"""

import json
import pathlib
import sys
import textwrap
import unittest

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent.parent / "cli"))
from cluster import Cluster  # noqa: E402

BIN = pathlib.Path(sys.argv.pop(1)).resolve()

# It has the standard library alone, and the strict client beside it.
SCRIPT = """
import json, os, sys, urllib.error, urllib.request

sys.path.insert(0, CLIENT)
from mlflow_client import Client, Fluent, RestException

uri, token, run_id = (os.environ["MLFLOW_" + name] for name in ("TRACKING_URI", "TRACKING_TOKEN", "RUN_ID"))
client = Client(uri, token=token)
fluent = Fluent(client, dict(os.environ))
assert fluent.start_run() == run_id
for step in range(10):
    fluent.log_metric("accuracy", step / 10, step)
client.log_param(run_id, "dropout", "0.1")
client.set_tag(run_id, "stage", "dev")
client.log_artifact(run_id, "model/weights.bin", b"weights")
fluent.end_run()

def refusal(call):
    try:
        call()
    except RestException as refused:
        return [refused.status, refused.code]
    except urllib.error.HTTPError as refused:
        return [refused.code, ""]
    return [200, ""]

def api(path, body=None):
    headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
    return urllib.request.urlopen(urllib.request.Request(uri + "/api/v1" + path, body, headers))

other = run_id[:16] + format(3 - int(run_id[16:], 16), "016x")
told = {
    "metric": refusal(lambda: client.log_metric(other, "m", 1.0)),
    "read": refusal(lambda: client.get_run(other)),
    "artifact": refusal(lambda: client.checked(*client.send("PUT", f"/api/2.0/mlflow-artifacts/artifacts/0/{other}/artifacts/x", b"x"))),
    "search": refusal(lambda: client.search_runs(["0"])),
    "create": refusal(lambda: client.create_run("0")),
    "jobs": refusal(lambda: api("/jobs")),
    "cancel": refusal(lambda: api(f"/jobs/{os.environ['PODIUM_JOB']}/cancel", b"{}")),
    "submit": refusal(lambda: api("/experiments", b"{}")),
}
print(json.dumps(told))
"""

SPEC = """
version: 1
name: {name}
command: [/usr/bin/python3, -B, {script}]
parameters: {{lr: 0.001}}
resources: {{devices: 1, kind: cpu, walltime: 10m}}
"""


class OwnRunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(BIN, ["node-1"])
        script = cls.cluster.folder / "train.py"
        script.write_text(textwrap.dedent(SCRIPT).replace("CLIENT", repr(str(FOLDER.resolve()))))
        for number, name in enumerate(("one", "two"), 1):
            (cls.cluster.folder / f"{name}.yaml").write_text(SPEC.format(name=name, script=script))
            cls.cluster.say(f"podium submit {name}.yaml")
            cls.cluster.wait_for(lambda: cls.job(number)["ended_ms"] is not None, f"job {number} to end")

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    @classmethod
    def job(cls, number):
        return cls.cluster.get(f"/jobs/{number}")

    def output(self, number):
        return self.cluster.say(f"podium logs {number}")

    def test_what_a_script_logs_stands_on_its_jobs_page(self):
        for number in (1, 2):
            self.assertEqual(self.job(number)["state"], "succeeded", self.output(number))
            [series] = self.cluster.get(f"/jobs/{number}/series?key=accuracy")["series"]
            self.assertEqual([(point[0], point[2]) for point in series["points"]], [(step, step / 10) for step in range(10)])
            tracking = self.cluster.get(f"/jobs/{number}/tracking")
            logged = {text["key"]: text["value"] for text in tracking["params"] + tracking["tags"] if not text["submitted"]}
            self.assertEqual((logged["dropout"], logged["stage"]), ("0.1", "dev"))
            self.assertIn({"key": "parameters.lr", "value": "0.001", "submitted": True}, tracking["params"])
            self.assertEqual(self.cluster.get(f"/jobs/{number}/artifacts?path=model"),
                             {"files": [{"name": "weights.bin", "folder": False, "bytes": 7}]})

    def test_its_token_is_good_for_nothing_else(self):
        told = json.loads(next(line for line in self.output(1).splitlines() if line.startswith("{")))
        for what in ("metric", "read", "artifact", "search", "create"):
            self.assertEqual(told[what], [403, "PERMISSION_DENIED"], what)
        for what in ("jobs", "cancel", "submit"):
            self.assertEqual(told[what], [403, ""], what)

    def test_a_job_that_tracks_elsewhere_gets_no_token(self):
        elsewhere = self.cluster.folder / "elsewhere.yaml"
        elsewhere.write_text(SPEC.format(name="elsewhere", script="-").replace("[/usr/bin/python3, -B, -]", "[env]")
                             + "env: {MLFLOW_TRACKING_URI: http://example.org}\n")
        self.cluster.say("podium submit elsewhere.yaml --follow")
        variables = [line for line in self.output(3).splitlines() if "MLFLOW_" in line]
        self.assertEqual(len(variables), 1, variables)


if __name__ == "__main__":
    unittest.main()
