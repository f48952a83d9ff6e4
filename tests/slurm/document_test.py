"""The examples of docs/slurm.md, run as they stand there, in order, against Debian's Slurm on this machine."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN, SOURCE = (pathlib.Path(argument).resolve() for argument in (sys.argv.pop(1), sys.argv.pop(1)))
PAGE = (SOURCE / "docs" / "slurm.md").read_text()
sys.path.insert(0, str(SOURCE / "tests" / "cli"))

from page import run_page  # noqa: E402
from slurm import Slurm, free_ports, need_slurm, wait_for  # noqa: E402


class Commands:
    """What run_page runs commands with."""

    def __init__(self, folder, run):
        self.folder = folder
        self.run = run


class DocumentTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-slurm-"))
        self.folder.chmod(0o755)
        (self.folder / "slurm").mkdir()
        self.slurm = Slurm(self.folder / "slurm")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self.slurm.close)
        self.slurm.start()
        self.port = str(*free_ports(1))
        self.environment = self.slurm.environment | {
            "PATH": f"{BIN}:{self.slurm.environment['PATH']}", "HOME": str(self.folder), "PODIUM_HOME": str(self.folder / "podium"),
            "PODIUM_COORDINATOR": f"http://127.0.0.1:{self.port}"}
        self.said = []

    def say(self, commands):
        """Their status, and what they have said."""
        with tempfile.TemporaryFile(dir=self.folder) as said:  # the coordinator keeps that of its block open
            status = subprocess.run(["bash", "-c", commands.replace("7070", self.port)], cwd=self.folder, env=self.environment,
                                    stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False, timeout=120).returncode
            said.seek(0)
            self.said.append(said.read().decode())
        wait_for((self.folder / "podium" / "coordinator.address").exists, "the coordinator")
        return status, self.said[-1]

    def test_examples(self):
        run_page(self, PAGE, Commands(self.folder, self.say))
        _, followed, listed, emptied = self.said
        self.assertIn("rank 0 of 4 on n1-1", followed)
        self.assertIn("0–1 on n1-1 devices 0–1; 2–3 on n2-1 devices 0–1", followed)
        self.assertRegex(followed, "n2-1 .* slurm-job=1 slurm-node=n2 slurm-partition=main")
        self.assertRegex(listed, r"RUNNING +podium-\w{12} podium:1:1")
        self.assertEqual(emptied, "")

    def test_every_option_is_told_of(self):
        helped = subprocess.run([BIN / "podium-coordinator", "--help"], capture_output=True, text=True, check=True).stdout
        options = set(re.findall(r"--slurm(?:-[a-z-]+)?", helped))
        self.assertGreater(len(options), 10)
        self.assertEqual({option for option in options if option not in PAGE}, set())


if __name__ == "__main__":
    need_slurm()
    unittest.main()
