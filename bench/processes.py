"""Daemons of a benchmark: started in a folder, stopped with everything they left running."""
import os
import pathlib
import signal
import subprocess
import time


class Daemons:
    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = environment
        self.started = []

    def start(self, *command):
        log = open(self.folder / f"{pathlib.Path(command[0]).name}-{len(self.started)}.out", "wb")
        process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.started.append(process)
        return process

    def stop(self):
        for process in reversed(self.started):
            process.terminate()
        for process in reversed(self.started):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pid in self._left_behind():
            os.kill(pid, signal.SIGKILL)

    def _left_behind(self):
        """Processes that name this folder in their arguments or environment: what the daemons had started."""
        wanted = str(self.folder).encode()
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                if wanted in (entry / "cmdline").read_bytes() or wanted in (entry / "environ").read_bytes():
                    yield int(entry.name)
            except OSError:
                pass  # it has ended


def resident_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {pid} reports no VmRSS")


def wait_until(done, what, seconds=120):
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited {seconds} s for {what}")
        time.sleep(0.05)
