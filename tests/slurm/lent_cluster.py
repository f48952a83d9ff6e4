"""A coordinator of this build whose nodes are Slurm's, with the command line to ask it."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import urllib.request

from slurm import Slurm, wait_for

SPEC = """\
version: 1
name: {name}
command: [sh, -c, {program}]
resources: {{devices: {devices}, kind: cpu, walltime: {walltime}}}
{more}
"""


class LentCluster:
    def __init__(self, programs, *options, partition="main"):
        self.programs = programs
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-lent-"))
        self.folder.chmod(0o755)  # munge's clients look for its socket here
        for name in ("slurm", "shared", "data", "homes", "path"):
            (self.folder / name).mkdir()
        (self.folder / "homes").chmod(0o700)
        self.slurm = Slurm(self.folder / "slurm")
        self.log = open(self.folder / "coordinator.log", "ab")
        self.home = self.folder / "coordinator"
        self.options = ["--slurm", partition, "--slurm-nodes", "2", "--slurm-cpu-slots", "2", "--slurm-grace", "30s",
                        "--slurm-shared", self.folder / "shared", "--slurm-data", self.folder / "data",
                        "--slurm-home", self.folder / "homes", "--slurm-agent", programs / "podium-agent",
                        "--slurm-walltime", "1h", *options]
        self.port = 0
        self.coordinator = None

    def start(self):
        self.slurm.start()
        self.start_coordinator()

    def start_coordinator(self):
        address = self.home / "coordinator.address"
        address.unlink(missing_ok=True)
        environment = self.slurm.environment | {"PATH": f"{self.folder / 'path'}:{self.slurm.environment['PATH']}"}
        command = [self.programs / "podium-coordinator", "--home", self.home, "--listen", f"127.0.0.1:{self.port}", *self.options]
        self.coordinator = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        wait_for(address.exists, "the coordinator to listen")
        self.port = int(address.read_text().rsplit(":", 1)[1])
        self.environment = environment | {"PODIUM_COORDINATOR": address.read_text().strip(), "PODIUM_HOME": str(self.home),
                                          "HOME": str(self.folder)}

    def kill_coordinator(self):
        self.coordinator.kill()
        self.coordinator.wait()

    def shadow(self, program, script):
        """A program of Slurm's that the coordinator finds first; the script may run the real one as $REAL."""
        file = self.folder / "path" / program
        file.write_text(f"#!/bin/bash\nREAL={shutil.which(program)}\n{script}\n")
        file.chmod(0o755)

    def podium(self, *words):
        ran = subprocess.run([self.programs / "podium", *words], cwd=self.folder, env=self.environment, text=True,
                             capture_output=True, stdin=subprocess.DEVNULL, check=False)
        return ran.stdout + ran.stderr

    def submit(self, program, name="job", devices=1, walltime="5m", more=""):
        spec = self.folder / f"{name}.yaml"
        spec.write_text(SPEC.format(name=name, program=json.dumps(program), devices=devices, walltime=walltime, more=more))
        said = self.podium("submit", str(spec), "--json")
        return json.loads(said)["jobs"][0]["id"]

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1{path}", timeout=30) as answer:
            return json.load(answer)

    def nodes(self):
        return [node["id"] for node in self.get("/nodes")["nodes"]]

    def why(self, job):
        """What keeps the job from nodes of Slurm; "" where nothing does."""
        sentences = [each["sentence"] for each in self.get(f"/jobs/{job}/why")["blockers"] if each["code"] == "allocation"]
        return " ".join(sentences)

    def wait_for_state(self, job, state):
        def reached():
            now = self.get(f"/jobs/{job}")
            if now["state"] in ("failed", "cancelled") and state not in ("failed", "cancelled"):
                raise AssertionError(f"job {job}: {now['state']}: {now['reason']}")
            return now if now["state"] == state else None
        return wait_for(reached, f"job {job} to be {state}; {self.tail()}")

    def tail(self):
        return (self.folder / "coordinator.log").read_text()[-3000:]

    def close(self):
        if self.coordinator and self.coordinator.poll() is None:
            self.coordinator.terminate()
            self.coordinator.wait(30)
        self.log.close()
        self.slurm.close()
        if os.environ.get("PODIUM_KEEP"):
            print("kept", self.folder)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
