"""How a job is told to leave, saves and goes on: by its own signal or the file, in its own time, before its walltime."""

import pathlib
import sys
import unittest

from cluster import Cluster

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
HELPER = pathlib.Path(__file__).resolve().parents[2] / "coordinator" / "api" / "podium.py"

# By its signal alone, without podium.py; what SIGTERM would do is its default.
SAVES = """
import json, os, signal, sys, time

told = []
signal.signal(signal.SIGUSR1, lambda *_: told.append(os.path.exists(os.environ["PODIUM_STOP_FILE"])))
newest = os.environ.get("PODIUM_CHECKPOINT")
print("begins at", newest, os.environ.get("PODIUM_CHECKPOINT_STEP"), flush=True)
if newest:
    sys.exit(0 if open(newest).read() == "seven steps" else 1)
open("ready", "w").close()
while not told:
    time.sleep(0.05)
assert told == [True] and os.environ["PODIUM_STOP_GRACE"] == "300", told
os.mkdir(os.environ["PODIUM_CHECKPOINTS"] + "/step 7")
with open(os.environ["PODIUM_CHECKPOINTS"] + "/step 7/state", "w") as state:
    state.write("seven steps")
with open(os.environ["PODIUM_EVENTS"], "a") as events:
    for step, path in ((5, "gone"), (7, "step 7/state")):
        events.write(json.dumps({"type": "checkpoint", "t": int(time.time() * 1000), "step": step, "path": path}) + "\\n")
sys.exit(79)
"""

# By the file, for it hears no signal.
WATCHES = """
import os, signal, time
import podium

signal.signal(signal.SIGTERM, signal.SIG_IGN)
path, step = podium.newest_checkpoint()
podium.started(step, steps=100)
if path is None:
    podium._watching = -1  # as if another had it
    while not podium.stop_requested():
        time.sleep(0.05)
    podium.checkpoint("/elsewhere/step-50", step=50)
    podium.leave()
podium.note("goes on from %s at step %d" % (path, step))
podium.finished(100)
"""

SPEC = """
version: 1
name: stopping
code: {{folder: code}}
command: [/usr/bin/python3, {program}]
resources: {{devices: 1, kind: cpu, walltime: 1h}}
restarts: {{max: 0}}
stop: {stop}
"""


class Stopping(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(BIN, ["node-1"], {"code/saves.py": SAVES, "code/watches.py": WATCHES, "code/podium.py": HELPER.read_text()})
        cls.addClassCleanup(cls.cluster.close)

    def submit(self, program, stop):
        (self.cluster.folder / "spec.yaml").write_text(SPEC.format(program=program, stop=stop))
        return int(self.cluster.say("podium --json submit spec.yaml | python3 -c 'import json,sys; print(json.load(sys.stdin)[\"jobs\"][0][\"id\"])'"))

    def wait_until(self, job, state, attempt):
        seen = lambda: self.cluster.get(f"/jobs/{job}")
        self.cluster.wait_for(lambda: (seen()["state"], seen()["attempt"]) == (state, attempt), f"job {job} to be {state}")
        return seen()

    def test_maintenance_tells_it_by_its_signal_and_it_goes_on_from_the_path_that_it_told(self):
        job = self.submit("saves.py", "{signal: USR1, grace: 5m}")
        self.cluster.wait_for(lambda: list(self.cluster.folder.glob(f"node-1/jobs/{job}/1/0/code/ready")), "it to be ready")
        self.cluster.say(f"podium nodes drain node-1 --reason fans && podium requeue {job}")
        self.addCleanup(self.cluster.say, "podium nodes resume node-1")
        self.wait_until(job, "queued", 1)
        self.assertRegex(self.cluster.say(f"podium show {job}"), r"checkpoint +\S+/checkpoints/step 7/state")
        self.cluster.say("podium nodes resume node-1")
        self.wait_until(job, "succeeded", 2)
        newest, = self.cluster.folder.glob(f"shared/**/{job}/checkpoints/step 7/state")
        self.assertIn(f"{newest} 7", self.cluster.say(f"podium logs {job}"))

    def test_the_last_call_comes_before_the_walltime(self):
        job = self.submit("watches.py", "{before_walltime: 59m58s}")
        end = self.wait_until(job, "failed", 1)
        self.assertIn("left before the end of its walltime of 1h; podium requeue", end["reason"])
        self.cluster.say(f"podium requeue {job}")
        self.wait_until(job, "succeeded", 2)
        history = [each["text"] for each in self.cluster.get(f"/jobs/{job}/events")["events"]]
        self.assertTrue(any("goes on from /elsewhere/step-50 at step 50" in text for text in history), history)


if __name__ == "__main__":
    unittest.main()
