"""A Podium cluster of this machine alone: the coordinator and its agents, in one folder."""
import http.client
import json
import os
import pathlib
import subprocess
import urllib.request

from processes import Daemons, resident_bytes, wait_until

SPEC = 'version: 1\nname: bench\ncommand: ["/bin/sh", "-c", "{program}"]\nresources: {{devices: 1, kind: cpu}}\n'
USER_TOKEN = "user-token-of-this-benchmark"
AGENT_TOKEN = "agent-token-of-this-benchmark"


class PodiumCluster:
    name = "Podium"

    def __init__(self, folder, slots, programs, nodes=4, threads=1, data=None):
        """`threads` of each slot; `data`: where the paths of specs begin, else the folder."""
        self.folder = pathlib.Path(folder)
        self.slots = nodes * slots
        self.programs = programs
        self.slots_a_node = slots
        self.nodes = nodes
        self.threads = threads
        self.data = data or self.folder
        self.daemons = Daemons(self.folder, dict(os.environ))

    def start(self):
        for name, token in (("user", USER_TOKEN), ("agent", AGENT_TOKEN)):
            (self.folder / name).write_text(token)
            (self.folder / name).chmod(0o600)
        programs, home = self.programs, self.folder / "coordinator"
        self.controller = self.daemons.start(programs / "podium-coordinator", "--home", home, "--listen", "127.0.0.1:0",
                                             "--user-token-file", self.folder / "user",
                                             "--agent-token-file", self.folder / "agent")
        address = home / "coordinator.address"
        wait_until(lambda: address.exists() and address.read_text().strip(), "the coordinator to listen")
        self.address = address.read_text().strip()
        for node in range(1, self.nodes + 1):
            self.daemons.start(programs / "podium-agent", "--name", f"n{node}", "--coordinator", self.address,
                               "--token-file", self.folder / "agent", "--home", self.folder / f"n{node}", "--shared",
                               self.folder / "shared", "--data", self.data, "--cpu-slots", str(self.slots_a_node),
                               "--threads-per-slot", str(self.threads))
        wait_until(lambda: self.health()["nodes"].get("up") == self.nodes, "the agents to join")
        self.environment = {**os.environ, "PODIUM_COORDINATOR": self.address, "PODIUM_TOKEN": USER_TOKEN}

    def get(self, path):
        with urllib.request.urlopen(self.address + "/api/v1" + path) as answer:
            return json.load(answer)

    def health(self):
        return self.get("/health")

    def submit_line(self, program):
        """A shell command that submits one job."""
        spec = self.folder / "submit.yaml"
        spec.write_text(SPEC.format(program=program))
        return f"{self.programs}/podium submit {spec} >/dev/null"

    def submit_and_wait_for_output(self, program):
        spec = self.folder / "latency.yaml"
        spec.write_text(SPEC.format(program=program))
        told = subprocess.run([self.programs / "podium", "--json", "submit", spec], env=self.environment, check=True,
                              capture_output=True, text=True).stdout
        job = json.loads(told)["jobs"][0]["id"]
        wait_until(lambda: self.get(f"/jobs/{job}")["state"] == "succeeded", f"job {job}")
        (output,) = self.folder.glob(f"n*/jobs/{job}/1/0/stdout")
        return output.read_text()

    def unfinished(self):
        jobs = self.health()["jobs"]
        return sum(jobs[state] for state in ("queued", "starting", "running", "stopping"))

    def memory(self):
        return resident_bytes(self.controller.pid)

    def close(self):
        self.daemons.stop()


def submit_over_http(address, program, count):
    """Over one kept connection, one after the other."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"))
    body = json.dumps({"spec": SPEC.format(program=program), "file": "bench.yaml"})
    headers = {"Authorization": f"Bearer {USER_TOKEN}", "Content-Type": "application/json"}
    for _ in range(count):
        connection.request("POST", "/api/v1/experiments", body, headers)
        answer = connection.getresponse()
        reply = answer.read()
        if answer.status != 201:
            raise RuntimeError(f"Podium refused a job: {reply.decode()}")
