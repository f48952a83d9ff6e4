"""A real podium-coordinator for the tests of its API: started on a free port in a folder of its own, killed at the end.

Agent plays a node: it reports, gets orders and delivers streams, without any process behind it.
"""

import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

BINARY = pathlib.Path(sys.argv.pop(1))
USER = "user-token-for-these-tests"
AGENT = "agent-token-for-these-tests"
WAIT = 60  # seconds until something that should have happened is declared not to

# A training that MLPerf's rules measure.
MEASURED = """version: 1
name: measured
model: {preset: bert-tiny}
data: {train: text.txt, tokenizer: {wordpiece: vocab.txt}}
training:
  optimizer: {name: lamb, lr: 1e-3}
  schedule: {steps: 1000}
  batch: {global: 256, micro: 8}
resources: {devices: 1, kind: cpu, walltime: 1h}
evaluate: {data: heldout.txt}
mlperf: {benchmark: bert, division: open}
"""


class Reply:
    def __init__(self, response, body):
        self.status = response.status
        self.headers = response.headers
        self.body = body
        self.type = (response.headers.get("Content-Type") or "").split(";")[0]

    def json(self):
        return json.loads(self.body)


class Daemon:
    def __init__(self, *options, listen="127.0.0.1:0", webhooks=None):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="podium-api-"))
        (self.home / "user.token").write_text(USER + "\n")
        (self.home / "agent.token").write_text(AGENT + "\n")
        for token in ("user.token", "agent.token"):
            (self.home / token).chmod(0o600)
        if webhooks:
            (self.home / "webhooks.yaml").write_text(webhooks)
        self.options = ("--listen", listen, *options)
        self.log = open(self.home / "log", "ab")
        self.start()

    def start(self):
        address = self.home / "coordinator.address"
        address.unlink(missing_ok=True)
        command = [BINARY, "--home", self.home, *self.options]
        self.process = subprocess.Popen(command, stderr=self.log, stdin=subprocess.DEVNULL)
        wait_for(lambda: self.process.poll() is not None or address.exists(), "the coordinator to listen")
        if not address.exists():
            raise RuntimeError(f"the coordinator ended with {self.process.returncode}:\n{self.read_log()}")
        self.port = int(address.read_text().rsplit(":", 1)[1])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT)

    def close(self):
        self.log.close()
        if self.process.poll() is None:
            self.kill()
        elif self.process.returncode not in (0, -signal.SIGKILL):
            print(f"the coordinator ended with {self.process.returncode}:\n{self.read_log()}", file=sys.stderr)
        shutil.rmtree(self.home)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def read_log(self):
        return (self.home / "log").read_text()

    def request(self, method, path, body=None, token=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            headers["Authorization"] = "Bearer " + token
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return Reply(response, response.read())
        finally:
            connection.close()

    def get(self, path, **options):
        return self.request("GET", "/api/v1" + path, **options)

    def submit(self, spec, **headers):
        return self.request("POST", "/api/v1/experiments", {"spec": spec, "file": "test.yaml"}, USER, **headers)

    def post_sync(self, agent):
        """Sends a node's report and leaves the answer to the caller."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        headers = {"Authorization": "Bearer " + AGENT, "Content-Type": "application/json"}
        connection.request("POST", f"/api/v1/nodes/{agent.name}/sync", json.dumps(agent.report()), headers)
        return connection

    def raw(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT)

    def live(self, last_id=None, query=""):
        return Live(self, last_id, query)


class Live:
    """Reads server-sent events one by one."""

    def __init__(self, daemon, last_id, query):
        headers = {} if last_id is None else {"Last-Event-ID": str(last_id)}
        self.connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=WAIT)
        self.connection.request("GET", "/api/v1/live" + query, headers=headers)
        self.response = self.connection.getresponse()
        if self.response.status != 200:
            raise RuntimeError(f"/live answered {self.response.status}")
        assert self.response.readline() == b": live\n", "the stream greets"

    def next(self):
        """The next event as (id, name, data)."""
        event = {}
        while True:
            line = self.response.readline().decode()
            if not line:
                raise EOFError("the stream ended")
            line = line.rstrip("\n")
            if line and not line.startswith(":"):
                field, value = line.split(": ", 1)
                event[field] = value
            elif not line and event:
                return int(event["id"]), event["event"], json.loads(event["data"])

    def until(self, wanted):
        """The first event for which wanted(name, data) holds."""
        while True:
            event = self.next()
            if wanted(event[1], event[2]):
                return event

    def close(self):
        self.connection.close()
        self.response.close()


class Agent:
    def __init__(self, daemon, name="node-1", devices=1):
        self.daemon = daemon
        self.name = name
        self.orders_seen = 0
        self.tasks = []
        self.readings = []
        self.interrupted = False
        self.cluster = ""  # of an agent from before clusters had ids
        self.ahead = None  # seconds that its clock is ahead; None: it says nothing of it
        self.heard, self.answered = 0, 0
        self.node = {
            "id": name,
            "address": "127.0.0.1",
            "agent_version": "0.1.0",
            "boot": "b1",
            "labels": {},
            "devices": [{"index": i, "kind": "cpu", "model": "test", "threads": 1} for i in range(devices)],
        }

    def report(self):
        clock = {}
        if self.ahead is not None:
            clock = {"clock": {"sent_ms": self.clock(), "heard_ms": self.heard, "answered_ms": self.answered}}
        cluster = {"cluster": {"id": self.cluster, "generation": 1}} if self.cluster else {}
        return clock | cluster | {"version": 1, "node": self.node, "tasks": self.tasks, "orders_seen": self.orders_seen,
                "readings": self.readings, "interrupted": self.interrupted}

    def clock(self):
        return int((time.time() + self.ahead) * 1000)

    def sync(self, token=AGENT):
        reply = self.daemon.request("POST", f"/api/v1/nodes/{self.name}/sync", self.report(), token)
        if reply.status == 200:
            self.orders_seen = reply.json()["orders"]
            if self.ahead is not None:
                self.heard, self.answered = self.clock(), reply.json()["clock_ms"]
        return reply

    def orders(self):
        reply = self.sync()
        assert reply.status == 200, reply.body
        return reply.json()["tasks"]

    def tell(self):
        """Reports without waiting for news: a second sync ends the hold of the first, and its own is given up."""
        first, second = (self.daemon.post_sync(self) for _ in range(2))
        assert first.getresponse().status == 200
        first.close()
        second.close()

    def wait_for_order(self, action):
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            orders = [task for task in self.orders() if task["action"] == action]
            if orders:
                return [order["launch"] | {"clock": order.get("clock")} for order in orders]
        raise TimeoutError(f"no order to {action}")

    def run(self, launches):
        """Reports that the ordered tasks run."""
        self.tasks = [task_of(launch) | {"state": "running", "pid": 4000 + i} for i, launch in enumerate(launches)]
        self.tell()

    def finish(self, code=0):
        """Reports that its tasks have ended."""
        done = {"code": code, "signal": 0, "message": ""}
        self.tasks = [task | {"state": "exited", "exit": done} for task in self.tasks]
        self.tell()
        self.tasks = []

    def deliver(self, body, **headers):
        headers.setdefault("Content_Type", "application/x-podium-streams")
        return self.daemon.request("POST", f"/api/v1/nodes/{self.name}/streams", body, AGENT, **headers)


def task_of(launch):
    return {key: launch[key] for key in ("job", "attempt", "rank")}


def chunk(launch, stream, offset, data):
    header = task_of(launch) | {"stream": stream, "offset": offset, "length": len(data)}
    return json.dumps(header).encode() + b"\n" + data


def metric_lines(first, count, key="train/loss"):
    """events.jsonl with one point a line; the value is 1 / step."""
    lines = [
        json.dumps({"type": "metrics", "t": 1000 + step, "step": step, "values": {key: 1 / step}})
        for step in range(first, first + count)
    ]
    return ("\n".join(lines) + "\n").encode()


def spec(name="job", devices=1, extra=""):
    return (
        f"version: 1\nname: {name}\nlabels: {{team: test}}\ncommand: [/bin/true]\n"
        f"resources: {{devices: {devices}, kind: cpu, walltime: 1h}}\n{extra}"
    )


def wait_for(condition, what):
    deadline = time.monotonic() + WAIT
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("waited in vain for " + what)
        time.sleep(0.01)
