"""A coordinator and agents of this build, for tests that run commands as documents show them."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request

WAIT = 120  # seconds until what should have happened is declared not to


class Cluster:
    """A coordinator and agents with CPU slots in a folder that is also the current one of every command."""

    def __init__(self, programs, nodes, files=None):
        """`files`: their texts by path, there before the coordinator is."""
        self.programs = programs
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="podium-examples-"))
        self.children = []
        self.log = open(self.folder / "daemons.log", "ab")
        for path, text in (files or {}).items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(text)
        (self.folder / "shared").mkdir()
        self.start(["podium-coordinator", "--home", self.folder / "coordinator", "--listen", "127.0.0.1:0",
                    "--shared", self.folder / "shared"])
        address = self.folder / "coordinator" / "coordinator.address"
        self.wait_for(address.exists, "the coordinator to listen")
        self.environment = os.environ | {
            "PATH": f"{self.programs}:/usr/bin:/bin", "HOME": str(self.folder), "PODIUM_COORDINATOR": address.read_text().strip(),
            "PODIUM_HOME": str(self.folder / "coordinator"),
        }
        for node in nodes:
            self.start_agent(node)
        self.wait_for(lambda: self.get("/health")["nodes"]["up"] == len(nodes), "the agents to join")
        self.slots = 4 * len(nodes)

    def start(self, command):
        command[0] = self.programs / command[0]
        debian = os.environ | {"PATH": f"{self.programs}:/usr/bin:/bin"}  # whose python3 the packages of tests are for
        self.children.append(subprocess.Popen(command, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, env=debian))

    def start_agent(self, name):
        own = f"127.0.{os.getpid() // 256 % 256}.{os.getpid() % 256}"
        self.start(["podium-agent", "--name", name, "--coordinator", self.environment["PODIUM_COORDINATOR"],
                    "--token-file", self.folder / "coordinator" / "agent.token", "--home", self.folder / name,
                    "--shared", self.folder / "shared", "--data", self.folder, "--cpu-slots", "4", "--threads-per-slot", "1",
                    "--address", own, "--stop-tasks-on-exit"])

    def run(self, command, until=None):
        """`until`: it is interrupted once that holds of what it has said."""
        with open(self.folder / "out", "wb") as out:
            child = subprocess.Popen(["bash", "-c", command], cwd=self.folder, env=self.environment, stdout=out,
                                     stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        said = lambda: (self.folder / "out").read_text(errors="replace")
        try:
            if until:
                self.wait_for(lambda: child.poll() is not None or until(said()), "a word of " + command)
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGINT)
            return child.wait(WAIT), said()
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()

    def say(self, command):
        status, text = self.run(command)
        assert status == 0, f"{command} ended with {status}:\n{text}"
        return text

    def get(self, path):
        with urllib.request.urlopen(self.environment["PODIUM_COORDINATOR"] + "/api/v1" + path, timeout=WAIT) as answer:
            return json.load(answer)

    def wait_for(self, condition, what):
        deadline = time.monotonic() + WAIT
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited in vain for {what}:\n{(self.folder / 'daemons.log').read_text()[-2000:]}")
            time.sleep(0.1)

    def close(self):
        for child in reversed(self.children):
            child.terminate()
            child.wait(WAIT)
        self.log.close()
        shutil.rmtree(self.folder)
