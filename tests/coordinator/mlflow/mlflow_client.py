"""A client of MLflow's tracking REST, as strict as that of MLflow 3.6 (store/tracking/rest_store.py, utils/rest_utils.py,
store/artifact/mlflow_artifacts_repo.py, tracking/fluent.py): it takes status 200 with a JSON object and nothing else, tries
again where that one does, sends what that one sends, and holds every object to the protocol's types.
"""

import base64
import http.client
import json
import math
import posixpath
import re
import time
import urllib.parse

RETRIED = (408, 429, 500, 502, 503, 504)
CODES = {
    400: {"INVALID_PARAMETER_VALUE", "BAD_REQUEST", "RESOURCE_ALREADY_EXISTS"}, 401: {"UNAUTHENTICATED"},
    403: {"PERMISSION_DENIED"}, 404: {"RESOURCE_DOES_NOT_EXIST", "ENDPOINT_NOT_FOUND"}, 409: {"RESOURCE_CONFLICT"},
    429: {"REQUEST_LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED"}, 500: {"INTERNAL_ERROR"}, 501: {"NOT_IMPLEMENTED"},
    503: {"TEMPORARILY_UNAVAILABLE"}, 504: {"DEADLINE_EXCEEDED"}}
RUN_STATUS = ("RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED")


