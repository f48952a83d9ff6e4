"""Debian's Slurm on this machine alone, without systemd: munged, slurmctld and two slurmd, in one folder.

Needs root, as slurmd does. A program that is missing ends the test with 77, which ctest counts as skipped.
"""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

WAIT = 90  # seconds until what should have happened is declared not to
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "srun")
NODES = 2
CONFIG = """\
ClusterName=podium
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=2
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=10
MessageTimeout=5
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def need_slurm():
    missing = [name for name in PROGRAMS if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    if missing or os.geteuid() != 0:
        print(f"skipped: needs root and {', '.join(missing) or 'nothing else'} (deploy/install-packages --tests)")
        sys.exit(77)


def wait_for(done, what, seconds=WAIT):
    deadline = time.monotonic() + seconds
    while True:
        found = done()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds} s in vain for {what}")
        time.sleep(0.1)


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Slurm:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "state").mkdir()
        config = self.folder / "slurm.conf"
        config.write_text(CONFIG.format(host=socket.gethostname(), folder=folder, ports=free_ports(1 + NODES)))
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.environment = {**os.environ, "SLURM_CONF": str(config), "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
        self.started = []

    def start(self):
        folder = self.folder
        self.run("munged", "-F", "--force", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket",
                 f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed")
        wait_for((folder / "munge.socket").exists, "munged")
        self.start_controller()
        for node in range(1, NODES + 1):
            self.run("slurmd", "-D", "-N", f"n{node}")
        wait_for(lambda: self.say("sinfo", "-h", "-N", "-o", "%t").split() == ["idle"] * NODES, "Slurm's nodes to come up")

    def run(self, *command):
        with open(self.folder / f"{command[0]}-{len(self.started)}.out", "wb") as log:
            process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.started.append(process)
        return process

    def start_controller(self):
        self.controller = self.run("slurmctld", "-D")

    def kill_controller(self):
        self.controller.kill()
        self.controller.wait()

    def say(self, *command, text=None):
        return subprocess.run(command, env=self.environment, input=text, text=True, capture_output=True, check=False).stdout

    def jobs(self, states="all"):
        """(id, state, comment) of each job that Slurm knows."""
        rows = self.say("squeue", "-h", f"--states={states}", "-o", "%i|%T|%k").split("\n")
        return [tuple(row.split("|")) for row in rows if row]

    def live(self):
        return [job for job in self.jobs() if job[1] in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING")]

    def close(self):
        self.say("scancel", "--user=root")
        for process in reversed(self.started):
            process.terminate()
        for process in reversed(self.started):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pid in left_behind(self.folder.parent):
            os.kill(pid, signal.SIGKILL)


def left_behind(folder):
    """Processes that name the folder in their arguments or environment."""
    wanted = str(folder).encode()
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if wanted in (entry / "cmdline").read_bytes() or wanted in (entry / "environ").read_bytes():
                yield int(entry.name)
        except OSError:
            pass  # it has ended
