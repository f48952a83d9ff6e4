"""podium.py as a program uses it: fetched from a coordinator, packed with a job's code, run by an agent, stopped and gone on."""

import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from cluster import Cluster

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
HELPER = pathlib.Path(__file__).resolve().parents[2] / "coordinator" / "api" / "podium.py"

TRAIN = """
import json, math, os, time
import podium

path = podium.checkpoints() + "/state.json"
state = json.load(open(path)) if os.path.exists(path) else {"step": 0}
podium.started(state["step"], steps=podium.parameters()["steps"])
while state["step"] < podium.parameters()["steps"] and not podium.stop_requested():
    state["step"] += 1
    podium.log({"train/loss": 1 / state["step"], "train/odd": math.inf}, step=state["step"])
    while state["step"] == 50 and os.environ["PODIUM_ATTEMPT"] == "1" and not podium.stop_requested():
        time.sleep(0.05)
json.dump(state, open(path + ".new", "w"))
os.replace(path + ".new", path)
podium.checkpoint("state.json", step=state["step"])
if podium.stop_requested():
    podium.note("leaves at step %d" % state["step"], level="warning")
    podium.leave()
podium.finished(state["step"])
"""

SPEC = """
version: 1
name: {name}
code: {{folder: code}}
command: [/usr/bin/python3, {program}]
parameters: {{steps: 80}}
resources: {{devices: {devices}, kind: cpu, walltime: 5m}}
restarts: {{max: 0}}
"""

FAILING = """
from torch.distributed.elastic.multiprocessing.errors import record

@record
def main():
    raise ValueError("no shard 7")

if __name__ == "__main__":
    main()
"""


class OnACluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(BIN, ["node-1"])
        cls.addClassCleanup(cls.cluster.close)
        (cls.cluster.folder / "code").mkdir()

    def submit(self, name, text, devices=1):
        (self.cluster.folder / "code" / f"{name}.py").write_text(text)
        (self.cluster.folder / f"{name}.yaml").write_text(SPEC.format(name=name, program=f"{name}.py", devices=devices))
        return int(self.cluster.say(f"podium --json submit {name}.yaml | python3 -c 'import json,sys; print(json.load(sys.stdin)[\"jobs\"][0][\"id\"])'"))

    def ended(self, job):
        self.cluster.wait_for(lambda: self.cluster.get(f"/jobs/{job}")["ended_ms"], f"the end of job {job}")
        return self.cluster.get(f"/jobs/{job}")

    def test_a_program_tells_stops_and_goes_on(self):
        with urllib.request.urlopen(self.cluster.environment["PODIUM_COORDINATOR"] + "/api/v1/podium.py") as answer:
            self.assertEqual(answer.headers["Content-Type"], "text/x-python; charset=utf-8")
            served = answer.read()
        self.assertEqual(served, HELPER.read_bytes())
        (self.cluster.folder / "code" / "podium.py").write_bytes(served)
        job = self.submit("train", TRAIN, devices=2)
        self.cluster.wait_for(lambda: (self.cluster.get(f"/jobs/{job}")["progress"] or {}).get("step") == 50, "step 50")
        self.cluster.say(f"podium requeue {job}")
        job_end = self.ended(job)
        self.assertEqual((job_end["state"], job_end["attempt"]), ("succeeded", 2), job_end["reason"])
        series = self.cluster.get(f"/jobs/{job}/series?key=train/loss&key=train/odd&points=1000")["series"]
        self.assertEqual([(point[0], point[2]) for point in series[0]["points"]], [(step, 1 / step) for step in range(1, 81)])
        self.assertEqual({point[2] for point in series[1]["points"]}, {"Infinity"})
        saved = self.cluster.get(f"/jobs/{job}/checkpoints")["checkpoints"]
        self.assertEqual([(each["attempt"], each["step"]) for each in saved], [(1, 50), (2, 80)])
        history = [each["text"] for each in self.cluster.get(f"/jobs/{job}/events")["events"]]
        self.assertEqual(sum("leaves at step 50" in text for text in history), 1, history)  # rank 0's alone

    def test_the_exception_that_torch_recorded_is_the_reason(self):
        has_torch = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
        if subprocess.run(["/usr/bin/python3", "-c", has_torch]).returncode != 0:
            self.skipTest("skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)")
        failed = self.ended(self.submit("failing", FAILING))
        self.assertEqual(failed["state"], "failed")
        self.assertIn("ValueError: no shard 7", failed["reason"])


