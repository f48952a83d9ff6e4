"""A real daemon and a client that calls MLflow's tracking REST of it as the stock Python client does (its sequences of requests,
retries without change), with its status codes and error codes."""

import unittest
import urllib.parse

from daemon import USER, Daemon

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
