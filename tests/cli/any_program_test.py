"""The examples of docs/any-program.md (page.py) on two nodes, with PyTorch, and what becomes of them when they are killed."""

import os
import pathlib
import signal
import subprocess
import sys
import unittest
import urllib.error

from cluster import Cluster
from page import blocks_of, run_page

BIN, SOURCE = (pathlib.Path(argument).resolve() for argument in (sys.argv.pop(1), sys.argv.pop(1)))
PAGE = (SOURCE / "docs" / "any-program.md").read_text()
HAS_TORCH = subprocess.run(["/usr/bin/python3", "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"]).returncode == 0


def pids_of(job, rank):
    """Of the processes of the job's rank, which its environment names."""
    wanted = {f"PODIUM_JOB={job}".encode(), f"RANK={rank}".encode()}
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            runs = b"train.py" in command and b"torchrun" not in command and b"podium-shim" not in command
            if runs and wanted <= set((process / "environ").read_bytes().split(b"\0")):
                found.append(int(process.name))
        except OSError:
            pass
    return found


@unittest.skipUnless(HAS_TORCH, "skipped: /usr/bin/python3 has no PyTorch (Debian package python3-torch)")
class AnyProgramTest(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(BIN, ["node-1", "node-2"])
        self.addCleanup(self.cluster.close)

    def test_page(self):
        run_page(self, PAGE, self.cluster)

    def write_files(self, slower=False):
        for _, _, file, text in blocks_of(PAGE):
            if file:
                (self.cluster.folder / file).parent.mkdir(exist_ok=True)
                if slower and file == "ddp/train.py":
                    text = text.replace("    for step in", "    import time\n    for step in").replace("        x = torch", "        time.sleep(0.05)\n        x = torch")
                (self.cluster.folder / file).write_text(text)

    def points(self, job):
        try:
            series = self.cluster.get(f"/jobs/{job}/series?key=train/loss&points=1000")["series"]
        except urllib.error.HTTPError:  # none yet
            return []
        return [point[0] for point in series[0]["points"]]

    def ended(self, job):
        self.cluster.wait_for(lambda: self.cluster.get(f"/jobs/{job}")["state"] in ("succeeded", "failed", "cancelled"), f"job {job} to end")
        return self.cluster.get(f"/jobs/{job}")

    def kill_midway(self, spec, steps, at):
        """Kills rank 1 once the point of that step is there."""
        self.write_files(slower=True)
        self.cluster.say(f"podium submit {spec}")
        self.cluster.wait_for(lambda: at in self.points(1), f"step {at}")
        killed = pids_of(1, 1)
        self.assertTrue(killed)
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        job = self.ended(1)
        self.assertEqual(job["state"], "succeeded", job["reason"])
        self.assertGreaterEqual(job["attempt"], 2)  # more where the next one's ranks do not meet in time
        self.assertEqual(self.points(1), list(range(10, steps + 1, 10)))
        return self.cluster.say("podium events 1")

    def test_a_killed_rank(self):
        self.assertIn("killed by signal 9", self.kill_midway("ddp.yaml", 100, 20))

    def test_a_killed_process_of_torchrun(self):
        self.kill_midway("torchrun.yaml", 50, 20)


if __name__ == "__main__":
    unittest.main()
