"""Programs that are measured beside each other in lockstep: each runs a block while the other waits."""
import json
import os
import pathlib
import statistics
import subprocess
import sys

OPENBLAS = pathlib.Path("/usr/lib/x86_64-linux-gnu/openblas-openmp")
# What a tuned PyTorch on glibc wants: the OpenMP build of OpenBLAS, and memory kept instead of given back each step.
TORCH_SETTINGS = {
    "LD_LIBRARY_PATH": str(OPENBLAS),
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
    "MALLOC_TOP_PAD_": "67108864",
}


def need_openblas():
    if not OPENBLAS.is_dir():
        sys.exit(f"{sys.argv[0]}: {OPENBLAS} is missing: install libopenblas0-openmp, or the peer is not tuned")


class Program:
    """One that answers a line with a line of JSON. Its first line is about it."""

    def __init__(self, command, settings, threads):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), **settings}
        self.command = [str(part) for part in command]
        self.process = subprocess.Popen(self.command, env=environment, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.about = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{sys.argv[0]}: ended early: {' '.join(self.command)}")
        return json.loads(line)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Side(Program):
    """A program whose lines are the results of blocks."""

    def __init__(self, command, settings, threads, **options):
        for name, value in {**options, "threads": threads}.items():
            command = [*command, f"--{name}", str(value)]
        super().__init__([*command, "--lockstep"], settings, threads)

    def block(self):
        return self.ask("go")


def median_of(pairs, side, key):
    return statistics.median(pair[side][key] for pair in pairs)


def ratio_of(pairs, key):
    """Of neighbouring blocks, so that a slow minute of the machine meets both."""
    return statistics.median(ours[key] / theirs[key] for ours, theirs in pairs)
