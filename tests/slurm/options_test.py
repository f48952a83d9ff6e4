"""Mistakes in the options for nodes of Slurm: one clear line each, and nothing is started. Needs no Slurm."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
FOLDERS = ["--slurm-shared", "/shared", "--slurm-data", "/data"]


class OptionsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, program, *options, environment=None):
        ran = subprocess.run([BIN / program, *map(str, options)], env=os.environ | (environment or {}), capture_output=True,
                             text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
        self.assertNotEqual(ran.returncode, 0)
        return ran.stderr

    def test_of_the_coordinator(self):
        for options, words in [
                (["--slurm", "a;b", *FOLDERS], '"a;b" must have 1 to 63 letters, digits'),
                (["--slurm", "-x", *FOLDERS], "must have 1 to 63 letters"),
                (["--slurm", "main"], "--slurm needs --slurm-shared and --slurm-data"),
                (["--slurm-nodes", "2"], "--slurm"),
                (["--slurm", "main", *FOLDERS, "--slurm-nodes", "0"], "--slurm-nodes"),
                (["--slurm", "main", *FOLDERS, "--slurm-account", "a b"], '"a b" must have 1 to 63 letters'),
                (["--slurm", "main", *FOLDERS, "--slurm-home", "here"], '"here" must be an absolute path'),
                (["--slurm", "main", *FOLDERS, "--slurm-grace", "10s"], "--slurm-grace must be between 30s and 1h"),
                (["--slurm", "main", *FOLDERS, "--slurm-grace", "2h"], "--slurm-grace must be between 30s and 1h"),
                (["--slurm", "main", *FOLDERS, "--slurm-walltime", "13m"], "--slurm-walltime must be at least 14m"),
                (["--slurm", "main", *FOLDERS, "--slurm-idle", "soon"], '"soon" is not a duration'),
                (["--slurm", "main", *FOLDERS, "--slurm-coordinator", "head"], "--slurm-coordinator"),
                (["--slurm", "main", "--slurm-shared", "/a/%j", "--slurm-data", "/data"], "without %")]:
            with self.subTest(options=options):
                self.assertIn(words, self.refused("podium-coordinator", "--home", self.folder / "home", *options))
                self.assertFalse((self.folder / "home").exists())

    def test_of_an_agent(self):
        (self.folder / "token").write_text("token\n")
        usual = ["--token-file", self.folder / "token", "--home", self.folder / "homes", "--shared", self.folder,
                 "--data", self.folder]
        lent = {"SLURM_JOB_ID": "17", "SLURMD_NODENAME": "n1"}
        outside = {"SLURM_JOB_ID": "", "SLURMD_NODENAME": ""}
        self.assertIn("start it with srun", self.refused("podium-agent", *usual, "--join", environment=outside))
        self.assertIn("--name", self.refused("podium-agent", *usual))
        self.assertIn("--join", self.refused("podium-agent", *usual, "--join", "--name", "a", environment=lent))
        self.assertIn("--join", self.refused("podium-agent", *usual, "--name", "a", "--lent-for", "2h"))
        self.assertIn("is not a duration", self.refused("podium-agent", *usual, "--join", "--lent-for", "2", environment=lent))
        (self.folder / "homes").mkdir()
        (self.folder / "homes").chmod(0o777)
        self.assertIn("others may write there", self.refused("podium-agent", *usual, "--join", environment=lent))


if __name__ == "__main__":
    unittest.main()
