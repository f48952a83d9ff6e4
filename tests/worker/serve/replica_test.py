"""Replicas of a service: podium-worker run with a spec of task: serve, as an agent starts it, and podium-worker local."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import served

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="podium-replica-"))
SECRET = "0123456789abcdef"


def setUpModule():
    served.write_model(FOLDER / "data" / "bert", 1)


def tearDownModule():
    shutil.rmtree(FOLDER)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Replica:
    """A job of one replica, which is started as often as start() is called."""

    def __init__(self, name, init, **beside):
        self.folder, self.port = FOLDER / name, free_port()
        self.folder.mkdir()
        self.launch = {
            "version": 1, "job": 7, "attempt": 1, "rank": 0, "name": "answers", "world_size": 1, "local_rank": 0,
            "local_world_size": 1, "node_rank": 0, "nodes": 1, "node": "here",
            "master": {"address": "127.0.0.1", "port": self.port, "secret": SECRET},
            "device": {"kind": "cpu", "index": 0, "threads": 1},
            "spec": {"version": 1, "name": "answers", "labels": {}, "task": "serve", "model": {"init": str(init)},
                     "serve": beside.pop("serve", {}), "replicas": {}, "priority": 50,
                     "resources": {"devices": 1, "per_node": 0, "kind": "cpu", "walltime": "1h"}},
            "paths": {"data": str(FOLDER / "data"), "checkpoints": str(self.folder / "checkpoints"),
                      "events": str(self.folder / "events.jsonl")},
            "grace_ms": 30_000, **beside}
        self.process = None

    def start(self):
        (self.folder / "launch.json").write_text(json.dumps(self.launch))
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen([served.WORKER, "run", self.folder / "launch.json"], stderr=log,
                                            env={**os.environ, "OMP_WAIT_POLICY": "passive"})
        return self

    def ready(self):
        """Started, and able to answer."""
        self.start()
        end = time.monotonic() + served.WAIT
        while True:
            assert self.process.poll() is None, self.log()
            assert time.monotonic() < end, self.log()
            try:
                if self.client(None).get("/readyz").status == 200:
                    return self
            except OSError:
                pass
            time.sleep(0.02)

    def client(self, token=SECRET):
        return served.Client(self.port, token)

    def ended(self):
        """The exit code of one that ends by itself."""
        return self.start().process.wait(served.WAIT)

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(served.WAIT)

    def log(self):
        return (self.folder / "log").read_text()

    def events(self, kind):
        lines = (self.folder / "events.jsonl").read_text().splitlines()
        return [event for event in map(json.loads, lines) if event["type"] == kind]

    def errors(self):
        return "\n".join(note["message"] for note in self.events("note") if note["level"] == "error")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def spec_of_training(steps, seed):
    return {"version": 1, "name": "small", "model": {"family": "bert", "layers": 1, "hidden": 32, "heads": 2, "max_positions": 32},
            "data": {"train": "corpus.txt", "tokenizer": {"wordpiece": "vocab.txt"}},
            "training": {"optimizer": {"lr": 1e-2}, "schedule": {"steps": steps}, "batch": {"global": 4, "micro": 4},
                         "sequence_length": 16, "seed": seed},
            "checkpoint": {"every": 1, "keep": 10}, "resources": {"devices": 1, "kind": "cpu"}}


def train(name, steps, seed):
    """The folder of checkpoints of a training that has one of every step."""
    data, chance = FOLDER / "data", random.Random(5)
    (data / "vocab.txt").write_text("\n".join(served.VOCABULARY) + "\n")
    (data / "corpus.txt").write_text("\n".join(
        "\n".join(served.text(chance, 6, 0) + " ." for _ in range(4)) + "\n" for _ in range(40)))
    spec = FOLDER / f"{name}.json"
    spec.write_text(json.dumps(spec_of_training(steps, seed)))
    served.worker("local", spec, "--data", data, "--out", FOLDER / name, "--threads", 1)
    return FOLDER / name / "checkpoints"


class Replicas(unittest.TestCase):
    def test_answers_those_who_have_the_secret(self):
        with Replica("secret", "bert", serve={"precision": "fp32", "max_queue": 100}) as replica:
            replica.ready()
            client = replica.client()
            (model,) = client.get("/v1/models").json()["models"]
            self.assertEqual((model["name"], model["folder"], model["precision"]),
                             ("answers", str(FOLDER / "data" / "bert"), "fp32"))
            self.assertEqual(client.ask("answers", "embed", {"text": "w1"}).status, 200)
            for token in (None, "wrong"):
                for path in ("/v1/models", "/v1/load", "/metrics"):
                    self.assertEqual(replica.client(token).get(path).status, 401)
                self.assertEqual(replica.client(token).ask("answers", "embed", {"text": "w1"}).status, 401)
                self.assertEqual(replica.client(token).get("/readyz").status, 200)
            self.assertEqual(replica.terminate(), 79, replica.log())
            self.assertEqual([event["phase"] for event in replica.events("phase")], ["loading", "stepping"])
            self.assertEqual(replica.events("finished")[-1]["status"], "preempted")
            (note,) = replica.events("note")
            self.assertRegex(note["message"], f"serves {FOLDER / 'data' / 'bert'} .XXH3 [0-9a-f]{{16}}. at http://127.0.0.1:{replica.port}")

    def test_sigterm_answers_what_was_accepted(self):
        with Replica("drained", "bert") as replica:
            replica.ready()
            statuses, stopped, lock = [], threading.Event(), threading.Lock()

            def ask(seed):
                client, chance = replica.client(), random.Random(seed)
                while not stopped.is_set():
                    try:
                        reply = client.ask("answers", "fill-mask", {"text": served.text(chance, 20)})
                    except Exception:  # it has ended
                        return
                    with lock:
                        statuses.append(reply.status)
            clients = [threading.Thread(target=ask, args=(seed,)) for seed in range(16)]
            for client in clients:
                client.start()
            end = time.monotonic() + served.WAIT
            while len(statuses) < 100 and time.monotonic() < end:
                time.sleep(0.01)
            self.assertEqual(replica.terminate(), 79, replica.log())
            stopped.set()
            for client in clients:
                client.join()
            accepted, answered = map(int, re.search(r"(\d+) requests were accepted, (\d+) answered", replica.log()).groups())
            self.assertEqual((accepted, answered), (statuses.count(200), statuses.count(200)))
            self.assertLessEqual(set(statuses), {200, 503})

    def test_tells_its_load_when_asked_and_every_ten_seconds(self):
        with Replica("load", "bert") as replica, Replica("idle", "bert") as idle:
            replica.ready(), idle.ready()
            client, asked, end = replica.client(), 0, time.monotonic() + served.WAIT
            self.assertEqual(client.get("/v1/load").json()["models"]["answers"],
                             {"requests": 0, "requests_per_second": 0, "failed": 0, "waiting": 0})
            while asked == 0 or not any("serve/failed" in event["values"] for event in replica.events("metrics")):
                self.assertEqual(client.ask("answers", "embed", {"text": "w1 w2"}).status, 200)
                self.assertEqual(client.ask("answers", "embed", {"text": 1}).status, 422)
                asked += 1
                time.sleep(0.01)
                self.assertLess(time.monotonic(), end)
            reply = client.get("/v1/load")
            served.check_described("/v1/load", reply)
            load = reply.json()["models"]["answers"]
            self.assertGreater(load["requests"], 0)
            self.assertLessEqual(load["requests"], 2 * asked)
            self.assertEqual(load["failed"], 0, "what is refused is the client's own")
            for figure in ("queue_ms", "latency_ms"):
                self.assertLessEqual(load[figure]["p50"], load[figure]["p90"])
                self.assertLessEqual(load[figure]["p90"], load[figure]["p99"])
            self.assertLess(load["queue_ms"]["p50"], load["latency_ms"]["p50"])
            told = next(event for event in replica.events("metrics") if "serve/failed" in event["values"])
            self.assertEqual(told["step"], told["t"] // 10_000)
            self.assertLess(told["t"] % 10_000, 5_000, "soon after the end of the ten seconds")
            self.assertEqual(set(told["values"]), {
                "serve/latency_p50_ms", "serve/latency_p90_ms", "serve/latency_p99_ms", "serve/queue_p90_ms",
                "serve/requests_per_second", "serve/failed"})
            self.assertGreater(told["values"]["serve/requests_per_second"], 0)
            self.assertEqual(told["values"]["serve/failed"], 0)
            while not idle.events("metrics"):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
            self.assertEqual(idle.events("metrics")[0]["values"], {"serve/requests_per_second": 0})

    def test_a_restart_serves_the_checkpoint_that_the_first_attempt_found(self):
        source = train("first", 2, 1)
        later = train("second", 3, 2)
        (FOLDER / "data" / "trained").symlink_to(source)
        ask = {"text": "w1 [MASK] w3"}
        with Replica("restarted", "trained") as replica, Replica("begun-later", "trained") as newer:
            before = replica.ready().client().ask("answers", "fill-mask", ask).json()
            self.assertEqual(replica.terminate(), 79, replica.log())
            self.assertEqual(json.loads((replica.folder / "checkpoints" / "origin.json").read_text())["step"], 2)
            shutil.copytree(later / "step-00000003", source / "step-00000003")
            self.assertEqual(replica.ready().client().ask("answers", "fill-mask", ask).json(), before)
            self.assertIn("step-00000002", replica.client().get("/v1/models").json()["models"][0]["folder"])
            self.assertNotEqual(newer.ready().client().ask("answers", "fill-mask", ask).json(), before)
            self.assertEqual(replica.terminate(), 79)
            shutil.rmtree(source / "step-00000002")
            self.assertEqual(replica.ended(), 65)
            self.assertIn("began with the weights of step 2", replica.errors())
        with Replica("of-a-job", "unused") as replica:
            replica.launch["spec"]["model"] = {"init_from": {"job": 3, "checkpoint": 1}}
            replica.launch["paths"]["init"] = str(source)
            replica.ready()
            self.assertIn("step-00000001", replica.client().get("/v1/models").json()["models"][0]["folder"])
            self.assertEqual(replica.terminate(), 79)

    def test_a_folder_that_has_changed_is_not_served_in_its_place(self):
        folder, ask = FOLDER / "data" / "replaced", {"text": "w1 w2"}
        served.write_model(folder, 3)
        (folder / "notes.md").write_text("of no importance")
        with Replica("of-a-folder", "replaced") as replica:
            before = replica.ready().client().ask("answers", "embed", ask).json()
            self.assertEqual(replica.terminate(), 79)
            kept = (folder / "model.safetensors").read_bytes()
            served.write_model(folder, 4)
            (folder / "notes.md").unlink()
            self.assertEqual(replica.ended(), 65, replica.log())
            self.assertIn("is a Hugging Face folder with other files", replica.errors())
            self.assertIn("delete", replica.errors())
            (folder / "model.safetensors").write_bytes(kept)
            self.assertEqual(replica.ready().client().ask("answers", "embed", ask).json(), before)
            self.assertEqual(replica.terminate(), 79)
            (folder / "vocab.txt").write_text("\n".join(reversed(served.VOCABULARY)) + "\n")
            self.assertEqual(replica.ended(), 65, replica.log())

    def test_a_stop_that_comes_first_is_heard(self):
        with Replica("stopped-early", "bert") as replica:
            replica.start()
            time.sleep(0.05)
            self.assertIn(replica.terminate(), (79, -signal.SIGTERM), replica.log())

    def test_one_that_cannot_serve_says_why(self):
        (FOLDER / "data" / "broken").mkdir()
        (FOLDER / "data" / "broken" / "config.json").write_text("{")
        with Replica("holder", "bert") as holder:
            holder.ready()
            cases = {
                "taken": ("bert", {"port": holder.port}, 75, "Address already in use"),
                "nothing": ("nothing", {}, 65, "is neither a Hugging Face folder"),
                "broken": ("broken", {}, 65, "config.json"),
                "out": ("../elsewhere", {}, 64, "leads out of the data folder"),
                "open": ("bert", {"address": "0.0.0.0", "secret": ""}, 64, "needs the attempt's secret")}
            for name, (init, master, code, said) in cases.items():
                with Replica(f"refused-{name}", init) as replica:
                    replica.launch["master"].update(master)
                    self.assertEqual(replica.ended(), code, name + replica.log())
                    self.assertIn(said, replica.errors())
                    self.assertEqual(replica.events("finished")[-1]["status"], "failed")
            with Replica("same-job", "bert") as replica:
                replica.launch["paths"]["checkpoints"] = holder.launch["paths"]["checkpoints"]
                self.assertEqual(replica.ended(), 75, replica.log())
            with Replica("two-processes", "bert") as replica:
                replica.launch["world_size"] = 2
                self.assertEqual(replica.ended(), 64, replica.log())
                self.assertIn("one process with one device", replica.errors())
            with Replica("a-job", "bert") as replica:
                replica.launch["spec"]["model"] = {"init_from": {"job": 3}}
                self.assertEqual(replica.ended(), 64, replica.log())
                self.assertIn("names a job of a cluster", replica.errors())

    def test_the_command_local_serves_without_a_token(self):
        spec = FOLDER / "service.yaml"
        spec.write_text("version: 1\nname: answers\ntask: serve\nmodel: {init: bert}\nreplicas: 3\nresources: {devices: 1, kind: cpu}\n")
        local = subprocess.Popen([served.WORKER, "local", spec, "--data", FOLDER / "data", "--out", FOLDER / "local", "--threads", "1"],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            address = local.stdout.readline()
            port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/v1/models/answers\n", address)[1])
            end = time.monotonic() + served.WAIT
            while True:
                try:
                    if served.Client(port).get("/readyz").status == 200:
                        break
                except OSError:
                    pass
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
            self.assertEqual(served.Client(port).ask("answers", "embed", {"text": "w1"}).status, 200)
            local.send_signal(signal.SIGINT)
            self.assertEqual(local.wait(served.WAIT), 79)
        finally:
            local.kill()
            local.wait()
            local.stdout.close()


if __name__ == "__main__":
    unittest.main()