class Alone(unittest.TestCase):
    def run_here(self, program, **variables):
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(HELPER.parent), "PYTHONDONTWRITEBYTECODE": "1", **variables}
        return subprocess.run(["/usr/bin/python3", "-c", "import podium, signal, os\n" + program], env=environment,
                              capture_output=True, text=True)

    def test_nothing_is_told_without_podium(self):
        done = self.run_here("podium.log({'a': 1}, step=1)\nprint(podium.stop_requested(), podium.parameters(), podium.checkpoints('here'), flush=True)\n"
                             "os.kill(os.getpid(), signal.SIGTERM)")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (-signal.SIGTERM, "False {} here\n", ""))

    def test_a_handler_of_the_program_is_called_too(self):
        done = self.run_here("signal.signal(signal.SIGTERM, lambda *_: print('own'))\npodium.stop_requested()\n"
                             "os.kill(os.getpid(), signal.SIGTERM)\nprint(podium.stop_requested())", PODIUM_EVENTS="/dev/null")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "own\nTrue\n", ""))

    def test_its_own_signal_and_the_file_both_tell_it_to_stop_and_it_leaves_with_a_code_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            asked = {"PODIUM_EVENTS": "/dev/null", "PODIUM_STOP_SIGNAL": "USR1", "PODIUM_STOP_FILE": folder + "/stop"}
            done = self.run_here("print(podium.stop_requested())\nos.kill(os.getpid(), signal.SIGUSR1)\nprint(podium.stop_requested())\npodium.leave()", **asked)
            self.assertEqual((done.returncode, done.stdout), (79, "False\nTrue\n"))
            done = self.run_here("podium.stop_requested()\nopen(os.environ['PODIUM_STOP_FILE'], 'w').close()\nprint(podium.stop_requested())", **asked)
            self.assertEqual(done.stdout, "True\n")
        done = self.run_here("podium.leave()", PODIUM_EVENTS="/dev/null")
        self.assertEqual(done.returncode, 75)

    def test_the_newest_checkpoint_is_told(self):
        done = self.run_here("print(podium.newest_checkpoint())", PODIUM_CHECKPOINT="/a/b", PODIUM_CHECKPOINT_STEP="7")
        self.assertEqual(done.stdout, "('/a/b', 7)\n")
        self.assertEqual(self.run_here("print(podium.newest_checkpoint())").stdout, "(None, 0)\n")

    def test_a_child_ends_by_the_signal(self):
        done = self.run_here("import multiprocessing, time\npodium.stop_requested()\nhere, there = multiprocessing.Pipe()\n"
                             "def work():\n    there.send('begun')\n    time.sleep(60)\n"
                             "child = multiprocessing.Process(target=work, daemon=True)\nchild.start()\nhere.recv()\n"
                             "child.terminate()\nchild.join(30)\nprint(child.exitcode, podium.stop_requested())", PODIUM_EVENTS="/dev/null")
        self.assertEqual((done.stdout, done.stderr), (f"{-signal.SIGTERM} False\n", ""))

    def test_a_handler_may_tell_while_the_program_tells(self):
        done = self.run_here("signal.signal(signal.SIGTERM, lambda *_: podium.note('going'))\npodium.stop_requested()\n"
                             "with podium._lock:\n    os.kill(os.getpid(), signal.SIGTERM)\nprint(podium.stop_requested())", PODIUM_EVENTS="/dev/null")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "True\n", ""))

    def test_a_full_disk_does_not_end_the_program(self):
        done = self.run_here("podium.log({'a': 1}, step=1)\nprint('on')", PODIUM_EVENTS="/dev/full")
        self.assertEqual((done.returncode, done.stdout), (0, "on\n"))
        self.assertIn("cannot write /dev/full: [Errno 28]", done.stderr)


if __name__ == "__main__":
    unittest.main()
