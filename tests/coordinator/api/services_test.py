"""Services on a real coordinator: their replicas are small HTTP servers of this process, on nodes that do as they are told."""

import http.client
import http.server
import json
import threading
import unittest
import urllib.request

from daemon import USER, WAIT, Agent, Daemon, task_of, wait_for


def service(name="answers", model="models/first", replicas="{min: 2, max: 3}"):
    return (
        f"version: 1\nname: {name}\ntask: serve\nmodel: {{init: {model}}}\nreplicas: {replicas}\n"
        "resources: {devices: 1, kind: cpu}\n"
    )


class Replica(http.server.ThreadingHTTPServer):
    """Answers every request with its job and model; podium-worker serve as the gateway knows it."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, launch):
        self.task = task_of(launch)
        self.spec = launch["spec"]
        self.secret = launch["master"]["secret"]
        self.drains = False
        super().__init__((launch["master"]["address"], launch["master"]["port"]), Requests)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class Requests(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        if self.path == "/readyz":
            return self.answer(503 if self.server.drains else 200, {})
        load = {"requests": 1, "requests_per_second": 0.5, "failed": 0, "waiting": 0, "queue_ms": {"p50": 9, "p90": 10, "p99": 11}}
        self.answer(200, {"models": {self.server.spec["name"]: load}})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Authorization"] != "Bearer " + self.server.secret:
            return self.answer(401, {})
        if self.server.drains:
            return self.answer(503, {"detail": "it is stopping"})
        self.answer(200, {"job": self.server.task["job"], "path": self.path, "model": self.server.spec["model"]["init"]})


class Node:
    """A node that starts and stops replicas as its orders say, until it is closed."""

    def __init__(self, daemon, devices):
        self.agent = Agent(daemon, devices=devices)
        self.replicas = {}
        self.over = threading.Event()
        self.agent.orders()
        self.thread = threading.Thread(target=self.live)
        self.thread.start()

    def live(self):
        while not self.over.is_set():
            try:
                self.obey(self.agent.orders())
            except (OSError, http.client.HTTPException, AssertionError):  # the coordinator is away
                self.agent.interrupted = True
                self.over.wait(0.05)

    def obey(self, orders):
        self.agent.interrupted = False
        self.agent.tasks = [task for task in self.agent.tasks if task["state"] == "running"]
        for order in orders:
            task = task_of(order["launch"])
            key = (task["job"], task["attempt"])
            if order["action"] == "start" and order["launch"]["spec"]["model"]["init"] == "models/missing":
                failed = {"code": 65, "signal": 0, "message": "no such model", "cause": "program"}
                self.agent.tasks.append(task | {"state": "exited", "pid": 4000, "exit": failed})
            elif order["action"] == "start" and key not in self.replicas:
                self.replicas[key] = Replica(order["launch"])
                self.agent.tasks.append(task | {"state": "running", "pid": 4000 + task["job"]})
            if order["action"] == "stop" and key in self.replicas:
                self.replicas[key].drains = True
                self.end(key, {"code": 79, "signal": 0, "message": "", "cause": "ordered"})

    def end(self, key, exit):
        self.replicas.pop(key).close()
        for task in self.agent.tasks:
            if (task["job"], task["attempt"]) == key:
                task |= {"state": "exited", "exit": exit}

    def close(self):
        self.over.set()
        self.thread.join(WAIT)
        for replica in self.replicas.values():
            replica.close()


class Clients:
    """Ask the service all the time."""

    def __init__(self, test, count=4):
        self.test = test
        self.over = threading.Event()
        self.models, self.failures = [], []
        self.threads = [threading.Thread(target=self.ask_on) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def ask_on(self):
        while not self.over.is_set():
            try:
                self.models.append(self.test.ask()["model"])
            except Exception as error:  # noqa: BLE001: whatever it was, the client has no answer
                self.failures.append(repr(error))

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join(WAIT)


class ServicesTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon("--services", "127.0.0.1:0")
        self.node = Node(self.daemon, devices=6)

    def tearDown(self):
        self.daemon.process.terminate()  # lets the node's held sync go
        self.node.close()
        self.daemon.process.wait(WAIT)
        self.daemon.close()

    def submit(self, text):
        reply = self.daemon.submit(text)
        self.assertEqual(reply.status, 201, reply.body)
        return reply.json()

    def ask(self, name="answers"):
        address = (self.daemon.home / "services.address").read_text().strip()
        request = urllib.request.Request(f"{address}/{name}/fill-mask", b'{"text": "[MASK]"}', {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=WAIT) as reply:
            return json.loads(reply.read())

    def service(self, name="answers"):
        return self.daemon.get("/services/" + name).json()

    def jobs_ready(self):
        return [replica["job"] for replica in self.service()["replicas"] if replica["ready"]]

    def wait_for_ready(self, jobs):
        wait_for(lambda: self.jobs_ready() == jobs, f"jobs {jobs} to be ready")

    def test_its_fewest_replicas_answer_at_one_address(self):
        self.assertEqual(self.daemon.get("/services").json()["services"], [])
        self.submit(service())
        self.wait_for_ready([1, 2])
        self.assertEqual({self.ask()["job"] for _ in range(10)}, {1, 2})
        self.assertEqual(self.ask()["path"], "/v1/models/answers/fill-mask")
        told = self.service()
        self.assertEqual((told["active"], told["ready"], told["min"], told["max"], told["queue_ms"]), (2, 2, 2, 3, 10))
        self.assertEqual([replica["paused"] for replica in told["replicas"]], [False, False, True])
        self.assertIn("is paused by its service: 2 of its 3 replicas are enough", told["replicas"][2]["reason"])
        self.assertEqual(told["replicas"][2]["reason"], self.daemon.get("/jobs/3").json()["reason"])
        address = self.daemon.get("/services").json()["address"]
        self.assertEqual(address, (self.daemon.home / "services.address").read_text().strip())
        self.assertEqual(told["url"], address + "/answers")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.ask("nothing")
        self.assertEqual(refused.exception.code, 404)
        self.assertEqual(self.daemon.get("/services/nothing").status, 404)
        metrics = self.daemon.request("GET", "/metrics").body
        self.assertIn(b'podium_service_replicas{service="answers",state="ready"} 2', metrics)
        self.assertIn(b'podium_service_min_replicas{service="answers"} 2', metrics)
        self.assertIn(b'podium_service_requests_total{service="answers",status="200"} 11', metrics)

    def test_a_new_spec_is_rolled_in_without_a_failed_request(self):
        self.submit(service(replicas="{min: 1, max: 2}"))
        self.wait_for_ready([1])
        clients = Clients(self)
        self.submit(service(model="models/second", replicas="{min: 1, max: 2}"))
        wait_for(lambda: self.service()["roll"]["state"] == "rolling", "the roll to begin")
        wait_for(lambda: self.service()["roll"]["state"] == "none", "the roll to end")
        self.wait_for_ready([3])
        self.assertEqual(self.ask()["model"], "models/second")
        clients.stop()
        self.assertEqual(clients.failures, [])
        self.assertEqual(set(clients.models), {"models/first", "models/second"})
        wait_for(lambda: self.daemon.get("/jobs/2").json()["state"] == "cancelled", "the rest of the old jobs to end")
        self.assertEqual(self.daemon.get("/board").json()["benchmarks"], [], "a service is no benchmark")

    def test_a_roll_goes_on_after_the_coordinator_was_killed_in_the_midst_of_it(self):
        self.submit(service(replicas="{min: 1, max: 2}"))
        self.wait_for_ready([1])
        self.submit(service(model="models/second", replicas="{min: 1, max: 2}"))
        wait_for(lambda: 3 in self.jobs_ready(), "the first of the new to answer")
        self.daemon.kill()
        self.daemon.start()
        self.wait_for_ready([3])
        wait_for(lambda: self.service()["roll"]["state"] == "none", "the roll to end")
        self.assertEqual(self.ask()["model"], "models/second")

    def test_a_spec_that_cannot_work_leaves_the_one_before_as_it_was(self):
        self.submit(service())
        self.wait_for_ready([1, 2])
        self.submit(service(model="models/missing"))
        wait_for(lambda: self.service()["roll"]["state"] == "halted", "the roll to be halted")
        told = self.service()
        self.assertEqual(told["roll"]["from"], [1])
        self.assertIn("job 4 failed: ", told["roll"]["reason"])
        self.assertIn("no such model", told["failure"]["reason"])
        self.assertEqual(self.ask()["model"], "models/first")

    def test_it_is_stopped_by_its_name(self):
        self.submit(service())
        self.wait_for_ready([1, 2])
        self.assertEqual(self.daemon.request("DELETE", "/api/v1/services/answers").status, 401)
        stopped = self.daemon.request("DELETE", "/api/v1/services/answers", token=USER)
        self.assertEqual((stopped.status, stopped.json()), (202, {"name": "answers", "jobs": [1, 2, 3]}))
        wait_for(lambda: self.daemon.get("/services").json()["services"] == [], "its end")
        self.assertEqual(self.daemon.request("DELETE", "/api/v1/services/answers", token=USER).status, 404)
        for job in (1, 2, 3):
            self.assertEqual(self.daemon.get(f"/jobs/{job}").json()["state"], "cancelled")
        self.submit(service(replicas="1"))
        self.wait_for_ready([4])


class WithoutAnAddress(unittest.TestCase):
    def test_specs_of_services_are_refused(self):
        with Daemon() as daemon:
            Agent(daemon).orders()
            refused = daemon.submit(service())
            self.assertEqual(refused.status, 422)
            self.assertEqual([error["pointer"] for error in refused.json()["errors"]], ["/task"])
            self.assertIn("--services ADDRESS:PORT", refused.json()["errors"][0]["message"])
            self.assertEqual(daemon.get("/services").json(), {"address": None, "services": []})


if __name__ == "__main__":
    unittest.main()
