"""A Slurm cluster of this machine alone, without systemd: munged, slurmctld and four slurmd, in one folder."""
import os
import pathlib
import socket
import subprocess

from processes import Daemons, resident_bytes, wait_until

NODES = 4
CONFIG = """\
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=27000
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
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0
SlurmdParameters=config_overrides
MaxJobCount=100000
ReturnToService=2
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[27001-2700{nodes}] CPUs={slots} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class SlurmCluster:
    name = "Slurm"

    def __init__(self, folder, slots):
        self.folder = pathlib.Path(folder)
        self.slots = NODES * slots
        for name in ("state", "out"):
            (self.folder / name).mkdir()
        config = self.folder / "slurm.conf"
        config.write_text(CONFIG.format(host=socket.gethostname(), folder=folder, nodes=NODES, slots=slots))
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.environment = {**os.environ, "SLURM_CONF": str(config)}
        self.daemons = Daemons(self.folder, self.environment)

    def start(self):
        folder, key = self.folder, self.folder / "munge.key"
        self.daemons.start("munged", "-F", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket",
                           f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log",
                           f"--seed-file={folder}/munged.seed")
        self.controller = self.daemons.start("slurmctld", "-D", "-c")
        for node in range(1, NODES + 1):
            self.daemons.start("slurmd", "-D", "-c", "-N", f"n{node}")
        wait_until(lambda: self._node_states() == ["idle"] * NODES, "Slurm's nodes to come up")

    def _node_states(self):
        return subprocess.run(["sinfo", "-h", "-N", "-o", "%t"], env=self.environment, text=True, capture_output=True,
                              check=False).stdout.split()

    def submit_line(self, program):
        """A shell command that submits one job."""
        return f"sbatch -Q -o /dev/null --wrap '{program}' >/dev/null"

    def submit_and_wait_for_output(self, program):
        output = self.folder / "out" / "latency"
        subprocess.run(["sbatch", "-Q", "--wait", "-o", str(output), "--wrap", program], env=self.environment,
                       check=True, stdout=subprocess.DEVNULL)
        return output.read_text()

    def unfinished(self):
        listed = subprocess.run(["squeue", "-h", "-o", "%i"], env=self.environment, text=True, capture_output=True,
                                check=True).stdout
        return len(listed.split())

    def memory(self):
        return resident_bytes(self.controller.pid)

    def close(self):
        subprocess.run(["scancel", "--state=RUNNING", "--user=root"], env=self.environment, check=False)
        self.daemons.stop()