class RestException(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status, self.code, self.message = status, body["error_code"], body["message"]


def int64(value):
    assert isinstance(value, (int, str)) and not isinstance(value, bool), value
    number = int(value)
    assert -(2**63) <= number < 2**63, value
    return number


def double(value):
    if isinstance(value, str):
        return {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}[value]
    assert isinstance(value, (int, float)) and not isinstance(value, bool), value
    return float(value)


def text(value):
    assert isinstance(value, str), value
    return value


def one_of(*names):
    def check(value):
        assert value in names, value
        return value

    return check


def message(needed, optional=None):
    """Reads an object of the protocol: unknown fields are ignored, absent lists are empty."""
    def read(value):
        assert isinstance(value, dict), value
        out = {}
        for name, of in needed.items():
            assert name in value, f"{name} is missing in {value}"
            out[name] = of(value[name])
        for name, of in (optional or {}).items():
            if name in value:
                out[name] = of(value[name])
            elif isinstance(of, list_of):
                out[name] = []
        return out

    return read


class list_of:
    def __init__(self, of):
        self.of = of

    def __call__(self, value):
        assert isinstance(value, list), value
        return [self.of(item) for item in value]


key_value = message({"key": text, "value": text})
metric = message({"key": text, "value": double, "timestamp": int64}, {"step": int64})
experiment = message({"experiment_id": text, "name": text, "artifact_location": text,
                      "lifecycle_stage": one_of("active", "deleted")},
                     {"creation_time": int64, "last_update_time": int64, "tags": list_of(key_value)})
run_info = message({"run_id": text, "run_uuid": text, "run_name": text, "experiment_id": text, "status": one_of(*RUN_STATUS),
                    "start_time": int64, "artifact_uri": text, "lifecycle_stage": one_of("active", "deleted")},
                   {"user_id": text, "end_time": int64})
run_data = message({}, {"metrics": list_of(metric), "params": list_of(key_value), "tags": list_of(key_value)})
dataset_input = message({"dataset": message({"name": text, "digest": text, "source_type": text, "source": text})},
                        {"tags": list_of(key_value)})
run_inputs = message({}, {"dataset_inputs": list_of(dataset_input)})
run = message({"info": run_info, "data": run_data}, {"inputs": run_inputs})
file_info = message({"path": text, "is_dir": one_of(True, False)}, {"file_size": int64})


class Client:
    """`int64_text`: sends 64-bit numbers as text, as JSON of protocol buffers has them."""

    def __init__(self, address, token=None, password=None, int64_text=False):
        url = urllib.parse.urlsplit(address)
        self.host, self.port = url.hostname, url.port
        self.headers = {"User-Agent": "mlflow-python-client/3.6.0"}
        if token:
            self.headers["Authorization"] = "Bearer " + token
        if password:
            self.headers["Authorization"] = "Basic " + base64.b64encode(b"user:" + password.encode()).decode()
        self.int64_text = int64_text
        self.calls = []  # method and path of each
        self.connection = None

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def send(self, method, path, body=None, **headers):
        """Tries again as urllib3's Retry does, on a kept connection."""
        self.calls.append(f"{method} {path.split('?')[0].removeprefix('/api/2.0/mlflow/')}")
        for pause in (0.05, 0.1, 0.2, 0.4, None):
            if not self.connection:
                self.connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
            try:
                self.connection.request(method, path, body, self.headers | headers)
                response = self.connection.getresponse()
                content = response.read()
            except (http.client.RemoteDisconnected, ConnectionError):
                self.close()
                if pause is None:
                    raise
                time.sleep(pause)
                continue
            if response.will_close:
                self.close()
            if response.status not in RETRIED or pause is None:
                return response, content
            time.sleep(pause)

    def checked(self, response, content):
        assert (response.getheader("Content-Type") or "").split(";")[0] == "application/json", (response.status, content)
        parsed = json.loads(content)
        assert isinstance(parsed, dict), content
        if response.status == 200:
            return parsed
        assert set(parsed) >= {"error_code", "message"} and isinstance(parsed["message"], str), content
        assert parsed["error_code"] in CODES.get(response.status, {"BAD_REQUEST"}), (response.status, content)
        raise RestException(response.status, parsed)

    def wire(self, value):
        if isinstance(value, dict):
            return {name: self.wire(item) for name, item in value.items() if item is not None}
        if isinstance(value, (list, tuple)):
            return [self.wire(item) for item in value]
        if isinstance(value, float) and not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        if isinstance(value, int) and not isinstance(value, bool) and self.int64_text:
            return str(value)
        return value

    def get(self, path, /, **fields):
        query = urllib.parse.urlencode(self.wire(fields), doseq=True)
        return self.checked(*self.send("GET", f"/api/2.0/mlflow/{path}" + ("?" + query if query else "")))

    def post(self, path, /, **fields):
        body = json.dumps(self.wire(fields)).encode()
        return self.checked(*self.send("POST", "/api/2.0/mlflow/" + path, body, **{"Content-Type": "application/json"}))

    def empty(self, path, /, **fields):
        assert isinstance(self.post(path, **fields), dict)

    # Experiments.

    def create_experiment(self, name, artifact_location=None, tags=()):
        return text(self.post("experiments/create", name=name, artifact_location=artifact_location,
                              tags=key_values(tags))["experiment_id"])

    def get_experiment(self, experiment_id):
        return experiment(self.get("experiments/get", experiment_id=experiment_id)["experiment"])

    def get_experiment_by_name(self, name):
        """None where there is none, as MLflow's store has it."""
        try:
            return experiment(self.get("experiments/get-by-name", experiment_name=name)["experiment"])
        except RestException as fault:
            if fault.code == "RESOURCE_DOES_NOT_EXIST":
                return None
            raise

    def search_experiments(self, view_type="ACTIVE_ONLY", max_results=1000, filter_string=None, order_by=None):
        return list(self.pages("experiments/search", "experiments", experiment, view_type=view_type,
                               max_results=max_results, filter=filter_string, order_by=order_by))

    def pages(self, path, field, of, /, **fields):
        token = None
        while True:
            page = self.post(path, page_token=token, **fields)
            yield from list_of(of)(page.get(field, []))
            token = page.get("next_page_token")
            if not token:
                return
            text(token)

    def delete_experiment(self, experiment_id):
        self.empty("experiments/delete", experiment_id=experiment_id)

    def restore_experiment(self, experiment_id):
        self.empty("experiments/restore", experiment_id=experiment_id)

    def rename_experiment(self, experiment_id, new_name):
        self.empty("experiments/update", experiment_id=experiment_id, new_name=new_name)

    def set_experiment_tag(self, experiment_id, key, value):
        self.empty("experiments/set-experiment-tag", experiment_id=experiment_id, key=key, value=value)

    def delete_experiment_tag(self, experiment_id, key):
        self.empty("experiments/delete-experiment-tag", experiment_id=experiment_id, key=key)

    # Runs.

    def create_run(self, experiment_id, run_name=None, tags=(), start_time=None):
        made = run(self.post("runs/create", experiment_id=experiment_id, user_id="tester", run_name=run_name,
                             start_time=now() if start_time is None else start_time, tags=key_values(tags))["run"])
        assert re.fullmatch("[0-9a-f]{32}", made["info"]["run_id"]) and made["info"]["run_id"] == made["info"]["run_uuid"]
        return made

    def get_run(self, run_id):
        found = run(self.get("runs/get", run_uuid=run_id, run_id=run_id)["run"])
        assert found["info"]["run_id"] == found["info"]["run_uuid"] == run_id
        return found

    def update_run(self, run_id, status=None, end_time=None, run_name=None):
        return run_info(self.post("runs/update", run_uuid=run_id, run_id=run_id, status=status, end_time=end_time,
                                  run_name=run_name)["run_info"])

    def delete_run(self, run_id):
        self.empty("runs/delete", run_id=run_id)

    def restore_run(self, run_id):
        self.empty("runs/restore", run_id=run_id)

    def log_metric(self, run_id, key, value, timestamp=None, step=0):
        self.empty("runs/log-metric", run_uuid=run_id, run_id=run_id, key=key, value=value,
                   timestamp=now() if timestamp is None else timestamp, step=step)

    def log_param(self, run_id, key, value):
        self.empty("runs/log-parameter", run_uuid=run_id, run_id=run_id, key=key, value=value)

    def set_tag(self, run_id, key, value):
        self.empty("runs/set-tag", run_uuid=run_id, run_id=run_id, key=key, value=value)

    def delete_tag(self, run_id, key):
        self.empty("runs/delete-tag", run_id=run_id, key=key)

    def log_batch(self, run_id, metrics=(), params=(), tags=()):
        """`metrics`: (key, value, timestamp, step)."""
        fields = ("key", "value", "timestamp", "step")
        self.empty("runs/log-batch", run_id=run_id, metrics=[dict(zip(fields, each)) for each in metrics],
                   params=key_values(params), tags=key_values(tags))

    def log_inputs(self, run_id, datasets):
        self.empty("runs/log-inputs", run_id=run_id, datasets=datasets)

    def search_runs(self, experiment_ids, filter_string="", view="ACTIVE_ONLY", max_results=1000, order_by=()):
        return list(self.pages("runs/search", "runs", run, experiment_ids=experiment_ids, filter=filter_string,
                               run_view_type=view, max_results=max_results, order_by=list(order_by)))

    def get_metric_history(self, run_id, key, max_results=None):
        found, token = [], None
        while True:
            page = self.get("metrics/get-history", run_uuid=run_id, run_id=run_id, metric_key=key, max_results=max_results,
                            page_token=token)
            found += list_of(metric)(page.get("metrics", []))
            token = page.get("next_page_token")
            if not token:
                return [(point["step"], point["timestamp"], point["value"]) for point in found]

    # Artifacts: of the run's artifact_uri, which must be one that this server proxies.

    def repository(self, run_id):
        uri = self.get_run(run_id)["info"]["artifact_uri"]
        assert uri.startswith("mlflow-artifacts:/") and uri.endswith(f"/{run_id}/artifacts"), uri
        return uri.removeprefix("mlflow-artifacts:").strip("/")

    def artifact(self, run_id, path, method, body=None):
        whole = posixpath.join(self.repository(run_id), path)
        return self.send(method, "/api/2.0/mlflow-artifacts/artifacts/" + urllib.parse.quote(whole), body)

    def log_artifact(self, run_id, path, content):
        assert self.checked(*self.artifact(run_id, path, "PUT", content)) == {}

    def download_artifact(self, run_id, path):
        response, content = self.artifact(run_id, path, "GET")
        if response.status != 200:
            self.checked(response, content)
        assert int(response.getheader("Content-Length")) == len(content)
        return content

    def delete_artifact(self, run_id, path):
        self.checked(*self.artifact(run_id, path, "DELETE"))

    def list_artifacts(self, run_id, path=""):
        """Of the artifact repository: the names that the server tells are relative to the folder."""
        query = urllib.parse.urlencode({"path": posixpath.join(self.repository(run_id), path).rstrip("/")})
        listed = self.checked(*self.send("GET", "/api/2.0/mlflow-artifacts/artifacts?" + query))
        files = list_of(file_info)(listed.get("files", []))
        assert all("/" not in file["path"] for file in files)
        return [(posixpath.join(path, file["path"]), file["is_dir"], file.get("file_size")) for file in files]

    def list_artifacts_of_run(self, run_id, path=None):
        """Of the tracking API: names are relative to the run's root."""
        listed = self.get("artifacts/list", run_uuid=run_id, run_id=run_id, path=path)
        files = list_of(file_info)(listed.get("files", []))
        return text(listed["root_uri"]), [(f["path"], f["is_dir"], f.get("file_size")) for f in files]


class Fluent:
    """The call sequences of mlflow.set_experiment(), start_run(), log_metric() and end_run()."""

    def __init__(self, client, environment=None):
        self.client = client
        self.environment = environment or {}
        self.experiment_id = "0"
        self.run_id = None

    def set_experiment(self, name):
        found = self.client.get_experiment_by_name(name)
        if not found:
            try:
                made = self.client.create_experiment(name)
            except RestException as fault:
                if fault.code != "RESOURCE_ALREADY_EXISTS":
                    raise
                made = self.client.get_experiment_by_name(name)["experiment_id"]
            found = self.client.get_experiment(made)
        assert found["lifecycle_stage"] == "active", found
        self.experiment_id = found["experiment_id"]
        return found

    def start_run(self, run_id=None, run_name=None, tags=None):
        existing = run_id or self.environment.pop("MLFLOW_RUN_ID", None)
        if existing:
            before = self.client.get_run(existing)
            assert before["info"]["lifecycle_stage"] == "active", before
            self.client.update_run(existing, "RUNNING", end_time=before["info"].get("end_time"))
            if tags:
                self.client.log_batch(existing, tags=tags)
            self.client.get_run(existing)
        else:
            usual = {"mlflow.user": "tester", "mlflow.source.name": "train.py", "mlflow.source.type": "LOCAL"}
            existing = self.client.create_run(self.experiment_id, run_name, usual | (tags or {}))["info"]["run_id"]
        self.run_id = existing
        return existing

    def log_metric(self, key, value, step=0, run_id=None):
        if run_id:
            self.client.get_run(run_id)
        self.client.log_metric(run_id or self.run_id or self.start_run(), key, value, step=step)

    def end_run(self, status="FINISHED"):
        self.client.get_run(self.run_id)
        self.client.update_run(self.run_id, status, now())
        self.run_id = None


def key_values(pairs):
    return [{"key": key, "value": value} for key, value in dict(pairs).items()]


def now():
    return int(time.time() * 1000)
